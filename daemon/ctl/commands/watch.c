#include <string.h>

#include "ctl/follow.h"
#include "ctl/result.h"

static const struct qs_opt options[] = {{.name = "fail-on",
                                         .values = "WHAT",
                                         .kind = QS_OPT_WORD,
                                         .words = qs_fail_words,
                                         .help = "regression: exit code 5 where an arm regressed.",
                                         .heading = "Options"},
                                        {0}};

static int run(struct qs_ctl *ctl)
{
    int code = QS_EXIT_OK;
    char state[16];
    struct qs_follow follow = {.ctl = ctl, .events_as_json = ctl->json};
    if (!qs_api_job_id(ctl, 0, &follow.job))
        return QS_EXIT_USAGE;
    follow.http = qs_api_open(ctl, &code);
    if (follow.http == NULL)
        return code;
    follow.fail_on_regression = strcmp(qs_args_text(ctl->args, "fail-on", ""), "regression") == 0;
    follow.silent = strcmp(qs_args_text(ctl->args, "style", ""), "none") == 0;
    follow.interrupt_fd = qs_interrupt_open();
    code = qs_follow_job(&follow, state);
    qs_interrupt_close(follow.interrupt_fd);
    if (!ctl->json && !follow.silent && state[0] != '\0')
        fprintf(ctl->out, "job %lld is %s\n", (long long)follow.job, state);
    qs_http_free(follow.http);
    return code;
}

const struct qs_command qs_command_watch = {
    .name = "watch",
    .summary = "Follow a job until it ends; Ctrl-C leaves it running",
    .usage = "[OPTIONS] JOB",
    .about = "With --json each event is one line: {\"id\", \"event\", \"data\"}.",
    .options = options,
    .examples = "quiesce watch 7\nquiesce watch 7 --json | grep job.progress",
    .least_words = 1,
    .most_words = 1,
    .run = run};
