/* The part of a job that measures a device. Owned by the job's spec (job.h). */
#ifndef QS_CONFIG_JOB_CHARACTERIZE_H
#define QS_CONFIG_JOB_CHARACTERIZE_H

#include <stdbool.h>
#include <stdint.h>

struct qs_job_characterize { /* the device itself is measured, and no benchmark */
    bool on, again;          /* again: also what was found before */
    bool knobs, curves;      /* what can be relied on; how it warms up and cools down */
    int64_t rest_ns, heat_ns, cool_ns, every_ns;
    int64_t soak_ns; /* at each operating point; 0: none */
};

#endif
