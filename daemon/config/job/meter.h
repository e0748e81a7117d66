/* What a job reads beside the durations, around or of each window: its meters. Owned by the job's spec. */
#ifndef QS_CONFIG_JOB_METER_H
#define QS_CONFIG_JOB_METER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { QS_JOB_METERS_MAX = 8 };

enum qs_meter_kind {
    QS_METER_NONE,
    QS_METER_FILE,    /* of the device's sysfs */
    QS_METER_SENSOR,  /* of its board */
    QS_METER_ENERGY,  /* of its board */
    QS_METER_COUNTER, /* what its kernel or processor counts */
    QS_METER_SUCCESS,
    QS_METER_TIME /* the duration: it is there anyway */
};
enum qs_meter_take { QS_METER_END, QS_METER_RISE, QS_METER_FALL, QS_METER_MEAN };
enum qs_meter_per { QS_METER_PER_DEFAULT, QS_METER_PER_WINDOW, QS_METER_PER_ITERATION };

struct qs_job_meter {
    char *name;
    enum qs_meter_kind kind;
    char *file;       /* FILE: a path, perhaps with wildcards that one file fits */
    char *sensor;     /* SENSOR */
    char *energy;     /* ENERGY: "auto", or a name or a pattern of names */
    unsigned counter; /* COUNTER: of qs_meter_counters, from 1 */
    bool success, time;
    unsigned take;     /* enum qs_meter_take: of FILE and SENSOR */
    unsigned per;      /* enum qs_meter_per; never DEFAULT once it is checked */
    char *unit;        /* of what is stored; of SENSOR NULL */
    uint32_t scale;    /* FILE: its number times this is in that unit */
    unsigned better;   /* enum qs_job_better: LOWER or HIGHER */
    uint64_t wraps_at; /* FILE: where a counter begins at 0 again; 0: it does not */
    char *wraps_file;  /* or the file that says so; or NULL */
    bool deterministic, required;
};

/* "instructions": the word of `counter`. */
const char *qs_meter_counter_name(unsigned counter);
/* The unit of what it stores; of SENSOR "", of which its board knows more. */
const char *qs_meter_unit(const struct qs_job_meter *meter);
void qs_job_meter_done(struct qs_job_meter *meter);

#endif
