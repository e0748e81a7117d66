/* The agent's doors: who gets in, who does not, and what is lost with a link (nothing). */
#include "device.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define MS INT64_C(1000000)

static char folder[] = "/tmp/qs-agent-links-XXXXXX";
static char key_path[64], socket_address[64];
static uint8_t key[32];
static const char *const usual_env[] = {"PATH=/usr/bin:/bin", NULL};
static struct closed closed;

static void write_key(mode_t mode, size_t n)
{
    FILE *f = fopen(key_path, "w");
    assert_non_null(f);
    assert_int_equal(fwrite(key, 1, n, f), n);
    fclose(f);
    assert_int_equal(chmod(key_path, mode), 0);
}

static int group_setup(void **state)
{
    (void)state;
    assert_non_null(mkdtemp(folder));
    snprintf(key_path, sizeof key_path, "%s/key", folder);
    snprintf(socket_address, sizeof socket_address, "unix:%s/agent.sock", folder);
    for (size_t i = 0; i < sizeof key; i++) {
        key[i] = (uint8_t)(i * 7);
    }
    return 0;
}

static int group_teardown(void **state)
{
    (void)state;
    unlink(key_path);
    return rmdir(folder);
}

static void expect_usage(const char *const *args, int code, const char *part)
{
    const char *argv[8] = {getenv("QS_AGENT")};
    char text[4096];
    for (size_t i = 0; args[i]; i++) {
        argv[i + 1] = args[i];
    }
    int got = device_say(argv, text, sizeof text);
    if (got != code || !strstr(text, part)) {
        fail_msg("exit %d (wanted %d), '%s' does not say '%s'", got, code, text, part);
    }
}

#define ARGS(...) ((const char *const[]){__VA_ARGS__, NULL})

static void listen_keyed(struct device *d)
{
    write_key(0600, sizeof key);
    device_listen(d, socket_address, key_path);
}

static void proves_the_key(void **state)
{
    struct device d;
    uint8_t mac[QS_SHA256_BYTES];
    (void)state;
    listen_keyed(&d);
    assert_true(device_connect(&d, socket_address));
    peer_hello(&d.peer, 10000);
    device_expect(&d, QS_MSG_HELLO_AGENT);
    assert_int_equal(d.peer.agent.auth, QS_AUTH_SEALED);
    peer_auth(&d.peer, key, sizeof key);
    const struct letter *l = device_expect(&d, QS_MSG_AUTH);
    qs_auth_mac_agent(key, sizeof key, &d.peer.session, d.peer.agent.nonce, &d.peer.farm, mac);
    assert_memory_equal(l->payload, mac, sizeof mac);
    device_expect(&d, QS_MSG_HELD);
    device_measure(&d, &(struct run_spec){.argv = (const char *const[]){"true", NULL}, .env = usual_env}, 3,
                   &closed);
    assert_int_equal(closed.rows, 3);
    device_terminate(&d);
}

/* Over a name that anybody may take, as adb reaches an agent: the key proves who it is. */
static void proves_the_key_at_a_name(void **state)
{
    struct device d;
    char address[64];
    (void)state;
    snprintf(address, sizeof address, "localabstract:agent-%d", (int)getpid());
    write_key(0600, sizeof key);
    device_listen(&d, address, key_path);
    assert_non_null(strstr(d.said, address + 14));
    assert_true(device_connect(&d, address));
    peer_hello(&d.peer, 10000);
    device_expect(&d, QS_MSG_HELLO_AGENT);
    assert_int_equal(d.peer.agent.auth, QS_AUTH_SEALED);
    peer_auth(&d.peer, key, sizeof key);
    device_expect(&d, QS_MSG_AUTH);
    device_expect(&d, QS_MSG_HELD);
    expect_usage(ARGS("--listen", address), 3, "another process has this name");
    peer_ping(&d.peer, 3);
    device_expect(&d, QS_MSG_PONG);
    device_terminate(&d);
    assert_false(device_connect(&d, address));
}

/* More strangers than there are places, silent, greeting (where that is not all that it takes), talking
 * nonsense or lying. */
static void come_as_strangers(struct device *stranger, size_t n,
                              void (*deliver)(void *ctx, const uint8_t *bytes, size_t n), const char *address,
                              bool keyed)
{
    for (size_t i = 0; i < n; i++) {
        peer_init(&stranger[i].peer, deliver, &stranger[i]);
        assert_true(device_connect(&stranger[i], address));
        if (i % 4 == 1 && keyed) {
            peer_hello(&stranger[i].peer, 10000);
        } else if (i % 4 == 2) {
            assert_int_equal(write(stranger[i].out_fd, "GET / HTTP/1.0\r\n", 16), 16);
        } else if (i % 4 == 3) {
            assert_int_equal(write(stranger[i].out_fd, "QS\1\1\377", 5), 5);
        }
    }
}

/* Who has the key, or at a door without one who greets, gets in, and stays. */
static void strangers_keep_nobody_out(void **state)
{
    enum { STRANGERS = 40 };
    static struct device stranger[STRANGERS];
    (void)state;
    for (int keyed = 0; keyed < 2; keyed++) {
        struct device d;
        if (keyed) {
            listen_keyed(&d);
        } else {
            device_listen(&d, socket_address, NULL);
        }
        come_as_strangers(stranger, STRANGERS, d.peer.deliver, socket_address, keyed);
        assert_true(device_connect(&d, socket_address));
        peer_hello(&d.peer, 10000);
        device_expect(&d, QS_MSG_HELLO_AGENT);
        if (keyed) {
            peer_auth(&d.peer, key, sizeof key);
            device_expect(&d, QS_MSG_AUTH);
        }
        device_expect(&d, QS_MSG_HELD);
        for (size_t i = 0; i < STRANGERS; i++) {
            device_hang_up(&stranger[i]);
            peer_done(&stranger[i].peer);
        }
        come_as_strangers(stranger, 1, d.peer.deliver, socket_address, keyed);
        assert_null(device_next(&stranger[0])); /* a session that stands is not disturbed */
        assert_non_null(
            memmem(stranger[0].peer.framer.noise_head, QS_NOISE_HEAD_BYTES, "another session", 15));
        device_hang_up(&stranger[0]);
        peer_done(&stranger[0].peer);
        peer_ping(&d.peer, 3);
        device_expect(&d, QS_MSG_PONG);
        device_terminate(&d);
    }
}

static void refuses_a_wrong_key(void **state)
{
    struct device d;
    struct qs_msg_error m;
    (void)state;
    listen_keyed(&d);
    assert_true(device_connect(&d, socket_address));
    peer_hello(&d.peer, 10000);
    device_expect(&d, QS_MSG_HELLO_AGENT);
    peer_auth(&d.peer, key, sizeof key - 1);
    const struct letter *l = device_expect(&d, QS_MSG_ERROR);
    assert_int_equal(qs_msg_decode_error(l->payload, l->n, &m), 0);
    assert_int_equal(m.code, QS_CODE_AUTH);
    assert_null(device_next(&d));
    device_hang_up(&d);
    assert_true(device_connect(&d, socket_address)); /* the next one is heard again */
    peer_hello(&d.peer, 10000);
    device_expect(&d, QS_MSG_HELLO_AGENT);
    device_terminate(&d);
}

/* What an agent says that was built with TLS. */
static const char *of_tcp(const char *text)
{
    return getenv("QS_AGENT_TLS") ? text : "built without TLS";
}

static void explains_its_refusals(void **state)
{
    (void)state;
    write_key(0600, sizeof key);
    expect_usage(ARGS("--listen", "tcp:127.0.0.1:0"), 3, of_tcp("--key-file"));
    expect_usage(ARGS("--listen", "tcp:0.0.0.0:0", "--key-file", key_path), 3,
                 of_tcp("it is no key of a device"));
    expect_usage(ARGS("--listen", "tcp:board:80", "--key-file", key_path), 3, of_tcp("numeric address"));
    expect_usage(ARGS("--listen", "udp:1"), 3, "unix:PATH");
    expect_usage(ARGS("--listen", "unix:/nowhere/at/all"), 3, "No such file");
    expect_usage(ARGS("--listen", "unix:/etc/passwd"), 3, "not a socket");
    expect_usage(ARGS("--listen", "tcp:127.0.0.1:0", "--key-file", "/nowhere"), 3, of_tcp("/nowhere"));
    write_key(0640, sizeof key);
    expect_usage(ARGS("--listen", "tcp:127.0.0.1:0", "--key-file", key_path), 3, of_tcp("chmod 0600"));
    write_key(0600, sizeof key - 1);
    expect_usage(ARGS("--listen", "tcp:127.0.0.1:0", "--key-file", key_path), 3, of_tcp("32 to 4096"));
    expect_usage(ARGS("--listen", socket_address, "--key-file", key_path), 3, "32 to 4096");
    expect_usage(ARGS("--stdoi"), 2, "did you mean --stdio?");
    expect_usage(ARGS("--listen"), 2, "a value is missing");
    expect_usage(ARGS("--stdio", "--listen", "unix:x"), 2, "choose one");
    expect_usage(ARGS("--version"), 0, "quiesce-agent " QS_VERSION);
    expect_usage(ARGS("--help"), 0, "Examples");
    expect_usage(ARGS("--facts"), 0, "\nsimulated: no\n");
}

static void open_session(struct device *d, uint16_t held)
{
    struct qs_msg_held m;
    assert_true(device_connect(d, socket_address));
    peer_hello(&d->peer, 10000);
    device_expect(d, QS_MSG_HELLO_AGENT);
    const struct letter *l = device_expect(d, QS_MSG_HELD);
    assert_int_equal(qs_msg_decode_held(l->payload, l->n, &m), 0);
    assert_int_equal(m.held.count, held);
}

static void serves_one_client_on_a_socket(void **state)
{
    struct device d;
    struct device second;
    struct stat st;
    (void)state;
    device_listen(&d, socket_address, NULL);
    assert_int_equal(stat(socket_address + 5, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    open_session(&d, 0);
    peer_init(&second.peer, d.peer.deliver, &second);
    assert_true(device_connect(&second, socket_address));
    assert_null(device_next(&second));
    assert_non_null(memmem(second.peer.framer.noise_head, QS_NOISE_HEAD_BYTES, "another session", 15));
    device_hang_up(&second);
    peer_done(&second.peer);
    expect_usage(ARGS("--listen", socket_address), 3, "another agent");
    peer_ping(&d.peer, 3);
    device_expect(&d, QS_MSG_PONG);
    device_terminate(&d);
    assert_int_equal(stat(socket_address + 5, &st), -1);
}

/* The link goes in the middle of a window: the window is finished, kept, offered, and sent again. */
static void keeps_a_window_of_a_lost_link(void **state)
{
    struct device d;
    (void)state;
    device_listen(&d, socket_address, NULL);
    open_session(&d, 0);
    device_begin(&d, &(struct run_spec){.argv = ARGS("sleep", "0.1"), .env = usual_env});
    peer_open(&d.peer, &(struct open_spec){.iterations = 3, .phase = QS_PHASE_MEASURE});
    device_expect(&d, QS_MSG_ARM);
    peer_window(&d.peer, QS_MSG_QUIET, 0);
    device_hang_up(&d);
    open_session(&d, 1);
    peer_seq(&d.peer, QS_MSG_RESEND, 0);
    device_collect(&d, &closed);
    assert_int_equal(closed.rows, 3);
    assert_int_equal(closed.m.how, QS_CLOSED_DONE);
    assert_true(closed.row[2].duration_ns >= 100 * MS);
    peer_seq(&d.peer, QS_MSG_ACK, 3);
    device_hang_up(&d);
    open_session(&d, 0);
    device_terminate(&d);
}

/* What a benchmark or a hook may be made of: a child, one in a session of its own, and a child of that. The
 * script writes their numbers, its own last, and a line more. */
#define FAMILY                                                                                               \
    "sleep 1000 & echo $! >%s.new; "                                                                         \
    "setsid sh -c 'echo $$ >>%s.new; sleep 1000 & echo $! >>%s.new; wait' & "                                \
    "while [ $(wc -l <%s.new) -lt 3 ]; do :; done; echo $$ >>%s.new; mv %s.new %s; wait"

enum { FAMILY_SIZE = 4 };

/* Returns when all of them run. */
static void start_family(struct device *d, bool as_hook, pid_t family[FAMILY_SIZE])
{
    char p[80], script[1024];
    char text[32];
    snprintf(p, sizeof p, "%s/pids", folder);
    snprintf(script, sizeof script, FAMILY, p, p, p, p, p, p, p);
    const char *const argv[] = {"/bin/sh", "-c", script, NULL};
    if (as_hook) {
        peer_hook(&d->peer, 1, argv, 1000000 * MS);
    } else {
        device_begin(d, &(struct run_spec){.argv = argv, .env = usual_env});
        peer_open(&d->peer, &(struct open_spec){.iterations = 3});
        device_expect(d, QS_MSG_ARM);
        peer_window(&d->peer, QS_MSG_QUIET, 0);
    }
    while (access(p, F_OK) != 0) {
        usleep(1000);
    }
    FILE *f = fopen(p, "r");
    assert_non_null(f);
    for (size_t i = 0; i < FAMILY_SIZE; i++) {
        assert_non_null(fgets(text, sizeof text, f));
        family[i] = (pid_t)strtol(text, NULL, 10);
        assert_int_equal(kill(family[i], 0), 0);
    }
    fclose(f);
    unlink(p);
}

/* It is gone, or waits as a zombie for a parent that is not ours. */
static bool is_over(pid_t pid)
{
    char path[64];
    char line[256] = "";
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    FILE *f = fopen(path, "r");
    bool over = !f || !fgets(line, sizeof line, f) || strstr(line, ") Z ");
    if (f) {
        fclose(f);
    }
    return over;
}

/* However the agent ends (told to, its link gone, killed), nothing that it has started outlives it: at the
 * other end of the link nothing runs any more when the link ends, and who started it sees how it ended. */
static void takes_its_programs_along(void **state)
{
    enum { TOLD, LINK_GONE, KILLED, WAYS };
    (void)state;
    for (int way = 0; way < 2 * WAYS; way++) {
        struct device d;
        pid_t family[FAMILY_SIZE];
        int status;
        char byte;
        device_start(&d);
        start_family(&d, way >= WAYS, family);
        if (way % WAYS == LINK_GONE) {
            close(d.in_fd);
        } else {
            kill(way % WAYS == TOLD ? d.pid : d.agent, way % WAYS == TOLD ? SIGTERM : SIGKILL);
        }
        while (read(d.out_fd, &byte, 1) > 0) {
        }
        for (size_t i = 0; i < FAMILY_SIZE; i++) {
            assert_int_equal(kill(family[i], 0), -1);
        }
        assert_int_equal(waitpid(d.pid, &status, 0), d.pid);
        assert_int_equal(status, way % WAYS == KILLED ? SIGKILL : 0);
        if (way % WAYS != LINK_GONE) {
            close(d.in_fd);
        }
        close(d.out_fd);
        peer_done(&d.peer);
    }
}

/* The supervisor itself is killed: the agent ends, and its programs with it. */
static void ends_without_its_supervisor(void **state)
{
    (void)state;
    for (int as_hook = 0; as_hook < 2; as_hook++) {
        struct device d;
        pid_t family[FAMILY_SIZE];
        char byte;
        device_start(&d);
        start_family(&d, as_hook, family);
        kill(d.pid, SIGKILL);
        assert_int_equal(waitpid(d.pid, NULL, 0), d.pid);
        while (read(d.out_fd, &byte, 1) > 0) { /* the agent has it open until then */
        }
        for (size_t i = 0; i < FAMILY_SIZE; i++) {
            while (!is_over(family[i])) {
                usleep(1000);
            }
        }
        while (!is_over(d.agent)) {
            usleep(1000);
        }
        close(d.in_fd);
        close(d.out_fd);
        peer_done(&d.peer);
    }
}

static void name_of(pid_t pid, char name[32])
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/comm", (int)pid);
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    assert_non_null(fgets(name, 32, f));
    fclose(f);
}

/* Whoever kills by name, or the whole group of what he has started, kills one of the two. */
static void cannot_be_killed_with_its_supervisor(void **state)
{
    struct device d;
    char names[2][32];
    (void)state;
    device_start(&d);
    name_of(d.pid, names[0]);
    name_of(d.agent, names[1]);
    assert_string_equal(names[0], "qs-supervisor\n");
    assert_non_null(strstr(names[1], "quiesce-agent"));
    assert_int_equal(getpgid(d.agent), d.agent);
    device_stop(&d);
}

/* Whoever starts it may have asked not to hear of his children: it hears of its own. */
static void hears_of_its_children_whoever_starts_it(void **state)
{
    struct device d;
    (void)state;
    signal(SIGCHLD, SIG_IGN);
    device_start(&d);
    signal(SIGCHLD, SIG_DFL);
    const char *const argv[] = {"/bin/sh", "-c", "exit 3", NULL};
    device_measure(&d, &(struct run_spec){.argv = argv, .env = usual_env}, 2, &closed);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(closed.row[i].status, 3);
    }
    device_stop(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(proves_the_key),
        cmocka_unit_test(proves_the_key_at_a_name),
        cmocka_unit_test(strangers_keep_nobody_out),
        cmocka_unit_test(refuses_a_wrong_key),
        cmocka_unit_test(explains_its_refusals),
        cmocka_unit_test(serves_one_client_on_a_socket),
        cmocka_unit_test(keeps_a_window_of_a_lost_link),
        cmocka_unit_test(takes_its_programs_along),
        cmocka_unit_test(ends_without_its_supervisor),
        cmocka_unit_test(cannot_be_killed_with_its_supervisor),
        cmocka_unit_test(hears_of_its_children_whoever_starts_it),
    };
    return cmocka_run_group_tests_name("agent.links", tests, group_setup, group_teardown);
}
