/* Runs of arms wherever they were measured, with all their metrics: what a comparison over jobs, builds and
 * nights is made from. Results are owned by the caller. */
#ifndef QS_STORE_READ_ARMS_H
#define QS_STORE_READ_ARMS_H

#include "store/values.h"

struct qs_run_filter {                   /* all conditions hold; borrowed texts */
    int64_t job;                         /* 0: any */
    const char *arm;                     /* name, NULL: any */
    const char *build;                   /* label, NULL: any */
    const char *build_from, *build_to;   /* where no build has this label: from one to the other, or NULL */
    int64_t from_wall_ns, until_wall_ns; /* when the session began: from <= t < until; both 0: any time */
};

struct qs_arm_metric {
    char *name, *unit; /* owned */
    bool higher_is_better, deterministic;
    bool
        of_windows; /* a command of the farm said it after each window (plan.metrics); else of an iteration */
};

struct qs_arm_run {
    int64_t id; /* number of the run */
    uint8_t uid[16];
    int64_t job, session, env, host; /* numbers that tell sessions and environments apart; 0: none */
    uint32_t arm, point, block, pos, attempt, taints; /* taints: of the run, its windows and iterations */
    bool superseded;                                  /* its block was begun again: it counts for nothing */
    enum qs_run_state state;
    bool simulated;
    /* owned; NULL where it is not known, but for the first six */
    char *benchmark, *params_json, *controls_json, *conditions_json, *label, *arm_name;
    char *device, *build, *build_content, *exe_sha256, *env_json, *host_json;
    struct qs_values *values; /* owned, one for each metric of the list */
};

struct qs_arm_runs {
    struct qs_arm_run
        *at; /* filter by filter, ascending by job, point, device, block, pos, attempt; each once */
    size_t count;
    struct qs_arm_metric *metrics; /* the first is duration_ns */
    size_t metric_count;
    int64_t *running; /* jobs that have a run here and have not ended: left out, ascending */
    size_t running_count;
};

/* Which metrics: those that programs declared, or those of this list. The duration is always there. */
struct qs_metric_names {
    const char *const *names; /* NULL: all that were declared */
    size_t count;
};

/* Counted runs (block >= 1) of ended jobs that any of the filters matches. QS_E_NOT_FOUND: a metric of the
 * list that the store has never seen, a job or a build of a filter that there is not. */
bool qs_read_arm_runs(struct qs_store_reader *r, const struct qs_run_filter *filters, size_t count,
                      const struct qs_metric_names *names, struct qs_arm_runs *ret, struct qs_err *err);
void qs_arm_runs_free(struct qs_arm_runs *runs);

#endif
