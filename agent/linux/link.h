/* Byte streams to the host: standard input and output, a Unix socket, TCP with TLS. */
#ifndef QS_LINUX_LINK_H
#define QS_LINUX_LINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct qs_enrolled;
struct qs_tls;
struct qs_tls_session;

enum { QS_LINK_ERROR_BYTES = 400, QS_LINK_PATH_BYTES = 108 };

enum qs_link_kind { QS_LINK_STDIO, QS_LINK_UNIX, QS_LINK_TCP };

struct qs_link {
    enum qs_link_kind kind;
    int in_fd, out_fd;              /* owned; -1: no peer. The same descriptor for sockets */
    int listen_fd;                  /* owned; -1: stdio */
    int stop_fd;                    /* readable when the agent is to end, so that a stuck send ends too */
    struct qs_tls *tls;             /* borrowed; of a TCP link, once it has its key */
    struct qs_tls_session *session; /* of the peer, ended with it; NULL: bytes go as they are */
    int32_t peer_pid; /* who talks to us, where it is a process of this machine that we can name; else 0 */
    bool relayed;     /* the peer only carries it, and what others send beside it: adbd */
    uint32_t refused; /* clients that did not show who they are */
    char path[QS_LINK_PATH_BYTES]; /* of the Unix socket, removed at the end */
};

/* Takes descriptors 0 and 1 over and puts /dev/null in their place, so that nobody else writes into the link.
 */
bool qs_link_open_stdio(struct qs_link *link, int32_t peer_pid, char error[QS_LINK_ERROR_BYTES]);
/* address: "unix:PATH", "localabstract:NAME", or "tcp:ADDRESS:PORT" where the agent was built with TLS. *kind
 * is set even where the rest fails. */
bool qs_link_listen(struct qs_link *link, const char *address, char error[QS_LINK_ERROR_BYTES]);
/* The port that a TCP link listens on. */
int qs_link_port(const struct qs_link *link);
void qs_link_close(struct qs_link *link);

/* A waiting client, if it may talk to us; -1: none. A Unix client must be of our own user, or root; one that
 * is not hears why and is let go. */
int qs_link_accept(struct qs_link *link);
/* This client is the peer now; session: that was begun over it, or NULL. */
void qs_link_adopt(struct qs_link *link, int fd, struct qs_tls_session *session);
/* Tells a client why, and lets it go. As plain text: the first frame of a session can only be a HELLO, and a
 * host shows what it got instead. Where a session (ended here; NULL: none) stands it goes through that; where
 * one has begun it is not said. */
void qs_link_turn_away(int fd, struct qs_tls_session *session, const char *text);
/* Counts a client that did not show who it is. The first, second, fourth, eighth and so on are said on
 * standard error: nobody can fill a log with them. */
void qs_link_refused(struct qs_link *link, const char *why);
void qs_link_drop(struct qs_link *link);

/* All bytes, or false: the peer is dead, or took nothing for ten seconds. */
bool qs_link_send(struct qs_link *link, const uint8_t *bytes, size_t n);
/* > 0: so many bytes; 0: nothing now; -1: the peer is gone. */
long qs_link_receive(struct qs_link *link, uint8_t *bytes, size_t cap);
/* Before a window: acknowledge at once, and wait (a little) until nothing of ours is on its way. */
void qs_link_drain(struct qs_link *link);
uint32_t qs_link_unread(const struct qs_link *link);
/* Every TCP segment that the socket has received and sent (RFC 4898 tcpEStatsPerfSegsIn and SegsOut). False:
 * no TCP link, or a kernel before 4.2. */
bool qs_link_segments(const struct qs_link *link, int64_t *in, int64_t *out);

/* A key that is proven on a link, from a file of mode 0600 (or less) that belongs to us, 32 bytes or more,
 * used as they are. Returns its length, or 0 and the reason. */
size_t qs_link_read_key(const char *path, uint8_t *key, size_t cap, char error[QS_LINK_ERROR_BYTES]);
/* The same for the enrolled key of a TCP link. */
bool qs_link_read_enrolled(const char *path, struct qs_enrolled *key, char error[QS_LINK_ERROR_BYTES]);

#endif
