/* Runs of stream mode: each window is one process that writes a document, which the agent keeps with the
 * window and sends with it; only where QS_FEATURE_STREAM is agreed. */
#ifndef QS_PROTO_MSG_STREAM_H
#define QS_PROTO_MSG_STREAM_H

#include "proto/limits.h"
#include "proto/msg_pull.h"
#include "proto/uid.h"
#include "proto/wire.h"

enum qs_stream_source {
    QS_STREAM_STDOUT = 0, /* what the process writes to its standard output */
    QS_STREAM_FILE = 1    /* a file that it makes; it is taken away once it is read */
};

/* RUN_BEGIN, behind the last field of its message. */
struct qs_stream {
    enum qs_stream_source source;
    struct qs_text path; /* FILE: 1 .. QS_PATH_MAX_BYTES, relative ones from the run's cwd; else empty */
    uint32_t document_max_bytes; /* kept of the document, 1 .. QS_DOCUMENT_MAX_BYTES */
};
bool qs_stream_fits(const struct qs_stream *s);
void qs_stream_put(struct qs_writer *w, const struct qs_stream *s);
void qs_stream_get(struct qs_wire_reader *r, struct qs_stream *s);

/* One piece of a window's document; at least one comes between CLOSED and ITERATIONS, the pieces in order. */
struct qs_msg_document {
    struct qs_uid run; /* not zero */
    uint32_t window;
    enum qs_pull_status status; /* not OK: there is none, kept_bytes is 0 */
    uint64_t total_bytes;       /* that were written, <= QS_SEQ_MAX */
    uint32_t kept_bytes;        /* that come, <= total_bytes, QS_DOCUMENT_MAX_BYTES */
    uint32_t offset;            /* of this piece */
    struct qs_text bytes;       /* any bytes; empty only where kept_bytes is 0 */
    struct qs_text why;         /* for people, where status is not OK */
};
bool qs_msg_encode_document(struct qs_writer *w, const struct qs_msg_document *m);
int qs_msg_decode_document(const uint8_t *p, size_t n, struct qs_msg_document *m);

#endif
