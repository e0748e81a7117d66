#include "fixture.h"
#include "report/shown.h"
#include "store/read/read.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "store/read/windows.h"

static struct qs_measured_runs measured;

static bool read_runs(struct qs_store_reader *r, void *user, struct qs_err *err)
{
    return qs_read_measured_runs(r, *(int64_t *)user, &measured, err);
}

static void after_fine(const struct qs_err *err, void *user)
{
    (void)user;
    if (err)
        fail_msg("%s", err->text);
}

static void put(struct fixture *f, uint8_t run, uint32_t ord, uint64_t first, enum qs_phase phase,
                uint32_t taint, uint32_t third_taint)
{
    struct qs_iteration_row rows[4];
    struct qs_window_row w = make_window(run, ord, first, 4, rows);
    w.phase = phase;
    w.taint = taint;
    rows[2].taint = third_taint;
    assert_int_equal(put_window(f, &w), QS_E_NONE);
}

static void end(struct fixture *f, uint8_t run, enum qs_run_state state, uint32_t warmup_n)
{
    const struct qs_run_end_row row = {
        .uid = {run}, .state = state, .warmup_n = warmup_n, .ended_wall_ns = 5};
    qs_store_run_end(f->store, &row, on_fine, NULL);
    qs_loop_run(f->loop);
}

/* Begun in another order than they are read; the pilot (block 0) stays out. */
static void runs_are_ordered_and_clean(void **state)
{
    struct fixture *f = *state;
    run_begin(f, 7, 1, 3, 1);
    run_begin(f, 6, 0, 3, 0);
    run_begin(f, 5, 0, 2, 1);
    run_begin(f, 1, 0, 0, 0);
    run_begin(f, 4, 1, 2, 0);
    run_begin(f, 3, 1, 1, 1);
    run_begin(f, 2, 0, 1, 0);
    put(f, 2, 0, 0, QS_PHASE_WARMUP, 0, 0);
    put(f, 2, 1, 4, QS_PHASE_MEASURE, 0, QS_TAINT_EXIT);
    put(f, 2, 2, 8, QS_PHASE_MEASURE, QS_TAINT_EVIDENCE, QS_TAINT_TIMEOUT);
    put(f, 3, 0, 0, QS_PHASE_MEASURE, 0, 0);
    put(f, 5, 0, 0, QS_PHASE_MEASURE, QS_TAINT_GATE, QS_TAINT_EXIT);
    put(f, 4, 0, 0, QS_PHASE_MEASURE, QS_TAINT_GATE, 0);
    put(f, 4, 1, 4, QS_PHASE_MEASURE, 0, QS_TAINT_EXIT);
    put(f, 4, 2, 8, QS_PHASE_MEASURE, QS_TAINT_GATE, 0);
    put(f, 6, 0, 0, QS_PHASE_MEASURE, 0, QS_TAINT_EXIT);
    put(f, 7, 0, 0, QS_PHASE_MEASURE, 0, QS_TAINT_EXIT);
    for (uint8_t run = 2; run <= 6; run++)
        end(f, run, run == 6 ? QS_RUN_FAILED : QS_RUN_DONE, run == 3 ? 3 : 0);
    qs_store_read(f->store, read_runs, after_fine, &f->job);
    qs_loop_run(f->loop);
    assert_int_equal(measured.count, 6);
    for (uint8_t i = 0; i < 6; i++)
        assert_int_equal(measured.at[i].run_uid[0], i + 2);
    const struct qs_measured_run *s = &measured.at[0];
    assert_int_equal(s->values.n, 3);
    assert_int_equal(s->values.at[0], 1000000 + 2000 + 4);
    assert_int_equal(s->values.at[2], 1000000 + 2000 + 7);
    assert_int_equal(s->values.tainted, 5);
    assert_int_equal(s->window_n, 4);
    assert_false(s->values.disturbed);
    assert_int_equal(s->values.taints, QS_TAINT_EXIT | QS_TAINT_EVIDENCE | QS_TAINT_TIMEOUT);
    assert_int_equal(s->opened_ns, 1004);
    assert_string_equal(s->device, "bench");
    assert_true(fabs(s->user_us_mean - (10 + (4 + 5 + 7) / 3.0)) < 1e-9);
    assert_true(s->rss_max_bytes == 4096 * 8);
    assert_true(isnan(s->system_us_mean));
    assert_int_equal(measured.at[1].values.n, 1); /* the first three are warm-up */
    assert_int_equal(measured.at[1].values.at[0], 1000000 + 3000 + 3);
    assert_true(measured.at[1].user_us_mean == 10 + 3 && measured.at[1].values.warm == 3 &&
                measured.at[1].values.seen == 1);
    s = &measured.at[2]; /* disturbed ones before and behind those that count are none of its own */
    assert_true(s->values.n == 3 && !s->values.disturbed && s->values.tainted == 9);
    assert_int_equal(s->values.at[0], 1000000 + 4000 + 4);
    assert_int_equal(s->values.at[2], 1000000 + 4000 + 7);
    assert_true(fabs(s->user_us_mean - (10 + (4 + 5 + 7) / 3.0)) < 1e-9);
    s = &measured.at[3]; /* it stands on disturbed ones, in all that is told of it */
    assert_true(s->values.n == 3 && s->values.disturbed);
    assert_true(fabs(s->user_us_mean - (10 + (0 + 1 + 3) / 3.0)) < 1e-9);
    for (int i = 4; i < 6; i++) { /* one failed, one is under way: no value, but what was seen of them */
        s = &measured.at[i];
        assert_true(s->values.n == 0 && !s->values.at && s->values.tainted == 1 && s->values.seen == 4);
        assert_int_equal(s->values.taints, QS_TAINT_EXIT);
    }
    qs_measured_runs_free(&measured);
}

static bool read_pages(struct qs_store_reader *r, void *user, struct qs_err *err)
{
    (void)user;
    uint8_t uid[16] = {1};
    for (uint64_t from = 0; from < 12; from += 5) {
        struct qs_iterations it;
        if (!qs_read_iterations(r, uid, from, 5, &it, err))
            return false;
        assert_int_equal(it.count, from < 10 ? 5 : 2);
        assert_int_equal(it.metric_count, 10);
        assert_string_equal(it.metrics[0], "user_time_us");
        assert_string_equal(it.metrics[9], "energy_uj");
        for (size_t i = 0; i < it.count; i++) {
            int64_t seq = (int64_t)(from + i);
            assert_int_equal(it.at[i].seq, seq);
            assert_int_equal(it.at[i].window, seq / 4);
            assert_int_equal(it.at[i].duration_ns, 1001000 + seq);
            assert_int_equal(it.at[i].values[0], 10 + seq);
            assert_true(it.at[i].values[1] == INT64_MIN);
            assert_true(it.at[i].values[9] == (seq % 2 ? INT64_MIN : -seq));
        }
        qs_iterations_free(&it);
    }
    return true;
}

static void iterations_come_in_pages(void **state)
{
    struct fixture *f = *state;
    struct qs_err err = QS_ERR_INIT;
    run_begin(f, 1, 0, 1, 0);
    for (uint32_t w = 0; w < 3; w++)
        put(f, 1, w, 4 * w, QS_PHASE_MEASURE, 0, 0);
    if (!qs_store_read_now(f->store, read_pages, NULL, &err))
        fail_msg("%s", err.text);
}

static bool read_marked(struct qs_store_reader *r, void *user, struct qs_err *err)
{
    struct qs_iterations it;
    uint8_t uid[16] = {1};
    if (!qs_read_iterations(r, uid, 0, 1, &it, err))
        return false;
    *(int64_t *)user = it.at[0].duration_ns;
    qs_iterations_free(&it);
    return true;
}

static void a_marked_duration_is_the_same_integer(void **state)
{
    struct fixture *f = *state;
    struct qs_iteration_row row[1];
    struct qs_err err = QS_ERR_INIT;
    int64_t got = 0;
    run_begin(f, 1, 0, 1, 0);
    struct qs_window_row w = make_window(1, 0, 0, 1, row);
    row[0].duration_ns = 123456789;
    assert_int_equal(put_window(f, &w), QS_E_NONE);
    assert_true(qs_store_read_now(f->store, read_marked, &got, &err));
    assert_int_equal(got, 123456789);
}

static struct qs_windows windows;

static bool read_windows(struct qs_store_reader *r, void *user, struct qs_err *err)
{
    const uint8_t uid[16] = {3};
    return user ? qs_read_job_windows(r, *(int64_t *)user, &windows, err)
                : qs_read_run_windows(r, uid, &windows, err);
}

static const struct qs_window_value *value_of(const struct qs_window_info *w, const char *kind)
{
    for (size_t i = 0; i < w->value_count; i++)
        if (strcmp(windows.kinds[w->values[i].kind], kind) == 0)
            return &w->values[i];
    return NULL;
}

/* Of counted runs, measured ones only, with what was read around them. */
static void windows_come_with_what_was_read(void **state)
{
    struct fixture *f = *state;
    struct qs_err err = QS_ERR_INIT;
    struct qs_iteration_row rows[4];
    const struct qs_evidence_row evidence[] = {
        {.kind = "thermal:soc", .present = true, .before = 40000, .after = 41000},
        {.kind = "freq:policy0_khz"},
        {.kind = "metric:power_mW", .present = true, .before = INT64_MIN, .after = 1234}};
    const struct qs_gate_row gate = {.began_ns = 5, .decided_ns = 12, .outcome = "open"};
    run_begin(f, 1, 0, 0, 0);
    run_begin(f, 3, 0, 1, 0);
    put(f, 1, 0, 0, QS_PHASE_MEASURE, 0, 0);
    put(f, 3, 0, 0, QS_PHASE_WARMUP, 0, 0);
    struct qs_window_row w = make_window(3, 1, 4, 4, rows);
    w.taint = QS_TAINT_GATE;
    rows[2].taint = QS_TAINT_EXIT;
    w.evidence = evidence;
    w.evidence_count = 3;
    w.gate = &gate;
    assert_int_equal(put_window(f, &w), QS_E_NONE);
    run_begin(f, 4, 0, 2, 0);
    put(f, 4, 0, 0, QS_PHASE_MEASURE, 0, 0);
    const struct qs_run_end_row warm = {.uid = {4}, .state = QS_RUN_DONE, .warmup_n = 2};
    qs_store_run_end(f->store, &warm, on_fine, NULL);
    qs_loop_run(f->loop);
    assert_true(qs_store_read_now(f->store, read_windows, &f->job, &err));
    assert_int_equal(windows.count, 2);
    const struct qs_window_info *got = &windows.at[0];
    assert_int_equal(got->run_uid[0], 3);
    assert_int_equal(got->ord, 1);
    assert_int_equal(got->n, 4);
    assert_int_equal(got->durations_ns[3], 1000000 + 3000 + 7);
    assert_int_equal(got->worth[0], QS_WORTH_DISTURBED);
    assert_int_equal(got->worth[2], QS_WORTH_LOST);
    assert_true(value_of(got, "thermal:soc")->before == 40000 &&
                value_of(got, "thermal:soc")->after == 41000);
    assert_true(isnan(value_of(got, "metric:power_mW")->before));
    assert_true(value_of(got, "metric:power_mW")->after == 1234);
    assert_null(value_of(got, "freq:policy0_khz"));
    assert_true(value_of(got, "gate.wait_ns")->after == 7);
    assert_true(value_of(got, "iteration.max_rss_bytes")->after == 4096 * (5 + 6 + 8) / 3.0); /* 7 is lost */
    assert_true(value_of(&windows.at[1], "iteration.max_rss_bytes")->after == 4096 * (3 + 4) / 2.0);
    assert_true(value_of(got, "iteration.energy_uj")->after == -4); /* of -4 and -6 */
    assert_null(value_of(got, "iteration.user_time_us"));           /* a part of what is measured */
    qs_windows_free(&windows);
    assert_true(qs_store_read_now(f->store, read_windows, NULL, &err));
    assert_int_equal(windows.count, 1);
    qs_windows_free(&windows);
}

static bool read_lists(struct qs_store_reader *r, void *user, struct qs_err *err)
{
    struct fixture *f = user;
    struct qs_jobs jobs;
    struct qs_live_jobs live;
    assert_true(qs_read_live_jobs(r, &live, err));
    assert_int_equal(live.count, 1);
    assert_int_equal(live.at[0].id, f->job);
    qs_live_jobs_free(&live);
    assert_true(qs_read_jobs(r, 0, 10, &jobs, err));
    assert_int_equal(jobs.count, 1);
    assert_null(jobs.at[0].spec_json);
    assert_int_equal(jobs.at[0].runs, 2);
    assert_int_equal(jobs.at[0].iterations, 4);
    qs_jobs_free(&jobs);
    assert_true(qs_read_job(r, f->job, &jobs, err));
    assert_string_equal(jobs.at[0].spec_json, "{\"x\":1}");
    assert_true(jobs.at[0].seed == 0xfedcba9876543210);
    qs_jobs_free(&jobs);
    assert_false(qs_read_job(r, f->job + 1, &jobs, err));
    assert_int_equal(err->code, QS_E_NOT_FOUND);
    struct qs_runs runs;
    assert_true(qs_read_runs(r, f->job, 0, 100, &runs, err));
    assert_int_equal(runs.count, 2);
    assert_int_equal(runs.at[0].acked_seq, 3);
    assert_int_equal(runs.at[0].n_tainted, 1);
    assert_int_equal(runs.at[0].warmup_n, 1); /* the later end, which knows of none, leaves it */
    assert_int_equal(runs.at[0].state, QS_RUN_INTERRUPTED);
    assert_string_equal(runs.at[0].env_json, "{\"kernel\":\"6.1\"}");
    assert_string_equal(runs.at[0].error_slug, "agent");
    assert_string_equal(runs.at[0].exe_path, "/bin/gzip");
    assert_string_equal(runs.at[0].exe_sha256, "");
    qs_runs_free(&runs);
    return true;
}

static void jobs_and_runs_are_listed(void **state)
{
    struct fixture *f = *state;
    struct qs_err err = QS_ERR_INIT;
    run_begin(f, 1, 0, 1, 0);
    run_begin(f, 2, 1, 1, 1);
    put(f, 1, 0, 0, QS_PHASE_MEASURE, 0, QS_TAINT_EXIT);
    struct qs_run_end_row end = {.uid = {1},
                                 .state = QS_RUN_DONE,
                                 .stop_reason = "fixed",
                                 .warmup_n = 1,
                                 .exe_path = "/bin/gzip",
                                 .ended_wall_ns = 5};
    qs_store_run_end(f->store, &end, on_fine, NULL);
    end = (struct qs_run_end_row){.uid = {1},
                                  .state = QS_RUN_INTERRUPTED,
                                  .taint = QS_TAINT_INTERRUPTED,
                                  .error_slug = "agent",
                                  .error_text = "gone",
                                  .ended_wall_ns = 6};
    qs_store_run_end(f->store, &end, on_fine, NULL);
    qs_loop_run(f->loop);
    assert_true(qs_store_read_now(f->store, read_lists, f, &err));
}

static bool read_json(struct qs_store_reader *r, void *user, struct qs_err *err)
{
    char *json = NULL;
    uint8_t uid[16] = {1};
    assert_true(qs_shown_windows(r, uid, &json, err));
    assert_string_equal(
        json,
        "[{\"window\":0,\"attempt\":0,\"phase\":\"measure\",\"first_seq\":0,\"n\":2,\"opened_ns\":1000,"
        "\"closed_ns\":900000,\"evals\":1,\"silence\":\"claimed\",\"taint\":3,\"taint_names\":\"gate,"
        "evidence\","
        "\"how\":\"done\",\"failure\":null,\"output\":\"hello\",\"output_bytes\":7,\"gate\":{\"outcome\":"
        "\"tainted\","
        "\"waited_ns\":40,\"polls\":9,\"busiest\":\"cc1\",\"deciding\":[{\"sensor\":\"cpu.busy_ratio_ppm\","
        "\"status\":\"ok\",\"value\":-5,\"age_ns\":3}]},\"evidence\":[{\"kind\":\"missing\",\"before\":null,"
        "\"after\":null},{\"kind\":\"steal\",\"before\":1,\"after\":4}],\"taints\":[{\"i\":null,\"code\":"
        "\"busy\","
        "\"value\":7,\"bound\":6},{\"i\":1,\"code\":\"exit\",\"value\":1,\"bound\":0}]}]");
    free(json);
    assert_true(qs_shown_taints(r, *(int64_t *)user, &json, err));
    assert_string_equal(json, "[{\"arm\":\"a\",\"code\":\"busy\",\"windows\":1,\"iterations\":0,\"example\":"
                              "\"block 1, window 0: 7 (bound 6)\",\"busiest\":null},"
                              "{\"arm\":\"a\",\"code\":\"exit\",\"windows\":1,\"iterations\":1,\"example\":"
                              "\"block 1, window 0: 1 (bound 0)\",\"busiest\":null}]");
    free(json);
    return true;
}

static bool read_waits(struct qs_store_reader *r, void *user, struct qs_err *err)
{
    struct qs_measured_runs got;
    if (!qs_read_measured_runs(r, *(int64_t *)user, &got, err))
        return false;
    assert_int_equal(got.count, 2);
    assert_int_equal(got.at[0].waited_ns, 40 + 500 + 3);
    assert_string_equal(got.at[0].busiest, "ld");
    assert_int_equal(got.at[1].waited_ns, 0);
    assert_null(got.at[1].busiest);
    qs_measured_runs_free(&got);
    return true;
}

/* All windows of a run, and who was named at the longest wait; never those of another run. */
static void waits_are_summed_by_run(void **state)
{
    struct fixture *f = *state;
    struct qs_err err = QS_ERR_INIT;
    struct qs_iteration_row rows[2];
    static const struct qs_gate_row gates[] = {
        {.began_ns = 10, .decided_ns = 50, .outcome = "tainted", .busiest = "cc1[12] 40%"},
        {.began_ns = 100, .decided_ns = 600, .outcome = "open", .busiest = "ld[7]"},
        {.began_ns = 1000, .decided_ns = 1003, .outcome = "open"}};
    run_begin(f, 1, 0, 1, 0);
    run_begin(f, 2, 1, 1, 1);
    for (uint32_t i = 0; i < 3; i++) {
        struct qs_window_row w = make_window(1, i, 2 * i, 2, rows);
        w.gate = &gates[i];
        assert_int_equal(put_window(f, &w), QS_E_NONE);
    }
    if (!qs_store_read_now(f->store, read_waits, &f->job, &err))
        fail_msg("%s", err.text);
}

static void windows_tell_everything(void **state)
{
    struct fixture *f = *state;
    struct qs_err err = QS_ERR_INIT;
    struct qs_iteration_row rows[2];
    struct qs_reading_row reading = {.sensor = "cpu.busy_ratio_ppm", .value = -5, .age_ns = 3};
    struct qs_gate_row gate = {.began_ns = 10,
                               .decided_ns = 50,
                               .outcome = "tainted",
                               .polls = 9,
                               .deciding = &reading,
                               .deciding_count = 1,
                               .busiest = "cc1"};
    struct qs_evidence_row evidence[] = {{.kind = "steal", .present = true, .before = 1, .after = 4},
                                         {.kind = "missing"},
                                         {.kind = "steal", .present = true, .before = 8, .after = 9}};
    struct qs_taint_row taints[] = {{.i = -1, .code = "busy", .value = 7, .bound = 6},
                                    {.i = 1, .code = "exit", .value = 1}};
    run_begin(f, 1, 0, 1, 0);
    struct qs_window_row w = make_window(1, 0, 0, 2, rows);
    w.taint = QS_TAINT_GATE | QS_TAINT_EVIDENCE;
    w.output = "hello";
    w.output_bytes = 7;
    w.gate = &gate;
    w.evidence = evidence;
    w.evidence_count = 3;
    w.taints = taints;
    w.taint_count = 2;
    assert_int_equal(put_window(f, &w), QS_E_NONE);
    assert_true(qs_store_read_now(f->store, read_json, &f->job, &err));
}

static bool refuse(struct qs_store_reader *r, void *user, struct qs_err *err)
{
    (void)r;
    (void)user;
    return qs_fail(err, QS_E_NOT_FOUND, "nothing here");
}

static void on_refused(const struct qs_err *err, void *user)
{
    assert_string_equal(err->text, "nothing here");
    ++*(int *)user;
}

static void an_error_comes_through(void **state)
{
    struct fixture *f = *state;
    int calls = 0;
    qs_store_read(f->store, refuse, on_refused, &calls);
    fixture_close(f);
    assert_int_equal(calls, 1); /* before close returned, and once */
}

/* One after the other, of which two clean ones are warm-up. */
static void worth_goes_by_taints_and_warm_up(void **state)
{
    static const struct {
        uint32_t taint;
        size_t clean;
        enum qs_worth worth;
    } next[] = {{0, 1, QS_WORTH_WARMUP},
                {QS_TAINT_GATE, 0, QS_WORTH_DISTURBED},
                {QS_TAINT_EXIT, 0, QS_WORTH_LOST},
                {0, 0, QS_WORTH_LOST}, /* a window of which nothing is clean */
                {0, 1, QS_WORTH_WARMUP},
                {QS_TAINT_GATE | QS_TAINT_EVIDENCE | QS_TAINT_LINK, 0, QS_WORTH_DISTURBED},
                {QS_TAINT_LINK | QS_TAINT_CLOCK, 0, QS_WORTH_LOST},
                {0, 1, QS_WORTH_COUNTS}};
    size_t left = 2;
    (void)state;
    for (size_t i = 0; i < sizeof next / sizeof *next; i++)
        assert_int_equal(qs_worth_next(next[i].taint, next[i].clean, &left), next[i].worth);
    left = 3; /* a window is warm-up where all of it is */
    assert_int_equal(qs_worth_next(0, 4, &left), QS_WORTH_COUNTS);
    assert_int_equal(qs_worth_next(0, 1, &left), QS_WORTH_COUNTS);
}

/* Of the windows that are not clean, those that no repeat follows: by run, whatever the next window is. */
static bool read_left(struct qs_store_reader *r, void *user, struct qs_err *err)
{
    struct qs_measured_runs runs;
    assert_true(qs_read_measured_runs(r, *(int64_t *)user, &runs, err));
    assert_int_equal(runs.count, 1);
    assert_int_equal(runs.at[0].windows[QS_SILENCE_CLAIMED], 6);
    assert_int_equal(runs.at[0].windows_tainted, 5);
    assert_int_equal(runs.at[0].windows_left, 3);
    qs_measured_runs_free(&runs);
    return true;
}

static void windows_without_a_clean_repeat_are_counted(void **state)
{
    /* The first two are repeated. The third is not, nor the fifth, behind which one is missing, nor the last.
     */
    static const struct {
        uint32_t ord, attempt, taint;
    } made[] = {{0, 0, QS_TAINT_GATE}, {1, 1, QS_TAINT_GATE},    {2, 2, QS_TAINT_GATE}, {3, 0, 0},
                {4, 0, QS_TAINT_GATE}, {6, 1, QS_TAINT_EVIDENCE}};
    struct fixture *f = *state;
    struct qs_err err = QS_ERR_INIT;
    struct qs_iteration_row rows[2];
    run_begin(f, 1, 0, 1, 0);
    for (size_t i = 0; i < sizeof made / sizeof *made; i++) {
        struct qs_window_row w = make_window(1, made[i].ord, 2 * i, 2, rows);
        w.attempt = made[i].attempt;
        w.taint = made[i].taint;
        assert_int_equal(put_window(f, &w), QS_E_NONE);
    }
    if (!qs_store_read_now(f->store, read_left, &f->job, &err))
        fail_msg("%s", err.text);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(runs_are_ordered_and_clean),
        TEST(iterations_come_in_pages),
        TEST(a_marked_duration_is_the_same_integer),
        TEST(jobs_and_runs_are_listed),
        TEST(waits_are_summed_by_run),
        TEST(windows_tell_everything),
        TEST(an_error_comes_through),
        TEST(windows_come_with_what_was_read),
        TEST(windows_without_a_clean_repeat_are_counted),
        cmocka_unit_test(worth_goes_by_taints_and_warm_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
