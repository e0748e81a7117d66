#include "tree.h"

#include <fnmatch.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "config/document/load.h"

struct entry {
    char *path, *target, *value; /* target: of a link, where it leads */
    unsigned mode;
};
struct tree {
    struct entry *at;
    size_t count;
};

/* dir/../x/./y without its dots. */
static char *resolve(const char *link, const char *target)
{
    QS_BUF(out);
    qs_buf_add(&out, link, (size_t)(strrchr(link, '/') - link));
    for (const char *at = target; *at != '\0';) {
        size_t n = strcspn(at, "/");
        if (n == 2 && memcmp(at, "..", 2) == 0) {
            out.len = (size_t)(strrchr(out.data, '/') - out.data);
            out.data[out.len] = '\0';
        } else {
            qs_buf_char(&out, '/');
            qs_buf_add(&out, at, n);
        }
        at += n + (at[n] == '/');
    }
    return qs_buf_take(&out);
}

static char *unescape(const char *text)
{
    QS_BUF(out);
    for (; *text != '\0'; text++) {
        bool escaped = text[0] == '\\' && (text[1] == 'n' || text[1] == 't');
        qs_buf_char(&out, escaped ? (text[1] == 'n' ? '\n' : '\t') : *text);
        text += escaped;
    }
    if (out.len == 0 || out.data[out.len - 1] != '\n')
        qs_buf_char(&out, '\n');
    return qs_buf_take(&out);
}

static void read_tree(const char *path, struct tree *tree)
{
    size_t len = 0;
    struct qs_err err = QS_ERR_INIT;
    QS_FREED char *bytes = qs_load_text(path, &len, &err);
    assert_non_null(bytes);
    QS_FREED char *text = qs_strndup(bytes, len);
    for (char *line = text, *next; *line != '\0'; line = next) {
        next = line + strcspn(line, "\n");
        if (*next != '\0')
            *next++ = '\0';
        if (*line == '#' || strncmp(line, "/sys/", 5) != 0)
            continue;
        char *columns[5] = {line};
        for (size_t i = 1; i < 5; i++) {
            columns[i] = strchr(columns[i - 1], '\t');
            assert_non_null(columns[i]);
            *columns[i]++ = '\0';
        }
        bool link = strcmp(columns[1], "link") == 0;
        tree->at = qs_grow(tree->at, tree->count, sizeof *tree->at);
        tree->at[tree->count++] = (struct entry){.path = qs_strdup(columns[0]),
                                                 .target = link ? resolve(columns[0], columns[2]) : NULL,
                                                 .value = link ? NULL : unescape(columns[3]),
                                                 .mode = (unsigned)strtoul(columns[1], NULL, 8)};
    }
}

static void tell(const struct entry *e, const char *path, const struct qs_strings *patterns, bool root,
                 struct qs_survey *ret)
{
    unsigned write = root ? 0222 : 0002;
    unsigned access = QS_BOARD_READABLE | ((e->mode & write) != 0 ? QS_BOARD_WRITABLE : 0);
    for (size_t i = 0; i < patterns->count; i++)
        if (fnmatch(patterns->at[i], path, FNM_PATHNAME) == 0)
            qs_survey_add(ret, path, access, QS_READING_OK, 0, e->value, strlen(e->value));
}

void tree_survey(const char *path, const struct qs_strings *patterns, bool root, struct qs_survey *ret)
{
    struct tree tree = {0};
    read_tree(path, &tree);
    for (size_t i = 0; i < tree.count; i++) {
        const struct entry *e = &tree.at[i];
        if (e->target == NULL)
            tell(e, e->path + 5, patterns, root, ret);
        for (size_t k = 0; k < tree.count && e->target != NULL; k++) {
            size_t n = strlen(e->target);
            if (tree.at[k].target != NULL || strncmp(tree.at[k].path, e->target, n) != 0 ||
                tree.at[k].path[n] != '/')
                continue;
            QS_FREED char *seen = qs_asprintf("%s%s", e->path + 5, tree.at[k].path + n);
            tell(&tree.at[k], seen, patterns, root, ret);
        }
    }
    for (size_t i = 0; i < tree.count; i++) {
        free(tree.at[i].path);
        free(tree.at[i].target);
        free(tree.at[i].value);
    }
    free(tree.at);
}

void tree_profiles(struct qs_profiles *ret, bool all)
{
    struct qs_err err = QS_ERR_INIT;
    if (!qs_profiles_init(ret, &err))
        fail_msg("%s", err.text);
    if (all)
        return;
    struct qs_profiles generic = {0};
    struct qs_problems problems = {0};
    struct qs_doc *doc = NULL;
    assert_string_equal(qs_profile_texts[0].name, "generic.yaml");
    assert_true(qs_doc_read("generic", qs_profile_texts[0].text, strlen(qs_profile_texts[0].text), false,
                            &doc, &problems));
    assert_true(qs_profiles_add(&generic, doc, false, &problems));
    qs_doc_free(doc);
    qs_problems_done(&problems);
    qs_profiles_done(ret);
    *ret = generic;
}

struct qs_board *tree_board_by(const struct qs_profiles *profiles, const char *folder, const char *name,
                               bool root)
{
    QS_SCOPED(qs_strings_done) struct qs_strings patterns = {0};
    QS_SCOPED(qs_survey_done) struct qs_survey survey = {0};
    QS_FREED char *path = qs_asprintf("%s/%s.tree.tsv", folder, name);
    qs_board_survey_patterns(profiles, &patterns);
    tree_survey(path, &patterns, root, &survey);
    struct qs_board *board = qs_board_new(profiles, &survey, NULL);
    qs_board_drop_commands(board); /* a tree has files only */
    return board;
}

struct qs_board *tree_board(const char *folder, const char *name, bool root)
{
    QS_SCOPED(qs_profiles_done) struct qs_profiles profiles = {0};
    tree_profiles(&profiles, true);
    return tree_board_by(&profiles, folder, name, root);
}
