/* The mean of values of which some were taken on a disturbed machine: both kinds count with what each is
 * worth.
 *
 * A disturbed value may scatter more than a clean one; as a rule it measures the same. The weight of a clean
 * value is the ratio of both variances as far as the sample shows it (a lower confidence bound, 1 at least,
 * so that few clean values, which may lie close by luck, do not outvote many others); disturbed values
 * scatter about the clean mean, so that what is off counts as scatter. The standard error is that of the
 * weighted mean from its residuals (HC2: MacKinnon & White 1985), its degrees of freedom are Satterthwaite's:
 * with equal weights that is Student's t. Where both means differ beyond chance (Welch, p below 0.001) the
 * disturbed ones measured something else, and do not count. */
#ifndef QS_STATS_MIXED_H
#define QS_STATS_MIXED_H

#include <stdbool.h>
#include <stddef.h>

#include "stats/status.h"
#include "stats/twosample.h"

enum { QS_CLEAN, QS_DISTURBED, QS_KINDS };

struct qs_mixed {
    struct qs_ttest test;            /* of the mean; n[0] values count; sd[0]: se * sqrt(n) */
    struct qs_ttest alone[QS_KINDS]; /* of each kind by itself; se NaN where it has fewer than 2 */
    double worth; /* of a disturbed value where a clean one is worth 1: in (0, 1], or 0: they do not count */
    double agree_p;  /* of no difference between both means; NaN where a kind has fewer than 3 */
    bool contradict; /* they differ beyond chance: the clean ones alone count */
};

/* d[i] is finite. QS_ENODATA; QS_ETOOFEW for n = 1 (diff is set); QS_EDOM; QS_ENOMEM. */
enum qs_status qs_mixed_mean(const double *d, const bool *disturbed, size_t n, double level,
                             struct qs_mixed *out);

/* Two samples that share no blocks, y - x, like against like: what a disturbance adds on both sides cancels
 * in the difference of disturbed values as nothing else would make it. The differences of both kinds, with
 * QS_MIXED_LEAST values a side at least, are one by the weights above; where they contradict each other the
 * clean one counts. Where one kind has too few partners, nothing cancels: clean values count alone where each
 * side has QS_MIXED_ENOUGH, or has QS_MIXED_LEAST and a side's kinds differ beyond chance; else all (worth
 * NaN). alone[k] is Welch's of each kind, agree_p compares both; test.n has the values that count. Status as
 * qs_welch; QS_EDOM also for a bad level, QS_ENOMEM. */
enum { QS_MIXED_LEAST = 3, QS_MIXED_ENOUGH = 6 };
struct qs_mixed_side {
    const double *v;
    const bool *disturbed; /* NULL: none */
    size_t n;
};
enum qs_status qs_mixed_two(const struct qs_mixed_side *x, const struct qs_mixed_side *y, double level,
                            struct qs_mixed *out);

/* qs_paired_blocks where some blocks were disturbed: the test is that of qs_mixed_mean on d_b, the rest is of
 * the blocks that count. disturbed NULL: none was. Status as there. */
enum qs_status qs_mixed_blocks(const double *x, const double *y, const bool *disturbed, size_t n,
                               double level, struct qs_paired *out, struct qs_mixed *ret_mixed);

/* Values of two sides that fold into groups (sessions, or builds of several), some of them disturbed.
 *
 * What a disturbance adds is seen inside a session that has both kinds: the weighted mean of these contrasts
 * is taken off the disturbed values (the covariate of an analysis of covariance, within groups: Cochran
 * 1957), so that sides of which one was more disturbed than the other can be compared, and no good value
 * makes data fewer. In a group a disturbed value has the weight of stats/mixed.h, by the variances within
 * sessions. How far the shift is known goes into the difference of the sides as far as the shares of
 * disturbed values differ; it has the degrees of freedom of the contrasts. */
struct qs_fold_value {
    double v; /* a logarithm */
    bool disturbed;
    size_t cell;  /* its session: cells of one number stand together */
    size_t group; /* what counts once on its side, below n; a cell lies in one group */
    int side;     /* 0 or 1 */
};

struct qs_mixed_fold {
    size_t cells;        /* sessions that have both kinds; 0: nothing is known, and all else is NaN */
    double shift;        /* of disturbed values against clean ones of their session */
    double shift_se, df; /* of it */
    double worth;        /* of a disturbed value where a clean one is worth 1 */
    double share[2]; /* of the weight of a side's groups that is of disturbed values: the mean over groups */
    double extra_se; /* what the difference of both sides owes to shift_se */
    struct qs_ci ci; /* of the shift */
};

/* QS_ENODATA where no session has both kinds, or one has that has one value of each; QS_EDOM; QS_ENOMEM. */
enum qs_status qs_mixed_fold(const struct qs_fold_value *values, size_t n, double level,
                             struct qs_mixed_fold *out);

#endif
