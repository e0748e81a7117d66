/* How much work the statistics of a file may take. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "report/analysis_impl.h"
#include "stats/bootstrap.h"

static void test_resamples_are_bounded(void **state)
{
    (void)state;
    struct qs_analysis_opts opts = qs_analysis_opts_default();
    assert_int_equal(qs_analysis_resamples(&opts, 0), 10000);
    assert_int_equal(qs_analysis_resamples(&opts, 10000), 10000);
    assert_int_equal(qs_analysis_resamples(&opts, 40000), 2500);
    assert_int_equal(qs_analysis_resamples(&opts, 2000000), QS_BOOT_RESAMPLES_MIN);
    opts.resamples = 500;
    assert_int_equal(qs_analysis_resamples(&opts, 40000), 500);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_resamples_are_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
