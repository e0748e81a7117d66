/* From a message to bytes on the link. */
#include "device/session/impl.h"

bool qs_session_send(struct qs_session *s, enum qs_msg_type type, const void *m, struct qs_err *err)
{
    struct qs_writer *w = &s->w;
    qs_writer_init(w, s->tx, sizeof s->tx);
    size_t at = qs_frame_begin(w);
    qs_msg_encode((uint8_t)type, w, m);
    bool whole = w->len - QS_FRAME_HEADER_BYTES <= s->agreed.max_frame_bytes &&
                 qs_frame_end_sealed(w, at, (uint8_t)type, s->tx_seq, &s->tx_seal);
    if (!whole)
        return qs_fail(err, QS_E_LIMIT, "%s: %s does not fit the limits of the wire", s->name,
                       qs_msg_name((uint8_t)type));
    if (!qs_link_send(s->link, s->tx, w->len, err))
        return false;
    s->tx_seq++;
    return true;
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
    qs_session_send(s, QS_MSG_ERROR, &m, NULL);
}
