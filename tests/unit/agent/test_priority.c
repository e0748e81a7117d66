/* The priority of what a run measures, and its addresses: as the process itself finds them in /proc, as the
 * agent reports them, and what is refused before anything runs. */
#include "device.h"

#include "proto/names.h"

#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define MS INT64_C(1000000)

static const char *const env[] = {"PATH=/usr/bin:/bin", NULL};
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

/* In a process of its own: ours stays as it is. */
static bool is_permitted(bool (*try)(void))
{
    int status = 1;
    pid_t pid = fork();
    if (pid == 0) {
        _exit(try() ? 0 : 1);
    }
    waitpid(pid, &status, 0);
    return status == 0;
}

static bool try_fifo(void)
{
    return sched_setscheduler(0, SCHED_FIFO, &(struct sched_param){.sched_priority = 50}) == 0;
}

static bool try_addresses(void)
{
    return personality(ADDR_NO_RANDOMIZE) >= 0;
}

static size_t count_cpus(void)
{
    cpu_set_t all;
    assert_int_equal(sched_getaffinity(0, sizeof all, &all), 0);
    return (size_t)CPU_COUNT(&all);
}

static void need_fifo(void)
{
    if (!is_permitted(try_fifo) || count_cpus() < 2) {
        puts("# why: here nobody may set SCHED_FIFO, or there is one processor");
        skip();
    }
}

struct as {
    int nice, fifo, policy; /* fields 19, 40 and 41 of /proc/PID/stat, proc(5) */
};

/* What a line of /proc/PID/stat says. */
static struct as parse(const char *line)
{
    struct as ret = {-99, -99, -99};
    const char *p = strrchr(line, ')');
    assert_non_null(p);
    p += 2;
    for (int field = 3; *p && *p != '\n'; field++) {
        int value = (int)strtol(p, NULL, 10);
        ret.nice = field == 19 ? value : ret.nice;
        ret.fifo = field == 40 ? value : ret.fifo;
        ret.policy = field == 41 ? value : ret.policy;
        p += strcspn(p, " \n");
        p += *p == ' ';
    }
    return ret;
}

static const char *said(void)
{
    static char text[4096];
    assert_true(closed.m.output.n < sizeof text);
    memcpy(text, closed.m.output.p, closed.m.output.n);
    text[closed.m.output.n] = '\0';
    return text;
}

static void assert_evidence(const char *kind, int64_t before, int64_t after)
{
    struct qs_evidence e;
    assert_true(peer_has_evidence(&closed.m, kind, &e));
    assert_int_equal(e.status, QS_READING_OK);
    assert_int_equal(e.before, before);
    assert_int_equal(e.after, after);
    assert_false(peer_has_taint(&closed.m, kind, -1, NULL));
}

/* The shell is the process that is measured, cat is its child. */
static const char *const look[] = {"/bin/sh", "-c",
                                   "read a </proc/self/stat; echo \"$a\"; cat /proc/self/stat", NULL};

static struct run_spec spec_of(enum qs_sched sched, int value, uint8_t flags)
{
    return (struct run_spec){.argv = look,
                             .env = env,
                             .capture = true,
                             .output_max_bytes = 4000,
                             .start = {.sched = sched, .value = value, .flags = flags}};
}

static void gives_fifo_to_what_is_measured(void **state)
{
    need_fifo();
    struct run_spec spec = spec_of(QS_SCHED_FIFO, 7, 0);
    const char *const prepare[] = {"/bin/sh", "-c", "cat /proc/self/stat >prepared", NULL};
    char folder[] = "/tmp/qs-priority-XXXXXX", path[64], line[1024] = "";
    assert_non_null(mkdtemp(folder));
    spec.prepare = prepare;
    spec.cwd = folder;
    device_measure(*state, &spec, 1, &closed);
    const char *text = said();
    for (int i = 0; i < 2; i++, text = strchr(text, '\n') + 1) { /* it, and what it has started */
        struct as as = parse(text);
        assert_int_equal(as.policy, SCHED_FIFO);
        assert_int_equal(as.fifo, 7);
    }
    assert_evidence(QS_SENSOR_FIFO, 7, 7);
    assert_false(peer_has_evidence(&closed.m, QS_SENSOR_NICE, &(struct qs_evidence){0}));
    snprintf(path, sizeof path, "%s/prepared", folder);
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    assert_non_null(fgets(line, sizeof line, f));
    fclose(f);
    assert_int_equal(parse(line).policy, SCHED_OTHER); /* what prepares is as ever */
    unlink(path);
    rmdir(folder);
    spec = spec_of(QS_SCHED_KEPT, 0, 0);
    device_measure(*state, &spec, 1, &closed); /* and the next run too */
    assert_int_equal(parse(said()).policy, SCHED_OTHER);
    assert_false(peer_has_evidence(&closed.m, QS_SENSOR_FIFO, &(struct qs_evidence){0}));
}

static void gives_another_nice(void **state)
{
    struct run_spec spec = spec_of(QS_SCHED_NICE, 11, 0);
    device_measure(*state, &spec, 1, &closed);
    assert_int_equal(parse(said()).nice, 11);
    assert_evidence(QS_SENSOR_NICE, 11, 11);
    if (geteuid() == 0) {
        spec = spec_of(QS_SCHED_NICE, -13, 0);
        device_measure(*state, &spec, 1, &closed);
        assert_int_equal(parse(said()).nice, -13);
        assert_evidence(QS_SENSOR_NICE, -13, -13);
    }
}

static void gives_fixed_addresses(void **state)
{
    static const char *const argv[] = {"/bin/cat", "/proc/self/personality", NULL};
    if (!is_permitted(try_addresses)) {
        puts("# why: here nobody may ask for fixed addresses");
        skip();
    }
    struct run_spec spec = spec_of(QS_SCHED_KEPT, 0, QS_START_FIXED_ADDRESSES);
    spec.argv = argv;
    device_measure(*state, &spec, 1, &closed);
    assert_int_equal(strtol(said(), NULL, 16) & ADDR_NO_RANDOMIZE, ADDR_NO_RANDOMIZE);
    assert_evidence(QS_SENSOR_FIXED, 1, 1);
    spec = spec_of(QS_SCHED_KEPT, 0, 0);
    spec.argv = argv;
    device_measure(*state, &spec, 1, &closed);
    int own = personality(0xffffffff);
    assert_int_equal(strtol(said(), NULL, 16) & ADDR_NO_RANDOMIZE, own & ADDR_NO_RANDOMIZE);
    assert_false(peer_has_evidence(&closed.m, QS_SENSOR_FIXED, &(struct qs_evidence){0}));
}

/* Its program is asked when the window is over, while it lives. */
static void gives_it_to_harness_programs(void **state)
{
    const char *const argv[] = {getenv("QS_PROGRAM"), NULL};
    const char *const params[] = {"work_ns=200000", NULL};
    need_fifo();
    const struct run_spec spec = {.argv = argv,
                                  .env = env,
                                  .benchmark = "work",
                                  .params = params,
                                  .start = {.sched = QS_SCHED_FIFO, .value = 3}};
    device_measure(*state, &spec, 4, &closed);
    assert_int_equal(closed.rows, 4);
    assert_evidence(QS_SENSOR_FIFO, 3, 3);
}

/* A process that keeps its processor for itself is ended at its limit all the same. */
static void ends_one_that_spins(void **state)
{
    static const char *const spin[] = {"/bin/sh", "-c", "trap '' TERM; while :; do :; done", NULL};
    need_fifo();
    struct device *d = *state;
    struct run_spec spec = spec_of(QS_SCHED_FIFO, 99, 0);
    spec.argv = spin;
    spec.limit_ns = 300 * MS;
    device_measure(d, &spec, 1, &closed);
    assert_int_equal(closed.rows, 1);
    assert_true((closed.row[0].flags & QS_ITERATION_TIMED_OUT) != 0);
    spec = spec_of(QS_SCHED_KEPT, 0, 0);
    device_measure(d, &spec, 1, &closed); /* and it has all processors again */
    assert_int_equal(closed.m.iterations, 1);
}

static void assert_refused(struct device *d, const struct run_spec *spec, const char *why)
{
    struct qs_msg_error m;
    char text[QS_NOTE_MAX_BYTES + 1];
    peer_run_begin(&d->peer, spec);
    const struct letter *l = device_expect(d, QS_MSG_ERROR);
    assert_int_equal(qs_msg_decode_error(l->payload, l->n, &m), 0);
    assert_int_equal(m.code, QS_CODE_UNSUPPORTED);
    assert_int_equal(m.blame, QS_WIRE_BLAME_OPERATOR);
    qs_text_copy(m.text, text, sizeof text);
    if (!strstr(text, why)) {
        fail_msg("`%s` does not say `%s`", text, why);
    }
}

/* The agent needs a processor that such a process never has. */
static void keeps_a_processor_for_itself(void **state)
{
    cpu_set_t all;
    cpu_set_t one;
    char cpus[32];
    (void)state;
    assert_int_equal(sched_getaffinity(0, sizeof all, &all), 0);
    struct device d;
    device_start(&d);
    struct run_spec spec = spec_of(QS_SCHED_FIFO, 1, 0);
    spec.cpus = "0-1023";
    assert_refused(&d, &spec, count_cpus() > 1 ? "give the run fewer processors" : "this agent has only one");
    device_stop(&d);
    int first = 0;
    while (!CPU_ISSET((size_t)first, &all)) {
        first++;
    }
    CPU_ZERO(&one);
    CPU_SET((size_t)first, &one);
    assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
    device_start(&d);
    assert_int_equal(sched_setaffinity(0, sizeof all, &all), 0);
    spec.cpus = NULL;
    assert_refused(&d, &spec, "this agent has only one");
    snprintf(cpus, sizeof cpus, "%d", first);
    spec = spec_of(QS_SCHED_KEPT, 0, 0);
    spec.cpus = cpus;
    device_measure(&d, &spec, 1, &closed); /* any other run has it */
    assert_int_equal(closed.m.iterations, 1);
    device_stop(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(gives_fifo_to_what_is_measured, setup, teardown),
        cmocka_unit_test_setup_teardown(gives_another_nice, setup, teardown),
        cmocka_unit_test_setup_teardown(gives_fixed_addresses, setup, teardown),
        cmocka_unit_test_setup_teardown(gives_it_to_harness_programs, setup, teardown),
        cmocka_unit_test_setup_teardown(ends_one_that_spins, setup, teardown),
        cmocka_unit_test(keeps_a_processor_for_itself)};
    return cmocka_run_group_tests_name("agent.priority", tests, NULL, NULL);
}
