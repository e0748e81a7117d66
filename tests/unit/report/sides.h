/* Runs of two sides, made by hand: what a comparison over jobs is given. */
#ifndef QS_TEST_REPORT_SIDES_H
#define QS_TEST_REPORT_SIDES_H

#include "world.h"

#include <jansson.h>

#include "report/sides/sides.h"

enum { JOBS = 4 };

struct sides {
    struct world jobs[JOBS]; /* their specs */
    struct qs_sides_job list[JOBS];
    struct qs_arm_runs runs[2];
    struct qs_arm_metric metrics[3];
    struct qs_sides_input in;
    struct qs_buf text;
};

/* No runs yet; `more` as for world_init. Metrics: duration_ns, allocations (deterministic), throughput. */
void sides_init(struct sides *s, const char *more);
void sides_done(struct sides *s);
/* A finished run of two equal values in session = job; valid until the next. */
struct qs_arm_run *sides_add(struct sides *s, int side, int64_t job, uint32_t arm, uint32_t block, double ns);
/* So many blocks of a job around a time, with 0.2 % of noise. */
void sides_add_job(struct sides *s, int side, int64_t job, uint32_t arm, size_t blocks, double ns);
/* The iterations of a run were disturbed, and took so many times as long. */
void sides_disturb(struct sides *s, int side, size_t run, double ratio);
/* Two equal values. */
void sides_set(struct qs_values *values, double v);
/* Replaces a text of a run. */
void sides_name(char **text, const char *to);
/* Another metric for all runs of a side; the third one varies a little from run to run. */
void sides_fill_metric(struct sides *s, int side, size_t metric, double value);
/* The document, owned by the caller. */
json_t *sides_compared(struct sides *s);

#endif
