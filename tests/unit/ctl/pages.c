#include "pages.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cm.h"

#include "base/mem.h"
#include "ctl/client/api.h"
#include "ctl/layout/history.h"
#include "ctl/layout/reproduce.h"

char *read_file(const char *path)
{
    struct qs_buf text;
    char chunk[4096];
    FILE *f = fopen(path, "rb");
    if (f == NULL)
        return NULL;
    qs_buf_init(&text);
    for (size_t n = 0; (n = fread(chunk, 1, sizeof(chunk), f)) > 0;)
        qs_buf_add(&text, chunk, n);
    fclose(f);
    return qs_buf_take(&text);
}

static void write_file(const char *path, const struct qs_buf *text)
{
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    fwrite(text->data, 1, text->len, f);
    fclose(f);
}

void check_golden(const char *folder, const char *name, const struct qs_buf *got)
{
    char path[4096];
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    if (getenv("QS_GOLDEN_WRITE") != NULL)
        write_file(path, got);
    char *want = read_file(path);
    assert_non_null(want);
    assert_string_equal(got->data, want);
    free(want);
}

struct lines split_lines(char *text)
{
    struct lines l = {.text = text};
    for (char *s = text; s != NULL && *s != '\0';) {
        char *end = strchr(s, '\n');
        l.at = qs_grow(l.at, l.count, sizeof(*l.at));
        l.at[l.count++] = s;
        if (end != NULL)
            *end++ = '\0';
        s = end;
    }
    return l;
}

void lines_done(struct lines *l)
{
    free(l->text);
    free(l->at);
}

/* Lines that went: many of them are counted. */
static void add_gone(const struct lines *a, size_t from, size_t end, struct qs_buf *out)
{
    enum { SHOWN = 3 };
    if (end - from > SHOWN)
        qs_buf_fmt(out, "- (%zu lines)\n", end - from);
    else
        for (size_t i = from; i < end; i++)
            qs_buf_fmt(out, "- %s\n", a->at[i]);
}

/* In order: the longest common lines stay. */
void add_difference(const struct lines *a, const struct lines *b, struct qs_buf *out)
{
    size_t width = b->count + 1, i = 0, k = 0, from = 0;
    unsigned *common = qs_calloc((a->count + 1) * width, sizeof(*common)); /* of the ends from i and k on */
    for (size_t x = a->count; x-- > 0;)
        for (size_t y = b->count; y-- > 0;) {
            unsigned down = common[(x + 1) * width + y], right = common[x * width + y + 1];
            common[x * width + y] = strcmp(a->at[x], b->at[y]) == 0 ? 1 + common[(x + 1) * width + y + 1]
                                    : down > right                  ? down
                                                                    : right;
        }
    while (i < a->count || k < b->count) {
        bool same = i < a->count && k < b->count && strcmp(a->at[i], b->at[k]) == 0;
        bool gone = !same && (k == b->count ||
                              (i < a->count && common[(i + 1) * width + k] >= common[i * width + k + 1]));
        if (gone) {
            i++;
            continue;
        }
        add_gone(a, from, i, out);
        if (!same)
            qs_buf_fmt(out, "+ %s\n", b->at[k]);
        i += same ? 1 : 0;
        k++;
        from = i;
    }
    add_gone(a, from, i, out);
    free(common);
}

static bool has(const json_t *doc, const char *key)
{
    return json_object_get(doc, key) != NULL;
}

void lay_out_any(const struct qs_layout *layout, const json_t *doc, struct qs_buf *out)
{
    const char *kind = qs_json_get_text(doc, "kind", "");
    if (strcmp(kind, "job") == 0 || strcmp(kind, "run") == 0)
        qs_layout_report(layout, doc, out);
    else if (strcmp(kind, "reproduction") == 0)
        qs_layout_reproduction(layout, doc, out);
    else if (has(doc, "series"))
        qs_layout_series(layout, doc, out);
    else if (strcmp(kind, "series") == 0)
        qs_layout_history(layout, doc, 12, out);
    else if (strcmp(kind, "sides") == 0)
        qs_layout_sides(layout, doc, out);
    else if (kind[0] != '\0')
        qs_layout_analysis(layout, doc, out);
    else if (has(doc, "jobs"))
        qs_layout_jobs(layout, doc, out);
    else if (has(doc, "devices"))
        qs_layout_devices(layout, doc, out);
    else if (has(doc, "builds"))
        qs_layout_builds(layout, doc, out);
    else if (has(doc, "uid"))
        qs_layout_run(layout, doc, out);
    else if (has(doc, "spec"))
        qs_layout_job(layout, doc, out);
    else
        qs_layout_compare(layout, doc, out);
}
