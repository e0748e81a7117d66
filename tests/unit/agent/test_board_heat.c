/* The heat of the virtual board: where temperatures go and how fast, in the unit of each file; what trip
 * points do. */
#include "board_case.h"

#include <errno.h>
#include <stdio.h>

#define P0 CPU "cpufreq/policy0/"
#define P4 CPU "cpufreq/policy4/"

/* First order: 1 - 1/e of the way after the time constant of 15 s, and all of it in the end. */
static void warms_as_first_order(void **state)
{
    struct qs_vboard *b = board_of("rock5b-rk3588");
    (void)state;
    tell(b, "ambient 35");
    wait_ms(b, 15000);
    assert_in_range(mc(b, "bigcore0-thermal"), 40692 + 6316, 40692 + 6326);
    wait_ms(b, 285000);
    assert_in_range(mc(b, "bigcore0-thermal"), 50690, 50692);
    tell(b, "ambient 25");
    wait_ms(b, 300000);
    assert_in_range(mc(b, "bigcore0-thermal"), 40692, 40694);
}

/* By the share of full load, and the square of the share of full speed. */
static void clocks_heat(void **state)
{
    struct qs_vboard *b = board_of("rpi4b");
    (void)state;
    /* At rest 40 % of load at 40 % of speed: 6.4 % of 55 degrees. At 100 % and 800 of 1500 MHz: 28.4 %. */
    tune(b, P0 "scaling_max_freq", "800000");
    tell(b, "load 100");
    wait_ms(b, 300000);
    assert_in_range(mc(b, "cpu-thermal"), 46738 + 12000, 46738 + 12130);
    tell(b, "load 0");
    wait_ms(b, 300000);
    assert_in_range(mc(b, "cpu-thermal"), 46738 - 3525, 46738 - 3515);
}

static void each_zone_has_its_unit(void **state)
{
    struct qs_vboard *b = board_of("sony-xperia-z-unrooted");
    (void)state;
    tell(b, "heat 57.9");
    is(b, ZONE "0/temp", "57"); /* whole degrees */
    is(b, ZONE "11/temp", "37000");
    is(b, ZONE "4/temp", "136"); /* stuck: nothing heats it */
    tell(b, "heat 41.25 pm8921_tz");
    is(b, ZONE "11/temp", "41250");
    tell(b, "heat 33.3 power_supply/battery/temp");
    is(b, "sys/class/power_supply/battery/temp", "333"); /* tenths */
    tell(b, "heat -3.5 tsens_tz_sensor1");
    is(b, ZONE "1/temp", "-4");
    b = board_of("pixel6-oriole");
    tell(b, "load 100");
    wait_ms(b, 60000);
    is(b, ZONE "15/temp", "12"); /* no temperatures */
    is(b, ZONE "16/temp", "27");
    is(b, ZONE "17/temp", "0");
    assert_true(get_number(b, ZONE "0/temp") > 60000);
    b = board_of("rpi4b");
    tell(b, "heat 50.5");
    is(b, ZONE "0/hwmon0/temp1_input", "50500");
}

static void slow_zones_are_slow(void **state)
{
    struct qs_vboard *b = board_of("huawei-p8lite2017");
    (void)state;
    tell(b, "ambient 35");
    wait_ms(b, 15000);
    is(b, ZONE "4/temp", "34"); /* system_h: 1.2 of 10 degrees */
    is(b, ZONE "1/temp", "46"); /* cluster0: 6.3 */
    is(b, "sys/class/power_supply/Battery/temp", "291");
}

/* A step each tenth of a second while above, back when below by the hysteresis. */
static void passive_trips_throttle(void **state)
{
    struct qs_vboard *b = board_of("rock5b-rk3588");
    (void)state;
    tune(b, P4 "scaling_governor", "performance");
    tell(b, "heat 90 bigcore0-thermal");
    wait_ms(b, 100);
    is(b, P4 "scaling_max_freq", "2208000");
    is(b, P4 "scaling_cur_freq", "2208000");
    assert_int_equal(khz(b, "policy4"), 2208000);
    is(b, COOL "1/cur_state", "1");
    is(b, COOL "0/cur_state", "1");
    is(b, COOL "3/cur_state", "0"); /* the GPU's zone is cool */
    wait_ms(b, 200);
    is(b, P4 "scaling_max_freq", "1800000");
    is(b, COOL "1/cur_state", "3");
    tell(b, "heat 84 bigcore0-thermal"); /* below the trip, within its hysteresis of 2 degrees */
    wait_ms(b, 100);
    is(b, COOL "1/cur_state", "3");
    tell(b, "heat 82.5 bigcore0-thermal");
    wait_ms(b, 300);
    is(b, COOL "1/cur_state", "0");
    is(b, P4 "scaling_max_freq", "2400000");
    assert_int_equal(khz(b, "policy4"), 2400000);
    tell(b, "heat 95 gpu-thermal");
    wait_ms(b, 100);
    is(b, COOL "3/cur_state", "1");
    is(b, "sys/class/devfreq/fb000000.gpu/max_freq", "900000000");
    is(b, COOL "1/cur_state", "0");
}

/* Left alone at full load it comes to rest at its trip point, slower than it was asked to be. */
static void it_holds_its_trip_point(void **state)
{
    struct qs_vboard *b = board_of("pixel6-oriole");
    (void)state;
    tell(b, "load 100");
    tune(b, CPU "cpufreq/policy6/scaling_governor", "performance");
    wait_ms(b, 120000);
    assert_in_range(mc(b, "BIG"), 69000, 71000);
    assert_true(khz(b, "policy6") < 2802000);
    tell(b, "load 0");
    wait_ms(b, 60000);
    assert_int_equal(khz(b, "policy6"), 2802000);
}

static void nobody_watches(void **state)
{
    struct qs_vboard *b = board_of("rock5b-rk3588");
    (void)state;
    tune(b, ZONE "1/mode", "disabled");
    tell(b, "heat 100 bigcore0-thermal");
    wait_ms(b, 500);
    is(b, COOL "1/cur_state", "0");
    tune(b, ZONE "1/mode", "enabled");
    tune(b, ZONE "1/policy", "user_space");
    wait_ms(b, 500);
    is(b, COOL "1/cur_state", "0");
    tune(b, ZONE "1/policy", "step_wise");
    wait_ms(b, 100);
    is(b, COOL "1/cur_state", "1");
    assert_int_equal(put(b, ZONE "1/mode", "off"), EINVAL);
    assert_int_equal(put(b, ZONE "1/policy", "magic"), EINVAL);
    b = board_of("pixel6-oriole"); /* its trip points can be moved */
    tune(b, ZONE "0/trip_point_1_temp", "30000");
    wait_ms(b, 100);
    is(b, COOL "0/cur_state", "1");
    assert_int_equal(put(b, ZONE "0/trip_point_1_temp", "cold"), EINVAL);
}

static void cooling_states_can_be_written(void **state)
{
    struct qs_vboard *b = board_of("odroid-xu3");
    (void)state;
    tune(b, P4 "scaling_governor", "performance");
    tune(b, COOL "2/cur_state", "5");
    is(b, COOL "2/cur_state", "5");
    is(b, P4 "scaling_max_freq", "1500000");
    is(b, P4 "scaling_cur_freq", "1500000");
    wait_ms(b, 1000);
    is(b, COOL "2/cur_state", "5");
    assert_int_equal(put(b, COOL "2/cur_state", "19"), EINVAL);
    assert_int_equal(put(b, COOL "2/cur_state", "-1"), EINVAL);
    tune(b, COOL "2/cur_state", "0");
    assert_int_equal(khz(b, "policy4"), 2000000);
}

/* Each cooling device slows the clock that its name means. */
static void coolers_find_their_clocks(void **state)
{
    static const struct {
        const char *tree, *cooler, *file, *limit;
    } cases[] = {
        {"pixel6-oriole", COOL "1/cur_state", CPU "cpufreq/policy4/scaling_max_freq", "1999000"},
        {"pixel6-oriole", COOL "2/cur_state", CPU "cpufreq/policy6/scaling_max_freq", "2630000"},
        {"pixel6-oriole", COOL "3/cur_state", "sys/devices/platform/1c500000.mali/scaling_max_freq",
         "400000"},
        {"huawei-p8lite2017", COOL "2/cur_state", "sys/class/devfreq/gpufreq/max_freq", "680000000"},
        {"rock5b-rk3588", COOL "2/cur_state", CPU "cpufreq/policy6/scaling_max_freq", "2016000"},
        {"rock5b-rk3588", COOL "3/cur_state", "sys/class/devfreq/fb000000.gpu/max_freq", "800000000"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct qs_vboard *b = board_of(cases[i].tree);
        tune(b, cases[i].cooler, "2");
        is(b, cases[i].file, cases[i].limit);
    }
    struct qs_vboard *b = board_of("pixel6-oriole"); /* the charger's: it is nobody's clock */
    tune(b, COOL "5/cur_state", "3");
    is(b, COOL "5/cur_state", "3");
    is(b, CPU "cpufreq/policy0/scaling_max_freq", "1803000");
}

static void a_fan_cools(void **state)
{
    struct qs_vboard *b = board_of("odroid-xu3");
    (void)state;
    tell(b, "heat 61");
    wait_ms(b, 100);
    is(b, COOL "0/cur_state", "2"); /* trips at 50 and 60, not 70 */
    tell(b, "heat 57");
    wait_ms(b, 100);
    is(b, COOL "0/cur_state", "2"); /* 5 degrees of hysteresis */
    tell(b, "heat 54");
    wait_ms(b, 100);
    is(b, COOL "0/cur_state", "1");
    tell(b, "heat 44");
    wait_ms(b, 100);
    is(b, COOL "0/cur_state", "0");
    /* At the fan's first of three speeds 4/30 less than without it. */
    tell(b, "ambient 34.5");
    wait_ms(b, 300000);
    is(b, COOL "0/cur_state", "1");
    assert_in_range(mc(b, "cpu2-thermal"), 58500 - 24000 * 4 / 30 - 20, 58500 - 24000 * 4 / 30 + 20);
}

static void hot_trips_unplug(void **state)
{
    struct qs_vboard *b = board_of("pixel6-oriole");
    const struct qs_vboard_node *node;
    (void)state;
    tune(b, CPU "cpu3/online", "0"); /* by a person: it stays so */
    tell(b, "heat 120 BIG");
    wait_ms(b, 200);
    is(b, CPU "online", "0-2,4-5");
    is(b, CPU "cpu7/online", "0");
    assert_int_equal(qs_vboard_look(b, CPU "cpu7/cpufreq", &node), QS_VBOARD_NOTHING);
    assert_int_equal(try_get(b, CPU "cpufreq/policy6/scaling_max_freq"), ENODEV);
    assert_int_equal(khz(b, "policy6"), 0);
    tell(b, "heat 112 BIG"); /* below the trip by less than the least hysteresis */
    wait_ms(b, 200);
    is(b, CPU "online", "0-2,4-5");
    tell(b, "heat 60 BIG");
    wait_ms(b, 100);
    is(b, CPU "online", "0-2,4-6");
    wait_ms(b, 1000);
    is(b, CPU "online", "0-2,4-7");
    assert_true(khz(b, "policy6") > 0);
    tell(b, "heat 200 BIG");
    wait_ms(b, 2000);
    is(b, CPU "online", "0"); /* the last one cannot go */
}

/* A Raspberry Pi's firmware slows the clock without a word to the kernel; only its mask tells. */
static void firmware_throttles_in_silence(void **state)
{
    const char *mask = "sys/devices/platform/soc/soc:firmware/get_throttled";
    struct qs_vboard *b = board_of("rpi4b");
    (void)state;
    tune(b, P0 "scaling_governor", "performance");
    is(b, mask, "0");
    tell(b, "heat 82");
    wait_ms(b, 200);
    assert_int_equal(khz(b, "policy0"), 1300000);
    is(b, P0 "scaling_cur_freq", "1500000");
    is(b, P0 "scaling_max_freq", "1500000");
    is(b, COOL "0/cur_state", "0");
    is(b, mask, "80008");
    tell(b, "heat 50");
    wait_ms(b, 400);
    assert_int_equal(khz(b, "policy0"), 1500000);
    is(b, mask, "80000"); /* since boot */
    tell(b, "heat 95");
    wait_ms(b, 100);
    is(b, mask, "c000c");
    is(b, CPU "offline", "3");
}

/* A vendor's driver that can be told to stand back. */
static void a_vendor_throttles(void **state)
{
    struct qs_vboard *b = board_of("sony-xperia-z-unrooted");
    (void)state;
    tell(b, "heat 95");
    wait_ms(b, 100);
    is(b, CPU "cpu0/cpufreq/scaling_max_freq", "1458000");
    is(b, CPU "online", "0");
    b = board_of("sony-xperia-z-unrooted");
    tune(b, "sys/module/msm_thermal/core_control/enabled", "0");
    tell(b, "heat 95");
    wait_ms(b, 100);
    is(b, CPU "cpu0/cpufreq/scaling_max_freq", "1458000");
    is(b, CPU "online", "0-1");
    tune(b, "sys/module/msm_thermal/parameters/enabled", "0");
    is(b, "sys/module/msm_thermal/parameters/enabled", "N");
    wait_ms(b, 100);
    is(b, CPU "cpu0/cpufreq/scaling_max_freq", "1512000");
}

/* Equal calls at equal times give equal answers, however often somebody looks. */
static void looking_changes_nothing(void **state)
{
    int64_t seen[2];
    (void)state;
    for (int often = 0; often < 2; often++) {
        struct qs_vboard *b = board_of("pixel6-oriole");
        tell(b, "load 100");
        for (int ms = 0; ms < 30000; ms += often ? 7 : 30000) {
            wait_ms(b, 0);
            qs_vboard_on_time(b, (int64_t)(ms + (often ? 7 : 30000)) * 1000);
        }
        qs_vboard_on_time(b, 31000000);
        seen[often] = mc(b, "BIG");
    }
    assert_int_equal(seen[0], seen[1]);
    assert_true(seen[0] > 60000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(warms_as_first_order),
        cmocka_unit_test(clocks_heat),
        cmocka_unit_test(each_zone_has_its_unit),
        cmocka_unit_test(slow_zones_are_slow),
        cmocka_unit_test(passive_trips_throttle),
        cmocka_unit_test(it_holds_its_trip_point),
        cmocka_unit_test(nobody_watches),
        cmocka_unit_test(cooling_states_can_be_written),
        cmocka_unit_test(coolers_find_their_clocks),
        cmocka_unit_test(a_fan_cools),
        cmocka_unit_test(hot_trips_unplug),
        cmocka_unit_test(firmware_throttles_in_silence),
        cmocka_unit_test(a_vendor_throttles),
        cmocka_unit_test(looking_changes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
