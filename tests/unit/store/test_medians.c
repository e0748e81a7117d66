/* Kept medians: what is kept is what the iterations say, and whatever changes those takes it away. */
#include "fixture.h"

#include <math.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

#include "store/read/history.h"

enum { RUN = 1, N = 5 };

static void put(struct fixture *f, uint32_t ord, uint32_t taint)
{
    struct qs_iteration_row rows[N];
    struct qs_window_row w = make_window(RUN, ord, ord * N, N, rows);
    w.taint = taint;
    w.evals = 2;
    assert_int_equal(put_window(f, &w), QS_E_NONE);
}

static void end_run(struct fixture *f, uint32_t warmup_n)
{
    struct qs_run_end_row end = {
        .uid = {RUN}, .state = QS_RUN_DONE, .warmup_n = warmup_n, .ended_wall_ns = 40};
    qs_store_run_end(f->store, &end, on_fine, NULL);
    qs_loop_run(f->loop);
}

/* One ended job with one run of two windows: durations 1 001 000 to 1 001 009 ns of two evaluations each. */
static int setup(void **state)
{
    fixture_setup(state);
    struct fixture *f = *state;
    run_begin(f, RUN, 0, 1, 0);
    put(f, 0, 0);
    put(f, 1, 0);
    end_run(f, 0);
    qs_store_job_state(f->store, f->job, QS_JOB_DONE, NULL, 50, on_fine, NULL);
    qs_loop_run(f->loop);
    return 0;
}

struct asked {
    const char *metric;
    double median;
    size_t n;
    bool disturbed;
    struct qs_median_row fresh;
    size_t fresh_count;
};

static bool read_one(struct qs_store_reader *r, void *user, struct qs_err *err)
{
    static const struct qs_series_filter all;
    struct asked *a = user;
    struct qs_series_list list;
    struct qs_history_metrics metrics;
    struct qs_history_data data;
    assert_true(qs_read_series(r, &all, 10, &list, err));
    assert_int_equal(list.count, 1);
    assert_true(qs_read_series_metrics(r, &list.at[0], &metrics, err));
    size_t m = 0;
    while (m < metrics.count && strcmp(metrics.at[m].name, a->metric) != 0)
        m++;
    assert_in_range(m, 0, metrics.count - 1);
    assert_true(qs_read_history(r, &list.at[0], &metrics.at[m], 0, INT64_MAX, &data, err));
    assert_int_equal(data.count, 1);
    assert_int_equal(data.at[0].run_count, 1);
    a->median = data.at[0].runs[0].median;
    a->n = data.at[0].runs[0].n;
    a->disturbed = data.at[0].runs[0].disturbed;
    a->fresh_count = data.fresh_count;
    if (data.fresh_count > 0)
        a->fresh = data.fresh[0];
    qs_history_data_free(&data);
    qs_history_metrics_free(&metrics);
    qs_series_list_free(&list);
    return true;
}

static struct asked ask(struct fixture *f, const char *metric)
{
    struct qs_err err = QS_ERR_INIT;
    struct asked a = {.metric = metric};
    if (!qs_store_read_now(f->store, read_one, &a, &err))
        fail_msg("%s", err.text);
    return a;
}

static void keep(struct fixture *f, const struct qs_median_row *row)
{
    qs_store_medians(f->store, row, 1, on_fine, NULL);
    qs_loop_run(f->loop);
}

/* Computed now, and not again once it is kept. */
static void computed_once(struct fixture *f, const char *metric, double median, size_t n, bool disturbed)
{
    for (int i = 0; i < 2; i++) {
        struct asked a = ask(f, metric);
        assert_int_equal(a.fresh_count, i == 0);
        assert_true(isnan(median) ? isnan(a.median) : a.median == median);
        assert_int_equal(a.n, n);
        assert_int_equal(a.disturbed, disturbed);
        if (i == 0)
            keep(f, &a.fresh);
    }
}

static void change(struct fixture *f, const char *sql)
{
    sqlite3 *db = NULL;
    char *said = NULL;
    assert_int_equal(sqlite3_open(f->path, &db), SQLITE_OK);
    if (sqlite3_exec(db, sql, NULL, NULL, &said) != SQLITE_OK)
        fail_msg("%s: %s", sql, said);
    assert_int_equal(sqlite3_changes(db) > 0, 1);
    sqlite3_close(db);
}

static void what_is_kept_is_not_computed_again(void **state)
{
    struct fixture *f = *state;
    computed_once(f, "time", 1001004.5 / 2, 2 * N, false);
    computed_once(f, "user_time_us", 14.5, 2 * N, false);
    computed_once(f, "energy_uj", -4, N, false);
}

static void another_window_another_median(void **state)
{
    struct fixture *f = *state;
    computed_once(f, "time", 1001004.5 / 2, 2 * N, false);
    put(f, 2, 0);
    computed_once(f, "time", 1001007.0 / 2, 3 * N, false);
}

static void another_warm_up_another_median(void **state)
{
    struct fixture *f = *state;
    computed_once(f, "time", 1001004.5 / 2, 2 * N, false);
    end_run(f, 0); /* the same once more changes nothing */
    assert_int_equal(ask(f, "time").fresh_count, 0);
    end_run(f, 4);
    computed_once(f, "time", 1001006.5 / 2, 2 * N - 4, false);
}

/* Nobody should write there, but who does meets no number of before. */
static void changes_by_hand_are_seen(void **state)
{
    static const struct {
        const char *metric, *sql;
        double median;
        size_t n;
        bool disturbed;
    } cases[] = {
        {"time", "UPDATE iteration SET duration_ns = 9 * duration_ns", 9 * 1001004.5 / 2, 10, false},
        {"time", "UPDATE window SET evals = 1", 9 * 1001004.5, 10, false},
        {"time", "UPDATE iteration SET taint = 8 WHERE i > 0", 9 * 1001002.5, 2, false},
        {"time", "DELETE FROM iteration WHERE window_id = 2 AND i = 0", 9 * 1001000.0, 1, false},
        {"time", "UPDATE window SET taint = 1", 9 * 1001000.0, 1, true},
        {"user_time_us", "UPDATE iteration SET taint = 0", 14, 9, true},
        {"user_time_us", "UPDATE iteration_rusage SET user_time_us = 7", 7, 9, true},
        {"user_time_us", "DELETE FROM iteration_rusage WHERE window_id = 2", 7, 5, true},
        {"energy_uj", "UPDATE iteration_metric SET value = 3", 3, 5, true},
        {"energy_uj", "DELETE FROM iteration_metric WHERE i > 1", 3, 2, true},
        {"time", "UPDATE window SET taint = 8", NAN, 0, false},
    };
    struct fixture *f = *state;
    computed_once(f, "time", 1001004.5 / 2, 2 * N, false);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ask(f, cases[i].metric);
        change(f, cases[i].sql);
        computed_once(f, cases[i].metric, cases[i].median, cases[i].n, cases[i].disturbed);
    }
    change(f, "UPDATE run_median SET method = method + 1, median = 5");
    computed_once(f, "time", NAN, 0, false);
}

/* Between a read and its writing the run may go on. */
static void what_was_read_too_early_is_not_kept(void **state)
{
    struct fixture *f = *state;
    struct asked a = ask(f, "time");
    struct qs_median_row early = a.fresh;
    early.windows--;
    keep(f, &early);
    assert_int_equal(ask(f, "time").fresh_count, 1);
    early = a.fresh;
    early.warmup_n = 1;
    keep(f, &early);
    early = a.fresh;
    early.run_uid[0] = 77;
    keep(f, &early);
    assert_int_equal(ask(f, "time").fresh_count, 1);
}

/* What failed, was cancelled or was interrupted has values too. They are in no history. */
static void only_runs_that_were_done_count(void **state)
{
    static const enum qs_run_state others[] = {QS_RUN_FAILED, QS_RUN_INTERRUPTED, QS_RUN_CANCELLED};
    struct fixture *f = *state;
    for (uint8_t i = 0; i < 3; i++) {
        struct qs_iteration_row rows[N];
        struct qs_run_end_row end = {
            .uid = {(uint8_t)(20 + i)}, .state = others[i], .taint = QS_TAINT_EXIT, .ended_wall_ns = 45};
        run_begin(f, end.uid[0], 0, 2u + i, 0);
        struct qs_window_row w = make_window(end.uid[0], 0, 0, N, rows);
        assert_int_equal(put_window(f, &w), QS_E_NONE);
        qs_store_run_end(f->store, &end, on_fine, NULL);
        qs_loop_run(f->loop);
    }
    computed_once(f, "time", 1001004.5 / 2, 2 * N, false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_is_kept_is_not_computed_again, setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(another_window_another_median, setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(another_warm_up_another_median, setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(changes_by_hand_are_seen, setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(only_runs_that_were_done_count, setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(what_was_read_too_early_is_not_kept, setup, fixture_teardown),
    };
    return cmocka_run_group_tests_name("medians", tests, NULL, NULL);
}
