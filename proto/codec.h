/* Inside proto only: how message codecs read, write and check their lists and ranges. */
#ifndef QS_PROTO_CODEC_H
#define QS_PROTO_CODEC_H

#include "proto/limits.h"
#include "proto/wire.h"

/* Reads one element and drops it; the reader's error tells whether it was well formed. An element has at
 * least two bytes. */
typedef void qs_codec_walk(struct qs_wire_reader *r);
void qs_codec_walk_text(struct qs_wire_reader *r);
void qs_codec_walk_i32(struct qs_wire_reader *r);
void qs_codec_walk_u16(struct qs_wire_reader *r);

/* One more element is asked of an iterator: false at the end and after a failure. */
bool qs_codec_next(struct qs_iter *it);

/* A u16 count, then the elements, each walked. Above max_count or max_bytes: QS_WIRE_E_LIMIT. */
struct qs_list qs_codec_get_list(struct qs_wire_reader *r, uint16_t max_count, uint32_t max_bytes,
                                 qs_codec_walk *walk);
/* Refuses (w->ok false) what qs_codec_get_list would refuse, and bytes that are not exactly `count` elements.
 */
void qs_codec_put_list(struct qs_writer *w, const struct qs_list *l, uint16_t max_count, uint32_t max_bytes,
                       qs_codec_walk *walk);

/* The result of a decoder: the reader's first error, else QS_WIRE_E_VALUE unless `valid`. */
int qs_codec_decoded(const struct qs_wire_reader *r, bool valid);
/* The start of an encoder: a value that no decoder takes fails the writer. */
void qs_codec_allow(struct qs_writer *w, bool valid);

/* Range checks that the messages share. */
bool qs_codec_is_name(struct qs_text t); /* 1 .. QS_NAME_MAX_BYTES */
bool qs_codec_is_note(struct qs_text t); /* <= QS_NOTE_MAX_BYTES */
bool qs_codec_is_path(struct qs_text t); /* <= QS_PATH_MAX_BYTES */
/* 1 .. max_bytes, relative, and no step out of where it begins. */
bool qs_codec_is_inside(struct qs_text t, size_t max_bytes);
bool qs_codec_is_span(int64_t span_ns);     /* 0 .. QS_SPAN_MAX_NS */
bool qs_codec_is_deadline(int64_t span_ns); /* 1 .. QS_SPAN_MAX_NS */

#endif
