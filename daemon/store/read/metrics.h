/* The metrics of a job's runs beside the duration: what programs declared, and what commands of the farm said
 * after each window. Results are owned by the caller. */
#ifndef QS_STORE_READ_METRICS_H
#define QS_STORE_READ_METRICS_H

#include "store/read/arms.h"

struct qs_run_metrics {
    uint8_t uid[16];
    int64_t id; /* number of the run */
    enum qs_run_state state;
    struct qs_values *values; /* owned, one for each metric */
};

struct qs_job_metrics {
    struct qs_run_metrics *at; /* ascending by uid */
    size_t count;
    struct qs_arm_metric *metrics; /* in the order in which the store met them, those of windows last */
    size_t metric_count;
};

/* Of the job's counted runs (block >= 1): all metrics that it has, or those of the list, of which the
 * duration is none. QS_E_NOT_FOUND: a metric of the list that this job has no value of. */
bool qs_read_job_metrics(struct qs_store_reader *r, int64_t job, const struct qs_metric_names *names,
                         struct qs_job_metrics *ret, struct qs_err *err);
/* The same of one run, whatever its block. */
bool qs_read_run_metrics(struct qs_store_reader *r, const uint8_t run_uid[16],
                         const struct qs_metric_names *names, struct qs_job_metrics *ret, struct qs_err *err);
void qs_job_metrics_free(struct qs_job_metrics *metrics);
/* Of the run with this uid, or NULL. */
const struct qs_run_metrics *qs_job_metrics_find(const struct qs_job_metrics *metrics,
                                                 const uint8_t run_uid[16]);

#endif
