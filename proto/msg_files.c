#include "proto/msg_files.h"

#include "proto/codec.h"

_Static_assert(2 + QS_FILE_NAME_MAX_BYTES + QS_SHA256_BYTES + 1 <= QS_STAGE_MAX_BYTES, "one place must fit");
_Static_assert(QS_STAGE_MAX_BYTES + 64 <= QS_FRAME_FLOOR_BYTES, "STAGE must fit the shortest frame");

static bool content_fits(const struct qs_content *v)
{
    return v->bytes <= QS_FILE_MAX_BYTES && (v->flags & ~(unsigned)QS_FILE_FLAGS) == 0;
}

static struct qs_content read_content(struct qs_wire_reader *r)
{
    struct qs_content v = {.bytes = 0};
    qs_get_bytes(r, v.sha256, sizeof v.sha256);
    v.bytes = qs_get_u64(r);
    v.flags = qs_get_u8(r);
    if (r->err == QS_WIRE_OK && !content_fits(&v))
        r->err = QS_WIRE_E_VALUE;
    return v;
}

static void walk_content(struct qs_wire_reader *r)
{
    (void)read_content(r);
}

static void put_content(struct qs_writer *w, const struct qs_content *v)
{
    qs_put_bytes(w, v->sha256, sizeof v->sha256);
    qs_put_u64(w, v->bytes);
    qs_put_u8(w, v->flags);
}

bool qs_list_content(struct qs_iter *it, struct qs_content *out)
{
    if (!qs_codec_next(it))
        return false;
    *out = read_content(&it->r);
    return it->r.err == QS_WIRE_OK;
}

bool qs_build_content(struct qs_build *b, const struct qs_content *v)
{
    put_content(&b->w, v);
    return qs_build_counted(b);
}

static struct qs_place read_place(struct qs_wire_reader *r)
{
    struct qs_place v = {.name = qs_get_text(r)};
    qs_get_bytes(r, v.sha256, sizeof v.sha256);
    v.flags = qs_get_u8(r);
    if (r->err == QS_WIRE_OK &&
        (!qs_codec_is_inside(v.name, QS_FILE_NAME_MAX_BYTES) || (v.flags & ~(unsigned)QS_FILE_FLAGS) != 0))
        r->err = QS_WIRE_E_VALUE;
    return v;
}

static void walk_place(struct qs_wire_reader *r)
{
    (void)read_place(r);
}

bool qs_list_place(struct qs_iter *it, struct qs_place *out)
{
    if (!qs_codec_next(it))
        return false;
    *out = read_place(&it->r);
    return it->r.err == QS_WIRE_OK;
}

bool qs_build_place(struct qs_build *b, const struct qs_place *v)
{
    qs_put_text(&b->w, v->name);
    qs_put_bytes(&b->w, v->sha256, sizeof v->sha256);
    qs_put_u8(&b->w, v->flags);
    return qs_build_counted(b);
}

bool qs_msg_encode_have(struct qs_writer *w, const struct qs_msg_have *m)
{
    qs_put_u32(w, m->id);
    qs_codec_put_list(w, &m->files, QS_FILES_MAX, QS_FRAME_MAX_BYTES, walk_content);
    return w->ok;
}

int qs_msg_decode_have(const uint8_t *p, size_t n, struct qs_msg_have *m)
{
    struct qs_wire_reader r;
    qs_reader_init(&r, p, n);
    m->id = qs_get_u32(&r);
    m->files = qs_codec_get_list(&r, QS_FILES_MAX, QS_FRAME_MAX_BYTES, walk_content);
    return qs_codec_decoded(&r, true);
}

static void walk_index(struct qs_wire_reader *r)
{
    if (qs_get_u16(r) >= QS_FILES_MAX && r->err == QS_WIRE_OK)
        r->err = QS_WIRE_E_VALUE;
}

bool qs_msg_encode_having(struct qs_writer *w, const struct qs_msg_having *m)
{
    qs_put_u32(w, m->id);
    qs_codec_put_list(w, &m->missing, QS_FILES_MAX, QS_FRAME_MAX_BYTES, walk_index);
    qs_put_u64(w, m->cache_bytes);
    qs_put_u64(w, m->free_bytes);
    qs_put_u64(w, m->most_bytes);
    return w->ok;
}

int qs_msg_decode_having(const uint8_t *p, size_t n, struct qs_msg_having *m)
{
    struct qs_wire_reader r;
    qs_reader_init(&r, p, n);
    m->id = qs_get_u32(&r);
    m->missing = qs_codec_get_list(&r, QS_FILES_MAX, QS_FRAME_MAX_BYTES, walk_index);
    m->cache_bytes = qs_get_u64(&r);
    m->free_bytes = qs_get_u64(&r);
    m->most_bytes = qs_get_u64(&r);
    return qs_codec_decoded(&r, true);
}

bool qs_msg_encode_put(struct qs_writer *w, const struct qs_msg_put *m)
{
    qs_codec_allow(w, content_fits(&m->file));
    qs_put_u32(w, m->id);
    put_content(w, &m->file);
    return w->ok;
}

int qs_msg_decode_put(const uint8_t *p, size_t n, struct qs_msg_put *m)
{
    struct qs_wire_reader r;
    qs_reader_init(&r, p, n);
    m->id = qs_get_u32(&r);
    m->file = read_content(&r);
    return qs_codec_decoded(&r, true);
}

static bool put_data_fits(const struct qs_msg_put_data *m)
{
    return m->offset <= QS_FILE_MAX_BYTES && m->data.n >= 1 && m->data.n <= QS_PUT_MAX_BYTES;
}

bool qs_msg_encode_put_data(struct qs_writer *w, const struct qs_msg_put_data *m)
{
    qs_codec_allow(w, put_data_fits(m));
    qs_put_u32(w, m->id);
    qs_put_u64(w, m->offset);
    qs_put_blob(w, m->data);
    return w->ok;
}

int qs_msg_decode_put_data(const uint8_t *p, size_t n, struct qs_msg_put_data *m)
{
    struct qs_wire_reader r;
    qs_reader_init(&r, p, n);
    m->id = qs_get_u32(&r);
    m->offset = qs_get_u64(&r);
    m->data = qs_get_blob(&r);
    return qs_codec_decoded(&r, put_data_fits(m));
}

static bool put_at_fits(const struct qs_msg_put_at *m)
{
    return (unsigned)m->status <= QS_PUT_FAILED && m->offset <= QS_FILE_MAX_BYTES && qs_codec_is_note(m->why);
}

bool qs_msg_encode_put_at(struct qs_writer *w, const struct qs_msg_put_at *m)
{
    qs_codec_allow(w, put_at_fits(m));
    qs_put_u32(w, m->id);
    qs_put_u8(w, (uint8_t)m->status);
    qs_put_u64(w, m->offset);
    qs_put_text(w, m->why);
    return w->ok;
}

int qs_msg_decode_put_at(const uint8_t *p, size_t n, struct qs_msg_put_at *m)
{
    struct qs_wire_reader r;
    qs_reader_init(&r, p, n);
    m->id = qs_get_u32(&r);
    m->status = (enum qs_put_status)qs_get_u8(&r);
    m->offset = qs_get_u64(&r);
    m->why = qs_get_text(&r);
    return qs_codec_decoded(&r, put_at_fits(m));
}

bool qs_msg_encode_stage(struct qs_writer *w, const struct qs_msg_stage *m)
{
    qs_put_u32(w, m->id);
    qs_put_u16(w, m->dir);
    qs_codec_put_list(w, &m->places, QS_FILES_MAX, QS_STAGE_MAX_BYTES, walk_place);
    return w->ok;
}

int qs_msg_decode_stage(const uint8_t *p, size_t n, struct qs_msg_stage *m)
{
    struct qs_wire_reader r;
    qs_reader_init(&r, p, n);
    m->id = qs_get_u32(&r);
    m->dir = qs_get_u16(&r);
    m->places = qs_codec_get_list(&r, QS_FILES_MAX, QS_STAGE_MAX_BYTES, walk_place);
    return qs_codec_decoded(&r, true);
}

static bool staged_fits(const struct qs_msg_staged *m)
{
    return (unsigned)m->status <= QS_STAGED_FAILED && qs_codec_is_path(m->path) &&
           (m->path.n > 0) == (m->status == QS_STAGED_OK) && qs_codec_is_note(m->why);
}

bool qs_msg_encode_staged(struct qs_writer *w, const struct qs_msg_staged *m)
{
    qs_codec_allow(w, staged_fits(m));
    qs_put_u32(w, m->id);
    qs_put_u8(w, (uint8_t)m->status);
    qs_put_text(w, m->path);
    qs_put_text(w, m->why);
    return w->ok;
}

int qs_msg_decode_staged(const uint8_t *p, size_t n, struct qs_msg_staged *m)
{
    struct qs_wire_reader r;
    qs_reader_init(&r, p, n);
    m->id = qs_get_u32(&r);
    m->status = (enum qs_staged_status)qs_get_u8(&r);
    m->path = qs_get_text(&r);
    m->why = qs_get_text(&r);
    return qs_codec_decoded(&r, staged_fits(m));
}

bool qs_msg_encode_clean(struct qs_writer *w, const struct qs_msg_clean *m)
{
    qs_codec_allow(w, (unsigned)m->what <= QS_CLEAN_ALL);
    qs_put_u32(w, m->id);
    qs_put_u8(w, (uint8_t)m->what);
    return w->ok;
}

int qs_msg_decode_clean(const uint8_t *p, size_t n, struct qs_msg_clean *m)
{
    struct qs_wire_reader r;
    qs_reader_init(&r, p, n);
    m->id = qs_get_u32(&r);
    m->what = (enum qs_clean_what)qs_get_u8(&r);
    return qs_codec_decoded(&r, (unsigned)m->what <= QS_CLEAN_ALL);
}

bool qs_msg_encode_cleaned(struct qs_writer *w, const struct qs_msg_cleaned *m)
{
    qs_put_u32(w, m->id);
    qs_put_u64(w, m->freed_bytes);
    qs_put_u64(w, m->cache_bytes);
    qs_put_u32(w, m->changed);
    return w->ok;
}

int qs_msg_decode_cleaned(const uint8_t *p, size_t n, struct qs_msg_cleaned *m)
{
    struct qs_wire_reader r;
    qs_reader_init(&r, p, n);
    m->id = qs_get_u32(&r);
    m->freed_bytes = qs_get_u64(&r);
    m->cache_bytes = qs_get_u64(&r);
    m->changed = qs_get_u32(&r);
    return qs_codec_decoded(&r, true);
}
