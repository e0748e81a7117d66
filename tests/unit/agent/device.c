#include "device.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

static void to_agent(void *ctx, const uint8_t *bytes, size_t n)
{
    struct device *d = ctx;
    while (n > 0) {
        ssize_t sent = write(d->in_fd, bytes, n);
        assert_true(sent > 0);
        bytes += sent;
        n -= (size_t)sent;
    }
}

/* The agent below the process that was started. The kernel may leave out children while another one ends. */
static pid_t agent_of(pid_t supervisor)
{
    char path[64];
    char text[64] = "";
    snprintf(path, sizeof path, "/proc/%d/task/%d/children", (int)supervisor, (int)supervisor);
    for (int tries = 0; tries < 1000 && text[0] == '\0'; tries++) {
        FILE *f = fopen(path, "r");
        assert_non_null(f);
        if (!fgets(text, sizeof text, f)) {
            nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
        }
        fclose(f);
    }
    assert_true(text[0] != '\0');
    return (pid_t)strtol(text, NULL, 10);
}

enum { ARGUMENTS_MAX = 16 };

/* The agent, in the child that is to be it. */
static void become_agent(const char *const *first, const char *const *options)
{
    const char *argv[ARGUMENTS_MAX + 1] = {getenv("QS_AGENT")};
    size_t n = 1;
    for (size_t i = 0; i < 2; i++) {
        for (const char *const *a = i ? options : first; a && *a; a++) {
            argv[n++] = *a;
        }
    }
    execv(argv[0], (char *const *)(uintptr_t)argv);
    _exit(127);
}

void device_start(struct device *d)
{
    device_start_with(d, NULL);
}

void device_start_with(struct device *d, const char *const *options)
{
    int to[2];
    int from[2];
    const char *path = getenv("QS_AGENT");
    assert_non_null(path);
    signal(SIGPIPE, SIG_IGN);
    assert_int_equal(pipe2(to, O_CLOEXEC), 0);
    assert_int_equal(pipe2(from, O_CLOEXEC), 0);
    d->pid = fork();
    assert_true(d->pid >= 0);
    if (d->pid == 0) {
        dup2(to[0], 0);
        dup2(from[1], 1);
        become_agent((const char *const[]){"--stdio", NULL}, options);
    }
    close(to[0]);
    close(from[1]);
    d->in_fd = to[1];
    d->out_fd = from[0];
    peer_init(&d->peer, to_agent, d);
    peer_hello(&d->peer, 10000);
    device_expect(d, QS_MSG_HELLO_AGENT);
    device_expect(d, QS_MSG_HELD);
    d->agent = agent_of(d->pid);
}

int device_say(const char *const *argv, char *text, size_t cap)
{
    int fds[2];
    int status;
    size_t n = 0;
    ssize_t got;
    assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
    pid_t pid = fork();
    if (pid == 0) {
        dup2(open("/dev/null", O_RDONLY), 0);
        dup2(fds[1], 1);
        dup2(fds[1], 2);
        execv(argv[0], (char *const *)(uintptr_t)argv);
        _exit(127);
    }
    close(fds[1]);
    while (n + 1 < cap && (got = read(fds[0], text + n, cap - 1 - n)) > 0) {
        n += (size_t)got;
    }
    text[n] = '\0';
    close(fds[0]);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

void device_listen(struct device *d, const char *address, const char *key_file)
{
    device_listen_with(d, address, (const char *const[]){key_file ? "--key-file" : NULL, key_file, NULL});
}

void device_listen_with(struct device *d, const char *address, const char *const *options)
{
    int fds[2];
    signal(SIGPIPE, SIG_IGN);
    assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
    d->pid = fork();
    assert_true(d->pid >= 0);
    if (d->pid == 0) {
        dup2(fds[1], 2);
        become_agent((const char *const[]){"--listen", address, NULL}, options);
    }
    close(fds[1]);
    struct pollfd fd = {.fd = fds[0], .events = POLLIN};
    assert_int_equal(poll(&fd, 1, DEVICE_WAIT_MS), 1);
    ssize_t n = read(fds[0], d->said, sizeof d->said - 1);
    assert_true(n > 0); /* it says where it listens */
    d->said[n] = '\0';
    close(fds[0]);
    d->in_fd = d->out_fd = -1;
    d->agent = agent_of(d->pid);
    peer_init(&d->peer, to_agent, d);
}

static int connect_unix(const char *path, bool abstract)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    strncpy(address.sun_path + abstract, path, sizeof address.sun_path - 1 - abstract);
    size_t n = abstract ? offsetof(struct sockaddr_un, sun_path) + 1 + strlen(path) : sizeof address;
    if (connect(fd, (struct sockaddr *)&address, (socklen_t)n) == 0) {
        return fd;
    }
    close(fd);
    return -1;
}

static int connect_tcp(const char *port)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)strtol(port, NULL, 10))};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (connect(fd, (struct sockaddr *)&address, sizeof address) == 0) {
        return fd;
    }
    close(fd);
    return -1;
}

bool device_connect(struct device *d, const char *address)
{
    const char *colon = strchr(address, ':');
    d->in_fd = d->out_fd =
        address[0] == 't' ? connect_tcp(colon + 1) : connect_unix(colon + 1, address[0] == 'l');
    peer_reconnect(&d->peer);
    return d->in_fd >= 0;
}

void device_hang_up(struct device *d)
{
    close(d->in_fd);
    d->in_fd = d->out_fd = -1;
}

void device_terminate(struct device *d)
{
    int status;
    kill(d->pid, SIGTERM);
    assert_int_equal(waitpid(d->pid, &status, 0), d->pid);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    if (d->in_fd >= 0) {
        device_hang_up(d);
    }
    peer_done(&d->peer);
}

void device_stop(struct device *d)
{
    int status;
    close(d->in_fd);
    assert_int_equal(waitpid(d->pid, &status, 0), d->pid);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    close(d->out_fd);
    peer_done(&d->peer);
}

const struct letter *device_next(struct device *d)
{
    for (;;) {
        uint8_t bytes[65536];
        const struct letter *l = peer_pop(&d->peer);
        if (l) {
            return l;
        }
        struct pollfd fd = {.fd = d->out_fd, .events = POLLIN};
        assert_int_equal(poll(&fd, 1, DEVICE_WAIT_MS), 1);
        ssize_t n = read(d->out_fd, bytes, sizeof bytes);
        if (n <= 0) {
            return NULL;
        }
        peer_receive(&d->peer, bytes, (size_t)n);
    }
}

const struct letter *device_expect(struct device *d, uint8_t type)
{
    const struct letter *l = device_next(d);
    assert_non_null(l);
    if (l->type == QS_MSG_ERROR && type != QS_MSG_ERROR) {
        struct qs_msg_error m;
        qs_msg_decode_error(l->payload, l->n, &m);
        fail_msg("the agent complains: %.*s", (int)m.text.n, m.text.p);
    }
    assert_string_equal(qs_msg_name(l->type), qs_msg_name(type));
    return l;
}

void device_begin(struct device *d, const struct run_spec *spec)
{
    d->peer.run.b[0]++;
    peer_run_begin(&d->peer, spec);
    device_expect(d, QS_MSG_RUN_READY);
}

void device_collect(struct device *d, struct closed *out)
{
    const struct letter *l = device_expect(d, QS_MSG_CLOSED);
    assert_int_equal(qs_msg_decode_closed(l->payload, l->n, &out->m), 0);
    out->rows = 0;
    while (out->rows < out->m.iterations) {
        struct qs_msg_iterations m;
        l = device_expect(d, QS_MSG_ITERATIONS);
        assert_int_equal(qs_msg_decode_iterations(l->payload, l->n, &m), 0);
        assert_int_equal(m.first_index, out->rows);
        struct qs_iter it = qs_list_iter(&m.rows);
        while (out->rows < DEVICE_ROWS && qs_list_row(&it, m.metrics.count, &out->row[out->rows])) {
            out->rows++;
        }
    }
}

void device_open(struct device *d, const struct open_spec *spec, struct closed *out)
{
    const struct letter *l;
    peer_open(&d->peer, spec);
    while ((l = device_next(d)) && l->type == QS_MSG_WAITING) {
    }
    assert_non_null(l);
    assert_string_equal(qs_msg_name(l->type), "ARM");
    peer_window(&d->peer, QS_MSG_QUIET, spec->window);
    device_collect(d, out);
    if (out->rows > 0) {
        peer_seq(&d->peer, QS_MSG_ACK, spec->first_seq + out->rows);
    }
}

void device_window(struct device *d, uint32_t n, struct closed *out)
{
    device_open(d, &(struct open_spec){.iterations = n, .phase = QS_PHASE_MEASURE}, out);
}

void device_measure(struct device *d, const struct run_spec *spec, uint32_t n, struct closed *out)
{
    device_begin(d, spec);
    device_window(d, n, out);
    peer_run_end(&d->peer);
    device_expect(d, QS_MSG_RUN_ENDED);
}
