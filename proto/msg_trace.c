#include "proto/msg_trace.h"

#include "proto/codec.h"

static bool trace_fits(const struct qs_msg_trace *m)
{
    return !qs_uid_is_zero(&m->run) && m->argv.count > 0 && qs_codec_is_path(m->cwd) &&
           m->user.n <= QS_NAME_MAX_BYTES && qs_codec_is_span(m->settle_ns) &&
           qs_codec_is_deadline(m->stop_ns) && m->max_bytes >= 1 && m->max_bytes <= QS_TRACE_MAX_BYTES;
}

bool qs_msg_encode_trace(struct qs_writer *w, const struct qs_msg_trace *m)
{
    qs_codec_allow(w, trace_fits(m));
    qs_put_uid(w, &m->run);
    qs_put_u32(w, m->id);
    qs_codec_put_list(w, &m->argv, QS_ARGV_MAX, QS_ARGV_MAX_BYTES, qs_codec_walk_text);
    qs_codec_put_list(w, &m->env, QS_ENV_MAX, QS_ENV_MAX_BYTES, qs_codec_walk_text);
    qs_put_text(w, m->cwd);
    qs_put_blob(w, m->input);
    qs_put_text(w, m->user);
    qs_put_i64(w, m->settle_ns);
    qs_put_i64(w, m->stop_ns);
    qs_put_u64(w, m->max_bytes);
    return w->ok;
}

int qs_msg_decode_trace(const uint8_t *p, size_t n, struct qs_msg_trace *m)
{
    struct qs_wire_reader r;
    qs_reader_init(&r, p, n);
    m->run = qs_get_uid(&r);
    m->id = qs_get_u32(&r);
    m->argv = qs_codec_get_list(&r, QS_ARGV_MAX, QS_ARGV_MAX_BYTES, qs_codec_walk_text);
    m->env = qs_codec_get_list(&r, QS_ENV_MAX, QS_ENV_MAX_BYTES, qs_codec_walk_text);
    m->cwd = qs_get_text(&r);
    m->input = qs_get_blob(&r);
    m->user = qs_get_text(&r);
    m->settle_ns = qs_get_i64(&r);
    m->stop_ns = qs_get_i64(&r);
    m->max_bytes = qs_get_u64(&r);
    return qs_codec_decoded(&r, trace_fits(m));
}

bool qs_msg_encode_trace_stop(struct qs_writer *w, const struct qs_msg_trace_stop *m)
{
    qs_codec_allow(w, !qs_uid_is_zero(&m->run));
    qs_put_uid(w, &m->run);
    qs_put_u32(w, m->id);
    return w->ok;
}

int qs_msg_decode_trace_stop(const uint8_t *p, size_t n, struct qs_msg_trace_stop *m)
{
    struct qs_wire_reader r;
    qs_reader_init(&r, p, n);
    m->run = qs_get_uid(&r);
    m->id = qs_get_u32(&r);
    return qs_codec_decoded(&r, !qs_uid_is_zero(&m->run));
}

static bool traced_fits(const struct qs_msg_traced *m)
{
    return (unsigned)m->status <= QS_TRACE_MISSING && (m->flags & ~(uint32_t)QS_TRACE_FLAGS) == 0 &&
           m->total_bytes <= QS_SEQ_MAX && m->said.n <= QS_TRACE_SAID_MAX_BYTES && qs_codec_is_note(m->why);
}

bool qs_msg_encode_traced(struct qs_writer *w, const struct qs_msg_traced *m)
{
    qs_codec_allow(w, traced_fits(m));
    qs_put_u32(w, m->id);
    qs_put_u8(w, (uint8_t)m->status);
    qs_put_u32(w, m->flags);
    qs_put_i64(w, m->started_ns);
    qs_put_i64(w, m->stopped_ns);
    qs_put_u64(w, m->total_bytes);
    qs_put_blob(w, m->said);
    qs_put_text(w, m->why);
    return w->ok;
}

int qs_msg_decode_traced(const uint8_t *p, size_t n, struct qs_msg_traced *m)
{
    struct qs_wire_reader r;
    qs_reader_init(&r, p, n);
    m->id = qs_get_u32(&r);
    m->status = (enum qs_trace_status)qs_get_u8(&r);
    m->flags = qs_get_u32(&r);
    m->started_ns = qs_get_i64(&r);
    m->stopped_ns = qs_get_i64(&r);
    m->total_bytes = qs_get_u64(&r);
    m->said = qs_get_blob(&r);
    m->why = qs_get_text(&r);
    return qs_codec_decoded(&r, traced_fits(m));
}
