/* Every form of sentence, as a golden table: tests/golden/report/sentences.txt. */
#include "report/job/metrics.h"
#include "world.h"
static const struct {
    double lo, hi;
} intervals[] = {
    {1.073, 1.090},
    {1.0731, 1.0739},
    {1.001, 1.5},
    {1.4, 1.9},
    {1.9, 2.3},
    {2.0, 2.0},
    {2.104, 2.163},
    {12.5, 130},
    {1e7, 3e9},
    {0.970, 0.979},
    {0.91, 0.999},
    {0.5, 0.9},
    {0.463, 0.476},
    {0.001, 0.002},
    {0.996, 1.006},
    {0.9996, 1.0001},
    {1.000004, 1.000011},
    {0.999992, 1.000013},
    {1, 1},
    {0.9999999, 1.0000001},
    {1.0000001, 1.0000002},
    {0.9999998, 0.9999999},
    {1.081, 1.081},
    {0.92, 0.92},
    {1, 1.02},
    {0.98, 1},
    {0.7, 1.4},
    {0.2, 12},
    {1e-9, 1e30},
    {0, 0.3},
    {0, INFINITY},
    {NAN, NAN},
    {1.1, NAN},
};

static void test_sentences(void **state)
{
    (void)state;
    struct qs_buf out;
    qs_buf_init(&out);
    for (size_t i = 0; i < sizeof intervals / sizeof *intervals; i++) {
        qs_buf_fmt(&out, "%-10.8g %-10.8g ", intervals[i].lo, intervals[i].hi);
        qs_report_sentence(&out, "a", "b", intervals[i].lo, intervals[i].hi);
        qs_buf_char(&out, '\n');
    }
    static const double arms[][2] = {{850, 920},     {12.3e3, 12.6e3}, {1.2e6, 1.2e6},
                                     {3.4e9, 125e9}, {NAN, NAN},       {5, NAN}};
    for (size_t i = 0; i < sizeof arms / sizeof *arms; i++) {
        qs_buf_fmt(&out, "%-10.8g %-10.8g ", arms[i][0], arms[i][1]);
        qs_report_arm_sentence(&out, &qs_duration_metric, "a", arms[i][0], arms[i][1]);
        qs_buf_char(&out, '\n');
    }
    golden_check("sentences.txt", &out);
    qs_buf_done(&out);
}

/* What a sentence says of (lo, hi) it says of (1/hi, 1/lo) with the names changed, in the factor form. */
static void test_factors_are_symmetric(void **state)
{
    (void)state;
    struct qs_buf one, two;
    qs_buf_init(&one);
    qs_buf_init(&two);
    qs_report_sentence(&one, "a", "b", 2.5, 4);
    qs_report_sentence(&two, "b", "a", 0.25, 0.4);
    assert_string_equal(one.data, "b takes 2.50–4.00 times as long as a");
    assert_string_equal(one.data, two.data);
    qs_buf_done(&one);
    qs_buf_done(&two);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sentences),
        cmocka_unit_test(test_factors_are_symmetric),
    };
    golden_dir = argc > 1 ? argv[1] : golden_dir;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
