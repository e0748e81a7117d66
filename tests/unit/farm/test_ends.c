/* A disk that fails at every commit of a job, and comes back: the job ends on disk, once, and people are told
 * meanwhile. The whole line in virtual time, on a file system that fails on demand. */
#include "bed.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#include <sqlite3.h>

#include "../store/disk.h"

#define SECOND_NS INT64_C(1000000000)

enum { BLOCKS = 2, ARMS = 2 };
enum plan { HEALS, CANCELLED, STOPPED, CLOSED, YIELDS };

static const char farm_text[] = "devices: {board: {link: sim, sim_seed: 3, labels: {soc: one}}}\n";
static const char job_text[] = "quiesce: 1\n"
                               "benchmarks: [{name: pretend, argv: [sim, \"1000000\"]}]\n"
                               "arms: {a: {env: {A: x}}, b: {env: {A: y}}}\n"
                               "plan: {seed: 5, blocks: 2, until: {interval: 0%}, window: {iterations: 2}}\n"
                               "conditions: {gate: none}\n";

struct life {
    struct bed base;
    enum plan plan;
    uint64_t lives;
    bool too_late;
    unsigned submitted, refused, waits, cancels, recoveries, troubles, idles;
    char refusal[QS_ERR_TEXT_BYTES];
    struct qs_buf told;
};

static void on_trouble(const struct qs_err *err, void *user)
{
    (void)err;
    ((struct life *)user)->troubles++;
}

static void on_recovered(void *user)
{
    ((struct life *)user)->recoveries++;
}

static void on_submitted(const struct qs_err *err, int64_t id, void *user)
{
    struct life *b = user;
    (void)id;
    if (err) {
        b->refused++;
        snprintf(b->refusal, sizeof b->refusal, "%s", err->text);
    } else {
        b->submitted++;
    }
}

static void submit(struct life *b)
{
    const struct qs_submission sub = {.text = job_text, .text_bytes = strlen(job_text), .name = "job.yaml"};
    assert_true(bed_submit(&b->base, &sub, NULL, on_submitted, b, NULL));
}

static int64_t number(const char *db, const char *sql)
{
    sqlite3 *sqlite;
    sqlite3_stmt *stmt;
    assert_int_equal(sqlite3_open_v2(db, &sqlite, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
    if (sqlite3_prepare_v2(sqlite, sql, -1, &stmt, NULL) != SQLITE_OK)
        fail_msg("%s", sqlite3_errmsg(sqlite));
    assert_int_equal(sqlite3_step(stmt), SQLITE_ROW);
    int64_t n = sqlite3_column_int64(stmt, 0);
    sqlite3_finalize(stmt);
    sqlite3_close(sqlite);
    return n;
}

static void on_cancelled(const struct qs_err *err, int64_t id, void *user)
{
    (void)id;
    assert_null(err);
    ((struct life *)user)->cancels++;
}

static void check_why(struct life *b, int64_t job)
{
    QS_BUF(why);
    assert_string_equal(qs_farm_why(b->base.farm, job, &why).code, "disk");
    assert_ptr_equal(strstr(why.data, "waiting for the disk: "), why.data);
    assert_non_null(strstr(why.data, "check the disk and the permissions of the database"));
}

/* A minute later: the job is still there, nothing else has begun, and everybody says why. */
static void look_while_it_waits(void *user)
{
    struct life *b = user;
    struct qs_err err = QS_ERR_INIT;
    assert_non_null(qs_farm_waits_for_disk(b->base.farm, 1));
    assert_null(qs_farm_waits_for_disk(b->base.farm, 2));
    assert_non_null(qs_farm_waits_for_disk(b->base.farm, 0));
    assert_int_equal(b->waits, 1); /* told once, not with each try */
    assert_int_equal(b->troubles, 1);
    check_why(b, 1);
    check_why(b, 2);
    submit(b);
    if (b->plan == CANCELLED) {
        assert_true(qs_farm_cancel(b->base.farm, 1, "not needed", on_cancelled, b, &err));
        assert_false(qs_farm_cancel(b->base.farm, 1, "again", on_cancelled, b, &err));
        assert_int_equal(err.code, QS_E_CONFLICT);
    }
}

static void heal(void *user)
{
    struct life *b = user;
    assert_true(b->plan != CANCELLED || b->cancels == 1); /* accepted although nothing could be written */
    disk.fault = DISK_WELL;
    if (b->plan == STOPPED)
        qs_farm_stop(b->base.farm, bed_on_stopped, &b->base);
}

/* The daemon stops while the verdict is computed. */
static void close_early(void *user)
{
    struct life *b = user;
    assert_int_equal(b->base.farm->job_count, 1);
    assert_false(qs_farm_is_working(b->base.farm));
    qs_farm_end_job(b->base.farm->jobs[0]);
    assert_true(qs_farm_is_working(b->base.farm));
    qs_farm_stop(b->base.farm, bed_on_stopped, &b->base);
}

/* position, code and reason */
static void says(const struct life *b, int64_t job, const char *want)
{
    QS_BUF(text);
    const struct qs_farm_why why = qs_farm_why(b->base.farm, job, &text);
    QS_FREED char *got =
        qs_asprintf("%lld %s %s", (long long)why.position, why.code ? why.code : "-", text.data);
    assert_string_equal(got, want);
}

static void check_device(const struct qs_device_info *d, void *user)
{
    (void)user;
    assert_string_equal(d->config->name, "board");
    assert_string_equal(d->state, "busy");
    assert_true(d->simulated);
    assert_string_equal(d->software, "quiesce-agent " QS_VERSION " (simulated)");
    assert_string_equal(d->boot, "sim-1d0b14e4db018fed");
    assert_string_equal(d->config->labels.at[0], "soc=one");
    assert_true(d->has_cache && d->cache.bytes == 0 && d->cache.most_bytes == 8589934592 &&
                d->cache.free_bytes == 1073741824);
    assert_int_equal(d->rtt_ns, 100000);
    assert_string_equal(d->facts_json,
                        "{\"agent\":\"quiesce-agent " QS_VERSION
                        "\",\"clock\":\"sim\",\"cpu_model\":\"simulated\",\"cpus_allowed\":\"0\","
                        "\"kernel\":\"sim\",\"machine\":\"sim\",\"os\":\"sim\",\"simulated\":\"yes\"}");
    assert_null(d->why);
}

/* The first job runs, the second waits for it; somebody else wants to take over. */
static void yield(struct life *b)
{
    says(b, 2, "1 queue an earlier job has the device (job 1, pretend)");
    assert_true(qs_farm_is_working(b->base.farm));
    qs_farm_yield(b->base.farm);
    says(b, 1, "-1 - ");
    says(b, 2, "1 daemon another quiesced is about to take over: the job begins there");
    assert_string_equal(
        qs_farm_progress(b->base.farm, 1),
        "{\"point\":0,\"points\":1,\"block\":1,\"blocks_min\":2,\"blocks_max\":2,\"next_look\":2,"
        "\"half_width_ratio\":null,\"goal_ratio\":null,\"elapsed_ns\":10008018,\"waited_ns\":400000,"
        "\"waited_in_vain_ns\":0,\"busiest\":\"\",\"eta_ns\":5012216}");
    assert_null(qs_farm_progress(b->base.farm, 2));
    qs_farm_devices(b->base.farm, check_device, b);
}

static void on_event(const struct qs_farm_event *event, void *user)
{
    struct life *b = user;
    if (b->plan == CLOSED && b->told.len == 0)
        qs_loop_post(b->base.loop, close_early, b);
    if (b->plan == YIELDS && strcmp(event->kind, "job.progress") == 0) {
        b->plan = HEALS;
        yield(b);
    }
    qs_buf_fmt(&b->told, "%lld %s %s\n", (long long)event->job, event->kind,
               event->body_json ? event->body_json : "?");
    if (strcmp(event->kind, "job.waiting") != 0)
        return;
    assert_int_equal(event->id, 0);
    if (event->job != 1) { /* the first one was through before the fault */
        disk.fault = DISK_WELL;
        b->too_late = true;
        return;
    }
    assert_non_null(strstr(event->body_json, "waiting for the disk: "));
    assert_non_null(strstr(event->body_json, "\"why_code\":\"disk\"}"));
    if (b->waits++ > 0)
        return;
    qs_timer_start(b->base.loop, 60 * SECOND_NS, look_while_it_waits, b);
    qs_timer_start(b->base.loop, 90 * SECOND_NS, heal, b);
}

static void on_idle(void *user)
{
    struct life *b = user;
    b->idles++;
    qs_farm_stop(b->base.farm, bed_on_stopped, &b->base);
}

static void life_begins(struct life *b)
{
    bed_begin(&b->base, SECOND_NS, ++b->lives);
}

static void life_ends(struct life *b)
{
    assert_true(b->base.stopped);
    bed_end(&b->base);
}

static void life_init(struct life *b, enum plan plan)
{
    *b = (struct life){.plan = plan};
    bed_init(&b->base, farm_text);
    b->base.events = (struct qs_farm_events){.on_event = on_event, .on_idle = on_idle, .user = b};
    b->base.store_events =
        (struct qs_store_events){.on_trouble = on_trouble, .on_recovered = on_recovered, .user = b};
    qs_buf_init(&b->told);
    memset(&disk, 0, sizeof disk);
}

static void life_done(struct life *b)
{
    bed_done(&b->base);
    qs_buf_done(&b->told);
}

/* Every job ended, once, and nothing of it is open or half. */
static void check_ends(struct life *b)
{
    static const char *const nothing[] = {
        "SELECT count(*) FROM job WHERE state IN ('queued', 'running') OR ended_wall_ns IS NULL",
        "SELECT count(*) FROM session WHERE ended_wall_ns IS NULL",
        "SELECT count(*) FROM run WHERE state = 'running' OR ended_wall_ns IS NULL",
        "SELECT count(*) FROM (SELECT count(*) AS n FROM run WHERE block > 0 AND state = 'done' AND taint & "
        "256 = 0"
        " GROUP BY job_id, block HAVING n <> 2)",
        "SELECT count(*) FROM job j WHERE 1 <> (SELECT count(*) FROM event e WHERE e.job_id = j.id"
        " AND e.kind = 'job.state' AND e.body NOT LIKE '%running%')",
        "SELECT count(*) FROM job j WHERE iif(state = 'cancelled', 0, 1) <> (SELECT count(*) FROM event e"
        " WHERE e.job_id = j.id AND e.kind = 'job.result')",
        "SELECT count(*) FROM job WHERE id > 1 AND state <> 'done'"};
    for (size_t i = 0; i < sizeof nothing / sizeof *nothing; i++) {
        if (number(b->base.db, nothing[i]) != 0)
            fail_msg("%s", nothing[i]);
    }
}

/* As the client's exit code has it: infrastructure, or the measurement that was complete. */
static void check_state(struct life *b)
{
    static const char *const wanted[] = {
        [HEALS] = "SELECT state = 'failed' AND reason LIKE '%database%' AND (SELECT body LIKE "
                  "'{\"exit\":3,%' FROM event"
                  " WHERE job_id = 1 AND kind = 'job.result') OR state = 'done' FROM job WHERE id = 1",
        [CANCELLED] = "SELECT state = 'cancelled' AND reason = 'not needed' FROM job WHERE id = 1",
        [STOPPED] = "SELECT state = 'done' FROM job WHERE id = 1"};
    if (number(b->base.db, wanted[b->plan]) != 1)
        fail_msg("%s", wanted[b->plan]);
}

/* True where a job waited. */
static bool fault_at(enum disk_fault fault, int commit, enum plan plan)
{
    struct life b;
    life_init(&b, plan);
    life_begins(&b);
    submit(&b);
    submit(&b);
    disk.fault_after = disk.log_syncs + 1 + commit; /* the first one has the submissions */
    disk.fault = fault;
    qs_loop_run(b.base.loop);
    life_ends(&b);
    bool waited = b.waits > 0;
    assert_int_equal(b.submitted, 2);
    assert_int_equal(b.refused, waited ? 1 : 0);
    if (waited)
        assert_ptr_equal(
            strstr(b.refusal, "nothing was submitted, because the daemon cannot write its database"),
            b.refusal);
    if (plan != STOPPED)
        assert_int_equal(b.recoveries, b.troubles);
    if (waited && plan == STOPPED) {
        life_begins(&b);
        qs_loop_run(b.base.loop);
        life_ends(&b);
    }
    if (!b.too_late)
        check_ends(&b);
    if (waited)
        check_state(&b);
    life_done(&b);
    return waited;
}

static void each_commit(enum disk_fault fault)
{
    int commit = 0;
    while (fault_at(fault, commit, HEALS))
        commit++;
    assert_true(commit > 15);
}

static void test_a_full_disk(void **state)
{
    (void)state;
    each_commit(DISK_FULL);
}

static void test_a_broken_disk(void **state)
{
    (void)state;
    each_commit(DISK_BROKEN);
}

static void test_a_disk_that_does_not_sync(void **state)
{
    (void)state;
    each_commit(DISK_NO_SYNC);
}

static void test_a_disk_that_became_read_only(void **state)
{
    (void)state;
    each_commit(DISK_READ_ONLY);
}

/* Every commit, every kind of fault in turn. */
static void test_a_cancel_decides_the_end(void **state)
{
    (void)state;
    for (int commit = 0; fault_at((enum disk_fault)(1 + commit % (DISK_FAULTS - 1)), commit, CANCELLED);
         commit++)
        ;
}

/* Of a commit whose sync alone failed the next life may find all: that end would stand. */
static void test_a_verdict_under_way_is_work_that_is_kept(void **state)
{
    (void)state;
    struct life b;
    life_init(&b, CLOSED);
    life_begins(&b);
    submit(&b);
    qs_loop_run(b.base.loop);
    life_ends(&b);
    assert_int_equal(number(b.base.db, "SELECT count(*) FROM job WHERE state = 'done'"), 1);
    life_done(&b);
}

static void test_the_next_life_goes_on(void **state)
{
    (void)state;
    for (int commit = 0; fault_at(commit % 2 ? DISK_FULL : DISK_BROKEN, commit, STOPPED); commit++)
        ;
}

static void test_who_yields_ends_what_runs_and_begins_nothing(void **state)
{
    (void)state;
    struct life b;
    life_init(&b, YIELDS);
    life_begins(&b);
    submit(&b);
    submit(&b);
    qs_loop_run(b.base.loop);
    assert_int_equal(b.idles, 1);
    life_ends(&b);
    assert_int_equal(number(b.base.db, "SELECT state = 'done' FROM job WHERE id = 1"), 1);
    assert_int_equal(number(b.base.db, "SELECT state = 'queued' FROM job WHERE id = 2"), 1);
    life_begins(&b); /* and where nothing runs it may be gone at once */
    qs_farm_yield(b.base.farm);
    qs_loop_run(b.base.loop);
    assert_int_equal(b.idles, 2);
    life_ends(&b);
    life_done(&b);
}

static const char waiting_text[] = "quiesce: 1\nbenchmarks: [{name: x, argv: [x]}]\n";

static bool submit_waiting(struct life *b, struct qs_err *err)
{
    const struct qs_submission sub = {
        .text = waiting_text, .text_bytes = strlen(waiting_text), .name = "job.yaml"};
    struct qs_prepared *p = qs_farm_prepare(b->base.farm, &sub);
    bool ok = qs_farm_submit(b->base.farm, p, "me", NULL, on_submitted, b, err);
    qs_prepared_free(p);
    return ok;
}

/* As many jobs as may wait do, those of a former life as well, and each can be cancelled; one more is
 * refused. */
static void test_many_jobs_wait(void **state)
{
    (void)state;
    struct life b;
    struct qs_err err = QS_ERR_INIT;
    life_init(&b, HEALS);
    life_begins(&b);
    for (int i = 0; i < QS_FARM_JOBS_MAX; i++)
        assert_true(submit_waiting(&b, &err));
    assert_false(submit_waiting(&b, &err));                  /* those on their way count */
    qs_timer_start(b.base.loop, 1, bed_on_stopped, &b.base); /* the device is not there yet: nothing begins */
    qs_loop_run(b.base.loop);
    assert_int_equal(b.submitted, QS_FARM_JOBS_MAX);
    qs_farm_stop(b.base.farm, bed_on_stopped, &b.base);
    qs_loop_run(b.base.loop);
    life_ends(&b);
    life_begins(&b);
    assert_int_equal(qs_farm_live_jobs(b.base.farm), QS_FARM_JOBS_MAX);
    assert_false(submit_waiting(&b, &err));
    assert_int_equal(err.code, QS_E_LIMIT);
    assert_non_null(strstr(err.text, "10000 jobs are waiting or running already"));
    for (int64_t id = QS_FARM_JOBS_MAX; id >= 1; id--)
        assert_true(qs_farm_cancel(b.base.farm, id, "not needed", on_cancelled, &b, &err));
    qs_loop_run(b.base.loop);
    assert_int_equal(b.cancels, QS_FARM_JOBS_MAX);
    life_ends(&b);
    life_done(&b);
}

int main(void)
{
    disk_install();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_full_disk),
        cmocka_unit_test(test_a_broken_disk),
        cmocka_unit_test(test_a_disk_that_does_not_sync),
        cmocka_unit_test(test_a_disk_that_became_read_only),
        cmocka_unit_test(test_a_cancel_decides_the_end),
        cmocka_unit_test(test_a_verdict_under_way_is_work_that_is_kept),
        cmocka_unit_test(test_the_next_life_goes_on),
        cmocka_unit_test(test_who_yields_ends_what_runs_and_begins_nothing),
        cmocka_unit_test(test_many_jobs_wait),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
