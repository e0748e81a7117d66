#include "ctl/client/sse.h"

#include <stdlib.h>
#include <string.h>

void qs_sse_init(struct qs_sse *sse)
{
    *sse = (struct qs_sse){.id = -1, .next_id = -1, .most_bytes = QS_SSE_LINE_BYTES};
    qs_buf_init(&sse->line);
    qs_buf_init(&sse->kind);
    qs_buf_init(&sse->data);
}

void qs_sse_done(struct qs_sse *sse)
{
    qs_buf_done(&sse->line);
    qs_buf_done(&sse->kind);
    qs_buf_done(&sse->data);
}

void qs_sse_restart(struct qs_sse *sse)
{
    qs_buf_clear(&sse->line);
    qs_buf_clear(&sse->kind);
    qs_buf_clear(&sse->data);
    sse->has_data = sse->after_cr = false;
    sse->next_id = sse->id;
}

static bool dispatch(struct qs_sse *sse, qs_sse_fn *fn, void *user)
{
    bool more = true;
    sse->id = sse->next_id;
    if (sse->has_data)
        more = fn(sse->id, sse->kind.len > 0 ? sse->kind.data : "message", sse->data.data, user);
    qs_buf_clear(&sse->kind);
    qs_buf_clear(&sse->data);
    sse->has_data = false;
    return more;
}

/* The value after "name:" and one space, or NULL where the line has another name. */
static const char *field(const char *line, const char *name)
{
    size_t n = strlen(name);
    if (strncmp(line, name, n) != 0 || line[n] != ':')
        return NULL;
    return line[n + 1] == ' ' ? line + n + 2 : line + n + 1;
}

static bool take_line(struct qs_sse *sse)
{
    const char *value = NULL;
    if ((value = field(sse->line.data, "data")) != NULL) {
        if (sse->has_data)
            qs_buf_char(&sse->data, '\n');
        qs_buf_str(&sse->data, value);
        sse->has_data = true;
        return sse->data.len <= sse->most_bytes;
    }
    if ((value = field(sse->line.data, "event")) != NULL) {
        qs_buf_clear(&sse->kind);
        qs_buf_str(&sse->kind, value);
    } else if ((value = field(sse->line.data, "id")) != NULL) {
        char *end = NULL;
        long long id = strtoll(value, &end, 10);
        if (*value != '\0' && *end == '\0')
            sse->next_id = id;
    }
    return true;
}

bool qs_sse_feed(struct qs_sse *sse, const char *bytes, size_t n, qs_sse_fn *fn, void *user)
{
    bool ok = true;
    for (size_t i = 0; ok && i < n; i++) {
        char c = bytes[i];
        bool second_half = c == '\n' && sse->after_cr;
        sse->after_cr = c == '\r';
        if (second_half)
            continue;
        if (c != '\n' && c != '\r') {
            qs_buf_char(&sse->line, c);
            ok = sse->line.len <= sse->most_bytes;
            continue;
        }
        ok = sse->line.len == 0 ? dispatch(sse, fn, user) : take_line(sse);
        qs_buf_clear(&sse->line);
    }
    return ok;
}
