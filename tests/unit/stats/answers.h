/* What the public functions of stats answer, in one form, so that laws that hold for many of them can be
 * tried on all. */
#ifndef QS_TESTS_STATS_ANSWERS_H
#define QS_TESTS_STATS_ANSWERS_H

#include <stdbool.h>
#include <stddef.h>

#include "stats/status.h"

/* What becomes of a number when all values are multiplied by c > 0, and when s is added to all. */
enum answer_kind {
    ANSWER_LOCATION, /* c v; v + s */
    ANSWER_SPREAD,   /* c v; v */
    ANSWER_AREA,     /* c^2 v; v */
    ANSWER_SAME,     /* v; v */
    ANSWER_SCALED,   /* c v; no law */
    ANSWER_FREE,     /* v; no law */
};

struct answer_number {
    const char *name;
    enum answer_kind kind;
    double v;
    bool share;    /* a probability or a share: in [0,1] */
    bool infinite; /* may be infinite */
};

enum { ANSWER_NUMBERS = 48, ANSWER_INTERVALS = 6, ANSWER_VALUES = 100 }; /* of one sample: fewer */

struct answer {
    enum qs_status status;
    struct answer_number number[ANSWER_NUMBERS];
    size_t count;
    struct {
        size_t estimate, lo, hi; /* places in number */
    } interval[ANSWER_INTERVALS];
    size_t intervals;
};

enum {
    METHOD_ORDERED = 1,  /* the values are a series: their order matters */
    METHOD_POSITIVE = 2, /* takes values above 0 only */
    METHOD_TWO = 4,      /* takes two samples */
    METHOD_PAIRED = 8,   /* of equal length, in blocks */
};

struct method {
    const char *name;
    unsigned flags; /* METHOD_* */
    size_t least;   /* values on each side below which it has no answer: QS_ETOOFEW; 0: none */
    void (*ask)(const double *x, size_t nx, const double *y, size_t ny, struct answer *a);
};

/* One sample, its order of no matter; series; two samples; runs of 5 values each. Each ends with a NULL name.
 */
extern const struct method answers_sample[], answers_series[], answers_pairs[], answers_runs[];

void answer_put(struct answer *a, const char *name, enum answer_kind kind, double v);
void answer_put_share(struct answer *a, const char *name, enum answer_kind kind, double v);
/* A number that may be infinite where its function says so. */
void answer_put_wide(struct answer *a, const char *name, enum answer_kind kind, double v);
/* Both ends, and that they enclose the number that was put last. */
void answer_put_ci(struct answer *a, enum answer_kind kind, const struct qs_ci *ci);

#endif
