#include "linux/guests.h"

#include "linux/link.h"
#include "linux/tls/tls.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define PATIENCE_NS INT64_C(5000000000)

static const char too_late[] =
    "quiesce-agent: no greeting and proof of the key came in time, or too many wait to give one\n";

void qs_guests_init(struct qs_guests *g)
{
    for (size_t i = 0; i < QS_GUESTS_MAX; i++) {
        g->at[i].fd = -1;
    }
}

int qs_guest_leave(struct qs_guest *guest, struct qs_tls_session **ret_session)
{
    int fd = guest->fd;
    *ret_session = guest->session;
    guest->fd = -1;
    guest->session = NULL;
    return fd;
}

static void drop(struct qs_guest *guest)
{
    struct qs_tls_session *session;
    int fd = qs_guest_leave(guest, &session);
    qs_tls_end(session);
    close(fd);
}

static void turn_away(struct qs_guest *guest)
{
    struct qs_tls_session *session;
    int fd = qs_guest_leave(guest, &session);
    qs_link_turn_away(fd, session, too_late);
}

void qs_guests_close(struct qs_guests *g)
{
    for (size_t i = 0; i < QS_GUESTS_MAX; i++) {
        if (g->at[i].fd >= 0) {
            drop(&g->at[i]);
        }
    }
}

void qs_guests_add(struct qs_guests *g, int fd, struct qs_tls *tls, int64_t now_ns)
{
    struct qs_guest *place = &g->at[0];
    for (size_t i = 0; i < QS_GUESTS_MAX && place->fd >= 0; i++) {
        if (g->at[i].fd < 0 || g->at[i].since_ns < place->since_ns) {
            place = &g->at[i];
        }
    }
    if (place->fd >= 0) {
        turn_away(place);
    }
    place->fd = fd;
    place->since_ns = now_ns;
    place->greeted = false;
    place->n = 0;
    place->session = tls ? qs_tls_begin(tls, fd) : NULL;
    if (tls && !place->session) {
        drop(place); /* no memory is left for it */
    }
}

int64_t qs_guests_expire(struct qs_guests *g, int64_t now_ns)
{
    int64_t next = INT64_MAX;
    for (size_t i = 0; i < QS_GUESTS_MAX; i++) {
        struct qs_guest *guest = &g->at[i];
        if (guest->fd >= 0 && now_ns - guest->since_ns >= PATIENCE_NS) {
            turn_away(guest);
        } else if (guest->fd >= 0 && guest->since_ns + PATIENCE_NS < next) {
            next = guest->since_ns + PATIENCE_NS;
        }
    }
    return next;
}

/* Bytes of the frame that begins at `from`; 0: its header is not there yet. */
static size_t frame_bytes(const struct qs_guest *guest, size_t from)
{
    const uint8_t *length = guest->bytes + from + 4;
    if (guest->n < from + QS_FRAME_HEADER_BYTES) {
        return 0;
    }
    return QS_FRAME_HEADER_BYTES +
           ((size_t)length[0] | (size_t)length[1] << 8 | (size_t)length[2] << 16 | (size_t)length[3] << 24);
}

/* True: the agent is to refuse it, in its own words. */
static bool greet(struct qs_guest *guest, size_t hello, struct qs_agent *agent)
{
    uint8_t out[QS_FRAME_HEADER_BYTES + QS_HELLO_MAX_BYTES];
    size_t n = qs_agent_greeting(agent, guest->bytes + QS_FRAME_HEADER_BYTES, hello - QS_FRAME_HEADER_BYTES,
                                 guest->nonce, out, sizeof out);
    if (n == 0 || send(guest->fd, out, n, MSG_NOSIGNAL | MSG_DONTWAIT) != (ssize_t)n) {
        return true;
    }
    guest->greeted = true;
    return false;
}

/* Whether the agent can judge what has come. Nothing is believed: what does not look as it should is judged
 * as well. */
static bool is_complete(struct qs_guest *guest, struct qs_agent *agent)
{
    size_t hello = frame_bytes(guest, 0), proof;
    if (hello > QS_FRAME_HEADER_BYTES + QS_HELLO_MAX_BYTES || guest->n == sizeof guest->bytes) {
        return true;
    }
    if (hello == 0 || guest->n < hello) {
        return false;
    }
    if (!agent->options.key) {
        return true;
    }
    if (!guest->greeted && greet(guest, hello, agent)) {
        return true;
    }
    proof = frame_bytes(guest, hello);
    return proof > 0 && (proof > sizeof guest->bytes - hello || guest->n >= hello + proof);
}

/* > 0: so many bytes; 0: nothing now; -1: it has hung up, or cannot prove the key. */
static long hear_some(struct qs_guest *guest)
{
    uint8_t *to = guest->bytes + guest->n;
    size_t room = sizeof guest->bytes - guest->n;
    if (!guest->session) {
        ssize_t got = recv(guest->fd, to, room, MSG_DONTWAIT);
        return got > 0 ? (long)got : got < 0 && (errno == EAGAIN || errno == EINTR) ? 0 : -1;
    }
    if (!qs_tls_is_up(guest->session) && !qs_tls_shake(guest->session)) {
        return -1;
    }
    return qs_tls_is_up(guest->session) ? qs_tls_receive(guest->session, to, room) : 0;
}

/* Whatever it says, and however much of it at once, before it is greeted: what its place had of the guest
 * before, whose proof somebody may have recorded, is not asked of it. */
bool qs_guest_hear(struct qs_guest *guest, struct qs_agent *agent)
{
    if (guest->n == 0) {
        agent->port.random(agent->port.ctx, guest->nonce, sizeof guest->nonce);
    }
    long got = hear_some(guest);
    if (got > 0) {
        guest->n += (size_t)got;
        return is_complete(guest, agent);
    }
    if (got < 0) {
        drop(guest);
    }
    return false;
}
