#include <inttypes.h>
#include <string.h>

#include "ctl/result.h"

static const struct qs_opt options[] = {{0}};

static int run(struct qs_ctl *ctl)
{
    int code = QS_EXIT_OK;
    int64_t job = 0;
    char path[64];
    if (!qs_api_job_id(ctl, 0, &job))
        return QS_EXIT_USAGE;
    snprintf(path, sizeof(path), "/api/v1/jobs/%" PRId64 ":cancel", job);
    const struct qs_http_request request = {.method = "POST", .path = path, .body = ""};
    QS_SCOPED(qs_http_free_at) struct qs_http *http = qs_api_open(ctl, &code);
    json_auto_t *doc = http != NULL ? qs_api_call(ctl, http, &request, &code) : NULL;
    if (doc != NULL && ctl->json) {
        qs_ctl_print_json(ctl->out, doc);
    } else if (doc != NULL) {
        const char *state = json_string_value(json_object_get(doc, "state"));
        bool soon = state != NULL && strcmp(state, "cancelling") == 0;
        fprintf(ctl->out, "job %" PRId64 " is cancelled%s\n", job, soon ? ", its window is being ended" : "");
        qs_result_kept(ctl, http, job);
    }
    return code;
}

const struct qs_command qs_command_cancel = {.name = "cancel",
                                             .summary =
                                                 "End a waiting or running job; what it measured is kept",
                                             .usage = "[OPTIONS] JOB",
                                             .options = options,
                                             .examples = "quiesce cancel 7",
                                             .least_words = 1,
                                             .most_words = 1,
                                             .run = run};
