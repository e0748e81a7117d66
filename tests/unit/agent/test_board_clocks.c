/* The clocks of the virtual board: governors, limits, CPUs that go and come, and what their files take and
 * show. */
#include "board_case.h"

#include <errno.h>

#define P0 CPU "cpufreq/policy0/"
#define P4 CPU "cpufreq/policy4/"

/* A file as the tree has it, and what a tree's file looks like at once and after a minute in which nothing
 * was touched. */
static void begins_as_its_tree(void **state)
{
    static const char *const trees[] = {"huawei-p8lite2017", "odroid-xu3", "pixel6-oriole",
                                        "rock5b-rk3588",     "rpi4b",      "sony-xperia-z-unrooted"};
    (void)state;
    for (size_t i = 0; i < sizeof trees / sizeof trees[0]; i++) {
        struct qs_vboard *b = board_of(trees[i]);
        wait_ms(b, 60000);
        size_t moving = 0;
        for (size_t n = 0; n < b->node_count; n++) {
            const struct qs_vboard_node *node = &b->nodes[n];
            const struct qs_vboard_node *seen;
            if (!node->is_link && qs_vboard_look(b, node->path, &seen) == QS_VBOARD_FILE &&
                strcmp(get(b, node->path), node->text) != 0) {
                assert_non_null(strstr(node->path, "stats/time_in_state"));
                moving++;
            }
        }
        size_t clocks = 0;
        for (size_t c = 0; c < b->clock_count; c++) {
            clocks += strncmp(b->clocks[c].name, "policy", 6) == 0;
        }
        assert_int_equal(moving, clocks);
    }
}

static void governors_choose(void **state)
{
    struct qs_vboard *b = board_of("rpi4b");
    (void)state;
    is(b, P0 "scaling_cur_freq", "600000");
    tune(b, P0 "scaling_governor", "performance\n");
    is(b, P0 "scaling_governor", "performance");
    is(b, P0 "scaling_cur_freq", "1500000");
    assert_int_equal(khz(b, "policy0"), 1500000);
    tune(b, P0 "scaling_max_freq", "1250000");
    is(b, P0 "scaling_max_freq", "1250000");
    is(b, P0 "scaling_cur_freq", "1200000"); /* the fastest step that is not above it */
    tune(b, P0 "scaling_governor", "powersave");
    is(b, P0 "scaling_cur_freq", "600000");
    tune(b, P0 "scaling_min_freq", "850000");
    is(b, P0 "scaling_cur_freq", "900000");
    assert_int_equal(put(b, P0 "scaling_governor", "warp"), EINVAL);
    assert_int_equal(put(b, P0 "scaling_governor", "ondemand powersave"), EINVAL);
    assert_int_equal(put(b, P0 "scaling_governor", ""), EINVAL);
    is(b, P0 "scaling_governor", "powersave");
}

static void load_is_followed(void **state)
{
    struct qs_vboard *b = board_of("odroid-xu3");
    (void)state;
    tell(b, "load 50");
    is(b, P0 "scaling_cur_freq", "700000");
    is(b, P4 "scaling_cur_freq", "1000000");
    tell(b, "load 100 policy4");
    is(b, P0 "scaling_cur_freq", "700000");
    is(b, P4 "scaling_cur_freq", "2000000");
    tune(b, P4 "scaling_max_freq", "1500000");
    is(b, P4 "scaling_cur_freq", "1500000");
    tell(b, "load 0");
    is(b, P4 "scaling_cur_freq", "200000");
    tune(b, P4 "scaling_min_freq", "300000");
    is(b, P4 "scaling_cur_freq", "300000");
    tell(b, "load rest");
    is(b, P0 "scaling_cur_freq", "600000");
    is(b, P4 "scaling_cur_freq", "800000");
    assert_int_equal(khz(b, "10c20000.memory-controller"), 825000);
}

static void limits_are_judged_as_by_a_kernel(void **state)
{
    static const struct {
        const char *file, *text;
        int error;
        const char *min, *max;
    } cases[] = {
        {"scaling_max_freq", "9999999", 0, "600000", "1500000"}, /* "no limit" */
        {"scaling_min_freq", "0", 0, "600000", "1500000"},
        {"scaling_min_freq", "1600000", EINVAL, "600000", "1500000"},
        {"scaling_max_freq", "1000000", 0, "600000", "1000000"},
        {"scaling_min_freq", "1100000", EINVAL, "600000", "1000000"},
        {"scaling_min_freq", "1000000", 0, "1000000", "1000000"},
        {"scaling_max_freq", "900000", EINVAL, "1000000", "1000000"},
        {"scaling_max_freq", "1200000", 0, "1000000", "1200000"},
        {"scaling_max_freq", "fast", EINVAL, "1000000", "1200000"},
        {"scaling_max_freq", "1300000x", EINVAL, "1000000", "1200000"},
        {"scaling_max_freq", "-1", EINVAL, "1000000", "1200000"},
        {"scaling_max_freq", "", EINVAL, "1000000", "1200000"},
        {"scaling_min_freq", "1110000", 0, "1110000", "1200000"},
        {"scaling_max_freq", "1150000", 0, "1110000", "1200000"}, /* no step between: the next one */
    };
    struct qs_vboard *b = board_of("rpi4b");
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char path[128] = P0;
        strcat(path, cases[i].file);
        assert_int_equal(put(b, path, cases[i].text), cases[i].error);
        is(b, P0 "scaling_min_freq", cases[i].min);
        is(b, P0 "scaling_max_freq", cases[i].max);
    }
}

static void userspace_sets_the_speed(void **state)
{
    struct qs_vboard *b = board_of("rpi4b");
    (void)state;
    is(b, P0 "scaling_setspeed", "<unsupported>");
    assert_int_equal(put(b, P0 "scaling_setspeed", "900000"), EINVAL);
    tune(b, P0 "scaling_governor", "userspace");
    is(b, P0 "scaling_cur_freq", "600000"); /* stays where it was */
    tune(b, P0 "scaling_setspeed", "950000");
    is(b, P0 "scaling_cur_freq", "1000000");
    is(b, P0 "scaling_setspeed", "1000000");
    tune(b, P0 "scaling_max_freq", "800000");
    is(b, P0 "scaling_cur_freq", "800000");
    assert_int_equal(put(b, P0 "scaling_setspeed", "slow"), EINVAL);
    tell(b, "load 100");
    is(b, P0 "scaling_cur_freq", "800000");
}

static void time_is_counted_by_step(void **state)
{
    struct qs_vboard *b = board_of("rpi4b");
    (void)state;
    wait_ms(b, 1000);
    tune(b, P0 "scaling_governor", "performance");
    wait_ms(b, 250);
    tune(b, P0 "scaling_governor", "powersave");
    is(b, P0 "stats/time_in_state",
       "600000 10100\n700000 9000\n800000 8000\n900000 7000\n1000000 6000\n1100000 5000\n1200000 "
       "4000\n1300000 3000\n"
       "1400000 2000\n1500000 1025");
    is(b, P0 "stats/total_trans", "4713");
    tune(b, P0 "scaling_governor", "powersave");
    is(b, P0 "stats/total_trans", "4713");
}

static void devfreq_and_its_hertz(void **state)
{
    const char *gpu = "sys/class/devfreq/11800000.gpu/";
    struct qs_vboard *b = board_of("odroid-xu3");
    char set[128];
    (void)state;
    strcat(strcpy(set, gpu), "userspace/set_freq");
    assert_int_equal(try_get(b, set), ENODEV);
    tune(b, "sys/class/devfreq/11800000.gpu/governor", "performance");
    is(b, "sys/class/devfreq/11800000.gpu/cur_freq", "600000000");
    assert_int_equal(khz(b, "11800000.gpu"), 600000);
    tune(b, "sys/class/devfreq/11800000.gpu/max_freq", "500000000");
    is(b, "sys/class/devfreq/11800000.gpu/target_freq", "480000000");
    assert_int_equal(put(b, "sys/class/devfreq/11800000.gpu/min_freq", "600000000"), EINVAL);
    assert_int_equal(put(b, "sys/class/devfreq/11800000.gpu/governor", "ondemand"), EINVAL);
    tune(b, "sys/class/devfreq/11800000.gpu/governor", "userspace");
    is(b, set, "undefined");
    tune(b, set, "266000000");
    assert_int_equal(khz(b, "11800000.gpu"), 266000);
    is(b, set, "266000000");
    tune(b, "sys/class/devfreq/11800000.gpu/governor", "powersave");
    assert_int_equal(try_get(b, set), ENODEV);
    assert_int_equal(put(b, "sys/class/devfreq/11800000.gpu/cur_freq", "1"), EACCES);
}

static void kgsl_has_levels(void **state)
{
    const char *gpu = "kgsl-3d0";
    struct qs_vboard *b = board_of("sony-xperia-z-unrooted");
    (void)state;
#define KGSL "sys/class/kgsl/kgsl-3d0/"
    is(b, KGSL "gpuclk", "128000000");
    tell(b, "load 100");
    assert_int_equal(khz(b, gpu), 400000);
    tune(b, KGSL "max_pwrlevel", "2");
    is(b, KGSL "max_gpuclk", "200000000");
    assert_int_equal(khz(b, gpu), 200000);
    tune(b, KGSL "max_gpuclk", "330000000");
    is(b, KGSL "max_gpuclk", "320000000");
    is(b, KGSL "max_pwrlevel", "1");
    tell(b, "load 0");
    assert_int_equal(khz(b, gpu), 128000);
    tune(b, KGSL "min_pwrlevel", "2");
    assert_int_equal(khz(b, gpu), 200000);
    assert_int_equal(put(b, KGSL "min_pwrlevel", "5"), EINVAL);
    tune(b, KGSL "pwrscale/policy", "none");
    is(b, KGSL "pwrscale/policy", "[none] msm trustzone");
    tune(b, KGSL "gpuclk", "320000000");
    tell(b, "load 0");
    assert_int_equal(khz(b, gpu), 320000);
    tune(b, KGSL "pwrscale/policy", "trustzone");
    assert_int_equal(khz(b, gpu), 200000);
    assert_int_equal(put(b, KGSL "pwrscale/policy", "[msm]"), EINVAL);
}

static void a_vendors_gpu(void **state)
{
    struct qs_vboard *b = board_of("pixel6-oriole");
    (void)state;
#define MALI "sys/devices/platform/1c500000.mali/"
    tune(b, MALI "scaling_min_freq", "400000");
    is(b, MALI "cur_freq", "400000");
    tune(b, MALI "hint_min_freq", "471000");
    is(b, MALI "cur_freq", "471000");
    tune(b, MALI "scaling_max_freq", "450000");
    is(b, MALI "cur_freq", "400000"); /* a hint does not go beyond the limit */
    is(b, MALI "max_freq", "762000");
    tune(b, MALI "power_policy", "always_on");
    is(b, MALI "power_policy", "coarse_demand [always_on] adaptive");
    assert_int_equal(put(b, MALI "power_policy", "never"), EINVAL);
}

static void cpus_go_and_come(void **state)
{
    struct qs_vboard *b = board_of("odroid-xu3");
    const struct qs_vboard_node *node;
    (void)state;
    tune(b, CPU "cpu5/online", "0");
    is(b, CPU "cpu5/online", "0");
    is(b, CPU "online", "0-4,6-7");
    is(b, CPU "offline", "5");
    is(b, P4 "affected_cpus", "4 6 7");
    is(b, P4 "related_cpus", "4 5 6 7");
    assert_int_equal(qs_vboard_look(b, CPU "cpu5/cpufreq", &node), QS_VBOARD_NOTHING);
    assert_int_equal(qs_vboard_look(b, CPU "cpu5/topology", &node), QS_VBOARD_NOTHING);
    assert_int_equal(qs_vboard_look(b, CPU "cpu4/cpufreq", &node), QS_VBOARD_LINK);
    tune(b, CPU "cpu4/online", "0");
    tune(b, CPU "cpu6/online", "0");
    tune(b, CPU "cpu7/online", "0");
    assert_int_equal(try_get(b, P4 "scaling_cur_freq"), ENODEV);
    assert_int_equal(qs_vboard_look(b, CPU "cpufreq/policy4", &node), QS_VBOARD_NOTHING);
    assert_int_equal(khz(b, "policy4"), 0);
    assert_int_equal(put(b, CPU "cpu4/online", "2"), EINVAL);
    assert_int_equal(put(b, CPU "cpu0/online", "0"), ENOENT); /* it has no such file */
    tune(b, CPU "cpu4/online", "1");
    assert_int_equal(khz(b, "policy4"), 800000);
    is(b, CPU "online", "0-4");
}

/* An old kernel: a folder a CPU, none for those that are off-line until they come. */
static void each_cpu_has_its_own(void **state)
{
    struct qs_vboard *b = board_of("sony-xperia-z-unrooted");
    (void)state;
    assert_int_equal(khz(b, "cpu2"), 0);
    assert_int_equal(try_get(b, CPU "cpu2/cpufreq/scaling_governor"), ENODEV);
    tune(b, CPU "cpu2/online", "1");
    is(b, CPU "cpu2/cpufreq/affected_cpus", "2");
    is(b, CPU "cpu2/topology/core_id", "2");
    tune(b, CPU "cpu2/cpufreq/scaling_governor", "performance");
    assert_int_equal(khz(b, "cpu2"), 1512000);
    assert_int_equal(khz(b, "cpu1"), 1026000);
    is(b, CPU "cpu0/cpufreq/scaling_governor", "interactive");
}

/* A governor's own knobs are there while it rules. */
static void tunables_come_with_their_governor(void **state)
{
    struct qs_vboard *b = board_of("huawei-p8lite2017");
    (void)state;
    is(b, P0 "interactive/hispeed_freq", "1306000");
    tune(b, P0 "interactive/hispeed_freq", "807000");
    is(b, P0 "interactive/hispeed_freq", "807000");
    assert_int_equal(put(b, P0 "interactive/hispeed_freq", "high"), EINVAL);
    tune(b, P0 "scaling_governor", "performance");
    assert_int_equal(try_get(b, P0 "interactive/hispeed_freq"), ENODEV);
    is(b, P4 "ondemand/sampling_rate", "20000");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(begins_as_its_tree),
        cmocka_unit_test(governors_choose),
        cmocka_unit_test(load_is_followed),
        cmocka_unit_test(limits_are_judged_as_by_a_kernel),
        cmocka_unit_test(userspace_sets_the_speed),
        cmocka_unit_test(time_is_counted_by_step),
        cmocka_unit_test(devfreq_and_its_hertz),
        cmocka_unit_test(kgsl_has_levels),
        cmocka_unit_test(a_vendors_gpu),
        cmocka_unit_test(cpus_go_and_come),
        cmocka_unit_test(each_cpu_has_its_own),
        cmocka_unit_test(tunables_come_with_their_governor),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
