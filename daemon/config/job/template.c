#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "config/job/read_params.h"

bool qs_job_is_param_name(const char *name, size_t n)
{
    if (n == 0 || n > 100 || (!isalpha((unsigned char)name[0]) && name[0] != '_'))
        return false;
    for (size_t i = 1; i < n; i++)
        if (!isalnum((unsigned char)name[i]) && strchr("_-.", name[i]) == NULL)
            return false;
    return true;
}

/* `{{` is a brace, and so is every `{` that no name and `}` follow: awk's '{print $1}' and xargs' {} stay
 * what they are. */
const char *qs_template_next(const char *at, const char **name, size_t *n)
{
    for (const char *p = strchr(at, '{'); p != NULL; p = strchr(p, '{')) {
        if (p[1] == '{') {
            p += 2;
            continue;
        }
        size_t len = strcspn(p + 1, "}{");
        if (p[1 + len] == '}' && qs_job_is_param_name(p + 1, len)) {
            *name = p + 1;
            *n = len;
            return p;
        }
        p++;
    }
    return NULL;
}

/* An arm's parameters stand before the point's. */
static const char *value_of(const struct qs_params *arm, const struct qs_params *point, const char *name,
                            size_t n)
{
    const struct qs_params *both[] = {arm, point};
    for (size_t k = 0; k < 2; k++)
        for (size_t i = 0; i < both[k]->count; i++)
            if (strlen(both[k]->at[i].name) == n && memcmp(both[k]->at[i].name, name, n) == 0)
                return both[k]->at[i].value;
    return NULL;
}

/* Literal text of a template: `{{` becomes one brace. */
static void add_literal(struct qs_buf *out, const char *s, size_t n)
{
    const char *end = s + n, *brace;
    while ((brace = memchr(s, '{', (size_t)(end - s))) != NULL) {
        qs_buf_add(out, s, (size_t)(brace + 1 - s));
        s = brace + 1 < end && brace[1] == '{' ? brace + 2 : brace + 1;
    }
    qs_buf_add(out, s, (size_t)(end - s));
}

static char *fill(const struct qs_params *arm, const struct qs_params *point, const char *text)
{
    QS_BUF(out);
    const char *name = NULL;
    size_t n = 0;
    for (const char *p = qs_template_next(text, &name, &n); p != NULL;
         p = qs_template_next(text, &name, &n)) {
        const char *value = value_of(arm, point, name, n);
        add_literal(&out, text, (size_t)(p - text));
        if (value != NULL)
            qs_buf_str(&out, value);
        text = name + n + 1;
    }
    add_literal(&out, text, strlen(text));
    return qs_buf_take(&out);
}

void qs_job_fill(const struct qs_job_spec *spec, size_t arm, size_t point, const struct qs_strings *tmpl,
                 struct qs_strings *ret)
{
    ret->at = qs_calloc(tmpl->count + 1, sizeof(*ret->at));
    ret->count = tmpl->count;
    for (size_t i = 0; i < tmpl->count; i++)
        ret->at[i] = fill(&spec->arms[arm].params, &spec->points[point].params, tmpl->at[i]);
}

char *qs_job_fill_text(const struct qs_job_spec *spec, size_t arm, size_t point, const char *tmpl)
{
    return fill(&spec->arms[arm].params, &spec->points[point].params, tmpl);
}

void qs_job_argv(const struct qs_job_spec *spec, size_t arm, size_t point, struct qs_strings *ret_argv)
{
    const struct qs_strings *own = &spec->arms[arm].argv;
    const struct qs_job_benchmark *b = &spec->benchmarks[spec->points[point].benchmark];
    qs_job_fill(spec, arm, point, own->count > 0 ? own : &b->argv, ret_argv);
}

void qs_strings_add(struct qs_strings *s, char *owned)
{
    s->at = qs_grow(s->at, s->count, sizeof *s->at);
    s->at[s->count++] = owned;
}

void qs_strings_done(struct qs_strings *s)
{
    for (size_t i = 0; i < s->count; i++)
        free(s->at[i]);
    free(s->at);
    *s = (struct qs_strings){0};
}
