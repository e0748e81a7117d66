/* Clients of a door before they have shown who they are: several at once, each with a deadline, so that none
 * of them keeps the place of the host. At a door with TLS a guest proves the key in its handshake; at another
 * one with a key it is greeted here, with a nonce of its own, and led to the agent when it has sent its
 * proof; elsewhere, and behind a handshake, when it has sent its HELLO. The agent judges at once. */
#ifndef QS_LINUX_GUESTS_H
#define QS_LINUX_GUESTS_H

#include "core/agent.h"

struct qs_tls;
struct qs_tls_session;

enum {
    QS_GUESTS_MAX = 16,
    QS_GUEST_BYTES =
        QS_FRAME_HEADER_BYTES + QS_HELLO_MAX_BYTES + QS_FRAME_HEADER_BYTES + 64 /* HELLO and AUTH */
};

struct qs_guest {
    int fd;                         /* owned; -1: none */
    struct qs_tls_session *session; /* owned; NULL: its bytes come as they are */
    int64_t since_ns;
    uint8_t nonce[QS_NONCE_BYTES];
    bool greeted;
    size_t n;
    uint8_t bytes[QS_GUEST_BYTES]; /* what it has said */
};

struct qs_guests {
    struct qs_guest at[QS_GUESTS_MAX];
};

void qs_guests_init(struct qs_guests *g);
void qs_guests_close(struct qs_guests *g);
/* Takes fd; where all places are taken the oldest guest leaves. tls: of the door, or NULL. */
void qs_guests_add(struct qs_guests *g, int fd, struct qs_tls *tls, int64_t now_ns);
/* Lets those go whose time is over. Returns when the next one's is; INT64_MAX: there is none. */
int64_t qs_guests_expire(struct qs_guests *g, int64_t now_ns);
/* Its descriptor is readable. True: it has said all that the agent needs to judge it. A guest that hangs up
 * leaves. */
bool qs_guest_hear(struct qs_guest *guest, struct qs_agent *agent);
/* Its descriptor and its session, which are the caller's from now on; the place is free. */
int qs_guest_leave(struct qs_guest *guest, struct qs_tls_session **ret_session);

#endif
