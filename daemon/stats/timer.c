#include "stats/timer.h"

#include "stats/sum.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

static const double TABLE_ACC_NS = 1000; /* what the table was made for, with a precision of 1 ns */
static const double TABLE_J = 1000;

uint32_t qs_timer_max_evals(const struct qs_clock_error *timer)
{
    if (!(timer->acc_ns > 0 && timer->prec_ns > 0) || !isfinite(timer->acc_ns) || !isfinite(timer->prec_ns))
        return 0;
    double j = timer->acc_ns / timer->prec_ns;
    return (uint32_t)fmax(1, fmin(j, QS_TIMER_EVALS_MAX));
}

const char *qs_oracle_name(enum qs_oracle oracle)
{
    return oracle == QS_ORACLE_LOGISTIC ? "logistic" : "table";
}

/* From `high` far below t0 to `low` far above it; the table rounds halves to even. */
static double logistic_step(double high, double low, double slope, double t, double t0)
{
    return rint((high - low) / (1 + exp(slope * (t - t0))) + low);
}

/* t: a whole number of ns from 1 */
static double table_at(double t)
{
    if (t <= 400)
        return logistic_step(1006, 195, 0.025, t, 200);
    if (t <= 1000)
        return logistic_step(204, -16, 0.01, t, 800);
    return t > 9000 ? 1 : 11 - floor((t - 1) / 1000);
}

uint32_t qs_oracle_table(double t_ns, const struct qs_clock_error *timer)
{
    uint32_t j = qs_timer_max_evals(timer);
    if (j == 0 || isnan(t_ns))
        return 0;
    double n = rint(table_at(fmax(1, ceil(t_ns * TABLE_ACC_NS / timer->acc_ns))) * (j / TABLE_J));
    return (uint32_t)fmax(1, n);
}

uint32_t qs_oracle_logistic(double t_ns, const struct qs_clock_error *timer, double slope, double b)
{
    uint32_t j = qs_timer_max_evals(timer);
    bool admissible = slope > 0.005 && slope < 0.02 && b > 0.4 && b < 0.6;
    if (j == 0 || isnan(t_ns) || !admissible)
        return 0;
    double at = slope / timer->prec_ns * (t_ns - b * timer->acc_ns);
    return (uint32_t)floor(1 + (j - 1) / (1 + exp(at)));
}

uint32_t qs_evals(enum qs_oracle oracle, double t_ns, const struct qs_clock_error *timer)
{
    uint32_t n = oracle == QS_ORACLE_TABLE
                     ? qs_oracle_table(t_ns, timer)
                     : qs_oracle_logistic(t_ns, timer, QS_LOGISTIC_SLOPE, QS_LOGISTIC_B);
    if (n == 0)
        return 0;
    double lasting = ceil(timer->acc_ns / (QS_TIMER_ERROR_RATIO * fmax(t_ns, 0)));
    lasting = fmin(lasting, QS_TIMER_LASTING_MAX);
    return (uint32_t)fmax(lasting, n);
}

enum qs_status qs_tuner_init(struct qs_tuner *tuner, enum qs_oracle oracle,
                             const struct qs_clock_error *timer, double budget_ns)
{
    *tuner = (struct qs_tuner){
        .timer = *timer, .oracle = oracle, .budget_ns = budget_ns, .min_ns = INFINITY, .spent_ns = 0};
    return qs_timer_max_evals(timer) > 0 && budget_ns > 0 ? QS_OK : QS_EDOM;
}

uint32_t qs_tuner_next(const struct qs_tuner *tuner)
{
    uint32_t j = qs_timer_max_evals(&tuner->timer);
    uint32_t scan = j > 0 && j < QS_TUNER_SCAN ? QS_TUNER_SCAN : j;
    bool more = tuner->done < scan && tuner->spent_ns < tuner->budget_ns;
    return more ? tuner->done + 1 : 0;
}

enum qs_status qs_tuner_push(struct qs_tuner *tuner, double total_ns)
{
    uint32_t evals = qs_tuner_next(tuner);
    if (evals == 0)
        return QS_ETOOFEW;
    if (!isfinite(total_ns) || total_ns < 0)
        return QS_EDOM;
    tuner->done = evals;
    tuner->took++;
    tuner->spent_ns += total_ns;
    tuner->min_ns = fmin(tuner->min_ns, total_ns / evals);
    return QS_OK;
}

void qs_tuner_skip(struct qs_tuner *tuner)
{
    if (qs_tuner_next(tuner) > 0)
        tuner->done++;
}

enum qs_status qs_tuner_evals(const struct qs_tuner *tuner, uint32_t *evals)
{
    *evals = tuner->took > 0 ? qs_evals(tuner->oracle, tuner->min_ns, &tuner->timer) : 0;
    return tuner->took > 0 ? QS_OK : QS_ENODATA;
}

const char *const qs_judgement_names[] = {"invariant", "improvement", "regression", NULL};

double qs_judge_ratio(double candidate, double baseline)
{
    bool equal = !(candidate < baseline) && !(candidate > baseline);
    return equal && !isnan(candidate) && !isnan(baseline) ? 1 : candidate / baseline;
}

enum qs_judgement qs_judge(double ratio, double tolerance)
{
    if (isnan(ratio) || ratio - tolerance > 1)
        return QS_JUDGE_REGRESSION;
    return ratio + tolerance < 1 ? QS_JUDGE_IMPROVEMENT : QS_JUDGE_INVARIANT;
}
