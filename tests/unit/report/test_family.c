/* p over all comparisons of a job. */
#include "world.h"

/* A pair whose p does not stand among many, and one without any. */
static void test_doubtful_pairs(void **state)
{
    (void)state;
    struct qs_job_spec spec = {.alpha = 0.05};
    struct qs_report_input in = {.spec = &spec};
    struct qs_report_pair pairs[2][20] = {0};
    struct qs_report_group groups[2] = {{.in = &in, .pairs = pairs[0], .pair_count = 20},
                                        {.in = &in, .pairs = pairs[1], .pair_count = 20}};
    struct qs_report_family family;
    for (size_t i = 0; i < 40; i++)
        pairs[i / 20][i % 20].verdict =
            (struct qs_verdict){.kind = QS_VERDICT_EQUIVALENT, .p = i == 0 ? NAN : (double)(i + 1) / 41};
    pairs[0][7].verdict = (struct qs_verdict){.kind = QS_VERDICT_PROBABLE_REGRESSION, .p = 0.008};
    pairs[1][7].verdict = (struct qs_verdict){.kind = QS_VERDICT_REGRESSION, .p = 1e-6};
    qs_report_adjust(groups, 2, &family);
    assert_int_equal(family.comparisons, 39);
    assert_int_equal(groups[1].family, 39);
    assert_int_equal(family.selected, 1);
    assert_true(isnan(pairs[0][0].p_bh));
    assert_true(fabs(pairs[1][7].p_bh - 39e-6) < 1e-12);
    assert_true(qs_report_pair_is_doubtful(&groups[0], &pairs[0][7]));
    assert_false(qs_report_pair_is_doubtful(&groups[1], &pairs[1][7]));
    assert_false(qs_report_pair_is_doubtful(&groups[0], &pairs[0][9])); /* nothing was called */
    qs_report_adjust(groups, 0, &family);
    assert_true(family.comparisons == 0 && isnan(family.fcr_level));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_doubtful_pairs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
