/* Distribution functions: R's values, and a table computed with 60 digits. */
#include "reference.h"

#include "stats/special.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

static const double REL = 1e-12;

#define COUNT(a) (sizeof(a) / sizeof *(a))

static void test_r_tables(void **state)
{
    (void)state;
    json_t *root = ref_json("reference-r.json"), *dist = ref_at(root, "distributions"), *row;
    const char *df;
    size_t i;
    json_object_foreach(ref_at(dist, "qt975"), df, row)
        check_near("qt", qs_qt(0.975, strtod(df, NULL)), json_number_value(row), REL, 0);
    json_array_foreach(ref_at(dist, "pt"), i, row)
        check_near("pt", qs_pt(ref_number(row, "t"), ref_number(row, "df")), ref_number(row, "p"), REL, 0);
    json_array_foreach(ref_at(dist, "pbeta"), i, row)
        check_near("pbeta", qs_pbeta(ref_number(row, "x"), ref_number(row, "a"), ref_number(row, "b")),
                   ref_number(row, "p"), REL, 0);
    json_array_foreach(ref_at(dist, "pnorm"), i, row)
        check_near("pnorm", qs_pnorm(ref_number(row, "z")), ref_number(row, "p"), REL, 0);
    json_array_foreach(ref_at(dist, "qnorm"), i, row)
        check_near("qnorm", qs_qnorm(ref_number(row, "p")), ref_number(row, "z"), REL, 1e-300);
    json_array_foreach(ref_at(dist, "pgamma_chisq"), i, row) check_near(
        "pchisq", qs_pchisq(ref_number(row, "x"), ref_number(row, "df")), ref_number(row, "p"), REL, 0);
    json_decref(root);
}

static void test_normal(void **state)
{
    (void)state;
    static const double p[][2] = {{-37, 5.7255712225245768227e-300}, {-20.5, 1.0764673258790960335e-93},
                                  {-8, 6.2209605742717841235e-16},   {-1.3, 0.096800484585610325542},
                                  {0.2, 0.57925970943910302738},     {5, 0.99999971334842812081}};
    static const double q[][2] = {{1e-300, -37.047096299361199237}, {1e-100, -21.273453560965324294},
                                  {1e-20, -9.2623400897984075796},  {1e-06, -4.7534243088228989573},
                                  {0.02, -2.0537489106318230443},   {0.07, -1.4757910281791706856},
                                  {0.3, -0.52440051270804081597},   {0.499, -0.0025066308995717662317},
                                  {0.51, 0.025068908258711058033},  {0.9, 1.2815515655446005935}};
    for (size_t i = 0; i < COUNT(p); i++)
        check_near("pnorm", qs_pnorm(p[i][0]), p[i][1], REL, 0);
    for (size_t i = 0; i < COUNT(q); i++)
        check_near("qnorm", qs_qnorm(q[i][0]), q[i][1], 2e-14, 0);
    EXPECT(isinf(qs_qnorm(0)) && qs_qnorm(0) < 0 && isinf(qs_qnorm(1)) && qs_qnorm(1) > 0);
    EXPECT(isnan(qs_qnorm(-0.1)) && isnan(qs_qnorm(1.1)) && isnan(qs_qnorm(NAN)));
}

static void test_t_tails(void **state)
{
    (void)state;
    static const double both[][3] = {{0.1, 1, 0.93654896513889285747},
                                     {2, 5, 0.10193947882985835625},
                                     {12.5, 3, 0.0011036313310960584588},
                                     {40, 7.25, 9.0008568209417415966e-10},
                                     {1e-8, 4, 0.9999999925},
                                     {3, 1e6, 0.0026998625414217970587},
                                     {6, 999, 2.7562690689044144936e-9},
                                     {100, 30.5, 5.9190867051174054338e-40},
                                     {1e5, 2.5, 4.5495038463512442203e-13},
                                     {1.5, 1e8, 0.13361440569470752009}};
    for (size_t i = 0; i < COUNT(both); i++) {
        check_near("two-sided", qs_pt_two_sided(both[i][0], both[i][1]), both[i][2], REL, 0);
        check_near("lower", qs_pt(-both[i][0], both[i][1]), both[i][2] / 2, REL, 0);
    }
    check_near("continuity at the switch to normal", qs_pt(-3, 0.9999e10), qs_pt(-3, 1.0001e10), 1e-12, 0);
    check_near("infinite df", qs_pt(-3, INFINITY), qs_pnorm(-3), 1e-14, 0);
    check_near("infinite t", qs_pt_two_sided(INFINITY, 3), 0, 0, 0);
    EXPECT(isnan(qs_pt(1, 0)) && isnan(qs_pt(NAN, 3)) && isnan(qs_pt(1, -1)) &&
           isnan(qs_pt_two_sided(1, NAN)));
}

static void test_t_quantiles(void **state)
{
    (void)state;
    static const double q[][3] = {
        {0.975, 3, 3.1824463052837084359},         {0.025, 7.7, -2.3217367528308647104},
        {0.8, 4, 0.94096457723518136434},          {1e-10, 3.5, -848.54334563347633695},
        {0.9999, 1, 3183.0987571185014745},        {0.6, 2, 0.28867513459481281549},
        {0.5000001, 11, 2.5641699080016994946e-7}, {0.3, 1.2, -0.68819454354107732476},
        {0.975, 1e5, 1.9599877075346092587},       {0.7501, 8, 0.7067261818146366602},
        {0.7499, 8, 0.70604712970620971796},       {0.999, 0.5, 102849.11563017537133}};
    for (size_t i = 0; i < COUNT(q); i++)
        check_near("qt", qs_qt(q[i][0], q[i][1]), q[i][2], REL, 0);
    check_near("median", qs_qt(0.5, 7), 0, 0, 0);
    check_near("infinite df", qs_qt(0.975, INFINITY), qs_qnorm(0.975), 1e-15, 0);
    for (int df = 1; df <= 3; df++) {
        EXPECT(isinf(qs_qt(1, df)) && qs_qt(1, df) > 0);
        EXPECT(isinf(qs_qt(0, df)) && qs_qt(0, df) < 0);
    }
    EXPECT(isnan(qs_qt(2, 3)) && isnan(qs_qt(0.5, 0)) && isnan(qs_qt(NAN, 3)));
}

static void test_t_round_trip(void **state)
{
    (void)state;
    static const double dfs[] = {0.6, 1, 1.7, 2, 3, 8.4, 29, 512, 40000};
    for (size_t i = 0; i < COUNT(dfs); i++)
        for (double p = 1e-12; p < 0.5; p *= 3)
            check_near("pt(qt(p))", qs_pt(qs_qt(p, dfs[i]), dfs[i]), p, 1e-12, 0);
}

static void test_beta(void **state)
{
    (void)state;
    static const double b[][4] = {{0.01, 0.5, 0.5, 0.063768560858519848583},
                                  {0.001, 50, 3, 1.3234012750000013774e-147},
                                  {0.5, 1000, 1000, 0.5},
                                  {0.48, 1000, 1000, 0.036779483278639569417},
                                  {1e-10, 0.5, 20, 0.000050148275016071129711},
                                  {0.75, 2.5, 0.001, 0.00046901627606238702131},
                                  {0.28, 1400, 3800, 0.95917799220209501282}};
    for (size_t i = 0; i < COUNT(b); i++)
        check_near("pbeta", qs_pbeta(b[i][0], b[i][1], b[i][2]), b[i][3], REL, 0);
    for (double x = 0.05; x < 1; x += 0.05)
        check_near("reflection", qs_pbeta(x, 3.3, 7.1) + qs_pbeta(1 - x, 7.1, 3.3), 1, 1e-14, 0);
    check_near("ends", qs_pbeta(0, 2, 3) + qs_pbeta(1, 2, 3), 1, 0, 0);
    EXPECT(isnan(qs_pbeta(0.5, 0, 1)) && isnan(qs_pbeta(0.5, 1, -1)) && isnan(qs_pbeta(NAN, 1, 1)));
    /* At its ends, too, where nothing has to be computed. */
    static const double none[][2] = {{0, 1},   {1, 0},   {-1, 1},       {1, -1},
                                     {NAN, 1}, {1, NAN}, {INFINITY, 1}, {1, INFINITY}};
    for (size_t i = 0; i < COUNT(none); i++)
        EXPECT(isnan(qs_pbeta(0, none[i][0], none[i][1])) && isnan(qs_pbeta(1, none[i][0], none[i][1])));
}

static void test_chi_squared(void **state)
{
    (void)state;
    static const double c[][4] = {{0.001, 1, 0.02522712063003961172, 0.97477287936996038828},
                                  {10, 10, 0.55950671493478758856, 0.44049328506521241144},
                                  {150, 10, 1, 3.7274850550625096223e-27},
                                  {1e-6, 7, 7.5988976239475084321e-24, 1},
                                  {1000, 900, 0.98900539105786415192, 0.01099460894213584808},
                                  {800, 900, 0.0074543274800029247485, 0.99254567251999707525},
                                  {3, 0.3, 0.98197198853874858342, 0.018028011461251416576},
                                  {700, 2, 1, 9.9295903962649792963e-153}};
    for (size_t i = 0; i < COUNT(c); i++) {
        check_near("lower", qs_pchisq(c[i][0], c[i][1]), c[i][2], REL, 0);
        check_near("upper", qs_pchisq_upper(c[i][0], c[i][1]), c[i][3], REL, 0);
    }
    check_near("at 0", qs_pchisq(0, 3), 0, 0, 0);
    check_near("at infinity", qs_pchisq_upper(INFINITY, 3), 0, 0, 0);
    EXPECT(isnan(qs_pchisq(1, 0)) && isnan(qs_pchisq_upper(NAN, 2)));
}

static void test_binomial(void **state)
{
    (void)state;
    static const double b[][4] = {{5, 10, 0.5, 0.623046875},
                                  {0, 6, 0.5, 0.015625},
                                  {94, 218, 0.5, 0.024632911325554843632},
                                  {3, 1000, 0.001, 0.9810731665496395894},
                                  {400, 1000, 0.5, 1.3642320780330092128e-10},
                                  {9, 10, 0.9, 0.65132155989999991398}};
    for (size_t i = 0; i < COUNT(b); i++)
        check_near("pbinom", qs_pbinom(b[i][0], b[i][1], b[i][2]), b[i][3], REL, 0);
    check_near("below", qs_pbinom(-1, 5, 0.5), 0, 0, 0);
    check_near("all", qs_pbinom(5, 5, 0.5), 1, 0, 0);
    check_near("none", qs_pbinom(0, 0, 0.5), 1, 0, 0);
    check_near("certain", qs_pbinom(2, 5, 1), 0, 0, 0);
    EXPECT(isnan(qs_pbinom(1, 5, 1.5)) && isnan(qs_pbinom(1, 2.5, 0.5)) && isnan(qs_pbinom(NAN, 5, 0.5)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_r_tables),     cmocka_unit_test(test_normal),
        cmocka_unit_test(test_t_tails),      cmocka_unit_test(test_t_quantiles),
        cmocka_unit_test(test_t_round_trip), cmocka_unit_test(test_beta),
        cmocka_unit_test(test_chi_squared),  cmocka_unit_test(test_binomial),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
