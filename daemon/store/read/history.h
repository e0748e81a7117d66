/* What was measured of one point on one device over time: the series that there are, and the sessions of one
 * with their runs' accepted values; of jobs that ended, for nobody is shown the effect of a running one.
 * Inside a qs_store_read function, as all of store/read/read.h. */
#ifndef QS_STORE_READ_HISTORY_H
#define QS_STORE_READ_HISTORY_H

#include "store/read/medians.h"
#include "store/rows.h"
#include "store/store.h"

/* One benchmark with its parameters under equal controls, one device, and one arm by its name: the arm's
 * build may change from job to job, as may the gate and all else of its conditions. */
struct qs_series_info {
    int64_t point, device_id; /* keys of the store, for qs_read_history; point: one of its points */
    char *benchmark, *params_json, *controls_json, *device, *arm;
    bool simulated;
    uint32_t sessions, runs;             /* that ended, without pilots */
    int64_t first_wall_ns, last_wall_ns; /* beginnings of their sessions */
};
struct qs_series_list {
    struct qs_series_info *at;
    size_t count;
};
/* NULL: all. text: a part of benchmark or parameters, whatever the case; device and arm: whole names. */
struct qs_series_filter {
    const char *text, *device, *arm;
};
/* By benchmark, parameters, controls, device and arm; at most limit (1..10000). */
bool qs_read_series(struct qs_store_reader *r, const struct qs_series_filter *filter, size_t limit,
                    struct qs_series_list *ret, struct qs_err *err);
void qs_series_list_free(struct qs_series_list *list);

struct qs_history_metric {
    int64_t id; /* 0: the time of an iteration */
    char *name, *unit;
    bool lower_is_better;
};
struct qs_history_metrics {
    struct qs_history_metric *at;
    size_t count;
};
/* Those of the series' latest run; the first is "time". */
bool qs_read_series_metrics(struct qs_store_reader *r, const struct qs_series_info *series,
                            struct qs_history_metrics *ret, struct qs_err *err);
void qs_history_metrics_free(struct qs_history_metrics *metrics);

struct qs_history_run {
    uint8_t uid[16];
    uint32_t block;
    int64_t warmup_n;
    double median;  /* of the metric over accepted iterations, a time of one evaluation; NaN: there is none */
    size_t n;       /* iterations that it is the median of */
    bool disturbed; /* there was no clean iteration: these are softly tainted ones */
    char *exe_sha256; /* "" where not known */
    bool exe_of_job;  /* it is one of the files that came with the job */
};
struct qs_history_session {
    uint8_t uid[16];
    int64_t id, job, started_wall_ns;
    char *job_name, *spec_json, *boot, *env_json;
    char *build_label, *build_content; /* NULL where the arm has none */
    char *argv_json, *conditions_json;
    uint32_t arm, point; /* indices in the job */
    struct qs_history_run *runs;
    size_t run_count;
};
struct qs_history_data {
    struct qs_history_session *at; /* by time; those without a run that counts are there, too */
    size_t count;
    struct qs_median_row *fresh; /* medians that nobody had kept: for qs_store_medians */
    size_t fresh_count;
};
/* Sessions that began in [since_wall_ns, until_wall_ns], each with the runs that ended as planned: of a
 * repeated block its last attempt. Medians are those that are kept, the others are computed from the
 * iterations. metric NULL: none is wanted. */
bool qs_read_history(struct qs_store_reader *r, const struct qs_series_info *series,
                     const struct qs_history_metric *metric, int64_t since_wall_ns, int64_t until_wall_ns,
                     struct qs_history_data *ret, struct qs_err *err);
void qs_history_data_free(struct qs_history_data *data);

#endif
