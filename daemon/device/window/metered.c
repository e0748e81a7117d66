#include "device/window/metered.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "base/text.h"
#include "proto/names.h"

#define PPM        INT64_C(1000000)
#define UJ_OF_UWH  3600.0 /* 1 uWh is 3600 uJ */
#define UC_OF_UAH  3600.0 /* 1 uAh is 3600 uC */
#define UV_OF_V    1e6
#define EXACT_MOST 9e15 /* whole numbers are exact in every reader */

struct out {
    char *why;
    size_t why_bytes;
};

static bool none(const struct out *out, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static bool none(const struct out *out, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(out->why, out->why_bytes, fmt, ap);
    va_end(ap);
    return false;
}

static bool find(const struct qs_msg_closed *m, const char *name, struct qs_evidence *ret)
{
    struct qs_iter it = qs_list_iter(&m->evidence);
    while (qs_list_evidence(&it, ret))
        if (qs_text_is(ret->kind, name))
            return true;
    return false;
}

/* Both readings of it. */
static bool read_both(const struct qs_msg_closed *m, const char *name, const char *about,
                      struct qs_evidence *ret, const struct out *out)
{
    if (!find(m, name, ret))
        return none(out, "%s was not read: the device's agent reads no more than %d sensors", about,
                    QS_BIND_MAX);
    if (ret->status != QS_READING_OK)
        return none(out, "%s could not be read: it is %s, no number, or out of its range", about,
                    qs_reading_status_name(ret->status));
    return true;
}

/* after - before of a count that begins at 0 again, or never falls. */
static bool rise_of(const struct qs_meter_source *s, const struct qs_evidence *e, int64_t *ret,
                    const struct out *out)
{
    if (s->wraps_at > 0 &&
        (e->before > s->wraps_at || e->after > s->wraps_at || e->before < 0 || e->after < 0))
        return none(out, "%s counts beyond the %" PRId64 " at which it should begin again", s->about,
                    s->wraps_at);
    if (__builtin_sub_overflow(e->after, e->before, ret))
        return none(out, "%s rose by more than a number holds", s->about);
    if (*ret < 0 && s->wraps_at > 0)
        *ret += s->wraps_at;
    else if (*ret < 0 && s->how == QS_METER_HOW_RISE)
        return none(out, "%s has fallen, from %" PRId64 " to %" PRId64 ": it was set back, or begins again",
                    s->about, e->before, e->after);
    return true;
}

static bool taken(const struct qs_meter *meter, const struct qs_meter_source *s, const struct qs_evidence *e,
                  double *ret, const struct out *out)
{
    int64_t rise = 0;
    switch ((enum qs_meter_take)meter->job->take) {
    case QS_METER_END:
        *ret = (double)e->after;
        return true;
    case QS_METER_MEAN:
        *ret = ((double)e->before + (double)e->after) / 2;
        return true;
    case QS_METER_RISE:
    case QS_METER_FALL:
        break;
    }
    if (!rise_of(s, e, &rise, out))
        return false;
    *ret = meter->job->take == QS_METER_RISE ? (double)rise : -(double)rise;
    return true;
}

/* What a battery has lost. Where it does not say that it discharges, it may be that something else feeds the
 * device. */
static bool lost(const struct qs_meter_source *s, const struct qs_evidence *e, int64_t word, int64_t *ret,
                 const struct out *out)
{
    *ret = e->before - e->after;
    if (*ret < 0)
        return none(out, "%s has risen, from %" PRId64 " to %" PRId64 ": the battery is being charged",
                    s->about, e->before, e->after);
    if (*ret == 0 && word > 1)
        return none(out,
                    "%s did not fall, and the battery does not say that it is discharging: something else "
                    "feeds the device",
                    s->about);
    return true;
}

/* Whether its reading counts: which of the words that say so it was before and after. */
static bool is_valid(const struct qs_msg_closed *m, const struct qs_meter_source *s, int64_t *word,
                     const struct out *out)
{
    struct qs_evidence e;
    *word = 1;
    if (s->status[0] == '\0')
        return true;
    if (!read_both(m, s->status, "what says whether it counts", &e, out))
        return false;
    *word = e.before > e.after ? e.before : e.after;
    return (e.before > 0 && e.after > 0) ||
           none(out, "%s does not count %s the window: its device is charging, or it is switched off",
                s->about, e.before > 0 ? "after" : "before");
}

static bool power(const struct qs_msg_closed *m, const struct qs_meter_source *s, const struct qs_evidence *e,
                  double *ret, const struct out *out)
{
    const int64_t ns = m->closed_ns - m->opened_ns;
    if (ns < s->average_ns)
        return none(out,
                    "%s is a mean over %" PRId64 " ms, and the window was open for %" PRId64
                    " ms: make it longer (`plan.window`)",
                    s->about, s->average_ns / 1000000, ns / 1000000);
    *ret = (double)e->after * ((double)ns / 1e9);
    return true;
}

static bool add_source(const struct qs_meter *meter, const struct qs_meter_source *s,
                       const struct qs_msg_closed *m, double *sum, const struct out *out)
{
    struct qs_evidence e, volts;
    int64_t word = 0, by = 0;
    double value = 0;
    bool ok = is_valid(m, s, &word, out) && read_both(m, s->name, s->about, &e, out);
    if (!ok)
        return false;
    switch (s->how) {
    case QS_METER_HOW_TAKE:
        ok = taken(meter, s, &e, &value, out);
        break;
    case QS_METER_HOW_RISE:
        ok = rise_of(s, &e, &by, out);
        value = (double)by;
        break;
    case QS_METER_HOW_ENERGY:
        ok = lost(s, &e, word, &by, out);
        value = (double)by * UJ_OF_UWH;
        break;
    case QS_METER_HOW_CHARGE:
        ok = read_both(m, s->volts, "its voltage", &volts, out) && lost(s, &e, word, &by, out);
        value = ok ? (double)by * UC_OF_UAH * ((double)volts.before + (double)volts.after) / 2 / UV_OF_V : 0;
        break;
    case QS_METER_HOW_POWER:
        ok = power(m, s, &e, &value, out);
        break;
    }
    *sum += value;
    return ok;
}

static bool successes(const struct qs_iteration_row *rows, size_t n, int64_t *value)
{
    size_t well = 0;
    for (size_t i = 0; i < n; i++)
        well += (rows[i].taint & (QS_TAINT_EXIT | QS_TAINT_TIMEOUT)) == 0;
    *value = ((int64_t)well * PPM + (int64_t)n / 2) / (int64_t)n;
    return true;
}

bool qs_meter_value(const struct qs_meter *meter, const struct qs_msg_closed *m,
                    const struct qs_iteration_row *rows, size_t n, int64_t *value, char *why,
                    size_t why_bytes)
{
    const struct out out = {why, why_bytes};
    double sum = 0;
    if (n == 0)
        return none(&out, "the window has no iteration");
    if (meter->job->kind == QS_METER_SUCCESS)
        return successes(rows, n, value);
    if (meter->count == 0)
        return none(&out, "the device has no such thing");
    for (size_t i = 0; i < meter->count; i++)
        if (!add_source(meter, &meter->at[i], m, &sum, &out))
            return false;
    if (meter->job->per == QS_METER_PER_ITERATION)
        sum /= (double)n;
    if (!(fabs(sum) <= EXACT_MOST))
        return none(&out, "its value is beyond what is kept");
    *value = llround(sum);
    return true;
}
