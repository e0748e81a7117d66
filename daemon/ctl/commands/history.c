#include <stdlib.h>
#include <string.h>

#include "ctl/computed.h"
#include "ctl/layout/history.h"
#include "ctl/offline.h"
#include "ctl/query.h"
#include "ctl/result.h"
#include "ctl/series.h"

enum { ROWS_USUAL = 12 };

static const struct qs_opt options[] = {
    {.name = "device", .values = "NAME", .help = "Only series of this device.", .heading = "Which series"},
    {.name = "arm", .values = "NAME", .help = "Only series of arms with this name."},
    {.name = "metric", .values = "NAME", .help = "The metric (time)."},
    {.name = "since",
     .values = "WHEN",
     .help = "Only sessions from then on: 2026-11-01, 2026-11-01T05:30 (UTC), or 12h, 30d, 2w ago."},
    {.name = "until",
     .values = "WHEN",
     .help = "Only sessions up to then; a date means the end of that day."},
    {.name = "build",
     .values = "TEXT",
     .help = "Only sessions whose build has this in its label, and only series that have such a session."},
    {.name = "csv", .help = "Print the points as CSV.", .heading = "Form"},
    {.name = "all", .help = "Show all points, not just the last 12."},
    QS_TIME_UNIT_OPTION,
    {.name = "margin",
     .values = "P",
     .kind = QS_OPT_RATIO,
     .max = 10000000,
     .help = "The smallest change that matters (2%).",
     .heading = "Changes"},
    {.name = "window",
     .values = "N",
     .kind = QS_OPT_WHOLE,
     .min = 2,
     .max = 10000,
     .help = "Points that are searched at a time (50)."},
    {.name = "p-max", .values = "P", .help = "A change needs a p below this (0.001)."},
    QS_OFFLINE_OPTIONS,
    {0}};

static const char *const of_store[] = {"device", "arm", "metric", "since", "until", "build", "csv", "all"};
static const char *const of_files[] = {"format", "better", "resolution", "seed", "resamples"};

static int fail_at(struct qs_ctl *ctl, size_t arg, const char *what, const char *advice)
{
    QS_BUF(problem);
    qs_args_fail(ctl->args, &problem, arg, 0, advice, "%s", what);
    qs_ctl_print(ctl->err, &problem);
    return QS_EXIT_USAGE;
}

/* The first of the options that was given, or NULL. */
static const char *given(const struct qs_ctl *ctl, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (qs_args_has(ctl->args, names[i]))
            return names[i];
    return NULL;
}

static void print_document(struct qs_ctl *ctl, const struct qs_buf *text)
{
    struct qs_layout layout = qs_result_layout(ctl);
    json_auto_t *doc = json_loadb(text->data, text->len, 0, NULL);
    QS_BUF(out);
    if (qs_args_has(ctl->args, "csv"))
        qs_layout_history_csv(doc, &out);
    else
        qs_layout_history(&layout, doc, qs_args_has(ctl->args, "all") ? SIZE_MAX : ROWS_USUAL, &out);
    qs_ctl_print(ctl->out, ctl->json ? text : &out);
}

static int show_one(struct qs_ctl *ctl, struct qs_http *http, const json_t *series, const char *query)
{
    int code = QS_EXIT_OK;
    QS_BUF(path);
    QS_BUF(text);
    qs_buf_fmt(&path, "/api/v1/history/%.64s?metric=", qs_json_get_text(series, "id", ""));
    qs_http_escape(&path, qs_args_text(ctl->args, "metric", "time"));
    qs_query_add(&path, "build", qs_args_text(ctl->args, "build", NULL));
    qs_query_add(&path, "window", qs_args_text(ctl->args, "window", NULL));
    qs_query_add(&path, "p_max", qs_args_text(ctl->args, "p-max", NULL));
    if (qs_args_has(ctl->args, "margin"))
        qs_buf_fmt(&path, "&margin_ratio=%.6f", (double)qs_args_number(ctl->args, "margin", 0) / 1e6);
    qs_buf_str(&path, query);
    const struct qs_computation what = {.path = path.data};
    if (qs_computed_text(ctl, http, &what, &text, &code))
        print_document(ctl, &text);
    return code;
}

static int show_list(struct qs_ctl *ctl, const json_t *doc)
{
    struct qs_layout layout = qs_result_layout(ctl);
    QS_BUF(out);
    if (ctl->json) {
        QS_FREED char *text = json_dumps(doc, JSON_COMPACT);
        qs_buf_fmt(&out, "%s\n", text);
    } else {
        qs_layout_series(&layout, doc, &out);
    }
    qs_ctl_print(ctl->out, &out);
    return QS_EXIT_OK;
}

static int show(struct qs_ctl *ctl, struct qs_http *http, const char *word, const char *query)
{
    int code = QS_EXIT_OK;
    json_auto_t *doc = qs_series_find(ctl, http, word, query, &code);
    const json_t *series = json_object_get(doc, "series");
    if (doc != NULL && json_array_size(series) == 1 && (word != NULL || qs_args_has(ctl->args, "csv")))
        code = show_one(ctl, http, json_array_get(series, 0), query);
    else if (doc != NULL && qs_args_has(ctl->args, "csv"))
        code = fail_at(ctl, ctl->args->argc, "--csv shows one series, and no single series has this name",
                       "`quiesce history` lists them; choose one by its id, --device or --arm");
    else if (doc != NULL)
        code = show_list(ctl, doc);
    return code;
}

static int run_store(struct qs_ctl *ctl)
{
    int code = QS_EXIT_OK;
    const char *word = ctl->args->word_count > 0 ? ctl->args->argv[ctl->args->word[0]] : NULL;
    struct qs_http *http = NULL;
    struct qs_buf query; /* of the list and of a page alike */
    struct qs_err err = QS_ERR_INIT;
    qs_buf_init(&query);
    if (qs_args_has(ctl->args, "level"))
        qs_buf_fmt(&query, "&level=%.6f", (double)qs_args_number(ctl->args, "level", 0) / 1e6);
    if (qs_query_times(ctl->args, &query, &err))
        http = qs_api_reach_reading(ctl, &code);
    else
        code = qs_api_fail(ctl, &err);
    if (http != NULL)
        code = show(ctl, http, word, query.data);
    qs_http_free(http);
    qs_buf_done(&query);
    return code;
}

static int run(struct qs_ctl *ctl)
{
    const char *word = ctl->args->word_count > 0 ? ctl->args->argv[ctl->args->word[0]] : NULL;
    bool files = word != NULL && (strcmp(word, "-") == 0 || qs_offline_is_file(word));
    const char *wrong = files ? given(ctl, of_store, sizeof(of_store) / sizeof(of_store[0]))
                              : given(ctl, of_files, sizeof(of_files) / sizeof(of_files[0]));
    if (wrong != NULL)
        return fail_at(ctl, ctl->args->argc,
                       files ? "these are files, and an option is for stored series"
                             : "an option is for files, and this is a stored series",
                       wrong);
    if (!files && ctl->args->word_count > 1)
        return fail_at(ctl, ctl->args->word[1], "one series at a time", "quiesce history lists them");
    return files ? qs_offline_run(ctl, "/api/v1/analyze:history") : run_store(ctl);
}

const struct qs_command qs_command_history = {
    .name = "history",
    .summary = "Show how results changed over time, from the database or from a file",
    .usage = "[OPTIONS] [SERIES]\n[OPTIONS] FILE...",
    .about = "A series is one point and one arm on one device. Without SERIES all are listed; SERIES is part "
             "of a benchmark's name or the beginning of an id. Each session is one point: the median of the "
             "medians of its runs. Steps and drifts are searched for where the environment (kernel, agent, "
             "governors, conditions, command) was the same; where it changed the series is split, and the "
             "page says what changed. In a CSV file each numeric column is a series in the order of its "
             "rows, and columns such as date and commit name the points; where a series has several runs, a "
             "point is the median of a run.",
    .options = options,
    .examples = "quiesce history\nquiesce history blur --device pixel6 --since 30d\nquiesce history 0f166fe1 "
                "--csv > blur.csv\n"
                "quiesce history blur --metric max_rss_bytes --json | jq '.segments[].changes'\n"
                "quiesce history nightly.csv\nquiesce history --json nightly.csv | jq '.results[].labelled'",
    .least_words = 0,
    .most_words = 64,
    .run = run};
