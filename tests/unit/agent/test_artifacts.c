/* What a run has left, as a real agent hands it over. */
#include "device.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

static const char *const usual_env[] = {"PATH=/usr/bin:/bin", "LC_ALL=C", NULL};
static char folder[] = "/tmp/qs-agent-artifacts-XXXXXX";

static int group_setup(void **state)
{
    (void)state;
    assert_non_null(mkdtemp(folder));
    return chmod(folder, 0777);
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

static void pull(struct device *d, const char *path, struct qs_msg_pulled *m)
{
    const struct qs_msg_pull ask = {
        .run = d->peer.run, .id = 3, .path = qs_text_of(path), .max_bytes = QS_PULL_MAX_BYTES};
    size_t at = peer_begin(&d->peer);
    assert_true(qs_msg_encode_pull(&d->peer.w, &ask));
    peer_end(&d->peer, at, QS_MSG_PULL);
    const struct letter *l = device_expect(d, QS_MSG_PULLED);
    assert_int_equal(qs_msg_decode_pulled(l->payload, l->n, m), 0);
    assert_int_equal(m->id, 3);
}

static void write_file(const char *name, const char *text, mode_t mode)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    assert_int_equal(fputs(text, f) >= 0, 1);
    assert_int_equal(fclose(f), 0);
    assert_int_equal(chmod(path, mode), 0);
}

/* A link that the user has made shows the user's own files and nobody else's, and the agent has all its
 * rights back afterwards. */
static void fetches_with_the_rights_of_the_user(void **state)
{
    struct device *d = *state;
    struct qs_msg_pulled m;
    char path[256];
    if (geteuid() != 0) {
        puts("# why: only root's agent runs programs as others");
        skip();
    }
    write_file("secret", "of root\n", 0600);
    write_file("open", "for all\n", 0644);
    const struct run_spec as_nobody = {
        .argv = (const char *const[]){"/bin/sh", "-c", "ln -sf secret stolen; ln -sf open shown", NULL},
        .env = usual_env,
        .cwd = folder,
        .user = "nobody"};
    struct closed closed;
    device_begin(d, &as_nobody);
    device_window(d, 1, &closed);
    assert_int_equal(closed.row[0].status, 0);
    pull(d, "shown", &m);
    assert_int_equal(m.status, QS_PULL_OK);
    assert_true(qs_text_is(m.bytes, "for all\n"));
    pull(d, "stolen", &m);
    assert_int_equal(m.status, QS_PULL_UNREADABLE);
    assert_true(qs_text_is(m.why, "Permission denied"));
    snprintf(path, sizeof path, "%s/secret", folder);
    pull(d, path, &m);
    assert_int_equal(m.status, QS_PULL_UNREADABLE);
    peer_run_end(&d->peer);
    device_expect(d, QS_MSG_RUN_ENDED);
    struct run_spec as_root = as_nobody;
    as_root.user = NULL;
    device_begin(d, &as_root);
    pull(d, "stolen", &m);
    assert_int_equal(m.status, QS_PULL_OK);
    assert_true(qs_text_is(m.bytes, "of root\n"));
    peer_run_end(&d->peer);
    device_expect(d, QS_MSG_RUN_ENDED);
}

/* A file that was there before the run is told from an artifact of the run. */
static void tells_what_is_older_than_the_run(void **state)
{
    struct device *d = *state;
    struct qs_msg_pulled m;
    struct closed closed;
    write_file("before", "of an earlier run\n", 0666);
    write_file("rewritten", "of an earlier run\n", 0666);
    usleep(50000); /* the kernel's clock for files has steps of some milliseconds */
    device_begin(
        d, &(struct run_spec){.argv = (const char *const[]){"/bin/sh", "-c", "echo new >>rewritten", NULL},
                              .env = usual_env,
                              .cwd = folder});
    device_window(d, 1, &closed);
    pull(d, "before", &m);
    assert_int_equal(m.status, QS_PULL_OK);
    assert_true(qs_text_is(m.bytes, "of an earlier run\n"));
    assert_true(qs_text_is(m.why, "it is older than the run, which did not write it"));
    pull(d, "rewritten", &m);
    assert_true(qs_text_is(m.bytes, "of an earlier run\nnew\n"));
    assert_int_equal(m.why.n, 0);
    peer_run_end(&d->peer);
    device_expect(d, QS_MSG_RUN_ENDED);
}

/* What a program reads as its standard input is nothing that its user could not read itself. */
static void opens_standard_input_with_the_rights_of_the_user(void **state)
{
    struct device *d = *state;
    struct closed closed;
    struct qs_msg_error refused;
    if (geteuid() != 0) {
        puts("# why: only root's agent runs programs as others");
        skip();
    }
    write_file("secret", "of root\n", 0600);
    write_file("open", "for all\n", 0644);
    struct run_spec spec = {.argv = (const char *const[]){"/bin/cat", NULL},
                            .env = usual_env,
                            .cwd = folder,
                            .stdin_path = "open",
                            .user = "nobody",
                            .capture = true,
                            .output_max_bytes = 100};
    device_measure(d, &spec, 1, &closed);
    assert_true(qs_text_is(closed.m.output, "for all\n"));
    spec.stdin_path = "secret";
    peer_run_begin(&d->peer, &spec);
    const struct letter *l = device_expect(d, QS_MSG_ERROR);
    assert_int_equal(qs_msg_decode_error(l->payload, l->n, &refused), 0);
    assert_int_equal(refused.blame, QS_WIRE_BLAME_OPERATOR);
    assert_non_null(memmem(refused.text.p, refused.text.n, "Permission denied", 17));
    spec.user = NULL;
    device_measure(d, &spec, 1, &closed);
    assert_true(qs_text_is(closed.m.output, "of root\n"));
}

/* The file has what the last process wrote, was made by its user, and what was longer before leaves no rest.
 */
static void puts_standard_output_in_a_file(void **state)
{
    struct device *d = *state;
    struct closed closed;
    struct run_spec spec = {.argv = (const char *const[]){"/bin/sh", "-c", "echo $$; echo trouble >&2", NULL},
                            .env = usual_env,
                            .cwd = folder,
                            .output_path = "log",
                            .output_max_bytes = 100,
                            .user = geteuid() == 0 ? "nobody" : NULL};
    char path[300], text[64] = "", rest[64];
    struct stat st;
    write_file("log", "more than anybody writes, of an earlier run\n", 0666);
    device_measure(d, &spec, 3, &closed);
    assert_true(qs_text_is(closed.m.output, "trouble\ntrouble\ntrouble\n"));
    assert_int_equal(closed.m.output_bytes, 24);
    assert_false(closed.m.apart);
    snprintf(path, sizeof path, "%s/log", folder);
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    assert_non_null(fgets(text, sizeof text, f));
    assert_int_equal(strspn(text, "0123456789"), strlen(text) - 1);
    assert_null(fgets(rest, sizeof rest, f));
    fclose(f);
    spec.output_path = "made";
    device_measure(d, &spec, 1, &closed);
    snprintf(path, sizeof path, "%s/made", folder);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_uid == 0, geteuid() == 0 && spec.user == NULL);
    assert_true(st.st_size > 0);
}

/* Nothing is measured: the run does not begin. */
static void says_where_it_cannot_write(void **state)
{
    struct device *d = *state;
    struct qs_msg_error refused;
    struct run_spec spec = {
        .argv = (const char *const[]){"/bin/true", NULL}, .env = usual_env, .cwd = folder};
    char fifo[300];
    const struct {
        const char *path, *user, *why;
    } rows[] = {{"nowhere/log", NULL, ": No such file or directory"},
                {"/usr", NULL, "cannot write standard output to '/usr': Is a directory"},
                {"pipe", NULL, ": No such device or address"},
                {"secret", "nobody", ": Permission denied"}};
    snprintf(fifo, sizeof fifo, "%s/pipe", folder);
    assert_int_equal(mkfifo(fifo, 0666), 0);
    write_file("secret", "of root\n", 0600);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (rows[i].user && geteuid() != 0) {
            continue;
        }
        spec.output_path = rows[i].path;
        spec.user = rows[i].user;
        peer_run_begin(&d->peer, &spec);
        const struct letter *l = device_expect(d, QS_MSG_ERROR);
        assert_int_equal(qs_msg_decode_error(l->payload, l->n, &refused), 0);
        assert_int_equal(refused.code, QS_CODE_UNSUPPORTED);
        assert_int_equal(refused.blame, QS_WIRE_BLAME_OPERATOR);
        if (!memmem(refused.text.p, refused.text.n, rows[i].why, strlen(rows[i].why))) {
            fail_msg("%s: '%.*s'", rows[i].path, (int)refused.text.n, refused.text.p);
        }
    }
}

/* Its hello: which life of which machine, by which clock. */
static void introduces_itself(void **state)
{
    struct device *d = *state;
    struct qs_msg_hello_agent m;
    char boot_id[64] = "";
    FILE *f = fopen("/proc/sys/kernel/random/boot_id", "r");
    assert_non_null(f);
    assert_int_equal(fscanf(f, "%63s", boot_id), 1);
    fclose(f);
    assert_int_equal(d->peer.inbox[0].type, QS_MSG_HELLO_AGENT);
    assert_int_equal(qs_msg_decode_hello_agent(d->peer.inbox[0].payload, d->peer.inbox[0].n, &m), 0);
    assert_true(qs_text_is(m.boot_id, boot_id));
    assert_true(qs_text_is(m.clock, "monotonic-raw"));
    struct timespec resolution;
    assert_int_equal(clock_getres(CLOCK_MONOTONIC_RAW, &resolution), 0);
    assert_int_equal(m.clock_resolution_ns, resolution.tv_nsec);
    assert_true(m.clock_cost_ps >= 1000);
    assert_int_equal(m.max_iterations, QS_ITERATIONS_MAX);
    assert_true(qs_uid_equal(&m.session, &d->peer.session));
}

/* Two streams, two bounds; what is beyond is counted. */
static void keeps_the_streams_apart(void **state)
{
    struct device *d = *state;
    struct closed closed;
    struct run_spec spec = {
        .argv = (const char *const[]){"/bin/sh", "-c", "echo out; echo trouble >&2; echo out", NULL},
        .env = usual_env,
        .apart = true,
        .output_max_bytes = 10};
    device_measure(d, &spec, 2, &closed);
    assert_true(closed.m.apart);
    assert_true(qs_text_is(closed.m.output, "out\nout\nou"));
    assert_int_equal(closed.m.output_bytes, 16);
    assert_true(qs_text_is(closed.m.errors, "trouble\ntr"));
    assert_int_equal(closed.m.errors_bytes, 16);
    assert_int_equal(closed.row[0].flags, 0);
    assert_int_equal(closed.row[1].flags, QS_ITERATION_OUTPUT_CUT);
    spec.output_max_bytes = QS_OUTPUT_MAX_BYTES; /* as much as there may be of both fits one message */
    spec.argv = (const char *const[]){"/bin/sh", "-c",
                                      "head -c 100000 /dev/zero; head -c 200000 /dev/zero >&2; exit 0", NULL};
    device_measure(d, &spec, 1, &closed);
    assert_int_equal(closed.m.output.n, QS_OUTPUT_MAX_BYTES);
    assert_int_equal(closed.m.errors.n, QS_OUTPUT_MAX_BYTES);
    assert_int_equal(closed.m.errors_bytes, 200000);
    /* More than a pipe holds is taken while the program runs: else it would never end. */
    spec.argv = (const char *const[]){"/bin/sh", "-c", "head -c 3000000 /dev/zero >&2; exit 0", NULL};
    device_measure(d, &spec, 1, &closed);
    assert_int_equal(closed.m.errors_bytes, 3000000);
    assert_int_equal(closed.m.output_bytes, 0);
    spec.apart = false; /* as before, in one */
    spec.capture = true;
    spec.argv = (const char *const[]){"/bin/sh", "-c", "echo out; echo trouble >&2", NULL};
    device_measure(d, &spec, 1, &closed);
    assert_false(closed.m.apart);
    assert_true(qs_text_is(closed.m.output, "out\ntrouble\n"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(introduces_itself, setup, teardown),
        cmocka_unit_test_setup_teardown(keeps_the_streams_apart, setup, teardown),
        cmocka_unit_test_setup_teardown(puts_standard_output_in_a_file, setup, teardown),
        cmocka_unit_test_setup_teardown(says_where_it_cannot_write, setup, teardown),
        cmocka_unit_test_setup_teardown(tells_what_is_older_than_the_run, setup, teardown),
        cmocka_unit_test_setup_teardown(opens_standard_input_with_the_rights_of_the_user, setup, teardown),
        cmocka_unit_test_setup_teardown(fetches_with_the_rights_of_the_user, setup, teardown),
    };
    return cmocka_run_group_tests_name("agent-artifacts", tests, group_setup, group_teardown);
}
