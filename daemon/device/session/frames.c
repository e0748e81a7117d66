#include "device/session/impl.h"

#include "base/text.h"

/* The event that a message of the agent is where nothing else decides; none: an answer to a request. */
static const enum qs_session_event events[QS_MSG_LAST + 1] = {
    [QS_MSG_HELLO_AGENT] = QS_SESSION_EV_HELLO_AGENT,
    [QS_MSG_AUTH] = QS_SESSION_EV_AUTH,
    [QS_MSG_PING] = QS_SESSION_EV_PING,
    [QS_MSG_PONG] = QS_SESSION_EV_PONG,
    [QS_MSG_FACTS] = QS_SESSION_EV_FACTS,
    [QS_MSG_HELD] = QS_SESSION_EV_HELD,
    [QS_MSG_WAITING] = QS_SESSION_EV_WAITING,
    [QS_MSG_ARM] = QS_SESSION_EV_ARM,
    [QS_MSG_DISARM] = QS_SESSION_EV_DISARM,
    [QS_MSG_CLOSED] = QS_SESSION_EV_CLOSED,
    [QS_MSG_ITERATIONS] = QS_SESSION_EV_ROWS,
    [QS_MSG_ERROR] = QS_SESSION_EV_ERROR,
    [QS_MSG_BYE] = QS_SESSION_EV_BYE,
    [QS_MSG_DOCUMENT] = QS_SESSION_EV_DOCUMENT,
};

static bool is_resending(const struct qs_session *s)
{
    return qs_session_is_asking(s, QS_MSG_RESEND);
}

/* Does an ERROR about this run answer what is awaited? */
static bool is_refusal(const struct qs_session *s, const struct qs_uid *run)
{
    bool at_gate = s->state == QS_SESSION_WAITING || s->state == QS_SESSION_ARMED;
    return (s->call.row && s->call.row->in_run && qs_uid_equal(run, &s->call.run)) ||
           (at_gate && qs_uid_equal(run, &s->run.uid));
}

/* Are these the last rows of the window, or of what was asked for again? */
static bool are_last(const struct qs_session *s, const struct qs_msg_iterations *m)
{
    if (is_resending(s))
        return m->first_seq + m->rows.count >= s->resend.next_seq;
    return m->rows.count >= s->run.rows_due - s->run.rows_come;
}

/* An answer (is_ours) moves as its row says. */
static enum qs_session_event answer(const struct qs_session *s, uint8_t type, const union qs_msg *m)
{
    if (qs_session_is_late(s, type, m))
        return QS_SESSION_EV_LATE;
    return s->call.row->next == QS_REQUEST_RUN    ? QS_SESSION_EV_OPENED
           : s->call.row->next == QS_REQUEST_IDLE ? QS_SESSION_EV_ENDED
                                                  : QS_SESSION_EV_ANSWER;
}

static enum qs_session_event again(const struct qs_session *s, uint8_t type, const union qs_msg *m)
{
    if (type == QS_MSG_CLOSED)
        return QS_SESSION_EV_CLOSED_AGAIN;
    if (type == QS_MSG_DOCUMENT)
        return QS_SESSION_EV_DOCUMENT_AGAIN;
    return are_last(s, &m->iterations) ? QS_SESSION_EV_ROWS_AGAIN_LAST : QS_SESSION_EV_ROWS_AGAIN;
}

/* The event that a message is, where its type alone does not tell. */
static enum qs_session_event tell_apart(const struct qs_session *s, uint8_t type, const union qs_msg *m)
{
    bool of_window = type == QS_MSG_CLOSED || type == QS_MSG_DOCUMENT || type == QS_MSG_ITERATIONS;
    if (of_window && is_resending(s))
        return again(s, type, m);
    if (qs_request_is_reply(type))
        return qs_session_is_ready(s) ? answer(s, type, m) : QS_SESSION_EV_ANSWER;
    if (type == QS_MSG_CLOSED && m->closed.iterations == 0)
        return QS_SESSION_EV_CLOSED_EMPTY;
    if (type == QS_MSG_ITERATIONS && are_last(s, &m->iterations))
        return QS_SESSION_EV_ROWS_LAST;
    if (type == QS_MSG_ERROR && is_refusal(s, &m->error.run))
        return QS_SESSION_EV_REFUSED;
    return events[type];
}

/* Messages about another run, window or request than the open one are no message at all in this state. */
static bool is_ours(const struct qs_session *s, uint8_t type, const union qs_msg *m)
{
    const struct qs_session_run *run = &s->run;
    if (qs_request_is_reply(type))
        return qs_session_is_answer(s, type, m) || qs_session_is_late(s, type, m);
    if (type == QS_MSG_WAITING)
        return qs_uid_equal(&m->waiting.run, &run->uid) && m->waiting.window == run->window;
    if (type == QS_MSG_ARM)
        return qs_uid_equal(&m->window.run, &run->uid) && m->window.window == run->window;
    if (type == QS_MSG_DISARM)
        return qs_uid_equal(&m->window_why.run, &run->uid) && m->window_why.window == run->window;
    if (type == QS_MSG_CLOSED && is_resending(s))
        return qs_uid_equal(&m->closed.run, &s->resend.run);
    if (type == QS_MSG_CLOSED)
        return qs_uid_equal(&m->closed.run, &run->uid) && m->closed.window == run->window;
    return true; /* rows are checked where they are counted */
}

static void lose(struct qs_session *s)
{
    qs_session_fire(s, QS_SESSION_EV_LOST, NULL);
}

void qs_session_take_frame(struct qs_session *s, const struct qs_frame *frame)
{
    union qs_msg m;
    int accepted = qs_msg_accept(frame->type, QS_SIDE_AGENT);
    if (accepted == 0) { /* a newer agent's, not needed */
        s->silence.noise++;
        return;
    }
    int status = accepted > 0 ? qs_msg_decode(frame->type, frame->payload, frame->len, &m) : accepted;
    if (status < 0) {
        qs_session_broken(s, QS_E_PROTOCOL, "%s: %s (message %u): %s", s->name, qs_msg_name(frame->type),
                          (unsigned)frame->type, qs_wire_err_text(status));
        lose(s);
        return;
    }
    if (frame->type == QS_MSG_HELLO_AGENT)
        qs_sha256_add(&s->hellos, frame->payload, frame->len);
    if (qs_session_is_ready(s) && !is_ours(s, frame->type, &m)) {
        qs_session_broken(s, QS_E_PROTOCOL,
                          "%s: %s is about another run, window or request than the open one", s->name,
                          qs_msg_name(frame->type));
        lose(s);
        return;
    }
    qs_session_fire(s, tell_apart(s, frame->type, &m), &m);
}

void qs_session_noise(const struct qs_session *s, struct qs_buf *out)
{
    const struct qs_framer *f = &s->framer;
    size_t kept = f->noise_bytes < QS_NOISE_HEAD_BYTES ? f->noise_bytes : QS_NOISE_HEAD_BYTES;
    qs_text_first_line(out, (const char *)f->noise_head, kept);
}

void qs_session_quote_noise(const struct qs_session *s, struct qs_buf *out)
{
    if (s->state != QS_SESSION_HELLO || s->framer.noise_bytes == 0)
        return;
    qs_buf_str(out, "; it said instead: ");
    qs_session_noise(s, out);
}

void qs_session_take_garbage(struct qs_session *s, int wire_err)
{
    QS_BUF(said);
    qs_session_quote_noise(s, &said);
    qs_session_broken(s, wire_err == QS_WIRE_E_SEAL ? QS_E_LINK : QS_E_PROTOCOL,
                      "%s: the stream is broken: %s%s", s->name, qs_wire_err_text(wire_err), said.data);
    lose(s);
}

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
