/* A harness program driven through the shared memory: parking, windows, metrics, errors and deaths in each
 * step. */
#include "parent.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <linux/audit.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

#include <cmocka.h>

#define ARGS(...) ((const char *const[]){__VA_ARGS__, NULL})

static int begin(void **state)
{
    static struct parent p;
    parent_open(&p);
    *state = &p;
    return 0;
}

static int end(void **state)
{
    parent_close(*state);
    return 0;
}

static void expect_exit(struct parent *p, int code)
{
    parent_over(p);
    if (!WIFEXITED(p->status) || WEXITSTATUS(p->status) != code) {
        fail_msg("status %d, not exit %d; it said: %s", p->status, code, p->said);
    }
}

static void expect_said(const struct parent *p, const char *words)
{
    if (!strstr(p->said, words)) {
        fail_msg("`%s` is not in: %s", words, p->said);
    }
}

/* Its letter in /proc: S for asleep. */
static char kernel_state(pid_t pid)
{
    char path[64], text[256] = "";
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    assert_non_null(fgets(text, sizeof text, file));
    fclose(file);
    return strrchr(text, ')')[2];
}

static void test_hello(void **state)
{
    struct parent *p = *state;
    const struct quiesce_bench_metric *m = p->shared->metrics;
    parent_start(p, NULL, ARGS("--benchmark", "all"));
    parent_await(p);
    assert_int_equal(p->shared->program_layout, QUIESCE_BENCH_LAYOUT);
    assert_int_equal(p->shared->state, QUIESCE_BENCH_PARKED);
    assert_int_equal(p->shared->phase, QUIESCE_BENCH_OUTSIDE);
    assert_true(p->shared->bits == 32 || p->shared->bits == 64);
    assert_int_equal(p->shared->evals_max, 0);
    assert_int_equal(p->shared->metrics_count, 5);
    assert_string_equal(m[0].name, "setups");
    assert_int_equal(m[0].flags, QUIESCE_DETERMINISTIC);
    assert_int_equal(m[1].direction, QUIESCE_HIGHER_IS_BETTER);
    assert_string_equal(m[2].unit, "calls");
    assert_int_equal(m[2].flags, QUIESCE_VARIES);
    while (kernel_state(p->pid) != 'S') {
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
}

/* Rows in order, each after the one before, all before the program's last look at the clock. */
static void check_rows(const struct parent *p, uint32_t count)
{
    const struct quiesce_bench_row *rows = quiesce_bench_rows(p->shared);
    int64_t last_ns = 0;
    assert_int_equal(p->shared->count, count);
    for (uint32_t i = 0; i < count; i++) {
        assert_true(rows[i].start_ns >= last_ns && rows[i].duration_ns >= 0);
        last_ns = rows[i].start_ns + rows[i].duration_ns;
    }
    assert_true(p->shared->done_ns >= p->shared->start_at_ns + last_ns);
    assert_true(p->shared->done_ns <= parent_now_ns());
}

static void test_windows(void **state)
{
    struct parent *p = *state;
    parent_start(p, NULL, ARGS("--benchmark=all", "--whole", "7"));
    parent_await(p);
    p->shared->evals = 3;
    parent_window(p, QUIESCE_BENCH_WARM, 2);
    parent_window(p, QUIESCE_BENCH_MEASURE, 10);
    check_rows(p, 10);
    assert_int_equal(p->shared->how, QUIESCE_BENCH_ALL);
    assert_int_equal(p->shared->phase, QUIESCE_BENCH_OUTSIDE);
    for (uint32_t i = 0; i < 10; i++) {
        assert_int_equal(parent_value(p, "setups", i), 1);
        assert_int_equal(parent_value(p, "prepares", i), 3 + i);
        assert_int_equal(parent_value(p, "runs", i), 3);
        assert_int_equal(parent_value(p, "whole", i), 507);
        assert_int_equal(parent_value(p, "stack", i) == QUIESCE_BENCH_NONE, i % 2);
    }
    parent_command(p, QUIESCE_BENCH_EXIT);
    parent_await(p);
    assert_int_equal(p->shared->state, QUIESCE_BENCH_OVER);
    expect_exit(p, 0);
    expect_said(p, "torn down");
}

static void test_start_while_it_spins(void **state)
{
    struct parent *p = *state;
    parent_start(p, NULL, ARGS("--benchmark", "all"));
    parent_await(p);
    p->shared->iterations = 4;
    parent_command(p, QUIESCE_BENCH_MEASURE);
    while (__atomic_load_n(&p->shared->state, __ATOMIC_ACQUIRE) != QUIESCE_BENCH_BUSY) {
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
    parent_publish(p);
    parent_await(p);
    check_rows(p, 4);
}

static void test_stand_down(void **state)
{
    struct parent *p = *state;
    parent_start(p, NULL, ARGS("--benchmark", "all"));
    parent_await(p);
    p->shared->iterations = 4;
    parent_command(p, QUIESCE_BENCH_MEASURE);
    while (__atomic_load_n(&p->shared->state, __ATOMIC_ACQUIRE) != QUIESCE_BENCH_BUSY) {
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
    parent_command(p, QUIESCE_BENCH_STAND_DOWN);
    uint64_t woken = 0;
    while (__atomic_load_n(&p->shared->done_seq, __ATOMIC_ACQUIRE) != 2) {
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
    assert_int_equal(p->shared->how, QUIESCE_BENCH_STOOD_DOWN);
    assert_int_equal(p->shared->count, 0);
    /* once for the window that it gave up, once for the command to do so */
    assert_int_equal(read(p->wake_fd, &woken, sizeof woken), sizeof woken);
    assert_true(woken >= 1);
    while (woken < 2) {
        uint64_t more = 0;
        assert_int_equal(read(p->wake_fd, &more, sizeof more), sizeof more);
        woken += more;
    }
    parent_window(p, QUIESCE_BENCH_MEASURE, 5);
    check_rows(p, 5);
}

static void test_tune(void **state)
{
    struct parent *p = *state;
    parent_start(p, NULL, ARGS("--benchmark", "all"));
    parent_await(p);
    p->shared->evals_step = 1;
    parent_window(p, QUIESCE_BENCH_TUNE, 20);
    check_rows(p, 20);
    for (uint32_t i = 0; i < 20; i++) {
        assert_int_equal(parent_value(p, "runs", i), i + 1);
    }
}

static void test_one_evaluation(void **state)
{
    struct parent *p = *state;
    strcpy(p->shared->benchmark, "once");
    parent_start(p, NULL, ARGS("--benchmark", "all"));
    parent_await(p);
    assert_int_equal(p->shared->evals_max, 1);
    assert_int_equal(p->shared->metrics_count, 0);
    parent_window(p, QUIESCE_BENCH_MEASURE, PARENT_CAPACITY);
    check_rows(p, PARENT_CAPACITY);
    p->shared->evals = 5;
    parent_window(p, QUIESCE_BENCH_MEASURE, 2);
    assert_int_equal(p->shared->state, QUIESCE_BENCH_FAILED);
    assert_string_equal(
        p->shared->error,
        "a window of 5 evaluations per iteration: each needs a prepare of its own, ask for one");
    expect_exit(p, QUIESCE_BENCH_EXIT_FAILED);
}

static void test_time_up(void **state)
{
    struct parent *p = *state;
    parent_start(p, NULL, ARGS("--benchmark", "all"));
    parent_await(p);
    p->shared->max_ns = 0;
    parent_window(p, QUIESCE_BENCH_MEASURE, 20);
    assert_int_equal(p->shared->how, QUIESCE_BENCH_TIME_UP);
    check_rows(p, 1);
}

static void test_more_than_there_is_room_for(void **state)
{
    struct parent *p = *state;
    parent_start(p, NULL, ARGS("--benchmark", "all"));
    parent_await(p);
    parent_window(p, QUIESCE_BENCH_MEASURE, UINT32_MAX);
    check_rows(p, PARENT_CAPACITY);
}

static void test_parameters_of_the_agent(void **state)
{
    struct parent *p = *state;
    parent_add_param(p, "whole=9");
    parent_add_param(p, "part=0.25");
    parent_start(p, NULL, ARGS("--benchmark", "all", "--whole", "7"));
    parent_await(p);
    parent_window(p, QUIESCE_BENCH_MEASURE, 1);
    assert_int_equal(parent_value(p, "whole", 0), 259);
}

static void expect_usage(struct parent *p, const char *words)
{
    parent_await(p);
    assert_int_equal(p->shared->state, QUIESCE_BENCH_FAILED);
    assert_string_equal(p->shared->error, words);
    expect_exit(p, QUIESCE_BENCH_EXIT_USAGE);
    expect_said(p, words);
}

static void test_wrong_parameter(void **state)
{
    parent_add_param(*state, "whol=9");
    parent_start(*state, NULL, ARGS("--benchmark", "all"));
    expect_usage(*state, "there is no parameter whol; did you mean parameter whole?");
}

static void test_option_of_the_stand_alone_main(void **state)
{
    parent_start(*state, NULL, ARGS("--benchmark", "all", "--iterations", "5"));
    expect_usage(*state, "there is no --iterations; --help lists the options");
}

static void test_unknown_benchmark(void **state)
{
    parent_start(*state, NULL, ARGS("--benchmark", "onec"));
    expect_usage(*state, "there is no benchmark onec; did you mean once?");
}

static void test_no_benchmark_named(void **state)
{
    parent_start(*state, NULL, NULL);
    expect_usage(*state, "there are 2 benchmarks: say which with --benchmark NAME");
}

static const struct {
    const char *name;
    enum quiesce_bench_phase phase;
} steps[] = {{"setup", QUIESCE_BENCH_SETUP},
             {"prepare", QUIESCE_BENCH_PREPARE},
             {"run", QUIESCE_BENCH_RUN},
             {"conclude", QUIESCE_BENCH_CONCLUDE},
             {"teardown", QUIESCE_BENCH_TEARDOWN}};

/* Brings the program to the step that is to go wrong. */
static void drive_to(struct parent *p, enum quiesce_bench_phase phase)
{
    if (phase == QUIESCE_BENCH_SETUP) {
        return;
    }
    parent_await(p);
    p->shared->iterations = 3;
    parent_command(p, phase == QUIESCE_BENCH_TEARDOWN ? QUIESCE_BENCH_EXIT : QUIESCE_BENCH_MEASURE);
    parent_publish(p);
}

static void test_failure_in_each_step(void **state)
{
    char want[128];
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        struct parent p;
        parent_open(&p);
        parent_start(&p, NULL, ARGS("--benchmark", "all", "--word", "a reason", "--fail", steps[i].name));
        drive_to(&p, steps[i].phase);
        parent_await(&p);
        snprintf(want, sizeof want, "told to fail in %s, with a reason", steps[i].name);
        assert_string_equal(p.shared->error, want);
        assert_int_equal(p.shared->state, QUIESCE_BENCH_FAILED);
        assert_int_equal(p.shared->phase, steps[i].phase);
        assert_int_equal(p.shared->count, 0);
        expect_exit(&p, QUIESCE_BENCH_EXIT_FAILED);
        snprintf(want, sizeof want, "all: %s: told to fail", steps[i].name);
        expect_said(&p, want);
        parent_close(&p);
    }
    (void)state;
}

static void test_death_in_each_step(void **state)
{
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        struct parent p;
        parent_open(&p);
        parent_start(&p, NULL, ARGS("--benchmark", "all", "--die", steps[i].name));
        drive_to(&p, steps[i].phase);
        parent_over(&p);
        assert_true(WIFSIGNALED(p.status) && WTERMSIG(p.status) == SIGKILL);
        assert_int_equal(p.shared->phase, steps[i].phase);
        parent_close(&p);
    }
    (void)state;
}

static void test_other_layout(void **state)
{
    struct parent *p = *state;
    p->shared->layout = QUIESCE_BENCH_LAYOUT + 1;
    parent_start(p, NULL, NULL);
    expect_exit(p, QUIESCE_BENCH_EXIT_LAYOUT);
    assert_int_equal(p->shared->program_layout, QUIESCE_BENCH_LAYOUT);
    assert_int_equal(p->shared->state, QUIESCE_BENCH_SILENT);
    expect_said(p, "built for layout 1 of quiesce/bench.h, the agent speaks layout 2");
}

static void test_foreign_memory(void **state)
{
    struct parent *p = *state;
    p->shared->magic = 7;
    parent_start(p, NULL, NULL);
    expect_exit(p, QUIESCE_BENCH_EXIT_MEMORY);
    expect_said(p, "is not the agent's");
    assert_int_equal(p->shared->program_layout, 0);
}

static void test_contradicting_memory(void **state)
{
    struct parent *p = *state;
    p->shared->capacity = PARENT_CAPACITY + 1;
    parent_start(p, NULL, NULL);
    expect_exit(p, QUIESCE_BENCH_EXIT_MEMORY);
    expect_said(p, "contradicts itself");
}

static void test_wrong_descriptor(void **state)
{
    static const char *const wrong[] = {"", "x", "-1", "9999999999", "0", "777"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct parent p;
        parent_open(&p);
        parent_start(&p, wrong[i], NULL);
        expect_exit(&p, QUIESCE_BENCH_EXIT_MEMORY);
        expect_said(&p, "names no descriptor");
        parent_close(&p);
    }
    (void)state;
}

/* The clock's number in the program's own table, should the kernel have no vDSO for it. */
static bool is_clock(const struct __ptrace_syscall_info *info)
{
    bool i386 = info->arch == AUDIT_ARCH_I386;
    return i386 ? info->entry.nr == 265 || info->entry.nr == 403 : info->entry.nr == SYS_clock_gettime;
}

/* System calls, but for the clock, of a window of 40 iterations and the parking after it. */
static int calls_of_a_window(const char *noisy)
{
    struct parent p;
    struct __ptrace_syscall_info info;
    int calls = 0, status = 0;
    parent_open(&p);
    parent_start(&p, NULL, ARGS("--benchmark", "all", "--noisy", noisy));
    parent_await(&p);
    while (kernel_state(p.pid) != 'S') {
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
    assert_int_equal(ptrace(PTRACE_SEIZE, p.pid, NULL, PTRACE_O_TRACESYSGOOD), 0);
    assert_int_equal(ptrace(PTRACE_INTERRUPT, p.pid, NULL, NULL), 0);
    assert_int_equal(waitpid(p.pid, &status, __WALL), p.pid);
    p.shared->iterations = 40;
    parent_command(&p, QUIESCE_BENCH_MEASURE);
    parent_publish(&p);
    while (__atomic_load_n(&p.shared->done_seq, __ATOMIC_ACQUIRE) != 1) {
        assert_int_equal(ptrace(PTRACE_SYSCALL, p.pid, NULL, NULL), 0);
        assert_int_equal(waitpid(p.pid, &status, __WALL), p.pid);
        assert_true(WIFSTOPPED(status));
        memset(&info, 0, sizeof info);
        assert_true(ptrace(PTRACE_GET_SYSCALL_INFO, p.pid, sizeof info, &info) > 0);
        calls += info.op == PTRACE_SYSCALL_INFO_ENTRY && !is_clock(&info);
    }
    assert_int_equal(p.shared->count, 40);
    parent_close(&p);
    return calls;
}

/* Awake, it may ask its futex once more before the window, and ends it with the write that wakes us. */
static void test_no_system_call_in_a_window(void **state)
{
    int quiet = calls_of_a_window("0"), noisy = calls_of_a_window("1");
    assert_in_range(quiet, 1, 2);
    assert_int_equal(noisy - quiet, 40);
    (void)state;
}

/* Where a local variable of the same program lies. */
static int64_t stack_with(uint32_t pad_bytes)
{
    struct parent p;
    parent_open(&p);
    p.shared->stack_pad_bytes = pad_bytes;
    p.shared->heap_pad_bytes = pad_bytes;
    parent_start(&p, NULL, ARGS("--benchmark", "all"));
    parent_await(&p);
    parent_window(&p, QUIESCE_BENCH_MEASURE, 1);
    int64_t address = parent_value(&p, "stack", 0);
    parent_close(&p);
    return address;
}

static void test_pads(void **state)
{
    struct parent *p = *state;
    int64_t moved = stack_with(0) - stack_with(8192);
    /* exact where addresses are not random; a kernel that refuses that still has to run the program */
    if (stack_with(0) == stack_with(0)) {
        assert_in_range(moved, 8192, 8192 + 64);
    }
    p->shared->stack_pad_bytes = QUIESCE_BENCH_STACK_PAD_MAX_BYTES + 1;
    parent_start(p, NULL, ARGS("--benchmark", "all"));
    expect_usage(p, "the agent asks for a pad beyond its bound");
}

#define CASE(name) cmocka_unit_test_setup_teardown(test_##name, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(hello),
        CASE(windows),
        CASE(start_while_it_spins),
        CASE(stand_down),
        CASE(tune),
        CASE(one_evaluation),
        CASE(time_up),
        CASE(more_than_there_is_room_for),
        CASE(parameters_of_the_agent),
        CASE(wrong_parameter),
        CASE(option_of_the_stand_alone_main),
        CASE(unknown_benchmark),
        CASE(no_benchmark_named),
        CASE(other_layout),
        CASE(foreign_memory),
        CASE(contradicting_memory),
        CASE(wrong_descriptor),
        CASE(pads),
        cmocka_unit_test(test_no_system_call_in_a_window),
        cmocka_unit_test(test_failure_in_each_step),
        cmocka_unit_test(test_death_in_each_step),
    };
    return cmocka_run_group_tests_name("bench", tests, NULL, NULL);
}
