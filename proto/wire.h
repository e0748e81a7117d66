/* Bytes to values and back: a bounded reader and writer, both sticky (after the first failure every call does
 * nothing, so a codec checks once, at the end), and the two views a decoded message holds into its payload.
 * Nothing here allocates. Everything on the wire is little-endian. */
#ifndef QS_PROTO_WIRE_H
#define QS_PROTO_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/uid.h"

/* What a decoder or the framer returns: 0 is fine, each failure is negative. */
enum qs_wire_err {
    QS_WIRE_OK = 0,
    QS_WIRE_E_SHORT = -1,    /* the payload ends inside a field */
    QS_WIRE_E_LIMIT = -2,    /* a count or a length is above its limit */
    QS_WIRE_E_VALUE = -3,    /* a value outside its range, or a NUL inside a text */
    QS_WIRE_E_TYPE = -4,     /* a message type that is unknown, or not allowed from this side */
    QS_WIRE_E_MAGIC = -5,    /* not a frame where one must begin */
    QS_WIRE_E_VERSION = -6,  /* another framing version, or no common message version */
    QS_WIRE_E_LENGTH = -7,   /* a payload longer than agreed */
    QS_WIRE_E_CRC = -8,      /* damaged in transit */
    QS_WIRE_E_SEQ = -9,      /* a frame is missing, doubled or out of order */
    QS_WIRE_E_NOISE = -10,   /* too many foreign bytes before the first frame */
    QS_WIRE_E_SESSION = -11, /* the HELLO of another session */
    QS_WIRE_E_SEAL = -12,    /* not sealed by whom we have greeted */
};
/* A short English text ("damaged in transit"); never NULL, also for values outside the enum. */
const char *qs_wire_err_text(int err);

/* A text: n bytes of UTF-8 at p, not NUL-terminated, no NUL inside. Borrowed. p may be NULL where n is 0. */
struct qs_text {
    const char *p;
    uint16_t n;
};
/* The text of a C string (borrowed), cut to 65535 bytes; NULL gives "". */
struct qs_text qs_text_of(const char *s);
bool qs_text_is(struct qs_text t, const char *s);
/* Copies into out[cap] with a NUL, cut to fit; returns the length of the whole text. cap >= 1. */
size_t qs_text_copy(struct qs_text t, char *out, size_t cap);

/* A list: `count` encoded elements in `len` bytes. Borrowed; walked and bounded when it was decoded. */
struct qs_list {
    const uint8_t *bytes;
    uint32_t len;
    uint16_t count;
};

struct qs_wire_reader {
    const uint8_t *p; /* borrowed */
    size_t left;      /* bytes not yet read */
    int err;          /* the first enum qs_wire_err; sticky */
};
void qs_reader_init(struct qs_wire_reader *r, const uint8_t *bytes, size_t n);
/* Each gives 0 (or "", or zeros) once the reader failed. */
uint8_t qs_get_u8(struct qs_wire_reader *r);
uint16_t qs_get_u16(struct qs_wire_reader *r);
uint32_t qs_get_u32(struct qs_wire_reader *r);
uint64_t qs_get_u64(struct qs_wire_reader *r);
int32_t qs_get_i32(struct qs_wire_reader *r);
int64_t qs_get_i64(struct qs_wire_reader *r);
void qs_get_bytes(struct qs_wire_reader *r, uint8_t *out, size_t n);
struct qs_uid qs_get_uid(struct qs_wire_reader *r);
struct qs_text qs_get_text(struct qs_wire_reader *r);           /* u16 length + bytes without NUL */
struct qs_text qs_get_blob(struct qs_wire_reader *r);           /* the same with any bytes */
const uint8_t *qs_get_view(struct qs_wire_reader *r, size_t n); /* n bytes in place; NULL once failed */

struct qs_writer {
    uint8_t *p; /* borrowed: the caller's buffer */
    size_t cap, len;
    bool ok; /* false: something did not fit or was not allowed; sticky */
};
void qs_writer_init(struct qs_writer *w, uint8_t *buf, size_t cap);
void qs_put_u8(struct qs_writer *w, uint8_t v);
void qs_put_u16(struct qs_writer *w, uint16_t v);
void qs_put_u32(struct qs_writer *w, uint32_t v);
void qs_put_u64(struct qs_writer *w, uint64_t v);
void qs_put_i32(struct qs_writer *w, int32_t v);
void qs_put_i64(struct qs_writer *w, int64_t v);
void qs_put_bytes(struct qs_writer *w, const void *bytes, size_t n);
void qs_put_uid(struct qs_writer *w, const struct qs_uid *u);
void qs_put_text(struct qs_writer *w, struct qs_text t); /* a NUL inside fails the writer */
void qs_put_blob(struct qs_writer *w, struct qs_text t);

/* Walking a list:  struct qs_iter it = qs_list_iter(&m.argv);  while (qs_list_text(&it, &t)) ...
 * Each returns false at the end. The element kind is fixed by the field: see the field's comment. */
struct qs_iter {
    struct qs_wire_reader r;
    uint16_t left; /* elements */
};
struct qs_iter qs_list_iter(const struct qs_list *l);
bool qs_list_text(struct qs_iter *it, struct qs_text *out);
bool qs_list_i32(struct qs_iter *it, int32_t *out);
bool qs_list_u16(struct qs_iter *it, uint16_t *out);

/* Building a list for a message that is to be encoded, in the caller's memory:
 *   qs_build_init(&b, mem, sizeof mem);  qs_build_text(&b, t); ...  m.argv = qs_build_list(&b);
 * The memory must live until the message is encoded. What did not fit makes the encoding fail. */
struct qs_build {
    struct qs_writer w;
    uint16_t count;
};
void qs_build_init(struct qs_build *b, uint8_t *mem, size_t cap);
bool qs_build_text(struct qs_build *b, struct qs_text t);
bool qs_build_i32(struct qs_build *b, int32_t v);
bool qs_build_u16(struct qs_build *b, uint16_t v);
/* Counts the element just written to b->w; returns whether all is well so far. For element kinds of msg_*.h.
 */
bool qs_build_counted(struct qs_build *b);
struct qs_list qs_build_list(const struct qs_build *b);

#endif
