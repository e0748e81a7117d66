#include "device/board/heat.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"

enum { TRACE_MOST = 1000, SENSOR_MOST_C_PER_S = 20, JUMP_LEAST_C = 5, MOVED_LEAST_C = 5, STILL_MOST_C = 1 };
static const double LEVEL = 0.95;

const char *qs_heat_phase_name(enum qs_heat_phase phase)
{
    static const char *const names[] = {"rest", "warms", "cools"};
    return (unsigned)phase < QS_HEAT_PHASES ? names[phase] : "?";
}

void qs_heat_log_begin(struct qs_heat_log *log, size_t sensors)
{
    qs_heat_log_done(log);
    log->sensors = sensors;
}

void qs_heat_log_add(struct qs_heat_log *log, double time_s, const double *values_c)
{
    if (log->count == log->room) {
        log->room = log->room > 0 ? 2 * log->room : 256;
        log->times_s = qs_realloc(log->times_s, log->room * sizeof *log->times_s);
        log->values_c = qs_realloc(log->values_c, log->room * (log->sensors + 1) * sizeof *log->values_c);
    }
    log->times_s[log->count] = time_s;
    for (size_t i = 0; i < log->sensors; i++)
        log->values_c[log->count * log->sensors + i] = values_c[i];
    log->count++;
}

void qs_heat_log_done(struct qs_heat_log *log)
{
    free(log->times_s);
    free(log->values_c);
    *log = (struct qs_heat_log){0};
}

static double at_of(const struct qs_heat_log *log, size_t reading, size_t sensor)
{
    return log->values_c[reading * log->sensors + sensor];
}

/* ---- rows ---- */

static void begin_row(struct qs_heat_row *r, const char *kind, const char *domain, const char *sensor)
{
    qs_buf_init(&r->why);
    qs_buf_init(&r->trace);
    r->row = (struct qs_model_row){.kind = kind,
                                   .domain = domain,
                                   .sensor = sensor,
                                   .says = "ok",
                                   .tau_s = NAN,
                                   .tau_lo_s = NAN,
                                   .tau_hi_s = NAN,
                                   .end_mc = NAN,
                                   .end_lo_mc = NAN,
                                   .end_hi_mc = NAN,
                                   .sd_mc = NAN,
                                   .low_mc = NAN,
                                   .high_mc = NAN};
}

static void end_row(struct qs_heat_row *r)
{
    r->row.why = r->why.len > 0 ? r->why.data : NULL;
    r->row.trace = r->trace.len > 0 ? r->trace.data : NULL;
}

void qs_heat_row_done(struct qs_heat_row *row)
{
    qs_buf_done(&row->why);
    qs_buf_done(&row->trace);
}

static void take_range(struct qs_model_row *row, const struct qs_heat_log *log, size_t at)
{
    for (size_t i = 0; i < log->count; i++) {
        double mc = 1000 * at_of(log, i, at);
        row->low_mc = fmin(row->low_mc, mc); /* fmin and fmax leave NaN out */
        row->high_mc = fmax(row->high_mc, mc);
        row->readings += !isnan(mc);
    }
    if (log->count > 0)
        row->span_s += log->times_s[log->count - 1] - log->times_s[0];
}

/* ---- sensors ---- */

double qs_heat_moved_c(const struct qs_heat_log logs[QS_HEAT_PHASES], size_t at)
{
    struct qs_model_row row = {.low_mc = NAN, .high_mc = NAN};
    for (size_t p = 0; p < QS_HEAT_PHASES; p++)
        take_range(&row, &logs[p], at);
    return (row.high_mc - row.low_mc) / 1000;
}

/* By how much the worst reading stands out from both neighbours, beyond what a temperature can do; 0: none
 * does. */
static double worst_jump(const struct qs_heat_log *log, size_t at)
{
    double worst = 0;
    for (size_t i = 1; i + 1 < log->count; i++) {
        double a = at_of(log, i, at) - at_of(log, i - 1, at), b = at_of(log, i, at) - at_of(log, i + 1, at);
        double off = a * b > 0 ? fmin(fabs(a), fabs(b)) : 0;
        double may = SENSOR_MOST_C_PER_S * (log->times_s[i + 1] - log->times_s[i - 1]) / 2;
        if (off > fmax(may, JUMP_LEAST_C))
            worst = fmax(worst, off);
    }
    return worst;
}

void qs_heat_sensor(const struct qs_heat_log logs[QS_HEAT_PHASES], size_t at, const char *sensor,
                    double moved_c, struct qs_heat_row *ret)
{
    size_t count = 0;
    double jump = 0;
    begin_row(ret, "sensor", "", sensor);
    for (size_t p = 0; p < QS_HEAT_PHASES; p++) {
        take_range(&ret->row, &logs[p], at);
        count += logs[p].count;
        jump = fmax(jump, worst_jump(&logs[p], at));
    }
    size_t failed = count - (size_t)ret->row.readings;
    double own_c = (ret->row.high_mc - ret->row.low_mc) / 1000;
    if (10 * failed > count || count == 0) {
        ret->row.says = "unreadable";
        qs_buf_fmt(&ret->why, "%zu of %zu readings failed", failed, count);
    } else if (jump > 0) {
        ret->row.says = "jumps";
        qs_buf_fmt(&ret->why, "single readings are %.1f degrees off their neighbours", jump);
    } else if (own_c < STILL_MOST_C && moved_c >= MOVED_LEAST_C) {
        ret->row.says = "still";
        qs_buf_fmt(&ret->why, "it stayed at %.1f °C while others moved by %.1f degrees",
                   ret->row.low_mc / 1000, moved_c);
    }
    end_row(ret);
}

/* ---- curves ---- */

static void explain(const struct qs_cooling *c, enum qs_heat_phase phase, struct qs_buf *out)
{
    const char *moves = phase == QS_HEAT_COOLS ? "cool" : "warm up";
    switch (c->says) {
    case QS_COOLING_FITS:
        return;
    case QS_COOLING_FEW:
        qs_buf_fmt(out, "%zu readings are too few, or too much alike", c->n);
        return;
    case QS_COOLING_FLAT:
        qs_buf_fmt(out, "it hardly moved in %.0f s", c->span);
        return;
    case QS_COOLING_OTHER_WAY:
        qs_buf_fmt(out, "it did not %s", moves);
        return;
    case QS_COOLING_SHORT:
        qs_buf_fmt(out, "after %.0f s it was still far from its end: let it %s for longer", c->span, moves);
        return;
    case QS_COOLING_COARSE:
        qs_buf_str(out, "it is over between two readings: read more often");
        return;
    }
}

/* "[[0,78000],[1000,77000]]": every so many, where there are more than TRACE_MOST. */
static void put_trace(const double *times, const double *values, size_t n, struct qs_buf *out)
{
    struct qs_json j = qs_json_to(out);
    qs_json_array(&j);
    for (size_t i = 0; i < n; i += 1 + (n - 1) / TRACE_MOST) {
        qs_json_array(&j);
        qs_json_int(&j, llround((times[i] - times[0]) * 1000));
        qs_json_int(&j, llround(values[i] * 1000));
        qs_json_array_end(&j);
    }
    qs_json_array_end(&j);
}

static void take_fit(const struct qs_cooling *c, struct qs_model_row *row)
{
    row->says = qs_cooling_says_name(c->says);
    row->tau_s = c->tau;
    row->tau_lo_s = c->tau_ci.lo;
    row->tau_hi_s = c->tau_ci.hi;
    row->end_mc = c->end * 1000;
    row->end_lo_mc = c->end_ci.lo * 1000;
    row->end_hi_mc = c->end_ci.hi * 1000;
    row->sd_mc = c->says == QS_COOLING_FITS ? c->sd * 1000 : NAN;
}

/* Where it turns: heat is on its way to a sensor for a while after the load has ended, or begun. */
static size_t turn_of(const double *values, size_t n, enum qs_cooling_way way)
{
    size_t at = 0;
    for (size_t i = 1; i < n / 2; i++)
        at = (way == QS_COOLS ? values[i] >= values[at] : values[i] <= values[at]) ? i : at;
    return at;
}

void qs_heat_curve(const struct qs_heat_log *log, enum qs_heat_phase phase, size_t at, const char *domain,
                   const char *sensor, struct qs_heat_row *ret)
{
    QS_FREED double *times = qs_calloc(log->count + 1, sizeof *times);
    QS_FREED double *values = qs_calloc(log->count + 1, sizeof *values);
    struct qs_cooling c = {.says = QS_COOLING_FEW};
    size_t n = 0;
    begin_row(ret, qs_heat_phase_name(phase), domain, sensor);
    take_range(&ret->row, log, at);
    for (size_t i = 0; i < log->count; i++) {
        times[n] = log->times_s[i];
        values[n] = at_of(log, i, at);
        n += isnan(values[n]) ? 0 : 1;
    }
    enum qs_cooling_way way = phase == QS_HEAT_COOLS ? QS_COOLS : QS_WARMS;
    size_t from = turn_of(values, n, way);
    enum qs_status status = qs_cooling_fit(times + from, values + from, n - from, way, LEVEL, &c);
    take_fit(&c, &ret->row);
    if (status == QS_OK)
        explain(&c, phase, &ret->why);
    else
        qs_buf_fmt(&ret->why, "%zu readings cannot be used (%s)", n, qs_status_name(status));
    if (n > 0)
        put_trace(times, values, n, &ret->trace);
    end_row(ret);
}
