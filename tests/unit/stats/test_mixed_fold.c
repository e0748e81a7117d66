/* Values that fold into sessions: what a disturbance adds is told by those that have both kinds. Seeds are
 * fixed: the counts are the same on every machine. */
#include "reference.h"

#include "stats/mixed.h"
#include "stats/rng.h"
#include "stats/verdict.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <cmocka.h>

enum { BLOCKS = 8, SESSIONS = 6, REPS = 400 };

static double normal(struct qs_rng *rng)
{
    double u = 1 - qs_rng_unit(rng), v = qs_rng_unit(rng);
    return sqrt(-2 * log(u)) * cos(2 * M_PI * v);
}

/* Two sides of six sessions that differ by 3; one side is mostly clean, the other mostly disturbed: off by so
 * much, scattering so many times as much. */
static size_t draw_sessions(struct qs_rng *rng, double scatter, double off, struct qs_fold_value *x)
{
    static const double share[2] = {0.2, 0.8};
    size_t n = 0;
    for (size_t cell = 0; cell < 2 * SESSIONS; cell++) {
        double own = (cell < SESSIONS ? 0 : 3) + normal(rng);
        for (size_t b = 0; b < BLOCKS; b++) {
            int side = cell < SESSIONS ? 0 : 1;
            bool disturbed = qs_rng_unit(rng) < share[side];
            double v = own + (disturbed ? off + scatter * normal(rng) : normal(rng));
            x[n++] = (struct qs_fold_value){v, disturbed, cell, cell, side};
        }
    }
    return n;
}

/* Whether the verdict's interval, here of values that are their own logarithms, covers 3. */
static bool covers_three(const struct qs_fold_value *x, size_t n, const struct qs_mixed_fold *fold,
                         double weight, double shift)
{
    double v[2][SESSIONS];
    struct qs_verdict_opts opts = qs_verdict_opts_default();
    struct qs_verdict verdict;
    opts.extra_se = fold ? fold->extra_se : 0;
    opts.extra_df = fold ? fold->df : 0;
    for (size_t i = 0; i < n; i += BLOCKS) {
        double sum = 0, total = 0;
        for (size_t b = i; b < i + BLOCKS; b++) {
            double w = x[b].disturbed ? weight : 1;
            sum += w * (x[b].v - (x[b].disturbed ? shift : 0));
            total += w;
        }
        v[x[i].side][x[i].cell % SESSIONS] = exp(sum / total);
    }
    const struct qs_side_runs base = {.v = v[0], .n = SESSIONS}, cand = {.v = v[1], .n = SESSIONS};
    assert_int_equal(qs_verdict_runs(&base, &cand, &opts, &verdict), QS_OK);
    return verdict.l95.lo <= exp(3) && verdict.l95.hi >= exp(3);
}

static void sessions_tell_what_a_disturbance_adds(void **state)
{
    (void)state;
    static const double scatters[] = {1, 4}, offs[] = {0, 1, 4};
    for (size_t c = 0; c < 6; c++) {
        int covered = 0, plain = 0;
        struct qs_rng rng;
        qs_rng_seed(&rng, 2200, c);
        for (int r = 0; r < REPS; r++) {
            struct qs_fold_value x[2 * SESSIONS * BLOCKS];
            struct qs_mixed_fold fold;
            size_t n = draw_sessions(&rng, scatters[c % 2], offs[c / 2], x);
            assert_int_equal(qs_mixed_fold(x, n, 0.95, &fold), QS_OK);
            covered += covers_three(x, n, &fold, fold.worth, fold.shift);
            plain += covers_three(x, n, NULL, 1, 0);
        }
        if (covered < REPS * 91 / 100 || covered > REPS * 995 / 1000)
            fail_msg("scatter %g, off %g: %d of %d covered", scatters[c % 2], offs[c / 2], covered, REPS);
        EXPECT(c / 2 < 2 || plain < REPS / 2); /* four sd, and nobody took notice */
    }
}

/* Session 0: clean 1 3, disturbed 12: contrast 10, weight 2/3. Session 1: clean 2, disturbed 14 16: 13, 2/3.
 * Session 2 has clean ones alone. Mean 11.5; se^2 of contrasts: 2 (1.5^2) (2/3)^2 / (4/3)^2 * 2 = 2.25. */
static void a_fold_by_hand(void **state)
{
    (void)state;
    const struct qs_fold_value x[] = {{1, false, 0, 0, 0}, {12, true, 0, 0, 0}, {3, false, 0, 0, 0},
                                      {2, false, 1, 1, 0}, {14, true, 1, 1, 0}, {16, true, 1, 1, 0},
                                      {5, false, 2, 1, 1}, {7, false, 2, 1, 1}};
    struct qs_fold_value bad = x[0];
    struct qs_mixed_fold m;
    assert_int_equal(qs_mixed_fold(x, 8, 0.95, &m), QS_OK);
    assert_int_equal(m.cells, 2);
    check_near("shift", m.shift, 11.5, 1e-12, 0);
    check_near("se", m.shift_se, 1.5, 1e-12, 0);
    check_near("df", m.df, 1, 0, 0);
    check_near("hi", m.ci.hi, 11.5 + 1.5 * 12.706204736174694, 1e-9, 0);
    check_near("worth", m.worth, 1, 0, 0); /* both scatter alike within sessions */
    check_near("share", m.share[0], 0.5, 1e-12, 0);
    check_near("share of the other", m.share[1], 0, 0, 0);
    check_near("extra", m.extra_se, 0.75, 1e-12, 0);
    /* one session of both kinds: by what its values scatter, sqrt(2 / 1 / (2/3)) */
    assert_int_equal(qs_mixed_fold(x, 3, 0.95, &m), QS_OK);
    check_near("shift of one", m.shift, 10, 1e-12, 0);
    check_near("se of one", m.shift_se, sqrt(3), 1e-12, 0);
    check_near("df of one", m.df, 1, 0, 0);
    assert_int_equal(qs_mixed_fold(x, 2, 0.95, &m),
                     QS_ENODATA); /* one of each: nobody knows how far it holds */
    assert_int_equal(m.cells, 0);
    assert_int_equal(qs_mixed_fold(x + 6, 2, 0.95, &m), QS_ENODATA);
    bad.v = NAN;
    assert_int_equal(qs_mixed_fold(&bad, 1, 0.95, &m), QS_EDOM);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sessions_tell_what_a_disturbance_adds),
        cmocka_unit_test(a_fold_by_hand),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
