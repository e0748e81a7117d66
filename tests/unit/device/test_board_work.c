/* How much work a board is: a device that shows twice as many files costs twice as many comparisons, not four
 * times. They are counted, not timed. */
#include <fnmatch.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "device/board/board.h"
#include "tree.h"

enum { FEW = 2000, EACH = 100 };

static size_t matched;

int __real_fnmatch(const char *pattern, const char *text, int flags);
int __wrap_fnmatch(const char *pattern, const char *text, int flags);
int __wrap_fnmatch(const char *pattern, const char *text, int flags)
{
    matched++;
    return __real_fnmatch(pattern, text, flags);
}

/* Of a board whose survey has so many files of this name. */
static size_t work_of(const char *form, size_t files)
{
    QS_SCOPED(qs_profiles_done) struct qs_profiles profiles = {0};
    QS_SCOPED(qs_survey_done) struct qs_survey survey = {0};
    tree_profiles(&profiles, true);
    for (size_t i = 0; i < files; i++) {
        char path[100];
        int n =
            snprintf(path, sizeof path, "%.*s%zu%s", (int)strcspn(form, "#"), form, i, strchr(form, '#') + 1);
        assert_in_range(n, 1, sizeof path - 1);
        qs_survey_add(&survey, path, QS_BOARD_READABLE, QS_READING_OK, 0, "1000000", 7);
    }
    matched = 0;
    qs_board_free(qs_board_new(&profiles, &survey, NULL));
    return matched;
}

static void test_twice_the_files(void **state)
{
    static const char *const forms[] = {"class/devfreq/a#gpu/cur_freq",
                                        "class/devfreq/#/max_freq",
                                        "devices/system/cpu/cpufreq/policy#/scaling_cur_freq",
                                        "class/hwmon/hwmon#/temp1_input",
                                        "class/hwmon/hwmon0[#/temp1_input",
                                        "class/thermal/thermal_zone#/temp",
                                        "devices/system/cpu/cpu0/cpuidle/state#/disable"};
    (void)state;
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        size_t once = work_of(forms[i], FEW), twice = work_of(forms[i], 2 * FEW);
        if (once > EACH * FEW || twice > 2 * once + FEW)
            fail_msg("%s: %zu comparisons for %d files, %zu for twice as many", forms[i], once, FEW, twice);
    }
}

int main(int argc, char **argv)
{
    (void)argv;
    if (argc != 3)
        return 2;
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_twice_the_files)};
    return cmocka_run_group_tests_name("device board work", tests, NULL, NULL);
}
