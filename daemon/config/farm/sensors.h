/* What a sensor or a kind of evidence counts in, by its name, and so how its values are written. */
#ifndef QS_CONFIG_FARM_SENSORS_H
#define QS_CONFIG_FARM_SENSORS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "config/document/scalar.h"

/* Those that the host makes of a device's files (device/activity/watch.c, profiles): the agent knows none. */
#define QS_SENSOR_THROTTLED_PREFIX   "throttled."   /* + "now", "since": bits of a firmware */
#define QS_SENSOR_BATTERY_PREFIX     "battery:"     /* + supply: its level */
#define QS_SENSOR_PLUGGED_PREFIX     "plugged:"     /* + supply: whether something is plugged in there */
#define QS_SENSOR_RESIDENCY_PREFIX   "residency:"   /* + domain: ms at other frequencies than it is held at */
#define QS_SENSOR_TRANSITIONS_PREFIX "transitions:" /* + domain that is held: changes of its frequency */

enum qs_sensor_unit {
    QS_UNIT_PPM,   /* "10%" */
    QS_UNIT_WHOLE, /* "30%", in whole percents */
    QS_UNIT_MC,    /* "38C" */
    QS_UNIT_KHZ,   /* "1.8GHz" */
    QS_UNIT_MILLI, /* "1.5" */
    QS_UNIT_NS,    /* "20ms" */
    QS_UNIT_US,    /* "20ms" */
    QS_UNIT_BYTES, /* "16MiB" */
    QS_UNIT_COUNT  /* "3" */
};

struct qs_sensor_kind {
    const char *name; /* a whole name, or the part before what varies */
    bool prefix;
    bool gauge; /* goes up and down: a gate can wait for it */
    bool rises; /* more of it during a window says something: a counter since boot, or a cooling state */
    enum qs_sensor_unit unit;
};

/* The row of a name, or NULL with a suggestion appended to out. */
const struct qs_sensor_kind *qs_sensor_find(const char *name, struct qs_buf *out);
/* A value as a person writes it, in the sensor's unit. */
bool qs_sensor_value(const struct qs_sensor_kind *sensor, const char *text, int64_t *ret,
                     struct qs_scalar_why *why);
/* "cpu.busy_ratio_ppm": "12.3 %", "thermal:x": "46.7 °C", "freq:x": "1500 MHz". A name without a row: the
 * number. */
void qs_sensor_print(const char *name, int64_t value, struct qs_buf *out);
/* "38C", "10%", ...: an example for messages. */
const char *qs_sensor_example(const struct qs_sensor_kind *sensor);

#endif
