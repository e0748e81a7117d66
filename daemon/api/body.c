#include "api/body.h"

json_t *qs_body_json(const struct qs_exchange *ex, struct qs_err *err)
{
    json_error_t where;
    json_t *body = json_loadb(ex->body.data, ex->body.len, JSON_REJECT_DUPLICATES, &where);
    if (!body)
        qs_fail(err, QS_E_USAGE, "the request is not valid JSON: line %d, column %d: %s", where.line,
                where.column, where.text);
    return body;
}
