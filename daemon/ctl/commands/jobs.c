#include <inttypes.h>
#include <stdlib.h>

#include "ctl/result.h"

static const struct qs_opt options[] = {{.name = "limit",
                                         .values = "N",
                                         .kind = QS_OPT_WHOLE,
                                         .min = 1,
                                         .max = 1000,
                                         .help = "At most N jobs, newest first (20).",
                                         .heading = "Options"},
                                        {.name = "before",
                                         .values = "JOB",
                                         .kind = QS_OPT_WHOLE,
                                         .min = 1,
                                         .max = INT64_MAX,
                                         .help = "Only jobs older than this one."},
                                        {0}};

static int run(struct qs_ctl *ctl)
{
    int code = QS_EXIT_OK;
    char path[96];
    int64_t before = qs_args_number(ctl->args, "before", 0);
    int n =
        snprintf(path, sizeof(path), "/api/v1/jobs?limit=%" PRId64, qs_args_number(ctl->args, "limit", 20));
    if (before > 0)
        snprintf(path + n, sizeof(path) - (size_t)n, "&before=%" PRId64, before);
    QS_SCOPED(qs_http_free_at) struct qs_http *http = qs_api_reach_reading(ctl, &code);
    QS_BUF(text);
    QS_BUF(out);
    if (http != NULL && qs_api_text(ctl, http, path, &text, &code)) {
        struct qs_layout layout = qs_result_layout(ctl);
        json_auto_t *doc = json_loadb(text.data, text.len, 0, NULL);
        qs_layout_jobs(&layout, doc, &out);
        qs_ctl_print(ctl->out, ctl->json ? &text : &out);
        qs_ctl_notice(ctl, doc);
    }
    return code;
}

const struct qs_command qs_command_jobs = {.name = "jobs",
                                           .summary = "List jobs, newest first",
                                           .usage = "[OPTIONS]",
                                           .options = options,
                                           .examples = "quiesce jobs\nquiesce jobs --limit 100 --json",
                                           .run = run};
