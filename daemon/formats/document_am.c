/* What Android's `am` says. `am start -W` of mode app: a line announces each start, and in the lines behind
 * it stand TotalTime and WaitTime in whole milliseconds and, from Android 10 on, LaunchState. `am instrument
 * -r`: lines of status, in which a test that failed is found by its code. */
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "formats/document_impl.h"

#define MS_NS INT64_C(1000000)
enum { MOST_MS = 3600000, MOST_SHOWN = 200 };

struct line {
    const char *p;
    size_t n;
};

/* Without what ends it; its end can be read. */
static bool next_line(const char **at, const char *end, struct line *ret)
{
    if (*at >= end)
        return false;
    const char *stop = memchr(*at, '\n', (size_t)(end - *at));
    stop = stop ? stop : end;
    *ret = (struct line){*at, (size_t)(stop - *at)};
    while (ret->n > 0 && (ret->p[ret->n - 1] == '\r' || ret->p[ret->n - 1] == ' '))
        ret->n--;
    *at = stop < end ? stop + 1 : end;
    return true;
}

static bool begins(const struct line *l, const char *word)
{
    size_t n = strlen(word);
    return l->n >= n && memcmp(l->p, word, n) == 0;
}

static bool is_after(const struct line *l, const char *key, struct line *ret)
{
    if (!begins(l, key))
        return false;
    *ret = (struct line){l->p + strlen(key), l->n - strlen(key)};
    return true;
}

static int shown(const struct line *l)
{
    return l->n > MOST_SHOWN ? MOST_SHOWN : (int)l->n;
}

/* ---- am start ---- */

struct start {
    bool on;
    struct line head;     /* the line that announced it */
    struct line says;     /* what am complains of, or else the last line of it */
    bool complains, late; /* late: it was not drawn in time */
    bool has_total, has_wait;
    int64_t total_ms, wait_ms;
    struct line state;
};

struct starts {
    struct qs_document_build *b;
    struct start now;
    struct line other; /* the state of a start that was another one */
    size_t others;
};

static bool is_complaint(const struct line *l)
{
    static const char *const words[] = {"Error", "java.", "android.", "Exception", "Security exception"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (begins(l, words[i]))
            return true;
    return false;
}

static bool take_ms(struct starts *s, const struct line *text, bool *has, int64_t *ret)
{
    double v = -1;
    if (qs_reader_number(text->p, text->n, &v) != QS_NUMBER_FINITE || !(v >= 0 && v <= MOST_MS) ||
        v != (double)(int64_t)v)
        return qs_reader_fail(s->b->r, text->p, NULL, "`%.*s` is not a number of milliseconds from 0 to %d",
                              qs_reader_shown(text->n), text->p, MOST_MS);
    *has = true;
    *ret = (int64_t)v;
    return true;
}

static bool is_wanted(const struct qs_form *form, const struct line *state)
{
    return state->p == NULL || form->launch == NULL ||
           (state->n == strlen(form->launch) && strncasecmp(state->p, form->launch, state->n) == 0);
}

/* A start whose window was not drawn in time has waited all of WaitTime, and is no sound value. */
static bool finish(struct starts *s)
{
    struct start *now = &s->now;
    struct qs_document *d = s->b->to;
    if (!now->on)
        return true;
    bool late = now->late || !now->has_total || now->total_ms == 0;
    bool other = !is_wanted(s->b->form, &now->state);
    if (now->complains || !now->has_wait)
        return qs_reader_fail(
            s->b->r, now->says.p ? now->says.p : now->head.p,
            now->complains ? NULL : "what `am start -W` says ends in TotalTime, WaitTime, Complete",
            "the app was not started: am says `%.*s`", shown(&now->says), now->says.p ? now->says.p : "");
    if (!qs_document_add(s->b, (double)((late ? now->wait_ms : now->total_ms) * MS_NS), now->head.p))
        return false;
    d->values = qs_grow(d->values, d->n - 1, sizeof *d->values);
    d->values[d->n - 1] = now->wait_ms * MS_NS;
    d->off = qs_grow(d->off, d->n - 1, sizeof *d->off);
    d->off[d->n - 1] = late || other;
    s->others += other;
    if (other && s->other.p == NULL)
        s->other = now->state;
    return true;
}

static bool take_line(struct starts *s, const struct line *l)
{
    struct start *now = &s->now;
    struct line rest;
    if (begins(l, "quiesce: start ")) {
        bool ok = finish(s);
        *now = (struct start){.on = true, .head = *l};
        return ok;
    }
    if (l->n == 0 || now->complains)
        return true;
    now->complains = is_complaint(l);
    now->says = *l;
    if (!now->on)
        return true;
    if (is_after(l, "TotalTime: ", &rest))
        return take_ms(s, &rest, &now->has_total, &now->total_ms);
    if (is_after(l, "WaitTime: ", &rest))
        return take_ms(s, &rest, &now->has_wait, &now->wait_ms);
    if (is_after(l, "LaunchState: ", &rest))
        now->state = rest;
    if (is_after(l, "Status: ", &rest))
        now->late = !begins(&rest, "ok");
    return true;
}

bool qs_document_am_start(struct qs_document_build *b)
{
    struct starts s = {.b = b};
    struct qs_document *d = b->to;
    struct line l;
    d->metrics[d->metric_count++] =
        (struct qs_document_metric){.name = qs_strdup("wait_time_ns"), .unit = qs_strdup("ns")};
    for (const char *at = b->r->text; next_line(&at, b->r->end, &l);) {
        if (!take_line(&s, &l))
            return false;
    }
    if (s.now.on && !finish(&s))
        return false;
    if (d->n == 0)
        return qs_reader_fail(b->r, s.now.says.p, NULL, "no start was made: am says `%.*s`",
                              shown(&s.now.says), s.now.says.p ? s.now.says.p : "");
    if (s.others == d->n)
        return qs_reader_fail(b->r, s.other.p, "`start` of the job says which they are to be",
                              "none of the %zu starts was %s: am says `LaunchState: %.*s`", d->n,
                              b->form->launch, shown(&s.other), s.other.p);
    return true;
}

/* ---- am instrument ---- */

/* Why it failed, the most telling line first. */
static const char *const reasons[] = {
    "INSTRUMENTATION_STATUS: stack=",    "INSTRUMENTATION_STATUS: Error=", "INSTRUMENTATION_RESULT: longMsg=",
    "INSTRUMENTATION_RESULT: shortMsg=", "INSTRUMENTATION_FAILED: ",       "INSTRUMENTATION_ABORTED: "};
enum { REASONS = sizeof reasons / sizeof *reasons };

static bool has_failed(const struct line *l)
{
    static const char *const words[] = {
        "INSTRUMENTATION_STATUS_CODE: -1",   "INSTRUMENTATION_STATUS_CODE: -2",
        "INSTRUMENTATION_RESULT: shortMsg=", "INSTRUMENTATION_FAILED: ",
        "INSTRUMENTATION_ABORTED: ",         "FAILURES!!!"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (begins(l, words[i]))
            return true;
    return false;
}

bool qs_document_instrumented(struct qs_reader *r, const char *end)
{
    struct line l, last = {0}, why[REASONS] = {{0}};
    bool failed = false, ended = false;
    for (const char *at = r->text; next_line(&at, end, &l);) {
        failed = failed || has_failed(&l);
        ended =
            ended || (begins(&l, "INSTRUMENTATION_CODE: -1") && l.n == strlen("INSTRUMENTATION_CODE: -1"));
        for (size_t i = 0; i < REASONS; i++)
            if (why[i].p == NULL)
                (void)is_after(&l, reasons[i], &why[i]);
        if (l.n > 0 && !begins(&l, "quiesce: "))
            last = l;
    }
    if (ended && !failed)
        return true;
    for (size_t i = REASONS; i > 0; i--)
        last = why[i - 1].p ? why[i - 1] : last;
    return qs_reader_fail(r, last.p, NULL, "the test failed: am says `%.*s`", shown(&last),
                          last.p ? last.p : "");
}
