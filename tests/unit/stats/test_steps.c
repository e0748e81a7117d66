/* Steps that hold, against a second program in R: mad, t.test, pt and qnorm, the energy statistic and the
 * variance of a mean of AR(1) values by their definitions. */
#include "reference.h"

#include "stats/drift.h"
#include "stats/steps.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

static const struct history {
    const char *name;
    size_t n;
    double x[70], phi, scale, weighted; /* the sum of (i + 1) y_i */
    size_t n_alone, alone[2], n_points;
    /* index, p, before, after, magnitude, ratio, its interval, confirmed */
    double point[2][9];
} histories[] = {
    {.name = "one",
     .n = 40,
     .x = {999,  1008, 995,  994,  1007, 999,  998,  1300, 970,  994,  992,  1003, 1004, 987,
           1001, 992,  1015, 997,  1016, 998,  1073, 1060, 1056, 1060, 1077, 1049, 1049, 1080,
           1066, 700,  1075, 1070, 1044, 1052, 1073, 1064, 1068, 1053, 1059, 1065},
     .phi = 0,
     .scale = 9.636914420286,
     .weighted = 857520.639132428,
     .n_alone = 2,
     .alone = {7, 29},
     .n_points = 1,
     .point = {{20, 1.80353073149e-17, 999.8, 1061.5453857, 0.0617577372449, 1.06175563685, 1.05440227526,
                1.0691602805, 1}}},
    {.name = "two",
     .n = 70,
     .x = {1004, 994,  1002, 997,  1006, 980,  993,  1003, 1003, 994,  1011, 996,  1006, 999,
           1010, 1006, 992,  994,  985,  1008, 1006, 1001, 982,  989,  997,  1039, 1045, 1066,
           1054, 1034, 1035, 1060, 1058, 1045, 1051, 1056, 1021, 1056, 1074, 1044, 1052, 1042,
           1039, 1070, 1033, 1062, 1049, 1040, 966,  930,  968,  976,  955,  954,  946,  968,
           963,  960,  954,  1500, 963,  941,  944,  942,  960,  955,  966,  956,  962,  966},
     .phi = 0.006670266766944,
     .scale = 10.37821552954,
     .weighted = 2471542.47045176,
     .n_alone = 1,
     .alone = {59},
     .n_points = 2,
     .point = {{25, 2.59143202748e-18, 998.32, 1049.00236788, 0.0507676575419, 1.05072943284, 1.04420764926,
                1.05729194938, 1},
               {48, 2.92705889628e-24, 1049.00236788, 958.409090909, 0.0945246427934, 0.913633935646,
                0.906790389474, 0.920529130053, 1}}},
    {.name = "ar",
     .n = 60,
     .x = {987,  976,  984,  1010, 1010, 1006, 986,  996,  984,  1000, 1022, 1013, 991,  982,  967,
           991,  1000, 1005, 1017, 990,  1008, 1029, 1021, 991,  996,  991,  1002, 1009, 994,  993,
           998,  993,  999,  1002, 998,  1002, 1008, 997,  1005, 1110, 1103, 1102, 1082, 1076, 1099,
           1096, 1089, 1099, 1091, 1098, 1082, 1089, 1086, 1098, 1091, 1095, 1100, 1105, 1087, 1099},
     .phi = 0.5210456180774,
     .scale = 10.37821552954,
     .weighted = 1928889.61877177,
     .n_alone = 0,
     .alone = {0},
     .n_points = 1,
     .point = {{39, 1.89465093894e-16, 998.794871795, 1094.14285714, 0.0954630305386, 1.09550953202,
                1.08563129071, 1.1054776562, 1}}},
    {.name = "late",
     .n = 30,
     .x = {987,  996,  1002, 999, 1022, 1001, 1021, 1010, 998, 990,  999,  994,  991,  992,  1013,
           1010, 1006, 987,  981, 1000, 994,  998,  1012, 986, 1000, 1009, 1000, 1111, 1128, 1110},
     .phi = 0.4308358186726,
     .scale = 10.37821552954,
     .weighted = 474880,
     .n_alone = 0,
     .alone = {0},
     .n_points = 1,
     .point = {{27, 3.42742261502e-09, 999.925925926, 1116.33333333, 0.116416030817, 1.11644328993,
                1.08341785077, 1.15047543175, 0}}},
    {.name = "stairs",
     .n = 45,
     .x = {1004, 1007, 1003, 994,  1006, 997,  997,  1001, 1059, 1081, 1063, 1060, 1077, 1063, 1067,
           1070, 1141, 1141, 1141, 1000, 1128, 1151, 1138, 1139, 1147, 1134, 1137, 1135, 1133, 1152,
           1132, 1140, 1147, 1146, 1135, 1147, 1135, 1141, 1140, 1142, 1148, 1136, 1129, 1139, 1138},
     .phi = 0,
     .scale = 5.930408874022,
     .weighted = 1166986.4795563,
     .n_alone = 1,
     .alone = {19},
     .n_points = 2,
     .point = {{8, 9.6640473436e-10, 1001.125, 1067.5, 0.0663004120365, 1.06628459329, 1.05903959134,
                1.07357915906, 1},
               {16, 6.71048692934e-22, 1067.5, 1139.17841303, 0.0671460543589, 1.06715411821, 1.06032463781,
                1.07402758684, 1}}},
};

static const struct history *history_of(const char *name)
{
    const struct history *h = histories;
    while (strcmp(h->name, name) != 0)
        h++;
    return h;
}

static void test_steps_as_in_r(void **state)
{
    (void)state;
    const struct qs_hunter_opts opts = qs_hunter_opts_default();
    for (size_t i = 0; i < sizeof histories / sizeof *histories; i++) {
        const struct history *h = &histories[i];
        struct qs_steps got;
        double weighted = 0;
        size_t alone = 0;
        assert_int_equal(qs_steps_find(h->x, h->n, &opts, &got), QS_OK);
        for (size_t k = 0; k < h->n; k++) {
            weighted += (double)(k + 1) * got.y[k];
            if (got.alone[k] && alone < h->n_alone)
                check_near(h->name, (double)k, (double)h->alone[alone], 0, 0);
            alone += got.alone[k];
        }
        check_near(h->name, got.phi, h->phi, 1e-10, 1e-14);
        check_near(h->name, got.scale, h->scale, 1e-12, 0);
        check_near(h->name, weighted, h->weighted, 1e-12, 0);
        assert_int_equal(alone, h->n_alone);
        assert_int_equal(got.n_points, h->n_points);
        for (size_t k = 0; k < h->n_points; k++) {
            const struct qs_change_point *p = &got.point[k];
            const double numbers[] = {(double)p->index, p->p,         p->before,
                                      p->after,         p->magnitude, p->ratio,
                                      p->ci.lo,         p->ci.hi,     p->confirmed ? 1 : 0};
            for (size_t j = 0; j < 9; j++)
                check_near(h->name, numbers[j], h->point[k][j], j == 1 ? 1e-8 : 1e-9, 0);
        }
        qs_steps_free(&got);
    }
}

/* Both sides of the margin beyond which a change is told: that of the interval's end, in either direction. */
static void test_changes_about_the_margin(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        double margin;
        size_t told, smaller;
        double most;
    } rows[] = {
        {"one", 0.0691, 1, 0, 0},
        {"one", 0.0692, 0, 1, 0.0617577372449},
        {"two", 0.0572, 2, 0, 0},
        {"two", 0.0573, 1, 1, 0.0507676575419},
        {"two", 0.1027, 1, 1, 0.0507676575419},
        {"two", 0.1028, 0, 2, 0.0945246427934}, /* 1 / 0.90679 = 1.10279 */
    };
    struct qs_hunter_opts opts = qs_hunter_opts_default();
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct history *h = history_of(rows[i].name);
        struct qs_changes got;
        opts.min_magnitude = rows[i].margin;
        assert_int_equal(qs_changes_find(h->x, h->n, &opts, &got), QS_OK);
        assert_int_equal(got.count, rows[i].told);
        assert_int_equal(got.smaller, rows[i].smaller);
        check_near("most", got.smaller_most_ratio, rows[i].most, 1e-9, 0);
        qs_changes_free(&got);
    }
}

static void test_what_a_change_says(void **state)
{
    (void)state;
    struct qs_hunter_opts opts = qs_hunter_opts_default();
    const struct history *one = history_of("one"), *late = history_of("late");
    struct qs_changes got;
    opts.min_magnitude = 0.02;
    assert_int_equal(qs_changes_find(one->x, one->n, &opts, &got), QS_OK);
    assert_int_equal(got.count, 1);
    EXPECT(got.at[0].kind == QS_CHANGE_STEP && got.at[0].from == 20 && got.at[0].to == 20 &&
           got.at[0].confirmed);
    EXPECT(got.n_alone == 2 && got.alone[0] == 7 && got.alone[1] == 29);
    check_near("median before", got.at[0].median_before, 998.5, 1e-15, 0);
    check_near("median after", got.at[0].median_after, 1062, 1e-15, 0);
    check_near("detectable", got.detectable_ratio, 0.0149756208862, 1e-9, 0);
    qs_changes_free(&got);
    assert_int_equal(qs_changes_find(late->x, late->n, &opts, &got), QS_OK);
    check_near("detectable", got.detectable_ratio, 0.0290990663309, 1e-9, 0);
    EXPECT(got.count == 1 && !got.at[0].confirmed);
    qs_changes_free(&got);
    assert_int_equal(qs_changes_find(one->x, 7, &opts, &got), QS_OK);
    EXPECT(isnan(got.detectable_ratio)); /* no step could be confirmed */
    qs_changes_free(&got);
    assert_int_equal(qs_changes_find(one->x, 8, &opts, &got), QS_OK);
    EXPECT(got.detectable_ratio > 0);
    qs_changes_free(&got);
}

/* The normal value whose two-sided p is 0.001 for the best of all places (uniroot); in the middle of 8 with 4
 * on either side there is one place. */
static void test_the_least_z(void **state)
{
    (void)state;
    static const double want[][2] = {
        {8, 3.290526731}, {20, 4.11047454}, {60, 4.263586711}, {200, 4.355775146}};
    struct qs_hunter_opts opts = qs_hunter_opts_default();
    for (size_t i = 0; i < 4; i++)
        check_near("z", qs_steps_least_z((size_t)want[i][0], &opts), want[i][1], 1e-8, 0);
    opts.confirm_after = 1;
    opts.p_max = 0.05;
    check_near("z", qs_steps_least_z(60, &opts), 3.258025531, 1e-8, 0);
}

/* 1 + 2 sum (1 - k/n) phi^k; the products of the neighbours of 1, 2, -2, -1 add up to 0. */
static void test_dependence_by_definition(void **state)
{
    (void)state;
    static const double phis[] = {0, 0.1, 0.5, 0.95, -0.4}, rest[] = {1, 2, -2, -1},
                        up[] = {1, 1, 1, 1, 1, -1}, none[] = {0, 0, 0};
    for (size_t i = 0; i < 5; i++)
        for (size_t n = 1; n < 30; n += 7) {
            double want = 1;
            for (size_t k = 1; k < n; k++)
                want += 2 * (1 - (double)k / (double)n) * pow(phis[i], (double)k);
            check_near("inflation", qs_ar1_inflation(phis[i], n), want, 1e-10, 0);
        }
    check_near("phi", qs_ar1_phi(rest, 4, 0), 0, 0, 1e-15);
    check_near("phi", qs_ar1_phi(rest, 4, 1), 0.95, 0, 0);
    check_near("phi", qs_ar1_phi(up, 6, 0), 0.5, 1e-15, 0);
    check_near("phi", qs_ar1_phi(up, 6, 1), 0.95, 0, 0);
    static const double down[] = {3, -1, 2, -2, 1, -1, 2, -3, 1, -2};
    /* products -25 of squares 38, a share of 1/10: (-25/38 + 0.1) / 0.7; of 3/10 the divisor is 1/4 */
    check_near("phi", qs_ar1_phi(down, 10, 1), (-25.0 / 38 + 0.1) / 0.7, 1e-14, 0);
    check_near("phi", qs_ar1_phi(down, 10, 3), (-25.0 / 38 + 0.3) / 0.25, 1e-14, 0);
    check_near("phi", qs_ar1_phi(none, 3, 1), 0, 0, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_steps_as_in_r),
        cmocka_unit_test(test_changes_about_the_margin),
        cmocka_unit_test(test_what_a_change_says),
        cmocka_unit_test(test_the_least_z),
        cmocka_unit_test(test_dependence_by_definition),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
