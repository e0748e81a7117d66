#include "ctl/result.h"

static const struct qs_opt options[] = {{0}};

static int run(struct qs_ctl *ctl)
{
    int code = QS_EXIT_OK;
    struct qs_http *http = qs_api_reach_own(ctl, &code);
    struct qs_buf text, out;
    qs_buf_init(&text);
    qs_buf_init(&out);
    if (http != NULL && qs_api_text(ctl, http, "/api/v1/devices", &text, &code)) {
        struct qs_layout layout = qs_result_layout(ctl);
        json_t *doc = json_loadb(text.data, text.len, 0, NULL);
        qs_layout_devices(&layout, doc, &out);
        qs_ctl_print(ctl->out, ctl->json ? &text : &out);
        json_decref(doc);
    }
    qs_buf_done(&text);
    qs_buf_done(&out);
    qs_http_free(http);
    return code;
}

const struct qs_command qs_command_devices = {.name = "devices",
                                              .summary = "List the devices of the farm and what they do",
                                              .usage = "[OPTIONS]",
                                              .options = options,
                                              .examples = "quiesce devices\nquiesce devices --json",
                                              .run = run};
