/* How something cools down, or warms up, towards an end: Newton's law, T(t) = end + (start - end) e^(-t/tau),
 * fitted to readings that are rounded and noisy. Times in seconds, temperatures in degrees, as a rule. */
#ifndef QS_STATS_COOLING_H
#define QS_STATS_COOLING_H

#include <stdbool.h>
#include <stddef.h>

#include "stats/status.h"

enum {
    QS_COOLING_LEAST = 8,   /* readings */
    QS_COOLING_MOST = 4096, /* of more, every k-th is taken */
    QS_COOLING_CURVES = 16
};

enum qs_cooling_way { QS_COOLS, QS_WARMS };

/* What the readings say of the curve. */
enum qs_cooling_says {
    QS_COOLING_FITS,
    QS_COOLING_FEW,       /* fewer readings than QS_COOLING_LEAST, or than their dependence leaves of them */
    QS_COOLING_FLAT,      /* it moves by less than 4 steps of the sensor, or than 4 sd of the noise */
    QS_COOLING_OTHER_WAY, /* it rises where it should fall, or the reverse */
    QS_COOLING_SHORT,     /* a line fits as well: how it bends is not known yet */
    QS_COOLING_COARSE     /* it is over between two readings */
};
/* "fits", "few", "flat", "other-way", "short", "coarse". Static. */
const char *qs_cooling_says_name(enum qs_cooling_says says);

struct qs_cooling {
    enum qs_cooling_says says; /* what follows is NaN unless it fits; but n, span, quantum always */
    double tau, end, start;    /* start: at the first reading's time; NaN for several curves */
    struct qs_ci tau_ci, end_ci;
    double sd;      /* of the readings about the curve */
    double quantum; /* that all readings are whole multiples of, from the first; 0: none */
    double span;    /* from the first reading to the last, of the longest curve */
    double n_eff;   /* how many independent readings these are worth */
    size_t n;       /* that were used */
};

/* Least squares by variable projection (Golub & Pereyra 1973): for each tau the other two are linear, which
 * leaves one search over ln tau. Intervals are those of the profile likelihood (Bates & Watts 1988, section
 * 6.1): all values for which the sum of squares stays below S + s^2 (n/n_eff) t^2, with t of n_eff - 3
 * degrees of freedom and n_eff of the residuals (qs_ess), because a rounded curve errs the same way for many
 * readings; s is not below the sd of rounding, quantum/sqrt(12). A tau beyond ten times the span is not
 * told from a line.
 * times ascend; equal ones are allowed. QS_ENODATA; QS_EDOM: a value that is not finite, times that descend,
 * level; QS_EDEGENERATE: no time passes; QS_ENOMEM. What the readings do not determine is no error: QS_OK,
 * and `says`. */
enum qs_status qs_cooling_fit(const double *times, const double *values, size_t n, enum qs_cooling_way way,
                              double level, struct qs_cooling *out);

struct qs_cooling_curve {
    const double *times, *values;
    size_t n;
};
/* The same for up to QS_COOLING_CURVES curves, which have tau and end in common, each with a beginning of its
 * own: so curves that were cut off long before their end tell of it together. t has n_eff - 2 - count degrees
 * of freedom. */
enum qs_status qs_cooling_fit_all(const struct qs_cooling_curve *curves, size_t count,
                                  enum qs_cooling_way way, double level, struct qs_cooling *out);

/* How long until `target` from `now`: 0 where it is there already, infinite where the end is not beyond it.
 */
double qs_cooling_eta(double tau, double end, enum qs_cooling_way way, double now, double target);

/* The least and the most time that cooling down from one reading to another takes by a model that fits, where
 * either reading may be `off`: the corners of the intervals, as the time grows with tau and with the end.
 * Infinite where the end may be as warm. QS_EDOM: not cooler, or not known. */
enum qs_status qs_cooling_fall(const struct qs_cooling *model, double from, double to, double off,
                               struct qs_ci *out);

/* The same of warming up from one reading to a warmer one: lo, the least, is from the fastest curve to the
 * warmest end, tau_lo ln((end_hi - from - off) / (end_hi - to + off)), by the law above solved for t.
 * Infinite where the end is not as warm; 0 where `from` may be there already. */
enum qs_status qs_cooling_rise(const struct qs_cooling *model, double from, double to, double off,
                               struct qs_ci *out);

struct qs_cooling_check {
    double rms;      /* of the readings about the model's curve, whose start alone is fitted */
    double expected; /* the rms that the model's own sd, intervals and the rounding account for */
    double end;      /* that fits these readings best with the model's tau */
    bool holds;      /* rms <= 2 expected */
};
/* Does the model still tell of a later curve? Status as of qs_cooling_fit; QS_ETOOFEW below QS_COOLING_LEAST;
 * QS_EDOM also where the model does not fit. */
enum qs_status qs_cooling_holds(const struct qs_cooling *model, const double *times, const double *values,
                                size_t n, struct qs_cooling_check *out);

#endif
