#include "config/stop.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/text.h"

static void free_children(struct qs_stop *stop)
{
    for (size_t i = 0; i < stop->child_count; i++)
        free_children(&stop->child[i]);
    free(stop->child);
}

void qs_stop_free(struct qs_stop *stop)
{
    if (stop == NULL)
        return;
    free_children(stop);
    free(stop);
}

/* The standard deviation (n - 1) of the last n is at most so much of their mean, compared as squares; two
 * passes, so that the mean's size does not eat the deviation. */
static bool holds_cov(const struct qs_stop *stop, const int64_t *durations_ns, size_t n)
{
    if (stop->n < 2 || n < stop->n)
        return false;
    const int64_t *last = durations_ns + (n - stop->n);
    double sum = 0;
    for (size_t i = 0; i < stop->n; i++)
        sum += (double)last[i];
    double mean = sum / stop->n;
    double squares = 0;
    for (size_t i = 0; i < stop->n; i++)
        squares += ((double)last[i] - mean) * ((double)last[i] - mean);
    double bound = stop->at_most_ratio * mean;
    return mean != 0 && squares / (stop->n - 1) <= bound * bound;
}

static bool eval(const struct qs_stop *stop, const int64_t *durations_ns, size_t n, int64_t measured_ns,
                 struct qs_buf *why);

/* any: the first that holds gives the reason; all: every reason; not: the rule that does not hold. */
static bool eval_joined(const struct qs_stop *stop, const int64_t *durations_ns, size_t n,
                        int64_t measured_ns, struct qs_buf *why)
{
    bool any = stop->kind == QS_STOP_ANY;
    size_t mark = why->len;
    for (size_t i = 0; i < stop->child_count; i++) {
        if (!any && i > 0)
            qs_buf_str(why, " and ");
        bool holds = eval(&stop->child[i], durations_ns, n, measured_ns, why);
        if (holds == any)
            return any;
        if (!holds && why->len > mark) {
            why->len = mark;
            why->data[mark] = '\0';
        }
    }
    return !any;
}

static void name_rule(const struct qs_stop *stop, struct qs_buf *out)
{
    static const char *const joined[] = {[QS_STOP_ANY] = "any", [QS_STOP_ALL] = "all", [QS_STOP_NOT] = "not"};
    switch (stop->kind) {
    case QS_STOP_FIXED:
        qs_buf_fmt(out, "fixed(%" PRIu32 ")", stop->n);
        break;
    case QS_STOP_TIME:
        qs_buf_str(out, "time(");
        qs_text_duration(out, (double)stop->time_ns);
        qs_buf_char(out, ')');
        break;
    case QS_STOP_COV_WINDOW:
        qs_buf_fmt(out, "cov_window(%" PRIu32 ", %g %%)", stop->n, stop->at_most_ratio * 100);
        break;
    case QS_STOP_ANY:
    case QS_STOP_ALL:
    case QS_STOP_NOT:
        qs_buf_fmt(out, "%s(", joined[stop->kind]);
        for (size_t i = 0; i < stop->child_count; i++) {
            qs_buf_str(out, i > 0 ? ", " : "");
            name_rule(&stop->child[i], out);
        }
        qs_buf_char(out, ')');
        break;
    }
}

static bool eval(const struct qs_stop *stop, const int64_t *durations_ns, size_t n, int64_t measured_ns,
                 struct qs_buf *why)
{
    bool holds = false;
    struct qs_buf unused;
    switch (stop->kind) {
    case QS_STOP_FIXED:
        holds = n >= stop->n;
        break;
    case QS_STOP_TIME:
        holds = measured_ns >= stop->time_ns;
        break;
    case QS_STOP_COV_WINDOW:
        holds = holds_cov(stop, durations_ns, n);
        break;
    case QS_STOP_ANY:
    case QS_STOP_ALL:
        return eval_joined(stop, durations_ns, n, measured_ns, why);
    case QS_STOP_NOT:
        qs_buf_init(&unused);
        holds = stop->child_count == 1 && !eval(stop->child, durations_ns, n, measured_ns, &unused);
        qs_buf_done(&unused);
        break;
    }
    if (holds)
        name_rule(stop, why);
    return holds;
}

bool qs_stop_eval(const struct qs_stop *stop, const int64_t *durations_ns, size_t n, int64_t measured_ns,
                  char *reason, size_t reason_bytes)
{
    struct qs_buf why;
    qs_buf_init(&why);
    bool holds = eval(stop, durations_ns, n, measured_ns, &why);
    if (holds && reason_bytes > 0)
        snprintf(reason, reason_bytes, "%s", why.data);
    qs_buf_done(&why);
    return holds;
}
