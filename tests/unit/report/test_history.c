/* Series of synthetic nights, put into a real store by its writer and read back from it: one value a session,
 * steps and drifts inside equal environments only. The values are made up; nothing was measured. */
#include "../store/fixture.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "golden.h"
#include "report/history/impl.h"
#include "stats/rng.h"
#include "stats/special.h"
#include "world.h"

enum { RUNS = 3, ITERATIONS = 5 };
static const int64_t day_ns = INT64_C(86400000000000);

struct night { /* what is not given is as on all nights */
    const char *build, *content, *env_json, *argv_json, *spec_json, *exe_sha256;
    double level; /* ns */
    uint32_t taint;
};

static const char usual_env[] =
    "{\"agent\":\"quiesce-agent 1\",\"cgroup\":\"0::/a\",\"governors\":\"performance\",\"kernel\":\"6.1\"}";
static const char usual_spec[] =
    "{\"name\":\"n\",\"text\":\"quiesce: 1\\nbenchmarks: [{name: a, argv: [x]}]\\n\"}";
static const char *or_usual(const char *given, const char *usual)
{
    return given ? given : usual;
}

static int64_t submit(struct fixture *f, const struct night *night, int number)
{
    int64_t job = 0;
    struct qs_arm_row arms[2] = {{.name = "tip",
                                  .build_label = night->build,
                                  .build_content = night->content,
                                  .argv_json = or_usual(night->argv_json, "[\"./blur\"]")},
                                 {.name = "other", .argv_json = "[\"true\"]"}};
    struct qs_point_row point = {.benchmark = "Blur",
                                 .params_json = "{\"image\":\"4k\"}",
                                 .conditions_json = "{\"frequency\":\"max\"}",
                                 .label = "blur"};
    struct qs_job_row row = {.owner = "me",
                             .name = "nightly",
                             .spec_json = or_usual(night->spec_json, usual_spec),
                             .seed = (uint64_t)number,
                             .submitted_wall_ns = day_ns * number,
                             .arms = arms,
                             .arm_count = 2,
                             .points = &point,
                             .point_count = 1};
    qs_store_submit(f->store, &row, on_fine, &job);
    qs_loop_run(f->loop);
    return job;
}

static void put_run(struct fixture *f, const struct night *night, int64_t job, int number, uint32_t arm,
                    uint32_t run, struct qs_rng *rng)
{
    struct qs_iteration_row rows[ITERATIONS];
    uint8_t session[16] = {9, (uint8_t)(number >> 8), (uint8_t)number};
    struct qs_run_row begin = {
        .uid = {7, (uint8_t)(number >> 8), (uint8_t)number, (uint8_t)arm, (uint8_t)run},
        .job = job,
        .arm = arm,
        .block = run + 1};
    memcpy(begin.session_uid, session, sizeof session);
    qs_store_run_begin(f->store, &begin, on_fine, NULL);
    struct qs_window_row w = make_window(0, 0, 0, ITERATIONS, rows);
    memcpy(w.run_uid, begin.uid, sizeof w.run_uid);
    for (size_t i = 0; i < ITERATIONS; i++)
        rows[i].duration_ns =
            (int64_t)(night->level * (1 + 0.005 * qs_qnorm(qs_rng_unit(rng) * 0.99 + 0.005)));
    w.taint = night->taint;
    qs_store_window(f->store, &w, on_fine, NULL);
    struct qs_run_end_row end = {
        .state = QS_RUN_DONE, .exe_path = "./blur", .exe_sha256 = night->exe_sha256, .ended_wall_ns = 1};
    memcpy(end.uid, begin.uid, sizeof end.uid);
    qs_store_run_end(f->store, &end, on_fine, NULL);
}

static void put_night(struct fixture *f, const struct night *night, int number, struct qs_rng *rng)
{
    int64_t job = submit(f, night, number);
    struct qs_session_row session = {.uid = {9, (uint8_t)(number >> 8), (uint8_t)number},
                                     .job = job,
                                     .device = "bench",
                                     .boot_uuid = "boot-1",
                                     .env_json = or_usual(night->env_json, usual_env),
                                     .started_wall_ns = INT64_C(1790000000000000000) + day_ns * number};
    qs_store_session_begin(f->store, &session, on_fine, NULL);
    for (uint32_t run = 0; run < RUNS; run++) {
        put_run(f, night, job, number, 0, run, rng);
        put_run(f, night, job, number, 1, run, rng);
    }
    qs_store_job_state(f->store, job, QS_JOB_DONE, NULL, 1, on_fine, NULL);
    qs_loop_run(f->loop);
}

struct ask {
    const char *metric, *build;
    int64_t since_wall_ns;
    struct qs_series_list list;
    struct qs_buf out;
    struct qs_median_row *fresh; /* owned */
    size_t fresh_count;
    json_t *doc; /* owned */
};

static bool read_all(struct qs_store_reader *r, void *user, struct qs_err *err)
{
    struct ask *a = user;
    struct qs_history_metrics metrics;
    struct qs_history_data data;
    const struct qs_series_filter filter = {.text = "BLUR image=4", .device = "bench", .arm = "tip"};
    static const struct qs_series_filter whole;
    assert_true(qs_read_series(r, &whole, 10, &a->list, err));
    assert_int_equal(a->list.count, 2);
    assert_string_equal(a->list.at[0].arm, "other");
    qs_series_list_free(&a->list);
    assert_true(qs_read_series(r, &(struct qs_series_filter){.text = "nothing"}, 10, &a->list, err));
    assert_int_equal(a->list.count, 0);
    qs_series_list_free(&a->list);
    assert_true(qs_read_series(r, &filter, 10, &a->list, err));
    assert_int_equal(a->list.count, 1);
    const struct qs_series_info *series = &a->list.at[0];
    assert_true(qs_read_series_metrics(r, series, &metrics, err));
    const struct qs_history_metric *metric = NULL;
    for (size_t i = 0; i < metrics.count; i++)
        metric = strcmp(metrics.at[i].name, a->metric) == 0 ? &metrics.at[i] : metric;
    assert_non_null(metric);
    assert_true(qs_read_history(r, series, metric, a->since_wall_ns, INT64_MAX, &data, err));
    struct qs_history_input in = {.series = series,
                                  .metric = metric,
                                  .metrics = &metrics,
                                  .data = &data,
                                  .build = a->build,
                                  .opts = qs_history_opts_default()};
    bool ok = qs_history_document(&in, &a->out, err);
    a->fresh = data.fresh;
    a->fresh_count = data.fresh_count;
    data.fresh = NULL;
    qs_history_data_free(&data);
    qs_history_metrics_free(&metrics);
    return ok;
}

/* Once more with the medians that were kept of the first time: byte by byte the same. */
static void ask_again(struct fixture *f, const struct ask *first)
{
    struct qs_err err = QS_ERR_INIT;
    struct ask again = {
        .metric = first->metric, .build = first->build, .since_wall_ns = first->since_wall_ns};
    qs_store_medians(f->store, first->fresh, first->fresh_count, on_fine, NULL);
    qs_loop_run(f->loop);
    qs_buf_init(&again.out);
    assert_true(qs_store_read_now(f->store, read_all, &again, &err));
    assert_int_equal(again.fresh_count, 0);
    assert_string_equal(again.out.data, first->out.data);
    free(again.fresh);
    qs_series_list_free(&again.list);
    qs_buf_done(&again.out);
}

static void ask(struct fixture *f, struct ask *a)
{
    struct qs_err err = QS_ERR_INIT;
    if (!a->metric)
        a->metric = "time";
    qs_buf_init(&a->out);
    if (!qs_store_read_now(f->store, read_all, a, &err))
        fail_msg("%s", err.text);
    ask_again(f, a);
    free(a->fresh);
    a->fresh = NULL;
    a->doc = json_loadb(a->out.data, a->out.len, 0, NULL);
    assert_non_null(a->doc);
}

static void ask_done(struct ask *a)
{
    qs_series_list_free(&a->list);
    qs_buf_done(&a->out);
    json_decref(a->doc);
}

static json_t *at(json_t *node, const char *list, size_t i)
{
    return json_array_get(json_object_get(node, list), i);
}

static long long whole(json_t *node, const char *key)
{
    return json_integer_value(json_object_get(node, key));
}

static const char *text(json_t *node, const char *key)
{
    const char *s = json_string_value(json_object_get(node, key));
    return s ? s : "(null)";
}

static double number(json_t *node, const char *key)
{
    return json_number_value(json_object_get(node, key));
}

/* Labels v0, v1, ...; contents that differ. */
static struct night night_of(int i, double level)
{
    static char labels[128][8], contents[128][65];
    snprintf(labels[i], sizeof labels[i], "v%d", i);
    snprintf(contents[i], sizeof contents[i], "%064d", i);
    return (struct night){.build = labels[i], .content = contents[i], .level = level};
}

static void a_step_is_found_and_named(void **state)
{
    struct fixture *f = *state;
    struct qs_rng rng;
    struct ask a = {0};
    qs_rng_seed(&rng, 41, 0);
    for (int i = 0; i < 40; i++) {
        struct night night = night_of(i, i < 25 ? 1e6 : 1.06e6);
        put_night(f, &night, i, &rng);
    }
    ask(f, &a);
    assert_int_equal(json_array_size(json_object_get(a.doc, "points")), 40);
    assert_int_equal(json_array_size(json_object_get(a.doc, "breaks")), 0);
    assert_int_equal(json_array_size(json_object_get(a.doc, "segments")), 1);
    json_t *changes = json_object_get(at(a.doc, "segments", 0), "changes"),
           *step = json_array_get(changes, 0);
    assert_int_equal(json_array_size(changes), 1);
    assert_string_equal(text(step, "kind"), "step");
    assert_int_equal(whole(step, "from"), 25);
    assert_string_equal(text(step, "build"), "v25");
    assert_string_equal(text(step, "build_before"), "v24");
    assert_string_equal(text(step, "direction"), "worse");
    assert_true(number(step, "lo") < 1.06 && number(step, "hi") > 1.06);
    double first = number(step, "median_before"), second = number(step, "median_after");
    assert_true(fabs(first - 1e6) < 2000 && fabs(second - 1.06e6) < 2000);
    json_t *segment = at(a.doc, "segments", 0);
    assert_int_equal(whole(json_object_get(segment, "smaller"), "steps"), 0);
    assert_int_equal(json_array_size(json_object_get(segment, "alone")), 0);
    json_t *point = at(a.doc, "points", 25);
    assert_string_equal(text(point, "build"), "v25");
    assert_string_equal(text(point, "interval"), "t-log");
    assert_int_equal(whole(point, "runs"), RUNS);
    assert_int_equal(whole(point, "iterations"), RUNS * ITERATIONS);
    assert_true(number(point, "lo") < number(point, "value") && number(point, "value") < number(point, "hi"));
    golden_document("history", a.doc);
    ask_done(&a);
}

static void a_break_is_no_step(void **state)
{
    struct fixture *f = *state;
    struct qs_rng rng;
    struct ask a = {0};
    qs_rng_seed(&rng, 42, 0);
    for (int i = 0; i < 40; i++) {
        struct night night = night_of(i, i < 20 ? 1e6 : 1.08e6);
        if (i >= 20)
            night.env_json = "{\"agent\":\"quiesce-agent "
                             "1\",\"cgroup\":\"0::/b\",\"governors\":\"schedutil\",\"kernel\":\"6.1\"}";
        put_night(f, &night, i, &rng);
    }
    ask(f, &a);
    assert_int_equal(json_array_size(json_object_get(a.doc, "breaks")), 1);
    json_t *one = at(a.doc, "breaks", 0);
    assert_int_equal(whole(one, "at"), 20);
    assert_int_equal(json_array_size(json_object_get(one, "differences")), 2);
    json_t *governors = at(one, "differences", 1);
    assert_string_equal(text(governors, "key"), "governors");
    assert_string_equal(text(governors, "base"), "performance");
    assert_string_equal(text(governors, "candidate"), "schedutil");
    assert_true(json_is_false(json_object_get(at(one, "differences", 0), "matters"))); /* the cgroup */
    assert_true(fabs(number(one, "ratio") - 1.08) < 0.01);
    for (size_t s = 0; s < 2; s++)
        assert_int_equal(json_array_size(json_object_get(at(a.doc, "segments", s), "changes")), 0);
    assert_int_equal(whole(at(a.doc, "segments", 1), "from"), 20);
    assert_int_equal(whole(at(a.doc, "segments", 1), "end"), 40);
    ask_done(&a);
}

static void a_drift_is_told_as_one(void **state)
{
    struct fixture *f = *state;
    struct qs_rng rng;
    struct ask a = {0};
    qs_rng_seed(&rng, 43, 0);
    for (int i = 0; i < 50; i++) {
        struct night night = night_of(i, 1e6 * (1 + 0.004 * i));
        put_night(f, &night, i, &rng);
    }
    ask(f, &a);
    json_t *changes = json_object_get(at(a.doc, "segments", 0), "changes");
    assert_int_equal(json_array_size(changes), 1);
    assert_string_equal(text(json_array_get(changes, 0), "kind"), "drift");
    assert_true(number(json_array_get(changes, 0), "ratio") > 1.15);
    assert_true(number(json_object_get(at(a.doc, "segments", 0), "trend"), "p") < 0.001);
    ask_done(&a);
}

static struct qs_env_diff difference(const struct night *x, const struct night *y, bool of_job)
{
    struct qs_history_run runs[2] = {
        {.exe_sha256 = (char *)(x->exe_sha256 ? x->exe_sha256 : ""), .exe_of_job = of_job},
        {.exe_sha256 = (char *)(y->exe_sha256 ? y->exe_sha256 : ""), .exe_of_job = of_job}};
    struct qs_history_session s[2] = {0};
    struct qs_history_night nights[2] = {{.session = &s[0]}, {.session = &s[1]}};
    struct qs_env_diff d;
    struct qs_err err;
    for (int i = 0; i < 2; i++) {
        const struct night *night = i ? y : x;
        s[i].spec_json = (char *)or_usual(night->spec_json, usual_spec);
        s[i].env_json = (char *)or_usual(night->env_json, usual_env);
        s[i].conditions_json = (char *)"{}";
        s[i].argv_json = (char *)or_usual(night->argv_json, "[\"./blur\"]");
        s[i].build_label = (char *)night->build;
        s[i].runs = &runs[i];
        s[i].run_count = 1;
    }
    assert_true(qs_history_diff(&nights[0], &nights[1], NULL, &d, &err));
    qs_history_night_done(&nights[0]);
    qs_history_night_done(&nights[1]);
    return d;
}

static void check_breaks(const struct night *x, const struct night *y, bool of_job, const char *key)
{
    struct qs_env_diff d = difference(x, y, of_job);
    assert_int_equal(qs_env_diff_matters(&d), key != NULL);
    if (key)
        assert_string_equal(d.at[0].key, key);
    qs_env_diff_free(&d);
}

/* Another build is what a history is about; another interpreter, command or gate is not. */
static void what_breaks_a_series(void **state)
{
    (void)state;
    char one[65], other[65];
    snprintf(one, sizeof one, "%064d", 1);
    snprintf(other, sizeof other, "%064d", 2);
    struct night v1 = {.build = "v1", .exe_sha256 = one}, v2 = {.build = "v2", .exe_sha256 = other};
    check_breaks(&v1, &v1, false, NULL);
    check_breaks(&v1, &v2, true, NULL);
    check_breaks(&v1, &v2, false, "executable");
    struct night bare = {.exe_sha256 = one}, rebuilt = {.exe_sha256 = other};
    check_breaks(&bare, &rebuilt, false, NULL);
    struct night longer = {.exe_sha256 = one, .argv_json = "[\"./blur\",\"-n\"]"};
    check_breaks(&bare, &longer, false, "command");
    struct night newer = {.exe_sha256 = one,
                          .env_json =
                              "{\"agent\":\"quiesce-agent "
                              "2\",\"cgroup\":\"0::/a\",\"governors\":\"performance\",\"kernel\":\"6.1\"}"};
    check_breaks(&bare, &newer, false, "agent");
}

static void tainted_runs_count_where_there_are_no_others(void **state)
{
    (void)state;
    struct qs_history_run runs[6] = {{.median = 102, .n = 3},
                                     {.median = 51, .n = 3},
                                     {.median = 900, .n = 3, .disturbed = true},
                                     {.median = 102, .n = 3},
                                     {.n = 0}};
    struct qs_history_session s = {.runs = runs, .run_count = 5};
    struct qs_history_value v = qs_history_value_of(&s, 0.95);
    assert_true(v.value > 101.9 && v.value < 102.1); /* of 102, 51 and 102 */
    assert_false(v.uses_tainted);
    assert_int_equal(v.runs, 3);
    assert_int_equal(v.tainted_runs, 1);
    s.run_count = 3;
    v = qs_history_value_of(&s, 0.95);
    assert_true(v.uses_tainted);
    assert_int_equal(v.runs, 3);
    s.runs = &runs[4];
    s.run_count = 1;
    v = qs_history_value_of(&s, 0.95);
    assert_true(isnan(v.value) && isnan(v.lo) && v.runs == 0);
    s.runs = &runs[0];
    v = qs_history_value_of(&s, 0.95);
    assert_true(v.value > 0 && isnan(v.lo));
}

static void metrics_builds_and_times_are_chosen(void **state)
{
    struct fixture *f = *state;
    struct qs_rng rng;
    struct ask energy = {.metric = "energy_uj"}, v3 = {.build = "v3"},
               late = {.since_wall_ns = INT64_C(1790000000000000000) + 6 * day_ns};
    qs_rng_seed(&rng, 44, 0);
    for (int i = 0; i < 8; i++) {
        struct night night = night_of(i, 1e6);
        put_night(f, &night, i, &rng);
    }
    ask(f, &energy);
    assert_string_equal(text(energy.doc, "unit"), text(energy.doc, "unit"));
    assert_int_equal(whole(at(energy.doc, "points", 0), "iterations"), RUNS * 3); /* two of five have none */
    assert_true(number(at(energy.doc, "points", 0), "value") < -1.9);
    assert_true(json_is_null(json_object_get(at(energy.doc, "points", 0), "lo"))); /* no logarithms */
    ask(f, &v3);
    assert_int_equal(json_array_size(json_object_get(v3.doc, "points")), 1);
    assert_int_equal(whole(v3.doc, "sessions_left_out"), 7);
    ask(f, &late);
    assert_int_equal(json_array_size(json_object_get(late.doc, "points")), 2);
    ask_done(&energy);
    ask_done(&v3);
    ask_done(&late);
}

/* A session of interrupted runs and an aborted block count for nothing. */
static void only_the_last_attempt_counts(void **state)
{
    struct fixture *f = *state;
    struct qs_rng rng;
    struct ask a = {0};
    qs_rng_seed(&rng, 45, 0);
    struct night night = night_of(0, 1e6);
    put_night(f, &night, 0, &rng);
    struct qs_iteration_row rows[ITERATIONS];
    struct qs_run_row again = {
        .uid = {8}, .session_uid = {9, 0, 0}, .job = f->job + 1, .block = 1, .attempt = 1};
    struct qs_window_row w = make_window(8, 0, 0, ITERATIONS, rows);
    for (size_t i = 0; i < ITERATIONS; i++)
        rows[i].duration_ns = 5000000;
    qs_store_run_begin(f->store, &again, on_fine, NULL);
    qs_store_window(f->store, &w, on_fine, NULL);
    struct qs_run_end_row end = {.uid = {8}, .state = QS_RUN_DONE, .ended_wall_ns = 1};
    qs_store_run_end(f->store, &end, on_fine, NULL);
    qs_loop_run(f->loop);
    ask(f, &a);
    json_t *point = at(a.doc, "points", 0);
    assert_int_equal(whole(point, "runs"), RUNS);
    assert_true(number(point, "hi") > 2e6); /* the repeated block is in, its first attempt is not */
    assert_true(number(point, "value") < 1.1e6);
    ask_done(&a);
}

static void the_same_series_has_one_id(void **state)
{
    (void)state;
    char empty[] = "{}", size[] = "{\"size\":4}", a[] = "a", ab[] = "ab", device[] = "d";
    struct qs_series_info s = {
        .benchmark = a, .params_json = empty, .controls_json = empty, .device = device, .arm = a};
    char **const parts[] = {&s.benchmark, &s.params_json, &s.controls_json, &s.device, &s.arm};
    char one[65], same[65], other[65];
    qs_history_id(&s, one);
    s.point = 77;
    qs_history_id(&s, same);
    assert_string_equal(one, same);
    assert_int_equal(strlen(one), 64);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        char *before = *parts[i];
        *parts[i] = before == empty ? size : ab;
        qs_history_id(&s, other);
        assert_string_not_equal(one, other);
        *parts[i] = before;
    }
    /* What belongs to one part does not pass for the beginning of the next. */
    s.params_json = size;
    qs_history_id(&s, one);
    s.params_json = empty;
    s.controls_json = size;
    qs_history_id(&s, other);
    assert_string_not_equal(one, other);
}

int main(int argc, char **argv)
{
    setenv("TZ", "UTC0", 1); /* nights are named where this runs */
#define ON_STORE(test) cmocka_unit_test_setup_teardown(test, fixture_setup, fixture_teardown)
    const struct CMUnitTest tests[] = {
        ON_STORE(a_step_is_found_and_named),
        ON_STORE(a_break_is_no_step),
        ON_STORE(a_drift_is_told_as_one),
        cmocka_unit_test(what_breaks_a_series),
        cmocka_unit_test(tainted_runs_count_where_there_are_no_others),
        ON_STORE(metrics_builds_and_times_are_chosen),
        ON_STORE(only_the_last_attempt_counts),
        cmocka_unit_test(the_same_series_has_one_id),
    };
    golden_dir = argc > 1 ? argv[1] : golden_dir;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
