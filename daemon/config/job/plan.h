/* The part of a job that says how much is measured. Owned by the job's spec (job.h). */
#ifndef QS_CONFIG_JOB_PLAN_H
#define QS_CONFIG_JOB_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "config/document/string_list.h"

enum { QS_JOB_HOOKS_MAX = 8 }; /* metrics, and rules, of a farm that one job may ask for */

enum qs_job_order { QS_ORDER_RANDOM, QS_ORDER_AB, QS_ORDER_BA, QS_ORDER_ABBA };
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
    struct qs_strings metrics; /* of the farm: their commands run after each window */
};

#endif
