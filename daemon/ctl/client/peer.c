#include "ctl/client/peer.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "ctl/client/api.h"

bool qs_peer_lacks(const json_t *error)
{
    const json_t *e = json_object_get(error, "error");
    const char *message = qs_json_get_text(e, "message", "");
    if (json_is_array(json_object_get(e, "routes")))
        return true;
    return strcmp(qs_json_get_text(e, "code", ""), "usage") == 0 &&
           (strstr(message, " takes no query; `") != NULL || strstr(message, " in its query, only:") != NULL);
}

int qs_peer_order(const char *a, const char *b)
{
    unsigned x[3], y[3];
    if (sscanf(a, "%u.%u.%u", &x[0], &x[1], &x[2]) != 3 || sscanf(b, "%u.%u.%u", &y[0], &y[1], &y[2]) != 3)
        return 0;
    int order = 0;
    for (size_t i = 0; i < 3 && order == 0; i++)
        order = (x[i] > y[i]) - (x[i] < y[i]);
    return order;
}

static json_t *ask(struct qs_http *http)
{
    const struct qs_http_request request = {.method = "GET", .path = "/api/v1/version"};
    struct qs_http_reply reply = {0};
    qs_buf_init(&reply.body);
    bool ok = qs_http_call(http, &request, &reply, NULL) && reply.status == 200;
    json_t *version = ok ? json_loadb(reply.body.data, reply.body.len, 0, NULL) : NULL;
    qs_buf_done(&reply.body);
    return version;
}

void qs_peer_explain(struct qs_http *http, struct qs_err *ret_err, struct qs_buf *advice)
{
    json_auto_t *daemon = ask(http);
    const char *version = qs_json_get_text(daemon, "version", "unknown");
    int64_t pid = qs_json_get_int(daemon, "pid", 0);
    int order = qs_peer_order(version, QS_VERSION);
    qs_fail(ret_err, QS_E_VERSION,
            "the daemon at %s (version %s) %s this client (%s) and does not know what this command asks for",
            qs_http_socket(http), version,
            order < 0   ? "is older than"
            : order > 0 ? "is newer than"
                        : "is a different build from",
            QS_VERSION);
    if (order > 0)
        qs_buf_str(advice, "use the quiesce that came with that daemon");
    else if (pid > 0)
        qs_buf_fmt(advice,
                   "end it with `kill %" PRId64
                   "`: stored data stay, and running jobs continue in the next daemon; %s",
                   pid,
                   qs_json_get_true(daemon, "embedded") ? "the next command starts the daemon of this client"
                                                        : "then start the new quiesced, or its service");
    else
        qs_buf_str(advice, qs_errc_advice(QS_E_VERSION));
}
