#include "device/window/wait.h"

#include <inttypes.h>

static void thin(struct qs_wait *w)
{
    size_t n = 0;
    w->apart_ms = w->apart_ms > 0 ? 2 * w->apart_ms : 2 * w->at[w->count - 1].at_ms / (int64_t)w->count;
    for (size_t i = 0; i < w->count; i++)
        if (n == 0 || w->at[i].at_ms - w->at[n - 1].at_ms >= w->apart_ms)
            w->at[n++] = w->at[i];
    w->count = n;
}

void qs_wait_add(struct qs_wait *w, const struct qs_msg_waiting *m)
{
    const int64_t at_ms = m->elapsed_ns / 1000000;
    if (m->status != QS_READING_OK || (w->count > 0 && at_ms - w->at[w->count - 1].at_ms < w->apart_ms))
        return;
    if (w->count == QS_WAIT_READINGS_MAX)
        thin(w);
    if (w->count < QS_WAIT_READINGS_MAX)
        w->at[w->count++] = (struct qs_wait_reading){at_ms, m->value, m->expectation};
}

void qs_wait_json(const struct qs_wait *w, struct qs_buf *out)
{
    for (size_t i = 0; i < w->count; i++)
        qs_buf_fmt(out, "%s[%" PRId64 ",%u,%" PRId64 "]", i > 0 ? "," : "[", w->at[i].at_ms,
                   (unsigned)w->at[i].expectation, w->at[i].value);
    if (w->count > 0)
        qs_buf_char(out, ']');
}
