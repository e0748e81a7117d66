/* Variance components over several levels: closed forms, the definition of unbiasedness itself, R. */
#include "reference.h"

#include "stats/hier.h"
#include "stats/rng.h"
#include "stats/tree.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

/* Two devices of 3 and 2 sessions; sessions of 1 to 3 runs; runs of 1 to 4 values. */
static const size_t run_off[] = {0, 2, 5, 6, 10, 12, 15, 17, 20, 21};
static const size_t session_off[] = {0, 2, 3, 6, 7, 9};
static const size_t device_off[] = {0, 3, 5};

static struct qs_tree uneven_tree(const double *v)
{
    return (struct qs_tree){
        .v = v, .depth = 3, .off = {run_off, session_off, device_off}, .count = {9, 5, 2}};
}

static size_t unit_of(const size_t *off, size_t i)
{
    size_t u = 0;
    while (off[u + 1] <= i)
        u++;
    return u;
}

/* Which unit of component level a holds value i. */
static size_t ancestor(const struct qs_tree *tree, size_t a, size_t i)
{
    size_t u = i;
    for (size_t g = 0; g < a; g++)
        u = unit_of(tree->off[g], u);
    return u;
}

/* An estimator that is a quadratic form x'Qx has the expectation sum var_l trace(Z_l' Q Z_l): it is unbiased
 * when its values for the indicators of the units of level l add up to 1 for its own level and to 0 for
 * others. */
static void test_estimates_are_unbiased_in_uneven_trees(void **state)
{
    (void)state;
    double v[21];
    struct qs_tree tree = uneven_tree(v);
    for (size_t l = 0; l <= 3; l++) {
        double sum[4] = {0, 0, 0, 0};
        size_t units = l == 0 ? 21 : tree.count[l - 1];
        for (size_t u = 0; u < units; u++) {
            struct qs_components c;
            for (size_t i = 0; i < 21; i++)
                v[i] = ancestor(&tree, l, i) == u ? 1 : 0;
            assert_int_equal(qs_tree_components(&tree, &c), QS_OK);
            EXPECT(!c.balanced);
            for (size_t a = 0; a <= 3; a++)
                sum[a] += c.level[a].var_raw;
        }
        for (size_t a = 0; a <= 3; a++)
            check_near("expectation", sum[a], a == l ? 1 : 0, 0, 1e-12);
    }
}

enum { R1 = 4, R2 = 3, R3 = 5, R4 = 2, TOTAL = R1 * R2 * R3 * R4 };

/* S_i^2 of Kalibera & Jones 2013 as printed, by direct sums over an array of R4 x R3 x R2 x R1. */
static double s2_direct(const double *v, size_t span, size_t reps, size_t n)
{
    double sum = 0;
    size_t child = span / reps;
    for (size_t from = 0; from < n; from += span) {
        double parent = 0;
        for (size_t i = 0; i < span; i++)
            parent += v[from + i] / (double)span;
        for (size_t c = 0; c < reps; c++) {
            double mean = 0;
            for (size_t i = 0; i < child; i++)
                mean += v[from + c * child + i] / (double)child;
            sum += (mean - parent) * (mean - parent);
        }
    }
    return sum / ((double)(n / span) * (double)(reps - 1));
}

static void even_offsets(size_t *off, size_t units, size_t each)
{
    for (size_t u = 0; u <= units; u++)
        off[u] = u * each;
}

static void random_values(double *v, size_t n, uint64_t seed)
{
    struct qs_rng rng;
    qs_rng_seed(&rng, seed, 1);
    for (size_t i = 0; i < n; i++)
        v[i] =
            100 + qs_rng_unit(&rng) + 3 * (double)(i * 7919 % 113 / (R1 * R2)) + (double)(i / (R1 * R2 * R3));
}

static void test_even_trees_are_kalibera_and_jones(void **state)
{
    (void)state;
    double v[TOTAL];
    size_t off[3][R2 * R3 * R4 + 1];
    random_values(v, TOTAL, 4);
    even_offsets(off[0], R2 * R3 * R4, R1);
    even_offsets(off[1], R3 * R4, R2);
    even_offsets(off[2], R4, R3);
    struct qs_tree tree = {
        .v = v, .depth = 3, .off = {off[0], off[1], off[2]}, .count = {R2 * R3 * R4, R3 * R4, R4}};
    struct qs_components c;
    assert_int_equal(qs_tree_components(&tree, &c), QS_OK);
    EXPECT(c.balanced);
    static const size_t span[] = {R1, R1 * R2, R1 * R2 * R3, TOTAL}, reps[] = {R1, R2, R3, R4};
    double below = 0, scale = 0;
    for (size_t i = 0; i < 4; i++) {
        double s2 = s2_direct(v, span[i], reps[i], TOTAL);
        scale = fmax(scale, s2);
        check_near("T_i^2", c.level[i].var_raw, s2 - below, 0, 1e-11 * scale);
        EXPECT(c.level[i].var >= 0 && (c.level[i].var > 0) == !(c.level[i].flags & QS_FLAG_CLAMPED));
        below = s2 / (double)reps[i];
    }
    check_near("S_n^2", c.s2_top, s2_direct(v, TOTAL, R4, TOTAL), 1e-12, 0);
    check_near("mean", c.mean, c.grand_mean, 1e-14, 0);
    struct qs_ci ci;
    assert_int_equal(qs_tree_ci(&tree, 0.95, &ci), QS_OK);
    check_near("half width, t with 1 df", (ci.hi - ci.lo) / 2, 12.706204736174698 * sqrt(c.s2_top / R4),
               1e-11, 0);
}

static void test_reml_agrees_where_runs_are_equal(void **state)
{
    (void)state;
    json_t *root = ref_json("reference-r.json");
    json_t *want = ref_at(ref_at(root, "hierarchical"), "michelson_5x20");
    struct series s = ref_series(root, "nist_Michelso");
    size_t off[6];
    even_offsets(off, 5, 20);
    struct qs_tree tree = {.v = s.v, .depth = 1, .off = {off}, .count = {5}};
    struct qs_components c;
    assert_int_equal(qs_tree_components(&tree, &c), QS_OK);
    check_near("between", c.level[1].var, ref_number(ref_at(want, "reml"), "between"), 1e-4, 0);
    check_near("within", c.level[0].var, ref_number(ref_at(want, "reml"), "within"), 1e-4, 0);
    check_near("share", c.level[1].share, ref_number(want, "icc"), 1e-10, 0);
    check_near("shares", c.level[0].share + c.level[1].share, 1, 1e-14, 0);
    ref_free(&s);
    json_decref(root);
}

/* Order inside a unit, the offset and the unit of measurement. */
static void test_invariance(void **state)
{
    (void)state;
    double v[21], w[21];
    struct qs_components a, b;
    random_values(v, 21, 9);
    struct qs_tree tree = uneven_tree(v), moved = uneven_tree(w);
    assert_int_equal(qs_tree_components(&tree, &a), QS_OK);
    for (size_t i = 0; i < 21; i++)
        w[i] = -1000 + 8 * v[i];
    double t = w[6]; /* two values of one run */
    w[6] = w[9];
    w[9] = t;
    assert_int_equal(qs_tree_components(&moved, &b), QS_OK);
    for (size_t i = 0; i <= 3; i++) {
        check_near("variance", b.level[i].var_raw, 64 * a.level[i].var_raw, 1e-11, 1e-9);
        check_near("share", b.level[i].share, a.level[i].share, 1e-11, 1e-12);
    }
    check_near("mean", b.mean, 8 * a.mean - 1000, 1e-13, 0);
    check_near("mean by itself", qs_tree_mean(&tree), a.mean, 1e-14, 0);
}

/* One run a session: what sessions and runs contribute cannot be told apart; the interval does not mind. */
static void test_a_level_without_freedom(void **state)
{
    (void)state;
    static const double v[] = {1, 2, 4, 6, 5, 9};
    static const size_t runs[] = {0, 2, 4, 6}, sessions[] = {0, 1, 2, 3};
    struct qs_tree tree = {.v = v, .depth = 2, .off = {runs, sessions}, .count = {3, 3}};
    struct qs_components c;
    assert_int_equal(qs_tree_components(&tree, &c), QS_ETOOFEW);
    check_near("iterations", c.level[0].var, (0.5 + 2 + 8) / 3, 1e-15, 0);
    EXPECT(isnan(c.level[1].var) && isnan(c.level[2].var) && isnan(c.level[0].share));
    struct qs_ci ci;
    assert_int_equal(qs_tree_ci(&tree, 0.9, &ci), QS_OK);
    check_near("centre", (ci.lo + ci.hi) / 2, 4.5, 1e-15, 0);
}

/* Runs {1, 2}, {4, 6}, {5, 9}: within them (1/2 + 2 + 8) / 3; means 3/2, 5, 7 about 9/2, so that between them
 * it is 2 (9 + 1/4 + 25/4) / 2. */
static void test_one_level_by_hand(void **state)
{
    (void)state;
    static const double v[] = {77, 1, 2, 4, 6, 5, 9};
    static const size_t off[] = {1, 3, 5, 7}, empty[] = {1, 3, 3, 7};
    struct qs_tree tree = {.v = v, .depth = 1, .off = {off}, .count = {3}};
    struct qs_components c;
    assert_int_equal(qs_tree_size(&tree), 6);
    assert_int_equal(qs_tree_components(&tree, &c), QS_OK);
    EXPECT(c.balanced && c.n == 6 && c.level[0].units == 6 && c.level[1].units == 3);
    check_near("mean", c.mean, 4.5, 1e-15, 0);
    check_near("of means", c.s2_top, 7.75, 1e-14, 0);
    const double want[2][6] = {{3, 3.5, 1, 3.5, 3.5 / 9.5, NAN}, {2, 15.5, 2, 6, 6 / 9.5, 15.5 / 3.5}};
    for (size_t a = 0; a < 2; a++) {
        const struct qs_component *l = &c.level[a];
        const double got[] = {l->df, l->ms, l->size, l->var, l->share, l->f};
        for (size_t i = 0; i < 6; i++)
            check_near("by hand", got[i], want[a][i], 1e-13, 0);
    }
    tree.off[0] = empty;
    assert_int_equal(qs_tree_check(&tree), QS_ENODATA);
    EXPECT(isnan(c.level[2].var) && isnan(c.level[2].df));
}

/* The runs of a session that does not begin with the first, or ends before the last. */
static void test_levels_hold_what_is_below(void **state)
{
    (void)state;
    static const double v[] = {1, 2, 3, 4};
    static const size_t runs[] = {0, 2, 4}, all[] = {0, 2}, late[] = {1, 2}, early[] = {0, 1};
    struct qs_tree tree = {.v = v, .depth = 2, .off = {runs, all}, .count = {2, 1}};
    struct qs_ci ci;
    assert_int_equal(qs_tree_check(&tree), QS_OK);
    assert_int_equal(qs_tree_ci(&tree, 0.95, &ci), QS_ETOOFEW); /* one session */
    assert_int_equal(qs_tree_ci(&tree, 0, &ci), QS_EDOM);
    tree.off[1] = late;
    assert_int_equal(qs_tree_check(&tree), QS_EDOM);
    tree.off[1] = early;
    assert_int_equal(qs_tree_check(&tree), QS_EDOM);
    tree.depth = QS_DEPTH_MAX + 1;
    assert_int_equal(qs_tree_check(&tree), QS_EDOM);
}

static void test_degenerate(void **state)
{
    (void)state;
    double v[21];
    for (size_t i = 0; i < 21; i++)
        v[i] = 0.1;
    struct qs_tree tree = uneven_tree(v), bad = tree;
    struct qs_components c;
    struct qs_ci ci;
    assert_int_equal(qs_tree_components(&tree, &c), QS_OK);
    for (size_t i = 0; i <= 3; i++)
        EXPECT(c.level[i].var_raw <= 0 && c.level[i].var_raw >= 0 && isnan(c.level[i].share));
    assert_int_equal(qs_tree_ci(&tree, 0.95, &ci), QS_OK);
    EXPECT(ci.flags & QS_FLAG_EXACT);
    static const double extremes[] = {NAN, INFINITY, -INFINITY, 1e300};
    for (size_t i = 0; i < 4; i++) {
        v[20] = extremes[i];
        assert_int_equal(qs_tree_components(&tree, &c), QS_EDOM);
        EXPECT(isnan(c.mean) && isnan(c.level[0].var));
    }
    bad.depth = 0;
    assert_int_equal(qs_tree_components(&bad, &c), QS_ENODATA);
    bad.depth = QS_DEPTH_MAX + 1;
    assert_int_equal(qs_tree_components(&bad, &c), QS_EDOM);
    bad = tree;
    bad.count[2] = 1; /* the second device is not in the tree: sessions are left over */
    assert_int_equal(qs_tree_components(&bad, &c), QS_EDOM);
    bad.count[2] = 0;
    assert_int_equal(qs_tree_ci(&bad, 0.95, &ci), QS_ENODATA);
    assert_int_equal(qs_tree_ci(&tree, 1, &ci), QS_EDOM);
}

static void check_eq5(const char *series, const char *name, size_t k)
{
    json_t *root = ref_json("reference-r.json"), *want = ref_at(ref_at(root, "hierarchical"), name);
    struct series s = ref_series(root, series);
    size_t off[65];
    even_offsets(off, k, s.n / k);
    struct qs_nested data = {.v = s.v, .off = off, .k = k};
    struct qs_kalibera2005 got;
    struct qs_varcomp vc;
    assert_int_equal(qs_hier_kalibera2005(&data, 0.95, &got), QS_OK);
    assert_int_equal(qs_varcomp(&data, &vc), QS_OK);
    check_near(name, got.s2_x, ref_number(want, "S2X"), 1e-9, 0);
    check_near(name, got.s2_a, ref_number(want, "S2A"), 1e-9, 0);
    check_near(name, got.se, ref_number(want, "se_eq5"), 1e-9, 0);
    check_near(name, got.ci.lo, ref_item(ref_at(want, "ci_eq5_z"), 0), 1e-11, 0);
    check_near(name, got.ci.hi, ref_item(ref_at(want, "ci_eq5_z"), 1), 1e-11, 0);
    check_near(name, got.ci_t.lo, ref_item(ref_at(want, "ci_eq5_t_seed_df"), 0), 1e-11, 0);
    check_near(name, got.ci_t.hi, ref_item(ref_at(want, "ci_eq5_t_seed_df"), 1), 1e-11, 0);
    check_near(name, qs_kalibera2005_samples(got.s2_x, got.s2_a, 10), ref_number(want, "n_opt_seed_w10"), 0,
               0);
    check_near(name, qs_kalibera2005_samples(vc.t1, vc.t2, 10), ref_number(want, "n_opt_anova_w10"), 0, 0);
    ref_free(&s);
    json_decref(root);
}

static void test_kalibera2005_as_printed(void **state)
{
    (void)state;
    check_eq5("nist_Michelso", "michelson_5x20", 5);
    check_eq5("pyperf_telco", "pyperf_telco_40x3", 40);
    static const double v[] = {1, 3, 2, 4, 6};
    static const size_t off[] = {0, 2, 5}, one[] = {0, 5};
    struct qs_nested uneven = {.v = v, .off = off, .k = 2}, single = {.v = v, .off = one, .k = 1};
    struct qs_kalibera2005 got;
    assert_int_equal(qs_hier_kalibera2005(&uneven, 0.95, &got), QS_EDOM);
    EXPECT(isnan(got.se) && isnan(got.ci.lo));
    assert_int_equal(qs_hier_kalibera2005(&single, 0.95, &got), QS_ETOOFEW);
    EXPECT(isinf(qs_kalibera2005_samples(1, 0, 10)) && isnan(qs_kalibera2005_samples(NAN, 1, 10)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_estimates_are_unbiased_in_uneven_trees),
        cmocka_unit_test(test_even_trees_are_kalibera_and_jones),
        cmocka_unit_test(test_reml_agrees_where_runs_are_equal),
        cmocka_unit_test(test_invariance),
        cmocka_unit_test(test_a_level_without_freedom),
        cmocka_unit_test(test_one_level_by_hand),
        cmocka_unit_test(test_levels_hold_what_is_below),
        cmocka_unit_test(test_degenerate),
        cmocka_unit_test(test_kalibera2005_as_printed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
