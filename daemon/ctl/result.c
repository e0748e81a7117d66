#include "ctl/result.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "ctl/query.h"
#include "ctl/text_file.h"

/* `compare` has an --output too, which is a file. */
static bool shows_output(const struct qs_args *args)
{
    bool run = args->command != NULL && strcmp(args->command, "run") == 0;
    return qs_args_has(args, "show-output") ||
           (run && strcmp(qs_args_text(args, "output", ""), "inherit") == 0);
}

struct qs_layout qs_result_layout(const struct qs_ctl *ctl)
{
    const char *sort = qs_args_text(ctl->args, "sort", "auto");
    bool by_command = strcmp(sort, "auto") == 0 || strcmp(sort, "command") == 0;
    struct timespec now = {.tv_sec = 0};
    (void)clock_gettime(CLOCK_REALTIME, &now);
    return (struct qs_layout){.face = ctl->face,
                              .now_wall_ns = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec,
                              .unit = qs_layout_unit_of(qs_args_text(ctl->args, "time-unit", "auto")),
                              .sort = by_command ? QS_SORT_COMMAND : QS_SORT_MEDIAN,
                              .show_output = shows_output(ctl->args),
                              .home = getenv("HOME")};
}

/* The uid of an arm's last run at a point, or NULL; borrowed from `runs`. */
static const char *last_run(const json_t *runs, int64_t arm, int64_t point)
{
    const char *uid = NULL;
    size_t i;
    const json_t *run;
    json_array_foreach(runs, i, run)
    {
        if (qs_json_get_int(run, "arm", -1) == arm && qs_json_get_int(run, "point", -1) == point)
            uid = qs_json_get_text(run, "uid", uid);
    }
    return uid;
}

/* Puts what a run's last window captured into its arm. */
static void add_output(struct qs_ctl *ctl, struct qs_http *http, const char *uid, json_t *arm)
{
    char path[96];
    int code = 0;
    snprintf(path, sizeof(path), "/api/v1/runs/%.32s", uid);
    json_auto_t *run = qs_api_get(ctl, http, path, &code);
    const json_t *windows = json_object_get(run, "windows");
    size_t count = json_array_size(windows);
    const char *text =
        count > 0 ? qs_json_get_text(json_array_get(windows, count - 1), "output", NULL) : NULL;
    if (text != NULL)
        json_object_set_new(arm, "output", json_string(text));
}

/* The comparison has no output: it is read from the runs. */
static void add_outputs(struct qs_ctl *ctl, struct qs_http *http, int64_t job, json_t *doc)
{
    char path[96];
    int code = 0;
    size_t r, a;
    json_t *result, *arm;
    snprintf(path, sizeof(path), "/api/v1/jobs/%" PRId64 "/runs?limit=1000", job);
    json_auto_t *runs = qs_api_get(ctl, http, path, &code);
    json_t *results = json_object_get(doc, "results");
    json_array_foreach(results, r, result)
    {
        json_t *arms = json_object_get(result, "arms");
        json_array_foreach(arms, a, arm)
        {
            const char *uid = last_run(json_object_get(runs, "runs"), qs_json_get_int(arm, "arm", -1),
                                       qs_json_get_int(result, "point", -1));
            if (uid != NULL)
                add_output(ctl, http, uid, arm);
        }
    }
}

void qs_result_path(const struct qs_args *args, int64_t job, struct qs_buf *ret)
{
    qs_buf_clear(ret);
    qs_buf_fmt(ret, "/api/v1/jobs/%" PRId64 "/compare", job);
    qs_query_list(ret, args, "rule", "rule");
    if (qs_args_has(args, "markdown"))
        qs_query_add(ret, "tables", "markdown");
    qs_query_list(ret, args, "metric", "metric");
    (void)qs_query_views(ret, args);
}

bool qs_result_print(struct qs_ctl *ctl, struct qs_http *http, int64_t job, bool told, json_t **ret_doc,
                     int *ret_code)
{
    QS_BUF(path);
    qs_result_path(ctl->args, job, &path);
    QS_BUF(text);
    QS_BUF(out);
    json_t *doc = NULL;
    if (qs_api_text(ctl, http, path.data, &text, ret_code))
        doc = qs_api_parse(ctl, path.data, &text, ret_code);
    bool ok = doc != NULL;
    if (ok) {
        struct qs_layout layout = qs_result_layout(ctl);
        layout.told = told;
        if (!ctl->json && layout.show_output)
            add_outputs(ctl, http, job, doc);
        if (!ctl->json)
            qs_layout_compare(&layout, doc, &out);
        qs_ctl_print(ctl->out, ctl->json ? &text : &out);
    }
    if (ret_doc != NULL)
        *ret_doc = doc;
    else
        json_decref(doc);
    return ok;
}

static bool export_one(struct qs_ctl *ctl, struct qs_http *http, int64_t job, const char *format,
                       const char *file, int *ret_code)
{
    char path[96];
    snprintf(path, sizeof(path), "/api/v1/jobs/%" PRId64 "/export?format=%s", job, format);
    QS_BUF(text);
    bool ok = qs_api_text(ctl, http, path, &text, ret_code);
    bool to_out = ok && strcmp(file, "-") == 0;
    if (to_out) {
        qs_ctl_print(ctl->out, &text);
    } else if (ok) {
        struct qs_err err = QS_ERR_INIT;
        ok = qs_write_text(file, text.data, text.len, &err);
        if (!ok)
            *ret_code = qs_api_fail(ctl, &err);
    }
    return ok;
}

bool qs_result_export(struct qs_ctl *ctl, struct qs_http *http, int64_t job, int *ret_code)
{
    static const char *const formats[] = {"json", "csv", "markdown", "asciidoc", "orgmode"};
    bool ok = true;
    for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
        char option[24];
        snprintf(option, sizeof(option), "export-%s", formats[i]);
        const char *file = qs_args_text(ctl->args, option, NULL);
        if (file != NULL)
            ok = export_one(ctl, http, job, formats[i], file, ret_code) && ok;
    }
    return ok;
}

void qs_result_kept(struct qs_ctl *ctl, struct qs_http *http, int64_t job)
{
    char path[64];
    int code = 0;
    if (ctl->json)
        return;
    snprintf(path, sizeof(path), "/api/v1/jobs/%" PRId64, job);
    json_auto_t *doc = qs_api_get(ctl, http, path, &code);
    if (doc == NULL)
        return;
    int64_t runs = qs_json_get_int(doc, "runs", 0);
    int64_t iterations = qs_json_get_int(doc, "iterations", 0),
            tainted = qs_json_get_int(doc, "runs_tainted", 0);
    QS_BUF(text);
    qs_buf_str(&text, "  kept: ");
    qs_layout_count(&text, runs, "run", "runs");
    qs_buf_str(&text, " with ");
    qs_layout_count(&text, iterations, "iteration", "iterations");
    if (tainted > 0)
        qs_buf_fmt(&text, ", %" PRId64 " of the runs tainted", tainted);
    fprintf(ctl->err, "%s\n", text.data);
    if (iterations > 0)
        fprintf(ctl->err, "  look at them: quiesce compare %" PRId64 "\n", job);
}
