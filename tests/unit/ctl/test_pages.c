/* What a member of a document does to its page: tests/golden/ctl/pages-*.txt. A line `$ DOCUMENT FACE
 * EDIT...` is a case. Below it stand the lines of the page of the document as it is that are gone (-; of more
 * than three their number), and those that are new (+).
 *
 * FACE is a width with letters: a ASCII, c colour, s sorted by median, t told why it failed, q without
 * output, n u m x in ns, us, ms, s; or junit, csv. EDIT is a path of keys and indices, separated by dots,
 * with `=` and JSON, or with `!`: it is not there; ` | ` is between two. Without a letter and an edit the
 * whole page is there. With QS_GOLDEN_WRITE=1 the cases stay and what is below them is written anew. */
#include "cm.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "ctl/client/api.h"
#include "ctl/export.h"
#include "ctl/layout/history.h"
#include "pages.h"

static const char *folder; /* argv[1] */

static json_t *child(json_t *node, const char *key)
{
    return json_is_array(node) ? json_array_get(node, strtoul(key, NULL, 10)) : json_object_get(node, key);
}

static void set(json_t *node, const char *key, json_t *value)
{
    size_t at = strtoul(key, NULL, 10);
    int bad = !json_is_array(node)          ? json_object_set_new(node, key, value)
              : at == json_array_size(node) ? json_array_append_new(node, value)
                                            : json_array_set_new(node, at, value);
    if (bad != 0)
        fail_msg("no place for %s", key);
}

/* path=JSON, or path! */
static void edit(json_t *doc, const char *text)
{
    size_t n = strcspn(text, "=!");
    char *path = qs_strndup(text, n), *key = path, *dot;
    while ((dot = strchr(key, '.')) != NULL) {
        *dot = '\0';
        doc = child(doc, key);
        key = dot + 1;
    }
    if (doc == NULL || text[n] == '\0')
        fail_msg("there is no %s", text);
    if (text[n] == '=') {
        json_t *value = json_loads(text + n + 1, JSON_DECODE_ANY, NULL);
        if (value == NULL)
            fail_msg("%s: no JSON", text);
        set(doc, key, value);
    } else {
        assert_int_equal(json_is_array(doc) ? json_array_remove(doc, strtoul(key, NULL, 10))
                                            : json_object_del(doc, key),
                         0);
    }
    free(path);
}

static struct qs_layout layout_of(const char *face)
{
    char *end;
    struct qs_layout layout = {
        .face = {.width = strtoul(face, &end, 10), .utf8 = true}, .home = "/home/USER", .show_output = true};
    for (; *end != '\0'; end++) {
        static const char units[] = "?numx";
        const char *unit = strchr(units + 1, *end);
        layout.face.utf8 = layout.face.utf8 && *end != 'a';
        layout.face.color = layout.face.color || *end == 'c';
        layout.show_output = layout.show_output && *end != 'q';
        layout.told = layout.told || *end == 't';
        layout.sort = *end == 's' ? QS_SORT_MEDIAN : layout.sort;
        layout.unit = unit != NULL ? (enum qs_unit)(unit - units) : layout.unit;
    }
    return layout;
}

/* The page as lines; what steers a terminal can be read. */
static struct lines page_of(const json_t *doc, const char *face)
{
    struct qs_buf out, shown;
    qs_buf_init(&out);
    qs_buf_init(&shown);
    if (strcmp(face, "junit") == 0) {
        qs_export_junit(doc, &out);
    } else if (strcmp(face, "csv") == 0) {
        qs_layout_history_csv(doc, &out);
    } else {
        const struct qs_layout layout = layout_of(face);
        lay_out_any(&layout, doc, &out);
    }
    for (size_t i = 0; i < out.len; i++)
        if (out.data[i] == '\033')
            qs_buf_str(&shown, "\\e");
        else
            qs_buf_char(&shown, out.data[i]);
    qs_buf_done(&out);
    return split_lines(qs_buf_take(&shown));
}

static json_t *load(const char *name)
{
    char path[4096];
    snprintf(path, sizeof(path), "%s/%s.json", folder, name);
    json_t *doc = json_load_file(path, 0, NULL);
    if (doc == NULL)
        fail_msg("no document %s", path);
    return doc;
}

/* A page in another face is compared with the usual one of its width. */
static void add_case(const char *line, struct qs_buf *out)
{
    char *words = qs_strdup(line + 2), *rest = strchr(words, ' '), usual[16], *face = rest + 1;
    assert_non_null(rest);
    *rest = '\0';
    rest = strchr(face, ' ');
    if (rest != NULL)
        *rest++ = '\0';
    json_t *doc = load(words);
    snprintf(usual, sizeof(usual), "%.*s", (int)strspn(face, "0123456789"), face);
    bool whole = rest == NULL && (usual[0] == '\0' || strcmp(usual, face) == 0);
    struct lines before = {0}, after;
    if (!whole)
        before = page_of(doc, usual[0] != '\0' ? usual : face);
    for (char *one = rest, *next; one != NULL; one = next) {
        next = strstr(one, " | ");
        if (next != NULL) {
            *next = '\0';
            next += 3;
        }
        edit(doc, one);
    }
    after = page_of(doc, face);
    qs_buf_fmt(out, "%s\n", line);
    add_difference(&before, &after, out);
    lines_done(&before);
    lines_done(&after);
    json_decref(doc);
    free(words);
}

static void check_pages(const char *name)
{
    char path[4096];
    struct qs_buf got;
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    struct lines cases = split_lines(read_file(path));
    assert_true(cases.count > 0);
    qs_buf_init(&got);
    for (size_t i = 0; i < cases.count; i++)
        if (cases.at[i][0] == '$')
            add_case(cases.at[i], &got);
    check_golden(folder, name, &got);
    qs_buf_done(&got);
    lines_done(&cases);
}

static void jobs_comparisons_are_shown_as_they_should_be(void **state)
{
    (void)state;
    check_pages("pages-jobs.txt");
}

static void files_and_series_are_shown_as_they_should_be(void **state)
{
    (void)state;
    check_pages("pages-series.txt");
}

static void sides_reports_and_lists_are_shown_as_they_should_be(void **state)
{
    (void)state;
    check_pages("pages-others.txt");
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(jobs_comparisons_are_shown_as_they_should_be),
                                       cmocka_unit_test(files_and_series_are_shown_as_they_should_be),
                                       cmocka_unit_test(sides_reports_and_lists_are_shown_as_they_should_be)};
    if (argc != 2)
        return 2;
    folder = argv[1];
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    return getenv("QS_GOLDEN_WRITE") != NULL ? 1 : failed;
}
