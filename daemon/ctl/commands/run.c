#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ctl/follow.h"
#include "ctl/result.h"
#include "ctl/run/run.h"
#include "ctl/submit.h"
#include "ctl/text_file.h"

extern char **environ;

/* "-" is standard output: then that has the export alone. */
static bool exports_to_output(const struct qs_args *args)
{
    for (size_t i = 0; i < args->use_count; i++)
        if (strncmp(args->use[i].opt->name, "export-", 7) == 0 && strcmp(args->use[i].value[0], "-") == 0)
            return true;
    return false;
}

/* Where an export cannot go is said before anything is measured. */
static bool check_exports(struct qs_ctl *ctl, int *ret_code)
{
    const struct qs_args *args = ctl->args;
    struct qs_err err = QS_ERR_INIT;
    bool ok = true;
    QS_BUF(problem);
    for (size_t i = 0; ok && i < args->use_count; i++) {
        const struct qs_opt_use *use = &args->use[i];
        bool out = use->value[0] != NULL && strcmp(use->value[0], "-") == 0;
        if (strncmp(use->opt->name, "export-", 7) != 0)
            continue;
        if (out && ctl->json)
            ok = qs_args_fail(args, &problem, use->at[0], use->skip, "give it a file, or leave --json out",
                              "--json and --%s would both go to standard output", use->opt->name);
        for (size_t k = 0; ok && k < i; k++)
            if (strncmp(args->use[k].opt->name, "export-", 7) == 0 &&
                strcmp(args->use[k].value[0], use->value[0]) == 0)
                ok = qs_args_fail(args, &problem, use->at[0], use->skip, "give each a file of its own",
                                  "--%s and --%s go to the same place", args->use[k].opt->name,
                                  use->opt->name);
        if (ok && !out && !qs_may_write(use->value[0], &err))
            ok = qs_args_fail(args, &problem, use->at[0], use->skip, NULL, "--%s: %s", use->opt->name,
                              err.text);
    }
    if (!ok)
        *ret_code = QS_EXIT_USAGE;
    qs_ctl_print(ctl->err, &problem);
    return ok;
}

/* The result, on standard error where an export has standard output. */
static void print_result(struct qs_ctl *ctl, struct qs_http *http, int64_t job, bool told, int *ret_code)
{
    struct qs_ctl to = *ctl;
    if (strcmp(qs_args_text(ctl->args, "style", ""), "none") == 0 && !ctl->json)
        return;
    if (exports_to_output(ctl->args)) {
        to.out = ctl->err;
        to.face = ctl->err_face;
    }
    qs_result_print(&to, http, job, told, NULL, ret_code);
}

static int follow(struct qs_ctl *ctl, struct qs_http *http, int64_t job, int interrupt_fd)
{
    char state[16];
    int code = QS_EXIT_OK;
    struct qs_follow f = {.ctl = ctl,
                          .http = http,
                          .job = job,
                          .interrupt_fd = interrupt_fd,
                          .starts_daemon = true,
                          .cancels = true,
                          .silent = strcmp(qs_args_text(ctl->args, "style", ""), "none") == 0,
                          .fail_on_regression =
                              strcmp(qs_args_text(ctl->args, "fail-on", "never"), "regression") == 0};
    int result = qs_follow_job(&f, state);
    if (strcmp(state, "cancelled") == 0) {
        qs_result_kept(ctl, http, job);
    } else if (state[0] != '\0') {
        print_result(ctl, http, job, strcmp(state, "failed") == 0, &code);
        qs_result_export(ctl, http, job, &code);
    }
    return result != QS_EXIT_OK ? result : code;
}

static int measure(struct qs_ctl *ctl, struct qs_http *http, const char *text)
{
    int code = QS_EXIT_OK;
    const struct qs_submit job = {.text = text, .text_bytes = strlen(text), .name = "run", .json = true};
    int interrupt_fd = qs_interrupt_open();
    json_auto_t *answer = qs_submit_send(ctl, http, &job, NULL, &code);
    if (answer != NULL)
        code = follow(ctl, http, qs_json_get_int(answer, "id", 0), interrupt_fd);
    qs_interrupt_close(interrupt_fd);
    return code;
}

static char *make_text(struct qs_ctl *ctl)
{
    struct qs_run_line line;
    char dir[PATH_MAX];
    char *text = NULL;
    QS_BUF(problem);
    if (getcwd(dir, sizeof(dir)) == NULL)
        qs_args_fail(ctl->args, &problem, ctl->args->argc, 0, NULL, "the working directory: %s",
                     strerror(errno));
    else if (qs_run_read(ctl->args, &line, &problem)) {
        json_auto_t *job = qs_run_document(ctl->args, &line, dir, environ, &problem);
        text = job != NULL ? json_dumps(job, JSON_INDENT(1)) : NULL;
        qs_run_done(&line);
    } else {
        qs_run_done(&line);
    }
    qs_ctl_print(ctl->err, &problem);
    return text;
}

static int run(struct qs_ctl *ctl)
{
    int code = QS_EXIT_USAGE;
    QS_FREED char *text = make_text(ctl);
    if (text == NULL)
        return code;
    if (qs_args_has(ctl->args, "print-job")) {
        fprintf(ctl->out, "%s\n", text);
        code = QS_EXIT_OK;
    } else if (check_exports(ctl, &code)) {
        QS_SCOPED(qs_http_free_at) struct qs_http *http = qs_api_reach(ctl, &code);
        if (http != NULL)
            code = measure(ctl, http, text);
    }
    return code;
}

const struct qs_command qs_command_run = {
    .name = "run",
    .summary = "Measure commands on this machine and compare them",
    .usage = "[OPTIONS] -- COMMAND [ARGUMENTS]\n[OPTIONS] 'COMMAND' 'COMMAND' ...\n"
             "[OPTIONS] --a 'COMMAND' --b 'COMMAND' ...",
    .about = "Each command is an arm; the others are compared with the first. The arms run interleaved in "
             "blocks: a block has one run of each arm in random order, and a run is as many processes as "
             "fill 10 ms, the same number for all arms. Measuring ends when the 95 % interval is within 1 % "
             "(checked after 10, 15, 20, 25, 30, 40 and so on up to 200 blocks), or after 200 blocks or 20 "
             "s, but never before 6 blocks. Before each window the machine must be quiet. Commands are split "
             "into words without a shell. Parameters of a single command make its arms, one for each value; "
             "with several commands each value is a separate point.",
    .options = qs_run_options,
    .examples = "quiesce run -- sort -n numbers.txt\n"
                "quiesce run 'gzip -1 -k -c FILE' 'gzip -6 -k -c FILE'\n"
                "quiesce run --a './old --fast' --b './new --fast' --fail-on regression\n"
                "quiesce run --shell default 'sort FILE | uniq -c' 'sort -u FILE'\n"
                "quiesce run -L threads 1,2,4 'make -j{threads}' --prepare 'make clean'\n"
                "quiesce run --runs 20 --export-json out.json -- ./program\n"
                "quiesce run --harness --a ./blur-O1 --b ./blur-O3\n"
                "quiesce run --stream google-benchmark './old --benchmark_format=json' './new "
                "--benchmark_format=json'\n"
                "quiesce run --stream pattern --stream-unit MB/s --stream-better higher --stream-pattern "
                "'([0-9.]+) MB/s' -- ./copy",
    .most_words = -1,
    .takes_rest = true,
    .run = run};
