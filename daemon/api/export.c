#include "api/handlers.h"

#include <string.h>

#include "api/reply.h"

void qs_handle_export(struct qs_exchange *ex)
{
    const char *format = qs_uri_get(&ex->uri, "format");
    bool json = !format || strcmp(format, "json") == 0, csv = format && strcmp(format, "csv") == 0;
    struct qs_err err;
    if (!json && !csv) {
        qs_export_tables(ex, format);
    } else if (qs_uri_get(&ex->uri, "view") || qs_uri_get(&ex->uri, "metric")) {
        qs_fail(&err, QS_E_USAGE,
                "`view` and `metric` are not for format=%s, which has every iteration for other programs to "
                "choose from",
                json ? "json" : "csv");
        qs_reply_error(ex, &err);
    } else {
        json ? qs_export_json(ex) : qs_export_csv(ex);
    }
}
