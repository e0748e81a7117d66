#include "report/views.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "stats/outlier.h"

static const char *const kind_words[] = {"discard-first", "last", "fenced", NULL};

/* Digits only, 1 .. QS_VIEWS_N_MAX. */
static bool read_n(const char *text, size_t len, size_t *ret)
{
    size_t n = 0;
    for (size_t i = 0; i < len; i++) {
        if (text[i] < '0' || text[i] > '9' || n > QS_VIEWS_N_MAX)
            return false;
        n = n * 10 + (size_t)(text[i] - '0');
    }
    *ret = n;
    return n >= 1 && n <= QS_VIEWS_N_MAX;
}

static bool read_one(const char *text, size_t len, struct qs_views *views, struct qs_err *err)
{
    const char *colon = memchr(text, ':', len);
    size_t name = colon ? (size_t)(colon - text) : len, n = 0;
    for (size_t k = 0; kind_words[k]; k++) {
        bool has_n = k != QS_VIEWS_FENCED;
        if (strlen(kind_words[k]) != name || memcmp(kind_words[k], text, name) != 0)
            continue;
        if (has_n != (colon != NULL) || (colon && !read_n(colon + 1, len - name - 1, &n)))
            return qs_fail(err, QS_E_USAGE, "the view `%s` is written %s%s", kind_words[k], kind_words[k],
                           has_n ? ":N, N from 1 to 1000000" : " alone");
        views->at[views->count].kind = (enum qs_views_kind)k;
        views->at[views->count++].n = n;
        return true;
    }
    return qs_fail(err, QS_E_USAGE, "`%.*s` is not a view: discard-first:N, last:N or fenced",
                   (int)(len < 40 ? len : 40), text);
}

bool qs_views_parse(const char *text, struct qs_views *ret, struct qs_err *err)
{
    *ret = (struct qs_views){.count = 0};
    for (const char *at = text;; at++) {
        size_t len = strcspn(at, ",");
        if (ret->count == QS_VIEWS_MAX)
            return qs_fail(err, QS_E_USAGE, "at most %d views", QS_VIEWS_MAX);
        if (!read_one(at, len, ret, err))
            return false;
        at += len;
        if (*at == '\0')
            return true;
    }
}

static size_t fence(double *ns, size_t n)
{
    QS_FREED uint8_t *flags = qs_calloc(n, sizeof *flags);
    struct qs_tukey t;
    size_t left = n;
    if (qs_tukey_flags(ns, n, flags, &t) == QS_OK) {
        left = 0;
        for (size_t i = 0; i < n; i++)
            if (flags[i] == 0)
                ns[left++] = ns[i];
    }
    return left;
}

static size_t apply_one(enum qs_views_kind kind, size_t most, double *ns, size_t n)
{
    size_t cut = 0;
    switch (kind) {
    case QS_VIEWS_DISCARD_FIRST:
        cut = most < n ? most : n;
        break;
    case QS_VIEWS_LAST:
        cut = most < n ? n - most : 0;
        break;
    case QS_VIEWS_FENCED:
        return fence(ns, n);
    }
    memmove(ns, ns + cut, (n - cut) * sizeof *ns);
    return n - cut;
}

size_t qs_views_apply(const struct qs_views *views, double *ns, size_t n, struct qs_views_tally *tally)
{
    for (size_t i = 0; i < views->count; i++) {
        size_t left = n > 0 ? apply_one(views->at[i].kind, views->at[i].n, ns, n) : 0;
        tally->used[i] += left;
        tally->dropped[i] += n - left;
        n = left;
    }
    return n;
}

void qs_views_add(struct qs_views_tally *to, const struct qs_views_tally *more)
{
    for (size_t i = 0; i < QS_VIEWS_MAX; i++) {
        to->used[i] += more->used[i];
        to->dropped[i] += more->dropped[i];
    }
}

struct told_view {
    enum qs_views_kind view;
    size_t n, used, dropped;
};
static const struct qs_field view_rows[] = {
    QS_ROW(told_view, view, WORD, "what it keeps", .words = kind_words),
    QS_ROW(told_view, n, COUNT, "its number; null where it has none", .maybe = true),
    {.name = NULL}};
static const struct qs_field tally_rows[] = {{.kind = QS_FIELD_PART, .of = view_rows},
                                             QS_ROW(told_view, used, COUNT, "values that it left"),
                                             QS_ROW(told_view, dropped, COUNT, "values that it took away"),
                                             {.name = NULL}};
static const struct qs_field asked_rows[] = {
    QS_ROW(qs_told_views, views, OBJECTS, NULL, .of = view_rows, .bytes = sizeof(struct told_view)),
    {.name = NULL}};
const struct qs_field qs_views_rows[] = {
    QS_ROW(qs_told_views, views, OBJECTS,
           "the views asked for, in order, and what they did in this file; empty: none", .of = tally_rows,
           .bytes = sizeof(struct told_view)),
    {.name = NULL}};

struct qs_told_views qs_views_tell(const struct qs_views *views, const struct qs_views_tally *tally)
{
    struct told_view *told = qs_calloc(views->count, sizeof *told);
    for (size_t i = 0; i < views->count; i++)
        told[i] = (struct told_view){views->at[i].kind, views->at[i].n, tally->used[i], tally->dropped[i]};
    return (struct qs_told_views){.views = {told, views->count}};
}

void qs_views_put(struct qs_json *j, const struct qs_views *views, const struct qs_views_tally *tally)
{
    static const struct qs_views_tally none;
    struct qs_told_views told = qs_views_tell(views, tally ? tally : &none);
    qs_put_fields(j, tally ? qs_views_rows : asked_rows, &told);
    qs_fields_free(qs_views_rows, &told);
}

void qs_views_words(struct qs_buf *out, const struct qs_views *views, const struct qs_views_tally *tally)
{
    for (size_t i = 0; i < views->count; i++) {
        qs_buf_fmt(out, "%s%s", i > 0 ? ", then " : "", kind_words[views->at[i].kind]);
        if (views->at[i].n > 0)
            qs_buf_fmt(out, " %zu", views->at[i].n);
        qs_buf_fmt(out, " leaves %zu of %zu iterations", tally->used[i], tally->used[i] + tally->dropped[i]);
    }
}

void qs_views_of_runs(const struct qs_views *views, struct qs_arm_runs *runs, struct qs_views_tally *tally)
{
    for (size_t i = 0; i < runs->count; i++) {
        struct qs_arm_run *run = &runs->at[i];
        for (size_t m = 0; m < runs->metric_count; m++) {
            struct qs_values *values = &run->values[m];
            struct qs_views_tally other = {.used = {0}};
            if (!runs->metrics[m].of_windows)
                values->n = qs_views_apply(views, values->at, values->n, m == 0 ? tally : &other);
        }
    }
}

static void take_series(const struct qs_views *views, struct qs_import_series *s,
                        struct qs_views_tally *tally)
{
    size_t n = 0, runs = 0, from = 0;
    for (size_t r = 0; r < s->runs; r++) {
        size_t end = s->off[r + 1];
        size_t left = qs_views_apply(views, s->v + from, end - from, tally);
        memmove(s->v + n, s->v + from, left * sizeof *s->v);
        from = end;
        n += left;
        if (left > 0)
            s->off[++runs] = n;
    }
    s->dropped[QS_DROP_VIEW] += s->n - n;
    s->n = n;
    s->runs = runs;
}

bool qs_views_of_import(const struct qs_views *views, struct qs_import *import, struct qs_views_tally *tally,
                        struct qs_err *err)
{
    for (size_t i = 0; i < import->count && views->count > 0; i++) {
        struct qs_import_series *s = &import->series[i];
        size_t before = s->n;
        for (size_t k = 0; s->labels && k < s->n; k++)
            free(s->labels[k]);
        free(s->labels); /* they were of values that may have gone */
        s->labels = NULL;
        take_series(views, s, tally);
        import->values -= before - s->n;
        if (s->n == 0)
            return qs_fail(err, QS_E_USAGE, "the views leave nothing of the %zu values of `%.60s%s%.60s`",
                           before, s->benchmark, s->benchmark[0] != '\0' ? " " : "", s->metric);
    }
    return true;
}
