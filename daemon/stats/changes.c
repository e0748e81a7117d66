/* The steps that hold, which of them are one drift, and which are too small to be told. */
#include "stats/describe.h"
#include "stats/drift.h"
#include "stats/special.h"
#include "stats/steps.h"
#include "stats/sum.h"

#include <math.h>
#include <stdlib.h>

enum { RAMP_LEAST = 5 };

/* Numbers of a fit that count: a step's place is one of few, and tests/studies/history chose what it weighs.
 */
static const double STEP_NUMBERS = 1.4, RAMP_NUMBERS = 4;

/* Of the work; a ramp over n values costs n^2/2 steps, about as many as Hunter's windows. */
static const double HUNTER_SHARE = 0.5;

struct search {
    const double *x, *y; /* borrowed: the values, and without what stands out */
    size_t n;
    const struct qs_hunter_opts *opts;
    struct qs_progress progress;        /* of the row under way */
    const struct qs_change_point *step; /* borrowed */
    size_t steps;
    struct qs_changes *out;
};

/* Neighbouring steps of one direction, and the values that they explain. */
struct row {
    size_t first, end;  /* steps */
    size_t begin, stop; /* values */
};

static bool rises(const struct qs_change_point *p)
{
    return p->after > p->before;
}

static struct row row_from(const struct search *s, size_t first)
{
    struct row r = {.first = first, .end = first + 1};
    while (r.end < s->steps && rises(&s->step[r.end]) == rises(&s->step[first]))
        r.end++;
    r.begin = first > 0 ? s->step[first - 1].index : 0;
    r.stop = r.end < s->steps ? s->step[r.end].index : s->n;
    return r;
}

static double rss_about_mean(const double *x, size_t n)
{
    struct qs_moments m;
    return qs_moments(x, n, &m) == QS_OK && n > 1 ? m.var * (double)(n - 1) : 0;
}

static double rss_of_steps(const struct search *s, const struct row *r)
{
    double rss = 0;
    for (size_t i = r->first; i <= r->end; i++) {
        size_t from = i == r->first ? r->begin : s->step[i - 1].index;
        size_t end = i == r->end ? r->stop : s->step[i].index;
        rss += rss_about_mean(s->y + from, end - from);
    }
    return rss;
}

/* Schwarz's criterion. What is below the rounding of the values counts as no residual at all. */
static double criterion(double rss, size_t n, double worth, double numbers, double level)
{
    double dn = (double)n, least = dn * level * level * 1e-24;
    return worth * dn * log(fmax(rss, fmax(least, 1e-300)) / dn) + numbers * log(dn);
}

/* Whether the change is surely too small to matter. */
static bool is_below(const struct qs_change_point *p, double margin)
{
    if (!(p->magnitude < margin))
        return false;
    return !isfinite(p->ci.lo) || (p->ci.hi < 1 + margin && p->ci.lo > 1 / (1 + margin));
}

static enum qs_status add_step(struct search *s, size_t i)
{
    const struct qs_change_point *p = &s->step[i];
    size_t from = i > 0 ? s->step[i - 1].index : 0, end = i + 1 < s->steps ? s->step[i + 1].index : s->n;
    if (is_below(p, s->opts->min_magnitude)) {
        s->out->smaller++;
        s->out->smaller_most_ratio = fmax(s->out->smaller_most_ratio, p->magnitude);
        return QS_OK;
    }
    struct qs_change *c = &s->out->at[s->out->count++];
    *c = (struct qs_change){.kind = QS_CHANGE_STEP,
                            .from = p->index,
                            .to = p->index,
                            .p = p->p,
                            .before = p->before,
                            .after = p->after,
                            .ratio = p->ratio,
                            .ci = p->ci,
                            .slope = NAN,
                            .n_eff = NAN,
                            .confirmed = p->confirmed};
    enum qs_status status = qs_median(s->x + from, p->index - from, &c->median_before);
    return status == QS_OK ? qs_median(s->x + p->index, end - p->index, &c->median_after) : status;
}

/* The interval of the ratio: how far the slope's would have led from the level before. */
static struct qs_ci ratio_of_slope(const struct qs_drift *d, double before, double steps)
{
    struct qs_ci ci = d->ci;
    double a = 1 + d->ci.lo * steps / before, b = 1 + d->ci.hi * steps / before;
    ci.lo = fmin(a, b);
    ci.hi = fmax(a, b);
    return ci;
}

static void add_drift(struct search *s, const struct qs_ramp *ramp, size_t at, const struct qs_drift *whole)
{
    struct qs_drift inner;
    double steps = (double)(ramp->to - ramp->from);
    bool positive = ramp->before > 0 && ramp->after > 0;
    if (qs_drift(s->y + at + ramp->from, ramp->to - ramp->from + 1, s->opts->level, &s->progress, &inner) !=
        QS_OK)
        inner = *whole;
    s->out->at[s->out->count++] = (struct qs_change){
        .kind = QS_CHANGE_DRIFT,
        .from = at + ramp->from,
        .to = at + ramp->to,
        .p = whole->p,
        .before = ramp->before,
        .after = ramp->after,
        .ratio = positive ? ramp->after / ramp->before : NAN,
        .ci = positive ? ratio_of_slope(&inner, ramp->before, steps) : qs_ci_none(s->opts->level),
        .slope = (ramp->after - ramp->before) / steps,
        .n_eff = whole->n_eff,
        .median_before = NAN,
        .median_after = NAN,
        .confirmed = true};
}

/* Residuals of the row about the ramp, and about its steps. */
static void residuals(const struct search *s, const struct row *r, const struct qs_ramp *ramp,
                      double *of_ramp, double *of_steps)
{
    for (size_t i = r->first; i <= r->end; i++) {
        size_t from = i == r->first ? r->begin : s->step[i - 1].index;
        size_t end = i == r->end ? r->stop : s->step[i].index;
        struct qs_moments m;
        (void)qs_moments(s->y + from, end - from, &m); /* all are finite: the steps were found among them */
        for (size_t k = from; k < end; k++) {
            of_ramp[k - r->begin] = s->y[k] - qs_ramp_at(ramp, k - r->begin);
            of_steps[k - r->begin] = s->y[k] - m.mean;
        }
    }
}

/* What one value of the row says beside independent ones, 0 .. 1, by the explanation that leaves less. */
static double worth_of(const double *of_ramp, const double *of_steps, size_t n)
{
    double phi = fmin(qs_ar1_phi(of_ramp, n, 2), qs_ar1_phi(of_steps, n, 2));
    return 1 / qs_ar1_inflation(fmax(0, phi), n);
}

/* Whether the ramp explains the row better than its steps, or the best single one where there is none. */
static bool is_better(const struct search *s, const struct row *r, const struct qs_ramp *ramp, double worth)
{
    size_t n = r->stop - r->begin;
    double level = fabs(ramp->before) + fabs(ramp->after);
    double steps = (double)(r->end - r->first);
    double one = criterion(ramp->step_rss, n, worth, STEP_NUMBERS + 1, level);
    double all = r->end > r->first ? criterion(rss_of_steps(s, r), n, worth, STEP_NUMBERS * steps + 1, level)
                                   : INFINITY;
    return criterion(ramp->rss, n, worth, RAMP_NUMBERS, level) < fmin(one, all);
}

/* Of a row of at least RAMP_LEAST + 1 values and a ramp that climbs enough. */
static enum qs_status weigh(struct search *s, const struct row *r, const struct qs_ramp *ramp,
                            bool *ret_drift)
{
    struct qs_drift d;
    size_t n = r->stop - r->begin;
    double *rest = calloc(n, 2 * sizeof *rest);
    if (!rest)
        return QS_ENOMEM;
    enum qs_status status = QS_OK;
    residuals(s, r, ramp, rest, rest + n);
    if (is_better(s, r, ramp, worth_of(rest, rest + n, n))) {
        status = qs_drift_about(s->y + r->begin, rest, n, s->opts->level, &s->progress, &d);
        *ret_drift = status == QS_OK && d.p < s->opts->p_max;
        if (*ret_drift)
            add_drift(s, ramp, r->begin, &d);
    }
    free(rest);
    return status;
}

/* Whether one ramp explains the row better; then it is added. */
static enum qs_status try_drift(struct search *s, const struct row *r, bool *ret_drift)
{
    struct qs_ramp ramp;
    size_t n = r->stop - r->begin;
    *ret_drift = false;
    if (n > QS_DRIFT_MOST || n < RAMP_LEAST + 1)
        return QS_OK;
    enum qs_status status = qs_ramp_fit(s->y + r->begin, n, &ramp);
    if (status != QS_OK || ramp.to - ramp.from < RAMP_LEAST)
        return status;
    double least = s->opts->min_magnitude * fmin(fabs(ramp.before), fabs(ramp.after));
    return fabs(ramp.after - ramp.before) > least ? weigh(s, r, &ramp, ret_drift) : QS_OK;
}

static enum qs_status label(struct search *s)
{
    bool drift;
    const struct row all = {.stop = s->n}; /* without a step a series may still climb */
    enum qs_status status = s->steps == 0 ? try_drift(s, &all, &drift) : QS_OK;
    for (size_t i = 0; status == QS_OK && i < s->steps;) {
        struct row r = row_from(s, i);
        double done = HUNTER_SHARE + (1 - HUNTER_SHARE) * (double)r.begin / (double)s->n;
        s->progress = qs_progress_part(&s->opts->progress, done, done);
        status = qs_progress_go_on(&s->progress, 0) ? try_drift(s, &r, &drift) : QS_ECANCELED;
        if (status != QS_OK)
            return status;
        for (; i < r.end; i++)
            if (!drift && status == QS_OK)
                status = add_step(s, i);
    }
    return status;
}

/* The least step in the middle that four of five such histories would tell. */
static double detectable_ratio(const struct qs_steps *steps, const struct qs_hunter_opts *opts,
                               const double *x, size_t n)
{
    double level, half = (double)(n / 2), z = qs_steps_least_z(n, opts);
    if (n < 2 * opts->confirm_after || qs_median(x, n, &level) != QS_OK || !(fabs(level) > 0))
        return NAN;
    double se = steps->scale * sqrt(2 / half * qs_ar1_inflation(steps->phi, n / 2));
    return (z + qs_qnorm(0.8)) * se / fabs(level);
}

static void take_alone(const struct qs_steps *steps, size_t n, struct qs_changes *out)
{
    for (size_t i = 0; i < n; i++)
        if (steps->alone[i])
            out->alone[out->n_alone++] = i;
}

enum qs_status qs_changes_find(const double *x, size_t n, const struct qs_hunter_opts *opts,
                               struct qs_changes *out)
{
    struct qs_steps steps;
    struct qs_hunter_opts hunter = *opts;
    hunter.progress = qs_progress_part(&opts->progress, 0, HUNTER_SHARE);
    *out = (struct qs_changes){.detectable_ratio = NAN, .phi = NAN};
    enum qs_status status = qs_steps_find(x, n, &hunter, &steps);
    if (status != QS_OK)
        return status;
    struct search s = {x, steps.y, n, opts, {0}, steps.point, steps.n_points, out};
    s.progress = qs_progress_part(&opts->progress, HUNTER_SHARE, HUNTER_SHARE);
    out->at = calloc(n, sizeof *out->at);
    out->alone = calloc(n, sizeof *out->alone);
    out->phi = steps.phi;
    out->detectable_ratio = detectable_ratio(&steps, opts, x, n);
    status = out->at && out->alone ? label(&s) : QS_ENOMEM;
    if (status == QS_OK)
        take_alone(&steps, n, out);
    else
        qs_changes_free(out);
    qs_steps_free(&steps);
    return status;
}

void qs_changes_free(struct qs_changes *changes)
{
    free(changes->at);
    free(changes->alone);
    *changes = (struct qs_changes){.detectable_ratio = NAN, .phi = NAN};
}
