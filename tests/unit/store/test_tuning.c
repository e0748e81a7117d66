/* Evaluations: windows in which they rise, samples of one evaluation each, and what was found once. */
#include "fixture.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/shown.h"
#include "store/tuning.h"

static const char depends[] = "{\"benchmark\":\"add\",\"device\":\"bench\",\"executable\":\"ab\"}";
static const struct qs_tuning found = {.run_uid = {1},
                                       .precision_ns = 20,
                                       .accuracy_ns = 41,
                                       .tries = 999,
                                       .evaluation_ps = 20030,
                                       .table_evals = 1,
                                       .logistic_evals = 2,
                                       .evals = 205,
                                       .found_wall_ns = 77};

static void put(struct fixture *f, uint32_t ord, uint64_t first, enum qs_phase phase, uint32_t evals)
{
    struct qs_iteration_row rows[4];
    struct qs_window_row w = make_window(1, ord, first, 4, rows);
    w.phase = phase;
    w.evals = evals;
    assert_int_equal(put_window(f, &w), QS_E_NONE);
    assert_int_equal(put_window(f, &w), QS_E_NONE); /* sent again */
    w.phase = phase == QS_PHASE_TUNE ? QS_PHASE_WARMUP : QS_PHASE_TUNE;
    assert_int_equal(put_window(f, &w), QS_E_CONFLICT);
}

static bool read_iterations(struct qs_store_reader *r, void *user, struct qs_err *err)
{
    (void)user;
    static const enum qs_phase phases[] = {QS_PHASE_WARMUP, QS_PHASE_TUNE, QS_PHASE_MEASURE};
    struct qs_iterations it;
    const uint8_t uid[16] = {1};
    assert_true(qs_read_iterations(r, uid, 0, 100, &it, err));
    assert_int_equal(it.count, 12);
    for (size_t i = 0; i < 12; i++) {
        assert_int_equal(it.at[i].phase, phases[i / 4]);
        assert_int_equal(it.at[i].evals, i < 4 ? 1 : i < 8 ? 3 + i - 4 : 8);
        assert_int_equal(it.at[i].duration_ns, 1001000 + i);
    }
    qs_iterations_free(&it);
    return true;
}

static bool read_measured(struct qs_store_reader *r, void *user, struct qs_err *err)
{
    struct qs_measured_runs measured;
    assert_true(qs_read_measured_runs(r, *(int64_t *)user, &measured, err));
    assert_int_equal(measured.count, 1);
    assert_int_equal(measured.at[0].values.n, 4);
    assert_int_equal(measured.at[0].evals, 8);
    assert_true(fabs(measured.at[0].values.at[3] - 1001011 / 8.0) < 1e-9);
    assert_string_equal(measured.at[0].evals_json, "{\"evals\":8,\"how\":\"given\"}");
    qs_measured_runs_free(&measured);
    return true;
}

static bool read_evaluations(struct qs_store_reader *r, void *user, struct qs_err *err)
{
    char *json = NULL;
    assert_true(qs_shown_evals(r, *(int64_t *)user, &json, err));
    assert_string_equal(json, "[{\"point\":0,\"label\":\"gzip\",\"device\":\"bench\","
                              "\"evaluations\":{\"evals\":8,\"how\":\"given\"}}]");
    free(json);
    return true;
}

static void durations_are_of_all_evaluations(void **state)
{
    struct fixture *f = *state;
    struct qs_err err = QS_ERR_INIT;
    run_begin(f, 1, 0, 1, 0);
    put(f, 0, 0, QS_PHASE_WARMUP, 1);
    put(f, 1, 4, QS_PHASE_TUNE, 3);
    put(f, 2, 8, QS_PHASE_MEASURE, 8);
    struct qs_run_end_row end = {.uid = {1},
                                 .state = QS_RUN_DONE,
                                 .ended_wall_ns = 5,
                                 .harness_json = "{\"evals\":{\"evals\":8,\"how\":\"given\"}}"};
    qs_store_run_end(f->store, &end, on_fine, NULL);
    qs_loop_run(f->loop);
    assert_true(qs_store_read_now(f->store, read_iterations, NULL, &err));
    assert_true(qs_store_read_now(f->store, read_measured, &f->job, &err));
    assert_true(qs_store_read_now(f->store, read_evaluations, &f->job, &err));
}

static bool read_one(struct qs_store_reader *r, void *user, struct qs_err *err)
{
    const struct fixture *f = user;
    struct qs_measured_runs measured;
    assert_true(qs_read_measured_runs(r, f->job, &measured, err));
    assert_int_equal(measured.count, 1);
    assert_int_equal(measured.at[0].values.n, 4);
    assert_true(measured.at[0].values.at[1] == 1000000 + 2000 + 1);
    assert_true(measured.at[0].values.at[2] == 2.5);
    assert_true(measured.at[0].values.at[3] == 0.001);
    qs_measured_runs_free(&measured);
    return true;
}

/* What the device measured is the time of all evaluations; what the statistics see is that of one. */
static void values_are_of_one_evaluation(void **state)
{
    struct fixture *f = *state;
    struct qs_iteration_row rows[2][2];
    struct qs_err err = QS_ERR_INIT;
    run_begin(f, 2, 0, 1, 0);
    struct qs_window_row once = make_window(2, 0, 0, 2, rows[0]), often = make_window(2, 1, 2, 2, rows[1]);
    rows[1][0].duration_ns = 2500;
    rows[1][1].duration_ns = 1;
    often.evals = 1000;
    assert_int_equal(put_window(f, &once), QS_E_NONE);
    assert_int_equal(put_window(f, &often), QS_E_NONE);
    const struct qs_run_end_row end = {.uid = {2}, .state = QS_RUN_DONE, .ended_wall_ns = 5};
    qs_store_run_end(f->store, &end, on_fine, NULL);
    qs_loop_run(f->loop);
    assert_true(qs_store_read_now(f->store, read_one, f, &err));
}

struct look {
    const char *depends;
    struct qs_tuning tuning;
    bool found;
};

static bool look(struct qs_store_reader *r, void *user, struct qs_err *err)
{
    struct look *l = user;
    return qs_read_tuning(r, l->depends, &l->tuning, &l->found, err);
}

static void store_tuning(struct fixture *f, const struct qs_tuning *tuning, enum qs_errc want)
{
    struct told told = {0};
    qs_store_tuning(f->store, depends, tuning, on_told, &told);
    qs_loop_run(f->loop);
    assert_int_equal(told.count, 1);
    assert_int_equal(told.code, want);
}

static void what_was_found_is_kept_by_its_key(void **state)
{
    struct fixture *f = *state;
    struct qs_err err = QS_ERR_INIT;
    struct look l = {.depends = depends};
    run_begin(f, 1, 0, 0, 0);
    assert_true(qs_store_read_now(f->store, look, &l, &err));
    assert_false(l.found);
    store_tuning(f, &found, QS_E_NONE);
    assert_true(qs_store_read_now(f->store, look, &l, &err));
    assert_true(l.found);
    assert_memory_equal(l.tuning.run_uid, found.run_uid, sizeof found.run_uid);
    assert_false(l.tuning.logistic);
    assert_int_equal(l.tuning.precision_ns, 20);
    assert_int_equal(l.tuning.accuracy_ns, 41);
    assert_int_equal(l.tuning.tries, 999);
    assert_int_equal(l.tuning.evaluation_ps, 20030);
    assert_int_equal(l.tuning.table_evals, 1);
    assert_int_equal(l.tuning.logistic_evals, 2);
    assert_int_equal(l.tuning.evals, 205);
    assert_int_equal(l.tuning.found_wall_ns, 77);
    l.depends = "{\"benchmark\":\"add\",\"device\":\"bench\",\"executable\":\"ac\"}";
    assert_true(qs_store_read_now(f->store, look, &l, &err));
    assert_false(l.found);
}

static void the_last_word_stands(void **state)
{
    struct fixture *f = *state;
    struct qs_err err = QS_ERR_INIT;
    struct qs_tuning later = found, unknown = found;
    struct look l = {.depends = depends};
    run_begin(f, 1, 0, 0, 0);
    store_tuning(f, &found, QS_E_NONE);
    later.logistic = true;
    later.precision_ns = later.accuracy_ns = 0;
    later.evals = 1;
    store_tuning(f, &later, QS_E_NONE);
    assert_true(qs_store_read_now(f->store, look, &l, &err));
    assert_true(l.found && l.tuning.logistic);
    assert_int_equal(l.tuning.precision_ns, 0);
    assert_int_equal(l.tuning.evals, 1);
    unknown.run_uid[0] = 9;
    store_tuning(f, &unknown, QS_E_NOT_FOUND);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(durations_are_of_all_evaluations),
        TEST(values_are_of_one_evaluation),
        TEST(what_was_found_is_kept_by_its_key),
        TEST(the_last_word_stands),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
