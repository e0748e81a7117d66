#include "samples_control.h"

#include "samples.h"

#define FREQ "devices/system/cpu/cpufreq/policy0/"

enum { MEMORY_BYTES = 512 };

bool sample_put_survey(struct qs_writer *w)
{
    const struct qs_msg_survey m = {.id = 16,
                                    .pattern = qs_text_of("class/thermal/thermal_zone*/[tm]*"),
                                    .after = qs_text_of("class/thermal/thermal_zone1/temp")};
    return qs_msg_encode_survey(w, &m);
}

bool sample_put_surveyed(struct qs_writer *w)
{
    uint8_t memory[MEMORY_BYTES];
    struct qs_build list;
    const struct qs_found first = {.path = qs_text_of(FREQ "scaling_governor"),
                                   .access = QS_FILE_ACCESS,
                                   .value = {.p = "schedutil\n\0\xff", .n = 12}},
                          second = {.path = qs_text_of(FREQ "cpuinfo_cur_freq"), .error = 13};
    qs_build_init(&list, memory, sizeof memory);
    qs_build_found(&list, &first);
    qs_build_found(&list, &second);
    return qs_msg_encode_surveyed(
        w, &(struct qs_msg_surveyed){.id = 16, .more = true, .files = qs_build_list(&list)});
}

bool sample_put_bind(struct qs_writer *w)
{
    uint8_t memory[MEMORY_BYTES];
    struct qs_build list;
    const struct qs_binding first = {.name = qs_text_of("thermal:tsens_tz_sensor1"),
                                     .path = qs_text_of("class/thermal/thermal_zone1/temp"),
                                     .mul = 1000,
                                     .div = 1,
                                     .lo = -40000,
                                     .hi = 150000,
                                     .flags = QS_BIND_EVIDENCE},
                            second = {.name = qs_text_of("x"),
                                      .path = qs_text_of("y"),
                                      .mul = 1,
                                      .div = QS_BIND_SCALE_MAX,
                                      .lo = INT64_MIN,
                                      .hi = INT64_MAX},
                            third = {.name = qs_text_of("battery"),
                                     .path = qs_text_of("60000\n\ntemperature:*\ntemperature:\n*UPDATES "
                                                        "STOPPED*\ndumpsys\nbattery"),
                                     .mul = 100,
                                     .div = 1000,
                                     .lo = -30000,
                                     .hi = 130000,
                                     .flags = QS_BIND_COMMAND};
    qs_build_init(&list, memory, sizeof memory);
    qs_build_binding(&list, &first);
    qs_build_binding(&list, &second);
    qs_build_binding(&list, &third);
    return qs_msg_encode_bind(w, &(struct qs_msg_bind){.id = 17, .sensors = qs_build_list(&list)});
}

bool sample_put_bound(struct qs_writer *w)
{
    uint8_t memory[MEMORY_BYTES];
    struct qs_build list;
    const struct qs_reading first = {.sensor = qs_text_of("thermal:tsens_tz_sensor1"), .value = 41000},
                            second = {.sensor = qs_text_of("x"), .status = QS_READING_MISSING};
    qs_build_init(&list, memory, sizeof memory);
    qs_build_reading(&list, &first);
    qs_build_reading(&list, &second);
    return qs_msg_encode_readings(w, &(struct qs_msg_readings){.id = 17, .readings = qs_build_list(&list)});
}

#define TOOL "\tget\tit\nset\tit\t{}"

bool sample_put_tune(struct qs_writer *w)
{
    uint8_t memory[MEMORY_BYTES];
    struct qs_build list;
    const struct qs_tune first = {.path = qs_text_of(FREQ "scaling_governor"),
                                  .value = qs_text_of("performance")},
                         second = {.path = qs_text_of("a"),
                                   .value = qs_text_of(""),
                                   .flags = QS_TUNE_PERSISTENT | QS_TUNE_BLIND},
                         third = {.path = qs_text_of(TOOL),
                                  .value = qs_text_of("1"),
                                  .flags = QS_TUNE_PERSISTENT | QS_TUNE_COMMAND};
    qs_build_init(&list, memory, sizeof memory);
    qs_build_tune(&list, &first);
    qs_build_tune(&list, &second);
    qs_build_tune(&list, &third);
    const struct qs_msg_tune m = {
        .id = 18, .lease_ms = 120000, .settle_ms = 500, .writes = qs_build_list(&list)};
    return qs_msg_encode_tune(w, &m);
}

static const struct qs_tuned went_well = {.outcome = QS_TUNE_SET,
                                          .before = {.p = "schedutil", .n = 9},
                                          .now = {.p = "performance", .n = 11}},
                             went_wrong = {.outcome = QS_TUNE_UNJOURNALLED, .error = 28};

bool sample_put_tuned(struct qs_writer *w)
{
    uint8_t memory[MEMORY_BYTES];
    struct qs_build list;
    qs_build_init(&list, memory, sizeof memory);
    qs_build_tuned(&list, &went_well);
    qs_build_tuned(&list, &went_wrong);
    return qs_msg_encode_tuned(w, &(struct qs_msg_tuned){.id = 18, .writes = qs_build_list(&list)});
}

bool sample_put_restore(struct qs_writer *w)
{
    return qs_msg_encode_restore(w, &(struct qs_msg_restore){.id = 19});
}

bool sample_put_restored(struct qs_writer *w)
{
    uint8_t memory[MEMORY_BYTES];
    struct qs_build list;
    const struct qs_restored first = {.path = qs_text_of(FREQ "scaling_governor"), .result = went_well},
                             second = {.path = qs_text_of("a"), .result = went_wrong},
                             third = {.path = qs_text_of(TOOL), .result = went_wrong};
    qs_build_init(&list, memory, sizeof memory);
    qs_build_restored(&list, &first);
    qs_build_restored(&list, &second);
    qs_build_restored(&list, &third);
    return qs_msg_encode_restored(w, &(struct qs_msg_restored){.id = 19, .files = qs_build_list(&list)});
}

bool sample_put_load(struct qs_writer *w)
{
    return qs_msg_encode_load(
        w, &(struct qs_msg_load){.id = 20, .cpus = qs_text_of("0-3,6"), .for_ms = QS_LOAD_MAX_MS});
}

bool sample_put_loaded(struct qs_writer *w)
{
    return qs_msg_encode_loaded(w, &(struct qs_msg_loaded){.id = 20, .outcome = QS_LOAD_ON});
}

#define CONTROL_RECODE(shape)                                                                                \
    RECODE(shape)                                                                                            \
    int sample_recode_##shape(const uint8_t *payload, size_t n, struct qs_writer *w)                         \
    {                                                                                                        \
        return recode_##shape(payload, n, w);                                                                \
    }
CONTROL_RECODE(survey)
CONTROL_RECODE(surveyed)
CONTROL_RECODE(bind)
CONTROL_RECODE(tune)
CONTROL_RECODE(tuned)
CONTROL_RECODE(restore)
CONTROL_RECODE(restored)
CONTROL_RECODE(load)
CONTROL_RECODE(loaded)
