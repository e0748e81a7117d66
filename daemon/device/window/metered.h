/* From what a device read around a window to the value of a meter. Pure. Private to device. */
#ifndef QS_DEVICE_WINDOW_METERED_H
#define QS_DEVICE_WINDOW_METERED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "config/job/meter.h"
#include "proto/limits.h"
#include "proto/msg.h"
#include "store/rows.h"

enum { QS_METER_SOURCES_MAX = 8 };

enum qs_meter_how {
    QS_METER_HOW_TAKE,   /* as the job says */
    QS_METER_HOW_RISE,   /* of a counter */
    QS_METER_HOW_ENERGY, /* what is left of it, in uWh */
    QS_METER_HOW_CHARGE, /* so, in uAh, with a voltage in uV */
    QS_METER_HOW_POWER   /* in uW, after the window */
};

/* One thing that is read. The names are of evidence: "" is none. */
struct qs_meter_source {
    char name[QS_NAME_MAX_BYTES + 1], volts[QS_NAME_MAX_BYTES + 1], status[QS_NAME_MAX_BYTES + 1];
    char about[QS_CONTROL_PATH_MAX_BYTES + 1]; /* its file, sensor or event, for people */
    enum qs_meter_how how;
    int64_t wraps_at; /* 0: never */
    int64_t average_ns;
};

struct qs_meter {                   /* the sum of its sources */
    const struct qs_job_meter *job; /* borrowed */
    struct qs_meter_source at[QS_METER_SOURCES_MAX];
    size_t count;
};

/* What a window had, of n iterations. False: it has no value, and why says which one could not be had. */
bool qs_meter_value(const struct qs_meter *meter, const struct qs_msg_closed *m,
                    const struct qs_iteration_row *rows, size_t n, int64_t *value, char *why,
                    size_t why_bytes);

#endif
