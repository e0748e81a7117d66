#include "proto/codec.h"

#include <string.h>

struct qs_iter qs_list_iter(const struct qs_list *l)
{
    struct qs_iter it = {.left = l->count};
    qs_reader_init(&it.r, l->bytes, l->len);
    return it;
}

bool qs_codec_next(struct qs_iter *it)
{
    if (it->left == 0 || it->r.err != QS_WIRE_OK)
        return false;
    it->left--;
    return true;
}

bool qs_list_text(struct qs_iter *it, struct qs_text *out)
{
    if (!qs_codec_next(it))
        return false;
    *out = qs_get_text(&it->r);
    return it->r.err == QS_WIRE_OK;
}

bool qs_list_i32(struct qs_iter *it, int32_t *out)
{
    if (!qs_codec_next(it))
        return false;
    *out = qs_get_i32(&it->r);
    return it->r.err == QS_WIRE_OK;
}

bool qs_list_u16(struct qs_iter *it, uint16_t *out)
{
    if (!qs_codec_next(it))
        return false;
    *out = qs_get_u16(&it->r);
    return it->r.err == QS_WIRE_OK;
}

void qs_build_init(struct qs_build *b, uint8_t *mem, size_t cap)
{
    qs_writer_init(&b->w, mem, cap);
    b->count = 0;
}

bool qs_build_counted(struct qs_build *b)
{
    if (b->count == UINT16_MAX)
        b->w.ok = false;
    if (b->w.ok)
        b->count++;
    return b->w.ok;
}

bool qs_build_text(struct qs_build *b, struct qs_text t)
{
    qs_put_text(&b->w, t);
    return qs_build_counted(b);
}

bool qs_build_i32(struct qs_build *b, int32_t v)
{
    qs_put_i32(&b->w, v);
    return qs_build_counted(b);
}

bool qs_build_u16(struct qs_build *b, uint16_t v)
{
    qs_put_u16(&b->w, v);
    return qs_build_counted(b);
}

struct qs_list qs_build_list(const struct qs_build *b)
{
    /* One element without bytes: no encoder takes it, so a failed builder cannot pass for a shorter list. */
    if (!b->w.ok || b->w.len > UINT32_MAX)
        return (struct qs_list){.bytes = NULL, .len = 0, .count = 1};
    return (struct qs_list){.bytes = b->w.p, .len = (uint32_t)b->w.len, .count = b->count};
}

void qs_codec_walk_text(struct qs_wire_reader *r)
{
    (void)qs_get_text(r);
}

void qs_codec_walk_i32(struct qs_wire_reader *r)
{
    (void)qs_get_i32(r);
}

void qs_codec_walk_u16(struct qs_wire_reader *r)
{
    (void)qs_get_u16(r);
}

static void walk_all(struct qs_wire_reader *r, uint16_t count, qs_codec_walk *walk)
{
    for (uint16_t i = 0; i < count && r->err == QS_WIRE_OK; i++)
        walk(r);
}

struct qs_list qs_codec_get_list(struct qs_wire_reader *r, uint16_t max_count, uint32_t max_bytes,
                                 qs_codec_walk *walk)
{
    const struct qs_list none = {.bytes = NULL, .len = 0, .count = 0};
    uint16_t count = qs_get_u16(r);
    const uint8_t *start = r->p;
    size_t before = r->left;
    if (r->err == QS_WIRE_OK && count > max_count)
        r->err = QS_WIRE_E_LIMIT;
    walk_all(r, count, walk);
    size_t len = before - r->left;
    if (r->err == QS_WIRE_OK && len > max_bytes)
        r->err = QS_WIRE_E_LIMIT;
    if (r->err != QS_WIRE_OK)
        return none;
    return (struct qs_list){.bytes = start, .len = (uint32_t)len, .count = count};
}

void qs_codec_put_list(struct qs_writer *w, const struct qs_list *l, uint16_t max_count, uint32_t max_bytes,
                       qs_codec_walk *walk)
{
    struct qs_wire_reader r;
    qs_reader_init(&r, l->bytes, l->len);
    if (l->count > max_count || l->len > max_bytes)
        w->ok = false;
    else
        walk_all(&r, l->count, walk);
    if (r.err != QS_WIRE_OK || (w->ok && r.left != 0))
        w->ok = false;
    qs_put_u16(w, l->count);
    qs_put_bytes(w, l->bytes, l->len);
}

int qs_codec_decoded(const struct qs_wire_reader *r, bool valid)
{
    if (r->err != QS_WIRE_OK)
        return r->err;
    return valid ? QS_WIRE_OK : QS_WIRE_E_VALUE;
}

void qs_codec_allow(struct qs_writer *w, bool valid)
{
    if (!valid)
        w->ok = false;
}

bool qs_codec_is_name(struct qs_text t)
{
    return t.n >= 1 && t.n <= QS_NAME_MAX_BYTES;
}

bool qs_codec_is_note(struct qs_text t)
{
    return t.n <= QS_NOTE_MAX_BYTES;
}

bool qs_codec_is_path(struct qs_text t)
{
    return t.n <= QS_PATH_MAX_BYTES;
}

bool qs_codec_is_inside(struct qs_text t, size_t max_bytes)
{
    size_t part = 0;
    if (t.n == 0 || t.n > max_bytes)
        return false;
    for (size_t i = 0; i <= t.n; i++) {
        if (i < t.n && t.p[i] != '/')
            continue;
        size_t n = i - part;
        if (n == 0 || (n == 1 && t.p[part] == '.') || (n == 2 && memcmp(t.p + part, "..", 2) == 0))
            return false;
        part = i + 1;
    }
    return true;
}

bool qs_codec_is_span(int64_t span_ns)
{
    return span_ns >= 0 && span_ns <= QS_SPAN_MAX_NS;
}

bool qs_codec_is_deadline(int64_t span_ns)
{
    return span_ns >= 1 && span_ns <= QS_SPAN_MAX_NS;
}
