/* A request is read, imported and analysed on the pool; the loop only hands the document on. A client that
 * leaves ends the work at the next step of whatever is long. */
#include "api/body.h"
#include "api/handlers.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "api/compare.h"
#include "api/reply.h"
#include "api/steps.h"
#include "base/mem.h"
#include "report/analysis/analysis.h"
#include "report/job/opinion.h"
#include "report/views.h"

enum {
    FILES_MOST = 64,
    NAME_BYTES = 1000,
    RESAMPLES_LEAST = 100,
    RESAMPLES_MOST = 100000,
    WINDOW_MOST = 10000
};

typedef enum qs_status analyze_fn(const struct qs_analysis_file *files, size_t count,
                                  const struct qs_analysis_opts *opts, struct qs_buf *out);

struct analyze {
    analyze_fn *run;
    json_t *body; /* owned */
    struct qs_analysis_opts opts;
    struct qs_analysis_file *files; /* owned; texts borrowed from body */
    struct qs_import *imports;      /* owned, one a file */
    size_t count;
    struct qs_problems problems; /* of the file `bad` */
    const char *bad;             /* its name, or NULL */
    struct qs_tables tables;
    struct qs_buf out;
};

static void done_analyze(void *data)
{
    struct analyze *a = data;
    for (size_t i = 0; i < a->count; i++)
        qs_import_done(&a->imports[i]);
    free(a->imports);
    free(a->files);
    json_decref(a->body);
    qs_problems_done(&a->problems);
    qs_tables_done(&a->tables);
    qs_buf_done(&a->out);
}

/* An option that is a number in a range; missing: unchanged. */
static bool take_number(const json_t *options, const char *key, double least, double most, double *ret,
                        struct qs_err *err)
{
    const json_t *v = json_object_get(options, key);
    if (!v)
        return true;
    if (!json_is_number(v) || !(json_number_value(v) >= least && json_number_value(v) <= most))
        return qs_fail(err, QS_E_USAGE, "options.%s is a number from %g to %g", key, least, most);
    *ret = json_number_value(v);
    return true;
}

/* One of two words; missing: unchanged. */
static bool take_word(const json_t *options, const char *key, const char *const words[2], int *ret,
                      struct qs_err *err)
{
    const json_t *v = json_object_get(options, key);
    for (int i = 0; v && i < 2; i++) {
        if (json_is_string(v) && strcmp(json_string_value(v), words[i]) == 0) {
            *ret = i;
            return true;
        }
    }
    return !v || qs_fail(err, QS_E_USAGE, "options.%s is `%s` or `%s`", key, words[0], words[1]);
}

static bool take_seed(const json_t *options, uint64_t *ret, struct qs_err *err)
{
    const json_t *v = json_object_get(options, "seed");
    const char *text = json_string_value(v);
    char *end = NULL;
    if (!v)
        return true;
    errno = 0;
    if (text && text[0] >= '0' && text[0] <= '9')
        *ret = strtoull(text, &end, 10);
    return (end && *end == '\0' && errno == 0) ||
           qs_fail(err, QS_E_USAGE, "options.seed is text: a whole number from 0 to 2^64-1");
}

static bool take_rules(const json_t *options, unsigned *ret, struct qs_err *err)
{
    const json_t *v = json_object_get(options, "rule");
    if (!v)
        return true;
    return json_is_string(v) ? qs_opinions_parse(json_string_value(v), ret, err)
                             : qs_fail(err, QS_E_USAGE, "options.rule is text: names with commas between");
}

static bool take_views(struct analyze *a, const json_t *options, struct qs_err *err)
{
    const json_t *v = json_object_get(options, "view");
    if (!v)
        return true;
    if (a->run == qs_analysis_history)
        return qs_fail(err, QS_E_USAGE, "a view is for the iterations of runs, and a history has none");
    return json_is_string(v) ? qs_views_parse(json_string_value(v), &a->opts.views, err)
                             : qs_fail(err, QS_E_USAGE, "options.view is text: views with commas between");
}

static bool take_tables(struct analyze *a, const json_t *options, struct qs_err *err)
{
    const json_t *v = json_object_get(options, "tables");
    if (v && a->run != qs_analysis_compare)
        return qs_fail(err, QS_E_USAGE, "options.tables is for a comparison of two files");
    if (v && !json_is_string(v))
        return qs_fail(err, QS_E_USAGE, "options.tables is text: markdown, asciidoc or orgmode");
    if (v && !qs_compare_tables(json_string_value(v), &a->tables, err))
        return false;
    a->opts.tables = v ? &a->tables : NULL;
    return true;
}

static bool take_options(struct analyze *a, struct qs_err *err)
{
    static const char *const known[] = {"level", "margin_ratio", "resolution",    "seed",         "resamples",
                                        "per",   "better",       "change_window", "change_p_max", "rule",
                                        "view",  "show",         "tables"};
    static const char *const per[2] = {"run", "iteration"}, *const better[2] = {"lower", "higher"},
                             *const show[2] = {"all", "page"};
    const json_t *options = json_object_get(a->body, "options");
    double resamples = (double)a->opts.resamples, window = (double)a->opts.change_window;
    int which_per = -1, which_better = -1, which_show = -1;
    if (!options)
        return true;
    if (!json_is_object(options))
        return qs_fail(err, QS_E_USAGE, "`options` is an object");
    if (!qs_body_keys(options, "options", known, sizeof known / sizeof *known, err) ||
        !take_number(options, "level", 0.5, 0.9999, &a->opts.level, err) ||
        !take_number(options, "margin_ratio", 0, 10, &a->opts.margin_ratio, err) ||
        !take_number(options, "resolution", 0, 1e15, &a->opts.resolution, err) ||
        !take_number(options, "change_window", 2, WINDOW_MOST, &window, err) ||
        !take_number(options, "change_p_max", 1e-12, 0.999, &a->opts.change_p_max, err) ||
        !take_number(options, "resamples", RESAMPLES_LEAST, RESAMPLES_MOST, &resamples, err) ||
        !take_rules(options, &a->opts.opinions, err) || !take_views(a, options, err) ||
        !take_tables(a, options, err) || !take_seed(options, &a->opts.seed, err) ||
        !take_word(options, "per", per, &which_per, err) ||
        !take_word(options, "better", better, &which_better, err) ||
        !take_word(options, "show", show, &which_show, err))
        return false;
    a->opts.resamples = (size_t)resamples;
    a->opts.change_window = (size_t)window;
    a->opts.page = which_show == 1;
    a->opts.per = which_per == 1 ? QS_PER_ITERATION : QS_PER_RUN;
    a->opts.direction = which_better == 1   ? QS_DIRECTION_HIGHER
                        : which_better == 0 ? QS_DIRECTION_LOWER
                                            : QS_DIRECTION_UNKNOWN;
    return true;
}

/* False with *err, or with the located problems of a file. */
static bool take_file(struct analyze *a, const json_t *file, struct qs_err *err)
{
    static const char *const known[] = {"name", "text", "format"};
    const json_t *text = json_object_get(file, "text"), *name = json_object_get(file, "name");
    const json_t *format = json_object_get(file, "format");
    enum qs_format kind = QS_FORMAT_AUTO;
    if (!json_is_string(text) || !json_is_string(name) || json_string_length(name) > NAME_BYTES ||
        (format && !json_is_string(format)))
        return qs_fail(err, QS_E_USAGE, "an element of `files` has `name` and `text`, and may have `format`");
    if (!qs_body_keys(file, "a file", known, 3, err))
        return false;
    if (format && !qs_format_find(json_string_value(format), &kind))
        return qs_fail(
            err, QS_E_USAGE,
            "`%.40s` is not a format: auto, numbers, csv, google-benchmark, androidx, pyperf, go or "
            "hyperfine",
            json_string_value(format));
    struct qs_import *import = &a->imports[a->count];
    if (!qs_import_read(json_string_value(name), json_string_value(text), json_string_length(text), kind,
                        import, &a->problems)) {
        a->bad = json_string_value(name);
        return false;
    }
    struct qs_analysis_file *to = &a->files[a->count++];
    *to = (struct qs_analysis_file){
        .name = json_string_value(name), .bytes = json_string_length(text), .import = import};
    return qs_views_of_import(&a->opts.views, import, &to->tally, err);
}

static bool take_body(struct qs_exchange *ex, struct analyze *a, struct qs_err *err)
{
    static const char *const known[] = {"files", "options"};
    a->body = qs_body_json(ex, err);
    if (!a->body)
        return false;
    qs_buf_done(&ex->body); /* it is parsed: two copies are enough */
    const json_t *files = json_object_get(a->body, "files");
    size_t count = json_array_size(files);
    if (!qs_body_keys(a->body, "the request", known, 2, err))
        return false;
    if (!json_is_array(files) || count < 1 || count > FILES_MOST)
        return qs_fail(err, QS_E_USAGE, "`files` is a list of 1 to %d files", FILES_MOST);
    if (a->run == qs_analysis_compare && count != 2)
        return qs_fail(err, QS_E_USAGE, "a comparison needs two files, the baseline first; these are %zu",
                       count);
    a->files = qs_calloc(count, sizeof *a->files);
    a->imports = qs_calloc(count, sizeof *a->imports);
    if (!take_options(a, err))
        return false;
    for (size_t i = 0; i < count; i++)
        if (!take_file(a, json_array_get(files, i), err))
            return false;
    return true;
}

static bool work_analyze(struct qs_exchange *ex, struct qs_err *err)
{
    struct analyze *a = ex->data;
    if (!take_body(ex, a, err))
        return a->bad != NULL;                           /* located problems are told by say_analyze */
    (void)a->run(a->files, a->count, &a->opts, &a->out); /* ended: nobody is there to be answered */
    return true;
}

static void say_analyze(struct qs_exchange *ex)
{
    struct analyze *a = ex->data;
    if (a->bad) {
        qs_reply_problems(ex, QS_E_DATA, &a->problems, a->bad);
        return;
    }
    qs_reply_json(ex, 200, &a->out);
}

/* While it is computed nothing is read from the client: that he leaves is watched for. */
static void start(struct qs_exchange *ex, analyze_fn *run)
{
    struct analyze *a = qs_exchange_data(ex, sizeof *a, done_analyze);
    a->run = run;
    a->opts = qs_analysis_opts_default();
    a->opts.progress = qs_steps_progress(ex);
    qs_problems_init(&a->problems);
    qs_buf_init(&a->out);
    qs_steps_start(ex);
    qs_exchange_work(ex, work_analyze, say_analyze);
}

void qs_handle_analyze(struct qs_exchange *ex)
{
    start(ex, qs_analysis_describe);
}

void qs_handle_analyze_compare(struct qs_exchange *ex)
{
    start(ex, qs_analysis_compare);
}

void qs_handle_analyze_history(struct qs_exchange *ex)
{
    start(ex, qs_analysis_history);
}
