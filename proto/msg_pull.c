#include "proto/msg_pull.h"

#include "proto/codec.h"

static bool pull_fits(const struct qs_msg_pull *m)
{
    return !qs_uid_is_zero(&m->run) && (unsigned)m->source <= QS_PULL_TRACE && qs_codec_is_path(m->path) &&
           (m->path.n > 0) == (m->source == QS_PULL_FILE) && m->offset <= QS_SEQ_MAX && m->max_bytes >= 1 &&
           m->max_bytes <= QS_PULL_MAX_BYTES;
}

bool qs_msg_encode_pull(struct qs_writer *w, const struct qs_msg_pull *m)
{
    qs_codec_allow(w, pull_fits(m));
    qs_put_uid(w, &m->run);
    qs_put_u32(w, m->id);
    qs_put_u8(w, (uint8_t)m->source);
    qs_put_text(w, m->path);
    qs_put_u64(w, m->offset);
    qs_put_u32(w, m->max_bytes);
    return w->ok;
}

int qs_msg_decode_pull(const uint8_t *p, size_t n, struct qs_msg_pull *m)
{
    struct qs_wire_reader r;
    qs_reader_init(&r, p, n);
    m->run = qs_get_uid(&r);
    m->id = qs_get_u32(&r);
    m->source = (enum qs_pull_source)qs_get_u8(&r);
    m->path = qs_get_text(&r);
    m->offset = qs_get_u64(&r);
    m->max_bytes = qs_get_u32(&r);
    return qs_codec_decoded(&r, pull_fits(m));
}

static bool pulled_fits(const struct qs_msg_pulled *m)
{
    return (unsigned)m->status <= QS_PULL_NO_FILE && m->offset <= QS_SEQ_MAX &&
           m->bytes.n <= QS_PULL_MAX_BYTES && (m->status == QS_PULL_OK || m->bytes.n == 0) &&
           qs_codec_is_note(m->why);
}

bool qs_msg_encode_pulled(struct qs_writer *w, const struct qs_msg_pulled *m)
{
    qs_codec_allow(w, pulled_fits(m));
    qs_put_u32(w, m->id);
    qs_put_u8(w, (uint8_t)m->status);
    qs_put_u64(w, m->total_bytes);
    qs_put_u64(w, m->offset);
    qs_put_blob(w, m->bytes);
    qs_put_text(w, m->why);
    return w->ok;
}

int qs_msg_decode_pulled(const uint8_t *p, size_t n, struct qs_msg_pulled *m)
{
    struct qs_wire_reader r;
    qs_reader_init(&r, p, n);
    m->id = qs_get_u32(&r);
    m->status = (enum qs_pull_status)qs_get_u8(&r);
    m->total_bytes = qs_get_u64(&r);
    m->offset = qs_get_u64(&r);
    m->bytes = qs_get_blob(&r);
    m->why = qs_get_text(&r);
    return qs_codec_decoded(&r, pulled_fits(m));
}
