#include "api/handlers.h"

#include <string.h>

#include "api/compare.h"
#include "api/reply.h"
#include "api/steps.h"

/* Tables for a pull request or a wiki. */
static void done_tables(void *data)
{
    qs_compared_done(data);
}

static bool read_tables(struct qs_store_reader *reader, struct qs_exchange *ex, struct qs_err *err)
{
    return qs_compare_read(reader, qs_store_path(ex->api->p.store), ex->match.id, ex->data, err);
}

static void say_tables(struct qs_exchange *ex)
{
    struct qs_compared *c = ex->data;
    qs_reply_text(ex, 200, qs_tables_type(&c->tables), &c->tables.out);
}

/* A table for each point and device in a form that report/tables knows; any other word is refused. */
static void export_tables(struct qs_exchange *ex, const char *form)
{
    struct qs_compared *c = qs_exchange_data(ex, sizeof *c, done_tables);
    struct qs_err err = QS_ERR_INIT;
    qs_buf_init(&c->document);
    c->progress = qs_steps_progress(ex);
    if (!qs_tables_init(&c->tables, form))
        qs_fail(&err, QS_E_USAGE, "`format=%.40s`: expected json, csv, markdown, asciidoc or orgmode", form);
    else if (qs_compare_query(&ex->uri, c, &err)) {
        qs_exchange_read(ex, read_tables, say_tables);
        return;
    }
    qs_reply_error(ex, &err);
}

void qs_handle_export(struct qs_exchange *ex)
{
    const char *format = qs_uri_get(&ex->uri, "format");
    bool json = !format || strcmp(format, "json") == 0, csv = format && strcmp(format, "csv") == 0;
    struct qs_err err;
    if (!json && !csv) {
        export_tables(ex, format);
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
