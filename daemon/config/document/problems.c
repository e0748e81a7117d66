#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "config/document/doc.h"

enum { QUOTE_BEFORE = 60, QUOTE_CHARS = 96 };

void qs_problems_init(struct qs_problems *p)
{
    *p = (struct qs_problems){0};
}

static void problem_done(struct qs_problem *p)
{
    free(p->path);
    free(p->what);
    free(p->suggestion);
    free(p->quote);
}

void qs_problems_done(struct qs_problems *p)
{
    for (size_t i = 0; i < p->count; i++)
        problem_done(&p->at[i]);
    free(p->at);
    qs_problems_init(p);
}

static size_t char_bytes(const char *s)
{
    size_t n = 1;
    while (((unsigned char)s[n] & 0xc0) == 0x80)
        n++;
    return n;
}

static unsigned count_chars(const char *s)
{
    unsigned n = 0;
    for (; *s != '\0'; s += char_bytes(s))
        n++;
    return n;
}

static const char *find_line(const char *source, unsigned line)
{
    for (unsigned i = 1; i < line; i++) {
        source = strchr(source, '\n');
        if (source == NULL)
            return NULL;
        source++;
    }
    return source;
}

/* The line around the column, as it may be shown on a terminal; tabs become one space so that the caret stays
 * under its place. */
static void quote_line(struct qs_problem *p, const char *source)
{
    const char *at = find_line(source, p->line);
    if (at == NULL || p->column == 0)
        return;
    unsigned skip = p->column - 1 > QUOTE_BEFORE ? p->column - 1 - QUOTE_BEFORE : 0;
    for (unsigned i = 0; i < skip && *at != '\0' && *at != '\n'; i++)
        at += char_bytes(at);
    QS_BUF(out);
    qs_buf_str(&out, skip > 0 ? "…" : "");
    for (unsigned i = skip; i < skip + QUOTE_CHARS && *at != '\0' && *at != '\n' && *at != '\r'; i++) {
        if (i + 1 == p->column)
            p->caret = count_chars(out.data);
        size_t n = char_bytes(at);
        qs_text_escape(&out, *at == '\t' ? " " : at, *at == '\t' ? 1 : n);
        at += n;
        if (i + 1 < p->column)
            p->caret = count_chars(out.data);
    }
    if (*at != '\0' && *at != '\n' && *at != '\r')
        qs_buf_str(&out, "…");
    p->quote = qs_buf_take(&out);
}

/* Keeps the list in order of place; places that are not known go last. */
static void insert(struct qs_problems *list, struct qs_problem *p)
{
    list->at = qs_grow(list->at, list->count, sizeof(*list->at));
    size_t i = list->count;
    for (; i > 0; i--) {
        const struct qs_problem *before = &list->at[i - 1];
        bool later = before->line > p->line || (before->line == p->line && before->column > p->column);
        if (p->line == 0 || (before->line != 0 && !later))
            break;
        list->at[i] = list->at[i - 1];
    }
    list->at[i] = *p;
    list->count++;
}

static void add(struct qs_problems *list, const struct qs_doc *doc, struct qs_problem *p, const char *path,
                const char *suggestion, const char *fmt, va_list ap)
{
    if (list->count >= QS_PROBLEMS_MAX) {
        list->more++;
        return;
    }
    QS_BUF(what);
    qs_buf_vfmt(&what, fmt, ap);
    p->what = qs_buf_take(&what);
    p->path = qs_strdup(path != NULL ? path : "");
    p->suggestion = qs_strdup(suggestion);
    if (doc != NULL && p->line > 0)
        quote_line(p, doc->source);
    insert(list, p);
}

void qs_problems_add(struct qs_problems *p, const struct qs_doc *doc, const struct qs_node *at,
                     const char *path, const char *suggestion, const char *fmt, ...)
{
    struct qs_problem problem = {0};
    if (at != NULL) {
        problem.line = at->line;
        problem.column = at->column;
    }
    va_list ap;
    va_start(ap, fmt);
    add(p, doc, &problem, path, suggestion, fmt, ap);
    va_end(ap);
}

void qs_problems_add_at(struct qs_problems *p, const struct qs_doc *doc, unsigned line, unsigned column,
                        const char *path, const char *suggestion, const char *fmt, ...)
{
    struct qs_problem problem = {.line = line, .column = column};
    va_list ap;
    va_start(ap, fmt);
    add(p, doc, &problem, path, suggestion, fmt, ap);
    va_end(ap);
}

static void print_escaped(struct qs_buf *out, const char *s)
{
    qs_text_escape(out, s, strlen(s));
}

static void print_one(struct qs_buf *out, const struct qs_problem *p, const char *file)
{
    print_escaped(out, file);
    if (p->line > 0)
        qs_buf_fmt(out, ":%u:%u", p->line, p->column);
    qs_buf_str(out, ": ");
    if (p->path[0] != '\0') {
        print_escaped(out, p->path);
        qs_buf_str(out, ": ");
    }
    print_escaped(out, p->what);
    qs_buf_char(out, '\n');
    if (p->quote != NULL) {
        qs_buf_fmt(out, "%5u | %s\n", p->line, p->quote);
        qs_buf_fmt(out, "      | %*s^\n", (int)p->caret, "");
    }
    if (p->suggestion != NULL) {
        qs_buf_str(out, "        ");
        print_escaped(out, p->suggestion);
        qs_buf_char(out, '\n');
    }
}

void qs_problems_text(const struct qs_problems *p, const char *file, struct qs_buf *out)
{
    for (size_t i = 0; i < p->count; i++)
        print_one(out, &p->at[i], file);
    if (p->more > 0) {
        print_escaped(out, file);
        qs_buf_fmt(out, ": %zu more problem%s like these\n", p->more, p->more == 1 ? "" : "s");
    }
}
