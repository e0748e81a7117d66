/* Steps of corrected Hunter, and which of them are one drift. */
#include "stats/drift.h"
#include "stats/sum.h"

#include <math.h>
#include <stdlib.h>

enum { RAMP_LEAST = 5, STEP_NUMBERS = 1, RAMP_NUMBERS = 4 };

/* Of the work; a ramp over n values costs n^2/2 steps, about as many as Hunter's windows. */
static const double HUNTER_SHARE = 0.5;

struct search {
    const double *x;
    size_t n;
    const struct qs_hunter_opts *opts;
    struct qs_progress progress;        /* of the row under way */
    const struct qs_change_point *step; /* borrowed */
    size_t steps;
    struct qs_change *out;
    size_t count;
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
        rss += rss_about_mean(s->x + from, end - from);
    }
    return rss;
}

/* Schwarz's criterion. What is below the rounding of the values counts as no residual at all. */
static double criterion(double rss, size_t n, double numbers, double level)
{
    double dn = (double)n, least = dn * level * level * 1e-24;
    return dn * log(fmax(rss, fmax(least, 1e-300)) / dn) + numbers * log(dn);
}

static void add_step(struct search *s, const struct qs_change_point *p)
{
    s->out[s->count++] = (struct qs_change){.kind = QS_CHANGE_STEP,
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
    if (qs_drift(s->x + at + ramp->from, ramp->to - ramp->from + 1, s->opts->level, &s->progress, &inner) !=
        QS_OK)
        inner = *whole;
    s->out[s->count++] = (struct qs_change){.kind = QS_CHANGE_DRIFT,
                                            .from = at + ramp->from,
                                            .to = at + ramp->to,
                                            .p = whole->p,
                                            .before = ramp->before,
                                            .after = ramp->after,
                                            .ratio = positive ? ramp->after / ramp->before : NAN,
                                            .ci = positive ? ratio_of_slope(&inner, ramp->before, steps)
                                                           : qs_ci_none(s->opts->level),
                                            .slope = (ramp->after - ramp->before) / steps,
                                            .n_eff = whole->n_eff,
                                            .confirmed = true};
}

static enum qs_status drift_about(const struct search *s, const struct row *r, const struct qs_ramp *ramp,
                                  struct qs_drift *out)
{
    size_t n = r->stop - r->begin;
    const double *x = s->x + r->begin;
    double *rest = malloc(n * sizeof *rest);
    if (!rest)
        return QS_ENOMEM;
    for (size_t i = 0; i < n; i++)
        rest[i] = x[i] - qs_ramp_at(ramp, i);
    enum qs_status status = qs_drift_about(x, rest, n, s->opts->level, &s->progress, out);
    free(rest);
    return status;
}

/* Of the row's steps, or of the best single one where that fits better or there is none. */
static double criterion_of_steps(const struct search *s, const struct row *r, const struct qs_ramp *ramp,
                                 double level)
{
    size_t n = r->stop - r->begin;
    double one = criterion(ramp->step_rss, n, 2 + STEP_NUMBERS, level);
    double all = r->end > r->first
                     ? criterion(rss_of_steps(s, r), n, 2 * (double)(r->end - r->first) + STEP_NUMBERS, level)
                     : INFINITY;
    return fmin(one, all);
}

/* Whether one ramp explains the row better; then it is added. */
static enum qs_status try_drift(struct search *s, const struct row *r, bool *ret_drift)
{
    struct qs_ramp ramp;
    struct qs_drift d;
    size_t n = r->stop - r->begin;
    *ret_drift = false;
    if (n > QS_DRIFT_MOST || n < RAMP_LEAST + 1)
        return QS_OK;
    enum qs_status status = qs_ramp_fit(s->x + r->begin, n, &ramp);
    if (status != QS_OK || ramp.to - ramp.from < RAMP_LEAST)
        return status;
    double level = fabs(ramp.before) + fabs(ramp.after);
    double least = s->opts->min_magnitude * fmin(fabs(ramp.before), fabs(ramp.after));
    if (!(fabs(ramp.after - ramp.before) > least) ||
        !(criterion(ramp.rss, n, RAMP_NUMBERS, level) < criterion_of_steps(s, r, &ramp, level)))
        return QS_OK;
    status = drift_about(s, r, &ramp, &d);
    *ret_drift = status == QS_OK && d.p < s->opts->p_max;
    if (*ret_drift)
        add_drift(s, &ramp, r->begin, &d);
    return status;
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
            if (!drift)
                add_step(s, &s->step[i]);
    }
    return status;
}

enum qs_status qs_changes(const double *x, size_t n, const struct qs_hunter_opts *opts, struct qs_change *out,
                          size_t *count)
{
    *count = 0;
    struct qs_change_point *steps = calloc(n > 0 ? n : 1, sizeof *steps);
    if (!steps)
        return QS_ENOMEM;
    struct search s = {.x = x, .n = n, .opts = opts, .step = steps, .out = out};
    struct qs_hunter_opts hunter = *opts;
    hunter.progress = qs_progress_part(&opts->progress, 0, HUNTER_SHARE);
    s.progress = qs_progress_part(&opts->progress, HUNTER_SHARE, HUNTER_SHARE);
    enum qs_status status = qs_hunter(x, n, &hunter, steps, &s.steps);
    if (status == QS_OK)
        status = label(&s);
    *count = status == QS_OK ? s.count : 0;
    free(steps);
    return status;
}
