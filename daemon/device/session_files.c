/* Files that are pushed to the agent: what is asked for, and its answers. */
#include "device/session_impl.h"

bool qs_session_can_take_files(const struct qs_session *s)
{
    return qs_session_is_ready(s) && (s->agreed.features & QS_FEATURE_FILES) != 0;
}

static bool allowed(struct qs_session *s, enum qs_session_event event, struct qs_err *err)
{
    if (!qs_session_may(s, event, err))
        return false;
    if (!qs_session_can_take_files(s))
        return qs_fail(
            err, QS_E_AGENT,
            "%s: the agent (%s) takes no files: it is too old, or has no place for them (its --cache DIR)",
            s->name, s->software);
    s->files.id++;
    return true;
}

/* `answer` is then the only one that counts. */
static bool ask(struct qs_session *s, enum qs_msg_type type, const void *m, enum qs_session_event event,
                enum qs_session_event answer, struct qs_err *err)
{
    if (!qs_session_send(s, type, m, err))
        return false;
    s->files.answer = answer;
    qs_session_fire(s, event, NULL);
    return true;
}

bool qs_session_have(struct qs_session *s, const struct qs_list *files, struct qs_err *err)
{
    if (!allowed(s, QS_SESSION_EV_HAVE, err))
        return false;
    const struct qs_msg_have m = {.id = s->files.id, .files = *files};
    return ask(s, QS_MSG_HAVE, &m, QS_SESSION_EV_HAVE, QS_SESSION_EV_HAVING, err);
}

bool qs_session_push(struct qs_session *s, const struct qs_content *file, struct qs_err *err)
{
    if (!allowed(s, QS_SESSION_EV_PUT, err))
        return false;
    const struct qs_msg_put m = {.id = s->files.id, .file = *file};
    s->files.bytes = file->bytes;
    s->files.sent = s->files.taken = 0;
    return ask(s, QS_MSG_PUT, &m, QS_SESSION_EV_PUT, QS_SESSION_EV_PUT_AT, err);
}

size_t qs_session_push_room(const struct qs_session *s)
{
    enum { HEAD_BYTES = 64 };
    size_t piece = s->agreed.max_frame_bytes - HEAD_BYTES;
    uint64_t ahead = s->files.sent - s->files.taken, left = s->files.bytes - s->files.sent;
    if (s->state != QS_SESSION_PUTTING || ahead >= QS_PUT_AHEAD_BYTES)
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
    qs_session_fire(s, QS_SESSION_EV_PUT_DATA, NULL);
    return true;
}

bool qs_session_stage(struct qs_session *s, uint16_t dir, const struct qs_list *places, struct qs_err *err)
{
    if (!allowed(s, QS_SESSION_EV_STAGE, err))
        return false;
    const struct qs_msg_stage m = {.id = s->files.id, .dir = dir, .places = *places};
    return ask(s, QS_MSG_STAGE, &m, QS_SESSION_EV_STAGE, QS_SESSION_EV_STAGED, err);
}

bool qs_session_clean(struct qs_session *s, enum qs_clean_what what, struct qs_err *err)
{
    if (!allowed(s, QS_SESSION_EV_CLEAN, err))
        return false;
    const struct qs_msg_clean m = {.id = s->files.id, .what = what};
    return ask(s, QS_MSG_CLEAN, &m, QS_SESSION_EV_CLEAN, QS_SESSION_EV_CLEANED, err);
}

static bool is_put_at_ours(const struct qs_session *s, const struct qs_msg_put_at *m)
{
    bool whole = m->status != QS_PUT_KEPT || m->offset == s->files.bytes;
    /* A file that was there already is kept without a byte of ours. */
    bool sent = m->status == QS_PUT_KEPT || m->offset <= s->files.sent;
    return m->id == s->files.id && whole && sent && m->offset >= s->files.taken;
}

bool qs_session_is_files_answer(const struct qs_session *s, enum qs_session_event event,
                                const union qs_msg *m)
{
    if (event == QS_SESSION_EV_PUT_AT) /* of a file that was given up, it crossed what came after */
        return s->state == QS_SESSION_PUTTING ? is_put_at_ours(s, &m->put_at) : m->put_at.id < s->files.id;
    uint32_t id = event == QS_SESSION_EV_HAVING   ? m->having.id
                  : event == QS_SESSION_EV_STAGED ? m->staged.id
                                                  : m->cleaned.id;
    return id == s->files.id && event == s->files.answer;
}

bool qs_session_do_having(struct qs_session *s, const union qs_msg *m)
{
    if (s->events.on_having)
        s->events.on_having(&m->having, s->events.user);
    return true;
}

bool qs_session_do_put_at(struct qs_session *s, const union qs_msg *m)
{
    s->files.taken = m->put_at.offset;
    if (s->state == QS_SESSION_PUTTING)
        qs_session_arm_deadline(s);
    if (s->events.on_put_at)
        s->events.on_put_at(&m->put_at, s->events.user);
    return true;
}

bool qs_session_do_staged(struct qs_session *s, const union qs_msg *m)
{
    if (s->events.on_staged)
        s->events.on_staged(&m->staged, s->events.user);
    return true;
}

bool qs_session_do_cleaned(struct qs_session *s, const union qs_msg *m)
{
    if (s->events.on_cleaned)
        s->events.on_cleaned(&m->cleaned, s->events.user);
    return true;
}
