#include "core/ring.h"

#include "proto/limits.h"

#include <assert.h>
#include <string.h>

void qs_ring_init(struct qs_ring *ring, uint8_t *memory, size_t cap)
{
    ring->memory = memory;
    ring->cap = cap;
    ring->used = 0;
    ring->count = 0;
    ring->open = false;
}

size_t qs_ring_row_bytes(uint16_t metrics)
{
    return QS_ROW_FIXED_BYTES + 8 * (size_t)metrics;
}

size_t qs_ring_room(const struct qs_ring_window *head, uint32_t rows)
{
    return (size_t)rows * qs_ring_row_bytes(head->metrics) + QS_RING_CLOSED_BYTES + head->document_bytes;
}

bool qs_ring_open(struct qs_ring *ring, const struct qs_ring_window *head, uint32_t rows)
{
    size_t need = qs_ring_room(head, rows);
    if (ring->open || ring->count == QS_RING_WINDOWS || need > ring->cap - ring->used) {
        return false;
    }
    struct qs_ring_window *w = &ring->windows[ring->count++];
    *w = *head;
    w->at = ring->used;
    w->document_bytes = 0;
    ring->used += need;
    ring->open = true;
    return true;
}

/* The open window. */
static struct qs_ring_window *last(struct qs_ring *ring)
{
    assert(ring->open && ring->count > 0);
    return &ring->windows[ring->count - 1];
}

uint8_t *qs_ring_row(struct qs_ring *ring)
{
    struct qs_ring_window *w = last(ring);
    uint8_t *row = ring->memory + w->at + w->rows_bytes;
    w->rows_bytes += qs_ring_row_bytes(w->metrics);
    w->rows++;
    assert(w->at + w->rows_bytes + QS_RING_CLOSED_BYTES <= ring->used); /* CLOSED still has its room */
    return row;
}

uint8_t *qs_ring_closed(struct qs_ring *ring, size_t *cap)
{
    struct qs_ring_window *w = last(ring);
    *cap = ring->used - w->at - w->rows_bytes;
    return ring->memory + w->at + w->rows_bytes;
}

uint8_t *qs_ring_document(struct qs_ring *ring, size_t closed_bytes, size_t *cap)
{
    uint8_t *closed = qs_ring_closed(ring, cap);
    assert(closed_bytes <= *cap);
    *cap -= closed_bytes;
    return closed + closed_bytes;
}

void qs_ring_keep_document(struct qs_ring *ring, const struct qs_ring_document *document, size_t n)
{
    last(ring)->document = *document;
    last(ring)->document_bytes = n;
}

struct qs_ring_window *qs_ring_close(struct qs_ring *ring, size_t closed_bytes)
{
    struct qs_ring_window *w = last(ring);
    ring->open = false;
    if (w->rows == 0) {
        ring->used = w->at;
        ring->count--;
        return NULL;
    }
    w->closed_bytes = closed_bytes;
    size_t end = w->at + qs_ring_bytes(w);
    assert(end <= ring->used); /* of what was kept free for it */
    ring->used = end;
    return w;
}

static bool belongs(const struct qs_ring_window *w, const struct qs_uid *farm, const struct qs_uid *run)
{
    return qs_uid_equal(&w->farm, farm) && qs_uid_equal(&w->run, run);
}

uint8_t *qs_ring_put_back(struct qs_ring *ring, const struct qs_ring_window *head, size_t *n)
{
    *n = qs_ring_bytes(head);
    if (ring->count == QS_RING_WINDOWS || *n > ring->cap - ring->used) {
        return NULL;
    }
    struct qs_ring_window *w = &ring->windows[ring->count++];
    *w = *head;
    w->at = ring->used;
    ring->used += *n;
    return ring->memory + w->at;
}

void qs_ring_drop_last(struct qs_ring *ring)
{
    ring->used = ring->windows[--ring->count].at;
}

size_t qs_ring_bytes(const struct qs_ring_window *w)
{
    return w->rows_bytes + w->closed_bytes + w->document_bytes;
}

size_t qs_ring_complete(const struct qs_ring *ring)
{
    return ring->open ? ring->count - 1 : ring->count;
}

bool qs_ring_span(const struct qs_ring *ring, const struct qs_uid *farm, const struct qs_uid *run,
                  struct qs_ring_span *span)
{
    bool any = false;
    for (size_t i = 0; i < qs_ring_complete(ring); i++) {
        const struct qs_ring_window *w = &ring->windows[i];
        if (!belongs(w, farm, run)) {
            continue;
        }
        if (!any) {
            span->first = w->first_seq + w->acked;
            span->sent = span->first;
        }
        any = true;
        span->next = w->first_seq + w->rows;
        if (w->sent) {
            span->sent = span->next;
        }
    }
    return any;
}

void qs_ring_ack(struct qs_ring *ring, const struct qs_uid *farm, const struct qs_uid *run, uint64_t seq)
{
    size_t whole = qs_ring_complete(ring);
    size_t kept = 0;
    size_t at = 0;
    for (size_t i = 0; i < ring->count; i++) {
        struct qs_ring_window w = ring->windows[i];
        size_t n = (i + 1 < ring->count ? ring->windows[i + 1].at : ring->used) - w.at;
        bool meant = i < whole && belongs(&w, farm, run) && seq > w.first_seq;
        if (meant && seq >= w.first_seq + w.rows) {
            continue;
        }
        if (meant) {
            w.acked = (uint32_t)(seq - w.first_seq);
        }
        if (at != w.at) {
            memmove(ring->memory + at, ring->memory + w.at, n);
        }
        w.at = at;
        at += n;
        ring->windows[kept++] = w;
    }
    ring->used = at;
    ring->count = kept;
}
