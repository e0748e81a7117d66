/* Frames: a 16-byte header and a payload (PROTOCOL.md, "Frames"). The framer turns bytes, cut anywhere, into
 * whole frames; a frame that it returns is complete, checked, and next in sequence. */
#ifndef QS_PROTO_FRAME_H
#define QS_PROTO_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/limits.h"
#include "proto/seal.h"
#include "proto/wire.h"

enum { QS_FRAME_MAGIC = 0x5351, QS_FRAME_VERSION = 1 };

struct qs_frame {
    uint8_t type;
    uint32_t seq;
    const uint8_t *payload; /* borrowed from the framer's buffer: valid until the next call */
    uint32_t len;
};

struct qs_framer {
    uint8_t *buf; /* borrowed: header and payload of one frame */
    size_t cap;
    uint32_t max_payload; /* longest payload accepted, its seal not counted */
    uint32_t max_noise;   /* most foreign bytes accepted before the first frame */
    struct qs_seal seal;  /* of the frames from now on; off: they have none */
    size_t len;           /* bytes in buf */
    uint32_t next_seq;
    bool synced;                             /* a frame was seen: foreign bytes are an error from now on */
    bool drained;                            /* the frame in buf was handed out */
    int err;                                 /* enum qs_wire_err; sticky */
    uint32_t noise_bytes;                    /* foreign bytes before the first frame */
    uint8_t noise_head[QS_NOISE_HEAD_BYTES]; /* the first of them: what the device said instead */
};

/* buf[cap], cap in QS_FRAME_HEADER_BYTES + QS_FRAME_FLOOR_BYTES .. QS_FRAME_BUF_BYTES (more is not used). One
 * framer per direction and connection: sequence numbers start at 0. Between two calls f->seal may be set: it
 * counts from the next frame on; and f->max_noise, which is QS_NOISE_MAX_BYTES at first. */
void qs_framer_init(struct qs_framer *f, uint8_t *buf, size_t cap);
/* Takes bytes from `bytes[n]` until a frame is whole. 1: *out is a frame, *used (<= n) bytes were taken, call
 * again with the rest. 0: all n taken, more are needed. Negative enum qs_wire_err: broken, close the link;
 * stays so. while (n > 0 && (got = qs_framer_feed(&f, p, n, &used, &frame)) > 0) { handle; p += used; n -=
 * used; } */
int qs_framer_feed(struct qs_framer *f, const uint8_t *bytes, size_t n, size_t *used, struct qs_frame *out);

/* The header of a frame whose payload lies at payload[n]; n <= QS_FRAME_MAX_BYTES. */
void qs_frame_header(uint8_t out[QS_FRAME_HEADER_BYTES], uint8_t type, uint32_t seq, const uint8_t *payload,
                     uint32_t n);

/* A whole frame into one writer:  at = qs_frame_begin(&w);  qs_msg_encode_x(&w, &m);  ok = qs_frame_end(&w,
 * at, type, seq); begin reserves the header; end fills it in. False: the payload did not fit or was refused;
 * nothing of the frame may be sent, and w->len is back at `at` with w->ok still false. */
size_t qs_frame_begin(struct qs_writer *w);
bool qs_frame_end(struct qs_writer *w, size_t at, uint8_t type, uint32_t seq);
/* The same with the seal behind the payload where it is on; w needs room for QS_SEAL_BYTES more. No sequence
 * number comes twice under one key: false at the last one. */
bool qs_frame_end_sealed(struct qs_writer *w, size_t at, uint8_t type, uint32_t seq,
                         const struct qs_seal *seal);

#endif
