/* What a sensor said while gates waited for it to cool down, as cooling curves: the model that they make
 * together, and whether the one that was characterized still holds. Pure.
 *
 * A wait counts from its warmest reading on, where at least QS_COOLING_LEAST readings follow that never rise
 * by more than a degree (something heats then), and move by more than their noise and rounding do, four times
 * (qs_cooling_fit: it fits, or is too short to alone). The newest QS_REFIT_CURVES of them, QS_REFIT_LEAST at
 * least, are fitted together (qs_cooling_fit_all).
 *
 * The characterized model tells for each of them how long the fall from the first reading to the last takes,
 * with an interval (qs_cooling_fall): the corners of its 95 % intervals, either reading off by two sd or two
 * of its rounding, whichever is more, and a tenth more on both sides, because less is of no use to anybody.
 * It no longer holds when QS_REFIT_LEAST waits in a row, up to the newest, are beyond the same end, since the
 * first of them. One wait alone may be somebody's who kept the device busy. A model that holds is off where
 * one of its two intervals misses what is true, at most once in ten, and by more than the corners and the
 * tenth make up for: on made-up curves in at most one case of 100 (test_refit.c). */
#ifndef QS_REPORT_REFIT_H
#define QS_REPORT_REFIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "stats/cooling.h"

enum { QS_REFIT_CURVES = 8, QS_REFIT_LEAST = 3, QS_REFIT_WAITS = 64, QS_REFIT_READINGS = 64 };

struct qs_refit { /* of one sensor; seconds and thousandths of a degree */
    char sensor[64];
    struct qs_cooling measured; /* characterized; does not fit where nothing was */
    int64_t measured_wall_ns;
    struct qs_cooling fit; /* of `waits` waits; does not fit where there are too few */
    size_t waits;
    int64_t newest_wall_ns;
    struct { /* of the newest waits, those of which `measured` is off to the same side; 0: none */
        size_t waits;
        int64_t since_wall_ns;
        double predicted_s, took_s; /* in all; infinite: it would never have been as cool */
    } off;
    /* While waits are added. */
    size_t seen;
    int side; /* 0: unbroken so far, of none */
    bool broken;
    double times_s[QS_REFIT_CURVES][QS_REFIT_READINGS], values_mc[QS_REFIT_CURVES][QS_REFIT_READINGS];
    size_t n[QS_REFIT_CURVES];
};
/* All bytes zero but sensor and measured. The newest wait first; trace: "[[ms, mc], ...]". What nobody looks
 * at any more is ignored. */
void qs_refit_add(struct qs_refit *refit, int64_t wall_ns, const char *trace);
/* When all were added. */
void qs_refit_make(struct qs_refit *refit);
bool qs_refit_no_longer_holds(const struct qs_refit *refit);
/* "no longer holds since 2026-11-20: its last 3 waits took 2 min 27 s, where 49.0 s were predicted" */
void qs_refit_say(const struct qs_refit *refit, struct qs_buf *out);
/* What tells best how it cools down: of the waits where they fit, else what was measured; NULL: nothing. */
const struct qs_cooling *qs_refit_best(const struct qs_refit *refit);

#endif
