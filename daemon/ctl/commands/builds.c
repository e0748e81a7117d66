#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "ctl/query.h"
#include "ctl/result.h"

static const struct qs_opt options[] = {
    {.name = "device", .values = "NAME", .help = "Only what this device measured.", .heading = "Which"},
    {.name = "benchmark", .values = "TEXT", .help = "Only benchmarks with this in their name."},
    {.name = "since",
     .values = "WHEN",
     .help = "Only sessions from then on: 2026-11-01, 2026-11-01T05:30 (UTC), or 12h, 30d, 2w ago."},
    {.name = "until",
     .values = "WHEN",
     .help = "Only sessions up to then; a date means the end of that day."},
    {.name = "limit",
     .values = "N",
     .kind = QS_OPT_WHOLE,
     .min = 1,
     .max = 1000,
     .help = "At most N builds and N nights, newest first (20)."},
    {0}};

/* `lists`: the answer without filters. The label that is near the word, with its advice. */
static void add_near(const json_t *lists, const char *word, struct qs_buf *advice)
{
    const json_t *builds = json_object_get(lists, "builds"), *build;
    const char **labels = qs_calloc(json_array_size(builds) + 1, sizeof(*labels));
    size_t i;
    json_array_foreach(builds, i, build) labels[i] = qs_json_get_text(build, "build", "");
    const char *near = word != NULL ? qs_nearest(word, labels, json_array_size(builds)) : NULL;
    if (near != NULL)
        qs_buf_fmt(advice, "did you mean `%s`? ", near);
    qs_buf_str(advice, "`quiesce builds` lists all");
    free((void *)labels);
}

static bool is_empty(const json_t *doc)
{
    return json_array_size(json_object_get(doc, "builds")) == 0 &&
           json_array_size(json_object_get(doc, "nights")) == 0;
}

/* Where there is something, but not of what was named. */
static bool tell_nothing(struct qs_ctl *ctl, struct qs_http *http, const char *word, int *ret_code)
{
    struct qs_err err = QS_ERR_INIT;
    json_auto_t *all = qs_api_get(ctl, http, "/api/v1/builds?limit=1000", ret_code);
    bool told = all != NULL && !is_empty(all);
    QS_BUF(advice);
    if (told) {
        if (word != NULL)
            qs_fail(&err, QS_E_NOT_FOUND, "no measured build has `%.60s` in its label%s", word,
                    ctl->args->use_count > 0 ? " and matches all options" : "");
        else
            qs_fail(&err, QS_E_NOT_FOUND, "nothing that was measured matches all options");
        add_near(all, word, &advice);
        *ret_code = qs_api_fail_advised(ctl, &err, advice.data);
    }
    return told;
}

static void show(struct qs_ctl *ctl, struct qs_http *http, const char *word, const char *path, int *ret_code)
{
    QS_BUF(text);
    QS_BUF(out);
    bool ok = qs_api_text(ctl, http, path, &text, ret_code);
    json_auto_t *doc = ok ? json_loadb(text.data, text.len, 0, NULL) : NULL;
    bool filtered = word != NULL || strchr(path, '&') != NULL;
    if (ok && !(filtered && is_empty(doc) && tell_nothing(ctl, http, word, ret_code)) &&
        *ret_code == QS_EXIT_OK) {
        struct qs_layout layout = qs_result_layout(ctl);
        qs_layout_builds(&layout, doc, &out);
        qs_ctl_print(ctl->out, ctl->json ? &text : &out);
    }
}

static int run(struct qs_ctl *ctl)
{
    int code = QS_EXIT_OK;
    const struct qs_args *args = ctl->args;
    const char *word = args->word_count > 0 ? args->argv[args->word[0]] : NULL;
    struct qs_http *http = NULL;
    struct qs_err err = QS_ERR_INIT;
    QS_BUF(path);
    qs_buf_fmt(&path, "/api/v1/builds?limit=%" PRId64, qs_args_number(args, "limit", 20));
    qs_query_add(&path, "text", word);
    qs_query_add(&path, "device", qs_args_text(args, "device", NULL));
    qs_query_add(&path, "benchmark", qs_args_text(args, "benchmark", NULL));
    if (qs_query_times(args, &path, &err))
        http = qs_api_reach_reading(ctl, &code);
    else
        code = qs_api_fail(ctl, &err);
    if (http != NULL)
        show(ctl, http, word, path.data, &code);
    qs_http_free(http);
    return code;
}

const struct qs_command qs_command_builds = {
    .name = "builds",
    .summary = "List the builds and nights that compare can name",
    .usage = "[OPTIONS] [TEXT]",
    .about = "Builds are those that arms of ended jobs measured, by label, in the order in which they came; "
             "TEXT is part of a label. A night is a day in the daemon's time zone, from midnight to "
             "midnight; a session belongs to the day on which it began. Sides of `quiesce compare` are "
             "written build:LABEL, build:FROM..TO and night:DATE.",
    .options = options,
    .examples = "quiesce builds\nquiesce builds v1. --device pixel6 --since 30d\n"
                "quiesce builds --json | jq -r '.builds[].build'\n"
                "quiesce compare build:v1.4 build:v1.5\nquiesce compare night:2026-11-20 night:2026-11-21",
    .most_words = 1,
    .run = run};
