/* Links over sockets: a listening agent on a Unix path and on a loopback port. */
#include "link_fixture.h"
#include "tls_peer.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

struct place {
    char dir[64], path[96], key[96], address[64];
    int listener;
    struct qs_farm_device unix_device, tcp_device;
};

static const struct qs_enrolled board = {.name = "board", .secret = {7, 8, 9}};

/* That of an enrolled device, as it is, or n bytes of none. */
static void write_enrolled(const struct place *p, const struct qs_enrolled *key)
{
    char text[QS_ENROLLED_FILE_MAX_BYTES];
    unlink(p->key);
    int fd = open(p->key, O_WRONLY | O_CREAT | O_EXCL, 0600);
    size_t n = qs_enrolled_write(key, text);
    assert_int_equal(write(fd, text, n), n);
    close(fd);
}

static void write_key(const struct place *p, size_t n, mode_t mode)
{
    unlink(p->key);
    int fd = open(p->key, O_WRONLY | O_CREAT | O_EXCL, 0600);
    assert_true(fd >= 0);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(write(fd, "k", 1), 1);
    assert_int_equal(fchmod(fd, mode), 0);
    close(fd);
}

static int new_place(void **state)
{
    struct place *p = calloc(1, sizeof *p);
    if (!p)
        return -1;
    snprintf(p->dir, sizeof p->dir, "/tmp/qs-link-XXXXXX");
    if (!mkdtemp(p->dir))
        return -1;
    snprintf(p->path, sizeof p->path, "%s/agent.sock", p->dir);
    snprintf(p->key, sizeof p->key, "%s/key", p->dir);
    p->listener = -1;
    p->unix_device =
        (struct qs_farm_device){.name = (char *)"board", .link = QS_LINK_UNIX, .address = p->path};
    p->tcp_device = (struct qs_farm_device){
        .name = (char *)"board", .link = QS_LINK_TCP, .address = p->address, .key_file = p->key};
    write_enrolled(p, &board);
    *state = p;
    return 0;
}

static int free_place(void **state)
{
    struct place *p = *state;
    if (p->listener >= 0)
        close(p->listener);
    unlink(p->path);
    unlink(p->key);
    rmdir(p->dir);
    free(p);
    return 0;
}

static void listen_unix(struct place *p)
{
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    memcpy(a.sun_path, p->path, strlen(p->path) + 1);
    p->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(p->listener, (struct sockaddr *)&a, sizeof a), 0);
    assert_int_equal(listen(p->listener, 4), 0);
}

static void listen_tcp(struct place *p)
{
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof a;
    p->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(p->listener, (struct sockaddr *)&a, sizeof a), 0);
    assert_int_equal(listen(p->listener, 4), 0);
    assert_int_equal(getsockname(p->listener, (struct sockaddr *)&a, &size), 0);
    snprintf(p->address, sizeof p->address, "127.0.0.1:%d", ntohs(a.sin_port));
}

/* Up, one exchange each way, and the end: the same for both kinds. */
static void exchange(struct fixture *f, const struct place *p)
{
    assert_true(fixture_open(f));
    qs_loop_run(f->loop);
    assert_int_equal(f->ups, 1);
    int peer = accept(p->listener, NULL, NULL);
    assert_true(peer >= 0);
    fixture_send(f, "ping", 4);
    char got[8] = "";
    assert_int_equal(recv(peer, got, 4, MSG_WAITALL), 4);
    assert_string_equal(got, "ping");
    assert_int_equal(send(peer, "pong!", 5, 0), 5);
    f->want = 5;
    qs_loop_run(f->loop);
    assert_string_equal(f->got.data, "pong!");
    struct qs_link_counters c;
    qs_link_counters(f->link, &c);
    assert_int_equal(c.bytes_in, 5);
    assert_int_equal(c.bytes_out, 4);
    if (c.has_segments) {
        assert_int_equal(c.data_segments_in, 1);
        assert_int_equal(c.data_segments_out, 1);
        assert_true(c.segments_in >= 2);
    }
    close(peer);
    qs_loop_run(f->loop);
    assert_int_equal(f->downs, 1);
    assert_string_equal(f->why.text, "board closed the connection");
}

static void unix_carries_bytes_both_ways(void **state)
{
    struct place *p = *state;
    struct fixture f;
    listen_unix(p);
    fixture_init(&f, &p->unix_device);
    exchange(&f, p);
    size_t n = 1;
    assert_null(qs_link_key(f.link, &n));
    assert_int_equal(n, 0);
    fixture_done(&f);
}

/* An agent of the test's on a port, on the loop of the link. */
struct agent {
    struct fixture *f;
    struct tls_peer tls;
    int fd;
    size_t want; /* stop the loop once so many bytes have come */
};

static void serve(unsigned events, void *user)
{
    struct agent *a = user;
    uint8_t bytes[65536];
    (void)events;
    ssize_t got = recv(a->fd, bytes, sizeof bytes, MSG_DONTWAIT);
    assert_true(got > 0);
    assert_int_equal(tls_peer_take(&a->tls, bytes, (size_t)got), 0);
    assert_int_equal(send(a->fd, a->tls.out.data, a->tls.out.len, MSG_NOSIGNAL), a->tls.out.len);
    qs_buf_clear(&a->tls.out);
    if (a->want > 0 && a->tls.said.len >= a->want)
        qs_loop_stop(a->f->loop);
}

static void tcp_carries_bytes_and_counts_segments(void **state)
{
    struct place *p = *state;
    struct fixture f;
    struct agent a = {.f = &f};
    struct qs_link_counters c[3];
    listen_tcp(p);
    fixture_init(&f, &p->tcp_device);
    assert_true(fixture_open(&f));
    a.fd = accept(p->listener, NULL, NULL);
    tls_peer_init(&a.tls, &board, NULL);
    struct qs_io *io = qs_io_start(f.loop, a.fd, QS_IO_READ, serve, &a, NULL);
    qs_loop_run(f.loop);
    assert_int_equal(f.ups, 1);
    qs_link_counters(f.link, &c[0]);
    assert_int_equal(c[0].bytes_in, 0); /* a handshake is none of the session's */
    assert_int_equal(c[0].bytes_out, 0);
    a.want = 4;
    fixture_send(&f, "ping", 4);
    qs_loop_run(f.loop);
    assert_string_equal(a.tls.said.data, "ping");
    qs_link_counters(f.link, &c[1]);
    assert_int_equal(c[1].bytes_out, 4);
    f.want = 5;
    tls_peer_say(&a.tls, "pong!", 5);
    assert_int_equal(send(a.fd, a.tls.out.data, a.tls.out.len, 0), a.tls.out.len);
    qs_loop_run(f.loop);
    assert_string_equal(f.got.data, "pong!");
    qs_link_counters(f.link, &c[2]);
    assert_int_equal(c[2].bytes_in, 5);
    assert_int_equal(c[2].bytes_out, 4);
    if (c[2].has_segments) {
        assert_int_equal(c[1].data_segments_out - c[0].data_segments_out, 1);
        assert_int_equal(c[2].data_segments_in - c[1].data_segments_in, 1);
        assert_int_equal(c[2].data_segments_out, c[1].data_segments_out);
    }
    size_t n = 1;
    assert_null(qs_link_key(f.link, &n)); /* nothing is left to be proven */
    assert_int_equal(n, 0);
    qs_io_stop(io);
    close(a.fd);
    qs_loop_run(f.loop);
    assert_int_equal(f.downs, 1);
    assert_string_equal(f.why.text, "board closed the connection");
    tls_peer_done(&a.tls);
    fixture_done(&f);
}

/* All or nothing, in order, also where the peer does not read. */
static void tcp_takes_what_fits_the_queue(void **state)
{
    struct place *p = *state;
    static uint8_t much[300000];
    struct fixture f;
    struct agent a = {.f = &f};
    struct qs_err err = QS_ERR_INIT;
    size_t taken = 0;
    listen_tcp(p);
    fixture_init(&f, &p->tcp_device);
    assert_true(fixture_open(&f));
    a.fd = accept(p->listener, NULL, NULL);
    tls_peer_init(&a.tls, &board, NULL);
    struct qs_io *io = qs_io_start(f.loop, a.fd, QS_IO_READ, serve, &a, NULL);
    qs_loop_run(f.loop);
    assert_int_equal(f.ups, 1);
    while (qs_link_send(f.link, much, sizeof much, &err)) {
        taken += sizeof much;
        memset(much, (int)(taken / sizeof much), sizeof much);
    }
    assert_int_equal(err.code, QS_E_AGENT);
    assert_non_null(strstr(err.text, "board does not read: "));
    assert_false(qs_link_send(f.link, much, QS_LINK_QUEUE_BYTES, &err));
    a.want = taken;
    qs_loop_run(f.loop);
    assert_int_equal(a.tls.said.len, taken);
    for (size_t i = 0; i < taken; i += 1000)
        assert_int_equal((uint8_t)a.tls.said.data[i], i / sizeof much);
    qs_io_stop(io);
    close(a.fd);
    tls_peer_done(&a.tls);
    fixture_done(&f);
}

/* Where the wish to prove something goes over a socket of this machine. */
static void a_key_of_a_unix_socket_is_given_to_the_session(void **state)
{
    struct place *p = *state;
    struct fixture f;
    size_t n = 0;
    write_key(p, 32, 0600);
    listen_unix(p);
    p->unix_device.key_file = p->key;
    fixture_init(&f, &p->unix_device);
    assert_true(fixture_open(&f));
    const uint8_t *key = qs_link_key(f.link, &n);
    assert_int_equal(n, 32);
    assert_memory_equal(key, "kkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkk", 32);
    fixture_done(&f);
    write_key(p, 32, 0640);
    fixture_init(&f, &p->unix_device);
    assert_false(fixture_open(&f));
    assert_non_null(strstr(f.why.text, "closed to others"));
    fixture_done(&f);
}

static void nobody_listening_is_said(void **state)
{
    struct place *p = *state;
    struct fixture f;
    fixture_init(&f, &p->unix_device);
    assert_false(fixture_open(&f));
    assert_int_equal(f.why.code, QS_E_LINK);
    assert_non_null(strstr(f.why.text, p->path));
    fixture_done(&f);

    listen_tcp(p);
    close(p->listener);
    p->listener = -1;
    fixture_init(&f, &p->tcp_device);
    if (fixture_open(&f)) /* the kernel may tell at once or later */
        qs_loop_run(f.loop);
    assert_int_equal(f.why.code, QS_E_LINK);
    assert_int_equal(f.ups, 0);
    fixture_done(&f);
}

static void addresses_are_numeric(void **state)
{
    struct place *p = *state;
    static const char *const none[] = {"0.0.0.0:7000", "example.org:7000", "[::]:7000",
                                       "1.2.3:7",      "[::1:7",           "::1:7",
                                       "[]:7",         "[fe80::1%eth0]:7"};
    for (size_t i = 0; i < sizeof none / sizeof none[0]; i++) {
        struct fixture f;
        snprintf(p->address, sizeof p->address, "%s", none[i]);
        fixture_init(&f, &p->tcp_device);
        assert_false(fixture_open(&f));
        assert_int_equal(f.why.code, QS_E_CONFIG);
        if (!strstr(f.why.text, "is not a numeric address of a device"))
            fail_msg("%s: %s", none[i], f.why.text);
        fixture_done(&f);
    }
    static const struct {
        const char *address, *part;
    } broken[] = {{"", "`` is not an address with a port"},
                  {"127.0.0.1", "`127.0.0.1` is not an address with a port: write 192.168.1.7:7151"},
                  {":80", "`:80` is not an address with a port"},
                  {"127.0.0.1:", "`` is not a port (1 to 65535)"},
                  {"127.0.0.1:0", "`0` is not a port"},
                  {"127.0.0.1:65536", "`65536` is not a port"},
                  {"127.0.0.1:1x", "`1x` is not a port"},
                  {"127.0.0.1:000080", "`000080` is not a port"}};
    for (size_t i = 0; i < sizeof broken / sizeof broken[0]; i++) {
        struct fixture f;
        snprintf(p->address, sizeof p->address, "%s", broken[i].address);
        fixture_init(&f, &p->tcp_device);
        assert_false(fixture_open(&f));
        if (!strstr(f.why.text, broken[i].part))
            fail_msg("\"%s\" does not say \"%s\"", f.why.text, broken[i].part);
        fixture_done(&f);
    }
    static const char *const ends[] = {"127.0.0.1:1", "127.0.0.1:65535",  "localhost:80",
                                       "[::1]:80",    "192.168.1.7:7151", "[fd00::7]:7151"};
    struct qs_err err = QS_ERR_INIT;
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
        snprintf(p->address, sizeof p->address, "%s", ends[i]);
        const char *key = NULL;
        assert_true(qs_link_check_address(&p->tcp_device, &key, &err));
    }
}

static void refuse_key(struct place *p, const char *text)
{
    struct fixture f;
    fixture_init(&f, &p->tcp_device);
    assert_false(fixture_open(&f));
    if (!strstr(f.why.text, text))
        fail_msg("\"%s\" does not say \"%s\"", f.why.text, text);
    fixture_done(&f);
}

static void a_key_that_others_can_read_or_guess_is_refused(void **state)
{
    struct place *p = *state;
    listen_tcp(p);
    write_key(p, 32, 0640);
    refuse_key(p, "closed to others");
    write_key(p, 31, 0600);
    refuse_key(p, "31 bytes");
    write_key(p, QS_LINK_KEY_MAX_BYTES + 1, 0600);
    refuse_key(p, "4097 bytes");
    unlink(p->key);
    refuse_key(p, "cannot open");
    write_key(p, 32, 0600);
    refuse_key(p, "is no key of a device: quiesce devices enroll board makes one");
    struct qs_enrolled other = board;
    strcpy(other.name, "other");
    write_enrolled(p, &other);
    refuse_key(p, "is that of the device `other`");
    p->tcp_device.key_file = p->dir;
    refuse_key(p, "regular");
    p->tcp_device.key_file = NULL;
    refuse_key(p, "needs a key_file");
}

static void a_broken_write_comes_as_one_down(void **state)
{
    struct place *p = *state;
    struct fixture f;
    listen_unix(p);
    fixture_init(&f, &p->unix_device);
    assert_true(fixture_open(&f));
    qs_loop_run(f.loop);
    close(accept(p->listener, NULL, NULL));
    f.in_call = true;
    struct qs_err err = QS_ERR_INIT;
    assert_false(qs_link_send(f.link, (const uint8_t *)"x", 1, &err));
    assert_int_equal(err.code, QS_E_LINK);
    assert_false(qs_link_send(f.link, (const uint8_t *)"x", 1, &err));
    f.in_call = false;
    qs_loop_run(f.loop);
    qs_loop_run(f.loop);
    assert_int_equal(f.downs, 1);
    fixture_done(&f);
}

static struct qs_io *resetting;

static void reset_it(unsigned events, void *user)
{
    const struct linger none = {.l_onoff = 1, .l_linger = 0};
    const int *fd = user;
    (void)events;
    assert_int_equal(setsockopt(*fd, SOL_SOCKET, SO_LINGER, &none, sizeof none), 0);
    qs_io_stop(resetting);
    close(*fd);
}

static void a_connection_that_is_reset_is_said(void **state)
{
    struct place *p = *state;
    struct fixture f;
    listen_tcp(p);
    fixture_init(&f, &p->tcp_device);
    assert_true(fixture_open(&f));
    int peer = accept(p->listener, NULL, NULL);
    resetting = qs_io_start(f.loop, peer, QS_IO_READ, reset_it, &peer, NULL); /* at our first words */
    qs_loop_run(f.loop);
    assert_int_equal(f.ups, 0);
    assert_int_equal(f.downs, 1);
    assert_string_equal(f.why.text,
                        "cannot read from board: Connection reset by peer, before TLS stood: is it a "
                        "quiesce-agent that listens there?");
    fixture_done(&f);
}

/* An agent that is taken says so and hangs up, perhaps before our greeting: its reason must not be lost. */
static void what_the_peer_said_before_it_left_is_heard(void **state)
{
    struct place *p = *state;
    struct fixture f;
    listen_unix(p);
    fixture_init(&f, &p->unix_device);
    assert_true(fixture_open(&f));
    int fd = accept(p->listener, NULL, NULL);
    assert_int_equal(write(fd, "taken", 5), 5);
    close(fd);
    f.at_up = DO_NOTHING;
    f.greeting = "hello";
    qs_loop_run(f.loop);
    assert_int_equal(f.ups, 1);
    assert_int_equal(f.downs, 1);
    assert_string_equal(f.got.data, "taken");
    fixture_done(&f);
}

static void a_path_that_does_not_fit_is_refused(void **state)
{
    struct place *p = *state;
    char longest[200];
    memset(longest, 'a', sizeof longest);
    longest[sizeof longest - 1] = '\0';
    p->unix_device.address = longest;
    struct fixture f;
    fixture_init(&f, &p->unix_device);
    assert_false(fixture_open(&f));
    assert_int_equal(f.why.code, QS_E_CONFIG);
    assert_non_null(strstr(f.why.text, "board: a Unix socket's path has 1 to 107 bytes, \"aaa"));
    assert_non_null(strstr(f.why.text, "aaa\" has 199"));
    fixture_done(&f);
}

int main(void)
{
#define CASE(test) cmocka_unit_test_setup_teardown(test, new_place, free_place)
    const struct CMUnitTest tests[] = {
        CASE(unix_carries_bytes_both_ways),
        CASE(tcp_carries_bytes_and_counts_segments),
        CASE(nobody_listening_is_said),
        CASE(tcp_takes_what_fits_the_queue),
        CASE(a_key_of_a_unix_socket_is_given_to_the_session),
        CASE(addresses_are_numeric),
        CASE(a_key_that_others_can_read_or_guess_is_refused),
        CASE(a_broken_write_comes_as_one_down),
        CASE(a_connection_that_is_reset_is_said),
        CASE(what_the_peer_said_before_it_left_is_heard),
        CASE(a_path_that_does_not_fit_is_refused),
    };
    return cmocka_run_group_tests_name("link sockets", tests, NULL, NULL);
}
