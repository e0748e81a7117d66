/* Real processes under a real agent: each ends in a defined record. */
#include "device.h"

#include "proto/names.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#define SH(script)                                                                                           \
    (const char *const[])                                                                                    \
    {                                                                                                        \
        "/bin/sh", "-c", script, NULL                                                                        \
    }
#define MS INT64_C(1000000)

static const char *const usual_env[] = {"PATH=/usr/bin:/bin", "LC_ALL=C", NULL};
static struct closed closed;

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

static int64_t metric(const struct qs_row *row, enum qs_metric id)
{
    return row->values[id - 1];
}

static void measures_a_command(void **state)
{
    const struct run_spec spec = {.argv = (const char *const[]){"true", NULL}, .env = usual_env};
    device_measure(*state, &spec, 20, &closed);
    assert_int_equal(closed.m.how, QS_CLOSED_DONE);
    assert_int_equal(closed.rows, 20);
    assert_int_equal(closed.m.taints.count, 0);
    int64_t end = 0;
    for (size_t i = 0; i < closed.rows; i++) {
        assert_int_equal(closed.row[i].flags, 0);
        assert_int_equal(closed.row[i].status, 0);
        assert_true(closed.row[i].duration_ns > 0);
        assert_true(closed.row[i].start_off_ns >= end);
        end = closed.row[i].start_off_ns + closed.row[i].duration_ns;
        assert_true(metric(&closed.row[i], QS_METRIC_MAX_RSS_BYTES) > 0);
        assert_true(metric(&closed.row[i], QS_METRIC_MINOR_FAULTS) > 0);
    }
    assert_true(closed.m.closed_ns - closed.m.opened_ns >= end);
}

static void records_processor_time(void **state)
{
    const struct run_spec spec = {.argv = SH("i=0; while [ $i -lt 60000 ]; do i=$((i+1)); done"),
                                  .env = usual_env};
    device_measure(*state, &spec, 1, &closed);
    assert_true(metric(&closed.row[0], QS_METRIC_USER_TIME_US) > 0);
    assert_true(metric(&closed.row[0], QS_METRIC_USER_TIME_US) * 1000 <= closed.row[0].duration_ns * 4);
}

/* One iteration of a shell script. */
static const struct qs_row *measure_script(struct device *d, const char *script, struct run_spec spec)
{
    const char *const argv[] = {"/bin/sh", "-c", script, NULL};
    spec.argv = argv;
    spec.env = usual_env;
    device_measure(d, &spec, 1, &closed);
    assert_int_equal(closed.m.how, QS_CLOSED_DONE);
    assert_int_equal(closed.rows, 1);
    return &closed.row[0];
}

static bool tainted(uint32_t flag)
{
    return peer_has_taint(&closed.m, qs_iteration_flag_name(flag), 0, NULL);
}

static void judges_exit_codes(void **state)
{
    const struct qs_row *row = measure_script(*state, "exit 3", (struct run_spec){.capture = false});
    assert_int_equal(row->flags, QS_ITERATION_UNEXPECTED_EXIT);
    assert_int_equal(row->status, 3);
    assert_true(tainted(QS_ITERATION_UNEXPECTED_EXIT));
    row = measure_script(*state, "exit 3", (struct run_spec){.exit_rule = QS_EXIT_RULE_ANY});
    assert_int_equal(row->flags, 0);
    assert_int_equal(row->status, 3);
    row = measure_script(*state, "exit 3", (struct run_spec){.exit_rule = QS_EXIT_RULE_LIST, .exit_code = 3});
    assert_int_equal(row->flags, 0);
    row = measure_script(*state, "exit 0", (struct run_spec){.exit_rule = QS_EXIT_RULE_LIST, .exit_code = 3});
    assert_int_equal(row->flags, QS_ITERATION_UNEXPECTED_EXIT);
}

static void records_a_crash(void **state)
{
    const struct qs_row *row = measure_script(*state, "kill -SEGV $$", (struct run_spec){.capture = false});
    assert_int_equal(row->flags, QS_ITERATION_SIGNALLED);
    assert_int_equal(row->status, -SIGSEGV);
    row = measure_script(*state, "kill -KILL $$", (struct run_spec){.capture = true, .output_max_bytes = 10});
    assert_int_equal(row->flags, QS_ITERATION_SIGNALLED);
    assert_int_equal(row->status, -SIGKILL);
    assert_true(tainted(QS_ITERATION_SIGNALLED));
}

static void ends_what_hangs(void **state)
{
    const struct qs_row *row =
        measure_script(*state, "exec sleep 1000", (struct run_spec){.limit_ns = 50 * MS});
    assert_int_equal(row->flags, QS_ITERATION_TIMED_OUT);
    assert_int_equal(row->status, -SIGTERM);
    assert_true(row->duration_ns >= 50 * MS);
    assert_true(tainted(QS_ITERATION_TIMED_OUT));
}

static void forces_what_ignores_sigterm(void **state)
{
    const struct qs_row *row = measure_script(*state, "trap '' TERM; while :; do sleep 1000; done",
                                              (struct run_spec){.limit_ns = 200 * MS});
    assert_true(row->flags & QS_ITERATION_TIMED_OUT);
    assert_int_equal(row->status, -SIGKILL);
    assert_true(row->duration_ns >= 1200 * MS);
}

/* A process that is stopped wakes up for nobody but SIGKILL. */
static void ends_what_stopped_itself(void **state)
{
    const struct qs_row *row =
        measure_script(*state, "kill -STOP $$", (struct run_spec){.limit_ns = 50 * MS});
    assert_int_equal(row->flags, QS_ITERATION_TIMED_OUT);
    assert_int_equal(row->status, -SIGKILL);
}

static long number_in(const char *path)
{
    char text[32] = "";
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    size_t n = fread(text, 1, sizeof text - 1, f);
    fclose(f);
    assert_true(n > 0);
    return strtol(text, NULL, 10);
}

static void finds_what_escaped(void **state)
{
    char path[] = "/tmp/qs-agent-test-XXXXXX";
    char script[256];
    close(mkstemp(path));
    snprintf(script, sizeof script,
             "setsid sh -c 'echo $$ > %s; exec sleep 1000' & while [ ! -s %s ]; do :; done", path, path);
    const struct qs_row *row = measure_script(*state, script, (struct run_spec){.capture = false});
    assert_int_equal(row->flags, QS_ITERATION_LEFT_CHILDREN);
    assert_int_equal(row->status, 0);
    assert_true(tainted(QS_ITERATION_LEFT_CHILDREN));
    assert_int_equal(kill((pid_t)number_in(path), 0), -1);
    unlink(path);
}

static void keeps_a_bounded_part_of_the_output(void **state)
{
    const struct run_spec spec = {.capture = true, .output_max_bytes = 1000};
    const struct qs_row *row = measure_script(*state, "head -c 5000000 /dev/zero | tr '\\0' 'x'", spec);
    assert_int_equal(row->flags, QS_ITERATION_OUTPUT_CUT);
    assert_int_equal(closed.m.output_bytes, 5000000);
    assert_int_equal(closed.m.output.n, 1000);
    assert_int_equal(closed.m.output.p[999], 'x');
    assert_int_equal(closed.m.taints.count, 0);
}

static void collects_both_outputs_of_all_iterations(void **state)
{
    const struct run_spec spec = {
        .argv = SH("echo a; echo b >&2"), .env = usual_env, .capture = true, .output_max_bytes = 100};
    device_measure(*state, &spec, 3, &closed);
    assert_int_equal(closed.m.output_bytes, 12);
    assert_true(qs_text_is(closed.m.output, "a\nb\na\nb\na\nb\n"));
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(closed.row[i].flags, 0);
    }
}

static void survives_closed_descriptors(void **state)
{
    const struct run_spec spec = {.capture = true, .output_max_bytes = 100};
    const struct qs_row *row = measure_script(*state, "exec 0<&- 1>&- 2>&-; sleep 0.05; exit 0", spec);
    assert_int_equal(row->flags, 0);
    assert_true(row->duration_ns >= 50 * MS);
}

static void gives_standard_input(void **state)
{
    char path[] = "/tmp/qs-agent-test-XXXXXX";
    int fd = mkstemp(path);
    assert_int_equal(write(fd, "eins zwei", 9), 9);
    close(fd);
    const struct run_spec file = {.argv = (const char *const[]){"cat", NULL},
                                  .env = usual_env,
                                  .stdin_path = path,
                                  .capture = true,
                                  .output_max_bytes = 100};
    device_measure(*state, &file, 2, &closed);
    assert_true(qs_text_is(closed.m.output, "eins zweieins zwei"));
    const struct run_spec null = {.capture = true, .output_max_bytes = 100};
    measure_script(*state, "cat; echo end", null);
    assert_true(qs_text_is(closed.m.output, "end\n"));
    unlink(path);
}

static void gives_environment_and_directory(void **state)
{
    const struct run_spec spec = {.argv = SH("pwd; echo $COLOUR; env | wc -l"),
                                  .env = (const char *const[]){"PATH=/usr/bin:/bin", "COLOUR=green", NULL},
                                  .cwd = "/usr/share",
                                  .capture = true,
                                  .output_max_bytes = 100};
    device_measure(*state, &spec, 1, &closed);
    assert_true(qs_text_is(closed.m.output, "/usr/share\ngreen\n3\n")); /* the shell adds PWD */
}

static void pins_to_a_processor(void **state)
{
    const struct run_spec spec = {.argv = SH("grep Cpus_allowed_list /proc/self/status"),
                                  .env = usual_env,
                                  .cpus = "0",
                                  .capture = true,
                                  .output_max_bytes = 100};
    device_measure(*state, &spec, 1, &closed);
    assert_true(qs_text_is(closed.m.output, "Cpus_allowed_list:\t0\n"));
}

static void resets_signals(void **state)
{
    const struct run_spec spec = {.capture = true, .output_max_bytes = 200};
    measure_script(*state, "grep -E 'Sig(Blk|Ign)' /proc/self/status", spec);
    assert_true(qs_text_is(closed.m.output, "SigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\n"));
}

static void hands_down_no_descriptor(void **state)
{
    const struct run_spec spec = {.capture = true, .output_max_bytes = 200};
    measure_script(
        *state, "i=3; while [ $i -lt 64 ]; do [ -e /proc/$$/fd/$i ] && echo $i; i=$((i+1)); done; echo end",
        spec);
    assert_true(qs_text_is(closed.m.output, "end\n"));
}

static void runs_prepare_and_conclude(void **state)
{
    char path[] = "/tmp/qs-agent-test-XXXXXX";
    char prepare[128];
    char conclude[128];
    close(mkstemp(path));
    snprintf(prepare, sizeof prepare, "echo p >> %s", path);
    snprintf(conclude, sizeof conclude, "echo c >> %s; exit 1", path);
    const char *const show[] = {"cat", path, NULL};
    const struct run_spec spec = {.argv = show,
                                  .env = usual_env,
                                  .prepare = SH(prepare),
                                  .conclude = SH(conclude),
                                  .capture = true,
                                  .output_max_bytes = 100};
    device_measure(*state, &spec, 2, &closed);
    assert_true(qs_text_is(closed.m.output, "p\np\nc\np\n"));
    assert_int_equal(closed.row[1].flags, QS_ITERATION_CONCLUDE_FAILED);
    assert_true(peer_has_taint(&closed.m, qs_iteration_flag_name(QS_ITERATION_CONCLUDE_FAILED), 1, NULL));
    unlink(path);
}

static void ends_a_prepare_that_hangs(void **state)
{
    const struct run_spec spec = {.argv = (const char *const[]){"true", NULL},
                                  .env = usual_env,
                                  .prepare = SH("exec sleep 1000"),
                                  .hook_limit_ns = 50 * MS};
    device_measure(*state, &spec, 1, &closed); /* which waits for no thousand seconds */
    assert_int_equal(closed.row[0].flags, QS_ITERATION_PREPARE_FAILED);
}

static void expect_refusal(struct device *d, const struct run_spec *spec, const char *part)
{
    struct qs_msg_error m;
    char text[QS_NOTE_MAX_BYTES + 1];
    peer_run_begin(&d->peer, spec);
    const struct letter *l = device_expect(d, QS_MSG_ERROR);
    assert_int_equal(qs_msg_decode_error(l->payload, l->n, &m), 0);
    assert_int_equal(m.blame, QS_WIRE_BLAME_OPERATOR);
    qs_text_copy(m.text, text, sizeof text);
    if (!strstr(text, part)) {
        fail_msg("'%s' does not say '%s'", text, part);
    }
}

static void explains_what_cannot_run(void **state)
{
    static const struct {
        const char *name, *part;
    } cases[] = {{"/nowhere/tool", "no file '/nowhere/tool'"},
                 {"no-such-tool", "in PATH (/usr/bin:/bin)"},
                 {"gzip -1 file", "it has a blank"},
                 {"/etc/passwd", "chmod +x"},
                 {"/usr", "a folder"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const char *const argv[] = {cases[i].name, NULL};
        const struct run_spec spec = {.argv = argv, .env = usual_env};
        expect_refusal(*state, &spec, cases[i].part);
    }
    const char *const argv[] = {"true", NULL};
    expect_refusal(*state, &(struct run_spec){.argv = argv, .env = usual_env, .cwd = "/nowhere"}, "/nowhere");
    expect_refusal(*state, &(struct run_spec){.argv = argv, .env = usual_env, .cpus = "0-"}, "not a list");
    expect_refusal(*state, &(struct run_spec){.argv = argv, .env = usual_env, .cpus = "1000"},
                   "none of them");
    expect_refusal(*state, &(struct run_spec){.argv = argv, .env = usual_env, .stdin_path = "/nowhere"},
                   "standard input");
    device_measure(*state, &(struct run_spec){.argv = argv, .env = usual_env}, 1, &closed);
    assert_int_equal(closed.row[0].flags, 0);
}

/* Only root can become somebody else; everybody can stay who they are, by number or by name. */
static void runs_as_a_user(void **state)
{
    char own[16];
    snprintf(own, sizeof own, "%u", (unsigned)geteuid());
    struct run_spec spec = {
        .argv =
            SH("id -u; id -g; id -G | wc -w; sleep 9 >/dev/null & test -w /proc/1/oom_score_adj; echo $?"),
        .env = usual_env,
        .user = own,
        .capture = true,
        .output_max_bytes = 100};
    device_measure(*state, &spec, 1, &closed);
    assert_int_equal(closed.row[0].flags, QS_ITERATION_LEFT_CHILDREN);
    assert_int_equal(strncmp(closed.m.output.p, own, strlen(own)), 0);
    expect_refusal(*state, &(struct run_spec){.argv = spec.argv, .env = usual_env, .user = "no such user"},
                   "there is no user 'no such user'");
    if (geteuid() != 0) {
        expect_refusal(*state, &(struct run_spec){.argv = spec.argv, .env = usual_env, .user = "0"},
                       "only root's");
        return;
    }
    spec.user = "nobody";
    device_measure(*state, &spec, 1, &closed);
    assert_true(qs_text_is(closed.m.output, "65534\n65534\n1\n1\n"));
    spec.user = "54321"; /* a number without a name, as Android's applications have */
    device_measure(*state, &spec, 1, &closed);
    assert_true(qs_text_is(closed.m.output, "54321\n54321\n1\n1\n"));
}

static void fails_a_window_that_cannot_start(void **state)
{
    char path[] = "/tmp/qs-agent-test-XXXXXX";
    struct device *d = *state;
    int fd = mkstemp(path);
    assert_int_equal(write(fd, "echo no interpreter named\n", 26), 26);
    assert_int_equal(fchmod(fd, 0700), 0);
    close(fd);
    const char *const argv[] = {path, NULL};
    device_measure(d, &(struct run_spec){.argv = argv, .env = usual_env}, 3, &closed);
    assert_int_equal(closed.m.how, QS_CLOSED_FAILED);
    assert_int_equal(closed.rows, 0);
    assert_non_null(memmem(closed.m.failure.p, closed.m.failure.n, "#!/bin/sh", 9));
    unlink(path);
}

static void takes_evidence(void **state)
{
    struct qs_evidence e;
    measure_script(*state, "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done", (struct run_spec){.cwd = "/"});
    assert_true(peer_has_evidence(&closed.m, "cpu.busy_ticks", &e));
    assert_int_equal(e.status, QS_READING_OK);
    assert_true(e.after >= e.before && e.before > 0);
    assert_true(peer_has_evidence(&closed.m, "agent.involuntary_switches", &e));
    assert_int_equal(e.status, QS_READING_OK);
    assert_true(peer_has_evidence(&closed.m, "foreign.busy_ticks", &e));
    assert_true(peer_has_evidence(&closed.m, "load1_milli", &e));
}

static void gate_on(struct device *d, const char *sensor, int64_t timeout_ns)
{
    const struct qs_expectation e = {.sensor = qs_text_of(sensor),
                                     .flags = QS_GATE_HAS_LO | QS_GATE_HAS_HI,
                                     .lo = 0,
                                     .hi = 1000000,
                                     .timeout_ns = timeout_ns,
                                     .on_timeout = QS_GATE_ON_TIMEOUT_FAIL};
    device_begin(d, &(struct run_spec){.argv = (const char *const[]){"true", NULL}, .env = usual_env});
    peer_open(&d->peer, &(struct open_spec){.window = 1, .iterations = 1, .gate = &e, .gate_count = 1});
}

static void gates_on_the_busy_share(void **state)
{
    struct device *d = *state;
    struct qs_reading r;
    gate_on(d, "cpu.busy_ratio_ppm", 60000 * MS);
    device_expect(d, QS_MSG_ARM);
    peer_window(&d->peer, QS_MSG_QUIET, 1);
    device_collect(d, &closed);
    assert_int_equal(closed.m.gate.outcome, QS_GATE_OPEN);
    assert_true(closed.m.gate.polls > 1); /* a share needs two looks */
    assert_true(closed.m.gate.decided_ns - closed.m.gate.began_ns >= 80 * MS);
    struct qs_iter it = qs_list_iter(&closed.m.gate.readings);
    assert_true(qs_list_reading(&it, &r));
    assert_int_equal(r.status, QS_READING_OK);
    assert_in_range(r.value, 0, 1000000);
}

static void fails_on_a_sensor_that_is_not_there(void **state)
{
    struct device *d = *state;
    gate_on(d, "thermal:no such zone", 0);
    device_collect(d, &closed);
    assert_int_equal(closed.m.how, QS_CLOSED_GATE_TIMEOUT);
    assert_int_equal(closed.m.gate.outcome, QS_GATE_FAIL);
    assert_int_equal(closed.rows, 0);
}

static void finish_hook(struct device *d, enum qs_hook_how how, int32_t code, const char *output)
{
    struct qs_msg_hook_done m;
    const struct letter *l = device_expect(d, QS_MSG_HOOK_DONE);
    assert_int_equal(qs_msg_decode_hook_done(l->payload, l->n, &m), 0);
    assert_int_equal(m.how, how);
    assert_int_equal(m.code, code);
    if (output) {
        assert_true(qs_text_is(m.output, output));
    }
}

static void runs_hooks(void **state)
{
    struct device *d = *state;
    peer_hook(&d->peer, 1, SH("echo out; echo err >&2; exit 4"), 60000 * MS);
    finish_hook(d, QS_HOOK_EXITED, 4, "out\nerr\n");
    peer_hook(&d->peer, 2, SH("kill -9 $$"), 60000 * MS);
    finish_hook(d, QS_HOOK_SIGNALLED, SIGKILL, "");
    peer_hook(&d->peer, 3, SH("exec sleep 1000"), 50 * MS);
    finish_hook(d, QS_HOOK_TIMED_OUT, 0, "");
    peer_hook(&d->peer, 4, (const char *const[]){"/nowhere/tool", NULL}, 50 * MS);
    finish_hook(d, QS_HOOK_NOT_STARTED, 2, NULL);
}

static void keeps_the_tail_of_a_hook(void **state)
{
    struct device *d = *state;
    struct qs_msg_hook_done m;
    peer_hook(&d->peer, 1, SH("yes | head -c 300000; echo the end"), 60000 * MS);
    const struct letter *l = device_expect(d, QS_MSG_HOOK_DONE);
    assert_int_equal(qs_msg_decode_hook_done(l->payload, l->n, &m), 0);
    assert_int_equal(m.output.n, 1000);
    assert_memory_equal(m.output.p + 1000 - 8, "the end\n", 8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(measures_a_command, setup, teardown),
        cmocka_unit_test_setup_teardown(records_processor_time, setup, teardown),
        cmocka_unit_test_setup_teardown(judges_exit_codes, setup, teardown),
        cmocka_unit_test_setup_teardown(records_a_crash, setup, teardown),
        cmocka_unit_test_setup_teardown(ends_what_hangs, setup, teardown),
        cmocka_unit_test_setup_teardown(forces_what_ignores_sigterm, setup, teardown),
        cmocka_unit_test_setup_teardown(ends_what_stopped_itself, setup, teardown),
        cmocka_unit_test_setup_teardown(finds_what_escaped, setup, teardown),
        cmocka_unit_test_setup_teardown(keeps_a_bounded_part_of_the_output, setup, teardown),
        cmocka_unit_test_setup_teardown(collects_both_outputs_of_all_iterations, setup, teardown),
        cmocka_unit_test_setup_teardown(survives_closed_descriptors, setup, teardown),
        cmocka_unit_test_setup_teardown(gives_standard_input, setup, teardown),
        cmocka_unit_test_setup_teardown(gives_environment_and_directory, setup, teardown),
        cmocka_unit_test_setup_teardown(runs_as_a_user, setup, teardown),
        cmocka_unit_test_setup_teardown(pins_to_a_processor, setup, teardown),
        cmocka_unit_test_setup_teardown(resets_signals, setup, teardown),
        cmocka_unit_test_setup_teardown(hands_down_no_descriptor, setup, teardown),
        cmocka_unit_test_setup_teardown(runs_prepare_and_conclude, setup, teardown),
        cmocka_unit_test_setup_teardown(ends_a_prepare_that_hangs, setup, teardown),
        cmocka_unit_test_setup_teardown(explains_what_cannot_run, setup, teardown),
        cmocka_unit_test_setup_teardown(fails_a_window_that_cannot_start, setup, teardown),
        cmocka_unit_test_setup_teardown(takes_evidence, setup, teardown),
        cmocka_unit_test_setup_teardown(gates_on_the_busy_share, setup, teardown),
        cmocka_unit_test_setup_teardown(fails_on_a_sensor_that_is_not_there, setup, teardown),
        cmocka_unit_test_setup_teardown(runs_hooks, setup, teardown),
        cmocka_unit_test_setup_teardown(keeps_the_tail_of_a_hook, setup, teardown),
    };
    return cmocka_run_group_tests_name("agent.linux", tests, NULL, NULL);
}
