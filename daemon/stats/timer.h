/* What a clock can tell apart, and how many evaluations of a short piece of work one measurement needs: Chen
 * & Revels 2016 ("Robust benchmarking in noisy environments"), sections IV-B and IV-C, and its program
 * BenchmarkTools. Times in ns of double precision. Ratios are candidate over baseline, lower is better. */
#ifndef QS_STATS_TIMER_H
#define QS_STATS_TIMER_H

#include "stats/status.h"

#include <stddef.h>
#include <stdint.h>

struct qs_clock_error {
    double acc_ns;  /* tau_acc: bound of the error of one reading; 1000 where it is not known */
    double prec_ns; /* tau_prec > 0: the smallest interval above 0 that the clock shows */
};

/* j = floor(tau_acc/tau_prec) within [1, QS_TIMER_EVALS_MAX]: more evaluations push the error below what the
 * clock shows. 0 for a timer that is not made of finite positive numbers. */
enum { QS_TIMER_EVALS_MAX = 1000000 };
uint32_t qs_timer_max_evals(const struct qs_clock_error *timer);

enum qs_oracle { QS_ORACLE_TABLE, QS_ORACLE_LOGISTIC };
const char *qs_oracle_name(enum qs_oracle oracle); /* "table", "logistic" */

/* The table that BenchmarkTools ships, for t_ns > 0 a single evaluation; it is made for tau 1000 and 1 ns.
 * For others t is scaled by 1000/tau_acc and the answer by j/1000, at least 1. 0 for NaN or a bad timer. */
uint32_t qs_oracle_table(double t_ns, const struct qs_clock_error *timer);

/* Equation 11: floor(1 + (j-1)/(1 + exp(a (t - b tau_acc)))), a = slope/tau_prec. Admissible are slopes in
 * (0.005, 0.02) and b in (0.4, 0.6); 0 outside of that, for NaN and for a bad timer. The slope does not
 * follow tau_acc: with a small j the curve is flat, which is why the table is the default. */
#define QS_LOGISTIC_SLOPE 0.009
#define QS_LOGISTIC_B     0.5
uint32_t qs_oracle_logistic(double t_ns, const struct qs_clock_error *timer, double slope, double b);

/* The number to use: the oracle's, with slope and b as above, and at least as many as make tau_acc
 * QS_TIMER_ERROR_RATIO of what the measurement lasts (QS_TIMER_LASTING_MAX at most). The oracles bound the
 * error of an evaluation by tau_prec alone: with a small j that is more than short work itself. 0: as the
 * oracles. */
#define QS_TIMER_ERROR_RATIO 0.01
enum { QS_TIMER_LASTING_MAX = 100000 };
uint32_t qs_evals(enum qs_oracle oracle, double t_ns, const struct qs_clock_error *timer);

/* Algorithm 1, one measurement at a time: measure i = 1, 2, .. j evaluations in turn, t = min T_i/i. One
 * unmeasured evaluation comes before it. It ends early once the measured time reaches the budget (5 s as a
 * rule). As in the authors' program there are 1000 measurements also where j is less: the minimum of two or
 * three, each with two looks at the clock in it, says little about t. */
enum { QS_TUNER_SCAN = 1000 };
struct qs_tuner {
    struct qs_clock_error timer;
    enum qs_oracle oracle;
    double budget_ns, spent_ns;
    double min_ns; /* min T_i/i so far; infinite before the first */
    uint32_t done; /* measurements taken or skipped */
    uint32_t took; /* measurements taken */
};

/* QS_EDOM: a bad timer, or a budget that is not above 0 (infinite is allowed). */
enum qs_status qs_tuner_init(struct qs_tuner *tuner, enum qs_oracle oracle,
                             const struct qs_clock_error *timer, double budget_ns);
/* How many evaluations the next measurement has; 0: no more are needed. */
uint32_t qs_tuner_next(const struct qs_tuner *tuner);
/* What that measurement took in all. QS_EDOM (negative or not finite), QS_ETOOFEW where none was wanted: the
 * tuner is unchanged then. */
enum qs_status qs_tuner_push(struct qs_tuner *tuner, double total_ns);
/* The measurement that is due was not valid: the scan goes on behind it. */
void qs_tuner_skip(struct qs_tuner *tuner);
/* Evaluations per measurement from what was seen so far. QS_ENODATA before the first, *evals = 0 then. */
enum qs_status qs_tuner_evals(const struct qs_tuner *tuner, uint32_t *evals);

/* BenchmarkTools' rule for two estimates (by its documentation minima). */
enum qs_judgement { QS_JUDGE_INVARIANT, QS_JUDGE_IMPROVEMENT, QS_JUDGE_REGRESSION };
extern const char *const qs_judgement_names[]; /* by value, NULL at the end */
#define QS_JUDGE_TIME_TOLERANCE   0.05
#define QS_JUDGE_MEMORY_TOLERANCE 0.01

/* candidate/baseline; 1 where they are equal, 0/0 included. */
double qs_judge_ratio(double candidate, double baseline);

/* Regression if ratio - tolerance > 1 or the ratio is NaN, improvement if ratio + tolerance < 1. The
 * tolerance is the larger of both sides'. */
enum qs_judgement qs_judge(double ratio, double tolerance);

#endif
