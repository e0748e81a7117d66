#include "proto/wire.h"

#include <string.h>

const char *qs_wire_err_text(int err)
{
    switch ((enum qs_wire_err)err) {
    case QS_WIRE_OK:
        return "no error";
    case QS_WIRE_E_SHORT:
        return "the message ends inside a field";
    case QS_WIRE_E_LIMIT:
        return "a count or a length is above its limit";
    case QS_WIRE_E_VALUE:
        return "a value is outside its range";
    case QS_WIRE_E_TYPE:
        return "this message is not known or not allowed here";
    case QS_WIRE_E_MAGIC:
        return "no frame where one must begin";
    case QS_WIRE_E_VERSION:
        return "no common protocol version";
    case QS_WIRE_E_LENGTH:
        return "a frame longer than agreed";
    case QS_WIRE_E_CRC:
        return "a frame was damaged in transit";
    case QS_WIRE_E_SEQ:
        return "a frame is missing, doubled or out of order";
    case QS_WIRE_E_NOISE:
        return "something other than an agent talks on this link";
    case QS_WIRE_E_SESSION:
        return "the answer belongs to another session";
    case QS_WIRE_E_SEAL:
        return "a frame does not carry the seal of this session: somebody in between adds, changes or "
               "repeats frames";
    }
    return "unknown error";
}

struct qs_text qs_text_of(const char *s)
{
    size_t n = s ? strnlen(s, UINT16_MAX) : 0;
    return (struct qs_text){.p = s, .n = (uint16_t)n};
}

bool qs_text_is(struct qs_text t, const char *s)
{
    size_t n = strlen(s);
    return n == t.n && (n == 0 || memcmp(t.p, s, n) == 0);
}

size_t qs_text_copy(struct qs_text t, char *out, size_t cap)
{
    size_t n = t.n < cap ? t.n : cap - 1;
    if (n > 0)
        memcpy(out, t.p, n);
    out[n] = '\0';
    return t.n;
}

void qs_reader_init(struct qs_wire_reader *r, const uint8_t *bytes, size_t n)
{
    *r = (struct qs_wire_reader){.p = bytes, .left = n, .err = QS_WIRE_OK};
}

const uint8_t *qs_get_view(struct qs_wire_reader *r, size_t n)
{
    if (r->err == QS_WIRE_OK && n > r->left)
        r->err = QS_WIRE_E_SHORT;
    if (r->err != QS_WIRE_OK)
        return NULL;
    const uint8_t *at = r->p;
    if (n > 0)
        r->p += n;
    r->left -= n;
    return at;
}

/* n <= 8 bytes, the lowest first; 0 once failed */
static uint64_t get_le(struct qs_wire_reader *r, size_t n)
{
    const uint8_t *p = qs_get_view(r, n);
    uint64_t v = 0;
    if (p == NULL)
        return 0;
    for (size_t i = n; i > 0; i--)
        v = v << 8 | p[i - 1];
    return v;
}

uint8_t qs_get_u8(struct qs_wire_reader *r)
{
    return (uint8_t)get_le(r, 1);
}

uint16_t qs_get_u16(struct qs_wire_reader *r)
{
    return (uint16_t)get_le(r, 2);
}

uint32_t qs_get_u32(struct qs_wire_reader *r)
{
    return (uint32_t)get_le(r, 4);
}

uint64_t qs_get_u64(struct qs_wire_reader *r)
{
    return get_le(r, 8);
}

int32_t qs_get_i32(struct qs_wire_reader *r)
{
    return (int32_t)qs_get_u32(r);
}

int64_t qs_get_i64(struct qs_wire_reader *r)
{
    return (int64_t)get_le(r, 8);
}

void qs_get_bytes(struct qs_wire_reader *r, uint8_t *out, size_t n)
{
    const uint8_t *p = qs_get_view(r, n);
    if (p != NULL)
        memcpy(out, p, n);
    else
        memset(out, 0, n);
}

struct qs_uid qs_get_uid(struct qs_wire_reader *r)
{
    struct qs_uid u;
    qs_get_bytes(r, u.b, QS_UID_BYTES);
    return u;
}

struct qs_text qs_get_blob(struct qs_wire_reader *r)
{
    uint16_t n = qs_get_u16(r);
    const uint8_t *p = qs_get_view(r, n);
    return (struct qs_text){.p = (const char *)p, .n = p != NULL ? n : 0};
}

struct qs_text qs_get_text(struct qs_wire_reader *r)
{
    struct qs_text t = qs_get_blob(r);
    if (t.n > 0 && memchr(t.p, '\0', t.n) != NULL) {
        r->err = QS_WIRE_E_VALUE;
        return (struct qs_text){.p = NULL, .n = 0};
    }
    return t;
}

void qs_writer_init(struct qs_writer *w, uint8_t *buf, size_t cap)
{
    *w = (struct qs_writer){.p = buf, .cap = cap, .len = 0, .ok = true};
}

void qs_put_bytes(struct qs_writer *w, const void *bytes, size_t n)
{
    if (w->ok && n > w->cap - w->len)
        w->ok = false;
    if (!w->ok || n == 0)
        return;
    memcpy(w->p + w->len, bytes, n);
    w->len += n;
}

static void put_le(struct qs_writer *w, uint64_t v, size_t n)
{
    uint8_t bytes[8];
    for (size_t i = 0; i < n; i++)
        bytes[i] = (uint8_t)(v >> (8 * i));
    qs_put_bytes(w, bytes, n);
}

void qs_put_u8(struct qs_writer *w, uint8_t v)
{
    put_le(w, v, 1);
}

void qs_put_u16(struct qs_writer *w, uint16_t v)
{
    put_le(w, v, 2);
}

void qs_put_u32(struct qs_writer *w, uint32_t v)
{
    put_le(w, v, 4);
}

void qs_put_u64(struct qs_writer *w, uint64_t v)
{
    put_le(w, v, 8);
}

void qs_put_i32(struct qs_writer *w, int32_t v)
{
    put_le(w, (uint32_t)v, 4);
}

void qs_put_i64(struct qs_writer *w, int64_t v)
{
    put_le(w, (uint64_t)v, 8);
}

void qs_put_uid(struct qs_writer *w, const struct qs_uid *u)
{
    qs_put_bytes(w, u->b, QS_UID_BYTES);
}

void qs_put_blob(struct qs_writer *w, struct qs_text t)
{
    qs_put_u16(w, t.n);
    qs_put_bytes(w, t.p, t.n);
}

void qs_put_text(struct qs_writer *w, struct qs_text t)
{
    if (t.n > 0 && memchr(t.p, '\0', t.n) != NULL)
        w->ok = false;
    qs_put_blob(w, t);
}
