/* Values of a profile that no other file has: paths below sysfs, names with placeholders, pairs, ranges. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "config/document/scalar.h"
#include "config/profile/keys.h"
#include "config/profile/profile.h"

enum { PATH_BYTES = 200, NAME_BYTES = 60, PAIRS_MAX = 16, PATHS_MAX = 64, VALUE_BYTES = 200, STARS_MAX = 8 };

/* NULL where it is a path below a root, else why not. */
static const char *wrong_path(const char *path, bool wild)
{
    size_t stars = 0;
    if (path[0] == '\0' || strlen(path) > PATH_BYTES)
        return "has 1 to 200 bytes";
    if (path[0] == '/')
        return "is relative to the root of sysfs: write it without the `/sys/` at its front";
    for (const char *at = path; *at != '\0'; at += strcspn(at, "/"), at += *at == '/' && at[1] != '\0') {
        size_t n = strcspn(at, "/");
        if (n == 0 || (n == 1 && at[0] == '.') || (n == 2 && memcmp(at, "..", 2) == 0))
            return "has no empty part, no `.` and no `..`";
    }
    for (const char *at = path; *at != '\0'; at++) {
        stars += *at == '*';
        if ((unsigned char)*at < 0x20 || *at == 0x7f)
            return "is one line of text";
    }
    if (!wild && strpbrk(path, "*?[") != NULL)
        return "has no wildcard here";
    return stars > STARS_MAX ? "has at most eight wildcards" : NULL;
}

/* "a + b": each of them. */
static char *take_path(struct qs_schema_reader *r, const struct qs_node *node, const char *text, bool wild)
{
    const char *plus = strstr(text, " + ");
    QS_FREED char *first = plus != NULL ? qs_strndup(text, (size_t)(plus - text)) : NULL;
    const char *wrong = first != NULL ? wrong_path(first, wild) : NULL;
    wrong = wrong == NULL ? wrong_path(plus != NULL ? plus + 3 : text, wild) : wrong;
    if (wrong == NULL)
        return qs_strdup(text);
    qs_schema_problem(r, node, NULL, "`%s`: a path %s", qs_show(text).text, wrong);
    return NULL;
}

void qs_profile_read_path(struct qs_schema_reader *r, const struct qs_key *key, const struct qs_node *node,
                          void *at)
{
    const char *text = qs_schema_text(r, node, key->form);
    char *path = text != NULL ? take_path(r, node, text, key->min == 1) : NULL;
    memcpy(at, &path, sizeof path);
}

void qs_profile_read_paths(struct qs_schema_reader *r, const struct qs_key *key, const struct qs_node *node,
                           void *at)
{
    struct qs_strings *list = at;
    if (node->kind == QS_NODE_LIST && (node->count == 0 || node->count > PATHS_MAX)) {
        qs_schema_problem(r, node, NULL, "a list of 1 to %d paths", PATHS_MAX);
        return;
    }
    bool many = node->kind == QS_NODE_LIST;
    list->at = qs_calloc(many ? node->count : 1, sizeof *list->at);
    for (size_t i = 0; i < (many ? node->count : 1); i++) {
        const struct qs_node *item = many ? &node->items[i] : node;
        size_t mark = many ? qs_schema_enter_index(r, i) : r->path.len;
        const char *text = qs_schema_text(r, item, "a path");
        char *path = text != NULL ? take_path(r, item, text, key->min == 1) : NULL;
        if (path != NULL)
            list->at[list->count++] = path;
        qs_schema_leave(r, mark);
    }
}

void qs_profile_read_range(struct qs_schema_reader *r, const struct qs_key *key, const struct qs_node *node,
                           void *at)
{
    struct qs_profile_range range = {.given = true};
    int64_t *const ends[] = {&range.lo_mc, &range.hi_mc};
    struct qs_scalar_why why;
    if (!qs_schema_is(r, node, QS_NODE_LIST, key->form))
        return;
    for (size_t i = 0; i < node->count && i < 2; i++) {
        const char *text = qs_schema_text(r, &node->items[i], "a temperature such as 130C");
        if (text == NULL)
            return;
        if (!qs_scalar_quantity(text, QS_QTY_TEMPERATURE, ends[i], &why)) {
            qs_schema_problem(r, &node->items[i], why.suggestion, "%s", why.text);
            return;
        }
    }
    if (node->count != 2 || range.lo_mc >= range.hi_mc)
        qs_schema_problem(r, node, "such as [-30C, 130C]", "a range is two temperatures, the lower first");
    else
        memcpy(at, &range, sizeof range);
}

/* Braces hold a word that the key's form names. */
static bool placeholders_known(const char *text, const char *form)
{
    for (const char *at = text; (at = strpbrk(at, "{}")) != NULL;) {
        const char *end = *at == '{' ? strchr(at, '}') : NULL;
        if (end == NULL)
            return false;
        QS_FREED char *word = qs_strndup(at, (size_t)(end + 1 - at));
        if (strstr(form, word) == NULL)
            return false;
        at = end + 1;
    }
    return true;
}

void qs_profile_read_name(struct qs_schema_reader *r, const struct qs_key *key, const struct qs_node *node,
                          void *at)
{
    const char *text = qs_schema_text(r, node, key->form);
    char *name = NULL;
    if (text == NULL)
        return;
    if (text[0] == '\0' || strlen(text) > NAME_BYTES)
        qs_schema_problem(r, node, NULL, "a name has 1 to %d bytes", NAME_BYTES);
    else if (!placeholders_known(text, key->form))
        qs_schema_problem(r, node, NULL, "`%s`: expected %s", qs_show(text).text, key->form);
    else
        name = qs_strdup(text);
    memcpy(at, &name, sizeof name);
}

void qs_profile_read_pairs(struct qs_schema_reader *r, const struct qs_key *key, const struct qs_node *node,
                           void *at)
{
    struct qs_profile_pairs *pairs = at;
    bool paths = key->min == 1;
    if (!qs_schema_is(r, node, QS_NODE_MAP, key->form))
        return;
    if (node->count == 0 || node->count > PAIRS_MAX) {
        qs_schema_problem(r, node, NULL, "a map of 1 to %d", PAIRS_MAX);
        return;
    }
    pairs->at = qs_calloc(node->count, sizeof *pairs->at);
    for (size_t i = 0; i < node->count; i++) {
        size_t mark = qs_schema_enter(r, node->keys[i].text);
        const char *pattern = qs_schema_text(r, &node->items[i], "text with wildcards");
        char *name =
            paths ? take_path(r, &node->keys[i], node->keys[i].text, true) : qs_strdup(node->keys[i].text);
        if (pattern != NULL && strlen(pattern) > VALUE_BYTES)
            qs_schema_problem(r, &node->items[i], NULL, "a pattern has at most %d bytes", VALUE_BYTES);
        else if (pattern != NULL && name != NULL)
            pairs->at[pairs->count++] = (struct qs_profile_pair){name, qs_strdup(pattern)};
        if (pairs->count == 0 || pairs->at[pairs->count - 1].key != name)
            free(name);
        qs_schema_leave(r, mark);
    }
}
