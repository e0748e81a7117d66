#include "proto/msg_load.h"

#include "proto/codec.h"

static bool load_fits(const struct qs_msg_load *m)
{
    return m->cpus.n <= QS_CPUS_MAX_BYTES && m->for_ms <= QS_LOAD_MAX_MS;
}

bool qs_msg_encode_load(struct qs_writer *w, const struct qs_msg_load *m)
{
    qs_codec_allow(w, load_fits(m));
    qs_put_u32(w, m->id);
    qs_put_text(w, m->cpus);
    qs_put_u32(w, m->for_ms);
    return w->ok;
}

int qs_msg_decode_load(const uint8_t *p, size_t n, struct qs_msg_load *m)
{
    struct qs_wire_reader r;
    qs_reader_init(&r, p, n);
    m->id = qs_get_u32(&r);
    m->cpus = qs_get_text(&r);
    m->for_ms = qs_get_u32(&r);
    return qs_codec_decoded(&r, load_fits(m));
}

static bool loaded_fits(const struct qs_msg_loaded *m)
{
    return m->outcome >= QS_LOAD_OFF && m->outcome <= QS_LOAD_FAILED;
}

bool qs_msg_encode_loaded(struct qs_writer *w, const struct qs_msg_loaded *m)
{
    qs_codec_allow(w, loaded_fits(m));
    qs_put_u32(w, m->id);
    qs_put_u8(w, (uint8_t)m->outcome);
    return w->ok;
}

int qs_msg_decode_loaded(const uint8_t *p, size_t n, struct qs_msg_loaded *m)
{
    struct qs_wire_reader r;
    qs_reader_init(&r, p, n);
    m->id = qs_get_u32(&r);
    m->outcome = (enum qs_load_outcome)qs_get_u8(&r);
    return qs_codec_decoded(&r, loaded_fits(m));
}
