#include "api/body.h"

#include <string.h>

#include "base/text.h"

json_t *qs_body_json(const struct qs_exchange *ex, struct qs_err *err)
{
    json_error_t where;
    json_t *body = json_loadb(ex->body.data, ex->body.len, JSON_REJECT_DUPLICATES, &where);
    if (!body)
        qs_fail(err, QS_E_USAGE, "the request is not valid JSON: line %d, column %d: %s", where.line,
                where.column, where.text);
    return body;
}

bool qs_body_keys(const json_t *object, const char *where, const char *const *known, size_t count,
                  struct qs_err *err)
{
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)object, key, value)
    {
        bool found = false;
        for (size_t i = 0; i < count; i++)
            found |= strcmp(key, known[i]) == 0;
        const char *near = found ? NULL : qs_nearest(key, known, count);
        if (!found)
            return qs_fail(err, QS_E_USAGE, "%s has an unknown key `%.64s`%s%s%s", where, key,
                           near ? ": did you mean `" : "", near ? near : "", near ? "`?" : "");
    }
    return true;
}
