/* Commands of this machine: input, output, time, and what goes wrong. They are real. */
#include "cm.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/buf.h"
#include "base/command.h"
#include "base/loop.h"

struct told {
    int count;
    enum qs_errc code;
    char text[QS_ERR_TEXT_BYTES];
    struct qs_buf output;
};

static void on_told(const struct qs_err *err, const char *output, size_t bytes, void *user)
{
    struct told *t = user;
    t->count++;
    t->code = err ? err->code : QS_E_NONE;
    if (err)
        memcpy(t->text, err->text, sizeof t->text);
    else
        qs_buf_add(&t->output, output, bytes);
}

static struct told run(const char *script, const char *input, size_t input_bytes, int64_t timeout_ns)
{
    struct qs_err err = QS_ERR_INIT;
    struct told t = {.count = 0};
    struct qs_loop *loop = qs_loop_new_real(&err);
    const char *const argv[] = {"sh", "-c", script, NULL};
    const struct qs_command_spec spec = {.argv = argv,
                                         .input = input,
                                         .input_bytes = input_bytes,
                                         .timeout_ns = timeout_ns,
                                         .output_max_bytes = 1000};
    qs_buf_init(&t.output);
    assert_non_null(qs_command_start(loop, &spec, on_told, &t, &err));
    qs_loop_run(loop);
    assert_int_equal(t.count, 1);
    assert_int_equal(qs_loop_free(loop), 0);
    return t;
}

#define LONG_NS INT64_C(60000000000)

static void test_input_becomes_output(void **state)
{
    (void)state;
    struct told t = run("tr a-z A-Z; printf .", "some words\n", 11, LONG_NS);
    assert_int_equal(t.code, QS_E_NONE);
    assert_string_equal(t.output.data, "SOME WORDS\n.");
    qs_buf_done(&t.output);
    t = run("printf .", "", 0, LONG_NS); /* the least that can come */
    assert_int_equal(t.code, QS_E_NONE);
    assert_string_equal(t.output.data, ".");
    qs_buf_done(&t.output);
    static char much[300000];
    memset(much, 'x', sizeof much);
    t = run("wc -c", much, sizeof much, LONG_NS); /* more than a socket holds */
    assert_int_equal(t.code, QS_E_NONE);
    assert_string_equal(t.output.data, "300000\n");
    qs_buf_done(&t.output);
    t = run("exit 0", much, sizeof much, LONG_NS); /* it need not read */
    assert_int_equal(t.code, QS_E_NONE);
    assert_int_equal(t.output.len, 0);
    qs_buf_done(&t.output);
}

static int open_descriptors(void)
{
    int n = 0;
    for (int fd = 0; fd < 1024; fd++)
        n += fcntl(fd, F_GETFD) >= 0 ? 1 : 0;
    return n;
}

static void test_no_descriptor_is_left(void **state)
{
    (void)state;
    static const char *const scripts[] = {"cat", "exec <&- >&-", "exit 3", "kill -9 $$", "yes"};
    int before = open_descriptors(); /* after the first loop, of which the library keeps some */
    for (size_t i = 0; i < sizeof scripts / sizeof *scripts; i++) {
        struct told t = run(scripts[i], "x", 1, LONG_NS);
        qs_buf_done(&t.output);
        assert_int_equal(open_descriptors(), before);
    }
}

static void expect_failure(const char *script, int64_t timeout_ns, const char *words)
{
    struct told t = run(script, "", 0, timeout_ns);
    assert_int_equal(t.code, QS_E_COMMAND);
    if (!strstr(t.text, words))
        fail_msg("`%s` lacks `%s`", t.text, words);
    qs_buf_done(&t.output);
}

static void test_failures(void **state)
{
    (void)state;
    expect_failure("exit 3", LONG_NS, "sh ended with exit code 3");
    expect_failure("kill -9 $$", LONG_NS, "signal 9");
    expect_failure("sleep 1000 & wait", 50000000, "did not end within 0.05 s");
    expect_failure("while :; do echo more; done", LONG_NS, "more than 1000 bytes");
}

static bool is_alive(int pid)
{
    char path[64];
    char state = 'Z'; /* ended, and nobody has asked how */
    snprintf(path, sizeof path, "/proc/%d/stat", pid);
    FILE *f = fopen(path, "re");
    if (!f)
        return false;
    assert_int_equal(fscanf(f, "%*d (%*[^)]) %c", &state), 1);
    fclose(f);
    return state != 'Z';
}

static void expect_gone(const char *pid)
{
    const struct timespec pause = {.tv_nsec = 1000000};
    assert_true(atoi(pid) > 1);
    for (int tries = 0; is_alive(atoi(pid)) && tries < 10000; tries++)
        nanosleep(&pause, NULL);
    assert_false(is_alive(atoi(pid)));
}

/* Its answer is what it wrote until it ended: what it left in the background neither delays nor outlives it.
 */
static void test_what_it_leaves_behind_goes_with_it(void **state)
{
    (void)state;
    struct told t = run("sleep 1000 & echo $!", "", 0, LONG_NS); /* holds the output open */
    assert_int_equal(t.code, QS_E_NONE);
    expect_gone(t.output.data);
    qs_buf_done(&t.output);
    t = run("sleep 1000 >/dev/null 2>&1 & echo $!", "", 0, LONG_NS);
    assert_int_equal(t.code, QS_E_NONE);
    expect_gone(t.output.data);
    qs_buf_done(&t.output);
}

static struct {
    bool taken; /* the number of a command that was reaped is another process's */
    int asked, groups;
} numbers;

int __real_kill(pid_t pid, int signum);
int __wrap_kill(pid_t pid, int signum);

int __wrap_kill(pid_t pid, int signum)
{
    numbers.asked += pid > 0 && signum == 0;
    numbers.groups += pid < -1;
    return numbers.taken && pid > 0 && signum == 0 ? 0 : __real_kill(pid, signum);
}

static void test_a_number_that_is_a_strangers_now_is_left_alone(void **state)
{
    (void)state;
    for (int taken = 0; taken < 2; taken++) {
        numbers.taken = taken == 1;
        numbers.asked = numbers.groups = 0;
        struct told t = run("exit 0", "", 0, LONG_NS);
        assert_int_equal(numbers.asked, 1);
        assert_int_equal(numbers.groups, 1 - taken);
        qs_buf_done(&t.output);
    }
    numbers.taken = false;
}

static void test_stop_and_refusals(void **state)
{
    (void)state;
    struct qs_err err = QS_ERR_INIT;
    struct told t = {.count = 0};
    struct qs_loop *loop = qs_loop_new_real(&err);
    const char *const sleeps[] = {"sleep", "1000", NULL}, *const none[] = {"/no/such/command", NULL};
    struct qs_command_spec spec = {
        .argv = sleeps, .input = "", .timeout_ns = LONG_NS, .output_max_bytes = 10};
    struct qs_command_run *it = qs_command_start(loop, &spec, on_told, &t, &err);
    assert_non_null(it);
    qs_command_stop(it);
    qs_command_stop(NULL);
    spec.argv = none;
    assert_null(qs_command_start(loop, &spec, on_told, &t, &err));
    assert_int_equal(err.code, QS_E_COMMAND);
    qs_loop_run(loop);
    assert_int_equal(qs_loop_free(loop), 0);
    loop = qs_loop_new_virtual(0, 1);
    err = QS_ERR_INIT;
    assert_null(qs_command_start(loop, &spec, on_told, &t, &err));
    assert_int_equal(err.code, QS_E_INTERNAL);
    assert_int_equal(qs_loop_free(loop), 0);
    assert_int_equal(t.count, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_input_becomes_output),
        cmocka_unit_test(test_no_descriptor_is_left),
        cmocka_unit_test(test_failures),
        cmocka_unit_test(test_what_it_leaves_behind_goes_with_it),
        cmocka_unit_test(test_a_number_that_is_a_strangers_now_is_left_alone),
        cmocka_unit_test(test_stop_and_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
