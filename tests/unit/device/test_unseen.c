/* Devices that no profile describes: what generic makes of the files that other kinds of devices are known to
 * have. Their paths and words are documented, the numbers in them are made up. */
#include <fnmatch.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "tree.h"

enum { RW = QS_BOARD_READABLE | QS_BOARD_WRITABLE, FILES = 40, DOMAINS = 4, SENSORS = 6 };

struct domain {
    const char *name;
    enum qs_domain_kind kind;
    size_t steps, lo_khz, hi_khz;
    const char *min_file; /* NULL: it cannot be held */
    const char *governor; /* under which it is held; NULL: its own */
};
struct sensor {
    const char *name;
    enum qs_sensor_role role;
    int64_t value;
    enum qs_board_sensor_status status;
};
struct device {
    const char *what;
    const char *files[FILES][2]; /* path, content */
    struct domain domains[DOMAINS];
    struct sensor sensors[SENSORS];
};

#define MALI "devices/platform/1f000000.mali/"
#define MIF  "class/devfreq/17000010.devfreq_mif/"
#define KGPU "kernel/gpu/"
#define KGSL "class/kgsl/kgsl-3d0/"
#define DDR  "devices/system/cpu/bus_dcvs/DDR/"
#define CARD "class/drm/card1/"
#define XE   "class/drm/card0/device/tile0/gt0/freq0/"
#define GV   "class/devfreq/17000000.gv11b/"
#define BW   "class/devfreq/soc:qcom,cpubw/"
#define ZONE "class/thermal/thermal_zone"

static const struct device devices[] = {
    {"a later Tensor: Mali elsewhere, memory with limits of other names",
     {{MALI "power_policy", "[coarse_demand] always_on"},
      {MALI "scaling_min_freq", "150000"},
      {MALI "scaling_max_freq", "890000"},
      {MALI "cur_freq", "150000"},
      {MALI "min_freq", "150000"},
      {MALI "max_freq", "890000"},
      {MALI "available_frequencies", "890000 400000 150000"},
      {MIF "governor", "sched"},
      {MIF "available_governors", "sched performance powersave"},
      {MIF "min_freq", "421000"},
      {MIF "max_freq", "3744000"},
      {MIF "cur_freq", "421000"},
      {MIF "available_frequencies", "421000 1539000 3744000"},
      {MIF "scaling_devfreq_min", "421000"},
      {MIF "scaling_devfreq_max", "3744000"},
      {ZONE "0/type", "VIRTUAL-SKIN"},
      {ZONE "0/temp", "31200"}},
     {{"mali", QS_DOMAIN_GPU, 3, 150000, 890000, MALI "scaling_min_freq", "always_on"},
      {"17000010.devfreq_mif", QS_DOMAIN_MEMORY, 3, 421000, 3744000, MIF "scaling_devfreq_min",
       "performance"}},
     {{"thermal:VIRTUAL-SKIN", QS_ROLE_SKIN, 31200, QS_SENSOR_OK}}},
    {"a phone of Samsung: the GPU below kernel/gpu",
     {{KGPU "gpu_governor", "Dynamic"},
      {KGPU "gpu_available_governor", "Default Interactive Static Booster Dynamic"},
      {KGPU "gpu_min_clock", "260000"},
      {KGPU "gpu_max_clock", "754000"},
      {KGPU "gpu_clock", "260000"},
      {KGPU "gpu_freq_table", "754000 650000 377000 260000"},
      {ZONE "0/type", "BIG"},
      {ZONE "0/temp", "39000"},
      {ZONE "1/type", "G3D"},
      {ZONE "1/temp", "36000"}},
     {{"gpu", QS_DOMAIN_GPU, 4, 260000, 754000, KGPU "gpu_min_clock", NULL}},
     {{"thermal:BIG", QS_ROLE_CPU, 39000, QS_SENSOR_OK}, {"thermal:G3D", QS_ROLE_GPU, 36000, QS_SENSOR_OK}}},
    {"a newer Snapdragon: kgsl, its second name, buses that firmware rules, zones that are none",
     {{KGSL "devfreq/governor", "msm-adreno-tz"},
      {KGSL "devfreq/available_governors", "msm-adreno-tz performance"},
      {KGSL "devfreq/min_freq", "220000000"},
      {KGSL "devfreq/max_freq", "680000000"},
      {KGSL "devfreq/cur_freq", "220000000"},
      {KGSL "devfreq/available_frequencies", "220000000 510000000 680000000"},
      {KGSL "gpuclk", "220000000"},
      {KGPU "gpu_max_clock", "680"},
      {KGPU "gpu_min_clock", "220"},
      {DDR "cur_freq", "547000"},
      {DDR "hw_min_freq", "547000"},
      {DDR "hw_max_freq", "3196000"},
      {DDR "available_frequencies", "547000 1555000 3196000"},
      {DDR "boost_freq", "0"},
      {ZONE "0/type", "cpu-1-0-usr"},
      {ZONE "0/temp", "37400"},
      {ZONE "1/type", "pm8350b-ibat-lvl0"},
      {ZONE "1/temp", "0"},
      {ZONE "2/type", "pm8350b-vbat-lvl1"},
      {ZONE "2/temp", "0"},
      {ZONE "3/type", "socd"},
      {ZONE "3/temp", "14"},
      {ZONE "4/type", "gpuss-0-usr"},
      {ZONE "4/temp", "36100"},
      {ZONE "5/type", "sdr0-pa0"},
      {ZONE "5/temp", "-273000"}},
     {{"kgsl", QS_DOMAIN_GPU, 3, 220000, 680000, KGSL "devfreq/min_freq", "performance"},
      {"DDR", QS_DOMAIN_MEMORY, 3, 547000, 3196000, NULL, NULL}},
     {{"thermal:cpu-1-0-usr", QS_ROLE_CPU, 37400, QS_SENSOR_OK},
      {"thermal:pm8350b-ibat-lvl0", QS_ROLE_OTHER, 0, QS_SENSOR_NOT_TEMPERATURE},
      {"thermal:pm8350b-vbat-lvl1", QS_ROLE_OTHER, 0, QS_SENSOR_NOT_TEMPERATURE},
      {"thermal:socd", QS_ROLE_OTHER, 14, QS_SENSOR_NOT_TEMPERATURE},
      {"thermal:gpuss-0-usr", QS_ROLE_GPU, 36100, QS_SENSOR_OK},
      {"thermal:sdr0-pa0", QS_ROLE_OTHER, -273000, QS_SENSOR_NOT_TEMPERATURE}}},
    {"an Intel board: graphics with limits in MHz and no table",
     {{CARD "gt_min_freq_mhz", "300"},
      {CARD "gt_max_freq_mhz", "1150"},
      {CARD "gt_act_freq_mhz", "0"},
      {CARD "gt_RPn_freq_mhz", "300"},
      {CARD "gt_RP0_freq_mhz", "1150"},
      {"class/drm/card1-HDMI-A-1/status", "disconnected"},
      {ZONE "0/type", "x86_pkg_temp"},
      {ZONE "0/temp", "45000"},
      {ZONE "1/type", "acpitz"},
      {ZONE "1/temp", "27800"}},
     {{"card1", QS_DOMAIN_GPU, 2, 300000, 1150000, CARD "gt_min_freq_mhz", NULL}},
     {{"thermal:x86_pkg_temp", QS_ROLE_CPU, 45000, QS_SENSOR_OK},
      {"thermal:acpitz", QS_ROLE_OTHER, 27800, QS_SENSOR_OK}}},
    {"an Intel board with the newer driver",
     {{XE "min_freq", "300"},
      {XE "max_freq", "2000"},
      {XE "act_freq", "300"},
      {XE "rpn_freq", "300"},
      {XE "rp0_freq", "2000"}},
     {{"card0.tile0.gt0", QS_DOMAIN_GPU, 2, 300000, 2000000, XE "min_freq", NULL}},
     {{NULL, QS_ROLE_OTHER, 0, QS_SENSOR_OK}}},
    {"a Jetson: a GPU of devfreq with the chip's name, a sensor that is none",
     {{GV "governor", "nvhost_podgov"},
      {GV "available_governors", "nvhost_podgov userspace performance"},
      {GV "min_freq", "114750000"},
      {GV "max_freq", "1109250000"},
      {GV "cur_freq", "114750000"},
      {GV "available_frequencies", "114750000 522750000 1109250000"},
      {ZONE "0/type", "GPU-therm"},
      {ZONE "0/temp", "33500"},
      {ZONE "1/type", "PMIC-Die"},
      {ZONE "1/temp", "100000"}},
     {{"17000000.gv11b", QS_DOMAIN_GPU, 3, 114750, 1109250, GV "min_freq", "performance"}},
     {{"thermal:GPU-therm", QS_ROLE_GPU, 33500, QS_SENSOR_OK},
      {"thermal:PMIC-Die", QS_ROLE_OTHER, 100000, QS_SENSOR_NOT_TEMPERATURE}}},
    {"an older Snapdragon: memory in MB/s, whole degrees and tenths beside thousandths",
     {{BW "governor", "bw_hwmon"},
      {BW "available_governors", "bw_hwmon performance powersave"},
      {BW "min_freq", "762"},
      {BW "max_freq", "13763"},
      {BW "cur_freq", "762"},
      {BW "available_frequencies", "762 5195 9887 13763"},
      {ZONE "0/type", "tsens_tz_sensor7"},
      {ZONE "0/temp", "412"},
      {ZONE "1/type", "pm8998_tz"},
      {ZONE "1/temp", "37000"},
      {ZONE "2/type", "msm_therm"},
      {ZONE "2/temp", "36"}},
     {{"soc:qcom,cpubw", QS_DOMAIN_MEMORY, 4, 762, 13763, BW "min_freq", "performance"}},
     {{"thermal:tsens_tz_sensor7", QS_ROLE_CPU, 41200, QS_SENSOR_OK},
      {"thermal:pm8998_tz", QS_ROLE_OTHER, 37000, QS_SENSOR_OK},
      {"thermal:msm_therm", QS_ROLE_OTHER, 36000, QS_SENSOR_OK}}}};

static void check_domain(const struct qs_board_domain *d, const struct domain *w)
{
    assert_string_equal(d->name, w->name);
    assert_int_equal(d->kind, w->kind);
    assert_int_equal(d->steps_khz.count, w->steps);
    assert_int_equal(d->hw_min_khz, w->lo_khz);
    assert_int_equal(d->hw_max_khz, w->hi_khz);
    assert_int_equal(d->hold, w->min_file != NULL ? QS_HOLD_OK : QS_HOLD_NO_FILE);
    if (w->min_file != NULL)
        assert_string_equal(d->min_file, w->min_file);
    assert_int_equal(d->hold_governor != NULL, w->governor != NULL);
    if (w->governor != NULL)
        assert_string_equal(d->hold_governor, w->governor);
}

static void check_device(const struct qs_profiles *profiles, const struct device *w)
{
    QS_SCOPED(qs_survey_done) struct qs_survey s = {0};
    QS_SCOPED(qs_strings_done) struct qs_strings patterns = {0};
    size_t n = 0;
    qs_board_survey_patterns(profiles, &patterns);
    for (size_t i = 0; i < FILES && w->files[i][0] != NULL; i++) {
        bool asked = false; /* an agent finds only what it is asked for */
        for (size_t k = 0; k < patterns.count && !asked; k++)
            asked = fnmatch(patterns.at[k], w->files[i][0], FNM_PATHNAME) == 0;
        if (asked)
            qs_survey_add(&s, w->files[i][0], RW, QS_READING_OK, 0, w->files[i][1], strlen(w->files[i][1]));
    }
    QS_SCOPED(qs_board_free_at) struct qs_board *b = qs_board_new(profiles, &s, NULL);
    qs_board_drop_commands(b); /* of these are only files known */
    assert_int_equal(b->profiles.count, 1);
    for (; n < DOMAINS && w->domains[n].name != NULL; n++) {
        if (n >= b->domains.count)
            fail_msg("%s: no %s", w->what, w->domains[n].name);
        check_domain(&b->domains.at[n], &w->domains[n]);
    }
    if (b->domains.count != n)
        fail_msg("%s: %s is one too many", w->what, b->domains.at[n].name);
    for (n = 0; n < SENSORS && w->sensors[n].name != NULL; n++) {
        const struct qs_board_sensor *found = qs_board_sensor(b, w->sensors[n].name);
        if (found == NULL)
            fail_msg("%s: no %s", w->what, w->sensors[n].name);
        assert_int_equal(found->role, w->sensors[n].role);
        assert_int_equal(found->value, w->sensors[n].value);
        assert_int_equal(found->status, w->sensors[n].status);
    }
    assert_int_equal(b->sensors.count, n);
}

static void test_unseen(void **state)
{
    (void)state;
    QS_SCOPED(qs_profiles_done) struct qs_profiles generic = {0};
    tree_profiles(&generic, false);
    for (size_t i = 0; i < sizeof devices / sizeof *devices; i++)
        check_device(&generic, &devices[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_unseen)};
    return cmocka_run_group_tests_name("unseen", tests, NULL, NULL);
}
