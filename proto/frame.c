#include "proto/frame.h"

#include <string.h>

#include "proto/crc32c.h"
#include "proto/msg.h"

enum { AT_MAGIC = 0, AT_VERSION = 2, AT_TYPE = 3, AT_LENGTH = 4, AT_SEQ = 8, AT_CRC = 12 };

static uint32_t load_u32(const uint8_t *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static void store_u32(uint8_t *p, uint32_t v)
{
    for (int i = 0; i < 4; i++)
        p[i] = (uint8_t)(v >> (8 * i));
}

static bool has_magic(const uint8_t *header)
{
    return header[AT_MAGIC] == (QS_FRAME_MAGIC & 0xff) && header[AT_MAGIC + 1] == QS_FRAME_MAGIC >> 8;
}

static uint32_t frame_crc(const uint8_t *header, const uint8_t *payload, uint32_t n)
{
    return qs_crc32c(qs_crc32c(0, header, AT_CRC), payload, n);
}

/* All of the header but its checksum. */
static void start_header(uint8_t *out, uint8_t type, uint32_t seq, uint32_t n)
{
    out[AT_MAGIC] = QS_FRAME_MAGIC & 0xff;
    out[AT_MAGIC + 1] = QS_FRAME_MAGIC >> 8;
    out[AT_VERSION] = QS_FRAME_VERSION;
    out[AT_TYPE] = type;
    store_u32(out + AT_LENGTH, n);
    store_u32(out + AT_SEQ, seq);
}

void qs_frame_header(uint8_t out[QS_FRAME_HEADER_BYTES], uint8_t type, uint32_t seq, const uint8_t *payload,
                     uint32_t n)
{
    start_header(out, type, seq, n);
    store_u32(out + AT_CRC, frame_crc(out, payload, n));
}

size_t qs_frame_begin(struct qs_writer *w)
{
    static const uint8_t room[QS_FRAME_HEADER_BYTES];
    size_t at = w->len;
    qs_put_bytes(w, room, sizeof room);
    return at;
}

bool qs_frame_end(struct qs_writer *w, size_t at, uint8_t type, uint32_t seq)
{
    static const struct qs_seal none;
    return qs_frame_end_sealed(w, at, type, seq, &none);
}

bool qs_frame_end_sealed(struct qs_writer *w, size_t at, uint8_t type, uint32_t seq,
                         const struct qs_seal *seal)
{
    uint8_t sum[QS_SEAL_BYTES];
    size_t n = w->ok ? w->len - at - QS_FRAME_HEADER_BYTES : 0;
    if (n > QS_FRAME_MAX_BYTES || (seal->on && seq == UINT32_MAX))
        w->ok = false;
    if (w->ok && seal->on) {
        uint8_t *header = w->p + at;
        start_header(header, type, seq, (uint32_t)n + QS_SEAL_BYTES);
        qs_seal_sum(seal, header, header + QS_FRAME_HEADER_BYTES, n, sum);
        qs_put_bytes(w, sum, sizeof sum);
        n += sizeof sum;
    }
    if (!w->ok) {
        w->len = at;
        return false;
    }
    uint8_t *header = w->p + at;
    qs_frame_header(header, type, seq, header + QS_FRAME_HEADER_BYTES, (uint32_t)n);
    return true;
}

void qs_framer_init(struct qs_framer *f, uint8_t *buf, size_t cap)
{
    *f = (struct qs_framer){.buf = buf, .cap = cap, .max_noise = QS_NOISE_MAX_BYTES};
    size_t room = cap > QS_FRAME_HEADER_BYTES ? cap - QS_FRAME_HEADER_BYTES : 0;
    f->max_payload = room < QS_FRAME_MAX_BYTES ? (uint32_t)room : QS_FRAME_MAX_BYTES;
}

/* A greeting, or what an agent says instead of one. */
static bool is_first(uint8_t type)
{
    return type == QS_MSG_HELLO_HOST || type == QS_MSG_HELLO_AGENT || type == QS_MSG_ERROR ||
           type == QS_MSG_BYE;
}

/* Could these bytes begin the first frame of a direction? All a banner would have to match: magic, a type
 * that may come first, a length below 4 KiB and sequence number 0. The framing version is not compared, so
 * that another one is named as such. */
static bool may_begin(const uint8_t *header, size_t n)
{
    const uint8_t magic[2] = {QS_FRAME_MAGIC & 0xff, QS_FRAME_MAGIC >> 8};
    if (memcmp(header, magic, n < 2 ? n : 2) != 0)
        return false;
    if (n > AT_TYPE && !is_first(header[AT_TYPE]))
        return false;
    if (n < QS_FRAME_HEADER_BYTES)
        return true;
    return load_u32(header + AT_LENGTH) <= QS_HELLO_MAX_BYTES && load_u32(header + AT_SEQ) == 0;
}

/* Drops bytes from the front of the header collected so far until it may begin a frame. */
static int skip_noise(struct qs_framer *f)
{
    size_t skip = 0;
    while (skip < f->len && !may_begin(f->buf + skip, f->len - skip)) {
        if (f->noise_bytes < QS_NOISE_HEAD_BYTES)
            f->noise_head[f->noise_bytes] = f->buf[skip];
        f->noise_bytes++;
        skip++;
    }
    f->len -= skip;
    memmove(f->buf, f->buf + skip, f->len);
    return f->noise_bytes > f->max_noise ? QS_WIRE_E_NOISE : QS_WIRE_OK;
}

/* What a whole header says, before any of it is used. */
static int check_header(const struct qs_framer *f)
{
    if (!has_magic(f->buf))
        return QS_WIRE_E_MAGIC;
    if (f->buf[AT_VERSION] != QS_FRAME_VERSION)
        return QS_WIRE_E_VERSION;
    uint32_t n = load_u32(f->buf + AT_LENGTH), seal = f->seal.on ? QS_SEAL_BYTES : 0;
    if (n > f->max_payload + seal || n > f->cap - QS_FRAME_HEADER_BYTES)
        return QS_WIRE_E_LENGTH;
    return QS_WIRE_OK;
}

static size_t take(struct qs_framer *f, size_t want, const uint8_t *bytes, size_t n)
{
    size_t room = want - f->len;
    size_t count = n < room ? n : room;
    if (count > 0)
        memcpy(f->buf + f->len, bytes, count);
    f->len += count;
    return count;
}

/* Collects the 16 bytes of a header; 1 once they are there and allowed. */
static int collect_header(struct qs_framer *f, const uint8_t *bytes, size_t n, size_t *used)
{
    while (f->len < QS_FRAME_HEADER_BYTES && *used < n) {
        *used += take(f, QS_FRAME_HEADER_BYTES, bytes + *used, n - *used);
        int err = f->synced ? QS_WIRE_OK : skip_noise(f);
        if (err != QS_WIRE_OK)
            return err;
    }
    if (f->len < QS_FRAME_HEADER_BYTES)
        return 0;
    int err = check_header(f);
    return err != QS_WIRE_OK ? err : 1;
}

/* Takes the seal off: *n is the payload without it. */
static int check_seal(const struct qs_framer *f, uint32_t *n)
{
    uint8_t sum[QS_SEAL_BYTES];
    const uint8_t *payload = f->buf + QS_FRAME_HEADER_BYTES;
    if (!f->seal.on)
        return QS_WIRE_OK;
    if (*n < QS_SEAL_BYTES || f->next_seq == UINT32_MAX)
        return QS_WIRE_E_SEAL;
    *n -= QS_SEAL_BYTES;
    qs_seal_sum(&f->seal, f->buf, payload, *n, sum);
    return qs_auth_equal(sum, payload + *n, sizeof sum) ? QS_WIRE_OK : QS_WIRE_E_SEAL;
}

static int deliver(struct qs_framer *f, struct qs_frame *out)
{
    uint32_t n = load_u32(f->buf + AT_LENGTH);
    const uint8_t *payload = f->buf + QS_FRAME_HEADER_BYTES;
    if (load_u32(f->buf + AT_CRC) != frame_crc(f->buf, payload, n))
        return QS_WIRE_E_CRC;
    uint32_t seq = load_u32(f->buf + AT_SEQ);
    if (seq != f->next_seq)
        return QS_WIRE_E_SEQ;
    int err = check_seal(f, &n);
    if (err != QS_WIRE_OK)
        return err;
    *out = (struct qs_frame){.type = f->buf[AT_TYPE], .seq = seq, .payload = payload, .len = n};
    f->next_seq++;
    f->synced = true;
    f->drained = true;
    return 1;
}

static int feed(struct qs_framer *f, const uint8_t *bytes, size_t n, size_t *used, struct qs_frame *out)
{
    if (f->drained) {
        f->len = 0;
        f->drained = false;
    }
    if (f->len < QS_FRAME_HEADER_BYTES) {
        int got = collect_header(f, bytes, n, used);
        if (got <= 0)
            return got;
    }
    size_t whole = QS_FRAME_HEADER_BYTES + (size_t)load_u32(f->buf + AT_LENGTH);
    *used += take(f, whole, bytes + *used, n - *used);
    return f->len < whole ? 0 : deliver(f, out);
}

int qs_framer_feed(struct qs_framer *f, const uint8_t *bytes, size_t n, size_t *used, struct qs_frame *out)
{
    *used = 0;
    if (f->err != QS_WIRE_OK)
        return f->err;
    int got = feed(f, bytes, n, used, out);
    if (got < 0)
        f->err = got;
    return got;
}
