#include "stats/steady.h"

#include "stats/pelt.h"
#include "stats/pick.h"
#include "stats/sum.h"

#include <math.h>
#include <stdlib.h>

enum { MIN_TAIL = 30 };

const char *const qs_steady_class_names[] = {"unknown",         "flat",         "warmup", "slowdown",
                                             "no-steady-state", "inconsistent", NULL};

enum qs_steady_class qs_steady_of_runs(const enum qs_steady_class *runs, size_t n)
{
    for (size_t i = 1; i < n; i++)
        if (runs[i] != runs[0])
            return QS_STEADY_INCONSISTENT;
    return n == 0 ? QS_STEADY_UNKNOWN : runs[0];
}

/* The values that are looked at, and their segments. */
struct kept {
    double *v;       /* owned, as the next two */
    size_t *index;   /* where each stood */
    size_t *changes; /* first values of the segments but the first */
    size_t n, n_changes;
};

static size_t segment_start(const struct kept *k, size_t i)
{
    return i == 0 ? 0 : k->changes[i - 1];
}

static struct qs_moments segment(const struct kept *k, size_t i)
{
    size_t from = segment_start(k, i), end = i == k->n_changes ? k->n : k->changes[i];
    struct qs_moments m;
    (void)qs_moments(k->v + from, end - from, &m); /* finite: they have been segmented */
    return m;
}

static bool alike(const struct qs_moments *a, const struct qs_moments *last, double delta_ratio)
{
    double se = sqrt(a->var / (double)a->n + last->var / (double)last->n);
    return fabs(a->mean - last->mean) <= fmax(delta_ratio * fabs(last->mean), 2 * se);
}

static void classify(const struct kept *k, size_t n, const struct qs_steady_opts *opts, struct qs_steady *out)
{
    struct qs_moments last = segment(k, k->n_changes);
    size_t first = k->n_changes; /* segment of the steady state */
    bool better_before = false, unbroken = true;
    for (size_t i = k->n_changes; i-- > 0;) {
        struct qs_moments m = segment(k, i);
        bool same = alike(&m, &last, opts->delta_ratio);
        unbroken = unbroken && same;
        first = unbroken ? i : first;
        better_before = better_before || (!same && (m.mean < last.mean) == opts->lower_is_better);
    }
    size_t start = first == 0 ? 0 : k->index[segment_start(k, first)];
    size_t tail = qs_more(n / 4, MIN_TAIL);
    out->segments = k->n_changes + 1;
    out->mean = last.mean;
    out->start = n - start < tail ? n : start;
    if (out->start == n)
        out->class = QS_STEADY_NONE;
    else if (first == 0)
        out->class = QS_STEADY_FLAT;
    else
        out->class = better_before ? QS_STEADY_SLOWDOWN : QS_STEADY_WARMUP;
}

static enum qs_status cut(struct kept *k, const double *x, size_t n, const uint8_t *leave_out,
                          const struct qs_steady_opts *opts)
{
    for (size_t i = 0; i < n; i++)
        if (!leave_out || !leave_out[i]) {
            k->v[k->n] = x[i];
            k->index[k->n++] = i;
        }
    if (k->n < QS_STEADY_MIN_N)
        return QS_ETOOFEW;
    struct qs_pelt_opts pelt = qs_pelt_opts_default();
    pelt.resolution = opts->resolution;
    pelt.progress = opts->progress;
    return qs_pelt(k->v, k->n, &pelt, k->changes, &k->n_changes);
}

enum qs_status qs_steady_state(const double *x, size_t n, const uint8_t *leave_out,
                               const struct qs_steady_opts *opts, struct qs_steady *out)
{
    *out = (struct qs_steady){.class = QS_STEADY_UNKNOWN, .start = n, .mean = NAN};
    if (!(opts->delta_ratio >= 0))
        return QS_EDOM;
    enum qs_status status = qs_check_values(x, n, 1);
    if (status != QS_OK)
        return status;
    struct kept k = {.v = calloc(n, sizeof *k.v),
                     .index = calloc(n, sizeof *k.index),
                     .changes = calloc(n, sizeof *k.changes)};
    status = k.v && k.index && k.changes ? cut(&k, x, n, leave_out, opts) : QS_ENOMEM;
    if (status == QS_OK)
        classify(&k, n, opts, out);
    free(k.v);
    free(k.index);
    free(k.changes);
    return status;
}
