#include "ctl/client/boot.h"
#include "ctl/result.h"

static const struct qs_opt options[] = {{0}};

/* A client without a daemon still knows its own version. */
static int run(struct qs_ctl *ctl)
{
    int code = QS_EXIT_OK;
    QS_SCOPED(qs_http_free_at) struct qs_http *http = qs_api_open(ctl, &code);
    if (http == NULL)
        return code;
    json_auto_t *daemon = qs_boot_answers(http) ? qs_api_get(ctl, http, "/api/v1/version", &code) : NULL;
    if (ctl->json) {
        json_auto_t *doc = json_pack("{s:s, s:O?}", "version", QS_VERSION, "daemon", daemon);
        qs_ctl_print_json(ctl->out, doc);
    } else {
        fprintf(ctl->out, "quiesce %s\n", QS_VERSION);
        if (daemon != NULL)
            fprintf(ctl->out, "quiesced %s%s, database %s\n", qs_json_get_text(daemon, "version", "?"),
                    qs_json_get_true(daemon, "embedded") ? " (embedded)" : "",
                    qs_json_get_text(daemon, "db", "?"));
        else
            fprintf(ctl->out, "no daemon answers at %s\n", qs_http_socket(http));
    }
    return code;
}

const struct qs_command qs_command_version = {.name = "version",
                                              .summary = "Show the versions of this client and of the daemon",
                                              .usage = "[OPTIONS]",
                                              .options = options,
                                              .examples = "quiesce version\nquiesce version --json",
                                              .run = run};
