#include "proto/codec.h"
#include "proto/msg_result.h"

/* The largest CLOSED there can be fits one frame, so an agent never has to drop evidence to report. */
enum {
    NAME_BYTES = 2 + QS_NAME_MAX_BYTES,
    LARGEST_FIXED = 16 + 4 + 1 + 1 + 4 + 8 + 8 + 8 + 8 + 1 + 4 + 8 + 4 + 4 + 4,
    LARGEST_LISTS = 2 + QS_GATE_MAX * (NAME_BYTES + 17) + 2 + QS_EVIDENCE_MAX * (NAME_BYTES + 17) + 2 +
                    QS_TAINTS_MAX * (NAME_BYTES + 20) + 2 + QS_DECLARED_MAX * (2 * NAME_BYTES + 1),
    LARGEST_TEXTS = 2 * (2 + QS_NOTE_MAX_BYTES) + 8 + 2 * (2 + QS_OUTPUT_MAX_BYTES)
};
_Static_assert(LARGEST_FIXED + LARGEST_LISTS + LARGEST_TEXTS <= QS_FRAME_MAX_BYTES,
               "CLOSED must fit a frame");

static struct qs_reading read_reading(struct qs_wire_reader *r)
{
    struct qs_reading v = {.sensor = qs_get_text(r)};
    v.status = (enum qs_reading_status)qs_get_u8(r);
    v.value = qs_get_i64(r);
    v.age_ns = qs_get_i64(r);
    bool valid = qs_codec_is_name(v.sensor) && (unsigned)v.status <= QS_READING_SPOILT && v.age_ns >= 0;
    if (r->err == QS_WIRE_OK && !valid)
        r->err = QS_WIRE_E_VALUE;
    return v;
}

static void walk_reading(struct qs_wire_reader *r)
{
    (void)read_reading(r);
}

bool qs_list_reading(struct qs_iter *it, struct qs_reading *out)
{
    if (!qs_codec_next(it))
        return false;
    *out = read_reading(&it->r);
    return it->r.err == QS_WIRE_OK;
}

bool qs_build_reading(struct qs_build *b, const struct qs_reading *v)
{
    qs_put_text(&b->w, v->sensor);
    qs_put_u8(&b->w, (uint8_t)v->status);
    qs_put_i64(&b->w, v->value);
    qs_put_i64(&b->w, v->age_ns);
    return qs_build_counted(b);
}

static struct qs_evidence read_evidence(struct qs_wire_reader *r)
{
    struct qs_evidence v = {.kind = qs_get_text(r)};
    v.status = (enum qs_reading_status)qs_get_u8(r);
    v.before = qs_get_i64(r);
    v.after = qs_get_i64(r);
    bool valid = qs_codec_is_name(v.kind) && (unsigned)v.status <= QS_READING_SPOILT;
    if (r->err == QS_WIRE_OK && !valid)
        r->err = QS_WIRE_E_VALUE;
    return v;
}

static void walk_evidence(struct qs_wire_reader *r)
{
    (void)read_evidence(r);
}

bool qs_list_evidence(struct qs_iter *it, struct qs_evidence *out)
{
    if (!qs_codec_next(it))
        return false;
    *out = read_evidence(&it->r);
    return it->r.err == QS_WIRE_OK;
}

bool qs_build_evidence(struct qs_build *b, const struct qs_evidence *v)
{
    qs_put_text(&b->w, v->kind);
    qs_put_u8(&b->w, (uint8_t)v->status);
    qs_put_i64(&b->w, v->before);
    qs_put_i64(&b->w, v->after);
    return qs_build_counted(b);
}

static struct qs_taint read_taint(struct qs_wire_reader *r)
{
    struct qs_taint v = {.iteration = qs_get_i32(r)};
    v.code = qs_get_text(r);
    v.value = qs_get_i64(r);
    v.bound = qs_get_i64(r);
    bool valid = qs_codec_is_name(v.code) && v.iteration >= -1 && v.iteration < QS_ITERATIONS_MAX;
    if (r->err == QS_WIRE_OK && !valid)
        r->err = QS_WIRE_E_VALUE;
    return v;
}

static void walk_taint(struct qs_wire_reader *r)
{
    (void)read_taint(r);
}

bool qs_list_taint(struct qs_iter *it, struct qs_taint *out)
{
    if (!qs_codec_next(it))
        return false;
    *out = read_taint(&it->r);
    return it->r.err == QS_WIRE_OK;
}

bool qs_build_taint(struct qs_build *b, const struct qs_taint *v)
{
    qs_put_i32(&b->w, v->iteration);
    qs_put_text(&b->w, v->code);
    qs_put_i64(&b->w, v->value);
    qs_put_i64(&b->w, v->bound);
    return qs_build_counted(b);
}

static bool closed_fits(const struct qs_msg_closed *m)
{
    return !qs_uid_is_zero(&m->run) && (unsigned)m->phase <= QS_PHASE_TRACED &&
           (m->phase != QS_PHASE_TUNE || m->evals > 0) && (unsigned)m->how <= QS_CLOSED_GATE_TIMEOUT &&
           m->iterations <= QS_ITERATIONS_MAX && (unsigned)m->gate.outcome <= QS_GATE_FAIL &&
           qs_codec_is_note(m->gate.busiest) && qs_codec_is_note(m->failure) && m->evals <= QS_EVALS_MAX &&
           (m->evals > 0 || m->declared.count == 0) &&
           (m->apart || (m->errors_bytes == 0 && m->errors.n == 0));
}

static void put_gate(struct qs_writer *w, const struct qs_gate_record *g)
{
    qs_put_i64(w, g->began_ns);
    qs_put_i64(w, g->decided_ns);
    qs_put_u8(w, (uint8_t)g->outcome);
    qs_put_u32(w, g->polls);
    qs_codec_put_list(w, &g->readings, QS_GATE_MAX, QS_FRAME_MAX_BYTES, walk_reading);
    qs_put_text(w, g->busiest);
}

static void get_gate(struct qs_wire_reader *r, struct qs_gate_record *g)
{
    g->began_ns = qs_get_i64(r);
    g->decided_ns = qs_get_i64(r);
    g->outcome = (enum qs_gate_outcome)qs_get_u8(r);
    g->polls = qs_get_u32(r);
    g->readings = qs_codec_get_list(r, QS_GATE_MAX, QS_FRAME_MAX_BYTES, walk_reading);
    g->busiest = qs_get_text(r);
}

bool qs_msg_encode_closed(struct qs_writer *w, const struct qs_msg_closed *m)
{
    qs_codec_allow(w, closed_fits(m));
    qs_put_uid(w, &m->run);
    qs_put_u32(w, m->window);
    qs_put_u8(w, (uint8_t)m->phase);
    qs_put_u8(w, (uint8_t)m->how);
    qs_put_u32(w, m->iterations);
    qs_put_i64(w, m->opened_ns);
    qs_put_i64(w, m->closed_ns);
    put_gate(w, &m->gate);
    qs_codec_put_list(w, &m->evidence, QS_EVIDENCE_MAX, QS_FRAME_MAX_BYTES, walk_evidence);
    qs_codec_put_list(w, &m->taints, QS_TAINTS_MAX, QS_FRAME_MAX_BYTES, walk_taint);
    qs_put_u64(w, m->output_bytes);
    qs_put_blob(w, m->output);
    qs_put_text(w, m->failure);
    qs_put_u32(w, m->frames_in_window);
    qs_put_u32(w, m->unread_bytes_at_close);
    if (m->evals > 0 || m->apart) {
        qs_put_u32(w, m->evals);
        qs_declared_put(w, &m->declared);
    }
    if (m->apart) {
        qs_put_u64(w, m->errors_bytes);
        qs_put_blob(w, m->errors);
    }
    return w->ok;
}

int qs_msg_decode_closed(const uint8_t *p, size_t n, struct qs_msg_closed *m)
{
    struct qs_wire_reader r;
    qs_reader_init(&r, p, n);
    m->run = qs_get_uid(&r);
    m->window = qs_get_u32(&r);
    m->phase = (enum qs_phase)qs_get_u8(&r);
    m->how = (enum qs_closed_how)qs_get_u8(&r);
    m->iterations = qs_get_u32(&r);
    m->opened_ns = qs_get_i64(&r);
    m->closed_ns = qs_get_i64(&r);
    get_gate(&r, &m->gate);
    m->evidence = qs_codec_get_list(&r, QS_EVIDENCE_MAX, QS_FRAME_MAX_BYTES, walk_evidence);
    m->taints = qs_codec_get_list(&r, QS_TAINTS_MAX, QS_FRAME_MAX_BYTES, walk_taint);
    m->output_bytes = qs_get_u64(&r);
    m->output = qs_get_blob(&r);
    m->failure = qs_get_text(&r);
    m->frames_in_window = qs_get_u32(&r);
    m->unread_bytes_at_close = qs_get_u32(&r);
    bool harness = r.err == QS_WIRE_OK && r.left > 0;
    m->evals = harness ? qs_get_u32(&r) : 0;
    m->declared = harness ? qs_declared_get(&r) : (struct qs_list){.count = 0};
    m->apart = r.err == QS_WIRE_OK && r.left > 0;
    m->errors_bytes = m->apart ? qs_get_u64(&r) : 0;
    m->errors = m->apart ? qs_get_blob(&r) : (struct qs_text){.n = 0};
    return qs_codec_decoded(&r, closed_fits(m) && (m->evals > 0 || m->apart || !harness));
}

bool qs_msg_encode_read(struct qs_writer *w, const struct qs_msg_read *m)
{
    qs_put_u32(w, m->id);
    return w->ok;
}

int qs_msg_decode_read(const uint8_t *p, size_t n, struct qs_msg_read *m)
{
    struct qs_wire_reader r;
    qs_reader_init(&r, p, n);
    m->id = qs_get_u32(&r);
    return qs_codec_decoded(&r, true);
}

bool qs_msg_encode_readings(struct qs_writer *w, const struct qs_msg_readings *m)
{
    qs_put_u32(w, m->id);
    qs_codec_put_list(w, &m->readings, QS_EVIDENCE_MAX, QS_FRAME_MAX_BYTES, walk_reading);
    return w->ok;
}

int qs_msg_decode_readings(const uint8_t *p, size_t n, struct qs_msg_readings *m)
{
    struct qs_wire_reader r;
    qs_reader_init(&r, p, n);
    m->id = qs_get_u32(&r);
    m->readings = qs_codec_get_list(&r, QS_EVIDENCE_MAX, QS_FRAME_MAX_BYTES, walk_reading);
    return qs_codec_decoded(&r, true);
}
