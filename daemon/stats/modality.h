/* How many modes a sample has. Order of the values does not matter. */
#ifndef QS_STATS_MODALITY_H
#define QS_STATS_MODALITY_H

#include <stdbool.h>
#include <stddef.h>

#include "stats/status.h"

/* What the values' own ties say about the step that they were measured in. */
struct qs_ties {
    size_t n_distinct;
    double smallest_gap; /* between distinct values; NaN where there is but one */
};

/* QS_ENODATA, QS_EDOM, QS_ENOMEM: 0 and NaN. */
enum qs_status qs_ties(const double *x, size_t n, struct qs_ties *out);

/* Undoes rounding: c equal values v become v + quantum ((i + 0.5)/c - 0.5), i = 0..c-1, ascending in out (n
 * doubles). Rounded normal values look multimodal without it. quantum >= 0: the declared resolution (the
 * clock's tick, the counter's step); 0 leaves the values. QS_ENODATA, QS_EDOM, QS_ENOMEM: out is untouched.
 */
enum qs_status qs_spread_ties(const double *x, size_t n, double quantum, double *out);

enum { QS_MODES_MAX = 50 };

struct qs_modes {
    size_t count;                  /* 1 for data that do not vary */
    double location[QS_MODES_MAX]; /* ascending; count of them */
    double cut[QS_MODES_MAX - 1];  /* between neighbouring modes; count - 1 of them */
    size_t bins;                   /* of the density; 0 where the data do not vary */
};

/* Akinshin's lowland test (perfolizer; 2020): a density of 100 equally probable bins between Harrell-Davis
 * quantiles; two peaks are modes where the valley between them is less than half filled. Bins narrower than
 * 1e-9 of the range are left out; a range below 1e-9 of the largest value is one mode. Reliable from 30
 * values on (no false alarms on normal and log-normal samples; sees two modes 4 sd apart in a quarter of
 * samples of 200). QS_ENODATA, QS_EDOM, QS_ENOMEM, QS_ECANCELED: count 0. */
enum qs_status qs_lowland(const double *x, size_t n, const struct qs_progress *progress,
                          struct qs_modes *out);

/* Gregg's mvalue: sum |c_i - c_{i-1}| / max c over a histogram with an empty bin at both ends; 2 for one
 * mode, 4 for two equal ones. The largest of those with bin width h, 2h, .. up to the range; h = 0.75 3.5 sd
 * n^(-1/3) of the values within Tukey's fences, bins from min - h/2. 2 for data that do not vary. QS_ENODATA,
 * QS_EDOM, QS_ENOMEM: NaN. */
enum qs_status qs_mvalue(const double *x, size_t n, double *m);

enum qs_modality { QS_MODALITY_UNKNOWN, QS_MODALITY_ONE, QS_MODALITY_POSSIBLY_MORE, QS_MODALITY_MORE };
extern const char *const qs_modality_names[]; /* by value, NULL at the end */

enum { QS_LOWLAND_N_MIN = 30, QS_MVALUE_N_MIN = 15, QS_MODALITY_DISTINCT_MIN = 8 };
#define QS_MVALUE_SUSPICIOUS 2.8

struct qs_modality_test {
    enum qs_modality modality;
    struct qs_ties ties;
    double
        quantum; /* what was spread: the declared one, or the smallest gap; NaN where nothing was assessed */
    double mvalue;               /* of the spread values; NaN: not assessed */
    struct qs_modes modes;       /* of the spread values; count 0: not assessed */
    double median[QS_MODES_MAX]; /* of the values of each mode; modes.count of them */
    double share[QS_MODES_MAX];  /* of all values, in (0,1]; they sum to 1 */
};

/* Spreads ties, then: "multimodal" where qs_lowland finds two modes or more, "possibly" where the mvalue is
 * above 2.8. "unknown" for fewer values than QS_LOWLAND_N_MIN (from QS_MVALUE_N_MIN on the mvalue may still
 * say "possibly"), and for fewer than QS_MODALITY_DISTINCT_MIN distinct ones without a declared quantum
 * (NaN): then a table of the values says more. Data that do not vary have one mode. QS_ENODATA, QS_EDOM,
 * QS_ENOMEM, QS_ECANCELED. */
enum qs_status qs_modality_test(const double *x, size_t n, double quantum, const struct qs_progress *progress,
                                struct qs_modality_test *out);

/* Shares of the values between given cuts (n_cuts ascending, from another sample as a rule): share[k] is the
 * part in (cut[k-1], cut[k]]; n_cuts + 1 of them. QS_ENODATA, QS_EDOM. */
enum qs_status qs_mode_shares(const double *x, size_t n, const double *cuts, size_t n_cuts, double *share);

/* Whether a mode's share is another one in the candidate: |p2 - p1| above Wald's z_{1-a/2} sqrt(p1 q1/n1 + p2
 * q2/n2). */
struct qs_share_change {
    double difference; /* p2 - p1 */
    double bound;
    bool changed;
};

/* Shares in [0,1] of n1, n2 >= 1 values. NaN and false for anything else. */
struct qs_share_change qs_share_change(double share1, size_t n1, double share2, size_t n2, double level);

/* Hartigan's dip: how far the values are from having one mode. */
struct qs_dip {
    double dip; /* the largest distance to the nearest distribution with one mode, 1/(2n) .. 0.25 */
    double p; /* that uniform values dip as far, from a table, 0.001 .. 1: 0.001 says at most that; 1 for n <
                 4 */
};

/* Hartigan & Hartigan 1985 of ascending values. QS_ENODATA, QS_EDOM (not finite), QS_ENOMEM: fields are NaN.
 */
enum qs_status qs_dip(const double *sorted, size_t n, struct qs_dip *out);

#endif
