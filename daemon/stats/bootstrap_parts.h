/* What the files of the bootstrap share. Private to stats. */
#ifndef QS_STATS_BOOTSTRAP_PARTS_H
#define QS_STATS_BOOTSTRAP_PARTS_H

#include "stats/abreast.h"
#include "stats/bootstrap.h"
#include "stats/resample.h"

struct qs_boot_work {
    const double *x; /* borrowed */
    size_t n;
    const struct qs_boot_opts *opts;
    size_t resamples;
    struct qs_rng rng;
    double *work;    /* owned: n + 1 values, or QS_ABREAST resamples of n */
    uint32_t *index; /* owned: which n were drawn */
    double centre;
    double *stars; /* owned: the statistic of each resample */
    size_t *first; /* owned, blocks only: where the unbroken stretch of a value starts, and at n + i ends */
    size_t block_length;
    struct qs_resample *many; /* owned, for the mean of many values */
    double means[QS_ABREAST]; /* of few values: of resamples drawn at a time, those from `next` on are new */
    size_t next;
    struct qs_boot_ranked *ranked; /* owned, for the median of few values: n */
};

struct qs_boot_ranked {
    uint32_t rank;  /* of the value in its place among the sorted */
    uint32_t drawn; /* how often the value of this rank was */
};

double qs_boot_evaluate(const struct qs_boot_work *b, size_t n);
/* After so many evaluations: whether to go on with the next. */
bool qs_boot_may_go_on(const struct qs_boot_work *b, size_t done);

/* bootstrap_stars.c: fills the stars. QS_EDOM, QS_ENOMEM, QS_ECANCELED. */
enum qs_status qs_boot_draw_stars(struct qs_boot_work *b);

#endif
