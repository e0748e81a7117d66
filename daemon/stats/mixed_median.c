#include "stats/mixed_median.h"

#include "stats/describe.h"
#include "stats/special.h"
#include "stats/sum.h"
#include "stats/variance.h"

#include <math.h>
#include <stdlib.h>

#define WORTH_LEVEL 0.975

struct value {
    double v;
    bool disturbed;
};

static int by_value(const void *pa, const void *pb)
{
    const struct value *a = pa, *b = pb;
    return (a->v > b->v) - (a->v < b->v);
}

/* Of how many values of each kind a set consists. */
struct tally {
    size_t n[QS_KINDS];
};

struct sample {
    struct value *at; /* ascending */
    struct tally all;
    double *upto[QS_KINDS]; /* of a fair coin for each value of the kind: the chance of so many or fewer */
    double worth;
};

/* Whether a set outweighs another one; what is worth nothing decides where the clean ones are as many. */
static double outweighs(const struct tally *a, const struct tally *b, double worth)
{
    double clean = (double)a->n[QS_CLEAN] - (double)b->n[QS_CLEAN],
           off = (double)a->n[QS_DISTURBED] - (double)b->n[QS_DISTURBED];
    return worth > 0 ? clean + worth * off : clean != 0 ? clean : off;
}

static bool fill_chances(struct sample *s)
{
    for (int k = 0; k < QS_KINDS; k++) {
        size_t n = s->all.n[k];
        s->upto[k] = malloc((n + 1) * sizeof *s->upto[k]);
        for (size_t i = 0; s->upto[k] && i <= n; i++)
            s->upto[k][i] = qs_pbinom((double)i, (double)n, 0.5);
    }
    return s->upto[QS_CLEAN] && s->upto[QS_DISTURBED];
}

/* Of a set drawn by a fair coin for each value: the chance to weigh no more than this one. */
static double chance(const struct sample *s, const struct tally *set)
{
    const double far = 8, nc = (double)s->all.n[QS_CLEAN], nd = (double)s->all.n[QS_DISTURBED];
    double c = (double)set->n[QS_CLEAN], d = (double)set->n[QS_DISTURBED], sum = 0;
    double first = fmax(0, floor(nc / 2 - far * sqrt(nc))),
           before = first > 0 ? s->upto[QS_CLEAN][(size_t)first - 1] : 0;
    for (double i = first; i <= fmin(nc, ceil(nc / 2 + far * sqrt(nc))); i++) {
        double upto = s->upto[QS_CLEAN][(size_t)i], more = c - i;
        double most =
            more == 0 ? d : floor(d + more / s->worth + 1e-9); /* infinite where they are worth nothing */
        sum += (upto - before) * (most < 0 ? 0 : s->upto[QS_DISTURBED][(size_t)fmin(most, nd)]);
        before = upto;
    }
    return sum;
}

static void add(struct tally *t, const struct value *v)
{
    t->n[v->disturbed ? QS_DISTURBED : QS_CLEAN]++;
}

/* The first so many values, or the last. */
static struct tally outermost(const struct sample *s, size_t n, size_t count, bool from_above)
{
    struct tally t = {{0, 0}};
    for (size_t i = 0; i < count; i++)
        add(&t, &s->at[from_above ? n - 1 - i : i]);
    return t;
}

/* How many values the sign test refuses from that end, of which some are left; ret_tail: with what chance. */
static size_t refused(const struct sample *s, size_t n, bool from_above, double tail, double *ret_tail)
{
    size_t lo = 0, hi = n; /* lo is refused, hi is not */
    struct tally t = outermost(s, n, lo, from_above);
    *ret_tail = chance(s, &t);
    while (hi - lo > 1) {
        size_t mid = lo + (hi - lo) / 2;
        t = outermost(s, n, mid, from_above);
        double p = chance(s, &t);
        if (p <= tail) {
            lo = mid;
            *ret_tail = p;
        } else {
            hi = mid;
        }
    }
    return lo;
}

static enum qs_status find_interval(const struct sample *s, size_t n, double level,
                                    struct qs_mixed_median *out)
{
    double tail = (1 - level) / 2, below, above;
    size_t lo = refused(s, n, false, tail, &below), hi = n - 1 - refused(s, n, true, tail, &above);
    if (!(below <= tail && above <= tail))
        return QS_ETOOFEW;
    out->ci = (struct qs_ci){.lo = s->at[lo].v, .hi = s->at[hi].v, .level = 1 - below - above};
    return QS_OK;
}

/* Where half of the weight is below; of a value on either side of it their mean. */
static double middle(const struct sample *s, size_t n)
{
    struct tally below = {{0, 0}}, above = s->all;
    for (size_t i = 0; i < n; i++) {
        add(&below, &s->at[i]);
        above.n[s->at[i].disturbed ? QS_DISTURBED : QS_CLEAN]--;
        double more = outweighs(&below, &above, s->worth);
        if (more > 0 || i + 1 == n)
            return s->at[i].v;
        if (!(more < 0))
            return s->at[i].v + (s->at[i + 1].v - s->at[i].v) / 2;
    }
    return NAN;
}

static double worth_of(const struct qs_moments *clean, const struct qs_moments *off)
{
    double nc = (double)clean->n, nd = (double)off->n, ratio = 1;
    if (clean->n < QS_MIXED_LEAST || off->n < QS_MIXED_LEAST)
        return 1;
    double var = clean->var > 0 ? clean->var : off->var, apart = off->mean - clean->mean;
    if (clean->var > 0)
        ratio = fmax(1, off->var / clean->var / qs_qf(WORTH_LEVEL, nd - 1, nc - 1));
    double beyond = apart * apart - (var / nc + off->var / nd);
    return beyond > 0 ? 1 / (ratio + nd * beyond / var) : 1 / ratio;
}

/* Each kind by itself: v has the clean ones first. */
static void look_alone(const double *v, const struct tally *all, double level, struct qs_mixed_median *out)
{
    for (int k = 0; k < QS_KINDS; k++) {
        struct qs_median_ci m;
        struct qs_median_kind *kind = &out->alone[k];
        const double *from = v + (k == QS_CLEAN ? 0 : all->n[QS_CLEAN]);
        *kind = (struct qs_median_kind){.n = all->n[k], .median = NAN, .ci = qs_ci_none(level)};
        (void)qs_median(from, kind->n, &kind->median);
        if (qs_median_ci(from, kind->n, level, &m) == QS_OK)
            kind->ci = m.ci;
    }
}

static enum qs_status judge(struct sample *s, const double *v, size_t n, double level,
                            struct qs_mixed_median *out)
{
    const struct qs_median_kind *clean = &out->alone[QS_CLEAN];
    struct qs_moments m[QS_KINDS];
    look_alone(v, &s->all, level, out);
    (void)qs_moments(v, clean->n, &m[QS_CLEAN]);
    (void)qs_moments(v + clean->n, n - clean->n, &m[QS_DISTURBED]);
    s->worth = out->worth = worth_of(&m[QS_CLEAN], &m[QS_DISTURBED]);
    if (isfinite(clean->ci.lo) && s->worth * (double)(n - clean->n) < 2) {
        out->median = clean->median;
        out->ci = clean->ci;
        out->worth = 0;
        return QS_OK;
    }
    if (!fill_chances(s))
        return QS_ENOMEM;
    qsort(s->at, n, sizeof *s->at, by_value);
    out->median = middle(s, n);
    return find_interval(s, n, level, out);
}

static enum qs_status of_one_kind(const double *x, const struct tally *all, size_t n, double level,
                                  struct qs_mixed_median *out)
{
    struct qs_median_ci m;
    enum qs_status status = qs_median_ci(x, n, level, &m);
    (void)qs_median(x, n, &out->median);
    look_alone(x, all, level, out);
    out->ci = status == QS_OK ? m.ci : qs_ci_none(level);
    return status;
}

enum qs_status qs_mixed_median(const double *x, const bool *disturbed, size_t n, double level,
                               struct qs_mixed_median *out)
{
    struct sample s = {.all = {{0, 0}}};
    *out = (struct qs_mixed_median){.median = NAN, .ci = qs_ci_none(level), .worth = NAN};
    for (size_t i = 0; i < n; i++)
        s.all.n[disturbed && disturbed[i] ? QS_DISTURBED : QS_CLEAN]++;
    if (n == 0 || s.all.n[QS_CLEAN] == 0 || s.all.n[QS_DISTURBED] == 0)
        return of_one_kind(x, &s.all, n, level, out);
    if (!(level > 0 && level < 1))
        return QS_EDOM;
    enum qs_status status = qs_check_values(x, n, 1);
    if (status != QS_OK)
        return status;
    double *v = malloc(n * sizeof *v);
    s.at = malloc(n * sizeof *s.at);
    if (v && s.at) {
        for (size_t i = 0, at[QS_KINDS] = {0, s.all.n[QS_CLEAN]}; i < n; i++) {
            s.at[i] = (struct value){x[i], disturbed[i]};
            v[at[disturbed[i] ? QS_DISTURBED : QS_CLEAN]++] = x[i];
        }
        status = judge(&s, v, n, level, out);
    } else {
        status = QS_ENOMEM;
    }
    free(v);
    free(s.at);
    free(s.upto[QS_CLEAN]);
    free(s.upto[QS_DISTURBED]);
    return status;
}
