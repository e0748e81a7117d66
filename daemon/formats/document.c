/* Numbers and patterns line by line; what is common to all documents. */
#include "formats/document.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/pattern.h"
#include "formats/document_impl.h"

#define MOST_NS       4e18
#define MICRO         1e6
#define MOST_MICRO    9e15 /* whole numbers are exact in every reader */
#define ROUNDING_MOST 1e-3

static bool is_other(const struct qs_form *form)
{
    return (form->kind == QS_FORM_NUMBERS || form->kind == QS_FORM_PATTERN) && form->unit == QS_FORM_OTHER;
}

static bool has_room(struct qs_document_build *b, const char *at)
{
    struct qs_document *d = b->to;
    if (d->n == QS_DOCUMENT_VALUES)
        return qs_reader_fail(b->r, at, NULL, "more than %d values", QS_DOCUMENT_VALUES);
    int64_t **list = is_other(b->form) ? &d->values : &d->durations_ns;
    *list = qs_grow(*list, d->n, sizeof **list);
    return true;
}

bool qs_document_add(struct qs_document_build *b, double ns, const char *at)
{
    struct qs_document *d = b->to;
    double rounded = nearbyint(ns);
    if (!(ns >= 0) || ns > MOST_NS)
        return qs_reader_fail(b->r, at, NULL, "%g ns is not a duration", ns);
    if (d->evals == 1 && fabs(rounded - ns) > ROUNDING_MOST * ns)
        return qs_reader_fail(b->r, at, "have the program print the time of many evaluations together",
                              "%g ns cannot be kept in whole nanoseconds: rounding would change it by more "
                              "than 0.1 %%",
                              ns);
    if (!has_room(b, at))
        return false;
    d->durations_ns[d->n++] = (int64_t)rounded;
    return true;
}

/* A value that is no time. */
static bool add_other(struct qs_document_build *b, double v, const char *at)
{
    double micro = nearbyint(v * MICRO);
    if (!(fabs(micro) <= MOST_MICRO) || fabs(micro - v * MICRO) > ROUNDING_MOST * fabs(v * MICRO))
        return qs_reader_fail(b->r, at, "have the program print another unit",
                              "%g %s cannot be kept in millionths: it is too large, or rounding would change "
                              "it by more than 0.1 %%",
                              v, b->form->other);
    if (!has_room(b, at))
        return false;
    b->to->values[b->to->n++] = (int64_t)micro;
    return true;
}

static bool add_number(struct qs_document_build *b, const char *s, size_t n)
{
    double v;
    enum qs_number kind = qs_reader_number(s, n, &v);
    if (kind == QS_NUMBER_NO)
        return qs_reader_fail(b->r, s, "write one number a line, with a point: 12.5; # begins a comment",
                              "`%.*s` is not a number", qs_reader_shown(n), s);
    if (kind == QS_NUMBER_NOT_FINITE)
        return qs_reader_fail(b->r, s, NULL, "`%.*s` is not a finite number", qs_reader_shown(n), s);
    if (is_other(b->form))
        return add_other(b, v, s);
    if (v < 0)
        return qs_reader_fail(b->r, s, NULL, "`%.*s` is negative, so not a duration", qs_reader_shown(n), s);
    return qs_document_add(b, v * qs_form_unit_ns(b->form->unit), s);
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

static bool number_line(struct qs_document_build *b, const struct qs_pattern *pattern, const char *s,
                        size_t n)
{
    const char *comment = memchr(s, '#', n);
    const char *end = comment ? comment : s + n;
    (void)pattern;
    while (is_blank(*s)) /* its end is none */
        s++;
    while (end > s && is_blank(end[-1]))
        end--;
    return s == end || add_number(b, s, (size_t)(end - s));
}

static bool pattern_line(struct qs_document_build *b, const struct qs_pattern *pattern, const char *s,
                         size_t n)
{
    size_t at, len;
    if (n > 0 && s[n - 1] == '\r')
        n--;
    if (n > QS_PATTERN_LINE_BYTES)
        return qs_reader_fail(b->r, s, "print the values in lines of their own",
                              "a line of more than %d bytes, on which the pattern is not tried",
                              QS_PATTERN_LINE_BYTES);
    return !qs_pattern_find(pattern, s, n, &at, &len) || add_number(b, s + at, len);
}

static bool read_lines(struct qs_document_build *b, const struct qs_pattern *pattern)
{
    bool ok = true;
    for (const char *s = b->r->text; ok && *s != '\0';) {
        size_t n = strcspn(s, "\n");
        ok = (pattern ? pattern_line : number_line)(b, pattern, s, n);
        s += n + (s[n] == '\n');
    }
    return ok;
}

static bool read_pattern(struct qs_document_build *b, struct qs_err *err)
{
    struct qs_pattern *pattern = NULL;
    if (!qs_pattern_new(b->form->pattern, &pattern, err))
        return false;
    bool ok = read_lines(b, pattern);
    qs_pattern_free(pattern);
    return ok && (b->to->n > 0 || qs_reader_fail(b->r, NULL, "the pattern is tried on each line",
                                                 "no line matches `%s`", b->form->pattern));
}

static bool read_any(struct qs_document_build *b, struct qs_err *err)
{
    switch (b->form->kind) {
    case QS_FORM_GBENCH:
        return qs_document_gbench(b);
    case QS_FORM_PATTERN:
        return read_pattern(b, err);
    case QS_FORM_ANDROIDX:
        return qs_document_androidx(b);
    case QS_FORM_AM_START:
        return qs_document_am_start(b);
    case QS_FORM_NUMBERS:
        break;
    }
    return read_lines(b, NULL) &&
           (b->to->n > 0 || qs_reader_fail(b->r, NULL, NULL, "there is no number in it"));
}

/* The first problem in one line; the others are of no use where the rest was not read. */
static void say(const struct qs_problems *problems, const char *source, struct qs_err *err)
{
    const struct qs_problem *p = problems->count > 0 ? &problems->at[0] : NULL;
    if (!p)
        return;
    QS_BUF(text);
    qs_buf_str(&text, source);
    if (p->line > 0)
        qs_buf_fmt(&text, ":%u:%u", p->line, p->column);
    qs_fail(err, QS_E_DATA, "%s: %s%s%s%s", text.data, p->what, p->suggestion ? " (" : "",
            p->suggestion ? p->suggestion : "", p->suggestion ? ")" : "");
}

/* Of what a test left the file is read, once am has said that it passed. A file by itself is one, too. */
static const char *skip_am(const struct qs_form *form, const char *text, size_t len,
                           struct qs_problems *problems)
{
    struct qs_reader r;
    if (form->kind != QS_FORM_ANDROIDX || text[strspn(text, " \t\r\n")] == '{')
        return text;
    const char *body = qs_document_androidx_body(text);
    qs_reader_begin(&r, qs_form_source(form), text, len, problems);
    if (!qs_reader_check_text(&r) || !qs_document_instrumented(&r, body))
        return NULL;
    if (*body != '\0')
        return body;
    qs_reader_fail(&r, NULL,
                   "does it use Jetpack's Macrobenchmark or Microbenchmark, and write to `output_dir`?",
                   "the test passed and left no benchmarkData.json");
    return NULL;
}

bool qs_document_read(const struct qs_form *form, const char *text, size_t len, struct qs_document *ret,
                      struct qs_err *err)
{
    struct qs_problems problems;
    struct qs_reader r;
    struct qs_document_build b = {.form = form, .r = &r, .to = ret};
    *ret = (struct qs_document){.evals = 1};
    if (is_other(form))
        ret->metrics[ret->metric_count++] =
            (struct qs_document_metric){.name = qs_asprintf("%s_%s_micro", form->metric, form->other),
                                        .unit = qs_asprintf("1e-6 %s", form->other),
                                        .higher_is_better = form->higher_is_better};
    qs_problems_init(&problems);
    const char *body = skip_am(form, text, len, &problems);
    ret->body_at = body ? (size_t)(body - text) : 0;
    const char *source = ret->body_at > 0 ? "benchmarkData.json" : qs_form_source(form);
    qs_reader_begin(&r, source, text + ret->body_at, len - ret->body_at, &problems);
    bool ok = body && qs_reader_check_text(&r) && read_any(&b, err);
    if (!ok) {
        say(&problems, source, err);
        qs_document_done(ret);
    }
    qs_problems_done(&problems);
    return ok;
}

void qs_document_done(struct qs_document *d)
{
    for (size_t m = 0; m < d->metric_count; m++) {
        free(d->metrics[m].name);
        free(d->metrics[m].unit);
    }
    free(d->durations_ns);
    free(d->values);
    free(d->off);
    *d = (struct qs_document){0};
}
