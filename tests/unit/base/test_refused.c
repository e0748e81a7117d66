/* What the system refuses a command, a folder and the log: each is said, leaves nothing open, and what can go
 * on goes on. */
#include "cm.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/command.h"
#include "base/folder.h"
#include "base/log.h"
#include "base/loop.h"
#include "base/mem.h"

#include "refusals.h"

static int open_loop(void **state)
{
    *state = qs_loop_new_real(NULL);
    return *state ? 0 : -1;
}

static int close_loop(void **state)
{
    refuse(NULL, 0, 0);
    return qs_loop_free(*state) == 0 ? 0 : -1;
}

/* ---- commands ---- */

struct told {
    enum qs_errc code;
    char text[QS_ERR_TEXT_BYTES];
    char output[128];
};

static void on_told(const struct qs_err *err, const char *output, size_t bytes, void *user)
{
    struct told *t = user;
    *t = (struct told){.code = err ? err->code : QS_E_NONE};
    memcpy(t->text, err ? err->text : "", err ? sizeof t->text : 1);
    assert_true(bytes < sizeof t->output);
    memcpy(t->output, output, bytes);
}

static struct qs_command_run *start(struct qs_loop *loop, const char *script, int64_t timeout_ns,
                                    struct told *told, struct qs_err *err)
{
    const char *const argv[] = {"sh", "-c", script, NULL};
    return qs_command_start(loop,
                            &(struct qs_command_spec){.argv = argv,
                                                      .input = "words",
                                                      .input_bytes = 5,
                                                      .timeout_ns = timeout_ns,
                                                      .output_max_bytes = 100},
                            on_told, told, err);
}

#define LONG_NS INT64_C(60000000000)

static void a_command_goes_on_when_a_call_is_interrupted(void **state)
{
    static const struct {
        const char *name;
        int error;
        const char *output;
    } cases[] = {{"read", EINTR, "words"}, {"read", EAGAIN, "words"},
                 {"read", EIO, ""}, /* its end, as far as we can see */
                 {"send", EINTR, "words"}, {"send", EAGAIN, "words"},
                 {"send", EPIPE, ""}}; /* it reads nothing more */
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct told told = {.code = QS_E_COUNT};
        int before = open_descriptors();
        refuse(cases[i].name, 1, cases[i].error);
        assert_non_null(start(*state, "cat", LONG_NS, &told, NULL));
        qs_loop_run(*state);
        assert_refused();
        assert_int_equal(told.code, QS_E_NONE);
        assert_string_equal(told.output, cases[i].output);
        assert_int_equal(open_descriptors(), before);
    }
}

static void a_command_that_cannot_begin_leaves_nothing(void **state)
{
    static const struct {
        const char *name;
        int nth, error, killed;
        enum qs_errc code;
        const char *text;
    } cases[] = {{"socketpair", 1, EMFILE, 0, QS_E_RESOURCE, "socketpair: Too many open files"},
                 {"socketpair", 2, ENFILE, 0, QS_E_RESOURCE, "socketpair: Too many open files in system"},
                 {"fcntl64", 1, EPERM, 0, QS_E_RESOURCE, "fcntl: Operation not permitted"},
                 {"fcntl64", 2, EPERM, 0, QS_E_RESOURCE, "fcntl: Operation not permitted"},
                 {"uv_poll_init", 1, ENOMEM, 1, QS_E_RESOURCE, "not enough memory"},
                 {"uv_poll_init", 2, EPERM, 1, QS_E_IO, "operation not permitted"},
                 {"uv_poll_start", 2, EMFILE, 1, QS_E_RESOURCE, "too many open files"}};
    struct told told = {.code = QS_E_COUNT};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct qs_err err = QS_ERR_INIT;
        int before = open_descriptors();
        kills_since();
        refuse(cases[i].name, cases[i].nth, cases[i].error);
        assert_null(start(*state, "sleep 1000", LONG_NS, &told, &err));
        assert_refused();
        assert_int_equal(err.code, cases[i].code);
        assert_non_null(strstr(err.text, cases[i].text));
        assert_int_equal(kills_since().groups, cases[i].killed);
        qs_loop_run(*state);
        assert_int_equal(open_descriptors(), before);
    }
    assert_int_equal(told.code, QS_E_COUNT);
}

/* It has ended, and somebody outside of its session holds its output: no number is left to be killed. */
static void an_output_that_stays_open_ends_with_the_time(void **state)
{
    struct told told = {.code = QS_E_COUNT};
    kills_since();
    assert_non_null(start(*state,
                          "trap 'exit 0' USR1; setsid sh -c 'kill -USR1 '$$'; exec sleep 5' & echo $!; wait",
                          500000000, &told, NULL));
    qs_loop_run(*state);
    assert_int_equal(told.code, QS_E_COMMAND);
    assert_string_equal(told.text, "sh did not end within 0.5 s");
    assert_int_equal(kills_since().others, 0);
    if (atoi(told.output) > 1) /* a machine may be too slow for it to have said that */
        kill(atoi(told.output), SIGKILL);
}

/* The number of what was reaped is another's, who must not even be asked. */
static void a_number_of_somebody_else_is_left_alone(void **state)
{
    struct told told = {.code = QS_E_COUNT};
    kills_since();
    refuse("kill", 1, EPERM);
    assert_non_null(start(*state, "exit 0", LONG_NS, &told, NULL));
    qs_loop_run(*state);
    assert_refused();
    assert_int_equal(kills_since().groups, 0);
    assert_int_equal(told.code, QS_E_NONE);
}

/* ---- folders ---- */

static void folders_that_cannot_be_made(void **state)
{
    static const struct {
        const char *name;
        int error;
        enum qs_errc code;
        const char *text;
    } cases[] = {{"mkdir", ENOSPC, QS_E_STORE, "cannot make the folder"},
                 {"mkdir", EDQUOT, QS_E_STORE, "cannot make the folder"},
                 {"mkdir", EROFS, QS_E_IO, "cannot make the folder"},
                 {"open64", EACCES, QS_E_IO, "cannot sync the folder"},
                 {"fsync", ENOSPC, QS_E_STORE, "cannot sync the folder"},
                 {"fsync", EIO, QS_E_IO, "cannot sync the folder"}};
    char dir[] = "/tmp/qs-refused-XXXXXX";
    struct stat st;
    (void)state;
    assert_non_null(mkdtemp(dir));
    char *deep = qs_asprintf("%s/a", dir), *file = qs_asprintf("%s/f", dir);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct qs_err err = QS_ERR_INIT;
        int before = open_descriptors();
        refuse(cases[i].name, strcmp(cases[i].name, "mkdir") == 0 ? 3 : 1,
               cases[i].error); /* of /tmp/.../a */
        assert_false(qs_folder_make(deep, &err));
        assert_refused();
        assert_int_equal(err.code, cases[i].code);
        assert_non_null(strstr(err.text, cases[i].text));
        assert_non_null(strstr(err.text, strerror(cases[i].error)));
        assert_int_equal(stat(deep, &st), -1); /* found next time, it would pass for synced */
        assert_int_equal(open_descriptors(), before);
    }
    refuse("mkdir", 1, EROFS); /* what is there need not be made */
    assert_true(qs_folder_make(deep, NULL));
    assert_refused();
    struct qs_err err = QS_ERR_INIT;
    assert_int_equal(close(open(file, O_CREAT | O_WRONLY | O_CLOEXEC, 0600)), 0);
    assert_false(qs_folder_make(file, &err));
    assert_int_equal(err.code, QS_E_CONFLICT);
    assert_non_null(strstr(err.text, "/f is not a folder: nothing can be made in it"));
    assert_int_equal(unlink(file) | rmdir(deep) | rmdir(dir), 0);
    free(deep);
    free(file);
}

/* ---- the log ---- */

static void read_all(int fd, char *text, size_t cap)
{
    ssize_t n = read(fd, text, cap - 1);
    text[n > 0 ? n : 0] = '\0';
}

/* Where a description of our own cannot be had, readiness is asked for. */
static void a_pipe_that_cannot_be_opened_again(void **state)
{
    int fds[2];
    char text[256];
    static char full[65536];
    (void)state;
    assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
    FILE *out = fdopen(fds[1], "w");
    int before = open_descriptors();
    refuse("open64", 1, EACCES);
    struct qs_log *log = qs_log_new(out, QS_LOG_INFO, NULL);
    assert_refused();
    assert_int_equal(open_descriptors(), before);
    qs_log(log, QS_LOG_INFO, "x", "one");
    read_all(fds[0], text, sizeof text);
    assert_string_equal(text, "info x: one\n");
    refuse("poll", 1, EINTR);
    qs_log(log, QS_LOG_INFO, "x", "two"); /* is kept */
    assert_refused();
    qs_log(log, QS_LOG_INFO, "x", "three");
    read_all(fds[0], text, sizeof text);
    assert_string_equal(text, "info x: two\ninfo x: three\n");
    assert_int_equal(write(fds[1], full, sizeof full), sizeof full); /* all that it holds */
    qs_log(log, QS_LOG_INFO, "x", "four");
    assert_int_equal(read(fds[0], full, sizeof full), sizeof full);
    qs_log(log, QS_LOG_INFO, "x", "five");
    read_all(fds[0], text, sizeof text);
    assert_string_equal(text, "info x: four\ninfo x: five\n");
    close(fds[0]); /* an error is an answer */
    signal(SIGPIPE, SIG_IGN);
    qs_log(log, QS_LOG_INFO, "x", "six");
    qs_log_free(log);
    fclose(out);
}

static void a_write_that_fails_now_and_then(void **state)
{
    static const struct {
        int error;
        const char *text;
    } cases[] = {{EINTR, "info x: one\n"},
                 {EAGAIN, "info x: one\n"}, /* when it is freed */
                 {EIO, ""}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int fds[2];
        char text[64];
        assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
        FILE *out = fdopen(fds[1], "w");
        int before = open_descriptors();
        struct qs_log *log = qs_log_new(out, QS_LOG_INFO, NULL);
        assert_int_equal(open_descriptors(), before + 1);
        refuse("write", 1, cases[i].error);
        qs_log(log, QS_LOG_INFO, "x", "one");
        assert_refused();
        qs_log_free(log);
        assert_int_equal(open_descriptors(), before);
        fclose(out);
        read_all(fds[0], text, sizeof text);
        assert_string_equal(text, cases[i].text);
        close(fds[0]);
    }
}

/* A file beyond its bound: it is not cut where that cannot be done, and its newer half is lost where it
 * cannot be read. */
static void a_file_that_cannot_be_cut(void **state)
{
    static const struct {
        const char *name;
        const char *text;
    } cases[] = {{"none", "[older lines were dropped]\ninfo x: 3\n"},
                 {"open64", "[older lines were dropped]\n"},
                 {"ftruncate64", "info x: 1\ninfo x: 2\ninfo x: 3\n"},
                 {"fstat64", "info x: 1\ninfo x: 2\ninfo x: 3\n"}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char path[] = "/tmp/qs-log-XXXXXX", text[128] = "";
        int fd = mkstemp(path);
        FILE *f = fdopen(fd, "w");
        int before = open_descriptors();
        struct qs_log *log = qs_log_new(f, QS_LOG_INFO, NULL);
        qs_log_bound(log, 29);
        qs_log(log, QS_LOG_INFO, "x", "1");
        qs_log(log, QS_LOG_INFO, "x", "2");
        refuse(cases[i].name, 1, EIO);
        qs_log(log, QS_LOG_INFO, "x", "3");
        assert_true(pread(fd, text, sizeof text - 1, 0) > 0);
        assert_string_equal(text, cases[i].text);
        assert_int_equal(open_descriptors(), before);
        qs_log_free(log);
        assert_int_equal(fclose(f) | unlink(path), 0);
    }
    refuse(NULL, 0, 0);
}

/* As in a program that was started without standard input: whatever is opened first is 0, and closed again.
 */
static void descriptor_0_is_one_like_others(void **state)
{
    char path[] = "/tmp/qs-log-XXXXXX", text[64] = "";
    int kept = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 100), ends[2], fd = mkstemp(path);
    struct told told = {.code = QS_E_COUNT};
    FILE *file = fdopen(fd, "w+"), *out;
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    out = fdopen(ends[1], "w");
    close(STDIN_FILENO);
    assert_true(qs_folder_sync("/tmp", NULL));
    assert_int_equal(fcntl(STDIN_FILENO, F_GETFD), -1);
    struct qs_log *log = qs_log_new(out, QS_LOG_INFO, NULL);
    assert_int_not_equal(fcntl(STDIN_FILENO, F_GETFD), -1);
    qs_log(log, QS_LOG_INFO, "x", "one");
    qs_log_free(log);
    assert_int_equal(fcntl(STDIN_FILENO, F_GETFD), -1);
    read_all(ends[0], text, sizeof text);
    assert_string_equal(text, "info x: one\n");
    log = qs_log_new(file, QS_LOG_INFO, NULL);
    qs_log_bound(log, 29);
    for (int i = 0; i < 3; i++)
        qs_log(log, QS_LOG_INFO, "x", "%d", i);
    qs_log_free(log);
    assert_int_equal(fcntl(STDIN_FILENO, F_GETFD), -1);
    assert_true(pread(fd, text, sizeof text - 1, 0) > 0);
    assert_string_equal(text, "[older lines were dropped]\ninfo x: 2\n");
    assert_non_null(start(*state, "cat", LONG_NS, &told, NULL));
    qs_loop_run(*state);
    assert_int_equal(fcntl(STDIN_FILENO, F_GETFD), -1);
    assert_string_equal(told.output, "words");
    if (kept >= 0)
        assert_int_equal(dup2(kept, STDIN_FILENO) | close(kept), 0);
    assert_int_equal(fclose(file) | fclose(out) | close(ends[0]) | unlink(path), 0);
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, open_loop, close_loop)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(a_command_goes_on_when_a_call_is_interrupted),
        CASE(a_command_that_cannot_begin_leaves_nothing),
        CASE(an_output_that_stays_open_ends_with_the_time),
        CASE(a_number_of_somebody_else_is_left_alone),
        cmocka_unit_test(folders_that_cannot_be_made),
        cmocka_unit_test(a_pipe_that_cannot_be_opened_again),
        cmocka_unit_test(a_write_that_fails_now_and_then),
        cmocka_unit_test(a_file_that_cannot_be_cut),
        CASE(descriptor_0_is_one_like_others),
    };
    return cmocka_run_group_tests_name("refused", tests, NULL, NULL);
}
