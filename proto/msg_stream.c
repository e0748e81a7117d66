#include "proto/msg_stream.h"

#include "proto/codec.h"

bool qs_stream_fits(const struct qs_stream *s)
{
    return (unsigned)s->source <= QS_STREAM_FILE && qs_codec_is_path(s->path) &&
           (s->path.n > 0) == (s->source == QS_STREAM_FILE) && s->document_max_bytes >= 1 &&
           s->document_max_bytes <= QS_DOCUMENT_MAX_BYTES;
}

void qs_stream_put(struct qs_writer *w, const struct qs_stream *s)
{
    qs_put_u8(w, (uint8_t)s->source);
    qs_put_text(w, s->path);
    qs_put_u32(w, s->document_max_bytes);
}

void qs_stream_get(struct qs_wire_reader *r, struct qs_stream *s)
{
    s->source = (enum qs_stream_source)qs_get_u8(r);
    s->path = qs_get_text(r);
    s->document_max_bytes = qs_get_u32(r);
}

static bool document_fits(const struct qs_msg_document *m)
{
    return !qs_uid_is_zero(&m->run) && (unsigned)m->status <= QS_PULL_NO_FILE &&
           m->total_bytes <= QS_SEQ_MAX && m->kept_bytes <= QS_DOCUMENT_MAX_BYTES &&
           m->kept_bytes <= m->total_bytes && (m->status == QS_PULL_OK || m->kept_bytes == 0) &&
           m->offset <= m->kept_bytes && m->bytes.n <= m->kept_bytes - m->offset &&
           (m->bytes.n > 0) == (m->kept_bytes > 0) && qs_codec_is_note(m->why);
}

bool qs_msg_encode_document(struct qs_writer *w, const struct qs_msg_document *m)
{
    qs_codec_allow(w, document_fits(m));
    qs_put_uid(w, &m->run);
    qs_put_u32(w, m->window);
    qs_put_u8(w, (uint8_t)m->status);
    qs_put_u64(w, m->total_bytes);
    qs_put_u32(w, m->kept_bytes);
    qs_put_u32(w, m->offset);
    qs_put_blob(w, m->bytes);
    qs_put_text(w, m->why);
    return w->ok;
}

int qs_msg_decode_document(const uint8_t *p, size_t n, struct qs_msg_document *m)
{
    struct qs_wire_reader r;
    qs_reader_init(&r, p, n);
    m->run = qs_get_uid(&r);
    m->window = qs_get_u32(&r);
    m->status = (enum qs_pull_status)qs_get_u8(&r);
    m->total_bytes = qs_get_u64(&r);
    m->kept_bytes = qs_get_u32(&r);
    m->offset = qs_get_u32(&r);
    m->bytes = qs_get_blob(&r);
    m->why = qs_get_text(&r);
    return qs_codec_decoded(&r, document_fits(m));
}
