/* Runs of arms by job, build and night, with all their metrics. */
#include "fixture.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "store/ids.h"
#include "store/read/metrics.h"
#include "store/read/named.h"

struct asked {
    struct qs_run_filter filters[2];
    size_t count;
    struct qs_metric_names metrics;
    struct qs_arm_runs runs;
};

struct of_job {
    int64_t job;
    uint8_t uid[16]; /* of a run; its first byte 0: the job */
    struct qs_metric_names metrics;
    struct qs_job_metrics ret;
};

static bool read_arms(struct qs_store_reader *r, void *user, struct qs_err *err)
{
    struct asked *a = user;
    return qs_read_arm_runs(r, a->filters, a->count, &a->metrics, &a->runs, err);
}

static struct qs_arm_runs *ask(struct fixture *f, struct asked *a)
{
    struct qs_err err = QS_ERR_INIT;
    if (!qs_store_read_now(f->store, read_arms, a, &err))
        fail_msg("%s", err.text);
    return &a->runs;
}

static void refused(struct fixture *f, struct asked *a, const char *why)
{
    struct qs_err err = QS_ERR_INIT;
    assert_false(qs_store_read_now(f->store, read_arms, a, &err));
    assert_int_equal(err.code, QS_E_NOT_FOUND);
    assert_non_null(strstr(err.text, why));
    assert_null(a->runs.at);
}

static void put(struct fixture *f, uint8_t run, uint32_t ord, uint32_t evals, uint32_t taint, uint32_t third)
{
    static const struct qs_metric_kind kinds[3] = {
        {.unit = "us"}, {.unit = "bytes"}, {.unit = "uj", .higher_is_better = true, .deterministic = true}};
    struct qs_iteration_row rows[4];
    struct qs_window_row w = make_window(run, ord, 4 * ord, 4, rows);
    w.kinds = kinds;
    w.evals = evals;
    w.taint = taint;
    rows[2].taint = third;
    assert_int_equal(put_window(f, &w), QS_E_NONE);
}

static void end(struct fixture *f, uint8_t run, uint64_t warmup_n)
{
    struct qs_run_end_row row = {
        .uid = {run}, .state = QS_RUN_DONE, .warmup_n = (uint32_t)warmup_n, .ended_wall_ns = 5};
    qs_store_run_end(f->store, &row, on_fine, NULL);
    qs_loop_run(f->loop);
}

static const struct qs_point_row gzip = {
    .benchmark = "gzip", .params_json = "{}", .conditions_json = "{}", .label = "gzip"};

/* Run 2 of the first job's arm a, run 3 of arm b, and a pilot; a second job with a build, of which run 4. */
static void fill(struct fixture *f, bool both_ended)
{
    struct qs_arm_row arm = {.name = "new",
                             .argv_json = "[\"x\"]",
                             .build_label = "v2",
                             .build_content =
                                 "00000000000000000000000000000000000000000000000000000000000000ff"};
    struct qs_job_row job = {.owner = "me",
                             .name = "second",
                             .spec_json = "{}",
                             .submitted_wall_ns = 50,
                             .arms = &arm,
                             .arm_count = 1,
                             .points = &gzip,
                             .point_count = 1};
    struct qs_session_row session = {.uid = {98},
                                     .job = 2,
                                     .device = "bench",
                                     .boot_uuid = "boot-1",
                                     .env_json = "{\"kernel\":\"6.2\"}",
                                     .started_wall_ns = 70};
    struct qs_run_row run = {.uid = {4}, .session_uid = {98}, .job = 2, .block = 1, .started_wall_ns = 80};
    run_begin(f, 1, 0, 0, 0);
    run_begin(f, 2, 0, 1, 0);
    run_begin(f, 3, 1, 1, 1);
    put(f, 2, 0, 1, 0, QS_TAINT_TIMEOUT);
    put(f, 2, 1, 10, QS_TAINT_GATE, 0);
    put(f, 3, 0, 1, 0, 0);
    end(f, 2, 1);
    qs_store_submit(f->store, &job, on_fine, NULL);
    qs_store_session_begin(f->store, &session, on_fine, NULL);
    qs_store_run_begin(f->store, &run, on_fine, NULL);
    qs_loop_run(f->loop);
    put(f, 4, 0, 1, 0, 0);
    qs_store_job_state(f->store, 1, QS_JOB_DONE, NULL, 100, on_fine, NULL);
    if (both_ended)
        qs_store_job_state(f->store, 2, QS_JOB_DONE, NULL, 100, on_fine, NULL);
    qs_loop_run(f->loop);
}

static void an_arm_has_its_values(void **state)
{
    struct fixture *f = *state;
    struct asked a = {.filters = {{.job = f->job, .arm = "a"}}, .count = 1};
    fill(f, true);
    struct qs_arm_runs *runs = ask(f, &a);
    assert_int_equal(runs->count, 1); /* the pilot does not count */
    assert_int_equal(runs->metric_count, 2);
    assert_string_equal(runs->metrics[0].name, "duration_ns");
    assert_string_equal(runs->metrics[1].name, "energy_uj");
    assert_string_equal(runs->metrics[1].unit, "uj");
    assert_true(runs->metrics[1].higher_is_better && runs->metrics[1].deterministic);
    const struct qs_arm_run *run = &runs->at[0];
    assert_string_equal(run->benchmark, "gzip");
    assert_string_equal(run->device, "bench");
    assert_string_equal(run->env_json, "{\"kernel\":\"6.1\"}");
    assert_string_equal(run->host_json, "{\"cpu\":\"x\"}");
    assert_null(run->build);
    assert_int_equal(run->taints, QS_TAINT_TIMEOUT | QS_TAINT_GATE);
    assert_int_equal(run->values[0].tainted, 5);
    assert_int_equal(run->values[0].warm, 1);
    assert_int_equal(run->values[0].n, 2); /* of four: one timed out, one is the warm-up */
    assert_true(run->values[0].at[0] == 1002001);
    assert_false(run->values[0].disturbed);
    assert_int_equal(run->values[1].n, 0); /* neither has this metric: no disturbed one stands in */
    assert_false(run->values[1].disturbed);
    qs_arm_runs_free(runs);
    end(f, 2, 2); /* one that counts is enough */
    runs = ask(f, &a);
    assert_true(runs->at[0].values[0].n == 1 && runs->at[0].values[0].at[0] == 1002003);
    qs_arm_runs_free(runs);
}

/* Where nothing is left behind the warm-up, in every metric. */
static void a_run_may_stand_on_disturbed_values(void **state)
{
    struct fixture *f = *state;
    struct asked a = {.filters = {{.job = f->job, .arm = "a"}}, .count = 1};
    fill(f, true);
    end(f, 2, 3);
    struct qs_arm_runs *runs = ask(f, &a);
    const struct qs_values *values = runs->at[0].values;
    assert_true(values[0].disturbed && values[1].disturbed);
    assert_int_equal(values[0].warm, 3);
    assert_int_equal(values[0].n, 4);
    assert_true(fabs(values[0].at[0] - 100200.4) < 1e-6); /* one evaluation of ten */
    assert_int_equal(values[1].n, 2);
    assert_true(values[1].at[1] == -6);
    qs_arm_runs_free(runs);
}

static void builds_and_nights_are_found(void **state)
{
    struct fixture *f = *state;
    const char *const names[] = {"max_rss_bytes", "duration_ns"};
    struct asked a = {.filters = {{.build = "v2"}, {.job = 2}}, .count = 2, .metrics = {names, 2}};
    fill(f, true);
    struct qs_arm_runs *runs = ask(f, &a);
    assert_true(runs->at[0].values[0].n + runs->at[0].values[1].n == 0); /* it is not done */
    qs_arm_runs_free(runs);
    end(f, 4, 0);
    runs = ask(f, &a);
    assert_int_equal(runs->count, 1); /* both filters mean the same run */
    assert_int_equal(runs->metric_count, 2);
    assert_true(runs->at[0].values[1].at[3] == 4096 * 4);
    assert_string_equal(runs->at[0].build, "v2");
    assert_string_equal(runs->at[0].build_content + 60, "00ff");
    qs_arm_runs_free(runs);
    a = (struct asked){.filters = {{.from_wall_ns = 20, .until_wall_ns = 70}}, .count = 1};
    assert_int_equal(ask(f, &a)->count, 2);
    assert_int_equal(a.runs.at[1].arm, 1);
    qs_arm_runs_free(&a.runs);
    a = (struct asked){.filters = {{.from_wall_ns = 21, .until_wall_ns = 71, .arm = "new"}}, .count = 1};
    assert_int_equal(ask(f, &a)->count, 1);
    assert_int_equal(a.runs.at[0].job, 2);
    qs_arm_runs_free(&a.runs);
}

/* A third job, which measured v1 after v2 came. */
static void add_third(struct fixture *f)
{
    struct qs_arm_row arm = {.name = "new",
                             .argv_json = "[\"x\"]",
                             .build_label = "v1",
                             .build_content =
                                 "00000000000000000000000000000000000000000000000000000000000000fe"};
    struct qs_job_row job = {.owner = "me",
                             .name = "third",
                             .spec_json = "{}",
                             .submitted_wall_ns = 60,
                             .arms = &arm,
                             .arm_count = 1,
                             .points = &gzip,
                             .point_count = 1};
    struct qs_session_row session = {.uid = {97},
                                     .job = 3,
                                     .device = "bench",
                                     .boot_uuid = "boot-1",
                                     .env_json = "{}",
                                     .started_wall_ns = 90};
    struct qs_run_row run = {.uid = {5}, .session_uid = {97}, .job = 3, .block = 1, .started_wall_ns = 95};
    qs_store_submit(f->store, &job, on_fine, NULL);
    qs_store_session_begin(f->store, &session, on_fine, NULL);
    qs_store_run_begin(f->store, &run, on_fine, NULL);
    qs_store_job_state(f->store, 3, QS_JOB_DONE, NULL, 100, on_fine, NULL);
    qs_loop_run(f->loop);
}

/* From one build to the other in the order in which they came; a label may have two dots in it. */
static void a_range_has_the_builds_between(void **state)
{
    struct fixture *f = *state;
    struct asked a = {.filters = {{.build = "v2..v1", .build_from = "v2", .build_to = "v1"}}, .count = 1};
    fill(f, true);
    add_third(f);
    struct qs_arm_runs *runs = ask(f, &a);
    assert_int_equal(runs->count, 2);
    assert_string_equal(runs->at[0].build, "v2");
    assert_string_equal(runs->at[1].build, "v1");
    qs_arm_runs_free(runs);
    a.filters[0].build_from = "v1";
    runs = ask(f, &a);
    assert_int_equal(runs->count, 1);
    qs_arm_runs_free(runs);
    runs = ask(f, &(struct asked){.filters = {{.job = 2}}, .count = 1});
    assert_int_equal(runs->count, 1); /* the one between the others */
    qs_arm_runs_free(runs);
    a.filters[0].build_to = "v9";
    refused(f, &a, "no build `v9`");
    a.filters[0].build_to = "v1";
    a.filters[0].build_from = "v8";
    refused(f, &a, "no build `v8`");
    struct qs_err err = QS_ERR_INIT;
    a.filters[0].build_from = "v1";
    a.filters[0].build_to = "v2";
    assert_false(qs_store_read_now(f->store, read_arms, &a, &err));
    assert_int_equal(err.code, QS_E_USAGE);
    assert_non_null(strstr(err.text, "write build:v2..v1"));
}

static void what_is_not_there_is_told(void **state)
{
    struct fixture *f = *state;
    const char *const names[] = {"cycles"};
    fill(f, true);
    refused(f, &(struct asked){.filters = {{.job = 3}}, .count = 1}, "no job 3");
    refused(f, &(struct asked){.filters = {{.job = 1, .arm = "c"}}, .count = 1}, "no arm `c`");
    refused(f, &(struct asked){.filters = {{.build = "v3"}}, .count = 1},
            "no build `v3`, did you mean `v2`? `quiesce builds` lists them");
    refused(f, &(struct asked){.filters = {{.build = "head"}}, .count = 1},
            "no build `head`; `quiesce builds` lists them");
    refused(f, &(struct asked){.filters = {{.job = 1}}, .count = 1, .metrics = {names, 1}}, "`cycles`");
}

struct called {
    struct qs_named_filter filter;
    struct qs_named_list list;
};

static bool read_named(struct qs_store_reader *r, void *user, struct qs_err *err)
{
    struct called *c = user;
    return qs_read_named(r, &c->filter, &c->list, err);
}

/* "number label benchmark device runs session-began" of each row. */
static void named_are(struct fixture *f, struct qs_named_filter filter, const char *expected)
{
    struct called c = {.filter = filter};
    struct qs_err err = QS_ERR_INIT;
    struct qs_buf said;
    qs_buf_init(&said);
    c.filter.until_wall_ns = filter.until_wall_ns ? filter.until_wall_ns : INT64_MAX;
    assert_true(qs_store_read_now(f->store, read_named, &c, &err));
    for (size_t i = 0; i < c.list.count; i++) {
        const struct qs_named *n = &c.list.at[i];
        qs_buf_fmt(&said, "%lld %s %s %s %u %lld;", (long long)n->job, n->label ? n->label : "-",
                   n->benchmark, n->device, n->runs, (long long)n->started_wall_ns);
    }
    assert_string_equal(said.data, expected);
    qs_named_list_free(&c.list);
    qs_buf_done(&said);
}

static void what_was_measured_has_names(void **state)
{
    struct fixture *f = *state;
    fill(f, false);
    named_are(f, (struct qs_named_filter){0}, "1 - gzip bench 1 20;"); /* run 3 did not end, nor job 2 */
    end(f, 3, 0);
    end(f, 4, 0);
    qs_store_job_state(f->store, 2, QS_JOB_DONE, NULL, 100, on_fine, NULL);
    qs_loop_run(f->loop);
    named_are(f, (struct qs_named_filter){0}, "1 - gzip bench 2 20;2 v2 gzip bench 1 70;");
    named_are(f, (struct qs_named_filter){.label = "V2"}, "2 v2 gzip bench 1 70;");
    named_are(f, (struct qs_named_filter){.label = "v3"}, "");
    named_are(f, (struct qs_named_filter){.benchmark = "zip", .device = "bench", .since_wall_ns = 21},
              "2 v2 gzip bench 1 70;");
    named_are(f, (struct qs_named_filter){.until_wall_ns = 20}, "1 - gzip bench 2 20;");
    named_are(f, (struct qs_named_filter){.device = "ben"}, "");
    named_are(f, (struct qs_named_filter){.benchmark = "sort"}, "");
}

struct nearest {
    int64_t wall_ns, began_wall_ns;
    bool found;
};

static bool read_nearest(struct qs_store_reader *r, void *user, struct qs_err *err)
{
    struct nearest *n = user;
    return qs_read_nearest_session(r, n->wall_ns, &n->found, &n->began_wall_ns, err);
}

/* -1: there is none. */
static void nearest_is(struct fixture *f, int64_t wall_ns, int64_t began_wall_ns)
{
    struct nearest n = {.wall_ns = wall_ns};
    struct qs_err err = QS_ERR_INIT;
    assert_true(qs_store_read_now(f->store, read_nearest, &n, &err));
    assert_int_equal(n.found ? n.began_wall_ns : -1, began_wall_ns);
}

/* Sessions began at 20 and at 70. */
static void the_nearest_session_was_measured(void **state)
{
    struct fixture *f = *state;
    nearest_is(f, 70, -1);
    fill(f, false);
    end(f, 4, 0);
    nearest_is(f, 70, 20); /* its job has not ended */
    qs_store_job_state(f->store, 2, QS_JOB_DONE, NULL, 100, on_fine, NULL);
    qs_loop_run(f->loop);
    nearest_is(f, 44, 20);
    nearest_is(f, 45, 20);
    nearest_is(f, 46, 70);
    nearest_is(f, 0, 20);
    nearest_is(f, INT64_MAX, 70);
}

/* A run that is done, of a session that has nothing but its pilot. */
static void a_pilot_makes_no_night(void **state)
{
    struct fixture *f = *state;
    run_begin(f, 1, 0, 0, 0);
    run_begin(f, 2, 0, 1, 0);
    end(f, 1, 0);
    qs_store_job_state(f->store, 1, QS_JOB_DONE, NULL, 100, on_fine, NULL);
    qs_loop_run(f->loop);
    nearest_is(f, 20, -1);
    end(f, 2, 0);
    nearest_is(f, 20, 20);
}

static void a_running_job_is_left_out(void **state)
{
    struct fixture *f = *state;
    fill(f, false);
    struct asked a = {.filters = {{.build = "v2"}, {.job = 2}}, .count = 2};
    struct qs_arm_runs *runs = ask(f, &a);
    assert_int_equal(runs->count, 0);
    assert_int_equal(runs->running_count, 1);
    assert_int_equal(runs->running[0], 2);
    qs_arm_runs_free(runs);
}

/* Also those whose places collide, and after the set has grown. */
static void a_number_is_met_once(void **state)
{
    (void)state;
    struct qs_ids ids = {0};
    for (int64_t i = 1; i <= 6000; i++)
        for (int k = 0; k < 3; k++) {
            const int64_t times[] = {1, -1, INT64_C(1) << 40};
            assert_int_equal(qs_ids_add(&ids, (1 + i % 3000) * times[k]), i <= 3000);
        }
    assert_int_equal(ids.count, 9000);
    qs_ids_done(&ids);
}

static bool read_metrics(struct qs_store_reader *r, void *user, struct qs_err *err)
{
    struct of_job *a = user;
    return a->uid[0] ? qs_read_run_metrics(r, a->uid, &a->metrics, &a->ret, err)
                     : qs_read_job_metrics(r, a->job, &a->metrics, &a->ret, err);
}

/* Two windows with what a command of the farm said: the second is disturbed, of a third it failed. */
static void fill_windows(struct fixture *f)
{
    static const int64_t said[] = {1235, 990, INT64_MIN};
    run_begin(f, 2, 0, 1, 0);
    for (uint32_t i = 0; i < 3; i++) {
        struct qs_iteration_row rows[4];
        struct qs_window_row w = make_window(2, i, 4 * i, 4, rows);
        const struct qs_evidence_row evidence = {.kind = "metric:power_mW",
                                                 .present = true,
                                                 .is_metric = true,
                                                 .higher_is_better = i > 0,
                                                 .before = INT64_MIN,
                                                 .after = said[i]};
        w.evidence = &evidence;
        w.evidence_count = 1;
        w.taint = i == 1 ? QS_TAINT_GATE : 0;
        assert_int_equal(put_window(f, &w), QS_E_NONE);
    }
}

static void a_job_has_its_metrics(void **state)
{
    struct fixture *f = *state;
    struct of_job a;
    struct qs_err err = QS_ERR_INIT;
    fill_windows(f);
    for (uint8_t uid = 0; uid < 3; uid += 2) { /* a run under way gives its job none, and shows what it has */
        a = (struct of_job){.job = f->job, .uid = {uid}};
        assert_true(qs_store_read_now(f->store, read_metrics, &a, &err));
        assert_true(a.ret.at[0].values[0].n == (uid ? 4 : 0) && a.ret.at[0].values[0].tainted == 4);
        qs_job_metrics_free(&a.ret);
    }
    end(f, 2, 2);
    a = (struct of_job){.job = f->job};
    assert_true(qs_store_read_now(f->store, read_metrics, &a, &err)); /* the job need not have ended */
    assert_true(a.ret.count == 1 && a.ret.metric_count == 2);
    assert_string_equal(a.ret.metrics[0].name, "energy_uj");
    assert_string_equal(a.ret.metrics[1].name, "power_mW");
    assert_string_equal(a.ret.metrics[1].unit, "mW");
    assert_true(a.ret.metrics[1].of_windows && a.ret.metrics[1].higher_is_better /* said last */);
    const struct qs_run_metrics *run = qs_job_metrics_find(&a.ret, (const uint8_t[16]){2});
    assert_non_null(run);
    assert_null(qs_job_metrics_find(&a.ret, (const uint8_t[16]){3}));
    assert_int_equal(run->values[0].n, 3); /* each other of eight is missing, the first two are warm-up */
    assert_true(run->values[0].at[0] == -2 && run->values[0].at[1] == -8);
    assert_true(run->values[0].warm == 2 && run->values[0].tainted == 4);
    assert_int_equal(run->values[1].n, 1);
    assert_true(run->values[1].at[0] == 1235 && run->values[1].tainted == 1);
    qs_job_metrics_free(&a.ret);
    a = (struct of_job){.uid = {2}};
    assert_true(qs_store_read_now(f->store, read_metrics, &a, &err));
    assert_true(a.ret.count == 1 && a.ret.metric_count == 2);
    qs_job_metrics_free(&a.ret);
}

static void a_window_of_warm_up_says_nothing(void **state)
{
    struct fixture *f = *state;
    struct of_job a = {.job = f->job};
    struct qs_err err = QS_ERR_INIT, none = QS_ERR_INIT;
    fill_windows(f);
    end(f, 2, 4); /* all of the first window */
    assert_false(
        qs_store_read_now(f->store, read_metrics,
                          &(struct of_job){.job = f->job, .metrics = {(const char *[]){"cycles"}, 1}}, &err));
    assert_int_equal(err.code, QS_E_NOT_FOUND);
    assert_true(qs_store_read_now(f->store, read_metrics, &a, &none));
    assert_int_equal(a.ret.at[0].values[1].n, 0); /* the disturbed one does not stand in for the third */
    assert_int_equal(a.ret.at[0].values[1].warm, 1);
    qs_job_metrics_free(&a.ret);
    const char *const names[] = {"max_rss_bytes", "duration_ns", "energy_uj"};
    a = (struct of_job){.job = f->job, .metrics = {names, 3}};
    assert_true(qs_store_read_now(f->store, read_metrics, &a, &none));
    assert_int_equal(a.ret.metric_count, 2); /* the duration is no other metric */
    assert_int_equal(a.ret.at[0].values[0].n, 4);
    qs_job_metrics_free(&a.ret);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(an_arm_has_its_values),
        TEST(a_run_may_stand_on_disturbed_values),
        TEST(builds_and_nights_are_found),
        TEST(a_range_has_the_builds_between),
        TEST(the_nearest_session_was_measured),
        TEST(a_pilot_makes_no_night),
        TEST(a_running_job_is_left_out),
        TEST(what_is_not_there_is_told),
        cmocka_unit_test(a_number_is_met_once),
        TEST(what_was_measured_has_names),
        TEST(a_job_has_its_metrics),
        TEST(a_window_of_warm_up_says_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
