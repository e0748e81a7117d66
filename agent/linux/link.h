/* Byte streams to the host: standard input and output, a Unix socket, TCP on the loopback. */
#ifndef QS_LINUX_LINK_H
#define QS_LINUX_LINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { QS_LINK_ERROR_BYTES = 400, QS_LINK_PATH_BYTES = 108 };

enum qs_link_kind { QS_LINK_STDIO, QS_LINK_UNIX, QS_LINK_TCP };

struct qs_link {
    enum qs_link_kind kind;
    int in_fd, out_fd; /* owned; -1: no peer. The same descriptor for sockets */
    int listen_fd;     /* owned; -1: stdio */
    int stop_fd;       /* readable when the agent is to end, so that a stuck send ends too */
    int32_t peer_pid;  /* who talks to us, where it is a process of this machine that we can name; else 0 */
    bool relayed;      /* the peer only carries it, and what others send beside it: adbd */
    char path[QS_LINK_PATH_BYTES]; /* of the Unix socket, removed at the end */
};

/* Takes descriptors 0 and 1 over and puts /dev/null in their place, so that nobody else writes into the link.
 */
bool qs_link_open_stdio(struct qs_link *link, int32_t peer_pid, char error[QS_LINK_ERROR_BYTES]);
/* address: "unix:PATH" or "tcp:ADDRESS:PORT"; only loopback addresses are taken. *kind is set even where the
 * rest fails. */
bool qs_link_listen(struct qs_link *link, const char *address, char error[QS_LINK_ERROR_BYTES]);
/* The port that a TCP link listens on. */
int qs_link_port(const struct qs_link *link);
void qs_link_close(struct qs_link *link);

/* A waiting client, if it may talk to us; -1: none. A Unix client must be of our own user, or root; one that
 * is not hears why and is let go. */
int qs_link_accept(struct qs_link *link);
/* This client is the peer now. */
void qs_link_adopt(struct qs_link *link, int fd);
/* Tells a client why, and lets it go. As plain text: the first frame of a session can only be a HELLO, and a
 * host shows what it got instead. */
void qs_link_turn_away(int fd, const char *text);
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

/* The key of a TCP link, from a file of mode 0600 (or less) that belongs to us, 32 bytes or more, used as
 * they are. Returns its length, or 0 and the reason. */
size_t qs_link_read_key(const char *path, uint8_t *key, size_t cap, char error[QS_LINK_ERROR_BYTES]);

#endif
