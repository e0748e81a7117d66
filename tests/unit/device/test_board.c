/* The boards of the six trees (argument 1: tests/data/sysfs): what people rely on, value by value, and the
 * whole of each in argument 2 (QS_GOLDEN_UPDATE=1 writes it); schema/board.md (argument 3). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "config/document/load.h"
#include "device/board/board.h"
#include "tree.h"

static const char *boards, *golden, *page;

struct cluster {
    const char *name, *cpus;
    size_t capacity, max_khz;
};
struct domain {
    const char *name;
    enum qs_domain_kind kind;
    const char *cpus;
    size_t steps, lo_khz, second_khz, hi_khz;
    const char *hold_governor;
};
struct sensor {
    const char *name;
    enum qs_sensor_role role;
    enum qs_reading_unit unit;
    int64_t value;
    enum qs_board_sensor_status status;
};
struct wanted {
    const char *tree, *profile, *cpus, *online;
    struct cluster clusters[4];
    struct domain domains[8];
    size_t domain_count;
    struct sensor sensors[16];
    size_t sensor_count; /* all of them; those that are listed are among them */
};

static const struct wanted all[] = {
    {"pixel6-oriole",
     "pixel6-oriole",
     "0-7",
     "0-7",
     {{"little", "0-3", 161, 1803000}, {"big", "4-5", 499, 2253000}, {"prime", "6-7", 1024, 2802000}},
     {{"policy0", QS_DOMAIN_CPU, "0-3", 11, 300000, 574000, 1803000, "performance"},
      {"policy4", QS_DOMAIN_CPU, "4-5", 14, 400000, 553000, 2253000, "performance"},
      {"policy6", QS_DOMAIN_CPU, "6-7", 17, 500000, 851000, 2802000, "performance"},
      {"mali", QS_DOMAIN_GPU, NULL, 5, 151000, 302000, 762000, "always_on"},
      {"mif", QS_DOMAIN_MEMORY, NULL, 4, 421000, 1014000, 3172000, "performance"},
      {"int", QS_DOMAIN_OTHER, NULL, 2, 100000, 533000, 533000, "performance"}},
     6,
     {{"thermal:BIG", QS_ROLE_CPU, QS_READS_MC, 41000, QS_SENSOR_OK},
      {"thermal:LITTLE", QS_ROLE_CPU, QS_READS_MC, 38000, QS_SENSOR_OK},
      {"thermal:G3D", QS_ROLE_GPU, QS_READS_MC, 37000, QS_SENSOR_OK},
      {"thermal:quiet_therm", QS_ROLE_SKIN, QS_READS_MC, 30500, QS_SENSOR_OK},
      {"thermal:battery", QS_ROLE_BATTERY, QS_READS_MC, 29000, QS_SENSOR_OK},
      {"thermal:soc", QS_ROLE_OTHER, QS_READS_COUNT, 12, QS_SENSOR_NOT_TEMPERATURE},
      {"thermal:battery_cycle", QS_ROLE_BATTERY, QS_READS_COUNT, 27, QS_SENSOR_NOT_TEMPERATURE},
      {"thermal:batoilo", QS_ROLE_OTHER, QS_READS_COUNT, 0, QS_SENSOR_NOT_TEMPERATURE},
      {"thermal:vdroop1", QS_ROLE_OTHER, QS_READS_COUNT, 0, QS_SENSOR_NOT_TEMPERATURE},
      {"thermal:ocp_cpu2", QS_ROLE_CPU, QS_READS_COUNT, 0, QS_SENSOR_NOT_TEMPERATURE},
      {"thermal:supply.battery", QS_ROLE_BATTERY, QS_READS_DC, 29000, QS_SENSOR_OK},
      {"thermal:supply.maxfg", QS_ROLE_BATTERY, QS_READS_DC, 29100, QS_SENSOR_OK},
      {"battery:battery", QS_ROLE_BATTERY, QS_READS_COUNT, 100, QS_SENSOR_OK},
      {"plugged:usb", QS_ROLE_OTHER, QS_READS_COUNT, 1, QS_SENSOR_OK},
      {"cooling:thermal-gpufreq-0", QS_ROLE_GPU, QS_READS_COUNT, 0, QS_SENSOR_OK},
      {"energy:charge-counter.battery", QS_ROLE_ENERGY, QS_READS_UAH, 4524000, QS_SENSOR_OK}},
     20 + 2 + 2 + 6 + 1 + 1},
    {"odroid-xu3",
     "odroid-xu3",
     "0-7",
     "0-7",
     {{"little", "0-3", 377, 1400000}, {"big", "4-7", 1024, 2000000}},
     {{"policy0", QS_DOMAIN_CPU, "0-3", 13, 200000, 300000, 1400000, "performance"},
      {"policy4", QS_DOMAIN_CPU, "4-7", 19, 200000, 300000, 2000000, "performance"},
      {"11800000.gpu", QS_DOMAIN_GPU, NULL, 7, 177000, 266000, 600000, "performance"},
      {"10c20000.memory-controller", QS_DOMAIN_MEMORY, NULL, 8, 165000, 206000, 825000, "performance"}},
     4,
     {{"thermal:cpu0-thermal", QS_ROLE_CPU, QS_READS_MC, 46000, QS_SENSOR_OK},
      {"thermal:cpu3-thermal", QS_ROLE_CPU, QS_READS_MC, 45000, QS_SENSOR_OK},
      {"thermal:gpu-thermal", QS_ROLE_GPU, QS_READS_MC, 43000, QS_SENSOR_OK},
      {"cooling:pwm-fan", QS_ROLE_OTHER, QS_READS_COUNT, 0, QS_SENSOR_OK}},
     5 + 3},
    {"huawei-p8lite2017",
     "huawei-p8lite2017",
     "0-7",
     "0-7",
     {{"little", "0-3", 0, 1709000}, {"big", "4-7", 0, 2112000}},
     {{"policy0", QS_DOMAIN_CPU, "0-3", 4, 480000, 807000, 1709000, "performance"},
      {"policy4", QS_DOMAIN_CPU, "4-7", 4, 1402000, 1805000, 2112000, "performance"},
      {"gpufreq", QS_DOMAIN_GPU, NULL, 7, 120000, 240000, 900000, "performance"},
      {"ddrfreq", QS_DOMAIN_MEMORY, NULL, 6, 120000, 240000, 933000, "userspace"}},
     4,
     {{"thermal:soc_thermal", QS_ROLE_CPU, QS_READS_MC, 41000, QS_SENSOR_OK},
      {"thermal:cluster0", QS_ROLE_CPU, QS_READS_C, 40000, QS_SENSOR_OK},
      {"thermal:cluster1", QS_ROLE_CPU, QS_READS_C, 41000, QS_SENSOR_OK},
      {"thermal:gpu", QS_ROLE_GPU, QS_READS_C, 39000, QS_SENSOR_OK},
      {"thermal:system_h", QS_ROLE_SKIN, QS_READS_C, 33000, QS_SENSOR_OK},
      {"thermal:pa_0", QS_ROLE_OTHER, QS_READS_C, 32000, QS_SENSOR_OK},
      {"thermal:dcxo0", QS_ROLE_OTHER, QS_READS_C, 31000, QS_SENSOR_OK},
      {"thermal:supply.Battery", QS_ROLE_BATTERY, QS_READS_DC, 28000, QS_SENSOR_OK},
      {"battery:Battery", QS_ROLE_BATTERY, QS_READS_COUNT, 67, QS_SENSOR_OK}},
     7 + 2 + 3 + 1},
    {"sony-xperia-z-unrooted",
     "sony-xperia-z",
     "0-3",
     "0-1",
     {{"all", "0-1", 0, 1512000}},
     {{"cpu0", QS_DOMAIN_CPU, "0", 12, 384000, 486000, 1512000, "performance"},
      {"cpu1", QS_DOMAIN_CPU, "1", 12, 384000, 486000, 1512000, "performance"},
      {"kgsl", QS_DOMAIN_GPU, NULL, 4, 128000, 200000, 400000, NULL}},
     3,
     {{"thermal:tsens_tz_sensor0", QS_ROLE_CPU, QS_READS_C, 41000, QS_SENSOR_OK},
      {"thermal:tsens_tz_sensor3", QS_ROLE_CPU, QS_READS_C, 44000, QS_SENSOR_OK},
      {"thermal:tsens_tz_sensor4", QS_ROLE_CPU, QS_READS_C, 136000, QS_SENSOR_IMPLAUSIBLE},
      {"thermal:tsens_tz_sensor10", QS_ROLE_CPU, QS_READS_C, 41000, QS_SENSOR_OK},
      {"thermal:pm8921_tz", QS_ROLE_OTHER, QS_READS_MC, 37000, QS_SENSOR_OK},
      {"thermal:supply.battery", QS_ROLE_BATTERY, QS_READS_DC, 30000, QS_SENSOR_OK},
      {"battery:battery", QS_ROLE_BATTERY, QS_READS_COUNT, 54, QS_SENSOR_OK}},
     12 + 2},
    {"rpi4b",
     "rpi4b",
     "0-3",
     "0-3",
     {{"all", "0-3", 0, 1500000}},
     {{"policy0", QS_DOMAIN_CPU, "0-3", 10, 600000, 700000, 1500000, "performance"}},
     1,
     {{"thermal:cpu-thermal", QS_ROLE_CPU, QS_READS_MC, 46738, QS_SENSOR_OK},
      {"thermal:hwmon.cpu_thermal.temp1", QS_ROLE_CPU, QS_READS_MC, 46738, QS_SENSOR_OK},
      {"cooling:cpufreq-cpu0", QS_ROLE_CPU, QS_READS_COUNT, 0, QS_SENSOR_OK},
      {"throttled.now", QS_ROLE_OTHER, QS_READS_COUNT, 0, QS_SENSOR_OK},
      {"throttled.since", QS_ROLE_OTHER, QS_READS_COUNT, 0, QS_SENSOR_OK}},
     5},
    {"rock5b-rk3588",
     "rock5b-rk3588",
     "0-7",
     "0-7",
     {{"little", "0-3", 398, 1800000}, {"big", "4-7", 1024, 2400000}},
     {{"policy0", QS_DOMAIN_CPU, "0-3", 5, 1008000, 1200000, 1800000, "performance"},
      {"policy4", QS_DOMAIN_CPU, "4-5", 7, 1200000, 1416000, 2400000, "performance"},
      {"policy6", QS_DOMAIN_CPU, "6-7", 7, 1200000, 1416000, 2400000, "performance"},
      {"fb000000.gpu", QS_DOMAIN_GPU, NULL, 8, 300000, 400000, 1000000, "performance"}},
     4,
     {{"thermal:package-thermal", QS_ROLE_CPU, QS_READS_MC, 41615, QS_SENSOR_OK},
      {"thermal:bigcore2-thermal", QS_ROLE_CPU, QS_READS_MC, 40692, QS_SENSOR_OK},
      {"thermal:gpu-thermal", QS_ROLE_GPU, QS_READS_MC, 39769, QS_SENSOR_OK},
      {"thermal:npu-thermal", QS_ROLE_OTHER, QS_READS_MC, 39769, QS_SENSOR_OK}},
     7 + 5},
};

static void check_clusters(const struct qs_board *b, const struct wanted *w)
{
    size_t n = 0;
    for (; n < 4 && w->clusters[n].name != NULL; n++) {
        const struct qs_board_cluster *c = qs_board_cluster(b, w->clusters[n].name);
        assert_non_null(c);
        assert_ptr_equal(c, &b->clusters.at[n]);
        assert_string_equal(c->cpus, w->clusters[n].cpus);
        assert_int_equal(c->capacity, w->clusters[n].capacity);
        assert_int_equal(c->max_khz, w->clusters[n].max_khz);
    }
    assert_int_equal(b->clusters.count, n);
}

static void check_domains(const struct qs_board *b, const struct wanted *w)
{
    assert_int_equal(b->domains.count, w->domain_count);
    for (size_t i = 0; i < w->domain_count; i++) {
        const struct domain *want = &w->domains[i];
        const struct qs_board_domain *d = qs_board_domain(b, want->name);
        assert_non_null(d);
        assert_ptr_equal(d, &b->domains.at[i]);
        assert_int_equal(d->kind, want->kind);
        assert_int_equal(d->cpus == NULL, want->cpus == NULL);
        if (d->cpus != NULL)
            assert_string_equal(d->cpus, want->cpus);
        assert_int_equal(d->steps_khz.count, want->steps);
        assert_int_equal(d->steps_khz.at[0], want->lo_khz);
        assert_int_equal(d->steps_khz.at[1], want->second_khz);
        assert_int_equal(d->steps_khz.at[want->steps - 1], want->hi_khz);
        assert_int_equal(d->hw_min_khz, want->lo_khz);
        assert_int_equal(d->hw_max_khz, want->hi_khz);
        assert_int_equal(d->min_khz, want->lo_khz); /* no tree has limits set */
        assert_int_equal(d->max_khz, want->hi_khz);
        assert_false(d->range);
        assert_int_equal(d->hold, QS_HOLD_OK);
        assert_null(d->why);
        assert_int_equal(d->hold_governor == NULL, want->hold_governor == NULL);
        if (want->hold_governor != NULL)
            assert_string_equal(d->hold_governor, want->hold_governor);
    }
}

static void check_sensors(const struct qs_board *b, const struct wanted *w)
{
    assert_int_equal(b->sensors.count, w->sensor_count);
    for (size_t i = 0; i < 16 && w->sensors[i].name != NULL; i++) {
        const struct qs_board_sensor *s = qs_board_sensor(b, w->sensors[i].name);
        assert_non_null(s);
        assert_int_equal(s->role, w->sensors[i].role);
        assert_int_equal(s->unit, w->sensors[i].unit);
        assert_int_equal(s->value, w->sensors[i].value);
        assert_int_equal(s->status, w->sensors[i].status);
        assert_int_equal(s->why == NULL, s->status == QS_SENSOR_OK);
        static const int64_t mul[] = {[QS_READS_MC] = 1,
                                      [QS_READS_DC] = 100,
                                      [QS_READS_C] = 1000,
                                      [QS_READS_COUNT] = 1,
                                      [QS_READS_UAH] = 1};
        assert_int_equal(s->bits ? 1 : s->mul, mul[s->unit]);
        assert_int_equal(s->bits ? 1 : s->div, 1);
    }
    for (size_t i = 0; i < b->sensors.count; i++) /* what is not listed is as it should be */
        for (size_t k = 0; k < 16 && b->sensors.at[i].status != QS_SENSOR_OK; k++) {
            assert_non_null(w->sensors[k].name);
            if (strcmp(w->sensors[k].name, b->sensors.at[i].name) == 0)
                break;
        }
}

static void test_values(void **state)
{
    const struct wanted *w = *state;
    QS_SCOPED(qs_board_free_at) struct qs_board *b = tree_board(boards, w->tree, true);
    assert_int_equal(b->profiles.count, 2);
    assert_string_equal(b->profiles.at[0], w->profile);
    assert_string_equal(b->profiles.at[1], "generic");
    assert_string_equal(b->cpus, w->cpus);
    assert_string_equal(b->online, w->online);
    check_clusters(b, w);
    check_domains(b, w);
    check_sensors(b, w);
}

/* One object to a line. */
static void put_lines(struct qs_buf *out, const char *json)
{
    for (; *json != '\0'; json++) {
        qs_buf_char(out, *json);
        if (strncmp(json, ",{", 2) == 0 || strncmp(json, "[{", 2) == 0)
            qs_buf_char(out, '\n');
    }
    qs_buf_char(out, '\n');
}

static void test_whole(void **state)
{
    const struct wanted *w = *state;
    struct qs_err err = QS_ERR_INIT;
    QS_SCOPED(qs_board_free_at) struct qs_board *b = tree_board(boards, w->tree, true);
    QS_BUF(json);
    QS_BUF(again);
    QS_BUF(lines);
    qs_board_json(b, &json);
    QS_SCOPED(qs_board_free_at) struct qs_board *read = qs_board_from_json(json.data, &err);
    assert_non_null(read);
    qs_board_json(read, &again);
    assert_string_equal(again.data, json.data);
    check_domains(read, w);
    check_sensors(read, w);
    put_lines(&lines, json.data);
    QS_FREED char *path = qs_asprintf("%s/%s.json", golden, w->tree);
    if (getenv("QS_GOLDEN_UPDATE") != NULL) {
        FILE *f = fopen(path, "wb");
        assert_non_null(f);
        assert_int_equal(fwrite(lines.data, 1, lines.len, f), lines.len);
        assert_int_equal(fclose(f), 0);
    }
    size_t len = 0;
    QS_FREED char *expected = qs_load_text(path, &len, &err);
    assert_non_null(expected);
    assert_int_equal(lines.len, len);
    assert_memory_equal(lines.data, expected, len);
}

/* The rows that write it print its description. */
static void test_described(void **state)
{
    (void)state;
    size_t len = 0;
    struct qs_err err = QS_ERR_INIT;
    QS_BUF(table);
    qs_board_table(&table);
    QS_FREED char *bytes = qs_load_text(page, &len, &err);
    assert_non_null(bytes);
    QS_FREED char *text = qs_strndup(bytes, len);
    bool same = strstr(text, table.data) != NULL;
    if (!same)
        fprintf(stderr, "schema/board.md should have these rows:\n%s", table.data);
    assert_true(same);
}

/* A board that was stored before sensors had these: nothing, or 0. */
static void test_stored_before(void **state)
{
    static const char *const later[] = {"\"wraps_file\":null,", "\"volts_file\":null,",
                                        "\"status_words\":null,", "\"average_ms\":0,"};
    QS_SCOPED(qs_board_free_at) struct qs_board *b = tree_board(boards, "rpi4b", true);
    struct qs_err err = QS_ERR_INIT;
    QS_BUF(json);
    QS_BUF(again);
    (void)state;
    qs_board_json(b, &json);
    QS_FREED char *old = qs_strdup(json.data);
    for (size_t i = 0; i < sizeof later / sizeof *later; i++) {
        const size_t n = strlen(later[i]);
        assert_non_null(strstr(old, later[i]));
        for (char *at = old; (at = strstr(at, later[i])) != NULL;)
            memmove(at, at + n, strlen(at + n) + 1);
    }
    QS_SCOPED(qs_board_free_at) struct qs_board *read = qs_board_from_json(old, &err);
    assert_non_null(read);
    qs_board_json(read, &again);
    assert_string_equal(again.data, json.data);
}

int main(int argc, char **argv)
{
    enum { TREES = sizeof all / sizeof *all };
    struct CMUnitTest tests[2 * TREES + 2];
    if (argc != 4)
        return 2;
    boards = argv[1];
    golden = argv[2];
    page = argv[3];
    for (size_t i = 0; i < TREES; i++) {
        tests[2 * i] = (struct CMUnitTest){all[i].tree, test_values, NULL, NULL, (void *)(uintptr_t)&all[i]};
        tests[2 * i + 1] =
            (struct CMUnitTest){all[i].tree, test_whole, NULL, NULL, (void *)(uintptr_t)&all[i]};
    }
    tests[2 * TREES] = (struct CMUnitTest){"described", test_described, NULL, NULL, NULL};
    tests[2 * TREES + 1] = (struct CMUnitTest){"stored_before", test_stored_before, NULL, NULL, NULL};
    int failed = cmocka_run_group_tests_name("device board", tests, NULL, NULL);
    if (getenv("QS_GOLDEN_UPDATE") != NULL) {
        fputs("golden files were written anew: nothing was tested\n", stderr);
        return 1;
    }
    return failed;
}
