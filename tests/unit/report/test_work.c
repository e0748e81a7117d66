/* A document tells how much of it is done, from its first piece to 1, and ends at any piece. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "listener.h"
#include "report/analysis/impl.h"
#include "report/work.h"
#include "stats/rng.h"

enum { RUNS = 4, LENGTH = 16, N = RUNS * LENGTH };

static void fill(struct qs_import *in, uint64_t seed, double level)
{
    struct qs_rng rng;
    struct qs_import_series *s = qs_calloc(1, sizeof *s);
    qs_rng_seed(&rng, seed, 1);
    *s = (struct qs_import_series){.benchmark = qs_strdup("b"),
                                   .metric = qs_strdup("time"),
                                   .unit = qs_strdup("ns"),
                                   .scale = 1,
                                   .v = qs_calloc(N, sizeof *s->v),
                                   .n = N,
                                   .off = qs_calloc(RUNS + 1, sizeof *s->off),
                                   .runs = RUNS};
    for (size_t i = 0; i < N; i++)
        s->v[i] = level + qs_rng_unit(&rng);
    for (size_t i = 0; i <= RUNS; i++)
        s->off[i] = i * LENGTH;
    *in = (struct qs_import){.format = QS_FORMAT_CSV, .series = s, .count = 1, .values = N};
}

typedef enum qs_status document_fn(const struct qs_analysis_file *files, size_t count,
                                   const struct qs_analysis_opts *opts, struct qs_buf *out);

static const struct {
    document_fn *write;
    size_t files;
} documents[] = {{qs_analysis_describe, 2}, {qs_analysis_compare, 2}, {qs_analysis_history, 1}};
enum { DOCUMENTS = sizeof documents / sizeof *documents };

static enum qs_status write(size_t document, struct listener *l, struct qs_buf *out)
{
    struct qs_import in[2];
    struct qs_analysis_opts opts = qs_analysis_opts_default();
    fill(&in[0], 1, 10);
    fill(&in[1], 2, 11);
    const struct qs_analysis_file files[2] = {{.name = "a", .import = &in[0]},
                                              {.name = "b", .import = &in[1]}};
    opts.resamples = 100;
    if (l)
        opts.progress = (struct qs_progress){.go_on = hear, .user = l};
    enum qs_status status = documents[document].write(files, documents[document].files, &opts, out);
    qs_import_done(&in[0]);
    qs_import_done(&in[1]);
    return status;
}

static void test_documents_tell_all_of_their_pieces(void **state)
{
    size_t statistics = 0;
    (void)state;
    while (qs_stat_at(qs_sample_tables, statistics))
        statistics++;
    for (size_t i = 0; i < DOCUMENTS; i++) {
        struct listener l = {.asked = 0};
        struct qs_buf heard, alone;
        qs_buf_init(&heard);
        qs_buf_init(&alone);
        assert_int_equal(write(i, &l, &heard), QS_OK);
        assert_int_equal(write(i, NULL, &alone), QS_OK);
        assert_false(l.fell);
        assert_true(l.last >= 1);
        assert_true(l.stages > statistics);
        assert_string_equal(heard.data, alone.data); /* who listens changes nothing */
        qs_buf_done(&heard);
        qs_buf_done(&alone);
    }
}

static void test_documents_end_at_every_question(void **state)
{
    (void)state;
    for (size_t i = 0; i < DOCUMENTS; i++) {
        struct listener all = {.asked = 0};
        struct qs_buf out;
        qs_buf_init(&out);
        assert_int_equal(write(i, &all, &out), QS_OK);
        for (size_t k = 1; k <= all.asked; k++) {
            struct listener l = {.refuse_at = k};
            qs_buf_clear(&out);
            assert_int_equal(write(i, &l, &out), QS_ECANCELED);
            assert_int_equal(l.asked, k);
        }
        qs_buf_done(&out);
    }
}

/* A statistic of the tables is told for what it costs, and twice the values never cost less. */
static void test_costs_rise(void **state)
{
    (void)state;
    const struct qs_analysis_opts opts = qs_analysis_opts_default();
    double last[3] = {0, 0, 0};
    for (size_t n = 2; n <= 16384; n *= 2) {
        const double now[] = {qs_sample_plan_ns(n, 2, &opts),
                              qs_pair_plan_ns(QS_BASIS_ITERATIONS, n, n, &opts),
                              qs_points_cost_ns("hunter", n, &opts)};
        for (size_t i = 0; i < 3; i++) {
            assert_true(now[i] > last[i]);
            last[i] = now[i];
        }
    }
}

static void test_work_counts_pieces_by_their_cost(void **state)
{
    (void)state;
    struct listener l = {.asked = 0};
    const struct qs_progress to = {.go_on = hear, .user = &l};
    struct qs_progress piece;
    struct qs_work work;
    qs_work_init(&work, &to, 1);
    assert_true(qs_work_begin(&work, "first", 0.2, &piece));
    assert_float_equal(l.last, 0, 1e-12);
    assert_true(qs_progress_go_on(&piece, 0.5));
    assert_float_equal(l.last, 0.1, 1e-12);
    assert_true(qs_work_begin(&work, "second", 0.8, &piece));
    assert_float_equal(l.last, 0.2, 1e-12);
    assert_string_equal(l.stage, "second");
    const struct qs_progress here = qs_work_here(&work);
    assert_true(qs_progress_go_on(&here, 1));
    assert_float_equal(l.last, 0.2, 1e-12);
    assert_int_equal(qs_work_finish(&work), QS_OK);
    assert_float_equal(l.last, 1, 0);
    assert_true(qs_work_begin(NULL, "alone", 1, &piece));
    assert_true(qs_progress_go_on(&piece, 0));
}

/* One who said no is not asked again. */
static void test_an_end_lasts(void **state)
{
    (void)state;
    struct listener l = {.refuse_at = 1};
    const struct qs_progress to = {.go_on = hear, .user = &l};
    struct qs_progress piece;
    struct qs_work work;
    qs_work_init(&work, &to, 2);
    assert_false(qs_work_begin(&work, "first", 1, &piece));
    assert_false(qs_progress_go_on(&piece, 1));
    assert_false(qs_work_begin(&work, "second", 1, &piece));
    assert_int_equal(qs_work_finish(&work), QS_ECANCELED);
    assert_int_equal(l.asked, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_documents_tell_all_of_their_pieces),
        cmocka_unit_test(test_documents_end_at_every_question),
        cmocka_unit_test(test_costs_rise),
        cmocka_unit_test(test_work_counts_pieces_by_their_cost),
        cmocka_unit_test(test_an_end_lasts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
