#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "ctl/commands/command.h"
#include "ctl/follow.h"
#include "ctl/text_file.h"
#include "ctl/result.h"
#include "ctl/submit.h"

enum { TEXT_BYTES_MAX = 4 * 1024 * 1024 };

static const struct qs_opt options[] = {
    {.name = "wait",
     .letter = 'w',
     .help = "Follow the job and end with its comparison.",
     .heading = "Options"},
    {.name = "check", .help = "Only check the file; send nothing."},
    {.name = "fail-on",
     .values = "WHAT",
     .kind = QS_OPT_WORD,
     .words = qs_fail_words,
     .help = "With --wait; regression: exit code 5 where an arm regressed."},
    {.name = "key",
     .values = "KEY",
     .help = "Idempotency key: submitting with the same key again gives the same job."},
    {0}};

static bool is_silent(const struct qs_ctl *ctl)
{
    return strcmp(qs_args_text(ctl->args, "style", ""), "none") == 0;
}

static int follow(struct qs_ctl *ctl, struct qs_http *http, int64_t job)
{
    char state[16];
    int code = QS_EXIT_OK;
    struct qs_follow f = {.ctl = ctl,
                          .http = http,
                          .job = job,
                          .interrupt_fd = qs_interrupt_open(),
                          .silent = is_silent(ctl),
                          .fail_on_regression =
                              strcmp(qs_args_text(ctl->args, "fail-on", ""), "regression") == 0};
    int result = qs_follow_job(&f, state);
    qs_interrupt_close(f.interrupt_fd);
    if (state[0] != '\0' && (ctl->json || !f.silent))
        qs_result_print(ctl, http, job, strcmp(state, "failed") == 0, NULL, &code);
    return result != QS_EXIT_OK ? result : code;
}

/* "a run under `quick` ends when: settled(400, 2 %); at the latest after 10000 iterations or 300 s": each set
 * that has a rule, by its name where there are several. */
static void print_stops(struct qs_ctl *ctl, const json_t *stops)
{
    const json_t *of;
    size_t i;
    json_array_foreach(stops, i, of)
    {
        QS_BUF(under);
        if (json_array_size(stops) > 1)
            qs_buf_fmt(&under, " under `%s`", qs_json_get_text(of, "conditions", "?"));
        if (json_is_string(json_object_get(of, "stop")))
            fprintf(ctl->out, "a run%s ends when: %s; at the latest after %" PRId64 " iterations or %g s\n",
                    under.data ? under.data : "", qs_json_get_text(of, "stop", ""),
                    qs_json_get_int(of, "cap_iterations", 0),
                    (double)qs_json_get_int(of, "cap_time_ns", 0) / 1e9);
        else if (under.len > 0)
            fprintf(ctl->out, "a run%s is one window\n", under.data);
    }
}

/* "before_run: sleep 5 s; print "go"": each stage that has steps. */
static void print_actions(struct qs_ctl *ctl, json_t *actions)
{
    const char *stage;
    json_t *steps;
    json_object_foreach(actions, stage, steps)
    {
        QS_BUF(text);
        const char *said = json_string_value(steps);
        qs_text_escape(&text, said ? said : "", said ? strlen(said) : 0);
        fprintf(ctl->out, "%s: %s\n", stage, text.data);
    }
}

/* "left out in turn: affinity, gate". */
static void print_left_out(struct qs_ctl *ctl, const json_t *arms)
{
    size_t i;
    const json_t *arm;
    fprintf(ctl->out, "left out in turn:");
    json_array_foreach(arms, i, arm)
    {
        const char *name = json_string_value(arm), *part = name != NULL ? strchr(name, ' ') : NULL;
        if (part != NULL)
            fprintf(ctl->out, "%s%s", i > 1 ? "," : "", part);
    }
    fprintf(ctl->out, "\n");
}

static int send(struct qs_ctl *ctl, struct qs_http *http, const struct qs_submit *job, bool ablate)
{
    int code = QS_EXIT_OK;
    json_t *answer = NULL;
    json_auto_t *check = qs_submit_check(ctl, http, job, &code);
    bool only_check = qs_args_has(ctl->args, "check");
    if (check != NULL && !only_check)
        answer = qs_submit_send(ctl, http, job, check, &code);
    bool wait = ablate ? !only_check && !qs_args_has(ctl->args, "no-wait") : qs_args_has(ctl->args, "wait");
    const json_t *shown = only_check ? check : answer;
    int64_t id = qs_json_get_int(answer, "id", 0);
    if (shown != NULL && ctl->json && !wait) {
        qs_ctl_print_json(ctl->out, shown);
    } else if (only_check && check != NULL) {
        fprintf(ctl->out, "%s is a valid job\n", job->name);
        if (ablate)
            print_left_out(ctl, json_object_get(check, "arms"));
        else
            print_stops(ctl, json_object_get(check, "stops"));
        print_actions(ctl, json_object_get(check, "actions"));
    } else if (answer != NULL && !ctl->json && !(wait && is_silent(ctl))) {
        fprintf(wait ? ctl->err : ctl->out, "job %" PRId64 " is %s\n", id,
                qs_json_get_text(answer, "state", "queued"));
    }
    if (answer != NULL && wait)
        code = follow(ctl, http, id);
    json_decref(answer);
    return code;
}

/* A job says by itself that it is one of these. */
static void add_ablate(struct qs_buf *text)
{
    QS_BUF(with);
    size_t at = strspn(text->data, " \t\r\n");
    if (text->data[at] == '{') {
        bool empty = text->data[at + 1 + strspn(text->data + at + 1, " \t\r\n")] == '}';
        qs_buf_fmt(&with, "{\"ablate\": true%s%s", empty ? "" : ",", text->data + at + 1);
    } else {
        qs_buf_fmt(&with, "%s%sablate: true\n", text->data,
                   text->len > 0 && text->data[text->len - 1] != '\n' ? "\n" : "");
    }
    qs_buf_done(text);
    qs_buf_init(text);
    qs_buf_str(text, with.data);
}

int qs_submit_file(struct qs_ctl *ctl, bool ablate)
{
    const char *path = ctl->args->argv[ctl->args->word[0]];
    struct qs_err err = QS_ERR_INIT;
    int code = QS_EXIT_OK;
    QS_BUF(text);
    if (!qs_read_text(path, TEXT_BYTES_MAX, &text, &err))
        return qs_api_fail_advised(ctl, &err, "check the path; it is relative to the current folder");
    if (ablate && text.len > 0)
        add_ablate(&text);
    const char *slash = strrchr(path, '/');
    char *dir = slash == NULL ? NULL : qs_strndup(path, slash == path ? 1 : (size_t)(slash - path));
    const struct qs_submit job = {.text = text.data,
                                  .text_bytes = text.len,
                                  .name = path,
                                  .dir = dir,
                                  .key = qs_args_text(ctl->args, "key", NULL),
                                  .json = text.data[strspn(text.data, " \t\r\n")] == '{'};
    QS_SCOPED(qs_http_free_at) struct qs_http *http = qs_api_reach_own(ctl, &code);
    if (http != NULL)
        code = send(ctl, http, &job, ablate);
    free(dir);
    return code;
}

static int run(struct qs_ctl *ctl)
{
    return qs_submit_file(ctl, false);
}

const struct qs_command qs_command_submit = {
    .name = "submit",
    .summary = "Send a job file (YAML or JSON) and the files it names",
    .usage = "[OPTIONS] FILE",
    .about = "The file is checked first; mistakes are shown with their place, and nothing is sent. Paths in "
             "the job are relative to the job file's folder; files are sent by content. FILE may be - for "
             "standard input.",
    .options = options,
    .examples = "quiesce submit job.yaml\nquiesce submit --wait --fail-on regression job.yaml\n"
                "quiesce submit --check job.yaml",
    .least_words = 1,
    .most_words = 1,
    .run = run};
