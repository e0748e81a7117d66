/* A job on its way into the store and back: what a person wrote is what runs, before and after a restart. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/loop.h"
#include "base/mem.h"
#include "farm/farm_impl.h"
#include "store/files.h"
#include "store/read.h"

static const char farm_text[] = "devices:\n"
                                "  d0: {link: sim, sim_seed: 1, labels: {soc: one}}\n"
                                "  d1: {link: sim, sim_seed: 2, labels: {soc: two}}\n"
                                "  d2: {link: sim, sim_seed: 3, labels: {soc: two}}\n";

static const char job_text[] =
    "quiesce: 1\n"
    "name: \"naïve \\\"job\\\"\"\n"
    "benchmarks: [{name: pretend, argv: [sim, \"{ns}\", exact], env: {A: \"x=y\"}}]\n"
    "arms: {base: {params: {ns: 1000000}}, slower: {params: {ns: 1100000}}}\n"
    "plan: {blocks: {min: 6, max: 7}, window: {iterations: 2}}\n";

struct bed {
    char dir[32], *db, *work;
    struct qs_farm_config *config;
    struct qs_loop *loop;
    struct qs_store *store;
    struct qs_files *files;
    struct qs_farm *farm;
    bool stopped;
    unsigned ends, done, cancelled;
    int64_t id;
    struct qs_err err;
    struct qs_buf kinds;
    const char *stop_at; /* the daemon ends at this event */
    unsigned stop_after;
    const char *lose_at; /* the job's devices are lost at this event, and it is cancelled */
};

static void on_stopped(void *user)
{
    struct bed *b = user;
    b->stopped = true;
    qs_loop_stop(b->loop);
}

static void on_cancelled(const struct qs_err *err, int64_t id, void *user)
{
    struct bed *b = user;
    (void)id;
    assert_null(err);
    b->cancelled++;
}

/* In the middle of the job its device is lost: the job's only one, of three that the farm has. */
static void lose_and_cancel(void *user)
{
    struct bed *b = user;
    struct qs_err why = QS_ERR_INIT, err = QS_ERR_INIT;
    struct qs_farm_job *job = qs_farm_find(b->farm, b->id);
    qs_fail(&why, QS_E_LINK, "it was unplugged");
    for (size_t d = 0; d < b->config->device_count; d++) {
        if (job->controls[d])
            qs_control_on_down(job->controls[d], &why);
    }
    assert_true(qs_farm_cancel(b->farm, b->id, "not needed", on_cancelled, b, &err));
}

static void on_event(const struct qs_farm_event *event, void *user)
{
    struct bed *b = user;
    qs_buf_fmt(&b->kinds, "%s %s %s\n", event->kind, event->device ? event->device : "-", event->body_json);
    if (b->lose_at && strcmp(event->kind, b->lose_at) == 0) {
        b->lose_at = NULL;
        qs_loop_post(b->loop, lose_and_cancel, b);
    }
    if (b->stop_at && strcmp(event->kind, b->stop_at) == 0 && b->stop_after-- == 0) {
        b->stop_at = NULL;
        qs_farm_stop(b->farm, on_stopped, b);
    }
}

static void on_idle(void *user)
{
    struct bed *b = user;
    b->ends++;
    qs_farm_stop(b->farm, on_stopped, b);
}

static struct qs_farm_config *farm_of(const char *text)
{
    struct qs_farm_config *config = NULL;
    struct qs_problems problems;
    struct qs_doc *doc = NULL;
    qs_problems_init(&problems);
    assert_true(qs_doc_read("farm", text, strlen(text), false, &doc, &problems));
    assert_true(qs_farm_from_doc(doc, &config, &problems));
    qs_doc_free(doc);
    qs_problems_done(&problems);
    return config;
}

/* One life of the daemon, from here to bed_end. */
static void bed_begin(struct bed *b, uint64_t seed)
{
    struct qs_err err = QS_ERR_INIT;
    const struct qs_store_events none = {0};
    b->loop = qs_loop_new_virtual(INT64_C(1000000000) * (int64_t)seed, seed);
    assert_true(qs_store_open(b->loop, b->db, &none, &b->store, &err));
    assert_non_null(b->files = qs_files_open(b->work, &err));
    const struct qs_farm_parts parts = {
        .loop = b->loop, .store = b->store, .files = b->files, .config = b->config};
    const struct qs_farm_events events = {.on_event = on_event, .on_idle = on_idle, .user = b};
    b->farm = qs_farm_new(&parts, &events);
    qs_buf_clear(&b->kinds);
    b->ends = 0;
    b->stopped = false;
    if (!qs_farm_start(b->farm, &err))
        fail_msg("%s", err.text);
}

static void bed_end(struct bed *b)
{
    if (!b->stopped) {
        qs_farm_stop(b->farm, on_stopped, b);
        qs_loop_run(b->loop);
    }
    qs_store_close(b->store);
    qs_loop_run(b->loop);
    qs_farm_free(b->farm);
    qs_files_close(b->files);
    assert_int_equal(qs_loop_free(b->loop), 0);
}

static void bed_init(struct bed *b)
{
    *b = (struct bed){.dir = "/tmp/quiesce-test-XXXXXX"};
    assert_non_null(mkdtemp(b->dir));
    b->db = qs_asprintf("%s/farm.db", b->dir);
    b->work = qs_asprintf("%s/files", b->dir);
    b->config = farm_of(farm_text);
    qs_buf_init(&b->kinds);
}

static void bed_done(struct bed *b)
{
    char *command = qs_asprintf("rm -r -- '%s'", b->dir);
    assert_int_equal(system(command), 0);
    free(command);
    free(b->db);
    free(b->work);
    qs_farm_config_free(b->config);
    qs_buf_done(&b->kinds);
}

static void on_submitted(const struct qs_err *err, int64_t id, void *user)
{
    struct bed *b = user;
    b->done++;
    b->id = id;
    b->err.code = err ? err->code : QS_E_NONE;
}

static bool submit(struct bed *b, const char *text, const char *name, const char *idem, char **ret_problem)
{
    struct qs_problems problems;
    struct qs_err err = QS_ERR_INIT;
    const struct qs_submission sub = {
        .text = text, .text_bytes = strlen(text), .name = name, .owner = "me", .idem = idem};
    qs_problems_init(&problems);
    bool ok = qs_farm_submit(b->farm, &sub, on_submitted, b, &problems, &err);
    if (ret_problem)
        *ret_problem = problems.count > 0 ? qs_strdup(problems.at[0].what) : NULL;
    qs_problems_done(&problems);
    return ok;
}

struct stored {
    int64_t id;
    struct qs_jobs job;
    struct qs_runs runs;
};

static bool read_stored(struct qs_store_reader *reader, void *user, struct qs_err *err)
{
    struct stored *s = user;
    return qs_read_job(reader, s->id, &s->job, err) && qs_read_runs(reader, s->id, 0, 1000, &s->runs, err);
}

static void look(struct bed *b, struct stored *s)
{
    struct qs_err err = QS_ERR_INIT;
    *s = (struct stored){.id = b->id};
    if (!qs_store_read_now(b->store, read_stored, s, &err))
        fail_msg("%s", err.text);
}

static void look_done(struct stored *s)
{
    qs_jobs_free(&s->job);
    qs_runs_free(&s->runs);
}

static void round_trip(const char *text, const char *name)
{
    struct bed b;
    struct stored s;
    struct qs_job_spec *spec = NULL;
    struct qs_err err = QS_ERR_INIT;
    bed_init(&b);
    bed_begin(&b, 3);
    assert_true(submit(&b, text, name, NULL, NULL));
    qs_loop_run(b.loop);
    assert_int_equal(b.ends, 1);
    assert_int_equal(b.err.code, QS_E_NONE);
    look(&b, &s);
    assert_int_equal(s.job.at[0].state, QS_JOB_DONE);
    assert_non_null(s.job.at[0].verdict_json);
    assert_ptr_equal(strstr(s.job.at[0].verdict_json, "{\"text\":\"slower 10.0 % slower\","),
                     s.job.at[0].verdict_json);
    if (!qs_farm_spec_from_store(s.job.at[0].spec_json, s.job.at[0].seed, &spec, &err))
        fail_msg("%s", err.text);
    assert_string_equal(spec->name, "naïve \"job\"");
    assert_int_equal(spec->plan.seed, s.job.at[0].seed);
    assert_true(spec->plan.has_seed);
    assert_int_equal(spec->arm_count, 2);
    assert_string_equal(spec->arms[1].params.at[0].value, "1100000");
    assert_string_equal(spec->benchmarks[0].env.at[0], "A=x=y");
    assert_int_equal(spec->plan.blocks_max, 7);
    qs_job_free(spec);
    look_done(&s);
    bed_end(&b);
    bed_done(&b);
}

static void test_round_trip(void **state)
{
    (void)state;
    round_trip(job_text, "job.yaml");
    round_trip(
        "{\"quiesce\":1,\"name\":\"na\\u00efve \\\"job\\\"\",\"benchmarks\":[{\"name\":\"pretend\","
        "\"argv\":[\"sim\",\"{ns}\",\"exact\"],\"env\":{\"A\":\"x=y\"}}],\"arms\":{\"base\":{\"params\":"
        "{\"ns\":1000000}},\"slower\":{\"params\":{\"ns\":1100000}}},\"plan\":{\"blocks\":{\"min\":6,\"max\":"
        "7},"
        "\"window\":{\"iterations\":2}}}",
        "job.json");
}

static void test_what_is_refused(void **state)
{
    (void)state;
    struct bed b;
    char *problem;
    bed_init(&b);
    bed_begin(&b, 3);
    assert_false(
        submit(&b, "quiesce: 1\nbenchmarks: [{name: x, argv: [x]}]\ndevices: {where: 'soc == \"three\"'}\n",
               "job.yaml", NULL, &problem));
    assert_non_null(problem);
    free(problem);
    assert_false(submit(&b, "quiesce: 1\n", "job.yaml", NULL, &problem));
    assert_non_null(problem);
    free(problem);
    assert_false(submit(&b, "quiesce: 1\nbenchmarks: [{name: x, argv: [./x], inputs: {x: out/x}}]\n",
                        "job.yaml", NULL, &problem));
    assert_non_null(strstr(problem, "out/x"));
    free(problem);
    assert_int_equal(b.done, 0);
    assert_int_equal(qs_farm_live_jobs(b.farm), 0);
    bed_end(&b);
    bed_done(&b);
}

static const char content[] = "hello";
static const char content_sha[] = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824";

/* Three devices want the files of a job, and they are gone: it ends once. */
static void test_files_that_are_gone(void **state)
{
    (void)state;
    static const char text[] =
        "quiesce: 1\nbenchmarks: [{name: x, argv: [sim, \"1000\"], inputs: {in: out/x}}]\n"
        "devices: {take: all}\n";
    struct bed b;
    struct stored s;
    struct qs_err err = QS_ERR_INIT;
    struct qs_problems problems;
    int64_t bytes;
    bed_init(&b);
    bed_begin(&b, 3);
    struct qs_upload *up = qs_upload_begin(b.files, content_sha, 100, &err);
    assert_true(up && qs_upload_add(up, content, strlen(content), &err) &&
                qs_upload_finish(up, &bytes, &err));
    struct qs_job_file file = {.path = (char *)(uintptr_t) "out/x"};
    memcpy(file.sha256, content_sha, sizeof file.sha256);
    const struct qs_submission sub = {.text = text,
                                      .text_bytes = strlen(text),
                                      .name = "job.yaml",
                                      .owner = "me",
                                      .files = &file,
                                      .file_count = 1};
    qs_timer_start(b.loop, INT64_C(2000000000), on_stopped, &b); /* all three are ready by then */
    qs_loop_run(b.loop);
    b.stopped = false;
    qs_problems_init(&problems);
    assert_true(qs_farm_submit(b.farm, &sub, on_submitted, &b, &problems, &err));
    qs_problems_done(&problems);
    char *path = qs_asprintf("%s/files/%.2s/%s", b.dir, content_sha, content_sha);
    assert_int_equal(unlink(path), 0);
    free(path);
    qs_loop_run(b.loop);
    assert_int_equal(b.ends, 1);
    look(&b, &s);
    assert_int_equal(s.job.at[0].state, QS_JOB_FAILED);
    assert_int_equal(s.runs.count, 0);
    assert_null(strstr(strstr(b.kinds.data, "job.result") + 1, "job.result"));
    look_done(&s);
    bed_end(&b);
    bed_done(&b);
}

static void test_same_key_is_the_same_job(void **state)
{
    (void)state;
    struct bed b;
    bed_init(&b);
    bed_begin(&b, 3);
    assert_true(submit(&b, job_text, "job.yaml", "key", NULL));
    assert_true(submit(&b, job_text, "job.yaml", "key", NULL));
    qs_loop_run(b.loop);
    assert_int_equal(b.done, 2);
    assert_int_equal(b.id, 1);
    assert_non_null(strstr(b.kinds.data, "job.queued"));
    assert_null(strstr(strstr(b.kinds.data, "job.queued") + 1, "job.queued"));
    bed_end(&b);
    bed_done(&b);
}

static void test_cancel(void **state)
{
    (void)state;
    struct bed b;
    struct stored s;
    struct qs_err err = QS_ERR_INIT;
    bed_init(&b);
    bed_begin(&b, 3);
    b.stop_at = "job.queued"; /* the first life ends while the job waits */
    assert_true(submit(&b, job_text, "job.yaml", NULL, NULL));
    qs_loop_run(b.loop);
    bed_end(&b);
    bed_begin(&b, 4);
    assert_false(qs_farm_cancel(b.farm, 99, "no", on_cancelled, &b, &err));
    assert_int_equal(err.code, QS_E_NOT_FOUND);
    assert_true(qs_farm_cancel(b.farm, b.id, "not needed", on_cancelled, &b, &err));
    qs_loop_run(b.loop);
    assert_int_equal(b.cancelled, 1);
    look(&b, &s);
    assert_int_equal(s.job.at[0].state, QS_JOB_CANCELLED);
    assert_string_equal(s.job.at[0].reason, "not needed");
    look_done(&s);
    bed_end(&b);
    bed_done(&b);
}

/* A device that is away has nothing to end: the job is over before the cancel returns. */
static void test_cancel_while_the_device_is_lost(void **state)
{
    (void)state;
    struct bed b;
    struct stored s;
    bed_init(&b);
    bed_begin(&b, 3);
    assert_true(submit(&b, job_text, "job.yaml", NULL, NULL));
    b.lose_at = "job.progress";
    qs_loop_run(b.loop);
    assert_null(b.lose_at);
    assert_int_equal(b.ends, 1);
    assert_int_equal(b.cancelled, 1);
    look(&b, &s);
    assert_int_equal(s.job.at[0].state, QS_JOB_CANCELLED);
    assert_string_equal(s.job.at[0].reason, "not needed");
    assert_true(s.runs.count > 0);
    look_done(&s);
    bed_end(&b);
    bed_done(&b);
}

/* The daemon ends in the middle of a job and comes back: on the same device, with the blocks that are there.
 */
static void stop_case(const char *kind, unsigned after)
{
    struct bed b;
    struct stored s;
    bed_init(&b);
    bed_begin(&b, 3);
    b.stop_at = kind;
    b.stop_after = after;
    assert_true(submit(&b, job_text, "job.yaml", NULL, NULL));
    qs_loop_run(b.loop);
    assert_int_equal(b.ends, 0);
    bed_end(&b);
    bed_begin(&b, 4);
    qs_loop_run(b.loop);
    assert_int_equal(b.ends, 1);
    look(&b, &s);
    assert_int_equal(s.job.at[0].state, QS_JOB_DONE);
    size_t counted = 0;
    for (size_t i = 0; i < s.runs.count; i++) {
        const struct qs_run_info *r = &s.runs.at[i];
        assert_true(r->state != QS_RUN_RUNNING);
        if (r->block > 0)
            assert_string_equal(r->device, s.runs.at[0].device);
        counted += r->block > 0 && r->state == QS_RUN_DONE ? 1 : 0;
        for (size_t k = 0; k < i; k++) { /* no turn is there twice under one attempt */
            const struct qs_run_info *o = &s.runs.at[k];
            assert_true(r->block == 0 || o->block != r->block || o->pos != r->pos ||
                        o->attempt != r->attempt);
        }
    }
    assert_int_equal(counted, 2 * 7);
    look_done(&s);
    bed_end(&b);
    bed_done(&b);
}

/* The word was on disk when the daemon died in the middle of a window: its next life does not go on. */
static void test_a_cancelled_job_stays_cancelled(void **state)
{
    (void)state;
    struct bed b;
    struct stored before, after;
    bed_init(&b);
    bed_begin(&b, 3);
    b.stop_at = "job.progress";
    b.stop_after = 2;
    assert_true(submit(&b, job_text, "job.yaml", NULL, NULL));
    qs_loop_run(b.loop);
    const struct qs_event_row word = {
        .wall_ns = 1, .kind = QS_EVENT_CANCEL, .job = b.id, .body_json = "{\"why\":\"by hand\"}"};
    look(&b, &before);
    assert_int_equal(before.job.at[0].state, QS_JOB_RUNNING);
    qs_store_event(b.store, &word, on_cancelled, &b);
    bed_end(&b);
    assert_int_equal(b.cancelled, 1);
    b.stop_at = "job.state";
    b.stop_after = 0;
    bed_begin(&b, 4);
    qs_loop_run(b.loop);
    look(&b, &after);
    assert_int_equal(after.job.at[0].state, QS_JOB_CANCELLED);
    assert_string_equal(after.job.at[0].reason, "by hand");
    assert_int_equal(after.runs.count, before.runs.count);
    look_done(&before);
    look_done(&after);
    bed_end(&b);
    bed_done(&b);
}

static void test_the_daemon_comes_back(void **state)
{
    (void)state;
    stop_case("job.state", 0);
    stop_case("job.start", 0);
    stop_case("job.plan", 0);
    stop_case("run.done", 3);
    stop_case("run.done", 6);
    stop_case("job.progress", 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_what_is_refused),
        cmocka_unit_test(test_files_that_are_gone),
        cmocka_unit_test(test_same_key_is_the_same_job),
        cmocka_unit_test(test_cancel),
        cmocka_unit_test(test_cancel_while_the_device_is_lost),
        cmocka_unit_test(test_a_cancelled_job_stays_cancelled),
        cmocka_unit_test(test_the_daemon_comes_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
