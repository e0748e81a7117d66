/* Every number that a function of stats answers about one sample, or about two, as a line of text. */
#ifndef QS_TESTS_STATS_WHOLE_H
#define QS_TESTS_STATS_WHOLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "stats/status.h"
#include "stats/twosample.h"

enum { WHOLE_MOST = 130, WHOLE_BREAKS = 2 };

struct whole_sample {
    const char *name;
    double x[WHOLE_MOST], y[WHOLE_MOST];
    bool dx[WHOLE_MOST], dy[WHOLE_MOST]; /* which were disturbed */
    size_t nx, ny;
    size_t breaks[WHOLE_BREAKS], n_breaks; /* of x as a series */
};

struct whole_page {
    const char *name;
    void (*put)(FILE *out, const struct whole_sample *s);
};

/* Each ends with a NULL name. */
extern const struct whole_page whole_one[], whole_series[], whole_runs[], whole_two[], whole_rules[];

void whole_status(FILE *out, enum qs_status status);
void whole_number(FILE *out, const char *name, double v);
void whole_ci(FILE *out, const char *name, const struct qs_ci *ci);

/* Of one sample, or of two. */
void whole_ttest(FILE *out, const struct qs_ttest *t, int samples);

/* A number under the name that it has in the source. */
#define PUT(v)    whole_number(out, #v, (double)(v))
#define PUT_CI(v) whole_ci(out, #v, &(v))

#endif
