/* What was measured and is not yet on the host's disk: whole windows, in the order in which they were
 * measured, until they are acknowledged. Bounded by the memory given; nothing is ever overwritten. */
#ifndef QS_AGENT_CORE_RING_H
#define QS_AGENT_CORE_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/uid.h"

enum {
    QS_RING_WINDOWS = 256,
    QS_RING_CLOSED_BYTES = 248 * 1024, /* room kept free for one encoded CLOSED */
    QS_RING_FLOOR_BYTES = 1024 * 1024, /* least memory: one window of any size */
};

/* What is kept of a window of stream mode beside its rows. */
struct qs_ring_document {
    bool has;
    uint8_t status;       /* enum qs_pull_status; not ok: the bytes are the reason for people */
    uint64_t total_bytes; /* that were written */
};

/* One window: its encoded rows, its encoded CLOSED, its document, at `at` of the memory. */
struct qs_ring_window {
    struct qs_uid farm, run;
    uint32_t window;
    uint64_t first_seq;
    uint32_t rows;
    uint32_t acked;                 /* of its rows */
    uint16_t metrics, first_metric; /* of each row: so many, with ids from the first on */
    size_t at, rows_bytes, closed_bytes, document_bytes;
    struct qs_ring_document document;
    uint16_t slot; /* where it is on a disk, too (port_spool.h); 0: it is not */
    bool sent;     /* to the farm it belongs to, in this session or an earlier one */
};

struct qs_ring {
    uint8_t *memory; /* borrowed */
    size_t cap, used;
    size_t count;
    bool open; /* the last window is being measured */
    struct qs_ring_window windows[QS_RING_WINDOWS];
};

void qs_ring_init(struct qs_ring *ring, uint8_t *memory, size_t cap);

/* An encoded row. */
size_t qs_ring_row_bytes(uint16_t metrics);
/* What a window of *head takes at most, with so many rows. */
size_t qs_ring_room(const struct qs_ring_window *head, uint32_t rows);
/* Begins the window of *head (farm, run, number, first_seq, metrics, document_bytes) with room for `rows`
 * rows and a document of so many bytes. False: no room, nothing changed. */
bool qs_ring_open(struct qs_ring *ring, const struct qs_ring_window *head, uint32_t rows);
/* Room for the next row of the open window, qs_ring_row_bytes(); counts it. */
uint8_t *qs_ring_row(struct qs_ring *ring);
/* Room for the CLOSED of the open window, *cap bytes. */
uint8_t *qs_ring_closed(struct qs_ring *ring, size_t *cap);
/* Room for the document of the open window, *cap bytes, behind a CLOSED of so many. */
uint8_t *qs_ring_document(struct qs_ring *ring, size_t closed_bytes, size_t *cap);
/* n bytes of it were written. */
void qs_ring_keep_document(struct qs_ring *ring, const struct qs_ring_document *document, size_t n);
/* Ends the open window. Without rows it is dropped: there is nothing to acknowledge. Returns it, or NULL. */
struct qs_ring_window *qs_ring_close(struct qs_ring *ring, size_t closed_bytes);

/* Makes room for a closed window behind the others, as *head says, bytes included; nothing is open. Returns
 * where its bytes go, n of them; NULL: no room. */
uint8_t *qs_ring_put_back(struct qs_ring *ring, const struct qs_ring_window *head, size_t *n);
/* Forgets the last window, which was put back. */
void qs_ring_drop_last(struct qs_ring *ring);
/* Windows that are complete: all but the open one. The bytes of one: rows, CLOSED, document. */
size_t qs_ring_complete(const struct qs_ring *ring);
size_t qs_ring_bytes(const struct qs_ring_window *w);

/* What is held of one run: [first, next) and the end of what was sent. False where nothing is. */
struct qs_ring_span {
    uint64_t first, sent, next;
};
bool qs_ring_span(const struct qs_ring *ring, const struct qs_uid *farm, const struct qs_uid *run,
                  struct qs_ring_span *span);
/* Forgets rows below seq (within the span); windows whose rows are all forgotten go. The open window, which
 * is never acknowledged, may move: hold no pointer into the ring across this call. */
void qs_ring_ack(struct qs_ring *ring, const struct qs_uid *farm, const struct qs_uid *run, uint64_t seq);

#endif
