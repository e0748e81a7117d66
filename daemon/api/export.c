#include "api/export.h"

#include <string.h>

#include "api/reply.h"

void qs_handle_export(struct qs_exchange *ex)
{
    static const struct {
        const char *name;
        qs_exchange_fn *handle;
    } formats[] = {{"json", qs_export_json},
                   {"csv", qs_export_csv},
                   {"markdown", qs_export_markdown},
                   {"asciidoc", qs_export_asciidoc},
                   {"orgmode", qs_export_orgmode}};
    const char *format = qs_uri_get(&ex->uri, "format");
    struct qs_err err;
    bool looks = qs_uri_get(&ex->uri, "view") || qs_uri_get(&ex->uri, "metric");
    bool tables = format && strcmp(format, "json") != 0 && strcmp(format, "csv") != 0;
    if (looks && !tables) {
        qs_fail(
            &err, QS_E_USAGE,
            "`view` and `metric` are not for format=%.40s, which has every iteration for other programs to "
            "choose from",
            format ? format : "json");
        qs_reply_error(ex, &err);
        return;
    }
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        if (strcmp(format ? format : "json", formats[i].name) == 0) {
            formats[i].handle(ex);
            return;
        }
    }
    qs_fail(&err, QS_E_USAGE, "`format=%.40s`: json, csv, markdown, asciidoc or orgmode is wanted", format);
    qs_reply_error(ex, &err);
}
