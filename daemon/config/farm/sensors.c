#include "config/farm/sensors.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "config/document/schema.h"
#include "proto/names.h"

static const struct qs_sensor_kind sensors[] = {
    {QS_SENSOR_CPU_BUSY, false, true, false, QS_UNIT_PPM},
    {QS_SENSOR_PSI_CPU_AVG10, false, true, false, QS_UNIT_PPM},
    {QS_SENSOR_LOAD1, false, true, false, QS_UNIT_MILLI},
    {QS_SENSOR_THERMAL_PREFIX, true, true, false, QS_UNIT_MC},
    {QS_SENSOR_FREQ_PREFIX, true, true, false, QS_UNIT_KHZ},
    {QS_SENSOR_BATTERY_PREFIX, true, true, false, QS_UNIT_WHOLE},
    {QS_SENSOR_PLUGGED_PREFIX, true, true, false, QS_UNIT_COUNT},
    {QS_SENSOR_RESIDENCY_PREFIX, true, false, true, QS_UNIT_COUNT},
    {QS_SENSOR_TRANSITIONS_PREFIX, true, false, true, QS_UNIT_COUNT},
    {QS_SENSOR_THROTTLED_PREFIX, true, true, true, QS_UNIT_COUNT},
    {QS_SENSOR_COOLING_PREFIX, true, true, true, QS_UNIT_COUNT},
    {QS_SENSOR_CPU_STEAL, false, false, true, QS_UNIT_COUNT},
    {QS_SENSOR_CPU_BUSY_TICKS, false, false, true, QS_UNIT_COUNT},
    {QS_SENSOR_CPU_IDLE_TICKS, false, false, true, QS_UNIT_COUNT},
    {QS_SENSOR_FOREIGN_BUSY, false, false, true, QS_UNIT_COUNT},
    {QS_SENSOR_PSI_CPU_SOME, false, false, true, QS_UNIT_US},
    {QS_SENSOR_PSI_IO_SOME, false, false, true, QS_UNIT_US},
    {QS_SENSOR_PSI_MEMORY_SOME, false, false, true, QS_UNIT_US},
    {QS_SENSOR_RUN_DELAY, false, false, true, QS_UNIT_NS},
    {QS_SENSOR_INVOLUNTARY, false, false, true, QS_UNIT_COUNT},
    {QS_SENSOR_THROTTLE_PREFIX, true, false, true, QS_UNIT_COUNT},
    {QS_SENSOR_AGENT_PREFIX, true, false, true, QS_UNIT_COUNT},
    {QS_SENSOR_PROGRAM_RSS, false, false, true, QS_UNIT_BYTES},
    {QS_SENSOR_PROGRAM_PREFIX, true, false, true, QS_UNIT_COUNT},
    {QS_SENSOR_PROCESS_STOPS, false, false, true, QS_UNIT_COUNT},
    {QS_SENSOR_SUSPENDED, false, false, true, QS_UNIT_NS},
    {QS_SENSOR_RELAY, false, false, true, QS_UNIT_US},
};
enum { SENSORS = sizeof(sensors) / sizeof(sensors[0]) };

const struct qs_sensor_kind *qs_sensor_find(const char *name, struct qs_buf *out)
{
    const char *names[SENSORS];
    for (size_t i = 0; i < SENSORS; i++) {
        size_t n = strlen(sensors[i].name);
        bool same = sensors[i].prefix ? strncmp(name, sensors[i].name, n) == 0 && name[n] != '\0'
                                      : strcmp(name, sensors[i].name) == 0;
        if (same)
            return &sensors[i];
        names[i] = sensors[i].name;
    }
    size_t n = strlen(name);
    for (size_t i = 0; i < SENSORS; i++) /* the name without its unit */
        if (n >= 3 && strncmp(names[i], name, n) == 0) {
            qs_buf_fmt(out, sensors[i].prefix ? "write `%s` and what it belongs to" : "did you mean `%s`?",
                       names[i]);
            return NULL;
        }
    qs_schema_suggest(out, name, "the names are", names, SENSORS);
    return NULL;
}

const char *qs_sensor_example(const struct qs_sensor_kind *sensor)
{
    switch (sensor->unit) {
    case QS_UNIT_PPM:
        return "10%";
    case QS_UNIT_WHOLE:
        return "30%";
    case QS_UNIT_MC:
        return "38C";
    case QS_UNIT_KHZ:
        return "1.8GHz";
    case QS_UNIT_MILLI:
        return "1.5";
    case QS_UNIT_NS:
    case QS_UNIT_US:
        return "20ms";
    case QS_UNIT_BYTES:
        return "16MiB";
    case QS_UNIT_COUNT:
        return "3";
    }
    return "";
}

static bool microseconds(const char *text, int64_t *ret, struct qs_scalar_why *why)
{
    if (!qs_scalar_quantity(text, QS_QTY_DURATION, ret, why))
        return false;
    if (*ret % 1000 != 0) {
        snprintf(why->text, sizeof(why->text), "`%s` is finer than one microsecond", qs_show(text).text);
        return false;
    }
    *ret /= 1000;
    return true;
}

static bool whole_percents(const char *text, int64_t *ret, struct qs_scalar_why *why)
{
    enum { PPM = 10000 };
    if (!qs_scalar_ppm(text, ret, why))
        return false;
    if (*ret % PPM != 0) {
        snprintf(why->text, sizeof(why->text), "`%s` is finer than one percent", qs_show(text).text);
        return false;
    }
    *ret /= PPM;
    return true;
}

bool qs_sensor_value(const struct qs_sensor_kind *sensor, const char *text, int64_t *ret,
                     struct qs_scalar_why *why)
{
    switch (sensor->unit) {
    case QS_UNIT_PPM:
        return qs_scalar_ppm(text, ret, why);
    case QS_UNIT_WHOLE:
        return whole_percents(text, ret, why);
    case QS_UNIT_MC:
        return qs_scalar_quantity(text, QS_QTY_TEMPERATURE, ret, why);
    case QS_UNIT_KHZ:
        return qs_scalar_quantity(text, QS_QTY_FREQUENCY, ret, why);
    case QS_UNIT_MILLI:
        return qs_scalar_scaled(text, 3, ret, why);
    case QS_UNIT_NS:
        return qs_scalar_quantity(text, QS_QTY_DURATION, ret, why);
    case QS_UNIT_US:
        return microseconds(text, ret, why);
    case QS_UNIT_BYTES:
        return qs_scalar_quantity(text, QS_QTY_BYTES, ret, why);
    case QS_UNIT_COUNT:
        return qs_scalar_int(text, ret, why);
    }
    return false;
}

void qs_sensor_print(const char *name, int64_t value, struct qs_buf *out)
{
    QS_BUF(unused);
    const struct qs_sensor_kind *sensor = qs_sensor_find(name, &unused);
    switch (sensor != NULL ? sensor->unit : QS_UNIT_COUNT) {
    case QS_UNIT_PPM:
        qs_buf_fmt(out, "%.1f %%", (double)value / 1e4);
        return;
    case QS_UNIT_WHOLE:
        qs_buf_fmt(out, "%" PRId64 " %%", value);
        return;
    case QS_UNIT_MC:
        qs_buf_fmt(out, "%.1f °C", (double)value / 1e3);
        return;
    case QS_UNIT_KHZ:
        qs_buf_fmt(out, "%.0f MHz", (double)value / 1e3);
        return;
    case QS_UNIT_MILLI:
        qs_buf_fmt(out, "%.2f", (double)value / 1e3);
        return;
    case QS_UNIT_NS:
        qs_buf_fmt(out, "%.3f ms", (double)value / 1e6);
        return;
    case QS_UNIT_US:
        qs_buf_fmt(out, "%.3f ms", (double)value / 1e3);
        return;
    case QS_UNIT_BYTES:
        qs_buf_fmt(out, "%.1f MiB", (double)value / (1 << 20));
        return;
    case QS_UNIT_COUNT:
        qs_buf_fmt(out, "%" PRId64, value);
    }
}
