/* What the agent measures of a real process, number by number: each test has the mistake in mind that would
 * give another one. */
#include "device.h"

#include "proto/names.h"

#include <dirent.h>
#include <fcntl.h>
#include <grp.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#define MS INT64_C(1000000)

enum { MIB = 1024 * 1024 };

static const char *const usual_env[] = {"PATH=/usr/bin:/bin", "LC_ALL=C", NULL};
static struct closed closed;
static char folder[] = "/tmp/qs-agent-measured-XXXXXX";

static int group_setup(void **state)
{
    (void)state;
    return mkdtemp(folder) ? chmod(folder, 0755) : -1;
}

static int group_teardown(void **state)
{
    const char *const argv[] = {"/bin/rm", "-rf", folder, NULL};
    char said[64];
    (void)state;
    return device_say(argv, said, sizeof said);
}

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

static void path_of(char path[128], const char *name)
{
    snprintf(path, 128, "%s/%s", folder, name);
}

static void await(const char *path)
{
    while (access(path, F_OK) != 0) {
        usleep(1000);
    }
}

/* One process that does what its words say. */
static const struct qs_row *work(struct device *d, const char *what, const char *amount)
{
    const char *const argv[] = {getenv("QS_WORKER"), what, amount, NULL};
    device_measure(d, &(struct run_spec){.argv = argv, .env = usual_env}, 1, &closed);
    assert_int_equal(closed.m.how, QS_CLOSED_DONE);
    assert_int_equal(closed.rows, 1);
    assert_int_equal(closed.row[0].status, 0);
    return &closed.row[0];
}

static int64_t metric(const struct qs_row *row, enum qs_metric id)
{
    return row->values[id - 1];
}

static void tells_user_from_system_time(void **state)
{
    const struct qs_row *row = work(*state, "user-ms", "200");
    assert_true(metric(row, QS_METRIC_USER_TIME_US) >= 200000);
    assert_true(metric(row, QS_METRIC_SYSTEM_TIME_US) < metric(row, QS_METRIC_USER_TIME_US));
    row = work(*state, "system-ms", "200");
    assert_true(metric(row, QS_METRIC_SYSTEM_TIME_US) >= 200000);
    assert_true(metric(row, QS_METRIC_USER_TIME_US) < metric(row, QS_METRIC_SYSTEM_TIME_US));
}

/* It sleeps a thousand times, hardly ever so shortly that it goes on at once; nobody takes the processor away
 * from it as often. */
static void tells_sleeps_from_preemptions(void **state)
{
    const struct qs_row *row = work(*state, "sleeps", "1000");
    assert_true(metric(row, QS_METRIC_VOLUNTARY_SWITCHES) >= 500);
    assert_true(metric(row, QS_METRIC_INVOLUNTARY_SWITCHES) < metric(row, QS_METRIC_VOLUNTARY_SWITCHES));
}

/* In bytes; and a small process after a large one has no memory and no time but its own. */
static void counts_each_process_alone(void **state)
{
    const struct qs_row *row = work(*state, "touch-mib", "128");
    assert_in_range(metric(row, QS_METRIC_MAX_RSS_BYTES), 128 * MIB, 1024 * INT64_C(1048576));
    row = work(*state, "user-ms", "200");
    assert_in_range(metric(row, QS_METRIC_MAX_RSS_BYTES), MIB / 8, 128 * MIB - 1);
    row = work(*state, "touch-mib", "1");
    assert_true(metric(row, QS_METRIC_USER_TIME_US) < 200000);
}

/* Somebody holds a lease of the program's file: whoever is to become that program waits for it. That belongs
 * to the iteration, which begins before its process. */
static void begins_before_the_process(void **state)
{
    struct device *d = *state;
    char path[128], copy[300];
    path_of(path, "leased");
    snprintf(copy, sizeof copy, "cp %s %s", getenv("QS_WORKER"), path);
    assert_int_equal(system(copy), 0);
    const char *const argv[] = {path, "sleeps", "1", NULL};
    device_begin(d, &(struct run_spec){.argv = argv, .env = usual_env});
    signal(SIGIO, SIG_IGN);
    int fd = open(path, O_RDWR | O_CLOEXEC);
    assert_int_equal(fcntl(fd, F_SETLEASE, F_WRLCK), 0);
    peer_open(&d->peer, &(struct open_spec){.iterations = 1});
    device_expect(d, QS_MSG_ARM);
    peer_window(&d->peer, QS_MSG_QUIET, 0);
    while (fcntl(fd, F_GETLEASE) == F_WRLCK) { /* nobody has asked for it yet */
        usleep(1000);
    }
    usleep(300000);
    close(fd);
    device_collect(d, &closed);
    assert_int_equal(closed.row[0].status, 0);
    assert_true(closed.row[0].duration_ns >= 300 * MS);
    unlink(path);
}

/* Thirty processes are left behind, each of which is found when the one before has ended, as a rule by
 * another look, a millisecond later. That time lies between an iteration's end and the next one's beginning.
 * A busy machine lets one look find several: a third of it is asked for, of all iterations together. */
static void ends_before_the_clean_up(void **state)
{
    enum { TIMES = 5, CHAIN_MS = 30 };
    const char *const argv[] = {getenv("QS_WORKER"), "chain", "30", NULL};
    const struct run_spec spec = {.argv = argv, .env = usual_env, .capture = true, .output_max_bytes = 1000};
    char text[1001];
    device_measure(*state, &spec, TIMES, &closed);
    qs_text_copy(closed.m.output, text, sizeof text);
    char *said = text;
    int64_t between_ns = 0;
    for (size_t i = 0; i < TIMES; i++) {
        int64_t end_ns = closed.m.opened_ns + closed.row[i].start_off_ns + closed.row[i].duration_ns;
        int64_t next_ns =
            i + 1 < TIMES ? closed.m.opened_ns + closed.row[i + 1].start_off_ns : closed.m.closed_ns;
        assert_int_equal(closed.row[i].flags, QS_ITERATION_LEFT_CHILDREN);
        assert_true(end_ns >= strtoll(said, &said, 10));
        between_ns += next_ns - end_ns;
    }
    assert_true(between_ns >= TIMES * CHAIN_MS * MS / 3);
}

static void keeps_what_just_fits(void **state)
{
    for (int more = 0; more < 2; more++) {
        const char *const argv[] = {"head", "-c", more ? "1001" : "1000", "/dev/zero", NULL};
        const struct run_spec spec = {
            .argv = argv, .env = usual_env, .capture = true, .output_max_bytes = 1000};
        device_measure(*state, &spec, 1, &closed);
        assert_int_equal(closed.m.output.n, 1000);
        assert_int_equal(closed.m.output_bytes, 1000 + more);
        assert_int_equal(closed.row[0].flags, more ? QS_ITERATION_OUTPUT_CUT : 0);
    }
}

/* What is asked to end is the whole group, not its first process alone, which waits for the other here. */
static void asks_the_whole_group_to_end(void **state)
{
    struct device *d = *state;
    char ready[128], told[128], script[600];
    path_of(ready, "ready");
    path_of(told, "told");
    snprintf(
        script, sizeof script,
        "trap : TERM; sh -c 'trap \"echo x >%s; exit 0\" TERM; echo x >%s; while :; do sleep 0.02; done' & "
        "wait; wait",
        told, ready);
    const char *const argv[] = {"/bin/sh", "-c", script, NULL};
    device_begin(d, &(struct run_spec){.argv = argv, .env = usual_env});
    peer_open(&d->peer, &(struct open_spec){.iterations = 1});
    device_expect(d, QS_MSG_ARM);
    peer_window(&d->peer, QS_MSG_QUIET, 0);
    await(ready);
    peer_cancel(&d->peer);
    device_collect(d, &closed);
    assert_int_equal(closed.m.how, QS_CLOSED_CANCELLED);
    assert_int_equal(access(told, F_OK), 0);
}

/* A group that was left behind ends as one: nobody in it lives to see another's end, to take its place or to
 * run on in front of a search. */
static void ends_a_group_at_once(void **state)
{
    char path[128];
    struct stat st;
    path_of(path, "heirs");
    close(open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
    for (int i = 0; i < 3; i++) {
        assert_int_equal(work(*state, "heirs", path)->flags, QS_ITERATION_LEFT_CHILDREN);
        assert_int_equal(stat(path, &st), 0);
        assert_int_equal(st.st_size, 0);
    }
}

/* Root's further groups are none of a job's user's. */
static void leaves_the_groups_behind(void **state)
{
    const gid_t more[] = {4242, 4343};
    gid_t before[256];
    struct device d;
    const char *const argv[] = {"id", "-G", NULL};
    const struct run_spec spec = {
        .argv = argv, .env = usual_env, .user = "54321", .capture = true, .output_max_bytes = 100};
    (void)state;
    if (geteuid() != 0) {
        return; /* nobody else can become another user */
    }
    int count = getgroups(256, before);
    assert_int_equal(setgroups(2, more), 0);
    device_start(&d);
    device_measure(&d, &spec, 1, &closed);
    assert_true(qs_text_is(closed.m.output, "54321\n"));
    device_stop(&d);
    assert_int_equal(setgroups((size_t)count, before), 0);
}

static int64_t taint_of(const char *code)
{
    int64_t value = 0;
    return peer_has_taint(&closed.m, code, -1, &value) ? value : 0;
}

/* The benchmark is stopped and goes on: no iteration of that window is what it seems. */
static void sees_that_the_benchmark_was_stopped(void **state)
{
    const char *const argv[] = {
        "/bin/sh", "-c",
        "(until grep -q '^State:.*stopped' /proc/$$/status; do sleep 0.01; done; sleep 0.1; kill -CONT $$) & "
        "kill -STOP $$; wait",
        NULL};
    device_measure(*state, &(struct run_spec){.argv = argv, .env = usual_env}, 1, &closed);
    assert_true(closed.row[0].duration_ns >= 100 * MS);
    assert_true(taint_of("process.stops") >= 1);
    assert_int_equal(taint_of("agent.stops"), 0);
    work(*state, "sleeps", "1");
    assert_int_equal(closed.m.taints.count, 0); /* the next one is clean */
}

/* The state's letter of /proc/PID/stat. */
static char state_of(pid_t pid)
{
    char path[64], line[256] = "";
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    assert_non_null(fgets(line, sizeof line, f));
    fclose(f);
    const char *end = strrchr(line, ')');
    return end ? end[2] : '?';
}

static void stop(pid_t pid)
{
    kill(pid, SIGSTOP);
    while (state_of(pid) != 'T') {
        usleep(1000);
    }
}

/* The agent is stopped, and sees the end of its process too late. */
static void sees_that_it_was_stopped_itself(void **state)
{
    struct device *d = *state;
    char ready[128], go[128], script[400];
    path_of(ready, "runs");
    path_of(go, "go");
    snprintf(script, sizeof script, "echo x >%s; while [ ! -e %s ]; do sleep 0.01; done", ready, go);
    const char *const argv[] = {"/bin/sh", "-c", script, NULL};
    device_begin(d, &(struct run_spec){.argv = argv, .env = usual_env});
    peer_open(&d->peer, &(struct open_spec){.iterations = 1});
    device_expect(d, QS_MSG_ARM);
    peer_window(&d->peer, QS_MSG_QUIET, 0);
    await(ready);
    stop(d->agent);
    close(open(go, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
    kill(d->agent, SIGCONT);
    device_collect(d, &closed);
    assert_int_equal(taint_of("agent.stops"), 1);
    peer_seq(&d->peer, QS_MSG_ACK, 1);
    peer_run_end(&d->peer);
    device_expect(d, QS_MSG_RUN_ENDED);
    work(d, "sleeps", "1");
    assert_int_equal(closed.m.taints.count, 0);
}

/* The only child of the agent. */
static pid_t program_of(const struct device *d)
{
    char path[64], text[64] = "";
    snprintf(path, sizeof path, "/proc/%d/task/%d/children", (int)d->agent, (int)d->agent);
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    assert_non_null(fgets(text, sizeof text, f));
    fclose(f);
    return (pid_t)strtol(text, NULL, 10);
}

static void begin_program(struct device *d, const char *evil)
{
    const char *const argv[] = {getenv("QS_PROGRAM"), NULL};
    const char *const params[] = {evil, NULL};
    device_begin(d, &(struct run_spec){.argv = argv,
                                       .env = usual_env,
                                       .benchmark = "work",
                                       .params = params,
                                       .capture = true,
                                       .output_max_bytes = 1000});
}

static void end_program(struct device *d, uint64_t seq)
{
    peer_seq(&d->peer, QS_MSG_ACK, seq);
    peer_run_end(&d->peer);
    device_expect(d, QS_MSG_RUN_ENDED);
}

static size_t open_files(const struct device *d)
{
    char path[64];
    size_t n = 0;
    snprintf(path, sizeof path, "/proc/%d/fd", (int)d->agent);
    DIR *dir = opendir(path);
    assert_non_null(dir);
    while (readdir(dir)) {
        n++;
    }
    closedir(dir);
    return n;
}

/* A day has many processes: whatever was opened for one is closed after it. */
static void leaves_nothing_open(void **state)
{
    struct device *d = *state;
    const char *const worker[] = {getenv("QS_WORKER"), "sleeps", "1", NULL}, *const lost[] = {"/nowhere",
                                                                                              NULL};
    char input[128];
    size_t before = 0;
    path_of(input, "input");
    close(open(input, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
    const struct run_spec full = {.argv = worker,
                                  .env = usual_env,
                                  .prepare = worker,
                                  .conclude = worker,
                                  .cwd = folder,
                                  .stdin_path = input,
                                  .apart = true,
                                  .output_max_bytes = 1000};
    struct run_spec streamed = {.argv = worker, .env = usual_env, .cwd = folder, .document_max_bytes = 1000};
    for (int again = 0; again < 3; again++) { /* once for what stays */
        device_measure(d, &full, 3, &closed);
        assert_int_equal(closed.row[2].flags, 0);
        peer_hook(&d->peer, 1, worker, 60000 * MS);
        device_expect(d, QS_MSG_HOOK_DONE);
        peer_hook(&d->peer, 2, lost, 60000 * MS);
        device_expect(d, QS_MSG_HOOK_DONE);
        peer_run_begin(&d->peer, &(struct run_spec){.argv = lost, .env = usual_env, .cwd = folder});
        device_expect(d, QS_MSG_ERROR);
        peer_run_begin(&d->peer, &(struct run_spec){
                                     .argv = worker, .env = usual_env, .cwd = folder, .stdin_path = folder});
        device_expect(d, QS_MSG_ERROR);
        device_begin(d, &streamed);
        peer_open(&d->peer, &(struct open_spec){.iterations = 1, .phase = QS_PHASE_MEASURE});
        device_expect(d, QS_MSG_ARM);
        peer_window(&d->peer, QS_MSG_QUIET, 0);
        device_expect(d, QS_MSG_CLOSED);
        device_expect(d, QS_MSG_DOCUMENT);
        device_expect(d, QS_MSG_ITERATIONS);
        end_program(d, 1);
        begin_program(d, "evil=none");
        peer_run_end(&d->peer);
        device_expect(d, QS_MSG_RUN_ENDED);
        before = again == 0 ? open_files(d) : before;
    }
    assert_int_equal(open_files(d), before);
}

/* The same of a harness program, in whose window the agent asks nobody anything. */
static void sees_that_the_program_was_stopped(void **state)
{
    struct device *d = *state;
    begin_program(d, "evil=stop"); /* in its second window */
    for (uint32_t w = 0; w < 3; w++) {
        device_open(
            d,
            &(struct open_spec){
                .window = w, .first_seq = w * 4, .iterations = 4, .phase = QS_PHASE_MEASURE, .evals = 1},
            &closed);
        assert_int_equal(closed.m.how, QS_CLOSED_DONE);
        assert_int_equal(taint_of("process.stops") >= 1, w == 1);
    }
    peer_run_end(&d->peer);
    device_expect(d, QS_MSG_RUN_ENDED);
}

static void await_written(pid_t pid, long long bytes)
{
    long long written = 0;
    while (written < bytes) {
        char path[64], line[64];
        snprintf(path, sizeof path, "/proc/%d/io", (int)pid);
        FILE *f = fopen(path, "r");
        assert_non_null(f);
        while (fgets(line, sizeof line, f)) {
            sscanf(line, "wchar: %lld", &written);
        }
        fclose(f);
        usleep(1000);
    }
}

/* What a program has written between two windows belongs to none, also what nobody has had the time to read.
 */
static void forgets_what_was_written_before(void **state)
{
    enum { SHOUT_BYTES = 300000 }; /* of program.c */
    struct device *d = *state;
    begin_program(d, "evil=shout");
    pid_t program = program_of(d);
    peer_open(&d->peer, &(struct open_spec){.iterations = 2, .phase = QS_PHASE_MEASURE, .evals = 1});
    device_expect(d, QS_MSG_ARM);
    stop(d->agent);
    kill(program, SIGUSR1);
    await_written(program, SHOUT_BYTES);
    peer_window(&d->peer, QS_MSG_QUIET, 0);
    kill(d->agent, SIGCONT);
    device_collect(d, &closed);
    assert_int_equal(closed.m.how, QS_CLOSED_DONE);
    assert_int_equal(closed.m.output_bytes, 0);
    assert_int_equal(closed.m.taints.count, 0); /* it was stopped before the window */
    end_program(d, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(tells_user_from_system_time, setup, teardown),
        cmocka_unit_test_setup_teardown(tells_sleeps_from_preemptions, setup, teardown),
        cmocka_unit_test_setup_teardown(counts_each_process_alone, setup, teardown),
        cmocka_unit_test_setup_teardown(begins_before_the_process, setup, teardown),
        cmocka_unit_test_setup_teardown(ends_before_the_clean_up, setup, teardown),
        cmocka_unit_test_setup_teardown(keeps_what_just_fits, setup, teardown),
        cmocka_unit_test_setup_teardown(asks_the_whole_group_to_end, setup, teardown),
        cmocka_unit_test_setup_teardown(ends_a_group_at_once, setup, teardown),
        cmocka_unit_test(leaves_the_groups_behind),
        cmocka_unit_test_setup_teardown(sees_that_the_benchmark_was_stopped, setup, teardown),
        cmocka_unit_test_setup_teardown(sees_that_it_was_stopped_itself, setup, teardown),
        cmocka_unit_test_setup_teardown(leaves_nothing_open, setup, teardown),
        cmocka_unit_test_setup_teardown(sees_that_the_program_was_stopped, setup, teardown),
        cmocka_unit_test_setup_teardown(forgets_what_was_written_before, setup, teardown),
    };
    return cmocka_run_group_tests_name("agent.measured", tests, group_setup, group_teardown);
}
