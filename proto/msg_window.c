#include "proto/msg_window.h"

#include "proto/codec.h"

static bool expectation_fits(const struct qs_expectation *e)
{
    bool ordered =
        (e->flags & (QS_GATE_HAS_LO | QS_GATE_HAS_HI)) != (QS_GATE_HAS_LO | QS_GATE_HAS_HI) || e->lo <= e->hi;
    bool heats = (e->flags & QS_GATE_HEAT) != 0;
    return qs_codec_is_name(e->sensor) && (e->flags & ~QS_GATE_FLAGS) == 0 && ordered &&
           (!heats || (e->flags & (QS_GATE_HAS_LO | QS_GATE_HOLD)) == QS_GATE_HAS_LO) &&
           (!(e->flags & QS_GATE_RETURN) || (e->flags & (QS_GATE_HAS_HI | QS_GATE_HOLD)) == QS_GATE_HAS_HI) &&
           qs_codec_is_span(e->dwell_ns) && qs_codec_is_span(e->timeout_ns) &&
           (unsigned)e->on_timeout <= QS_GATE_ON_TIMEOUT_FAIL;
}

static struct qs_expectation read_expectation(struct qs_wire_reader *r)
{
    struct qs_expectation e = {.sensor = qs_get_text(r)};
    e.flags = qs_get_u8(r);
    e.lo = qs_get_i64(r);
    e.hi = qs_get_i64(r);
    e.dwell_ns = qs_get_i64(r);
    e.timeout_ns = qs_get_i64(r);
    e.on_timeout = (enum qs_gate_on_timeout)qs_get_u8(r);
    if (r->err == QS_WIRE_OK && !expectation_fits(&e))
        r->err = QS_WIRE_E_VALUE;
    return e;
}

static void walk_expectation(struct qs_wire_reader *r)
{
    (void)read_expectation(r);
}

bool qs_list_expectation(struct qs_iter *it, struct qs_expectation *out)
{
    if (!qs_codec_next(it))
        return false;
    *out = read_expectation(&it->r);
    return it->r.err == QS_WIRE_OK;
}

bool qs_build_expectation(struct qs_build *b, const struct qs_expectation *e)
{
    qs_put_text(&b->w, e->sensor);
    qs_put_u8(&b->w, e->flags);
    qs_put_i64(&b->w, e->lo);
    qs_put_i64(&b->w, e->hi);
    qs_put_i64(&b->w, e->dwell_ns);
    qs_put_i64(&b->w, e->timeout_ns);
    qs_put_u8(&b->w, (uint8_t)e->on_timeout);
    return qs_build_counted(b);
}

static struct qs_bound read_bound(struct qs_wire_reader *r)
{
    struct qs_bound v = {.kind = qs_get_text(r)};
    v.bound = qs_get_i64(r);
    if (r->err == QS_WIRE_OK && !qs_codec_is_name(v.kind))
        r->err = QS_WIRE_E_VALUE;
    return v;
}

static void walk_bound(struct qs_wire_reader *r)
{
    (void)read_bound(r);
}

bool qs_list_bound(struct qs_iter *it, struct qs_bound *out)
{
    if (!qs_codec_next(it))
        return false;
    *out = read_bound(&it->r);
    return it->r.err == QS_WIRE_OK;
}

bool qs_build_bound(struct qs_build *b, const struct qs_bound *v)
{
    qs_put_text(&b->w, v->kind);
    qs_put_i64(&b->w, v->bound);
    return qs_build_counted(b);
}

static bool open_fits(const struct qs_msg_open *m)
{
    return !qs_uid_is_zero(&m->run) && (unsigned)m->phase <= QS_PHASE_TRACED &&
           (m->phase != QS_PHASE_TUNE || m->evals > 0) && m->iterations >= 1 &&
           m->iterations <= QS_ITERATIONS_MAX && m->first_seq <= QS_SEQ_MAX - m->iterations &&
           qs_codec_is_deadline(m->max_ns) && qs_codec_is_span(m->quiet_lead_ns) &&
           qs_codec_is_deadline(m->lease_ns) && m->evals <= QS_EVALS_MAX;
}

bool qs_msg_encode_open(struct qs_writer *w, const struct qs_msg_open *m)
{
    qs_codec_allow(w, open_fits(m));
    qs_put_uid(w, &m->run);
    qs_put_u32(w, m->window);
    qs_put_u8(w, (uint8_t)m->phase);
    qs_put_u64(w, m->first_seq);
    qs_put_u32(w, m->iterations);
    qs_put_i64(w, m->max_ns);
    qs_put_i64(w, m->quiet_lead_ns);
    qs_put_i64(w, m->lease_ns);
    qs_codec_put_list(w, &m->gate, QS_GATE_MAX, QS_FRAME_MAX_BYTES, walk_expectation);
    qs_codec_put_list(w, &m->bounds, QS_BOUNDS_MAX, QS_FRAME_MAX_BYTES, walk_bound);
    if (m->evals > 0)
        qs_put_u32(w, m->evals);
    return w->ok;
}

int qs_msg_decode_open(const uint8_t *p, size_t n, struct qs_msg_open *m)
{
    struct qs_wire_reader r;
    qs_reader_init(&r, p, n);
    m->run = qs_get_uid(&r);
    m->window = qs_get_u32(&r);
    m->phase = (enum qs_phase)qs_get_u8(&r);
    m->first_seq = qs_get_u64(&r);
    m->iterations = qs_get_u32(&r);
    m->max_ns = qs_get_i64(&r);
    m->quiet_lead_ns = qs_get_i64(&r);
    m->lease_ns = qs_get_i64(&r);
    m->gate = qs_codec_get_list(&r, QS_GATE_MAX, QS_FRAME_MAX_BYTES, walk_expectation);
    m->bounds = qs_codec_get_list(&r, QS_BOUNDS_MAX, QS_FRAME_MAX_BYTES, walk_bound);
    bool said = r.err == QS_WIRE_OK && r.left > 0;
    m->evals = said ? qs_get_u32(&r) : 0;
    return qs_codec_decoded(&r, open_fits(m) && (m->evals > 0 || !said));
}

static bool waiting_fits(const struct qs_msg_waiting *m)
{
    return !qs_uid_is_zero(&m->run) && m->elapsed_ns >= 0 && m->expectation < QS_GATE_MAX &&
           (unsigned)m->status <= QS_READING_SPOILT && m->eta_ns >= -1 && qs_codec_is_note(m->note);
}

bool qs_msg_encode_waiting(struct qs_writer *w, const struct qs_msg_waiting *m)
{
    qs_codec_allow(w, waiting_fits(m));
    qs_put_uid(w, &m->run);
    qs_put_u32(w, m->window);
    qs_put_i64(w, m->elapsed_ns);
    qs_put_u16(w, m->expectation);
    qs_put_i64(w, m->value);
    qs_put_u8(w, (uint8_t)m->status);
    qs_put_i64(w, m->eta_ns);
    qs_put_text(w, m->note);
    return w->ok;
}

int qs_msg_decode_waiting(const uint8_t *p, size_t n, struct qs_msg_waiting *m)
{
    struct qs_wire_reader r;
    qs_reader_init(&r, p, n);
    m->run = qs_get_uid(&r);
    m->window = qs_get_u32(&r);
    m->elapsed_ns = qs_get_i64(&r);
    m->expectation = qs_get_u16(&r);
    m->value = qs_get_i64(&r);
    m->status = (enum qs_reading_status)qs_get_u8(&r);
    m->eta_ns = qs_get_i64(&r);
    m->note = qs_get_text(&r);
    return qs_codec_decoded(&r, waiting_fits(m));
}

bool qs_msg_encode_window(struct qs_writer *w, const struct qs_msg_window *m)
{
    qs_codec_allow(w, !qs_uid_is_zero(&m->run));
    qs_put_uid(w, &m->run);
    qs_put_u32(w, m->window);
    qs_put_u32(w, m->arming);
    return w->ok;
}

int qs_msg_decode_window(const uint8_t *p, size_t n, struct qs_msg_window *m)
{
    struct qs_wire_reader r;
    qs_reader_init(&r, p, n);
    m->run = qs_get_uid(&r);
    m->window = qs_get_u32(&r);
    m->arming = qs_get_u32(&r);
    return qs_codec_decoded(&r, !qs_uid_is_zero(&m->run));
}

static bool window_why_fits(const struct qs_msg_window_why *m)
{
    return !qs_uid_is_zero(&m->run) && qs_codec_is_note(m->why);
}

bool qs_msg_encode_window_why(struct qs_writer *w, const struct qs_msg_window_why *m)
{
    qs_codec_allow(w, window_why_fits(m));
    qs_put_uid(w, &m->run);
    qs_put_u32(w, m->window);
    qs_put_u32(w, m->arming);
    qs_put_text(w, m->why);
    return w->ok;
}

int qs_msg_decode_window_why(const uint8_t *p, size_t n, struct qs_msg_window_why *m)
{
    struct qs_wire_reader r;
    qs_reader_init(&r, p, n);
    m->run = qs_get_uid(&r);
    m->window = qs_get_u32(&r);
    m->arming = qs_get_u32(&r);
    m->why = qs_get_text(&r);
    return qs_codec_decoded(&r, window_why_fits(m));
}
