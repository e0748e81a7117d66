/* A stop rule on a series that was recorded whole. */
#ifndef QS_STUDIES_STOP_REPLAY_H
#define QS_STUDIES_STOP_REPLAY_H

#include "stats/rule.h"
#include "studies/stop/series.h"

struct replay {
    size_t n, kept_from; /* iterations until it stopped; the first that counts */
    double measured_ns;  /* what those n took */
    bool capped;         /* the series ended before the rule held */
};

/* The rule is asked after each `step` iterations, as at the ends of windows, and at the series' end. False: a
 * value that the stop rule does not take, or no memory. */
bool replay_rule(const struct series *s, const struct qs_rule *rule, size_t step, struct replay *out);

#endif
