#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "ctl/follow.h"
#include "ctl/layout/reproduce.h"
#include "ctl/result.h"
#include "ctl/submit.h"

static const struct qs_opt options[] = {
    {.name = "dry-run", .help = "Check whether it can be done, and submit nothing.", .heading = "Options"},
    {.name = "allow-diff", .help = "Go on even if an executable has changed."},
    QS_TIME_UNIT_OPTION,
    {0}};

struct task {
    struct qs_ctl *ctl;
    struct qs_http *http;
    int64_t job;  /* the original */
    char run[33]; /* the run that was named, or "" */
    int code;
};

/* A run is named by 32 hexadecimal digits, a job by a number. */
static bool find_job(struct task *t)
{
    const char *word = t->ctl->args->argv[t->ctl->args->word[0]];
    uint8_t uid[16];
    char path[96];
    if (!qs_unhex(word, uid, sizeof(uid))) {
        bool ok = qs_api_job_id(t->ctl, 0, &t->job);
        t->code = ok ? t->code : QS_EXIT_USAGE;
        return ok;
    }
    qs_hex(uid, sizeof(uid), t->run);
    snprintf(path, sizeof(path), "/api/v1/runs/%s", t->run);
    json_t *run = qs_api_get(t->ctl, t->http, path, &t->code);
    t->job = qs_json_get_int(run, "job", 0);
    json_decref(run);
    return run != NULL;
}

static bool is_local(const json_t *devices, const char *name)
{
    size_t i;
    const json_t *device;
    json_array_foreach(json_object_get(devices, "devices"), i, device)
    {
        if (strcmp(qs_json_get_text(device, "name", ""), name) == 0)
            return qs_json_get_true(device, "local");
    }
    return false;
}

/* What an executable of this machine is now: "", or how it differs from what the job ran. */
static void look_at(const json_t *executable, struct qs_buf *problem)
{
    char now[65];
    struct qs_err err = QS_ERR_INIT;
    const char *path = qs_json_get_text(executable, "path", ""),
               *arm = qs_json_get_text(executable, "arm", "");
    const char *then = qs_json_get_text(executable, "sha256", "");
    if (path[0] != '/')
        return;
    if (access(path, F_OK) != 0)
        qs_buf_fmt(problem, "%s of arm %s is gone", path, arm);
    else if (!qs_submit_hash(path, now, &err))
        qs_buf_fmt(problem, "%s of arm %s can no longer be read", path, arm);
    else if (strcmp(now, then) != 0)
        qs_buf_fmt(problem, "%s of arm %s has changed: %.12s then, %.12s now", path, arm, then, now);
}

/* Appends a line for each thing that is not as it was; *ret_fatal: without it nothing can be done again. */
static void find_problems(const json_t *plan, const json_t *devices, json_t *problems, bool *ret_fatal)
{
    size_t i;
    const json_t *one;
    QS_BUF(text);
    *ret_fatal = false;
    json_array_foreach(json_object_get(plan, "files"), i, one)
    {
        if (qs_json_get_true(one, "here"))
            continue;
        qs_buf_clear(&text);
        qs_buf_fmt(&text, "the content of %s (%.12s) is no longer stored",
                   qs_json_get_text(one, "path", "a file"), qs_json_get_text(one, "sha256", ""));
        json_array_append_new(problems, json_string(text.data));
        *ret_fatal = true;
    }
    json_array_foreach(json_object_get(plan, "executables"), i, one)
    {
        qs_buf_clear(&text);
        if (!qs_json_get_true(one, "of_job") && is_local(devices, qs_json_get_text(one, "device", "")))
            look_at(one, &text);
        if (text.len > 0)
            json_array_append_new(problems, json_string(text.data));
    }
}

static void tell(struct task *t, const json_t *plan, const json_t *problems, bool refused, bool fatal)
{
    bool dry = qs_args_has(t->ctl->args, "dry-run");
    QS_BUF(out);
    if (t->ctl->json && (dry || refused)) {
        json_auto_t *doc =
            json_pack("{s:O, s:O, s:b}", "plan", plan, "problems", problems, "refused", refused);
        QS_FREED char *text = json_dumps(doc, JSON_COMPACT);
        qs_buf_fmt(&out, "%s\n", text);
        qs_ctl_print(t->ctl->out, &out);
    } else {
        qs_layout_reproduce_plan(dry ? &t->ctl->face : &t->ctl->err_face, plan, problems, refused, fatal,
                                 &out);
        qs_ctl_print(dry ? t->ctl->out : t->ctl->err, &out);
    }
}

/* Whether it may go on; what stands against it has been said. */
static bool check_plan(struct task *t)
{
    char path[64];
    bool fatal = false;
    snprintf(path, sizeof(path), "/api/v1/jobs/%" PRId64 "/reproduce", t->job);
    json_auto_t *plan = qs_api_get(t->ctl, t->http, path, &t->code);
    json_auto_t *devices = plan != NULL ? qs_api_get(t->ctl, t->http, "/api/v1/devices", &t->code) : NULL;
    json_auto_t *problems = json_array();
    bool ok = devices != NULL;
    if (ok) {
        find_problems(plan, devices, problems, &fatal);
        ok = json_array_size(problems) == 0 || (!fatal && qs_args_has(t->ctl->args, "allow-diff"));
        tell(t, plan, problems, !ok, fatal);
        t->code = ok ? t->code : QS_EXIT_PRECONDITION;
    }
    return ok;
}

static int64_t submit(struct task *t)
{
    char path[64];
    snprintf(path, sizeof(path), "/api/v1/jobs/%" PRId64 ":reproduce", t->job);
    const struct qs_http_request request = {.method = "POST", .path = path};
    json_auto_t *answer = qs_api_call(t->ctl, t->http, &request, &t->code);
    int64_t id = qs_json_get_int(answer, "id", 0);
    if (id > 0 && !t->ctl->json)
        fprintf(t->ctl->err, "job %" PRId64 " does job %" PRId64 " again\n", id, t->job);
    return id;
}

static bool follow(struct task *t, int64_t id)
{
    char state[16];
    struct qs_follow follow = {.ctl = t->ctl, .http = t->http, .job = id, .cancels = true};
    follow.interrupt_fd = qs_interrupt_open();
    t->code = qs_follow_job(&follow, state);
    qs_interrupt_close(follow.interrupt_fd);
    if (strcmp(state, "done") != 0)
        qs_result_kept(t->ctl, t->http, id);
    return strcmp(state, "done") == 0;
}

static void show(struct task *t, int64_t id)
{
    char path[128];
    QS_BUF(text);
    QS_BUF(out);
    snprintf(path, sizeof(path), "/api/v1/jobs/%" PRId64 "/reproduction%s%s", id,
             t->run[0] != '\0' ? "?run=" : "", t->run);
    if (qs_api_text(t->ctl, t->http, path, &text, &t->code)) {
        struct qs_layout layout = qs_result_layout(t->ctl);
        json_auto_t *doc = json_loadb(text.data, text.len, 0, NULL);
        qs_layout_reproduction(&layout, doc, &out);
        qs_ctl_print(t->ctl->out, t->ctl->json ? &text : &out);
    }
}

static int run(struct qs_ctl *ctl)
{
    struct task t = {.ctl = ctl, .code = QS_EXIT_OK};
    t.http = qs_args_has(ctl->args, "dry-run") ? qs_api_reach_reading(ctl, &t.code)
                                               : qs_api_reach_own(ctl, &t.code);
    if (t.http != NULL && find_job(&t) && check_plan(&t) && !qs_args_has(ctl->args, "dry-run")) {
        int64_t id = submit(&t);
        if (id > 0 && follow(&t, id))
            show(&t, id);
    }
    qs_http_free(t.http);
    return t.code;
}

const struct qs_command qs_command_reproduce = {
    .name = "reproduce",
    .summary = "Run a job, or the job of a run, again and compare",
    .usage = "[OPTIONS] RUN\n[OPTIONS] JOB",
    .about = "Submits the same job file with the same seed, files and devices, so that orders and layouts "
             "are drawn as before. It is refused where an executable on this machine has changed or files "
             "are gone; executables on other devices are compared afterwards. The page shows what differs in "
             "the environment and whether the values agree. A run is named by its 32 hexadecimal digits; it "
             "is shown next to the run that took the same turn.",
    .options = options,
    .examples = "quiesce reproduce 7\nquiesce reproduce 7 --dry-run\n"
                "quiesce reproduce 0123456789abcdef0123456789abcdef --json\nquiesce reproduce --allow-diff 7",
    .least_words = 1,
    .most_words = 1,
    .run = run};
