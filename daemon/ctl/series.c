#include "ctl/series.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "ctl/query.h"

enum { ID_LEAST = 4 };

/* What names series: the word is the first, the others are options of the same name. */
static const struct name {
    const char *key, *option, *before, *after; /* "no series BEFORE `VALUE` AFTER" */
    const char *field; /* of a series in the list, for what is near; NULL: its document */
} names[] = {{"text", NULL, "has", " in its name", "benchmark"},
             {"device", "device", "is of device", "", "device"},
             {"arm", "arm", "is of arm", "", "arm"},
             {"metric", "metric", "has the metric", "", NULL},
             {"build", "build", "has a session with", " in the label of its build", NULL}};
enum { NAMES = sizeof(names) / sizeof(names[0]) };

static const char *value_of(const struct qs_ctl *ctl, size_t i, const char *word)
{
    return names[i].option == NULL ? word : qs_args_text(ctl->args, names[i].option, NULL);
}

/* With the names of a bit set. */
static json_t *fetch(struct qs_ctl *ctl, struct qs_http *http, const char *word, unsigned which,
                     const char *query, int *ret_code)
{
    QS_BUF(path);
    qs_buf_fmt(&path, "/api/v1/history?limit=1000%s", query);
    for (size_t i = 0; i < NAMES; i++)
        if (which & 1u << i)
            qs_query_add(&path, names[i].key, value_of(ctl, i, word));
    return qs_api_get(ctl, http, path.data, ret_code);
}

static size_t count_of(const json_t *doc)
{
    return json_array_size(json_object_get(doc, "series"));
}

/* --- what is near a name that nothing has --- */

struct words {
    char **at; /* owned */
    size_t count;
};

static void add_word(struct words *words, const char *text, size_t n)
{
    char *copy = strndup(text, n);
    if (n == 0 || copy == NULL) {
        free(copy);
        return;
    }
    words->at = qs_grow(words->at, words->count, sizeof(*words->at));
    words->at[words->count++] = copy;
}

/* The whole text and its parts: a part of a name is enough to find it. */
static void add_parts(struct words *words, const char *text)
{
    static const char between[] = " /_-.:=,";
    add_word(words, text, strlen(text));
    for (const char *p = text + strspn(text, between); *p != '\0'; p += strspn(p, between)) {
        size_t n = strcspn(p, between);
        if (n < strlen(text))
            add_word(words, p, n);
        p += n;
    }
}

static void words_done(struct words *words)
{
    for (size_t i = 0; i < words->count; i++)
        free(words->at[i]);
    free(words->at);
}

/* Of the first series of a list, whose document names its metrics and builds. */
static void add_from_document(struct qs_ctl *ctl, struct qs_http *http, const json_t *list,
                              struct words *words)
{
    char path[128];
    size_t i;
    int code = QS_EXIT_OK;
    const json_t *metric, *point;
    snprintf(path, sizeof(path), "/api/v1/history/%.64s",
             qs_json_get_text(json_array_get(json_object_get(list, "series"), 0), "id", ""));
    json_auto_t *doc = qs_api_get(ctl, http, path, &code);
    json_array_foreach(json_object_get(doc, "metrics"), i, metric)
        add_word(words, json_string_value(metric), json_string_length(metric));
    json_array_foreach(json_object_get(doc, "points"), i, point)
        add_parts(words, qs_json_get_text(point, "build", ""));
}

/* `list`: all series. */
static void add_near(struct qs_ctl *ctl, struct qs_http *http, const json_t *list, size_t name,
                     const char *value, struct qs_buf *advice)
{
    struct words words = {0};
    size_t i;
    const json_t *series;
    if (names[name].field == NULL)
        add_from_document(ctl, http, list, &words);
    else
        json_array_foreach(json_object_get(list, "series"), i, series)
            add_parts(&words, qs_json_get_text(series, names[name].field, ""));
    const char *near = qs_nearest(value, (const char *const *)words.at, words.count);
    if (near != NULL)
        qs_buf_fmt(advice, "did you mean `%s`? ", near);
    words_done(&words);
}

static void add_given(const struct qs_ctl *ctl, const char *word, unsigned which, struct qs_buf *text)
{
    for (size_t i = 0; i < NAMES; i++) {
        const char *value = value_of(ctl, i, word);
        if (!(which & 1u << i) || value == NULL)
            continue;
        qs_buf_str(text, text->len > 0 ? ", " : "");
        if (names[i].option != NULL)
            qs_buf_fmt(text, "--%s ", names[i].option);
        qs_buf_fmt(text, "`%s`", value);
    }
}

/* The first name that no series has by itself, or NAMES: only together nothing has them. */
static size_t find_wrong(struct qs_ctl *ctl, struct qs_http *http, const char *word, unsigned which,
                         int *ret_code)
{
    for (size_t i = 0; i < NAMES && *ret_code == QS_EXIT_OK; i++) {
        if (!(which & 1u << i) || value_of(ctl, i, word) == NULL)
            continue;
        json_auto_t *alone = fetch(ctl, http, word, 1u << i, "", ret_code);
        bool none = alone != NULL && count_of(alone) == 0;
        if (none)
            return i;
    }
    return NAMES;
}

static bool has_time(const char *query)
{
    return strstr(query, "&since=") != NULL || strstr(query, "&until=") != NULL;
}

/* Whether series have all names, and only the time of the query leaves none. */
static bool is_time(struct qs_ctl *ctl, struct qs_http *http, const char *word, unsigned which,
                    const char *query, int *ret_code)
{
    json_auto_t *ever = has_time(query) ? fetch(ctl, http, word, which, "", ret_code) : NULL;
    return count_of(ever) > 0;
}

struct told {
    struct qs_err err;
    struct qs_buf advice;
};

static void tell(struct qs_ctl *ctl, struct qs_http *http, const char *word, unsigned which,
                 const char *query, const json_t *all, struct told *told, int *ret_code)
{
    size_t wrong = find_wrong(ctl, http, word, which, ret_code);
    QS_BUF(given);
    add_given(ctl, word, wrong < NAMES ? 1u << wrong : which, &given);
    if (count_of(all) == 0) {
        qs_fail(&told->err, QS_E_NOT_FOUND, "no series is stored yet, so none for %s", given.data);
        qs_buf_str(&told->advice, "every job that ended adds to one: quiesce run -- COMMAND");
    } else if (wrong < NAMES) {
        const char *value = value_of(ctl, wrong, word);
        qs_fail(&told->err, QS_E_NOT_FOUND, "no series %s `%s`%s", names[wrong].before, value,
                names[wrong].after);
        add_near(ctl, http, all, wrong, value, &told->advice);
        qs_buf_str(&told->advice, "`quiesce history` lists all series");
    } else if (is_time(ctl, http, word, which, query, ret_code)) {
        qs_fail(&told->err, QS_E_NOT_FOUND, "no series%s%s has a session in this time",
                given.len > 0 ? " of " : "", given.data);
        qs_buf_str(&told->advice, "without --since and --until all sessions are shown");
    } else {
        qs_fail(&told->err, QS_E_NOT_FOUND, "no series has all of %s", given.data);
        qs_buf_str(&told->advice, "each of them exists: `quiesce history` with one of them lists its series");
    }
}

static void explain(struct qs_ctl *ctl, struct qs_http *http, const char *word, unsigned which,
                    const char *query, int *ret_code)
{
    struct told told = {.err = QS_ERR_INIT};
    json_auto_t *all = fetch(ctl, http, NULL, 0, "", ret_code);
    qs_buf_init(&told.advice);
    if (all != NULL)
        tell(ctl, http, word, which, query, all, &told, ret_code);
    if (*ret_code == QS_EXIT_OK)
        *ret_code = qs_api_fail_advised(ctl, &told.err, told.advice.data);
    qs_buf_done(&told.advice);
}

/* --- finding --- */

static bool is_id(const char *word)
{
    size_t n = strlen(word);
    return n >= ID_LEAST && n <= 64 && strspn(word, "0123456789abcdef") == n;
}

/* Leaves only the series whose id begins with the word. */
static void keep_ids(json_t *doc, const char *word)
{
    json_t *series = json_object_get(doc, "series");
    for (size_t i = json_array_size(series); i-- > 0;)
        if (strncmp(qs_json_get_text(json_array_get(series, i), "id", ""), word, strlen(word)) != 0)
            json_array_remove(series, i);
}

json_t *qs_series_find(struct qs_ctl *ctl, struct qs_http *http, const char *word, const char *query,
                       int *ret_code)
{
    const unsigned all = (1u << NAMES) - 1, options = all & ~1u;
    unsigned which = 0;
    json_t *doc = NULL;
    if (word != NULL && is_id(word)) {
        doc = fetch(ctl, http, word, options, query, ret_code);
        keep_ids(doc, word);
    }
    if (*ret_code == QS_EXIT_OK && count_of(doc) == 0) {
        json_decref(doc);
        doc = fetch(ctl, http, word, all, query, ret_code);
    }
    for (size_t i = 0; i < NAMES; i++)
        which |= value_of(ctl, i, word) != NULL ? 1u << i : 0;
    if (doc == NULL || count_of(doc) > 0 || (which == 0 && !has_time(query)))
        return doc;
    json_decref(doc);
    explain(ctl, http, word, which, query, ret_code);
    return NULL;
}
