/* From a message to bytes on the link. */
#include "device/session_impl.h"

size_t qs_session_frame(struct qs_session *s)
{
    qs_writer_init(&s->w, s->tx, sizeof s->tx);
    return qs_frame_begin(&s->w);
}

bool qs_session_put(struct qs_session *s, size_t at, enum qs_msg_type type, struct qs_err *err)
{
    bool whole = s->w.len - QS_FRAME_HEADER_BYTES <= s->agreed.max_frame_bytes &&
                 qs_frame_end_sealed(&s->w, at, (uint8_t)type, s->tx_seq, &s->tx_seal);
    if (!whole)
        return qs_fail(err, QS_E_LIMIT, "%s: %s does not fit the limits of the wire", s->name,
                       qs_msg_name((uint8_t)type));
    if (!qs_link_send(s->link, s->tx, s->w.len, err))
        return false;
    s->tx_seq++;
    return true;
}

bool qs_session_send_empty(struct qs_session *s, enum qs_msg_type type, struct qs_err *err)
{
    return qs_session_put(s, qs_session_frame(s), type, err);
}

bool qs_session_send_run_seq(struct qs_session *s, enum qs_msg_type type, const struct qs_msg_run_seq *m,
                             struct qs_err *err)
{
    size_t at = qs_session_frame(s);
    qs_msg_encode_run_seq(&s->w, m);
    return qs_session_put(s, at, type, err);
}

/* Tells the agent why it loses the link, where it is to blame; a link that is down takes nothing. */
void qs_session_send_error(struct qs_session *s, const struct qs_err *why)
{
    uint16_t code = 0;
    if (why->code == QS_E_PROTOCOL)
        code = QS_CODE_PROTOCOL;
    if (why->code == QS_E_AUTH)
        code = QS_CODE_AUTH;
    if (code == 0)
        return;
    struct qs_msg_error m = {.code = code, .blame = QS_WIRE_BLAME_DEVICE, .text = qs_text_of(why->text)};
    size_t at = qs_session_frame(s);
    qs_msg_encode_error(&s->w, &m);
    qs_session_put(s, at, QS_MSG_ERROR, NULL);
}
