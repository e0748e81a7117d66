/* Harness runs on Linux: a real program over a real agent, from its setup to its teardown, well-behaved or
 * hostile. */
#include "device.h"

#include "proto/names.h"

#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define MS INT64_C(1000000)

enum { KILLED = QS_ENDED_NO_TEARDOWN | QS_ENDED_TIMED_OUT };

static struct closed closed;
static char evil_param[64], crash_param[64];
static const char *const params[] = {evil_param, crash_param, "work_ns=200000", NULL};

static int setup(void **state)
{
    struct device *d = malloc(sizeof *d);
    device_start(d);
    *state = d;
    return 0;
}

static int teardown(void **state)
{
    device_stop(*state);
    free(*state);
    return 0;
}

static struct run_spec spec_of(const char *evil, const char *crash)
{
    static const char *argv[2];
    argv[0] = getenv("QS_PROGRAM");
    snprintf(evil_param, sizeof evil_param, "evil=%s", evil);
    snprintf(crash_param, sizeof crash_param, "crash=%s", crash);
    return (struct run_spec){.argv = argv, .benchmark = "work", .params = params, .limit_ns = 300 * MS};
}

static void begin(struct device *d, const struct run_spec *spec, struct qs_msg_run_ready *ready)
{
    d->peer.run.b[0]++;
    peer_run_begin(&d->peer, spec);
    const struct letter *l = device_expect(d, QS_MSG_RUN_READY);
    assert_int_equal(qs_msg_decode_run_ready(l->payload, l->n, ready), 0);
}

static void window(struct device *d, uint32_t number, uint32_t first, uint32_t n)
{
    device_open(d,
                &(struct open_spec){.window = number,
                                    .first_seq = first,
                                    .iterations = n,
                                    .phase = QS_PHASE_MEASURE,
                                    .max_ns = 1000 * MS,
                                    .evals = 3},
                &closed);
}

static struct qs_msg_run_ended end(struct device *d)
{
    struct qs_msg_run_ended m;
    peer_run_end(&d->peer);
    const struct letter *l = device_expect(d, QS_MSG_RUN_ENDED);
    assert_int_equal(qs_msg_decode_run_ended(l->payload, l->n, &m), 0);
    return m;
}

static int64_t evidence(const char *kind)
{
    struct qs_evidence e;
    if (!peer_has_evidence(&closed.m, kind, &e) || e.status != QS_READING_OK) {
        fail_msg("%s was not read", kind);
    }
    return e.after - e.before;
}

static void measures_in_one_process(void **state)
{
    struct device *d = *state;
    struct qs_msg_run_ready ready;
    struct qs_declared declared;
    const struct run_spec spec = spec_of("", "");
    begin(d, &spec, &ready);
    assert_int_equal(ready.header_version, 1);
    assert_int_equal(ready.declared.count, 2);
    struct qs_iter it = qs_list_iter(&ready.declared);
    assert_true(qs_list_declared(&it, &declared));
    assert_true(qs_text_is(declared.name, "evals") && qs_text_is(declared.unit, "count"));
    assert_int_equal(declared.flags, QS_DECLARED_LOWER_IS_BETTER | QS_DECLARED_DETERMINISTIC);
    for (uint32_t w = 0; w < 3; w++) {
        window(d, w, w * 20, 20);
        assert_int_equal(closed.m.how, QS_CLOSED_DONE);
        assert_int_equal(closed.m.evals, 3);
        assert_int_equal(closed.m.declared.count, 2);
        assert_int_equal(closed.rows, 20);
        for (size_t i = 0; i < 20; i++) {
            assert_int_equal(closed.row[i].flags, 0);
            assert_true(closed.row[i].duration_ns >= 600000);
            assert_int_equal(closed.row[i].values[0], 3);
            assert_int_equal(closed.row[i].values[1], w);
        }
        assert_int_equal(evidence(QS_SENSOR_START_DELAY), closed.row[0].start_off_ns);
        assert_true(closed.row[0].start_off_ns >= 200000);
        assert_int_equal(evidence("program.children"), 0);
        assert_true(evidence("program.voluntary_switches") <= 2);
    }
    struct qs_msg_run_ended m = end(d);
    assert_int_equal(m.how, QS_ENDED_EXITED);
    assert_int_equal(m.code, 0);
    assert_int_equal(m.flags, 0);
    assert_int_equal(m.seq, 60);
}

static void ends_a_window_by_time(void **state)
{
    struct qs_msg_run_ready ready;
    const struct run_spec spec = spec_of("", "");
    begin(*state, &spec, &ready);
    device_open(*state, &(struct open_spec){.iterations = 500, .max_ns = 5 * MS, .phase = QS_PHASE_WARMUP},
                &closed);
    assert_int_equal(closed.m.how, QS_CLOSED_TIME_UP);
    assert_in_range(closed.rows, 1, 60);
    assert_int_equal(closed.m.phase, QS_PHASE_WARMUP);
    end(*state);
}

struct bad {
    const char *evil, *crash;
    const char *failure; /* of the second window; NULL: it is done */
    const char *taint;
    int32_t iteration;
    uint32_t flags; /* of RUN_ENDED */
    size_t rows;
};

/* end() gives the program a moment for its teardown; what sleeps is ended then. */
static void try_bad(struct device *d, const struct bad *bad)
{
    struct qs_msg_run_ready ready;
    struct run_spec spec = spec_of(bad->evil, bad->crash);
    spec.hook_limit_ns = 300 * MS;
    begin(d, &spec, &ready);
    window(d, 0, 0, 4);
    assert_int_equal(closed.m.how, QS_CLOSED_DONE);
    window(d, 1, 4, 4);
    char failure[400] = "";
    qs_text_copy(closed.m.failure, failure, sizeof failure);
    if (bad->failure) {
        assert_int_equal(closed.m.how, QS_CLOSED_FAILED);
        if (!strstr(failure, bad->failure)) {
            fail_msg("%s%s: `%s` does not say `%s`", bad->evil, bad->crash, failure, bad->failure);
        }
    } else {
        assert_int_equal(closed.m.how, QS_CLOSED_DONE);
    }
    assert_int_equal(closed.rows, bad->rows);
    if (bad->taint) {
        assert_true(peer_has_taint(&closed.m, bad->taint, bad->iteration, NULL));
    }
    assert_int_equal(end(d).flags, bad->flags);
}

static void bounds_what_a_hostile_program_writes(void **state)
{
    static const struct bad all[] = {
        {"one-more", "", "claims 5 iterations, 4 were asked for", NULL, 0, KILLED, 0},
        {"beyond", "", "more iterations than there is room for", NULL, 0, KILLED, 0},
        {"fewer", "", "after 3 of 4", NULL, 0, KILLED, 3},
        {"magic", "", "words that are the agent's", NULL, 0, KILLED, 0},
        {"command", "", "words that are the agent's", NULL, 0, KILLED, 0},
        {"state", "", "a state that does not exist", NULL, 0, KILLED, 0},
        {"backwards", "", NULL, "clock", 1, KILLED, 4},
        {"negative", "", NULL, "clock", 1, KILLED, 4},
        {"wild", "", NULL, "clock", 0, KILLED, 4},
        {"early", "", NULL, "clock", 0, KILLED, 4},
        {"wakes", "", NULL, "program.wakes", -1, 0, 4},
    };
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        try_bad(*state, &all[i]);
    }
}

/* Memory that is sealed cannot be cut; where the kernel seals nothing the window fails, and the agent goes
 * on. */
static void survives_a_program_that_cuts_the_memory(void **state)
{
    static const struct bad sealed = {"truncate", "", NULL, NULL, 0, KILLED, 4},
                            cut = {"truncate",           "", "words that are the agent's", NULL, 0,
                                   QS_ENDED_NO_TEARDOWN, 0};
    try_bad(*state, getenv("QS_AGENT_BELOW") ? &cut : &sealed);
    try_bad(*state, &(struct bad){"wakes", "", NULL, "program.wakes", -1, 0, 4});
}

static void survives_a_program_that_dies(void **state)
{
    static const struct bad all[] = {
        {"", "prepare", "signal 9 (prepare)", NULL, 0, QS_ENDED_NO_TEARDOWN, 0},
        {"", "run", "signal 9 (run)", NULL, 0, QS_ENDED_NO_TEARDOWN, 0},
        {"", "conclude", "signal 9 (conclude)", NULL, 0, QS_ENDED_NO_TEARDOWN, 0},
        {"exit", "", "exited with code 0 (run)", NULL, 0, QS_ENDED_NO_TEARDOWN, 0},
        {"error", "", "run: the result is wrong", NULL, 0, QS_ENDED_NO_TEARDOWN, 0},
        {"hang", "", "did not end within its limit", NULL, 0, KILLED, 0},
        {"", "teardown", NULL, NULL, 0, QS_ENDED_NO_TEARDOWN, 4},
        {"exit-late", "", NULL, NULL, 0, QS_ENDED_NO_TEARDOWN, 4},
    };
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        try_bad(*state, &all[i]);
    }
}

static void finds_what_it_forked(void **state)
{
    static const struct bad fork = {"fork", "", NULL, NULL, 0, QS_ENDED_LEFT_CHILDREN, 4};
    try_bad(*state, &fork);
    assert_int_equal(evidence("program.children"), 1);
}

static void ends_what_does_not_tear_down(void **state)
{
    struct qs_msg_run_ready ready;
    struct run_spec spec = spec_of("stay", "");
    spec.hook_limit_ns = 200 * MS;
    begin(*state, &spec, &ready);
    struct qs_msg_run_ended m = end(*state);
    assert_int_equal(m.how, QS_ENDED_SIGNALLED);
    assert_int_equal(m.code, SIGTERM);
    assert_int_equal(m.flags, KILLED);
}

static void expect_refusal(struct device *d, const struct run_spec *spec, const char *text)
{
    struct qs_msg_error m;
    char said[512];
    d->peer.run.b[0]++;
    peer_run_begin(&d->peer, spec);
    const struct letter *l = device_expect(d, QS_MSG_ERROR);
    assert_int_equal(qs_msg_decode_error(l->payload, l->n, &m), 0);
    qs_text_copy(m.text, said, sizeof said);
    assert_int_equal(m.code, QS_CODE_EXECUTABLE);
    assert_int_equal(m.blame, QS_WIRE_BLAME_OPERATOR);
    if (!strstr(said, text)) {
        fail_msg("`%s` does not say `%s`", said, text);
    }
}

static void says_why_a_program_is_no_benchmark(void **state)
{
    struct run_spec spec = spec_of("", "setup");
    expect_refusal(*state, &spec, "signal 9 (setup)");
    spec = spec_of("fail", "");
    expect_refusal(*state, &spec, "setup: there is no picture");
    spec = spec_of("metrics", "");
    expect_refusal(*state, &spec, "the same one twice");
    spec = spec_of("slow", "");
    spec.hook_limit_ns = 200 * MS;
    expect_refusal(*state, &spec, "had reached its limit");
    spec = spec_of("", "");
    spec.benchmark = "wrok";
    expect_refusal(*state, &spec, "did you mean work?");
    spec = spec_of("", "");
    spec.argv = (const char *const[]){getenv("QS_PROGRAM"), "other-layout", NULL};
    expect_refusal(*state, &spec, "has layout 9");
    spec.argv = (const char *const[]){"/bin/true", NULL};
    expect_refusal(*state, &spec, "does it include quiesce/bench.h?");
    spec = spec_of("", "");
    device_measure(*state, &spec, 3, &closed); /* and the agent is as it was */
    assert_int_equal(closed.rows, 3);
}

/* A window that is opened on a program that has died fails, and so does no other run. */
static void tells_that_the_program_is_gone(void **state)
{
    struct qs_msg_run_ready ready;
    const struct run_spec spec = spec_of("", "run");
    begin(*state, &spec, &ready);
    window(*state, 0, 0, 4);
    window(*state, 1, 4, 4);
    peer_open(&((struct device *)*state)->peer,
              &(struct open_spec){.window = 2, .first_seq = 4, .iterations = 4, .phase = QS_PHASE_MEASURE});
    device_collect(*state, &closed);
    assert_int_equal(closed.m.how, QS_CLOSED_FAILED);
    assert_int_equal(closed.m.opened_ns, 0);
    end(*state);
}

/* Each iteration has one more evaluation than the last, and the clock is told apart on both sides. */
static void tunes(void **state)
{
    struct device *d = *state;
    struct qs_msg_run_ready ready;
    struct qs_evidence e;
    const struct run_spec spec = spec_of("", "");
    begin(d, &spec, &ready);
    device_open(d, &(struct open_spec){.iterations = 12, .evals = 1, .phase = QS_PHASE_TUNE}, &closed);
    assert_int_equal(closed.m.how, QS_CLOSED_DONE);
    assert_int_equal(closed.m.phase, QS_PHASE_TUNE);
    assert_int_equal(closed.rows, 12);
    for (uint32_t i = 0; i < 12; i++) {
        assert_int_equal(closed.row[i].values[0], i + 1);
        assert_true(closed.row[i].duration_ns >= (i + 1) * 200000);
    }
    assert_true(peer_has_evidence(&closed.m, QS_SENSOR_CLOCK_PRECISION, &e));
    assert_true(e.before > 0 && e.after > 0);
    int64_t precision_ns = e.before;
    assert_true(peer_has_evidence(&closed.m, QS_SENSOR_CLOCK_ACCURACY, &e));
    assert_true(e.before >= precision_ns && e.after > 0);
    end(d);
}

static void cancels_a_window(void **state)
{
    struct device *d = *state;
    struct qs_msg_run_ready ready;
    const struct run_spec spec = spec_of("", "");
    begin(d, &spec, &ready);
    peer_open(&d->peer, &(struct open_spec){.iterations = 512, .evals = 1000, .phase = QS_PHASE_MEASURE});
    device_expect(d, QS_MSG_ARM);
    peer_window(&d->peer, QS_MSG_QUIET, 0);
    peer_cancel(&d->peer);
    device_collect(d, &closed);
    assert_int_equal(closed.m.how, QS_CLOSED_CANCELLED);
    assert_true(closed.rows < 512);
    assert_int_equal(end(d).how, QS_ENDED_SIGNALLED);
}

static void moves_the_initial_state(void **state)
{
    struct qs_msg_run_ready ready;
    struct run_spec spec = spec_of("", "");
    spec.environment_bytes = QS_LAYOUT_ENVIRONMENT_MAX_BYTES;
    spec.stack_bytes = QS_LAYOUT_STACK_MAX_BYTES;
    spec.heap_bytes = QS_LAYOUT_HEAP_MAX_BYTES;
    begin(*state, &spec, &ready);
    window(*state, 0, 0, 4);
    assert_int_equal(closed.rows, 4);
    end(*state);
}

/* What runs in a program's window goes to the pipe of its run, counted window by window. */
static void captures_window_by_window(void **state)
{
    struct qs_msg_run_ready ready;
    struct run_spec spec = spec_of("print", "");
    spec.capture = true;
    spec.output_max_bytes = 20;
    begin(*state, &spec, &ready);
    window(*state, 0, 0, 4);
    assert_int_equal(closed.m.output_bytes, 0);
    window(*state, 1, 4, 4);
    assert_int_equal(closed.m.output_bytes, 3 * 4 * strlen("an iteration\n"));
    assert_int_equal(closed.m.output.n, 20);
    end(*state);
}

static void refuses_hooks_and_overlong_windows(void **state)
{
    struct device *d = *state;
    struct qs_msg_run_ready ready;
    struct qs_msg_hook_done done;
    struct run_spec spec = spec_of("", "");
    spec.capacity = 8;
    begin(d, &spec, &ready);
    peer_hook(&d->peer, 5, (const char *const[]){"/bin/true", NULL}, 1000 * MS);
    const struct letter *l = device_expect(d, QS_MSG_HOOK_DONE);
    assert_int_equal(qs_msg_decode_hook_done(l->payload, l->n, &done), 0);
    assert_int_equal(done.how, QS_HOOK_NOT_STARTED);
    peer_open(&d->peer, &(struct open_spec){.iterations = 9, .phase = QS_PHASE_MEASURE});
    device_expect(d, QS_MSG_ERROR);
    window(d, 0, 0, 8);
    assert_int_equal(closed.rows, 8);
    end(d);
}

/* The agent's own processors, by its pid. */
static cpu_set_t cpus_of(pid_t pid)
{
    cpu_set_t cpus;
    CPU_ZERO(&cpus);
    assert_int_equal(sched_getaffinity(pid, sizeof cpus, &cpus), 0);
    return cpus;
}

/* Where there is more than one processor, program and agent share none of them; the run's end gives all back.
 */
static void parts_the_processors(void **state)
{
    struct device *d = *state;
    struct qs_msg_run_ready ready;
    const struct run_spec spec = spec_of("", "");
    cpu_set_t before = cpus_of(d->agent), during, after;
    if (CPU_COUNT(&before) < 2) {
        puts("# why: there is one processor");
        skip();
    }
    begin(d, &spec, &ready);
    assert_int_equal(ready.flags, 0);
    during = cpus_of(d->agent);
    assert_int_equal(CPU_COUNT(&during), 1);
    window(d, 0, 0, 4);
    end(d);
    after = cpus_of(d->agent);
    assert_true(CPU_EQUAL(&before, &after));
}

/* One processor for both: it works, and the run says what is no longer promised. */
static void works_on_one_processor(void **state)
{
    struct device d;
    struct qs_msg_run_ready ready;
    const struct run_spec spec = spec_of("", "");
    cpu_set_t all = cpus_of(0), one;
    size_t cpu = 0;
    (void)state;
    while (!CPU_ISSET(cpu, &all)) {
        cpu++;
    }
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
    device_start(&d);
    begin(&d, &spec, &ready);
    assert_int_equal(ready.flags, QS_READY_SHARED_CPU);
    for (uint32_t w = 0; w < 3; w++) {
        window(&d, w, w * 20, 20);
        assert_int_equal(closed.m.how, QS_CLOSED_DONE);
        assert_int_equal(closed.rows, 20);
    }
    assert_int_equal(end(&d).flags, 0);
    device_stop(&d);
    assert_int_equal(sched_setaffinity(0, sizeof all, &all), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(measures_in_one_process, setup, teardown),
        cmocka_unit_test_setup_teardown(ends_a_window_by_time, setup, teardown),
        cmocka_unit_test_setup_teardown(bounds_what_a_hostile_program_writes, setup, teardown),
        cmocka_unit_test_setup_teardown(survives_a_program_that_cuts_the_memory, setup, teardown),
        cmocka_unit_test_setup_teardown(survives_a_program_that_dies, setup, teardown),
        cmocka_unit_test_setup_teardown(finds_what_it_forked, setup, teardown),
        cmocka_unit_test_setup_teardown(ends_what_does_not_tear_down, setup, teardown),
        cmocka_unit_test_setup_teardown(says_why_a_program_is_no_benchmark, setup, teardown),
        cmocka_unit_test_setup_teardown(tells_that_the_program_is_gone, setup, teardown),
        cmocka_unit_test_setup_teardown(tunes, setup, teardown),
        cmocka_unit_test_setup_teardown(cancels_a_window, setup, teardown),
        cmocka_unit_test_setup_teardown(moves_the_initial_state, setup, teardown),
        cmocka_unit_test_setup_teardown(captures_window_by_window, setup, teardown),
        cmocka_unit_test_setup_teardown(refuses_hooks_and_overlong_windows, setup, teardown),
        cmocka_unit_test_setup_teardown(parts_the_processors, setup, teardown),
        cmocka_unit_test(works_on_one_processor),
    };
    return cmocka_run_group_tests_name("agent.harness", tests, NULL, NULL);
}
