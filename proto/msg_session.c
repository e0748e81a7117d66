#include "proto/msg_session.h"

#include "proto/codec.h"

static bool versions_fit(uint8_t proto_min, uint8_t proto_max)
{
    return proto_min >= 1 && proto_min <= proto_max;
}

static bool hello_host_fits(const struct qs_msg_hello_host *m)
{
    return versions_fit(m->proto_min, m->proto_max) && !qs_uid_is_zero(&m->farm) &&
           !qs_uid_is_zero(&m->session) && m->heartbeat_ms >= QS_HEARTBEAT_MIN_MS &&
           m->heartbeat_ms <= QS_HEARTBEAT_MAX_MS && m->max_frame_bytes >= QS_FRAME_FLOOR_BYTES &&
           qs_codec_is_note(m->software);
}

bool qs_msg_encode_hello_host(struct qs_writer *w, const struct qs_msg_hello_host *m)
{
    qs_codec_allow(w, hello_host_fits(m));
    qs_put_u8(w, m->proto_min);
    qs_put_u8(w, m->proto_max);
    qs_put_u32(w, m->features);
    qs_put_uid(w, &m->farm);
    qs_put_uid(w, &m->session);
    qs_put_bytes(w, m->reserved, sizeof m->reserved);
    qs_put_u32(w, m->heartbeat_ms);
    qs_put_u32(w, m->max_frame_bytes);
    qs_put_text(w, m->software);
    return w->ok;
}

int qs_msg_decode_hello_host(const uint8_t *p, size_t n, struct qs_msg_hello_host *m)
{
    struct qs_wire_reader r;
    qs_reader_init(&r, p, n);
    m->proto_min = qs_get_u8(&r);
    m->proto_max = qs_get_u8(&r);
    m->features = qs_get_u32(&r);
    m->farm = qs_get_uid(&r);
    m->session = qs_get_uid(&r);
    qs_get_bytes(&r, m->reserved, sizeof m->reserved);
    m->heartbeat_ms = qs_get_u32(&r);
    m->max_frame_bytes = qs_get_u32(&r);
    m->software = qs_get_text(&r);
    return qs_codec_decoded(&r, hello_host_fits(m));
}

static bool hello_agent_fits(const struct qs_msg_hello_agent *m)
{
    return versions_fit(m->proto_min, m->proto_max) && !qs_uid_is_zero(&m->session) &&
           (unsigned)m->auth <= QS_AUTH_SEALED && qs_codec_is_note(m->software) &&
           qs_codec_is_name(m->boot_id) && qs_codec_is_name(m->clock) &&
           m->max_frame_bytes >= QS_FRAME_FLOOR_BYTES && m->max_iterations >= 1 &&
           m->max_iterations <= QS_ITERATIONS_MAX && m->clock_resolution_ns >= 0;
}

bool qs_msg_encode_hello_agent(struct qs_writer *w, const struct qs_msg_hello_agent *m)
{
    qs_codec_allow(w, hello_agent_fits(m));
    qs_put_u8(w, m->proto_min);
    qs_put_u8(w, m->proto_max);
    qs_put_u32(w, m->features);
    qs_put_uid(w, &m->session);
    qs_put_bytes(w, m->nonce, sizeof m->nonce);
    qs_put_u8(w, (uint8_t)m->auth);
    qs_put_text(w, m->software);
    qs_put_text(w, m->boot_id);
    qs_put_text(w, m->clock);
    qs_put_u32(w, m->max_frame_bytes);
    qs_put_u32(w, m->max_iterations);
    qs_put_i64(w, m->clock_resolution_ns);
    qs_put_u32(w, m->clock_cost_ps);
    return w->ok;
}

int qs_msg_decode_hello_agent(const uint8_t *p, size_t n, struct qs_msg_hello_agent *m)
{
    struct qs_wire_reader r;
    qs_reader_init(&r, p, n);
    m->proto_min = qs_get_u8(&r);
    m->proto_max = qs_get_u8(&r);
    m->features = qs_get_u32(&r);
    m->session = qs_get_uid(&r);
    qs_get_bytes(&r, m->nonce, sizeof m->nonce);
    m->auth = (enum qs_auth_kind)qs_get_u8(&r);
    m->software = qs_get_text(&r);
    m->boot_id = qs_get_text(&r);
    m->clock = qs_get_text(&r);
    m->max_frame_bytes = qs_get_u32(&r);
    m->max_iterations = qs_get_u32(&r);
    m->clock_resolution_ns = qs_get_i64(&r);
    m->clock_cost_ps = qs_get_u32(&r);
    return qs_codec_decoded(&r, hello_agent_fits(m));
}

bool qs_msg_encode_auth(struct qs_writer *w, const struct qs_msg_auth *m)
{
    qs_put_bytes(w, m->mac, sizeof m->mac);
    return w->ok;
}

int qs_msg_decode_auth(const uint8_t *p, size_t n, struct qs_msg_auth *m)
{
    struct qs_wire_reader r;
    qs_reader_init(&r, p, n);
    qs_get_bytes(&r, m->mac, sizeof m->mac);
    return qs_codec_decoded(&r, true);
}

bool qs_msg_encode_ping(struct qs_writer *w, const struct qs_msg_ping *m)
{
    qs_put_u64(w, m->id);
    qs_put_i64(w, m->t_send_ns);
    return w->ok;
}

int qs_msg_decode_ping(const uint8_t *p, size_t n, struct qs_msg_ping *m)
{
    struct qs_wire_reader r;
    qs_reader_init(&r, p, n);
    m->id = qs_get_u64(&r);
    m->t_send_ns = qs_get_i64(&r);
    return qs_codec_decoded(&r, true);
}

bool qs_msg_encode_pong(struct qs_writer *w, const struct qs_msg_pong *m)
{
    qs_put_u64(w, m->id);
    qs_put_i64(w, m->t_send_ns);
    qs_put_i64(w, m->t_recv_ns);
    qs_put_i64(w, m->t_reply_ns);
    return w->ok;
}

int qs_msg_decode_pong(const uint8_t *p, size_t n, struct qs_msg_pong *m)
{
    struct qs_wire_reader r;
    qs_reader_init(&r, p, n);
    m->id = qs_get_u64(&r);
    m->t_send_ns = qs_get_i64(&r);
    m->t_recv_ns = qs_get_i64(&r);
    m->t_reply_ns = qs_get_i64(&r);
    return qs_codec_decoded(&r, true);
}

static bool error_fits(const struct qs_msg_error *m)
{
    return (unsigned)m->blame >= QS_WIRE_BLAME_OPERATOR && (unsigned)m->blame <= QS_WIRE_BLAME_QUIESCE &&
           qs_codec_is_note(m->text);
}

bool qs_msg_encode_error(struct qs_writer *w, const struct qs_msg_error *m)
{
    qs_codec_allow(w, error_fits(m));
    qs_put_uid(w, &m->run);
    qs_put_u16(w, m->code);
    qs_put_u8(w, (uint8_t)m->blame);
    qs_put_text(w, m->text);
    return w->ok;
}

int qs_msg_decode_error(const uint8_t *p, size_t n, struct qs_msg_error *m)
{
    struct qs_wire_reader r;
    qs_reader_init(&r, p, n);
    m->run = qs_get_uid(&r);
    m->code = qs_get_u16(&r);
    m->blame = (enum qs_wire_blame)qs_get_u8(&r);
    m->text = qs_get_text(&r);
    return qs_codec_decoded(&r, error_fits(m));
}

bool qs_msg_encode_bye(struct qs_writer *w, const struct qs_msg_bye *m)
{
    qs_codec_allow(w, qs_codec_is_note(m->why));
    qs_put_text(w, m->why);
    return w->ok;
}

int qs_msg_decode_bye(const uint8_t *p, size_t n, struct qs_msg_bye *m)
{
    struct qs_wire_reader r;
    qs_reader_init(&r, p, n);
    m->why = qs_get_text(&r);
    return qs_codec_decoded(&r, qs_codec_is_note(m->why));
}
