/* A file on its way to the agent, and what its cache last said. */
#include "device/session/impl.h"

uint32_t qs_session_next_file_id(const struct qs_session *s)
{
    return s->files.id + 1;
}

bool qs_session_cache(const struct qs_session *s, struct qs_session_cache *ret)
{
    *ret = s->cache;
    return s->cache_known;
}

size_t qs_session_push_room(const struct qs_session *s)
{
    enum { HEAD_BYTES = 64 };
    size_t piece = s->agreed.max_frame_bytes - HEAD_BYTES;
    uint64_t ahead = s->files.sent - s->files.taken, left = s->files.bytes - s->files.sent;
    if (!qs_session_is_asking(s, QS_MSG_PUT) || ahead >= QS_PUT_AHEAD_BYTES)
        return 0;
    piece = piece < QS_PUT_MAX_BYTES ? piece : QS_PUT_MAX_BYTES;
    piece = piece < QS_PUT_AHEAD_BYTES - ahead ? piece : (size_t)(QS_PUT_AHEAD_BYTES - ahead);
    return piece < left ? piece : (size_t)left;
}

bool qs_session_push_data(struct qs_session *s, const void *bytes, size_t n, struct qs_err *err)
{
    if (!qs_session_may(s, QS_SESSION_EV_PUT_DATA, err))
        return false;
    if (n == 0 || n > qs_session_push_room(s))
        return qs_fail(err, QS_E_LIMIT, "%s: %zu bytes are not what may be sent now", s->name, n);
    const struct qs_msg_put_data m = {
        .id = s->files.id, .offset = s->files.sent, .data = {.p = bytes, .n = (uint16_t)n}};
    if (!qs_session_send(s, QS_MSG_PUT_DATA, &m, err))
        return false;
    s->files.sent += n;
    qs_session_arm_deadline(s);
    qs_session_fire(s, QS_SESSION_EV_PUT_DATA, NULL);
    return true;
}
