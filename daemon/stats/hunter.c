#include "stats/hunter.h"

#include "stats/edivisive.h"
#include "stats/hunter_parts.h"
#include "stats/pick.h"
#include "stats/special.h"
#include "stats/sum.h"
#include "stats/twosample.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Steps of n^2/2 for a stretch of n: what is asked in between is asked by qs_best_split. The search among the
 * windows takes nearly all of the time: what follows is told as a hundredth of the work. */
enum { MAX_WINDOW = 10000, STEPS_A_LOOK = 1 << 22 };
static const double SPLIT_SHARE = 0.99;

struct qs_hunter_opts qs_hunter_opts_default(void)
{
    return (struct qs_hunter_opts){
        .window = 50, .p_max = 0.001, .min_magnitude = 0, .confirm_after = 4, .level = 0.95};
}

/* A stretch of the current window that has no change yet, and where it would split best. */
struct stretch {
    size_t from, end;
    struct qs_split best; /* at counts from `from`; q is -Inf where it cannot split */
};

struct hunter {
    const double *x;
    size_t n;
    struct qs_hunter_opts opts;
    enum qs_hunter_form form;
    struct qs_change_point *point; /* borrowed: the answer */
    size_t count;
    bool *found;             /* owned: n */
    struct stretch *stretch; /* owned: window */
    size_t n_stretches;
    double *scratch; /* owned: 2 windows */
    size_t steps;    /* since somebody was asked */
    double done;     /* share of the whole */
    bool ended;      /* somebody said so */
};

static double sum_of_squares(const struct qs_moments *m, enum qs_hunter_form form)
{
    if (m->n < 2)
        return 0;
    double n = (double)m->n, ss = m->var * (n - 1);
    return form == QS_HUNTER_OTAVA ? ss * (n - 1) / n : ss;
}

/* Two-sided p of the pooled t test; single values have no spread of their own. */
static double pooled_p(const struct qs_moments *a, const struct qs_moments *b, enum qs_hunter_form form)
{
    double na = (double)a->n, nb = (double)b->n, df = na + nb - 2, diff = fabs(b->mean - a->mean);
    if (df < 1 || !(diff > 0))
        return 1;
    double var = (sum_of_squares(a, form) + sum_of_squares(b, form)) / df;
    return var > 0 ? qs_pt_two_sided(diff / sqrt(var * (1 / na + 1 / nb)), df) : 0;
}

static struct qs_moments moments(const struct hunter *h, size_t from, size_t end)
{
    struct qs_moments m;
    (void)qs_moments(h->x + from, end - from, &m); /* finite: the caller looked at all values */
    return m;
}

static double p_between(const struct hunter *h, size_t from, size_t at, size_t end)
{
    struct qs_moments a = moments(h, from, at), b = moments(h, at, end);
    return pooled_p(&a, &b, h->form);
}

/* --- split ---------------------------------------------------------------------------------------------- */

/* Before so many steps. */
static bool may_go_on(struct hunter *h, size_t steps)
{
    h->steps += steps;
    if (h->steps > STEPS_A_LOOK && !h->ended) {
        h->steps = 0;
        h->ended = !qs_progress_go_on(&h->opts.progress, h->done);
    }
    return !h->ended;
}

static struct stretch stretch_of(struct hunter *h, size_t from, size_t end)
{
    struct stretch s = {from, end, {.at = 0, .q = -INFINITY}};
    size_t n = end - from;
    if (n < 2 || !may_go_on(h, n * n / 2 + 1))
        return s;
    const struct qs_progress now = qs_progress_part(&h->opts.progress, h->done, h->done);
    s.best = qs_best_split(h->x + from, n, h->scratch, &now);
    h->ended = h->ended || isnan(s.best.q);
    return s;
}

/* The one that splits best; of equal ones the first. */
static size_t best_stretch(const struct hunter *h)
{
    size_t best = 0;
    for (size_t i = 1; i < h->n_stretches; i++)
        if (h->stretch[i].best.q > h->stretch[best].best.q)
            best = i;
    return best;
}

/* Splits x[from:end] as long as the best split is a weak change; returns the last change, or 0. */
static size_t split_window(struct hunter *h, size_t from, size_t end, double p_weak)
{
    size_t last = 0;
    h->n_stretches = 1;
    h->stretch[0] = stretch_of(h, from, end);
    for (;;) {
        size_t i = best_stretch(h);
        struct stretch s = h->stretch[i];
        size_t at = s.from + s.best.at;
        if (h->ended || s.end - s.from < 2 || !(p_between(h, s.from, at, s.end) <= p_weak))
            return last;
        h->found[at] = true;
        last = qs_more(last, at);
        memmove(h->stretch + i + 1, h->stretch + i, (h->n_stretches - i) * sizeof *h->stretch);
        h->n_stretches++;
        h->stretch[i] = stretch_of(h, s.from, at);
        h->stretch[i + 1] = stretch_of(h, at, s.end);
    }
}

static double weak_p(double p_max)
{
    if (p_max < 0.05)
        return 10 * p_max;
    return p_max < 0.5 ? 2 * p_max : p_max;
}

static void split(struct hunter *h)
{
    size_t window = h->opts.window, start = 0;
    while (start < h->n && !h->ended) {
        h->done = SPLIT_SHARE * (double)start / (double)h->n;
        size_t end = start + qs_less(h->n - start, window);
        size_t last = split_window(h, start, end, weak_p(h->opts.p_max));
        start = qs_more(last, start + window / 2);
    }
}

/* --- merge ---------------------------------------------------------------------------------------------- */

static double relative(double to, double from)
{
    if (from < 0 || from > 0)
        return fabs(to / from - 1);
    return to < 0 || to > 0 ? INFINITY : 0;
}

double qs_change_magnitude(double a, double b)
{
    return fmax(relative(b, a), relative(a, b));
}

static size_t point_start(const struct hunter *h, size_t i)
{
    return i == 0 ? 0 : h->point[i - 1].index;
}

static size_t point_end(const struct hunter *h, size_t i)
{
    return i + 1 == h->count ? h->n : h->point[i + 1].index;
}

/* What lies between the neighbours of point i. */
static void measure(struct hunter *h, size_t i)
{
    struct qs_change_point *p = &h->point[i];
    struct qs_moments a = moments(h, point_start(h, i), p->index), b = moments(h, p->index, point_end(h, i));
    p->p = pooled_p(&a, &b, h->form);
    p->before = a.mean;
    p->after = b.mean;
    p->magnitude = qs_change_magnitude(a.mean, b.mean);
}

static size_t weakest(const struct hunter *h)
{
    size_t worst = 0, smallest = 0;
    for (size_t i = 1; i < h->count; i++) {
        if (h->point[i].p > h->point[worst].p)
            worst = i;
        if (h->point[i].magnitude < h->point[smallest].magnitude)
            smallest = i;
    }
    if (h->point[worst].p >= h->opts.p_max)
        return worst;
    return h->point[smallest].magnitude <= h->opts.min_magnitude ? smallest : h->count;
}

static void merge(struct hunter *h)
{
    for (size_t i = 0; i < h->count; i++)
        measure(h, i);
    while (h->count > 0 && may_go_on(h, h->count)) {
        size_t i = weakest(h);
        if (i == h->count)
            return;
        memmove(h->point + i, h->point + i + 1, (h->count - i - 1) * sizeof *h->point);
        h->count--;
        if (i < h->count)
            measure(h, i);
        if (h->form == QS_HUNTER_CORRECTED && i > 0)
            measure(h, i - 1);
        if (h->form == QS_HUNTER_OTAVA && i + 1 < h->count)
            measure(h, i + 1);
    }
}

/* --- the whole ------------------------------------------------------------------------------------------ */

static enum qs_status finish(struct hunter *h)
{
    for (size_t i = 0; i < h->count; i++) {
        struct qs_change_point *p = &h->point[i];
        struct qs_ratio_test test;
        size_t from = point_start(h, i), end = point_end(h, i);
        enum qs_status status =
            qs_log_welch(h->x + from, p->index - from, h->x + p->index, end - p->index, h->opts.level, &test);
        if (status == QS_ENOMEM)
            return status;
        p->ratio = test.ratio; /* NaN where there are no logarithms */
        p->ci = test.ci;
        p->confirmed = h->n - p->index >= h->opts.confirm_after;
    }
    return QS_OK;
}

static enum qs_status hunt(struct hunter *h)
{
    size_t window = qs_less(h->opts.window, h->n);
    h->found = calloc(h->n, sizeof *h->found);
    h->stretch = calloc(window, sizeof *h->stretch);
    h->scratch = calloc(2 * window, sizeof *h->scratch);
    enum qs_status status = QS_ENOMEM;
    if (h->found && h->stretch && h->scratch) {
        split(h);
        for (size_t i = 1; i < h->n; i++)
            if (h->found[i])
                h->point[h->count++] = (struct qs_change_point){.index = i};
        h->done = SPLIT_SHARE;
        if (!h->ended)
            merge(h);
        status = h->ended ? QS_ECANCELED : finish(h);
    }
    free(h->found);
    free(h->stretch);
    free(h->scratch);
    return status;
}

static bool options_hold(const struct qs_hunter_opts *o)
{
    return o->window >= 2 && o->window <= MAX_WINDOW && o->p_max > 0 && o->p_max < 1 &&
           o->min_magnitude >= 0 && o->min_magnitude < INFINITY && o->level > 0 && o->level < 1;
}

enum qs_status qs_hunter_run(const double *x, size_t n, const struct qs_hunter_opts *opts,
                             enum qs_hunter_form form, struct qs_change_point *out, size_t *count)
{
    *count = 0;
    if (!options_hold(opts))
        return QS_EDOM;
    enum qs_status status = qs_check_values(x, n, 2);
    if (status != QS_OK)
        return status;
    struct hunter h = {.x = x, .n = n, .opts = *opts, .form = form, .point = out};
    status = hunt(&h);
    *count = status == QS_OK ? h.count : 0;
    return status;
}

enum qs_status qs_hunter(const double *x, size_t n, const struct qs_hunter_opts *opts,
                         struct qs_change_point *out, size_t *count)
{
    return qs_hunter_run(x, n, opts, QS_HUNTER_CORRECTED, out, count);
}
