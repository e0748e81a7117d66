#include "stats/cooling.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "stats/dependence.h"
#include "stats/special.h"
#include "stats/sum.h"

enum { GRID = 64, NARROW = 80 };
static const double SPANS_MOST = 10; /* a tau of more spans is a line */
static const double GOLDEN = 0.6180339887498949;

const char *qs_cooling_says_name(enum qs_cooling_says says)
{
    static const char *const names[] = {"fits", "few", "flat", "other-way", "short", "coarse"};
    return (unsigned)says < sizeof names / sizeof *names ? names[says] : "unknown";
}

struct curve {     /* readings, each from the first one's time; of several curves one after the other */
    double *t, *y; /* owned: one block, t first; a third part is room for residuals */
    size_t n;
    double mean, span, apart; /* of the longest curve: its length, and between two of its readings */
    const size_t *to;         /* where each curve ends; borrowed */
    size_t count;
};

struct at {                      /* the best curves of one tau */
    double tau, swing, end, rss; /* swing: of the first one */
    double moved;                /* downwards, by the one that moves most */
    double spread;               /* of end: its variance over that of the noise */
};

static size_t from_of(const struct curve *c, size_t k)
{
    return k > 0 ? c->to[k - 1] : 0;
}

/* What remains of the curves where they all have this end; into `rest` where that is not NULL. */
static void rest_of(const struct curve *c, struct at *a, double *rest)
{
    a->rss = a->moved = 0;
    for (size_t k = 0; k < c->count; k++) {
        double gg = 0, gy = 0;
        for (size_t i = from_of(c, k); i < c->to[k]; i++) {
            double g = exp(-c->t[i] / a->tau);
            gg += g * g;
            gy += g * (c->y[i] - a->end);
        }
        double swing = gy / gg, moved = swing * -expm1(-c->t[c->to[k] - 1] / a->tau);
        a->swing = k == 0 ? swing : a->swing;
        a->moved = fabs(moved) > fabs(a->moved) ? moved : a->moved;
        for (size_t i = from_of(c, k); i < c->to[k]; i++) {
            double off = c->y[i] - a->end - swing * exp(-c->t[i] / a->tau);
            a->rss += off * off;
            if (rest)
                rest[i] = off;
        }
    }
}

/* Least squares of y on 1 and, for each curve alone, g = e^(-t/tau). With the mean of g and y of a curve and
 * the sums of squares gg and products gy about them, the curve's best end is y - g gy / gg, of the weight
 * n gg / (gg + n g^2). */
static struct at fit_at(const struct curve *c, double log_tau)
{
    struct at a = {.tau = exp(log_tau)};
    double weight = 0, ends = 0;
    for (size_t k = 0; k < c->count; k++) {
        double g_mean = 0, y_mean = 0, gg = 0, gy = 0, dn = (double)(c->to[k] - from_of(c, k));
        for (size_t i = from_of(c, k); i < c->to[k]; i++) {
            g_mean += exp(-c->t[i] / a.tau) / dn;
            y_mean += (c->y[i] - c->mean) / dn;
        }
        for (size_t i = from_of(c, k); i < c->to[k]; i++) {
            double g = exp(-c->t[i] / a.tau) - g_mean;
            gg += g * g;
            gy += g * (c->y[i] - c->mean - y_mean);
        }
        double w = gg > 0 ? dn * gg / (gg + dn * g_mean * g_mean) : 0;
        weight += w;
        ends += w > 0 ? w * (y_mean - g_mean * gy / gg) : 0;
    }
    a.end = c->mean + (weight > 0 ? ends / weight : 0);
    a.spread = weight > 0 ? 1 / weight : 1 / (double)c->n;
    rest_of(c, &a, NULL);
    return a;
}

static double rss_at(const struct curve *c, double log_tau, const void *unused)
{
    (void)unused;
    return fit_at(c, log_tau).rss;
}

typedef double search_fn(const struct curve *c, double log_tau, const void *user);

/* The least f between lo and hi, where it has one valley. */
static double golden(search_fn *f, const struct curve *c, const void *user, double lo, double hi)
{
    double a = hi - GOLDEN * (hi - lo), b = lo + GOLDEN * (hi - lo);
    double fa = f(c, a, user), fb = f(c, b, user);
    for (int i = 0; i < NARROW && hi - lo > 1e-10; i++) {
        if (fa <= fb) {
            hi = b;
            b = a;
            fb = fa;
            a = hi - GOLDEN * (hi - lo);
            fa = f(c, a, user);
        } else {
            lo = a;
            a = b;
            fa = fb;
            b = lo + GOLDEN * (hi - lo);
            fb = f(c, b, user);
        }
    }
    return (lo + hi) / 2;
}

static double best(const struct curve *c, double lo, double hi)
{
    double least = INFINITY, step = (hi - lo) / GRID;
    int at = 0;
    for (int i = 0; i <= GRID; i++) {
        double rss = rss_at(c, lo + i * step, NULL);
        if (rss < least) {
            least = rss;
            at = i;
        }
    }
    return golden(rss_at, c, NULL, fmax(lo, lo + (at - 1) * step), fmin(hi, lo + (at + 1) * step));
}

/* Where the sum of squares passes `most`, from `in` on outwards; `out` where it does not. */
static double edge(const struct curve *c, double in, double out, double most)
{
    double step = (out - in) / GRID, at = in;
    int i = 1;
    while (i <= GRID && rss_at(c, in + i * step, NULL) <= most)
        at = in + i++ * step;
    if (i > GRID)
        return out;
    double beyond = in + i * step;
    for (int k = 0; k < NARROW && fabs(beyond - at) > 1e-10; k++) {
        double middle = (at + beyond) / 2;
        if (rss_at(c, middle, NULL) <= most)
            at = middle;
        else
            beyond = middle;
    }
    return at;
}

/* The furthest end that stays below `most` at this tau, negated for a search of the least: the sum of squares
 * is rss + (end - its best)^2 / spread. */
struct furthest {
    double most, side;
};

static double end_at(const struct curve *c, double log_tau, const void *user)
{
    const struct furthest *f = user;
    struct at a = fit_at(c, log_tau);
    double reach = sqrt(fmax(0, f->most - a.rss) * a.spread);
    return -f->side * (a.end + f->side * reach);
}

static double end_limit(const struct curve *c, double lo, double hi, double most, double side)
{
    const struct furthest f = {most, side};
    double at = golden(end_at, c, &f, lo, hi);
    double inside = end_at(c, at, &f), left = end_at(c, lo, &f), right = end_at(c, hi, &f);
    return -side * fmin(inside, fmin(left, right));
}

/* ---- what the readings are ---- */

/* The step of the sensor: the least difference, where all readings are whole multiples of it. */
static double quantum_of(const struct curve *c, double *room)
{
    double least = INFINITY;
    memcpy(room, c->y, c->n * sizeof *room);
    qs_sort(room, c->n);
    for (size_t i = 1; i < c->n; i++)
        if (room[i] > room[i - 1])
            least = fmin(least, room[i] - room[i - 1]);
    for (size_t i = 0; i < c->n; i++) {
        double steps = (room[i] - room[0]) / least;
        if (!(fabs(steps - nearbyint(steps)) < 1e-3))
            return 0;
    }
    return isfinite(least) ? least : 0;
}

static enum qs_status check(const double *times, const double *values, size_t n, double level)
{
    if (n == 0)
        return QS_ENODATA;
    if (!(level > 0 && level < 1))
        return QS_EDOM;
    for (size_t i = 0; i < n; i++)
        if (!isfinite(times[i]) || !isfinite(values[i]) || (i > 0 && times[i] < times[i - 1]))
            return QS_EDOM;
    if (!isfinite(times[n - 1] - times[0]))
        return QS_EDOM;
    return times[n - 1] > times[0] ? QS_OK : QS_EDEGENERATE;
}

/* `to` is room for as many ends as there are curves. */
static enum qs_status take(const struct qs_cooling_curve *curves, size_t count, struct curve *c, size_t *to)
{
    size_t all = 0, at = 0;
    for (size_t k = 0; k < count; k++)
        all += curves[k].n;
    size_t stride = (all + QS_COOLING_MOST - 1) / QS_COOLING_MOST;
    for (size_t k = 0; k < count; k++)
        to[k] = c->n += (curves[k].n + stride - 1) / stride;
    c->to = to;
    c->count = count;
    c->t = malloc(3 * c->n * sizeof *c->t);
    if (!c->t)
        return QS_ENOMEM;
    c->y = c->t + c->n;
    for (size_t k = 0; k < count; k++) {
        double span = 0;
        for (size_t i = 0; i < curves[k].n; i += stride, at++) {
            span = c->t[at] = curves[k].times[i] - curves[k].times[0];
            c->y[at] = curves[k].values[i];
            c->mean += c->y[at] / (double)c->n;
        }
        if (span > c->span) {
            c->span = span;
            c->apart = span / (double)(to[k] - from_of(c, k));
        }
    }
    return isfinite(c->mean) && c->span > 0 ? QS_OK : QS_EDOM;
}

/* ---- the fit ---- */

static double range_of(const struct curve *c)
{
    double lo = INFINITY, hi = -INFINITY;
    for (size_t i = 0; i < c->n; i++) {
        lo = fmin(lo, c->y[i]);
        hi = fmax(hi, c->y[i]);
    }
    return hi - lo;
}

/* How many independent readings the residuals are worth; where that cannot be told, all. */
static enum qs_status worth(const struct curve *c, struct at *a, double *rest, double *ret_n_eff)
{
    struct qs_ess ess;
    rest_of(c, a, rest);
    enum qs_status status = qs_ess(rest, c->n, NULL, 0, &ess);
    *ret_n_eff = status == QS_OK ? ess.n_eff : (double)c->n;
    return status == QS_ENOMEM ? status : QS_OK;
}

/* Degrees of freedom of so many readings: tau, the end, and where each curve begins. */
static double free_of(const struct curve *c, double n)
{
    return n - 2 - (double)c->count;
}

static void exact(const struct at *a, double level, struct qs_cooling *out)
{
    out->tau_ci = (struct qs_ci){a->tau, a->tau, level, QS_FLAG_EXACT};
    out->end_ci = (struct qs_ci){a->end, a->end, level, QS_FLAG_EXACT};
}

/* False: the interval of tau has no end on one side. */
static bool intervals(const struct curve *c, const struct at *a, const double limits[2], double level,
                      struct qs_cooling *out)
{
    double dn = (double)c->n, df = free_of(c, out->n_eff), log_tau = log(a->tau);
    double s = fmax(out->sd, out->quantum / sqrt(12)), t = qs_qt((1 + level) / 2, df);
    double most = a->rss + s * s * (dn / out->n_eff) * t * t;
    double lo = edge(c, log_tau, limits[0], most), hi = edge(c, log_tau, limits[1], most);
    if (hi >= limits[1] || lo <= limits[0]) {
        out->says = hi >= limits[1] ? QS_COOLING_SHORT : QS_COOLING_COARSE;
        return false;
    }
    out->tau_ci = (struct qs_ci){exp(lo), exp(hi), level, 0};
    out->end_ci = (struct qs_ci){end_limit(c, lo, hi, most, -1), end_limit(c, lo, hi, most, 1), level, 0};
    return true;
}

static enum qs_cooling_says judge(const struct at *a, enum qs_cooling_way way, double df,
                                  const struct qs_cooling *c)
{
    if (fabs(a->moved) < 4 * fmax(c->quantum, c->sd))
        return QS_COOLING_FLAT;
    if ((a->moved > 0) != (way == QS_COOLS))
        return QS_COOLING_OTHER_WAY;
    return df < 1 ? QS_COOLING_FEW : QS_COOLING_FITS;
}

static enum qs_status fit(const struct curve *c, enum qs_cooling_way way, double level,
                          struct qs_cooling *out)
{
    double *rest = c->y + c->n, range = range_of(c);
    out->n = c->n;
    out->span = c->span;
    out->quantum = quantum_of(c, rest);
    bool few = c->n < QS_COOLING_LEAST || free_of(c, (double)c->n) < 1;
    out->says = few ? QS_COOLING_FEW : QS_COOLING_FLAT;
    if (few || !(range > 0))
        return QS_OK;
    const double limits[2] = {log(c->apart / 4), log(SPANS_MOST * c->span)};
    struct at a = fit_at(c, best(c, limits[0], limits[1]));
    if (!isfinite(a.rss))
        return QS_EDOM;
    bool is_exact = sqrt(a.rss / (double)c->n) < 1e-9 * range;
    out->sd = sqrt(a.rss / free_of(c, (double)c->n));
    out->n_eff = (double)c->n;
    enum qs_status status = is_exact ? QS_OK : worth(c, &a, rest, &out->n_eff);
    if (status != QS_OK)
        return status;
    out->says = judge(&a, way, free_of(c, out->n_eff), out);
    if (out->says == QS_COOLING_FITS && is_exact)
        exact(&a, level, out);
    else if (out->says != QS_COOLING_FITS || !intervals(c, &a, limits, level, out))
        return QS_OK;
    out->tau = a.tau;
    out->end = a.end;
    out->start = c->count == 1 ? a.end + a.swing : NAN;
    return QS_OK;
}

static struct qs_cooling none(double level)
{
    return (struct qs_cooling){.says = QS_COOLING_FEW,
                               .tau = NAN,
                               .end = NAN,
                               .start = NAN,
                               .tau_ci = qs_ci_none(level),
                               .end_ci = qs_ci_none(level),
                               .sd = NAN,
                               .quantum = 0,
                               .span = 0,
                               .n_eff = NAN,
                               .n = 0};
}

enum qs_status qs_cooling_fit(const double *times, const double *values, size_t n, enum qs_cooling_way way,
                              double level, struct qs_cooling *out)
{
    const struct qs_cooling_curve one = {times, values, n};
    return qs_cooling_fit_all(&one, 1, way, level, out);
}

enum qs_status qs_cooling_fit_all(const struct qs_cooling_curve *curves, size_t count,
                                  enum qs_cooling_way way, double level, struct qs_cooling *out)
{
    struct curve c = {0};
    size_t to[QS_COOLING_CURVES] = {0};
    *out = none(level);
    enum qs_status status = count == 0 ? QS_ENODATA : count > QS_COOLING_CURVES ? QS_EDOM : QS_OK;
    for (size_t k = 0; status == QS_OK && k < count; k++)
        status = check(curves[k].times, curves[k].values, curves[k].n, level);
    if (status == QS_OK)
        status = take(curves, count, &c, to);
    if (status == QS_OK)
        status = fit(&c, way, level, out);
    free(c.t);
    if (status != QS_OK)
        *out = none(level);
    return status;
}

double qs_cooling_eta(double tau, double end, enum qs_cooling_way way, double now, double target)
{
    double side = way == QS_COOLS ? 1 : -1;
    double left = side * (now - target), beyond = side * (target - end);
    if (isnan(left) || isnan(beyond) || !(tau > 0))
        return NAN;
    if (left <= 0)
        return 0;
    return beyond > 0 ? tau * log1p(left / beyond) : INFINITY;
}

enum qs_status qs_cooling_fall(const struct qs_cooling *model, double from, double to, double off,
                               struct qs_ci *out)
{
    *out = qs_ci_none(model->end_ci.level);
    if (model->says != QS_COOLING_FITS || !(from >= to) || !(off >= 0))
        return QS_EDOM;
    out->lo = qs_cooling_eta(model->tau_ci.lo, model->end_ci.lo, QS_COOLS, from - off, to + off);
    out->hi = qs_cooling_eta(model->tau_ci.hi, model->end_ci.hi, QS_COOLS, from + off, to - off);
    return isnan(out->lo) || isnan(out->hi) ? QS_EDOM : QS_OK;
}

enum qs_status qs_cooling_rise(const struct qs_cooling *model, double from, double to, double off,
                               struct qs_ci *out)
{
    *out = qs_ci_none(model->end_ci.level);
    if (model->says != QS_COOLING_FITS || !(from <= to) || !(off >= 0))
        return QS_EDOM;
    out->lo = qs_cooling_eta(model->tau_ci.lo, model->end_ci.hi, QS_WARMS, from + off, to - off);
    out->hi = qs_cooling_eta(model->tau_ci.hi, model->end_ci.lo, QS_WARMS, from - off, to + off);
    return isnan(out->lo) || isnan(out->hi) ? QS_EDOM : QS_OK;
}

/* ---- does it still hold? ---- */

enum qs_status qs_cooling_holds(const struct qs_cooling *model, const double *times, const double *values,
                                size_t n, struct qs_cooling_check *out)
{
    const struct qs_cooling_curve one = {times, values, n};
    struct curve c = {0};
    size_t to = 0;
    *out = (struct qs_cooling_check){NAN, NAN, NAN, false};
    enum qs_status status = check(times, values, n, model->end_ci.level);
    if (status == QS_OK && (n < QS_COOLING_LEAST || model->says != QS_COOLING_FITS))
        status = n < QS_COOLING_LEAST ? QS_ETOOFEW : QS_EDOM;
    if (status == QS_OK)
        status = take(&one, 1, &c, &to);
    double gg = 0, gy = 0, rss = 0, off = 0;
    for (size_t i = 0; status == QS_OK && i < c.n; i++) {
        double g = exp(-c.t[i] / model->tau);
        gg += g * g;
        gy += g * (c.y[i] - model->end);
    }
    for (size_t i = 0; status == QS_OK && i < c.n; i++) {
        double x = c.t[i] / model->tau, rest = c.y[i] - model->end - gy / gg * exp(-x);
        double bend = gy / gg * x * exp(-x) * (model->tau_ci.hi - model->tau_ci.lo) / 2 / model->tau;
        rss += rest * rest;
        off += bend * bend;
    }
    if (status == QS_OK) {
        double dn = (double)c.n, wide = (model->end_ci.hi - model->end_ci.lo) / 2;
        out->rms = sqrt(rss / dn);
        out->expected =
            sqrt(fmax(model->sd * model->sd, model->quantum * model->quantum / 12) + wide * wide + off / dn);
        out->end = fit_at(&c, log(model->tau)).end;
        out->holds = out->rms <= 2 * out->expected || out->rms < 1e-9 * range_of(&c);
    }
    free(c.t);
    return status;
}
