/* Real tracers (small scripts) beside real runs: what they write comes back, whatever they do. */
#include "device.h"

#include <dirent.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define MS INT64_C(1000000)
/* Its output has all that is known of it, and it ends when it is told to. */
#define GOOD "trap 'echo told >>$1; exit 0' INT; echo pid $0 >$1; while :; do sleep 0.02; done"

static const char *const usual_env[] = {"PATH=/usr/bin:/bin", "LC_ALL=C", NULL};
static struct closed closed;
static char pulled[QS_PULL_MAX_BYTES + 1], pulled_why[QS_NOTE_MAX_BYTES + 1];

static int setup(void **state)
{
    struct device *d = malloc(sizeof *d);
    device_start(d);
    *state = d;
    return 0;
}

/* Of this agent. */
static size_t folders(const struct device *d)
{
    char prefix[32];
    size_t n = 0;
    snprintf(prefix, sizeof prefix, "quiesce-trace-%d-", (int)d->agent);
    DIR *dir = opendir("/tmp");
    assert_non_null(dir);
    for (const struct dirent *e = readdir(dir); e; e = readdir(dir)) {
        n += strncmp(e->d_name, prefix, strlen(prefix)) == 0;
    }
    closedir(dir);
    return n;
}

static int teardown(void **state)
{
    device_stop(*state);
    free(*state);
    return 0;
}

static void begin(struct device *d)
{
    device_begin(d, &(struct run_spec){.argv = (const char *const[]){"true", NULL}, .env = usual_env});
}

struct ask {
    const char *script, *input;
    uint64_t max_bytes;
    int64_t settle_ns, stop_ns;
};

static struct qs_msg_traced hear(struct device *d)
{
    struct qs_msg_traced m;
    const struct letter *l = device_expect(d, QS_MSG_TRACED);
    assert_int_equal(qs_msg_decode_traced(l->payload, l->n, &m), 0);
    return m;
}

/* sh -c SCRIPT {pid} {output} */
static struct qs_msg_traced start(struct device *d, const struct ask *ask)
{
    uint8_t mem[2][2048];
    struct qs_build argv;
    struct qs_build env;
    qs_build_init(&argv, mem[0], sizeof mem[0]);
    const char *const words[] = {"sh", "-c", ask->script, "{pid}", "{output}"};
    for (size_t i = 0; i < 5; i++) {
        qs_build_text(&argv, qs_text_of(words[i]));
    }
    qs_build_init(&env, mem[1], sizeof mem[1]);
    qs_build_text(&env, qs_text_of(usual_env[0]));
    const struct qs_msg_trace m = {.run = d->peer.run,
                                   .id = 1,
                                   .argv = qs_build_list(&argv),
                                   .env = qs_build_list(&env),
                                   .input = qs_text_of(ask->input),
                                   .settle_ns = ask->settle_ns ? ask->settle_ns : 300 * MS,
                                   .stop_ns = ask->stop_ns ? ask->stop_ns : 60000 * MS,
                                   .max_bytes = ask->max_bytes ? ask->max_bytes : 4096};
    size_t at = peer_begin(&d->peer);
    assert_true(qs_msg_encode_trace(&d->peer.w, &m));
    peer_end(&d->peer, at, QS_MSG_TRACE);
    return hear(d);
}

static struct qs_msg_traced stop(struct device *d)
{
    const struct qs_msg_trace_stop m = {.run = d->peer.run, .id = 1};
    size_t at = peer_begin(&d->peer);
    assert_true(qs_msg_encode_trace_stop(&d->peer.w, &m));
    peer_end(&d->peer, at, QS_MSG_TRACE_STOP);
    return hear(d);
}

static enum qs_pull_status pull(struct device *d, uint64_t offset, uint32_t max_bytes)
{
    struct qs_msg_pulled answer;
    const struct qs_msg_pull m = {
        .run = d->peer.run, .source = QS_PULL_TRACE, .offset = offset, .max_bytes = max_bytes};
    size_t at = peer_begin(&d->peer);
    assert_true(qs_msg_encode_pull(&d->peer.w, &m));
    peer_end(&d->peer, at, QS_MSG_PULL);
    const struct letter *l = device_expect(d, QS_MSG_PULLED);
    assert_int_equal(qs_msg_decode_pulled(l->payload, l->n, &answer), 0);
    qs_text_copy(answer.bytes, pulled, sizeof pulled);
    qs_text_copy(answer.why, pulled_why, sizeof pulled_why);
    return answer.status;
}

/* Until there is something in the place of its file: however slow the machine is, its trap is set by then. */
static void await_file(struct device *d)
{
    while (pull(d, 0, 1) == QS_PULL_OK ? pulled[0] == '\0' : strstr(pulled_why, "no file") != NULL) {
        usleep(5000);
    }
}

static void end(struct device *d)
{
    peer_run_end(&d->peer);
    device_expect(d, QS_MSG_RUN_ENDED);
}

static void traced_window(struct device *d, uint32_t n)
{
    device_open(d, &(struct open_spec){.phase = QS_PHASE_TRACED, .iterations = n, .max_ns = 60000 * MS},
                &closed);
    assert_int_equal(closed.m.phase, QS_PHASE_TRACED);
    assert_int_equal(closed.rows, n);
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(closed.row[i].flags, 0); /* the tracer is no child that an iteration has left */
    }
}

static void traces_a_window(void **state)
{
    struct device *d = *state;
    char expected[64];
    size_t before = folders(d);
    begin(d);
    struct qs_msg_traced m = start(d, &(struct ask){.script = GOOD});
    assert_int_equal(m.status, QS_TRACE_RUNS);
    int64_t started = m.started_ns;
    await_file(d);
    traced_window(d, 5);
    m = stop(d);
    assert_int_equal(m.status, QS_TRACE_STOPPED);
    assert_int_equal(m.flags, 0);
    assert_int_equal(m.started_ns, started);
    assert_true(started <= closed.m.opened_ns && closed.m.closed_ns <= m.stopped_ns);
    snprintf(expected, sizeof expected, "pid %d\ntold\n", (int)d->agent); /* in command mode the agent's */
    assert_int_equal(m.total_bytes, strlen(expected));
    assert_int_equal(pull(d, 0, QS_PULL_MAX_BYTES), QS_PULL_OK);
    assert_string_equal(pulled, expected);
    assert_int_equal(pull(d, 4, 2), QS_PULL_OK);
    assert_memory_equal(pulled, expected + 4, 2);
    assert_int_equal(folders(d), before + 1);
    end(d);
    assert_int_equal(folders(d), before);
}

static void reads_its_input(void **state)
{
    struct device *d = *state;
    begin(d);
    assert_int_equal(
        start(d, &(struct ask){.script = "trap 'exit 0' INT; cat >$1; while :; do sleep 0.02; done",
                               .input = "a configuration"})
            .status,
        QS_TRACE_RUNS);
    await_file(d);
    assert_int_equal(stop(d).status, QS_TRACE_STOPPED);
    assert_int_equal(pull(d, 0, 100), QS_PULL_OK);
    assert_string_equal(pulled, "a configuration");
    end(d);
}

static void assert_why(const struct qs_msg_traced *m, const char *part)
{
    char why[QS_NOTE_MAX_BYTES + 1];
    assert_int_equal(m->status, QS_TRACE_MISSING);
    qs_text_copy(m->why, why, sizeof why);
    if (!strstr(why, part)) {
        fail_msg("'%s' does not say '%s'", why, part);
    }
}

static void says_why_there_is_none(void **state)
{
    struct device *d = *state;
    begin(d);
    struct qs_msg_traced m =
        start(d, &(struct ask){.script = "echo not permitted >&2; exit 3", .settle_ns = 60000 * MS});
    assert_why(&m, "code 3, and said: not permitted");
    m = start(
        d, &(struct ask){.script = "echo x >$1", .settle_ns = 60000 * MS}); /* although it wrote something */
    assert_why(&m, "code 0");
    assert_int_equal(start(d, &(struct ask){.script = "trap 'exit 0' INT; sleep 60"}).status, QS_TRACE_RUNS);
    m = stop(d);
    assert_why(&m, "no file");
    assert_int_equal(pull(d, 0, 1), QS_PULL_NO_FILE);
    traced_window(d, 1);
    end(d);
}

/* The kernel lets it write no more, and ends it there; what it wrote is kept. */
static void is_bounded(void **state)
{
    struct device *d = *state;
    begin(d);
    start(
        d,
        &(struct ask){
            .script =
                "trap 'while :; do echo 0123456789 >>$1; done' INT; echo x >$1; while :; do sleep 0.02; done",
            .max_bytes = 1000});
    await_file(d);
    traced_window(d, 2);
    struct qs_msg_traced m = stop(d);
    assert_int_equal(m.status, QS_TRACE_STOPPED);
    assert_int_equal(m.total_bytes, 1000);
    assert_int_equal(m.flags & QS_TRACE_CUT, QS_TRACE_CUT);
    assert_int_equal(pull(d, 900, 200), QS_PULL_OK);
    assert_int_equal(strlen(pulled), 100);
    end(d);
}

static void is_killed_where_it_does_not_end(void **state)
{
    struct device *d = *state;
    begin(d);
    start(d, &(struct ask){.script = "trap '' INT TERM; echo x >$1; while :; do sleep 0.02; done",
                           .stop_ns = 100 * MS});
    await_file(d);
    struct qs_msg_traced m = stop(d);
    assert_int_equal(m.status, QS_TRACE_STOPPED);
    assert_int_equal(m.flags & QS_TRACE_KILLED, QS_TRACE_KILLED);
    end(d);
}

/* A folder outlives an agent that is killed: the next one removes it, and nothing that another still holds.
 */
static void folders_of_the_dead_are_removed(void **state)
{
    struct device *d = *state;
    struct device dead;
    struct device next;
    begin(d);
    start(d, &(struct ask){.script = GOOD});
    device_start(&dead);
    begin(&dead);
    start(&dead, &(struct ask){.script = GOOD});
    await_file(&dead);
    assert_int_equal(folders(&dead),
                     1); /* which any agent that starts on this machine may remove from here on */
    kill(dead.agent, SIGKILL);
    waitpid(dead.pid, NULL, 0);
    close(dead.in_fd);
    close(dead.out_fd);
    peer_done(&dead.peer);
    device_start(&next);
    for (int i = 0; i < 1000 && folders(&dead) > 0; i++) { /* another one may have begun to, and holds it */
        usleep(10000);
    }
    assert_int_equal(folders(&dead), 0);
    assert_int_equal(folders(d), 1);
    device_stop(&next);
    end(d);
}

static bool is_alive(const char *name)
{
    char command[128];
    snprintf(command, sizeof command, "pgrep -f '[s]leep %s' >/dev/null", name);
    return system(command) == 0;
}

/* Whatever it starts ends with it: in its own session, or with its run. */
static void leaves_nobody_behind(void **state)
{
    struct device *d = *state;
    char number[16], script[256];
    snprintf(number, sizeof number, "9%d.5", (int)getpid());
    begin(d);
    snprintf(script, sizeof script, "trap 'exit 0' INT; setsid sleep %s & echo x >$1; sleep 600 & wait",
             number);
    start(d, &(struct ask){.script = script});
    await_file(d);
    while (!is_alive(number)) {
    }
    assert_int_equal(stop(d).flags & QS_TRACE_LEFT_CHILDREN, QS_TRACE_LEFT_CHILDREN);
    assert_false(is_alive(number));
    snprintf(script, sizeof script, "trap '' INT TERM; echo x >$1; sleep %s", number);
    start(d, &(struct ask){.script = script});
    while (!is_alive(number)) {
    }
    end(d);
    assert_false(is_alive(number));
}

/* A link, a second name or a pipe in place of the file is nobody's trace, and the folder goes all the same.
 */
static void follows_nothing(void **state)
{
    static const char *const places[] = {"ln -s /etc/passwd $1", "echo x >$1; ln $1 $1.2", "mkfifo $1",
                                         "mkdir $1"};
    struct device *d = *state;
    char script[256];
    size_t before = folders(d);
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        begin(d);
        snprintf(script, sizeof script,
                 "trap 'exit 0' INT; %s; mkdir -p ${1%%/*}/a/b; while :; do sleep 0.02; done", places[i]);
        assert_int_equal(start(d, &(struct ask){.script = script}).status, QS_TRACE_RUNS);
        await_file(d);
        struct qs_msg_traced m = stop(d);
        assert_why(&m, i == 0 ? "symbolic link" : "not a regular file");
        assert_int_equal(pull(d, 0, 100), QS_PULL_NO_FILE);
        assert_string_equal(pulled, "");
        end(d);
        assert_int_equal(folders(d), before);
    }
}

static void sees_the_program_of_a_harness_run(void **state)
{
    struct device *d = *state;
    const char *const argv[] = {getenv("QS_PROGRAM"), NULL};
    const struct run_spec spec = {
        .argv = argv, .benchmark = "work", .env = usual_env, .limit_ns = 60000 * MS};
    device_begin(d, &spec);
    /* The name of the process, as the kernel has it. */
    start(d,
          &(struct ask){.script = "trap 'exit 0' INT; cat /proc/$0/comm >$1; while :; do sleep 0.02; done"});
    device_open(
        d, &(struct open_spec){.phase = QS_PHASE_TRACED, .iterations = 3, .max_ns = 60000 * MS, .evals = 1},
        &closed);
    assert_int_equal(closed.rows, 3);
    assert_int_equal(stop(d).status, QS_TRACE_STOPPED);
    assert_int_equal(pull(d, 0, 100), QS_PULL_OK);
    assert_string_equal(pulled, "agent_test_prog\n");
    device_open(d,
                &(struct open_spec){.window = 1,
                                    .phase = QS_PHASE_MEASURE,
                                    .first_seq = 3,
                                    .iterations = 3,
                                    .max_ns = 60000 * MS,
                                    .evals = 1},
                &closed); /* the end of the tracer was not the program's */
    assert_int_equal(closed.rows, 3);
    end(d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(traces_a_window, setup, teardown),
        cmocka_unit_test_setup_teardown(reads_its_input, setup, teardown),
        cmocka_unit_test_setup_teardown(says_why_there_is_none, setup, teardown),
        cmocka_unit_test_setup_teardown(is_bounded, setup, teardown),
        cmocka_unit_test_setup_teardown(is_killed_where_it_does_not_end, setup, teardown),
        cmocka_unit_test_setup_teardown(folders_of_the_dead_are_removed, setup, teardown),
        cmocka_unit_test_setup_teardown(leaves_nobody_behind, setup, teardown),
        cmocka_unit_test_setup_teardown(follows_nothing, setup, teardown),
        cmocka_unit_test_setup_teardown(sees_the_program_of_a_harness_run, setup, teardown),
    };
    return cmocka_run_group_tests_name("agent.trace", tests, NULL, NULL);
}
