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

static void listen_tcp(struct device *d, char address[32])
{
    write_key(0600, sizeof key);
    device_listen(d, "tcp:127.0.0.1:0", key_path);
    const char *port = strstr(d->said, "port ");
    assert_non_null(port);
    snprintf(address, 32, "tcp:%ld", strtol(port + 5, NULL, 10));
}

static void proves_the_key_over_tcp(void **state)
{
    struct device d;
    char address[32];
    uint8_t mac[QS_SHA256_BYTES];
    (void)state;
    listen_tcp(&d, address);
    assert_true(device_connect(&d, address));
    peer_hello(&d.peer, 10000);
    device_expect(&d, QS_MSG_HELLO_AGENT);
    assert_int_equal(d.peer.agent.auth, QS_AUTH_HMAC_SHA256);
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

static void refuses_a_wrong_key_over_tcp(void **state)
{
    struct device d;
    struct qs_msg_error m;
    char address[32];
    (void)state;
    listen_tcp(&d, address);
    assert_true(device_connect(&d, address));
    peer_hello(&d.peer, 10000);
    device_expect(&d, QS_MSG_HELLO_AGENT);
    peer_auth(&d.peer, key, sizeof key - 1);
    const struct letter *l = device_expect(&d, QS_MSG_ERROR);
    assert_int_equal(qs_msg_decode_error(l->payload, l->n, &m), 0);
    assert_int_equal(m.code, QS_CODE_AUTH);
    assert_null(device_next(&d));
    device_hang_up(&d);
    assert_true(device_connect(&d, address)); /* the next one is heard again */
    peer_hello(&d.peer, 10000);
    device_expect(&d, QS_MSG_HELLO_AGENT);
    device_terminate(&d);
}

static void expect_usage(const char *const *args, int code, const char *part)
{
    const char *argv[8] = {getenv("QS_AGENT")};
    char text[2048];
    for (size_t i = 0; args[i]; i++) {
        argv[i + 1] = args[i];
    }
    int got = device_say(argv, text, sizeof text);
    if (got != code || !strstr(text, part)) {
        fail_msg("exit %d (wanted %d), '%s' does not say '%s'", got, code, text, part);
    }
}

#define ARGS(...) ((const char *const[]){__VA_ARGS__, NULL})

static void explains_its_refusals(void **state)
{
    (void)state;
    write_key(0600, sizeof key);
    expect_usage(ARGS("--listen", "tcp:127.0.0.1:0"), 3, "--key-file");
    expect_usage(ARGS("--listen", "tcp:0.0.0.0:0", "--key-file", key_path), 3, "not encrypted");
    expect_usage(ARGS("--listen", "tcp:192.0.2.1:80", "--key-file", key_path), 3, "not encrypted");
    expect_usage(ARGS("--listen", "tcp:[2001:db8::1]:80", "--key-file", key_path), 3, "not encrypted");
    expect_usage(ARGS("--listen", "tcp:board:80", "--key-file", key_path), 3, "numeric address");
    expect_usage(ARGS("--listen", "udp:1"), 3, "unix:PATH");
    expect_usage(ARGS("--listen", "unix:/nowhere/at/all"), 3, "No such file");
    expect_usage(ARGS("--listen", "unix:/etc/passwd"), 3, "no socket");
    expect_usage(ARGS("--listen", "tcp:127.0.0.1:0", "--key-file", "/nowhere"), 3, "/nowhere");
    write_key(0640, sizeof key);
    expect_usage(ARGS("--listen", "tcp:127.0.0.1:0", "--key-file", key_path), 3, "chmod 0600");
    write_key(0600, sizeof key - 1);
    expect_usage(ARGS("--listen", "tcp:127.0.0.1:0", "--key-file", key_path), 3, "32 to 4096");
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

/* SIGTERM in a window, or the end of a stdio link: the benchmark ends with the agent. Killed: the kernel ends
 * it. */
static void takes_the_benchmark_along(void **state)
{
    (void)state;
    for (int way = 0; way < 3; way++) {
        struct device d;
        char pid_path[80];
        char script[512];
        char text[32] = "";
        int status;
        snprintf(pid_path, sizeof pid_path, "%s/pid", folder);
        unlink(pid_path);
        snprintf(script, sizeof script, "echo $$ > %s.new; mv %s.new %s; exec sleep 1000", pid_path, pid_path,
                 pid_path);
        device_start(&d);
        device_begin(&d, &(struct run_spec){.argv = ARGS("/bin/sh", "-c", script), .env = usual_env});
        peer_open(&d.peer, &(struct open_spec){.iterations = 3});
        device_expect(&d, QS_MSG_ARM);
        peer_window(&d.peer, QS_MSG_QUIET, 0);
        while (access(pid_path, F_OK) != 0) {
            usleep(1000);
        }
        FILE *f = fopen(pid_path, "r");
        assert_non_null(f);
        assert_non_null(fgets(text, sizeof text, f));
        fclose(f);
        if (way < 2) {
            kill(d.pid, way ? SIGKILL : SIGTERM);
        } else {
            close(d.in_fd);
            d.in_fd = -1;
        }
        assert_int_equal(waitpid(d.pid, &status, 0), d.pid);
        pid_t child = (pid_t)strtol(text, NULL, 10);
        for (int i = 0; i < 10000 && kill(child, 0) == 0; i++) {
            usleep(1000);
        }
        /* it is gone, or waits as a zombie for a parent that is not ours */
        char path[64];
        char line[256] = "";
        snprintf(path, sizeof path, "/proc/%d/stat", (int)child);
        f = fopen(path, "r");
        if (f) {
            assert_non_null(fgets(line, sizeof line, f));
            fclose(f);
            assert_non_null(strstr(line, ") Z "));
        }
        if (d.in_fd >= 0) {
            close(d.in_fd);
        }
        close(d.out_fd);
        peer_done(&d.peer);
        unlink(pid_path);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(proves_the_key_over_tcp),       cmocka_unit_test(refuses_a_wrong_key_over_tcp),
        cmocka_unit_test(explains_its_refusals),         cmocka_unit_test(serves_one_client_on_a_socket),
        cmocka_unit_test(keeps_a_window_of_a_lost_link), cmocka_unit_test(takes_the_benchmark_along),
    };
    return cmocka_run_group_tests_name("agent.links", tests, group_setup, group_teardown);
}
