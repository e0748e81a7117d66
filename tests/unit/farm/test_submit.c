/* A job on its way into the store and back: what a person wrote is what runs, before and after a restart. */
#include "bed.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "config/job/stored.h"
#include "store/read/read.h"

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

struct life {
    struct bed base;
    unsigned ends, done, cancelled;
    int64_t id;
    struct qs_err err;
    struct qs_buf kinds;
    const char *stop_at; /* the daemon ends at this event */
    unsigned stop_after;
    const char *lose_at; /* the job's devices are lost at this event, and it is cancelled */
};

static void on_cancelled(const struct qs_err *err, int64_t id, void *user)
{
    struct life *b = user;
    (void)id;
    assert_null(err);
    b->cancelled++;
}

/* In the middle of the job its device is lost: the job's only one, of three that the farm has. */
static void lose_and_cancel(void *user)
{
    struct life *b = user;
    struct qs_err why = QS_ERR_INIT, err = QS_ERR_INIT;
    const struct qs_farm_job *job = qs_farm_find(b->base.farm, b->id);
    struct qs_inventory_item *item = qs_inventory_first(b->base.farm->inventory);
    qs_fail(&why, QS_E_LINK, "it was unplugged");
    for (; item; item = item->next) {
        if (item->job == job)
            qs_job_run_on_down(item->run, &why);
    }
    assert_true(qs_farm_cancel(b->base.farm, b->id, "not needed", on_cancelled, b, &err));
}

static void on_event(const struct qs_farm_event *event, void *user)
{
    struct life *b = user;
    qs_buf_fmt(&b->kinds, "%s %s %s\n", event->kind, event->device ? event->device : "-", event->body_json);
    if (b->lose_at && strcmp(event->kind, b->lose_at) == 0) {
        b->lose_at = NULL;
        qs_loop_post(b->base.loop, lose_and_cancel, b);
    }
    if (b->stop_at && strcmp(event->kind, b->stop_at) == 0 && b->stop_after-- == 0) {
        b->stop_at = NULL;
        qs_farm_stop(b->base.farm, bed_on_stopped, &b->base);
    }
}

static void on_idle(void *user)
{
    struct life *b = user;
    b->ends++;
    qs_farm_stop(b->base.farm, bed_on_stopped, &b->base);
}

static void life_init(struct life *b)
{
    *b = (struct life){.ends = 0};
    bed_init(&b->base, farm_text);
    b->base.events = (struct qs_farm_events){.on_event = on_event, .on_idle = on_idle, .user = b};
    qs_buf_init(&b->kinds);
}

static void life_done(struct life *b)
{
    bed_done(&b->base);
    qs_buf_done(&b->kinds);
}

static void life_begin(struct life *b, uint64_t seed)
{
    qs_buf_clear(&b->kinds);
    b->ends = 0;
    bed_begin(&b->base, INT64_C(1000000000) * (int64_t)seed, seed);
}

static void on_submitted(const struct qs_err *err, int64_t id, void *user)
{
    struct life *b = user;
    b->done++;
    b->id = id;
    b->err.code = err ? err->code : QS_E_NONE;
}

static bool submit(struct life *b, const char *text, const char *name, const char *idem, char **ret_problem)
{
    const struct qs_submission sub = {.text = text, .text_bytes = strlen(text), .name = name};
    return bed_submit(&b->base, &sub, idem, on_submitted, b, ret_problem);
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

static void look(struct life *b, struct stored *s)
{
    struct qs_err err = QS_ERR_INIT;
    *s = (struct stored){.id = b->id};
    if (!qs_store_read_now(b->base.store, read_stored, s, &err))
        fail_msg("%s", err.text);
}

static void look_done(struct stored *s)
{
    qs_jobs_free(&s->job);
    qs_runs_free(&s->runs);
}

static void round_trip(const char *text, const char *name)
{
    struct life b;
    struct stored s;
    struct qs_job_spec *spec = NULL;
    struct qs_err err = QS_ERR_INIT;
    life_init(&b);
    life_begin(&b, 3);
    assert_true(submit(&b, text, name, NULL, NULL));
    qs_loop_run(b.base.loop);
    assert_int_equal(b.ends, 1);
    assert_int_equal(b.err.code, QS_E_NONE);
    look(&b, &s);
    assert_int_equal(s.job.at[0].state, QS_JOB_DONE);
    assert_non_null(s.job.at[0].verdict_json);
    assert_ptr_equal(strstr(s.job.at[0].verdict_json, "{\"text\":\"slower 10.0 % slower\","),
                     s.job.at[0].verdict_json);
    if (!qs_job_from_store(s.job.at[0].spec_json, s.job.at[0].seed, &spec, &err))
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
    bed_end(&b.base);
    life_done(&b);
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
    struct life b;
    char *problem;
    life_init(&b);
    life_begin(&b, 3);
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
    assert_int_equal(qs_farm_live_jobs(b.base.farm), 0);
    bed_end(&b.base);
    life_done(&b);
}

static const char content[] = "h";
static const char content_sha[] = "aaa9402664f1a41f40ebbc52c9993eb66aeb366602958fdfaa283b71e64db123";

static void upload(struct life *b, struct qs_job_file *ret_file)
{
    struct qs_err err = QS_ERR_INIT;
    int64_t bytes;
    struct qs_upload *up = qs_upload_begin(b->base.files, content_sha, 100, &err);
    assert_true(up && qs_upload_add(up, content, strlen(content), &err) &&
                qs_upload_finish(up, &bytes, &err));
    *ret_file = (struct qs_job_file){.path = (char *)(uintptr_t) "out/x"};
    memcpy(ret_file->sha256, content_sha, sizeof ret_file->sha256);
}

static const char files_text[] =
    "quiesce: 1\nbenchmarks: [{name: x, argv: [sim, \"1000\"], inputs: {in: out/x}}]\n"
    "plan: {blocks: 2, window: {iterations: 2}}\ndevices: {take: all}\n";

/* The daemon ends before the job begins: its files, its seed and where it runs are those of its submission.
 */
static void test_a_submission_is_kept_whole(void **state)
{
    (void)state;
    struct life b;
    struct stored s;
    struct qs_err err = QS_ERR_INIT;
    struct qs_job_spec *spec;
    struct qs_job_file file;
    life_init(&b);
    life_begin(&b, 3);
    upload(&b, &file);
    const struct qs_submission sub = {.text = files_text,
                                      .text_bytes = strlen(files_text),
                                      .name = "job.yaml",
                                      .files = &file,
                                      .file_count = 1,
                                      .reproduces = 7,
                                      .seed = 77,
                                      .where = "label.soc == \"two\""};
    b.stop_at = "job.queued";
    char *problem = NULL;
    if (!bed_submit(&b.base, &sub, NULL, on_submitted, &b, &problem))
        fail_msg("%s", problem);
    qs_loop_run(b.base.loop);
    bed_end(&b.base);
    life_begin(&b, 4);
    qs_loop_run(b.base.loop);
    assert_int_equal(b.ends, 1);
    look(&b, &s);
    assert_int_equal(s.job.at[0].state, QS_JOB_DONE);
    assert_int_equal(s.runs.count, 2 * (1 + 2)); /* two devices, the pilot and two blocks */
    for (size_t i = 0; i < s.runs.count; i++)
        assert_string_not_equal(s.runs.at[i].device, "d0");
    if (!qs_job_from_store(s.job.at[0].spec_json, s.job.at[0].seed, &spec, &err))
        fail_msg("%s", err.text);
    assert_int_equal(spec->plan.seed, 77);
    assert_string_equal(spec->where, sub.where);
    assert_int_equal(qs_job_file_count(spec), 1);
    assert_string_equal(qs_job_file_at(spec, 0)->sha256, content_sha);
    qs_job_free(spec);
    assert_false(qs_job_from_store("{\"name\":\"x\"}", 1, &spec, &err));
    assert_string_equal(err.text, "the stored job cannot be read by this version: it has no text");
    look_done(&s);
    bed_end(&b.base);
    life_done(&b);
}

/* As much text as may be submitted is longer once it is stored, escaped, with a name beside it. */
static void test_the_longest_job_can_be_read_again(void **state)
{
    static const char head[] = "quiesce: 1\nbenchmarks: [{name: x, argv: [x]}]\n";
    (void)state;
    struct qs_err err = QS_ERR_INIT;
    struct qs_job_spec *spec = NULL;
    QS_FREED char *text = qs_malloc(QS_DOC_BYTES);
    QS_BUF(stored);
    struct qs_json j = qs_json_to(&stored);
    memset(text, '\n', QS_DOC_BYTES);
    memcpy(text, head, strlen(head));
    qs_json_object(&j);
    qs_json_kstring(&j, "name", "long.yaml");
    qs_json_key(&j, "text");
    qs_json_string_n(&j, text, QS_DOC_BYTES);
    qs_json_object_end(&j);
    assert_true(stored.len > 2 * QS_DOC_BYTES - 100);
    if (!qs_job_from_store(stored.data, 1, &spec, &err))
        fail_msg("%s", err.text);
    assert_string_equal(spec->benchmarks[0].name, "x");
    qs_job_free(spec);
}

/* Three devices want the files of a job, and they are gone: it ends once. */
static void test_files_that_are_gone(void **state)
{
    (void)state;
    struct life b;
    struct stored s;
    life_init(&b);
    life_begin(&b, 3);
    struct qs_job_file file;
    upload(&b, &file);
    const struct qs_submission sub = {.text = files_text,
                                      .text_bytes = strlen(files_text),
                                      .name = "job.yaml",
                                      .files = &file,
                                      .file_count = 1};
    qs_timer_start(b.base.loop, INT64_C(2000000000), bed_on_stopped,
                   &b.base); /* all three are ready by then */
    qs_loop_run(b.base.loop);
    b.base.stopped = false;
    assert_true(bed_submit(&b.base, &sub, NULL, on_submitted, &b, NULL));
    char *path = qs_asprintf("%s/files/%.2s/%s", b.base.dir, content_sha, content_sha);
    assert_int_equal(unlink(path), 0);
    free(path);
    qs_loop_run(b.base.loop);
    assert_int_equal(b.ends, 1);
    look(&b, &s);
    assert_int_equal(s.job.at[0].state, QS_JOB_FAILED);
    assert_int_equal(s.runs.count, 0);
    assert_null(strstr(strstr(b.kinds.data, "job.result") + 1, "job.result"));
    look_done(&s);
    bed_end(&b.base);
    life_done(&b);
}

static void test_same_key_is_the_same_job(void **state)
{
    (void)state;
    struct life b;
    life_init(&b);
    life_begin(&b, 3);
    assert_true(submit(&b, job_text, "job.yaml", "key", NULL));
    assert_true(submit(&b, job_text, "job.yaml", "key", NULL));
    qs_loop_run(b.base.loop);
    assert_int_equal(b.done, 2);
    assert_int_equal(b.id, 1);
    assert_non_null(strstr(b.kinds.data, "job.queued"));
    assert_null(strstr(strstr(b.kinds.data, "job.queued") + 1, "job.queued"));
    bed_end(&b.base);
    life_done(&b);
}

static void test_cancel(void **state)
{
    (void)state;
    struct life b;
    struct stored s;
    struct qs_err err = QS_ERR_INIT;
    life_init(&b);
    life_begin(&b, 3);
    b.stop_at = "job.queued"; /* the first life ends while the job waits */
    assert_true(submit(&b, job_text, "job.yaml", NULL, NULL));
    qs_loop_run(b.base.loop);
    bed_end(&b.base);
    life_begin(&b, 4);
    assert_false(qs_farm_cancel(b.base.farm, 99, "no", on_cancelled, &b, &err));
    assert_int_equal(err.code, QS_E_NOT_FOUND);
    assert_true(qs_farm_cancel(b.base.farm, b.id, "not needed", on_cancelled, &b, &err));
    qs_loop_run(b.base.loop);
    assert_int_equal(b.cancelled, 1);
    look(&b, &s);
    assert_int_equal(s.job.at[0].state, QS_JOB_CANCELLED);
    assert_string_equal(s.job.at[0].reason, "not needed");
    look_done(&s);
    bed_end(&b.base);
    life_done(&b);
}

/* A device that is away has nothing to end: the job is over before the cancel returns. */
static void test_cancel_while_the_device_is_lost(void **state)
{
    (void)state;
    struct life b;
    struct stored s;
    life_init(&b);
    life_begin(&b, 3);
    assert_true(submit(&b, job_text, "job.yaml", NULL, NULL));
    b.lose_at = "job.progress";
    qs_loop_run(b.base.loop);
    assert_null(b.lose_at);
    assert_int_equal(b.ends, 1);
    assert_int_equal(b.cancelled, 1);
    look(&b, &s);
    assert_int_equal(s.job.at[0].state, QS_JOB_CANCELLED);
    assert_string_equal(s.job.at[0].reason, "not needed");
    assert_true(s.runs.count > 0);
    look_done(&s);
    bed_end(&b.base);
    life_done(&b);
}

/* The daemon ends in the middle of a job and comes back: on the same device, with the blocks that are there.
 */
static void stop_case(const char *kind, unsigned after)
{
    struct life b;
    struct stored s;
    life_init(&b);
    life_begin(&b, 3);
    b.stop_at = kind;
    b.stop_after = after;
    assert_true(submit(&b, job_text, "job.yaml", NULL, NULL));
    qs_loop_run(b.base.loop);
    assert_int_equal(b.ends, 0);
    bed_end(&b.base);
    life_begin(&b, 4);
    qs_loop_run(b.base.loop);
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
    bed_end(&b.base);
    life_done(&b);
}

/* The word was on disk when the daemon died in the middle of a window: its next life does not go on. */
static void test_a_cancelled_job_stays_cancelled(void **state)
{
    (void)state;
    struct life b;
    struct stored before, after;
    life_init(&b);
    life_begin(&b, 3);
    b.stop_at = "job.progress";
    b.stop_after = 2;
    assert_true(submit(&b, job_text, "job.yaml", NULL, NULL));
    qs_loop_run(b.base.loop);
    const struct qs_event_row word = {
        .wall_ns = 1, .kind = QS_EVENT_CANCEL, .job = b.id, .body_json = "{\"why\":\"by hand\"}"};
    look(&b, &before);
    assert_int_equal(before.job.at[0].state, QS_JOB_RUNNING);
    qs_store_event(b.base.store, &word, on_cancelled, &b);
    bed_end(&b.base);
    assert_int_equal(b.cancelled, 1);
    b.stop_at = "job.state";
    b.stop_after = 0;
    life_begin(&b, 4);
    qs_loop_run(b.base.loop);
    look(&b, &after);
    assert_int_equal(after.job.at[0].state, QS_JOB_CANCELLED);
    assert_string_equal(after.job.at[0].reason, "by hand");
    assert_int_equal(after.runs.count, before.runs.count);
    look_done(&before);
    look_done(&after);
    bed_end(&b.base);
    life_done(&b);
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
        cmocka_unit_test(test_a_submission_is_kept_whole),
        cmocka_unit_test(test_the_longest_job_can_be_read_again),
        cmocka_unit_test(test_files_that_are_gone),
        cmocka_unit_test(test_same_key_is_the_same_job),
        cmocka_unit_test(test_cancel),
        cmocka_unit_test(test_cancel_while_the_device_is_lost),
        cmocka_unit_test(test_a_cancelled_job_stays_cancelled),
        cmocka_unit_test(test_the_daemon_comes_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
