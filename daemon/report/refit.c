#include "report/refit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

static const double LEVEL = 0.95, RISE_MOST_MC = 1000, SLACK = 0.1;

/* "[[0,70000],[1000,69000]]", from the warmest reading on; 0: something has heated, or it cannot be read. */
static size_t read_fall(const char *trace, double *times_s, double *values_mc)
{
    size_t n = 0;
    double least = INFINITY;
    const char *s = trace + strspn(trace, "[");
    while (*s && n < QS_REFIT_READINGS) {
        char *end;
        double ms = strtod(s, &end), mc = *end == ',' ? strtod(end + 1, &end) : NAN;
        if (*end != ']' || !isfinite(ms) || !isfinite(mc))
            return 0;
        s = end + strspn(end, "],[");
        if (n > 0 && mc >= values_mc[0])
            n = 0;
        else if (n > 0 && mc > least + RISE_MOST_MC)
            return 0;
        least = n > 0 ? fmin(least, mc) : mc;
        times_s[n] = ms / 1000;
        values_mc[n++] = mc;
    }
    return n;
}

static void judge(struct qs_refit *r, int64_t wall_ns, const struct qs_cooling *alone, double from, double to)
{
    const struct qs_cooling *m = &r->measured;
    struct qs_ci ci;
    double sd = fmax(fmax(m->sd, isnan(alone->sd) ? 0 : alone->sd), alone->quantum / sqrt(12));
    if (r->broken || wall_ns < r->measured_wall_ns || qs_cooling_fall(m, from, to, 2 * sd, &ci) != QS_OK) {
        r->broken = true;
        return;
    }
    double took_s = alone->span;
    int side = took_s < ci.lo * (1 - SLACK) ? -1 : took_s > ci.hi * (1 + SLACK) ? 1 : 0;
    r->broken = side == 0 || (r->side != 0 && side != r->side);
    if (r->broken)
        return;
    r->side = side;
    r->off.waits++;
    r->off.since_wall_ns = wall_ns;
    r->off.predicted_s += qs_cooling_eta(m->tau, m->end, QS_COOLS, from, to);
    r->off.took_s += took_s;
}

void qs_refit_add(struct qs_refit *r, int64_t wall_ns, const char *trace)
{
    double times_s[QS_REFIT_READINGS], values_mc[QS_REFIT_READINGS];
    struct qs_cooling alone;
    if (r->seen == QS_REFIT_WAITS || (r->broken && r->waits == QS_REFIT_CURVES))
        return;
    r->seen++;
    size_t n = read_fall(trace, times_s, values_mc);
    if (n < QS_COOLING_LEAST || qs_cooling_fit(times_s, values_mc, n, QS_COOLS, LEVEL, &alone) != QS_OK ||
        (alone.says != QS_COOLING_FITS && alone.says != QS_COOLING_SHORT))
        return;
    judge(r, wall_ns, &alone, values_mc[0], values_mc[n - 1]);
    if (r->waits == QS_REFIT_CURVES)
        return;
    r->newest_wall_ns = r->waits == 0 ? wall_ns : r->newest_wall_ns;
    memcpy(r->times_s[r->waits], times_s, n * sizeof *times_s);
    memcpy(r->values_mc[r->waits], values_mc, n * sizeof *values_mc);
    r->n[r->waits++] = n;
}

void qs_refit_make(struct qs_refit *r)
{
    struct qs_cooling_curve curves[QS_REFIT_CURVES];
    for (size_t i = 0; i < r->waits; i++)
        curves[i] = (struct qs_cooling_curve){r->times_s[i], r->values_mc[i], r->n[i]};
    if (r->waits < QS_REFIT_LEAST || qs_cooling_fit_all(curves, r->waits, QS_COOLS, LEVEL, &r->fit) != QS_OK)
        r->fit = (struct qs_cooling){.says = QS_COOLING_FEW};
}

bool qs_refit_no_longer_holds(const struct qs_refit *r)
{
    return r->off.waits >= QS_REFIT_LEAST;
}

void qs_refit_say(const struct qs_refit *r, struct qs_buf *out)
{
    char date[32];
    qs_text_time(r->off.since_wall_ns, date);
    qs_buf_fmt(out, "no longer holds since %.10s: its last %zu waits took ", date, r->off.waits);
    qs_text_duration(out, r->off.took_s * 1e9);
    if (isinf(r->off.predicted_s)) {
        qs_buf_str(out, ", where it would never have become as cool");
        return;
    }
    qs_buf_str(out, ", where ");
    qs_text_duration(out, r->off.predicted_s * 1e9);
    qs_buf_str(out, " were predicted");
}

const struct qs_cooling *qs_refit_best(const struct qs_refit *r)
{
    return r->fit.says == QS_COOLING_FITS        ? &r->fit
           : r->measured.says == QS_COOLING_FITS ? &r->measured
                                                 : NULL;
}
