/* POST devices: a device that is declared while the daemon runs, or a kind whose devices are looked for. */
#include <string.h>

#include "api/body.h"
#include "api/handlers.h"
#include "api/reply.h"
#include "base/json.h"
#include "farm/declare.h"
#include "farm/farm.h"

/* Only what reaches a device by itself: any other kind is a command, a socket or a file of this machine,
 * which belongs into a farm file. */
static bool take(struct qs_farm *farm, const json_t *body, struct qs_buf *name, struct qs_err *err)
{
    enum qs_link_kind kind;
    const char *link = json_string_value(json_object_get(body, "link"));
    const json_t *host = json_object_get(body, "host");
    bool known = link && qs_link_kind_of(link, &kind);
    if (!link || (host && !json_is_string(host)) || json_object_size(body) != (host ? 2U : 1U))
        return qs_fail(
            err, QS_E_USAGE,
            "the request is {\"link\": \"ssh\", \"host\": HOST}, or {\"link\": KIND} for a kind whose "
            "devices are found");
    if (!host)
        return known ? qs_farm_look_for(farm, kind, err)
                     : qs_fail(err, QS_E_USAGE, "there is no link `%.40s`", link);
    if (strcmp(link, "ssh") != 0)
        return qs_fail(err, QS_E_USAGE, "devices of link `%.40s` are declared in farm.yaml alone", link);
    return known ? qs_farm_declare(farm, link, json_string_value(host), name, err)
                 : qs_fail(err, QS_E_USAGE, "there is no link `%.40s` in this version", link);
}

void qs_handle_device_declare(struct qs_exchange *ex)
{
    struct qs_err err = QS_ERR_INIT;
    QS_BUF(name);
    QS_BUF(out);
    json_auto_t *body = qs_body_json(ex, &err);
    if (!body || !take(ex->api->p.farm, body, &name, &err)) {
        qs_reply_error(ex, &err);
        return;
    }
    struct qs_json j = qs_json_to(&out);
    qs_json_object(&j);
    qs_json_kstring(&j, "link", json_string_value(json_object_get(body, "link")));
    qs_json_kstring(&j, "name", name.len > 0 ? name.data : NULL);
    qs_json_object_end(&j);
    qs_reply_json(ex, 200, &out);
}
