#include <inttypes.h>
#include <string.h>

#include "base/text.h"
#include "ctl/result.h"

static const struct qs_opt options[] = {
    {.name = "spec", .help = "Print the job file as it was submitted.", .heading = "Options"},
    {.name = "artifact",
     .values = "NAME",
     .help = "Print the content of what a run has left: output, kernel-log, or a file by its path."},
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

/* A run is named by 32 hexadecimal digits, a job by a number. */
static bool find_path(struct qs_ctl *ctl, char path[96], bool *ret_run)
{
    const char *word = ctl->args->argv[ctl->args->word[0]];
    uint8_t uid[16];
    int64_t job = 0;
    *ret_run = qs_unhex(word, uid, sizeof(uid));
    if (*ret_run) {
        snprintf(path, 96, "/api/v1/runs/%.32s", word);
        return true;
    }
    if (!qs_api_job_id(ctl, 0, &job))
        return false;
    snprintf(path, 96, "/api/v1/jobs/%" PRId64, job);
    return true;
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
    struct qs_buf content;
    qs_buf_init(&content);
    snprintf(path, sizeof path, "/api/v1/files/%.64s", sum);
    if (qs_api_bytes(ctl, http, path, &content, code))
        qs_ctl_print(ctl->out, &content);
    qs_buf_done(&content);
}

static int run(struct qs_ctl *ctl)
{
    int code = QS_EXIT_OK;
    char path[96];
    bool is_run = false;
    struct qs_buf text, out;
    if (!find_path(ctl, path, &is_run))
        return QS_EXIT_USAGE;
    struct qs_http *http = qs_api_reach_own(ctl, &code);
    qs_buf_init(&text);
    qs_buf_init(&out);
    if (http != NULL && qs_api_text(ctl, http, path, &text, &code)) {
        struct qs_layout layout = qs_result_layout(ctl);
        json_t *doc = json_loadb(text.data, text.len, 0, NULL);
        if (qs_args_has(ctl->args, "spec") && !is_run) {
            print_spec(ctl, doc);
        } else if (qs_args_has(ctl->args, "artifact") && is_run) {
            print_artifact(ctl, http, doc, &code);
        } else {
            (is_run ? qs_layout_run : qs_layout_job)(&layout, doc, &out);
            qs_ctl_print(ctl->out, ctl->json ? &text : &out);
        }
        json_decref(doc);
    }
    qs_buf_done(&text);
    qs_buf_done(&out);
    qs_http_free(http);
    return code;
}

const struct qs_command qs_command_show = {
    .name = "show",
    .summary = "Show one job or one run",
    .usage = "[OPTIONS] JOB\n[OPTIONS] RUN",
    .about = "A job is named by its number, a run by its 32 hexadecimal digits.",
    .options = options,
    .examples =
        "quiesce show 7\nquiesce show 7 --spec > job.json\nquiesce show 0123456789abcdef0123456789abcdef\n"
        "quiesce show 0123456789abcdef0123456789abcdef --artifact kernel-log",
    .least_words = 1,
    .most_words = 1,
    .run = run};
