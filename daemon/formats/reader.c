/* The builder: values come in the order of the file, with what tells their runs apart; in the end the runs of
 * each series lie one after the other. */
#include "formats/reader.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "base/text.h"

enum { SHOWN_BYTES = 40 };

uint64_t qs_reader_hash(const char *s, size_t n)
{
    uint64_t h = 14695981039346656037u; /* FNV-1a */
    for (size_t i = 0; i < n; i++)
        h = (h ^ (unsigned char)s[i]) * 1099511628211u;
    return h;
}

static void place(const struct qs_reader *r, const char *at, unsigned *line, unsigned *column)
{
    *line = *column = 1;
    for (const char *s = r->text; s < at; s++) {
        if (*s == '\n') {
            ++*line;
            *column = 1;
        } else if (((unsigned char)*s & 0xc0) != 0x80) {
            ++*column;
        }
    }
}

int qs_reader_shown(size_t n)
{
    return n < SHOWN_BYTES ? (int)n : SHOWN_BYTES;
}

bool qs_reader_fail(struct qs_reader *r, const char *at, const char *suggestion, const char *fmt, ...)
{
    unsigned line = 0, column = 0;
    va_list ap;
    QS_BUF(what);
    va_start(ap, fmt);
    qs_buf_vfmt(&what, fmt, ap);
    va_end(ap);
    if (!at && r->where)
        at = qs_json_place(r->where);
    if (at)
        place(r, at, &line, &column);
    qs_problems_add_at(r->problems, &r->doc, line, column, NULL, suggestion, "%s", what.data);
    return false;
}

void qs_reader_begin(struct qs_reader *r, const char *name, const char *text, size_t len,
                     struct qs_problems *problems)
{
    size_t bom = len >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
    *r = (struct qs_reader){.name = name,
                            .text = text + bom,
                            .end = text + len,
                            .doc = {.source = (char *)text + bom},
                            .problems = problems};
}

static uint64_t hash_key(const struct qs_import_key *key)
{
    uint64_t h = qs_reader_hash(key->benchmark, strlen(key->benchmark));
    h = (h * 31) ^ qs_reader_hash(key->metric, strlen(key->metric));
    return (h * 31) ^ qs_reader_hash(key->unit, strlen(key->unit));
}

static bool is_series(const struct qs_import_build *b, const struct qs_import_key *key, uint64_t hash)
{
    return b->hash == hash && strcmp(b->series.benchmark, key->benchmark) == 0 &&
           strcmp(b->series.metric, key->metric) == 0 && strcmp(b->series.unit, key->unit) == 0;
}

static bool check_names(struct qs_reader *r, const struct qs_import_key *key, const char *at)
{
    const char *const names[] = {key->benchmark, key->metric, key->unit};
    for (size_t i = 0; i < 3; i++)
        if (strlen(names[i]) > QS_IMPORT_NAME_BYTES)
            return qs_reader_fail(r, at, NULL, "`%.40s…` is a name of more than %d bytes", names[i],
                                  QS_IMPORT_NAME_BYTES);
    return true;
}

struct qs_import_build *qs_reader_series(struct qs_reader *r, const struct qs_import_key *key, const char *at)
{
    uint64_t hash = hash_key(key);
    for (size_t i = 0; i < r->count; i++) { /* mostly the same again, or the next column */
        size_t k = (r->last + i) % r->count;
        if (is_series(&r->at[k], key, hash)) {
            r->last = k;
            return &r->at[k];
        }
    }
    if (!check_names(r, key, at))
        return NULL;
    if (r->count == QS_IMPORT_SERIES) {
        qs_reader_fail(r, at, "give it in several files", "more than %d benchmarks and metrics",
                       QS_IMPORT_SERIES);
        return NULL;
    }
    r->at = qs_grow(r->at, r->count, sizeof *r->at);
    struct qs_import_build *b = &r->at[r->count];
    *b = (struct qs_import_build){.hash = hash};
    b->series.benchmark = qs_strdup(key->benchmark);
    b->series.metric = qs_strdup(key->metric);
    b->series.unit = qs_strdup(key->unit);
    b->series.direction = key->direction;
    b->series.scale = key->scale > 0 ? key->scale : 1;
    r->last = r->count++;
    return b;
}

static bool charge(struct qs_reader *r, size_t n)
{
    if (n > QS_IMPORT_VALUES - r->values)
        return qs_reader_fail(r, NULL, "give it in several files", "more than %d values", QS_IMPORT_VALUES);
    r->values += n;
    return true;
}

bool qs_reader_drop(struct qs_reader *r, struct qs_import_build *b, enum qs_drop why, size_t n)
{
    b->series.dropped[why] += n;
    return charge(r, n);
}

bool qs_reader_value(struct qs_reader *r, struct qs_import_build *b, double number, uint64_t run,
                     double order, const char *label)
{
    double v = number * b->series.scale;
    if (!isfinite(v))
        return qs_reader_drop(r, b, QS_DROP_NOT_FINITE, 1);
    if (!charge(r, 1))
        return false;
    b->points = qs_grow(b->points, b->count, sizeof *b->points);
    b->points[b->count] = (struct qs_import_point){.v = v, .run = run, .order = order, .index = b->count};
    b->points[b->count++].label = label ? qs_strndup(label, QS_IMPORT_NAME_BYTES) : NULL;
    b->labelled = b->labelled || label;
    return true;
}

static int by_number(uint64_t a, uint64_t b)
{
    return a < b ? -1 : a > b;
}

/* Equal runs together, the first of each run in front of the others. */
static int by_run(const void *a, const void *b)
{
    const struct qs_import_point *x = a, *y = b;
    int order = by_number(x->run, y->run);
    return order != 0 ? order : by_number(x->index, y->index);
}

static int by_order(const void *a, const void *b)
{
    const struct qs_import_point *x = a, *y = b;
    if (x->run == y->run && (x->order < y->order || x->order > y->order))
        return x->order < y->order ? -1 : 1;
    return by_run(a, b);
}

/* Most files are in order as they are. */
static void sort_by(struct qs_import_build *b, int (*compare)(const void *, const void *))
{
    size_t i = 1;
    while (i < b->count && compare(&b->points[i - 1], &b->points[i]) <= 0)
        i++;
    if (i < b->count)
        qsort(b->points, b->count, sizeof *b->points, compare);
}

/* Runs are numbered by where they began, and their values ordered. */
static void sort_points(struct qs_import_build *b)
{
    uint64_t run = 0, first = 0;
    sort_by(b, by_run);
    for (size_t i = 0; i < b->count; i++) {
        if (i == 0 || b->points[i].run != run) {
            run = b->points[i].run;
            first = b->points[i].index;
        }
        b->points[i].run = first;
    }
    sort_by(b, by_order);
}

static void finish_series(struct qs_import_build *b, struct qs_import_series *s)
{
    sort_points(b);
    *s = b->series;
    b->series = (struct qs_import_series){0};
    s->n = b->count;
    s->v = qs_calloc(b->count, sizeof *s->v);
    s->off = qs_calloc(b->count + 1, sizeof *s->off);
    s->labels = b->labelled ? qs_calloc(b->count, sizeof *s->labels) : NULL;
    for (size_t i = 0; i < b->count; i++) {
        if (i > 0 && b->points[i].run != b->points[i - 1].run)
            s->off[++s->runs] = i;
        s->v[i] = b->points[i].v;
        if (s->labels)
            s->labels[i] = b->points[i].label ? b->points[i].label : qs_strdup("");
        b->points[i].label = NULL;
    }
    s->off[++s->runs] = b->count;
}

bool qs_reader_finish(struct qs_reader *r, struct qs_import *ret)
{
    ret->series = qs_calloc(r->count + 1, sizeof *ret->series);
    for (size_t i = 0; i < r->count; i++) {
        if (r->at[i].count == 0)
            continue;
        finish_series(&r->at[i], &ret->series[ret->count]);
        ret->values += ret->series[ret->count++].n;
    }
    return ret->count > 0 ||
           qs_reader_fail(r, NULL, "check the program that should have written them", "it contains no value");
}

void qs_reader_done(struct qs_reader *r)
{
    for (size_t i = 0; i < r->count; i++) {
        for (size_t k = 0; k < r->at[i].count; k++)
            free(r->at[i].points[k].label);
        free(r->at[i].points);
        free(r->at[i].series.benchmark);
        free(r->at[i].series.metric);
        free(r->at[i].series.unit);
    }
    free(r->at);
}

enum qs_number qs_reader_number(const char *s, size_t n, double *ret)
{
    static const char *const names[] = {"nan", "inf", "infinity", "na"};
    char text[64];
    size_t sign = s[0] == '-' || s[0] == '+';
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (n - sign == strlen(names[i]) && strncasecmp(s + sign, names[i], n - sign) == 0) {
            *ret = NAN;
            return QS_NUMBER_NOT_FINITE;
        }
    }
    if (n >= sizeof text)
        return QS_NUMBER_NO;
    memcpy(text, s, n);
    text[n] = '\0';
    char *end = text;
    if (text[strspn(text, "+-.0123456789eE")] == '\0')
        *ret = strtod(text, &end);
    if (end == text || *end != '\0')
        return QS_NUMBER_NO;
    return isfinite(*ret) ? QS_NUMBER_FINITE : QS_NUMBER_NOT_FINITE;
}
