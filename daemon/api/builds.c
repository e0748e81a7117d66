#include "api/handlers.h"

#include "api/reply.h"
#include "report/named.h"

enum { LIST_DEFAULT = 50, LIST_MOST = 1000 };

struct builds {
    struct qs_named_filter filter; /* borrowed from the address */
    size_t limit;
    struct qs_buf out;
};

static void done_builds(void *data)
{
    struct builds *b = data;
    qs_buf_done(&b->out);
}

static bool read_builds(struct qs_store_reader *reader, struct qs_exchange *ex, struct qs_err *err)
{
    struct builds *b = ex->data;
    struct qs_named_list list;
    if (!qs_read_named(reader, &b->filter, &list, err))
        return false;
    qs_named_put(&list, b->limit, &b->out);
    qs_named_list_free(&list);
    return true;
}

static void say_builds(struct qs_exchange *ex)
{
    struct builds *b = ex->data;
    qs_reply_json(ex, 200, &b->out);
}

void qs_handle_builds(struct qs_exchange *ex)
{
    long long limit, since, until;
    struct qs_err err;
    const struct qs_uri *uri = &ex->uri;
    if (!qs_uri_int(uri, "limit", 1, LIST_MOST, LIST_DEFAULT, &limit, &err) ||
        !qs_uri_int(uri, "since", 0, INT64_MAX, 0, &since, &err) ||
        !qs_uri_int(uri, "until", 0, INT64_MAX, INT64_MAX, &until, &err)) {
        qs_reply_error(ex, &err);
        return;
    }
    struct builds *b = qs_exchange_data(ex, sizeof *b, done_builds);
    qs_buf_init(&b->out);
    b->limit = (size_t)limit;
    b->filter = (struct qs_named_filter){.label = qs_uri_get(uri, "text"),
                                         .benchmark = qs_uri_get(uri, "benchmark"),
                                         .device = qs_uri_get(uri, "device"),
                                         .since_wall_ns = since,
                                         .until_wall_ns = until};
    qs_exchange_read(ex, read_builds, say_builds);
}
