/* Modes: a second implementation, perfolizer's cases, power and false alarms, ties, what is not assessed. */
#include "reference.h"
#include "second.h"

#include "stats/modality.h"
#include "stats/rng.h"
#include "stats/special.h"
#include "stats/sum.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

/* slack: ties make bins of equal height, and rounding chooses the highest of them. ends: least and greatest
 * value, added. */
static void check_modes(const char *name, const struct qs_modes *got, json_t *want, double slack, double ends)
{
    if (!want)
        return;
    json_t *location = ref_at(want, "loc"), *cut = ref_at(want, "cuts");
    check_near(name, (double)got->count, ref_number(want, "modes"), 0, 0);
    /* The reference leaves out bins below an absolute width, the library below a part of the range. */
    if (ref_number(want, "bins") < 100)
        return;
    assert_int_equal(got->bins, 100);
    for (size_t i = 0; i < json_array_size(location); i++) {
        double place = got->location[i];
        /* A ramp has two highest bins, each the other's mirror image. */
        if (strncmp(name, "lnt_SLOW", 8) == 0 && fabs(place - ref_item(location, i)) > 1e-6)
            place = ends - place;
        check_near(name, place, ref_item(location, i), 1e-9, slack);
    }
    for (size_t i = 0; i < json_array_size(cut); i++)
        check_near(name, got->cut[i], ref_item(cut, i), 1e-9, slack);
}

static void check_second(const char *name, json_t *want, const struct series *s)
{
    struct qs_modes modes;
    struct qs_ties ties;
    double m, *spread = calloc(s->n, sizeof *spread);
    assert_non_null(spread);
    assert_int_equal(qs_ties(s->v, s->n, &ties), QS_OK);
    double quantum = isnan(ties.smallest_gap) ? 0 : ties.smallest_gap;
    double slack = ties.n_distinct < s->n ? quantum / 2 : 0;
    assert_int_equal(qs_spread_ties(s->v, s->n, 0, spread), QS_OK);
    double ends = spread[0] + spread[s->n - 1];
    assert_int_equal(qs_lowland(s->v, s->n, NULL, &modes), QS_OK);
    check_modes(name, &modes, ref_at(want, "lowland_raw"), slack, ends);
    assert_int_equal(qs_spread_ties(s->v, s->n, quantum, spread), QS_OK);
    assert_int_equal(qs_lowland(spread, s->n, NULL, &modes), QS_OK);
    check_modes(name, &modes, ref_at(want, "lowland_spread"), slack, ends);
    assert_int_equal(qs_mvalue(s->v, s->n, &m), QS_OK);
    if (ref_at(want, "mvalue"))
        check_near(name, m, ref_number(want, "mvalue"), 1e-9, 0);
    free(spread);
}

static void test_against_second_implementation(void **state)
{
    (void)state;
    assert_int_equal(second_each(check_second), 31);
}

/* Fixed bins do not give what upstream's adaptive bins give for all of its cases. */
static void test_mvalue_cases(void **state)
{
    (void)state;
    json_t *cases = ref_json("perfolizer/mvalue_cases.json"), *root, *want, *one;
    root = ref_json("reference-second-implementation.json");
    size_t i;
    json_array_foreach(ref_at(root, "mvalue_cases"), i, want)
    {
        one = json_array_get(cases, i);
        assert_string_equal(json_string_value(ref_at(one, "name")), json_string_value(ref_at(want, "name")));
        struct series s = ref_array(ref_at(one, "values"));
        double m;
        assert_int_equal(qs_mvalue(s.v, s.n, &m), QS_OK);
        check_near("mvalue", m, ref_number(want, "ours"), 1e-9, 0);
        ref_free(&s);
    }
    assert_int_equal(i, 6);
    json_decref(cases);
    json_decref(root);
}

static void test_quantised_sample_has_three_modes(void **state)
{
    (void)state;
    struct series s = ref_csv("perfolizer/manual1_modality.csv", 0);
    struct qs_modality_test got;
    double share = 0;
    assert_int_equal(qs_modality_test(s.v, s.n, 1, NULL, &got), QS_OK);
    assert_string_equal(qs_modality_names[got.modality], "multimodal");
    assert_int_equal(got.modes.count, 3);
    static const double want[] = {149.85, 159.85, 170.16};
    for (size_t k = 0; k < 3; k++) {
        check_near("mode", got.modes.location[k], want[k], 0, 0.5);
        check_near("median of a mode", got.median[k], want[k], 0, 1);
        share += got.share[k];
    }
    check_near("shares", share, 1, 1e-12, 0);
    assert_int_equal(qs_modality_test(s.v, s.n, NAN, NULL, &got), QS_OK);
    assert_int_equal(got.modes.count, 3);
    check_near("smallest gap", got.quantum, 1, 1e-12, 0);
    ref_free(&s);
}

static void draw_normal(struct qs_rng *rng, double *x, size_t n, double apart, double weight)
{
    for (size_t i = 0; i < n; i++)
        x[i] = qs_qnorm(qs_rng_unit(rng) + 0x1p-54) + (qs_rng_unit(rng) < weight ? apart : 0);
}

static int rate_of_modes(size_t n, double apart, double weight, double step)
{
    static double x[200];
    struct qs_rng rng;
    int found = 0;
    qs_rng_seed(&rng, 77, n);
    for (int round = 0; round < 200; round++) {
        struct qs_modality_test got;
        draw_normal(&rng, x, n, apart, weight);
        for (size_t i = 0; step > 0 && i < n; i++)
            x[i] = step * rint(x[i] / step);
        assert_int_equal(qs_modality_test(x, n, step, NULL, &got), QS_OK);
        found += got.modality == QS_MODALITY_MORE;
    }
    return found;
}

static void test_false_alarms_and_power(void **state)
{
    (void)state;
    assert_int_equal(rate_of_modes(50, 0, 0, 0), 0);
    assert_int_equal(rate_of_modes(200, 0, 0, 0), 0);
    assert_int_equal(rate_of_modes(100, 0, 0, 0.5), 0);
    int equal = rate_of_modes(200, 4, 0.5, 0), unequal = rate_of_modes(100, 6, 0.2, 0);
    EXPECT(equal > 25 && equal < 80);      /* 25 % expected of 200 */
    EXPECT(unequal > 60 && unequal < 130); /* 45 % */
}

/* Without spreading, rounded normal values do look multimodal. */
static void test_rounding_alone_makes_modes(void **state)
{
    (void)state;
    double x[200];
    struct qs_rng rng;
    int found = 0;
    qs_rng_seed(&rng, 5, 0);
    for (int round = 0; round < 50; round++) {
        struct qs_modes modes;
        draw_normal(&rng, x, 200, 0, 0);
        for (int i = 0; i < 200; i++)
            x[i] = rint(x[i] * 2) / 2;
        assert_int_equal(qs_lowland(x, 200, NULL, &modes), QS_OK);
        found += modes.count > 1;
    }
    EXPECT(found > 45);
}

static void test_spread_ties(void **state)
{
    (void)state;
    double x[] = {7, 5, 5, 7, 5, 5, 9}, out[7];
    static const double want[] = {4.25, 4.75, 5.25, 5.75, 6.5, 7.5, 9};
    assert_int_equal(qs_spread_ties(x, 7, 2, out), QS_OK);
    for (int i = 0; i < 7; i++)
        check_near("spread", out[i], want[i], 1e-15, 0);
    assert_int_equal(qs_spread_ties(x, 7, 0, out), QS_OK);
    check_near("no quantum", out[3], 5, 0, 0);
    assert_int_equal(qs_spread_ties(x, 7, 8, out), QS_OK);
    for (int i = 1; i < 7; i++)
        EXPECT(out[i] >= out[i - 1]);
    struct qs_ties ties;
    assert_int_equal(qs_ties(x, 7, &ties), QS_OK);
    assert_int_equal(ties.n_distinct, 3);
    check_near("gap", ties.smallest_gap, 2, 0, 0);
    assert_int_equal(qs_ties(x + 1, 2, &ties), QS_OK);
    EXPECT(ties.n_distinct == 1 && isnan(ties.smallest_gap));
    assert_int_equal(qs_spread_ties(x, 7, -1, out), QS_EDOM);
    assert_int_equal(qs_spread_ties(x, 7, NAN, out), QS_EDOM);
    assert_int_equal(qs_spread_ties(x, 0, 1, out), QS_ENODATA);
    assert_int_equal(qs_ties(x, 0, &ties), QS_ENODATA);
    x[0] = INFINITY;
    assert_int_equal(qs_spread_ties(x, 7, 1, out), QS_EDOM);
    assert_int_equal(qs_ties(x, 7, &ties), QS_EDOM);
}

static void test_order_scale_and_shift(void **state)
{
    (void)state;
    struct series s = ref_csv("otava/tigerbeetle.csv", 0);
    struct qs_modes plain, moved;
    double m[2];
    assert_int_equal(qs_lowland(s.v, s.n, NULL, &plain), QS_OK);
    assert_int_equal(qs_mvalue(s.v, s.n, &m[0]), QS_OK);
    for (size_t i = 0; i < s.n; i++)
        s.v[i] = s.v[i] * 0x1p-40 + 0x1p-20;
    for (size_t i = 0; i < s.n / 2; i++) {
        double t = s.v[i];
        s.v[i] = s.v[s.n - 1 - i];
        s.v[s.n - 1 - i] = t;
    }
    assert_int_equal(qs_lowland(s.v, s.n, NULL, &moved), QS_OK);
    assert_int_equal(qs_mvalue(s.v, s.n, &m[1]), QS_OK);
    assert_int_equal(plain.count, 2);
    assert_int_equal(moved.count, 2);
    check_near("mode", moved.location[1], plain.location[1] * 0x1p-40 + 0x1p-20, 1e-9, 0);
    check_near("cut", moved.cut[0], plain.cut[0] * 0x1p-40 + 0x1p-20, 1e-9, 0);
    check_near("mvalue", m[1], m[0], 1e-12, 0);
    ref_free(&s);
}

static void test_what_does_not_vary(void **state)
{
    (void)state;
    double x[40], m;
    struct qs_modes modes;
    struct qs_modality_test got;
    for (int i = 0; i < 40; i++)
        x[i] = 1e6 + i % 2 * 1e-5; /* less than 1e-9 of the value apart */
    assert_int_equal(qs_lowland(x, 40, NULL, &modes), QS_OK);
    EXPECT(modes.count == 1 && modes.bins == 0);
    for (int i = 0; i < 40; i++)
        x[i] = 8;
    assert_int_equal(qs_modality_test(x, 40, NAN, NULL, &got), QS_OK);
    EXPECT(got.modality == QS_MODALITY_ONE && got.modes.count == 1 && isnan(got.mvalue));
    check_near("location", got.modes.location[0], 8, 0, 0);
    check_near("share", got.share[0], 1, 0, 0);
    assert_int_equal(qs_mvalue(x, 40, &m), QS_OK);
    check_near("mvalue", m, 2, 0, 0);
    assert_int_equal(qs_lowland(x, 1, NULL, &modes), QS_OK);
    assert_int_equal(modes.count, 1);
    assert_int_equal(qs_modality_test(x, 1, 1, NULL, &got), QS_OK);
    assert_string_equal(qs_modality_names[got.modality], "unimodal");
}

static void test_what_is_not_assessed(void **state)
{
    (void)state;
    double x[40], m;
    struct qs_modality_test got;
    struct qs_modes modes;
    for (int i = 0; i < 40; i++)
        x[i] = i % 7;
    assert_int_equal(qs_modality_test(x, 40, NAN, NULL, &got), QS_OK); /* 7 distinct values, no quantum */
    assert_string_equal(qs_modality_names[got.modality], "unknown");
    EXPECT(got.modes.count == 0 && isnan(got.mvalue) && isnan(got.quantum) && got.ties.n_distinct == 7);
    assert_int_equal(qs_modality_test(x, 40, 1, NULL, &got), QS_OK);
    assert_string_equal(qs_modality_names[got.modality], "unimodal");
    for (int i = 0; i < 40; i++)
        x[i] = i % 2 == 0 ? i * 1e-3 : 10 + i * 1e-3;
    assert_int_equal(qs_modality_test(x, 14, NAN, NULL, &got), QS_OK);
    EXPECT(got.modality == QS_MODALITY_UNKNOWN && isnan(got.mvalue));
    assert_int_equal(qs_modality_test(x, 20, NAN, NULL, &got), QS_OK); /* only the mvalue speaks */
    assert_string_equal(qs_modality_names[got.modality], "possibly");
    EXPECT(got.modes.count == 0 && got.mvalue > 3.5);
    assert_int_equal(qs_modality_test(x, 40, NAN, NULL, &got), QS_OK);
    EXPECT(got.modality == QS_MODALITY_MORE && got.modes.count == 2);
    check_near("share", got.share[0], 0.5, 1e-12, 0);
    check_near("median", got.median[1], 10.02, 1e-12, 0);
    assert_int_equal(qs_modality_test(x, 40, -1, NULL, &got), QS_EDOM);
    assert_int_equal(qs_modality_test(x, 0, 1, NULL, &got), QS_ENODATA);
    x[7] = NAN;
    assert_int_equal(qs_modality_test(x, 40, 1, NULL, &got), QS_EDOM);
    assert_int_equal(qs_lowland(x, 40, NULL, &modes), QS_EDOM);
    assert_int_equal(modes.count, 0);
    assert_int_equal(qs_mvalue(x, 40, &m), QS_EDOM);
    EXPECT(isnan(m));
    assert_int_equal(qs_mvalue(x, 0, &m), QS_ENODATA);
    assert_int_equal(qs_lowland((const double[]){-1.7e308, 1.7e308}, 2, NULL, &modes), QS_EDOM);
}

static void test_shares(void **state)
{
    (void)state;
    static const double x[] = {1, 2, 3, 10, 11, 30, 31, 32}, cuts[] = {5, 20}, bad[] = {20, 5};
    double share[3];
    assert_int_equal(qs_mode_shares(x, 8, cuts, 2, share), QS_OK);
    check_near("first", share[0], 0.375, 1e-15, 0);
    check_near("second", share[1], 0.25, 1e-15, 0);
    check_near("third", share[2], 0.375, 1e-15, 0);
    assert_int_equal(qs_mode_shares(x, 8, bad, 2, share), QS_EDOM);
    assert_int_equal(qs_mode_shares(x, 0, cuts, 2, share), QS_ENODATA);
    double same[400] = {0};
    for (size_t n = 1; n <= 400; n++) {
        assert_int_equal(qs_mode_shares(same, n, cuts, 0, share), QS_OK);
        assert_true(share[0] == 1); /* exactly: n times 1/n is not */
    }
    struct qs_share_change c = qs_share_change(0.5, 100, 0.64, 100, 0.95);
    check_near("bound", c.bound, 1.959963984540054 * sqrt(0.0025 + 0.002304), 1e-12, 0);
    EXPECT(c.changed && c.difference > 0.139);
    EXPECT(!qs_share_change(0.5, 100, 0.63, 100, 0.95).changed);
    EXPECT(!qs_share_change(1, 100, 1, 100, 0.95).changed);
    EXPECT(isnan(qs_share_change(1.1, 100, 1, 100, 0.95).bound));
    EXPECT(isnan(qs_share_change(0.1, 0, 1, 100, 0.95).bound));
}

/* R's diptest. */
static void test_the_dip(void **state)
{
    (void)state;
    json_t *root = ref_json("reference-r.json"), *all = ref_at(root, "univariate"), *want;
    const char *name;
    size_t seen = 0;
    json_object_foreach(all, name, want)
    {
        struct series s = ref_series(root, name);
        double dip = ref_number(want, "dip");
        struct qs_dip got;
        if (s.v && isfinite(dip)) {
            qs_sort(s.v, s.n);
            assert_int_equal(qs_dip(s.v, s.n, &got), QS_OK);
            check_near(name, got.dip, dip, 1e-12, 0);
            EXPECT(got.p >= 0.001 && got.p <= 1);
            seen++;
        }
        ref_free(&s);
    }
    EXPECT(seen >= 10);
    /* As far apart as they can be: beyond the table. */
    static const double pair[] = {1, 1, 1, 1, 1, 1, 9, 9, 9, 9, 9, 9};
    struct qs_dip got;
    assert_int_equal(qs_dip(pair, 12, &got), QS_OK);
    check_near("two places", got.dip, 0.25, 1e-12, 0);
    check_near("its p", got.p, 0.001, 1e-9, 0);
    assert_int_equal(qs_dip(pair, 0, &got), QS_ENODATA);
    EXPECT(isnan(got.dip) && isnan(got.p));
    json_decref(root);
}

/* R's diptest of small samples, with ties as without. p is between quantiles of the table and between its
 * rows: of n = 8 the dip is 0.50508 / sqrt(8), p = 1 - (0.99 + 0.005 (0.50508 - 0.4888) / (0.5052 - 0.4888)).
 */
static void test_dips_of_few_values(void **state)
{
    (void)state;
    static const struct {
        size_t n;
        double x[16], dip, p; /* p 0: not told */
    } samples[] = {
        {1, {7}, 0.5, 1},
        {2, {1, 2}, 0.25, 1},
        {2, {3, 3}, 0.25, 1},
        {3, {1, 2, 10}, 1.0 / 6, 1},
        {4, {1, 2, 4, 9}, 0.125, 1},
        {5, {1, 1, 2, 9, 9}, 0.2, 0},
        {6, {0, 1, 1, 1, 5, 9}, 1.0 / 12, 1},
        {6, {1, 2, 3, 7, 8, 9}, 1.0 / 6, 0.0460320692503},
        {7, {0, 4, 5, 5, 6, 10, 11}, 0.114285714285714, 0.536467235408},
        {8, {1, 2, 2, 3, 8, 8, 8, 9}, 0.178571428571429, 0.00503772186704},
        {9, {1, 5, 6, 7, 8, 9, 20, 21, 22}, 0.141025641025641, 0.0753114124189},
        {10, {0, 1, 3, 3, 3, 4, 10, 12, 12, 13}, 2.0 / 15, 0.0839570079798},
        {10, {1, 2, 3, 4, 5, 6, 7, 8, 9, 30}, 0.05, 1},
        {11, {1, 1, 1, 2, 3, 5, 8, 13, 21, 34, 55}, 1.0 / 22, 1},
        {12, {2, 6, 10, 11, 18, 18, 18, 20, 21, 23, 23, 25}, 1.0 / 12, 0.680065890914},
        {15, {0, 1, 2, 4, 5, 10, 12, 15, 15, 19, 23, 26, 29, 29, 30}, 0.0866666666666667, 0.439011635522},
        {15, {1, 4, 4, 10, 11, 14, 14, 15, 15, 16, 21, 21, 28, 28, 30}, 0.0777777777777778, 0},
        {16,
         {0, 11, 12, 13, 15, 19, 19, 20, 21, 23, 26, 27, 27, 28, 29, 29},
         0.0803571428571428,
         0.519880841365},
        {16, {1, 4, 7, 8, 9, 9, 10, 13, 15, 17, 19, 21, 25, 26, 28, 29}, 0.0657894736842105, 0},
    };
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++) {
        struct qs_dip got;
        assert_int_equal(qs_dip(samples[i].x, samples[i].n, &got), QS_OK);
        check_near("dip", got.dip, samples[i].dip, 1e-13, 0);
        if (samples[i].p > 0)
            check_near("p", got.p, samples[i].p, 1e-9, 0);
    }
    struct qs_dip got;
    assert_int_equal(qs_dip((const double[]){1, 2, INFINITY}, 3, &got), QS_EDOM);
}

/* Bounds: a value at a cut belongs below it; what changed by no more than the bound did not. */
static void test_bounds_of_shares(void **state)
{
    (void)state;
    static const double x[] = {1, 5, 5, 20, 21}, cuts[] = {5, 20}, same[] = {5, 5}, none[] = {5, NAN};
    double share[3];
    assert_int_equal(qs_mode_shares(x, 5, cuts, 2, share), QS_OK);
    check_near("first", share[0], 0.6, 1e-15, 0);
    check_near("second", share[1], 0.2, 1e-15, 0);
    check_near("third", share[2], 0.2, 1e-15, 0);
    assert_int_equal(qs_mode_shares(x, 5, same, 2, share), QS_EDOM);
    assert_int_equal(qs_mode_shares(x, 5, none, 2, share), QS_EDOM);
    assert_int_equal(qs_mode_shares((const double[]){1, INFINITY}, 2, cuts, 2, share), QS_EDOM);
    static const struct {
        double share1, share2;
        size_t n1, n2;
        double level, difference, bound; /* NaN: refused */
    } changes[] = {
        {0, 1, 10, 10, 0.95, 1, 0},
        {1, 0, 1, 1, 0.95, -1, 0},
        {0.5, 0.25, 50, 75, 0.9, -0.25, 1.644853626951473 * 0.08660254037844387}, /* sqrt(.005 + .0025) */
        {-0.1, 1, 1, 1, 0.9, NAN, NAN},
        {0.1, -0.1, 1, 1, 0.9, NAN, NAN},
        {0.1, 1.1, 1, 1, 0.9, NAN, NAN},
        {0.1, 0.1, 1, 0, 0.9, NAN, NAN},
        {0.1, 0.1, 1, 1, 0, NAN, NAN},
        {0.1, 0.1, 1, 1, 1, NAN, NAN},
    };
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        struct qs_share_change c = qs_share_change(changes[i].share1, changes[i].n1, changes[i].share2,
                                                   changes[i].n2, changes[i].level);
        check_near("difference", c.difference, changes[i].difference, 1e-15, 0);
        check_near("bound", c.bound, changes[i].bound, 1e-12, 0);
        EXPECT(c.changed == (fabs(changes[i].difference) > changes[i].bound));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_dips_of_few_values),
        cmocka_unit_test(test_bounds_of_shares),
        cmocka_unit_test(test_the_dip),
        cmocka_unit_test(test_against_second_implementation),
        cmocka_unit_test(test_mvalue_cases),
        cmocka_unit_test(test_quantised_sample_has_three_modes),
        cmocka_unit_test(test_false_alarms_and_power),
        cmocka_unit_test(test_rounding_alone_makes_modes),
        cmocka_unit_test(test_spread_ties),
        cmocka_unit_test(test_order_scale_and_shift),
        cmocka_unit_test(test_what_does_not_vary),
        cmocka_unit_test(test_what_is_not_assessed),
        cmocka_unit_test(test_shares),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
