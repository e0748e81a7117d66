/* The job file, key by key: what a device is like. */
#include <stddef.h>

#include "config/job/read.h"

#define MS        INT64_C(1000000)
#define S         INT64_C(1000000000)
#define AT(field) offsetof(struct qs_job_characterize, field)

static const struct qs_key characterize_keys[] = {
    {.name = "rest",
     .type = QS_KEY_DURATION,
     .offset = AT(rest_ns),
     .min = S,
     .max = 600 * S,
     .fallback = "10s",
     .help = "How long the sensors are read at rest, first of all."},
    {.name = "heat",
     .type = QS_KEY_DURATION,
     .offset = AT(heat_ns),
     .min = S,
     .max = 540 * S,
     .fallback = "2min",
     .help = "How long all processors, and then each cluster of them, are kept busy."},
    {.name = "cool",
     .type = QS_KEY_DURATION,
     .offset = AT(cool_ns),
     .min = S,
     .max = 3600 * S,
     .fallback = "5min",
     .help = "How long the sensors are read after each of these, with nothing to do."},
    {.name = "soak",
     .type = QS_KEY_DURATION,
     .offset = AT(soak_ns),
     .min = 0,
     .max = 540 * S,
     .fallback = "0",
     .help = "How long all processors are then kept busy at an operating point, to find the highest one that "
             "nothing throttles; 0: not at all."},
    {.name = "every",
     .type = QS_KEY_DURATION,
     .offset = AT(every_ns),
     .min = 100 * MS,
     .max = 60 * S,
     .fallback = "1s",
     .help = "The time between two readings."},
    {.name = "knobs",
     .type = QS_KEY_BOOL,
     .offset = AT(knobs),
     .fallback = "true",
     .help = "Whether it is tried which frequencies and switches stay as they are written, and do something; "
             "all is put back."},
    {.name = "curves",
     .type = QS_KEY_BOOL,
     .offset = AT(curves),
     .fallback = "true",
     .help = "Whether it is measured how the device warms up and cools down, and what it sustains."},
    {.name = "again",
     .type = QS_KEY_BOOL,
     .offset = AT(again),
     .fallback = "false",
     .help = "What an earlier job has found is found anew; otherwise only what is missing."},
    {0}};
const struct qs_table qs_job_characterize_table = {.keys = characterize_keys,
                                                   .check = qs_job_check_characterize};

void qs_job_check_characterize(struct qs_schema_reader *r, const struct qs_node *node, void *target)
{
    struct qs_job_characterize *c = target;
    (void)r;
    c->on = node != NULL;
    c->soak_ns = c->curves ? c->soak_ns : 0;
}
