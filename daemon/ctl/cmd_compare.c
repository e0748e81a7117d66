#include <inttypes.h>

#include "ctl/result.h"

static const struct qs_opt options[] = {
    {.name = "markdown", .help = "Print a Markdown table.", .heading = "Form"},
    {.name = "csv", .help = "Print every iteration as CSV."},
    {.name = "time-unit",
     .letter = 'u',
     .values = "UNIT",
     .kind = QS_OPT_WORD,
     .words = qs_unit_words,
     .help = "Show times in ns, us, ms or s."},
    {.name = "sort",
     .values = "HOW",
     .kind = QS_OPT_WORD,
     .words = qs_sort_words,
     .help = "The order of arms in the table: command (as given) or median."},
    {.name = "show-output", .help = "Show the output that was captured."},
    {0}};

/* Whatever the form, the exit code is the verdict's. */
static int print_export(struct qs_ctl *ctl, struct qs_http *http, int64_t job, const char *format)
{
    int code = QS_EXIT_OK;
    char path[96];
    struct qs_buf text;
    qs_buf_init(&text);
    snprintf(path, sizeof(path), "/api/v1/jobs/%" PRId64 "/export?format=%s", job, format);
    if (qs_api_text(ctl, http, path, &text, &code)) {
        qs_ctl_print(ctl->out, &text);
        snprintf(path, sizeof(path), "/api/v1/jobs/%" PRId64 "/compare", job);
        json_t *doc = qs_api_get(ctl, http, path, &code);
        if (doc != NULL && qs_layout_has_regression(doc))
            code = QS_EXIT_REGRESSION;
        json_decref(doc);
    }
    qs_buf_done(&text);
    return code;
}

static int run(struct qs_ctl *ctl)
{
    int code = QS_EXIT_OK;
    int64_t job = 0;
    json_t *doc = NULL;
    if (!qs_api_job_id(ctl, 0, &job))
        return QS_EXIT_USAGE;
    struct qs_http *http = qs_api_reach_own(ctl, &code);
    if (http == NULL)
        return code;
    if (qs_args_has(ctl->args, "markdown"))
        code = print_export(ctl, http, job, "markdown");
    else if (qs_args_has(ctl->args, "csv"))
        code = print_export(ctl, http, job, "csv");
    else if (qs_result_print(ctl, http, job, &doc, &code) && qs_layout_has_regression(doc))
        code = QS_EXIT_REGRESSION;
    json_decref(doc);
    qs_http_free(http);
    return code;
}

const struct qs_command qs_command_compare = {
    .name = "compare",
    .summary = "Show a job's comparison; exit code 5 where an arm regressed",
    .usage = "[OPTIONS] JOB",
    .options = options,
    .examples = "quiesce compare 7\nquiesce compare 7 --markdown >> NOTES.md\nquiesce compare 7 --json",
    .least_words = 1,
    .most_words = 1,
    .run = run};
