/* Any bytes as what comes to an agent's door before anything is proven. The first byte says to which one
 * (with TLS, with a key, without one) and who speaks: the input itself, or a host that has the key of the
 * door with TLS, whose bytes are changed on their way as the input says (tls_bytes.h); the second cuts them.
 * Nobody gets in there without the key, and what the agent hears is the beginning of what the host has said;
 * nobody gets in elsewhere without a proof, where one is asked for. */
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../unit/link/tls_peer.h"
#include "fuzz.h"
#include "linux/guests.h"
#include "linux/tls/tls.h"
#include "sim/port.h"
#include "tls_bytes.h"

enum door { KEYLESS, KEYED, WITH_TLS, TALKED_TO, DOORS };
enum { HEAD = 2, TURNS = 8, HEARD_BYTES = 65536, SILENT = 0, STANDS = 1, GONE = 2 };

struct caller {
    struct qs_sim *sim;
    struct qs_guests guests;
    int fd;                /* its end */
    int state;             /* of the guest: SILENT, or what became of it */
    struct qs_buf heard;   /* of it, by the agent */
    struct qs_buf answers; /* of the agent, while it was a guest */
};

static bool drop(void *ctx, const uint8_t *bytes, size_t n)
{
    (void)ctx;
    (void)bytes;
    (void)n;
    return true;
}

static void nothing(void *ctx)
{
    (void)ctx;
}

static void come(struct caller *c, enum door door, struct qs_tls *tls)
{
    static struct qs_sim sim;
    static const uint8_t key[32] = {4, 5, 6};
    const struct qs_sim_options options = {
        .seed = 1, .key = door == KEYED ? key : NULL, .key_bytes = door == KEYED ? sizeof key : 0};
    int ends[2];
    c->sim = &sim;
    qs_sim_init(&sim, &options, 0, drop, nothing, NULL);
    fuzz_require(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends) == 0);
    c->fd = ends[1];
    c->state = SILENT;
    qs_buf_init(&c->heard);
    qs_buf_init(&c->answers);
    qs_guests_init(&c->guests);
    qs_guests_add(&c->guests, ends[0], door >= WITH_TLS ? tls : NULL, 0);
    fuzz_require(c->guests.at[0].fd >= 0);
}

static void leave(struct caller *c)
{
    qs_guests_close(&c->guests);
    close(c->fd);
    qs_buf_done(&c->heard);
    qs_buf_done(&c->answers);
}

/* It has said all that the agent needs to judge it. */
static void judge(struct caller *c, enum door door)
{
    struct qs_guest *guest = &c->guests.at[0];
    struct qs_agent *agent = &c->sim->agent;
    struct qs_tls_session *session;
    uint8_t mac[QS_SHA256_BYTES];
    int fd = qs_guest_leave(guest, &session);
    bool stands = qs_agent_on_guest(agent, guest->nonce, guest->bytes, guest->n), proven = door != KEYED;
    c->state = stands ? STANDS : GONE;
    qs_auth_mac_host(agent->options.key, agent->options.key_bytes, &agent->session, guest->nonce,
                     &agent->farm, mac);
    for (size_t i = 0; !proven && i + sizeof mac <= guest->n; i++)
        proven = memcmp(guest->bytes + i, mac, sizeof mac) == 0;
    fuzz_require(!stands || proven);
    fuzz_require((session != NULL) == (door >= WITH_TLS) && (!session || qs_tls_is_up(session)));
    qs_buf_add(&c->heard, guest->bytes, guest->n);
    qs_tls_end(session);
    close(fd);
}

/* The agent takes in what it can. */
static void be_heard(struct caller *c, enum door door)
{
    struct qs_guest *guest = &c->guests.at[0];
    int waits = 1;
    while (guest->fd >= 0 && waits > 0) {
        bool complete = qs_guest_hear(guest, &c->sim->agent);
        fuzz_require(guest->n <= sizeof guest->bytes);
        if (complete)
            judge(c, door);
        else if (guest->fd >= 0 && ioctl(guest->fd, FIONREAD, &waits) != 0)
            waits = 0;
    }
    c->state = guest->fd < 0 && c->state == SILENT ? GONE : c->state;
    static char answer[HEARD_BYTES];
    ssize_t n;
    while ((n = recv(c->fd, answer, sizeof answer, MSG_DONTWAIT)) > 0)
        qs_buf_add(&c->answers, answer, (size_t)n);
}

/* In pieces, each of which is taken in before the next one comes. */
static void say(struct caller *c, enum door door, const void *bytes, size_t n, size_t piece)
{
    for (size_t at = 0; c->state == SILENT && at < n; at += piece) {
        size_t some = n - at < piece ? n - at : piece;
        if (send(c->fd, (const char *)bytes + at, some, MSG_NOSIGNAL) != (ssize_t)some)
            return;
        be_heard(c, door);
    }
}

static size_t greeting(uint8_t *out, size_t cap)
{
    struct qs_writer w;
    const struct qs_msg_hello_host m = {.proto_min = QS_PROTO_MIN,
                                        .proto_max = QS_PROTO_MAX,
                                        .farm = {{1}},
                                        .session = {{2}},
                                        .heartbeat_ms = 1000,
                                        .max_frame_bytes = QS_FRAME_MAX_BYTES,
                                        .software = qs_text_of("a fuzz target")};
    qs_writer_init(&w, out, cap);
    size_t at = qs_frame_begin(&w);
    qs_msg_encode_hello_host(&w, &m);
    fuzz_require(qs_frame_end(&w, at, QS_MSG_HELLO_HOST, 0));
    return w.len;
}

/* A host with the key. */
static void talk(struct caller *c, const uint8_t *steps_at, size_t n, size_t piece)
{
    struct tls_bytes_steps steps = {.at = steps_at, .n = n};
    struct tls_peer host;
    uint8_t hello[QS_FRAME_HEADER_BYTES + QS_HELLO_MAX_BYTES];
    size_t hello_bytes = greeting(hello, sizeof hello);
    bool greeted = false;
    QS_BUF(changed);
    tls_peer_init_host(&host, &tls_bytes_key);
    for (int i = 0; c->state == SILENT && i < TURNS; i++) {
        tls_bytes_draw(true);
        int status = tls_peer_take(&host, c->answers.data, c->answers.len);
        qs_buf_clear(&c->answers);
        if (host.up && status == 0 && !greeted) {
            tls_peer_say(&host, hello, hello_bytes);
            greeted = true;
        }
        tls_bytes_draw(false);
        qs_buf_clear(&changed);
        tls_bytes_pass(&steps, host.out.data, host.out.len, &changed);
        qs_buf_clear(&host.out);
        say(c, TALKED_TO, changed.data, changed.len, piece);
    }
    fuzz_require(c->heard.len <= (greeted ? hello_bytes : 0));
    fuzz_require(c->heard.len == 0 || memcmp(c->heard.data, hello, c->heard.len) == 0);
    fuzz_require(n >= 4 || c->state == STANDS); /* nobody has changed anything */
    tls_peer_done(&host);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct qs_tls *tls;
    struct caller c;
    if (size < HEAD)
        return 0;
    enum door door = (enum door)(data[0] % DOORS);
    size_t piece = data[1] == 0 ? HEARD_BYTES : data[1];
    tls_bytes_begin();
    if (!tls)
        tls = qs_tls_open(&tls_bytes_key);
    fuzz_require(tls);
    come(&c, door, tls);
    if (door == TALKED_TO)
        talk(&c, data + HEAD, size - HEAD, piece);
    else
        say(&c, door, data + HEAD, size - HEAD, piece);
    leave(&c);
    return 0;
}
