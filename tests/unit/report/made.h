/* Made jobs, each with something of its own. The noise is drawn from seeds: a job is the same each time. */
#ifndef QS_TEST_REPORT_MADE_H
#define QS_TEST_REPORT_MADE_H

#include "metrics.h"

struct made { /* one job; numbers that are 0 mean that there is nothing of it */
    const char *name, *text;
    uint32_t devices, blocks, iterations;
    double ns, ratio, noise, trend; /* of arm a; of b to a; of blocks, runs, iterations; block to block */
    uint32_t disturbed_from, fail_each, miss_each, again_each; /* blocks */
    double disturbed_ratio;
    size_t disturbed_arm; /* the only one whose runs are disturbed, from 1 on */
    double first, far;    /* times as long: the first iteration, the last one of each fifth run */
    const char *views;
    uint32_t points;
    bool abba, simulated, waits, metrics, sessions;
};

extern const struct made made_jobs[];
extern const size_t made_count;

/* metrics_done() frees it. */
void made_init(struct metrics *m, const struct made *of);

#endif
