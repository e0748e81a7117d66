#include "proto/bind_command.h"

#include "proto/limits.h"

#include <string.h>

/* What stands before the next line's end, which is taken off; false: there is none. */
static bool take_line(struct qs_text *rest, struct qs_text *line)
{
    const char *end = rest->n > 0 ? memchr(rest->p, '\n', rest->n) : NULL;
    if (!end)
        return false;
    *line = (struct qs_text){rest->p, (uint16_t)(end - rest->p)};
    *rest = (struct qs_text){end + 1, (uint16_t)(rest->n - line->n - 1)};
    return true;
}

static bool read_age(struct qs_text line, uint32_t *ret)
{
    uint32_t v = 0;
    for (uint16_t i = 0; i < line.n && v <= QS_BIND_AGE_MAX_MS; i++) {
        if (line.p[i] < '0' || line.p[i] > '9')
            return false;
        v = v * 10 + (uint32_t)(line.p[i] - '0');
    }
    *ret = v;
    return v >= QS_BIND_AGE_MIN_MS && v <= QS_BIND_AGE_MAX_MS;
}

bool qs_bind_command_of(struct qs_text text, struct qs_bind_command *ret)
{
    struct qs_text age;
    struct qs_text rest = text;
    if (text.n > QS_CONTROL_PATH_MAX_BYTES || (text.n > 0 && memchr(text.p, '\0', text.n)) ||
        !take_line(&rest, &age) || !read_age(age, &ret->max_age_ms) || !take_line(&rest, &ret->section) ||
        !take_line(&rest, &ret->line) || !take_line(&rest, &ret->key) || !take_line(&rest, &ret->spoilt))
        return false;
    ret->argv = rest;
    return ret->key.n > 0 && rest.n > 0 && rest.p[0] != '\n';
}
