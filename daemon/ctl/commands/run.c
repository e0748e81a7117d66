#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ctl/follow.h"
#include "ctl/result.h"
#include "ctl/run/aim.h"
#include "ctl/run/on.h"
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

/* files: what goes along, as qs_submit_send takes it, or NULL. */
static int measure(struct qs_ctl *ctl, struct qs_http *http, const char *text, const json_t *files)
{
    int code = QS_EXIT_OK;
    const struct qs_submit job = {.text = text, .text_bytes = strlen(text), .name = "run", .json = true};
    int interrupt_fd = qs_interrupt_open();
    json_auto_t *answer = qs_submit_send(ctl, http, &job, files, &code);
    if (answer != NULL)
        code = follow(ctl, http, qs_json_get_int(answer, "id", 0), interrupt_fd);
    qs_interrupt_close(interrupt_fd);
    return code;
}

static json_t *make_job(struct qs_ctl *ctl, struct qs_run_line *line)
{
    char dir[PATH_MAX];
    json_t *job = NULL;
    QS_BUF(problem);
    *line = (struct qs_run_line){0};
    if (getcwd(dir, sizeof(dir)) == NULL)
        qs_args_fail(ctl->args, &problem, ctl->args->argc, 0, NULL, "the working directory: %s",
                     strerror(errno));
    else if (qs_run_read(ctl->args, line, &problem))
        job = qs_run_document(ctl->args, line, dir, environ, &problem);
    qs_ctl_print(ctl->err, &problem);
    return job;
}

static int print_job(struct qs_ctl *ctl, const json_t *job)
{
    json_dumpf(job, ctl->out, JSON_INDENT(1));
    fputc('\n', ctl->out);
    return QS_EXIT_OK;
}

static int run_here(struct qs_ctl *ctl, const json_t *job)
{
    int code = QS_EXIT_USAGE;
    if (qs_args_has(ctl->args, "print-job"))
        return print_job(ctl, job);
    if (!check_exports(ctl, &code))
        return code;
    QS_FREED char *text = json_dumps(job, JSON_INDENT(1));
    QS_SCOPED(qs_http_free_at) struct qs_http *http = qs_api_reach(ctl, &code);
    return http != NULL ? measure(ctl, http, text, NULL) : code;
}

static void say_aim(struct qs_ctl *ctl, const struct qs_run_line *line, struct qs_buf *said)
{
    QS_BUF(pushes);
    QS_BUF(out);
    qs_run_say_pushes(line, &pushes);
    if (pushes.len > 0)
        qs_buf_fmt(said, "; %s", pushes.data);
    qs_face_wrap(&ctl->err_face, &out, "  ", said->data, QS_INK_PLAIN);
    if (!ctl->json && strcmp(qs_args_text(ctl->args, "style", ""), "none") != 0)
        qs_ctl_print(ctl->err, &out);
}

/* On another device: it is found first, and what it has says how it is measured. */
static int run_there(struct qs_ctl *ctl, const struct qs_run_line *line, json_t *job)
{
    int code = QS_EXIT_USAGE;
    bool prints = qs_args_has(ctl->args, "print-job");
    QS_BUF(said);
    if (!prints && !check_exports(ctl, &code))
        return code;
    QS_SCOPED(qs_http_free_at) struct qs_http *http = qs_api_reach(ctl, &code);
    json_auto_t *device = http != NULL ? qs_on_find(ctl, http, prints, &code) : NULL;
    if (device == NULL)
        return code;
    json_auto_t *readings = qs_on_readings(http, device);
    qs_run_aim(job, device, readings, &said);
    say_aim(ctl, line, &said);
    if (prints)
        return print_job(ctl, job);
    json_auto_t *files = qs_run_push_list(line);
    QS_FREED char *text = json_dumps(job, JSON_INDENT(1));
    return measure(ctl, http, text, files);
}

static int run(struct qs_ctl *ctl)
{
    struct qs_run_line line;
    json_auto_t *job = make_job(ctl, &line);
    int code = job == NULL ? QS_EXIT_USAGE : line.on ? run_there(ctl, &line, job) : run_here(ctl, job);
    qs_run_done(&line);
    return code;
}

const struct qs_command qs_command_run = {
    .name = "run",
    .summary = "Measure commands and compare them, here or on a phone or board",
    .usage = "[OPTIONS] -- COMMAND [ARGUMENTS]\n[OPTIONS] 'COMMAND' 'COMMAND' ...\n"
             "[OPTIONS] --a 'COMMAND' --b 'COMMAND' ...",
    .about =
        "Each command is an arm; the others are compared with the first. The arms run interleaved in "
        "blocks: a block has one run of each arm in random order, and a run is as many processes as "
        "fill 10 ms, the same number for all arms. Measuring ends when the 95 % interval is within 1 % "
        "(checked after 10, 15, 20, 25, 30, 40 and so on up to 200 blocks), or after 200 blocks or 20 "
        "s, but never before 6 blocks. Before each window the machine must be quiet. Commands are split "
        "into words without a shell. Parameters of a single command make its arms, one for each value; "
        "with several commands each value is a separate point.\n"
        "--on measures on another device. One that is not there yet is waited for (15 s), and while one "
        "is not ready the reason is shown. The programs and files that the commands name go along, into "
        "a directory of their own where the commands run; the environment is the device's. The clocks of "
        "its processors are held at the highest frequency where its agent may write them, or are brought "
        "there by load where it may only read the one clock that the commands use (--affinity names "
        "processors); windows begin when it is at most 10 % busy, and not while its processors are hot. "
        "--print-job shows all of that, and `quiesce devices show DEVICE` what there is.",
    .options = qs_run_options,
    .examples = "quiesce run -- sort -n numbers.txt\n"
                "quiesce run 'gzip -1 -k -c FILE' 'gzip -6 -k -c FILE'\n"
                "quiesce run --a './old --fast' --b './new --fast' --fail-on regression\n"
                "quiesce run --on --a ./old --b ./new\n"
                "quiesce run --on pixel './old --fast' 'gzip -6 -k -c notes.txt'\n"
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
