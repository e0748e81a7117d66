#include "api/export.h"

#include <string.h>

#include "api/reply.h"

void qs_handle_export(struct qs_exchange *ex)
{
    static const struct {
        const char *name;
        qs_exchange_fn *handle;
    } formats[] = {{"json", qs_export_json}, {"csv", qs_export_csv}, {"markdown", qs_export_markdown}};
    const char *format = qs_uri_get(&ex->uri, "format");
    struct qs_err err;
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        if (strcmp(format ? format : "json", formats[i].name) == 0) {
            formats[i].handle(ex);
            return;
        }
    }
    qs_fail(&err, QS_E_USAGE, "`format=%.40s`: json, csv or markdown is wanted", format);
    qs_reply_error(ex, &err);
}
