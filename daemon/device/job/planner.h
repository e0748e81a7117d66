/* From a job's first runs: how many iterations a run and how many runs the wanted precision takes. It knows
 * what iterations and runs cost here and how much each varies (stats/design.h); never which arm is faster. */
#ifndef QS_DEVICE_JOB_PLANNER_H
#define QS_DEVICE_JOB_PLANNER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct qs_planner; /* the runs of one point on one device */

struct qs_planner *qs_planner_new(size_t arms);
void qs_planner_free(struct qs_planner *p); /* NULL is allowed */
/* A run that counts: its accepted durations without warm-up, how long its windows were open for how many
 * iterations, and how long all of it took. Runs of fewer than 2 iterations are left out. */
void qs_planner_add(struct qs_planner *p, size_t arm, const double *durations_ns, size_t n,
                    int64_t windows_ns, size_t windows_n, int64_t run_ns);

struct qs_planner_wish {
    double half_width_ratio, level;
    size_t iterations_least, iterations_most; /* a run; equal: given, only runs are planned */
    size_t runs_least, runs_most;             /* an arm */
};

struct qs_planner_answer {
    size_t iterations, runs;
    double half_width_ratio; /* expected with these */
    bool attainable;         /* with runs_most */
};

/* The arm that needs most decides. Where runs do not differ beyond what their iterations explain, as many
 * iterations as bring runs_least to the wish, not as many as are allowed. False where fewer than 3 runs of an
 * arm are known, or they cannot tell. */
bool qs_planner_ask(const struct qs_planner *p, const struct qs_planner_wish *wish,
                    struct qs_planner_answer *ret);

#endif
