#include <inttypes.h>
#include <string.h>

#include "base/text.h"
#include "ctl/computed.h"
#include "ctl/query.h"
#include "ctl/result.h"

static const struct qs_opt options[] = {
    {.name = "spec", .help = "Print the job as it was submitted.", .heading = "Options"},
    {.name = "artifact",
     .values = "NAME",
     .help =
         "Print the content of one artifact of a run: stdout, stderr, kernel-log, or a file by its path."},
    QS_TIME_UNIT_OPTION,
    QS_VIEW_OPTIONS,
    {.name = "metric",
     .values = "NAME",
     .help = "Show this metric in full (one that a program declared, or max_rss_bytes, user_time_us, ...) "
             "instead of "
             "the duration.",
     .heading = "Metrics"},
    {0}};

static void print_spec(struct qs_ctl *ctl, const json_t *doc)
{
    const json_t *spec = json_object_get(doc, "spec");
    const char *text = json_is_string(spec) ? json_string_value(spec) : qs_json_get_text(spec, "text", NULL);
    if (text != NULL)
        fputs(text, ctl->out);
    else
        json_dumpf(spec, ctl->out, JSON_INDENT(2) | JSON_ENCODE_ANY);
    fputc('\n', ctl->out);
}

/* A run is named by 32 hexadecimal digits, a job by a number; `run` and `job` may stand before. */
static bool find_path(struct qs_ctl *ctl, char path[96], bool *ret_run)
{
    const struct qs_args *args = ctl->args;
    size_t last = args->word_count - 1;
    const char *kind = last > 0 ? args->argv[args->word[0]] : "", *word = args->argv[args->word[last]];
    uint8_t uid[16];
    int64_t job = 0;
    bool is_run = qs_unhex(word, uid, sizeof(uid));
    *ret_run = is_run;
    if (last > 0 && strcmp(kind, is_run ? "run" : "job") != 0) {
        QS_BUF(problem);
        qs_args_fail(args, &problem, args->word[0], 0, "quiesce show run UID, or quiesce show job 7",
                     "this names no %s", strcmp(kind, "run") == 0 ? "run" : "job");
        qs_ctl_print(ctl->err, &problem);
        return false;
    }
    if (is_run) {
        snprintf(path, 96, "/api/v1/runs/%.32s", word);
        return true;
    }
    if (!qs_api_job_id(ctl, last, &job))
        return false;
    snprintf(path, 96, "/api/v1/jobs/%" PRId64, job);
    return true;
}

/* A job has its file, a run its artifacts: the other's option is a mistake. */
static bool check_option(struct qs_ctl *ctl, bool is_run)
{
    const struct qs_opt_use *use = qs_args_last(ctl->args, is_run ? "spec" : "artifact");
    if (use == NULL)
        return true;
    QS_BUF(problem);
    qs_args_fail(ctl->args, &problem, use->arg, 0,
                 is_run ? "quiesce show JOB --spec" : "quiesce show RUN --artifact NAME", "--%s is of a %s",
                 use->opt->name, is_run ? "job" : "run");
    qs_ctl_print(ctl->err, &problem);
    return false;
}

/* The content of one artifact, as it is. */
static void print_artifact(struct qs_ctl *ctl, struct qs_http *http, const json_t *run, int *code)
{
    const char *name = qs_args_text(ctl->args, "artifact", "");
    size_t i;
    const json_t *one, *found = NULL;
    struct qs_err err = QS_ERR_INIT;
    json_array_foreach(json_object_get(run, "artifacts"), i, one)
    {
        if (found == NULL && strcmp(qs_json_get_text(one, "name", ""), name) == 0)
            found = one;
    }
    const char *sum = qs_json_get_text(found, "sha256", "");
    if (sum[0] == '\0') {
        qs_fail(&err, QS_E_NOT_FOUND, "the run has no content named `%s`%s%s", name,
                found != NULL ? ": " : "", qs_json_get_text(found, "why", ""));
        *code = qs_api_fail(ctl, &err);
        return;
    }
    char path[128];
    QS_BUF(content);
    snprintf(path, sizeof path, "/api/v1/files/%.64s", sum);
    if (qs_api_bytes(ctl, http, path, &content, code))
        qs_ctl_print(ctl->out, &content);
}

/* What was measured is shown when its job has ended, so that nobody stops it for what it says; a job that
 * this version cannot read has no arms here, and no report. */
static bool has_ended(struct qs_ctl *ctl, struct qs_http *http, const json_t *doc, bool is_run)
{
    char path[64];
    int code = 0;
    json_t *job = json_incref((json_t *)doc);
    if (is_run) {
        json_decref(job);
        snprintf(path, sizeof(path), "/api/v1/jobs/%" PRId64, qs_json_get_int(doc, "job", 0));
        job = qs_api_get(ctl, http, path, &code);
    }
    const char *state = qs_json_get_text(job, "state", "running");
    bool ended = strcmp(state, "queued") != 0 && strcmp(state, "running") != 0 &&
                 json_is_array(json_object_get(job, "arms"));
    json_decref(job);
    return ended;
}

/* The report's text; empty where there is none yet. */
static bool fetch_report(struct qs_ctl *ctl, struct qs_http *http, const char *path, struct qs_buf *report,
                         int *code)
{
    QS_BUF(address);
    qs_buf_fmt(&address, "%s/report?full=%s", path, ctl->json ? "true" : "false");
    (void)qs_query_views(&address, ctl->args);
    qs_query_list(&address, ctl->args, "metric", "metric");
    const struct qs_computation what = {.path = address.data};
    return qs_computed_text(ctl, http, &what, report, code);
}

/* The document with its report as one more member. */
static void print_json(struct qs_ctl *ctl, struct qs_buf *text, const struct qs_buf *report)
{
    while (text->len > 0 && text->data[text->len - 1] != '}')
        text->data[--text->len] = '\0';
    if (text->len > 1 && report->len > 0) {
        text->data[--text->len] = '\0';
        qs_buf_fmt(text, ",\"report\":%.*s}", (int)strcspn(report->data, "\n"), report->data);
    }
    qs_buf_char(text, '\n');
    qs_ctl_print(ctl->out, text);
}

static void print_page(struct qs_ctl *ctl, const json_t *doc, const struct qs_buf *report, bool is_run)
{
    struct qs_layout layout = qs_result_layout(ctl);
    const char *metric = qs_args_text(ctl->args, "metric", "duration_ns");
    layout.metric = strcmp(metric, "duration_ns") != 0 ? metric : NULL;
    json_auto_t *parsed = report->len > 0 ? json_loadb(report->data, report->len, 0, NULL) : NULL;
    QS_BUF(out);
    qs_ctl_notice(ctl, doc);
    (is_run ? qs_layout_run : qs_layout_job)(&layout, doc, &out);
    if (parsed != NULL)
        qs_layout_report(&layout, parsed, &out);
    qs_ctl_print(ctl->out, &out);
}

static void print_all(struct qs_ctl *ctl, struct qs_http *http, const char *path, bool is_run, int *code)
{
    QS_BUF(text);
    QS_BUF(report);
    json_auto_t *doc =
        qs_api_text(ctl, http, path, &text, code) ? qs_api_parse(ctl, path, &text, code) : NULL;
    if (doc != NULL) {
        if (qs_args_has(ctl->args, "spec")) {
            print_spec(ctl, doc);
        } else if (qs_args_has(ctl->args, "artifact")) {
            print_artifact(ctl, http, doc, code);
        } else if (!has_ended(ctl, http, doc, is_run) || fetch_report(ctl, http, path, &report, code)) {
            if (ctl->json)
                print_json(ctl, &text, &report);
            else
                print_page(ctl, doc, &report, is_run);
        }
    }
}

static int run(struct qs_ctl *ctl)
{
    int code = QS_EXIT_OK;
    char path[96];
    bool is_run = false;
    if (!find_path(ctl, path, &is_run) || !check_option(ctl, is_run))
        return QS_EXIT_USAGE;
    QS_SCOPED(qs_http_free_at) struct qs_http *http = qs_api_reach_reading(ctl, &code);
    if (http != NULL)
        print_all(ctl, http, path, is_run, &code);
    return code;
}

const struct qs_command qs_command_show = {
    .name = "show",
    .summary = "Show one job or one run, and the report on what it measured",
    .usage = "[OPTIONS] [job] JOB\n[OPTIONS] [run] RUN",
    .about = "A job is named by its number, a run by its 32 hexadecimal digits. When the job has ended the "
             "report follows: for each arm the interval of its median, the quantiles, the floor where the "
             "frequency stayed constant, a histogram, the values over time, what correlates with them, and "
             "what is wrong with the sample; finally, which level of the experiment the variance comes from. "
             "--json has every statistic (schema/report.md).",
    .options = options,
    .examples = "quiesce show job 7\nquiesce show 7 --discard-first 10 --fenced\nquiesce show 7 --metric "
                "max_rss_bytes\nquiesce show 7 --spec > job.json\n"
                "quiesce show run 0123456789abcdef0123456789abcdef\n"
                "quiesce show 0123456789abcdef0123456789abcdef --artifact kernel-log",
    .least_words = 1,
    .most_words = 2,
    .run = run};
