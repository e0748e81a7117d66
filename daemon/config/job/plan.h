/* The part of a job that says how much is measured and under which conditions. Owned by the job's spec
 * (job.h). */
#ifndef QS_CONFIG_JOB_PLAN_H
#define QS_CONFIG_JOB_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "config/document/string_list.h"
#include "stats/rule.h"

enum { QS_JOB_HOOKS_MAX = 8 }; /* metrics, and rules, of a farm that one job may ask for */

enum qs_job_order { QS_ORDER_RANDOM, QS_ORDER_AB, QS_ORDER_BA, QS_ORDER_ABBA };
enum qs_job_on_timeout {
    QS_ON_TIMEOUT_TAINT,
    QS_ON_TIMEOUT_DEFER,
    QS_ON_TIMEOUT_REQUEUE,
    QS_ON_TIMEOUT_FAIL
};

struct qs_job_expectation { /* one line of the gate */
    char *sensor;           /* "cpu.busy_ratio_ppm", "thermal:x86_pkg_temp" */
    bool has_lo, has_hi, unreadable_ok;
    int64_t lo, hi; /* in the sensor's unit */
    int64_t dwell_ns, timeout_ns;
    enum qs_job_on_timeout on_timeout;
    bool backoff; /* default true: each window in a row that was tainted by the gate halves the next one's
                     timeout */
};

struct qs_job_bound { /* evidence: a difference above it taints the window */
    char *kind;
    int64_t bound;
};

struct qs_job_plan {
    uint64_t seed; /* drawn by the daemon where has_seed is false, then stored */
    bool has_seed;
    enum qs_job_order order;
    uint32_t blocks_min, blocks_max; /* counted blocks per point and device; defaults 6 and 30 */
    uint32_t *looks; /* block numbers at which `interval` may stop; empty: every block from blocks_min */
    size_t look_count;
    double interval_ratio; /* stop when the 95 % half-width of every ratio (one arm: of the median) is at most
                              this; 0 = never */
    double precision_ratio; /* the wish that iterations and runs are planned for; 0: none. interval_ratio is
                               the same then */
    int64_t time_ns; /* measured + waited time after which no new block starts (never before blocks_min); 0 =
                        none */
    uint32_t window_iterations; /* 0 = auto: see window_target_ns */
    int64_t window_target_ns;   /* auto: r = clamp(ceil(target / slowest arm's pilot), 1, window_auto_max) */
    uint32_t window_auto_max;
    int64_t window_max_ns;
    uint32_t warmup_iterations; /* uncounted, per arm and point; the last is the pilot */
    int64_t warmup_max_ns;
    struct qs_rule *stop;      /* owned tree; per run, asked at window ends; NULL: one window a run */
    struct qs_strings metrics; /* of the farm: their commands run after each window */
    int64_t cap_time_ns;       /* what ends a run whatever its rule says */
    uint32_t cap_iterations;
    uint32_t repeat_tainted; /* times a tainted window is repeated */
};

#endif
