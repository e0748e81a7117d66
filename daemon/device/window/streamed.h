/* A window of mode stream on its way from what the device sent to what is stored: the process as the device
 * measured it, its document, and the values in that. Private to device. */
#ifndef QS_DEVICE_WINDOW_STREAMED_H
#define QS_DEVICE_WINDOW_STREAMED_H

#include "base/buf.h"
#include "formats/document.h"
#include "proto/msg.h"
#include "store/rows.h"

enum { QS_STREAMED_EVIDENCE = 2 + QS_ROW_METRICS_MAX };

struct qs_streamed {
    struct qs_form form;    /* owned */
    struct qs_files *files; /* borrowed; NULL: the document is not kept */
    /* What the device sent. */
    struct qs_buf bytes; /* owned: the document */
    enum qs_pull_status status;
    uint64_t total_bytes;
    char why[QS_NOTE_MAX_BYTES + 1];
    struct qs_iteration_row process;
    uint16_t metric_ids[QS_ROW_METRICS_MAX];
    size_t metric_count;
    /* What was read: the pool's between the two. */
    bool ok;
    struct qs_document document;   /* owned, where ok */
    struct qs_iteration_row *rows; /* owned, row_count of them: its values */
    size_t row_count;
    struct qs_err err; /* where not ok */
    /* What the window's row points to. */
    const char *names[QS_DOCUMENT_METRICS];
    struct qs_metric_kind kinds[QS_DOCUMENT_METRICS];
    struct qs_document_row kept;
};

void qs_streamed_init(struct qs_streamed *s);
void qs_streamed_done(struct qs_streamed *s);
/* A piece of it, the first one begins it anew. The session has checked the order: one that is not the next is
 * left. */
void qs_streamed_piece(struct qs_streamed *s, const struct qs_msg_document *m);
/* The process: the one row of the window, with the metrics that its message names. */
void qs_streamed_process(struct qs_streamed *s, const struct qs_row *row, const struct qs_list *metrics);

/* Reads the values out of the document. Touches nothing but *s: for the pool. */
void qs_streamed_read(struct qs_streamed *s);
/* Fills in what only a window of this mode has: the metrics of its values, its document, device_n. What it
 * points to lives as long as *s. */
void qs_streamed_fill(struct qs_streamed *s, struct qs_window_row *row);
/* What the device measured of the process, as evidence of the window; out has QS_STREAMED_EVIDENCE rows. */
size_t qs_streamed_evidence(const struct qs_streamed *s, struct qs_evidence_row *out);

#endif
