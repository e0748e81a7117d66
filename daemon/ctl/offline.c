#include "ctl/offline.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "ctl/client/api.h"
#include "ctl/compared.h"
#include "ctl/computed.h"
#include "ctl/query.h"
#include "ctl/text_file.h"

enum { FILE_BYTES_MAX = 16 * 1024 * 1024 };

const char *const qs_format_words[] = {"auto", "numbers",   "csv", "google-benchmark", "androidx", "pyperf",
                                       "go",   "hyperfine", NULL};
const char *const qs_better_words[] = {"lower", "higher", NULL};
const char *const qs_per_words[] = {"run", "iteration", NULL};

bool qs_offline_is_file(const char *word)
{
    static const char *const ends[] = {".csv", ".json", ".txt", ".tsv", ".dat"};
    size_t n = strlen(word);
    for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
        size_t k = strlen(ends[i]);
        if (n > k && strcmp(word + n - k, ends[i]) == 0)
            return true;
    }
    return access(word, F_OK) == 0;
}

/* JSON carries text: the first byte that is none is told here, with its place. */
static bool check_utf8(const char *path, const struct qs_buf *text, struct qs_err *err)
{
    size_t line = 1, column = 1;
    for (size_t i = 0; i < text->len;) {
        bool valid = false;
        size_t step = qs_utf8_next(text->data + i, text->len - i, &valid);
        if (!valid || text->data[i] == '\0')
            return qs_fail(err, QS_E_DATA, "%s:%zu:%zu: the byte 0x%02x is not UTF-8 text", path, line,
                           column, (unsigned)(unsigned char)text->data[i]);
        column = text->data[i] == '\n' ? 1 : column + 1;
        line += text->data[i] == '\n';
        i += step;
    }
    return true;
}

static bool add_file(struct qs_ctl *ctl, const char *path, json_t *files, struct qs_err *err)
{
    const char *format = qs_args_text(ctl->args, "format", "auto");
    QS_BUF(text);
    QS_BUF(name);
    qs_text_escape(&name, path, strlen(path));
    bool ok = qs_read_text(path, FILE_BYTES_MAX, &text, err) && check_utf8(path, &text, err);
    if (ok)
        json_array_append_new(files, json_pack("{s:s, s:o, s:s}", "name", name.data, "text",
                                               json_stringn(text.data, text.len), "format", format));
    return ok;
}

/* "judge,skia" of --rule judge --rule skia. */
static void add_rules(const struct qs_args *args, json_t *options)
{
    QS_BUF(list);
    for (size_t i = 0; i < args->use_count; i++)
        if (strcmp(args->use[i].opt->name, "rule") == 0)
            qs_buf_fmt(&list, "%s%s", list.len > 0 ? "," : "", args->use[i].value[0]);
    if (list.len > 0)
        json_object_set_new(options, "rule", json_string(list.data));
}

/* As in the query of a request. */
static void add_views(const struct qs_args *args, json_t *options)
{
    QS_BUF(list);
    if (qs_query_view_list(&list, args))
        json_object_set_new(options, "view", json_string(list.data));
}

static json_t *make_options(const struct qs_ctl *ctl)
{
    const struct qs_args *args = ctl->args;
    json_t *options = json_object();
    if (!ctl->json)
        json_object_set_new(options, "show", json_string("page")); /* the others are for programs */
    if (qs_args_has(args, "markdown"))
        json_object_set_new(options, "tables", json_string("markdown"));
    const char *resolution = qs_args_text(args, "resolution", NULL);
    const char *p_max = qs_args_text(args, "p-max", NULL);
    const char *const words[] = {"better", "per"};
    const char *const ratios[][2] = {{"level", "level"}, {"margin", "margin_ratio"}};
    for (size_t i = 0; i < 2; i++) {
        if (qs_args_has(args, words[i]))
            json_object_set_new(options, words[i], json_string(qs_args_text(args, words[i], "")));
        if (qs_args_has(args, ratios[i][0]))
            json_object_set_new(options, ratios[i][1],
                                json_real((double)qs_args_number(args, ratios[i][0], 0) / 1e6));
    }
    if (qs_args_has(args, "window"))
        json_object_set_new(options, "change_window", json_integer(qs_args_number(args, "window", 50)));
    if (p_max != NULL)
        json_object_set_new(options, "change_p_max", json_real(strtod(p_max, NULL)));
    if (resolution != NULL)
        json_object_set_new(options, "resolution", json_real(strtod(resolution, NULL)));
    add_rules(args, options);
    add_views(args, options);
    if (qs_args_has(args, "seed"))
        json_object_set_new(options, "seed", json_string(qs_args_text(args, "seed", "1")));
    if (qs_args_has(args, "resamples"))
        json_object_set_new(options, "resamples", json_integer(qs_args_number(args, "resamples", 10000)));
    return options;
}

/* The request as text: owned, or NULL with the reason said. */
static char *make_request(struct qs_ctl *ctl, int *ret_code)
{
    struct qs_err err = QS_ERR_INIT;
    json_t *files = json_array();
    bool ok = true;
    for (size_t i = 0; ok && i < ctl->args->word_count; i++)
        ok = add_file(ctl, ctl->args->argv[ctl->args->word[i]], files, &err);
    json_auto_t *request = json_pack("{s:o, s:o}", "files", files, "options", make_options(ctl));
    char *text = ok ? json_dumps(request, JSON_COMPACT) : NULL;
    if (text == NULL)
        *ret_code = qs_api_fail(ctl, &err);
    return text;
}

int qs_offline_run(struct qs_ctl *ctl, const char *route)
{
    int code = QS_EXIT_OK;
    char *text = make_request(ctl, &code);
    QS_SCOPED(qs_http_free_at) struct qs_http *http = text != NULL ? qs_api_reach_reading(ctl, &code) : NULL;
    QS_BUF(document);
    if (http != NULL) {
        const struct qs_computation what = {.path = route, .body = text, .body_bytes = strlen(text)};
        if (qs_computed_text(ctl, http, &what, &document, &code))
            code = qs_compared_show(ctl, &document);
    }
    free(text);
    return code;
}
