#include "cm.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <termios.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/log.h"
#include "base/loop.h"

/* What a log with these settings writes for a few lines. */
static char *written(enum qs_log_level at_most, struct qs_loop *loop)
{
    char *text = NULL;
    size_t n = 0;
    FILE *f = open_memstream(&text, &n);
    assert_non_null(f);
    struct qs_log *log = qs_log_new(f, at_most, loop);
    qs_log(log, QS_LOG_ERROR, "store", "cannot commit: %s", "disk full");
    qs_log(log, QS_LOG_WARN, "link", "device=%s lost, retrying in %d s", "p1\x1b[0m\n", 5);
    qs_log(log, QS_LOG_INFO, "farm", "job=%d done", 7);
    qs_log(log, QS_LOG_DEBUG, "api", "client=3");
    qs_log_free(log);
    fclose(f);
    return text;
}

static void lines_carry_the_time_of_the_loop(void **state)
{
    (void)state;
    struct qs_loop *loop = qs_loop_new_virtual(1769860800123000000, 1);
    char *text = written(QS_LOG_DEBUG, loop);
    assert_string_equal(text,
                        "2026-01-31T12:00:00.123Z error store: cannot commit: disk full\n"
                        "2026-01-31T12:00:00.123Z warn link: device=p1\\x1b[0m\\x0a lost, retrying in 5 s\n"
                        "2026-01-31T12:00:00.123Z info farm: job=7 done\n"
                        "2026-01-31T12:00:00.123Z debug api: client=3\n");
    free(text);
    assert_int_equal(qs_loop_free(loop), 0);
}

static void a_level_keeps_the_rest_out(void **state)
{
    (void)state;
    char *text = written(QS_LOG_ERROR, NULL);
    assert_string_equal(text, "error store: cannot commit: disk full\n");
    free(text);
    text = written(QS_LOG_INFO, NULL);
    assert_null(strstr(text, "debug"));
    assert_non_null(strstr(text, "info farm: job=7 done\n"));
    free(text);
}

static void a_log_without_a_file_drops_everything(void **state)
{
    (void)state;
    struct qs_log *log = qs_log_new(NULL, QS_LOG_DEBUG, NULL);
    qs_log(log, QS_LOG_ERROR, "x", "%d", 1);
    qs_log_free(log);
    qs_log(NULL, QS_LOG_ERROR, "x", "%d", 1);
    qs_log_free(NULL);
}

static void levels_have_names(void **state)
{
    (void)state;
    assert_string_equal(qs_log_level_name(QS_LOG_ERROR), "error");
    assert_string_equal(qs_log_level_name(QS_LOG_WARN), "warn");
    assert_string_equal(qs_log_level_name(QS_LOG_INFO), "info");
    assert_string_equal(qs_log_level_name(QS_LOG_DEBUG), "debug");
}

static void levels_are_read_by_name(void **state)
{
    enum qs_log_level level = QS_LOG_ERROR;
    (void)state;
    for (enum qs_log_level want = QS_LOG_ERROR; want <= QS_LOG_DEBUG; want++) {
        assert_true(qs_log_level_read(qs_log_level_name(want), &level));
        assert_int_equal(level, want);
    }
    assert_false(qs_log_level_read("", &level));
    assert_false(qs_log_level_read("warning", &level));
}

/* How many lines follow `at`, and that each is of this number on. *ret_at: the first that is not. */
static int numbered(const char *at, int from, const char **ret_at)
{
    int n = 0;
    char want[64];
    for (;; n++) {
        snprintf(want, sizeof want, "info x: line=%d ", from + n);
        const char *stamp = strchr(at, ' ');
        if (!stamp || strncmp(stamp + 1, want, strlen(want)) != 0)
            break;
        at = strchr(at, '\n') + 1;
    }
    *ret_at = at;
    return n;
}

struct reader {
    struct qs_loop *loop;
    struct qs_io *io;
    int fd;
    struct qs_buf got;
    const char *until;
};

static void on_bytes(unsigned events, void *user)
{
    struct reader *r = user;
    char bytes[4096];
    (void)events;
    ssize_t n = read(r->fd, bytes, sizeof bytes);
    assert_true(n > 0);
    qs_buf_add(&r->got, bytes, (size_t)n);
    if (strstr(r->got.data, r->until))
        qs_loop_stop(r->loop);
}

/* The descriptors are of a pipe, a socket or a terminal: [0] is read from. */
static void is_never_waited_for(int fds[2])
{
    enum { LINES = 9000, LAST = 100000 };
    struct reader r = {.loop = qs_loop_new_real(NULL), .fd = fds[0], .until = "line=100000 "};
    FILE *out = fdopen(fds[1], "w");
    struct qs_log *log = qs_log_new(out, QS_LOG_INFO, r.loop);
    const char *at;
    int lost = 0;
    qs_buf_init(&r.got);
    for (int i = 0; i < LINES; i++)
        qs_log(log, QS_LOG_INFO, "x", "line=%d %-60s", i, "");
    r.io = qs_io_start(r.loop, r.fd, QS_IO_READ, on_bytes, &r, NULL);
    r.until = "because nobody read the log";
    qs_loop_run(r.loop);
    qs_log(log, QS_LOG_INFO, "x", "line=%d ", LAST);
    r.until = "line=100000 ";
    qs_loop_run(r.loop);
    int kept = numbered(r.got.data, 0, &at);
    assert_true(kept * 90 > QS_LOG_KEPT_BYTES / 2);
    assert_int_equal(sscanf(strchr(at, ' '), " warn log: %d lines are missing here: nobody had", &lost), 1);
    assert_int_equal(kept + lost, LINES);
    assert_int_equal(numbered(strchr(at, '\n') + 1, LAST, &at), 1);
    assert_string_equal(at, "");
    qs_io_stop(r.io);
    qs_log_free(log);
    fclose(out);
    close(fds[0]);
    qs_buf_done(&r.got);
    assert_int_equal(qs_loop_free(r.loop), 0);
}

static void a_pipe_that_nobody_reads(void **state)
{
    int fds[2];
    (void)state;
    assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
    is_never_waited_for(fds);
}

static void a_socket_that_nobody_reads(void **state)
{
    int fds[2];
    (void)state;
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
    is_never_waited_for(fds);
}

/* As after Ctrl-S: its master is read, and still nothing may be written. */
static void a_terminal_that_was_stopped(void **state)
{
    (void)state;
    int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    assert_true(master >= 0);
    assert_int_equal(grantpt(master), 0);
    assert_int_equal(unlockpt(master), 0);
    int terminal = open(ptsname(master), O_RDWR | O_NOCTTY | O_CLOEXEC);
    struct termios mode;
    assert_int_equal(tcgetattr(terminal, &mode), 0);
    cfmakeraw(&mode);
    assert_int_equal(tcsetattr(terminal, TCSANOW, &mode), 0);
    assert_int_equal(tcflow(terminal, TCOOFF), 0);
    FILE *out = fdopen(terminal, "w");
    struct qs_log *log = qs_log_new(out, QS_LOG_INFO, NULL);
    char bytes[64] = "";
    qs_log(log, QS_LOG_INFO, "x", "one");
    assert_int_equal(tcflow(terminal, TCOON), 0);
    qs_log(log, QS_LOG_INFO, "x", "two");
    assert_int_equal(read(master, bytes, sizeof bytes - 1), 24);
    assert_string_equal(bytes, "info x: one\ninfo x: two\n");
    qs_log_free(log);
    fclose(out);
    close(master);
}

/* Whoever read it has gone. */
static void a_reader_that_left(void **state)
{
    int fds[2];
    (void)state;
    signal(SIGPIPE, SIG_IGN);
    assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
    FILE *out = fdopen(fds[1], "w");
    struct qs_log *log = qs_log_new(out, QS_LOG_INFO, NULL);
    close(fds[0]);
    for (int i = 0; i < 10; i++)
        qs_log(log, QS_LOG_INFO, "x", "%d", i);
    qs_log_free(log);
    fclose(out);
}

/* Lines "info farm: line 7 ........": how many bytes there are, and the first and the last of them. */
static void bounded(const char *mode)
{
    enum { MOST = 4096, LINES = 1000 };
    char path[] = "/tmp/qs-log-XXXXXX", text[2 * MOST], last[32];
    close(mkstemp(path));
    FILE *f = fopen(path, mode);
    struct qs_log *log = qs_log_new(f, QS_LOG_INFO, NULL);
    qs_log_bound(log, MOST);
    for (int i = 1; i <= LINES; i++) {
        qs_log(log, QS_LOG_INFO, "farm", "line %d ...............................", i);
        FILE *now = fopen(path, "r");
        size_t n = fread(text, 1, sizeof text - 1, now);
        fclose(now);
        text[n] = '\0';
        assert_true(n <= MOST);
        assert_int_equal(strlen(text), n); /* no hole */
        snprintf(last, sizeof last, "farm: line %d .", i);
        assert_non_null(strstr(text, last));
        if (i > MOST / 40)
            assert_ptr_equal(strstr(text, "[older lines were dropped]\ninfo farm: line "), text);
        assert_true(i < MOST / 60 || n > MOST / 3); /* the newer ones stay */
    }
    qs_log_free(log);
    fclose(f);
    unlink(path);
}

/* A file that has its most is left alone; one byte more, and its newer half stays from a line's beginning. */
static void a_file_is_cut_beyond_its_most(void **state)
{
    char path[] = "/tmp/qs-log-XXXXXX", found[128] = "";
    static const char lines[] = "info x: 1\ninfo x: 2\ninfo x: 3\ninfo x: 4\n";
    (void)state;
    for (int less = 0; less < 2; less++) {
        int fd = mkstemp(path);
        FILE *f = fdopen(fd, "w");
        struct qs_log *log = qs_log_new(f, QS_LOG_INFO, NULL);
        qs_log_bound(log, (int64_t)sizeof lines - 1 - less);
        for (int i = 1; i <= 4; i++)
            qs_log(log, QS_LOG_INFO, "x", "%d", i);
        ssize_t n = pread(fd, found, sizeof found - 1, 0);
        assert_true(n > 0);
        found[n] = '\0';
        assert_string_equal(found, less ? "[older lines were dropped]\ninfo x: 4\n" : lines);
        qs_log_free(log);
        fclose(f);
        unlink(path);
        memcpy(path, "/tmp/qs-log-XXXXXX", sizeof path);
    }
}

static void a_file_that_nobody_rotates(void **state)
{
    (void)state;
    bounded("a");
    bounded("w");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_carry_the_time_of_the_loop),
        cmocka_unit_test(a_level_keeps_the_rest_out),
        cmocka_unit_test(a_log_without_a_file_drops_everything),
        cmocka_unit_test(levels_have_names),
        cmocka_unit_test(levels_are_read_by_name),
        cmocka_unit_test(a_pipe_that_nobody_reads),
        cmocka_unit_test(a_socket_that_nobody_reads),
        cmocka_unit_test(a_terminal_that_was_stopped),
        cmocka_unit_test(a_reader_that_left),
        cmocka_unit_test(a_file_is_cut_beyond_its_most),
        cmocka_unit_test(a_file_that_nobody_rotates),
    };
    return cmocka_run_group_tests_name("log", tests, NULL, NULL);
}
