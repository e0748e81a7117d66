/* Closed windows on the device's own disk, until the host has acknowledged them: an agent that was killed, or
 * a device that was restarted, still has them. Never touched in a window.
 *
 * STATE/spool.000 to spool.255 are places for one window each. A place is a head, the window's bytes as they
 * lie in the ring (rows, CLOSED, document), and then whatever; all little-endian:
 *   8 bytes `QSSPOOL` and the version, 1 · u32 CRC-32C of the rest of the head · u32 CRC-32C of the bytes ·
 *   u64 order · uid farm · uid run · u32 window · u64 first_seq · u32 rows · u16 metrics · u16 first_metric ·
 *   u8 has a document · u8 its status · u64 its total bytes · u32 bytes of CLOSED · u32 bytes of the document
 * Zeros in place of the first 8 bytes: nothing is kept there. */
#ifndef QS_LINUX_SPOOL_H
#define QS_LINUX_SPOOL_H

#include "core/port.h"
#include "core/ring.h"

enum {
    QS_SPOOL_PLACES = QS_RING_WINDOWS,
    QS_SPOOL_MARK_BYTES = 8,
    QS_SPOOL_HEAD_BYTES = 94,
    QS_SPOOL_NAME_BYTES = 16,
    QS_SPOOL_NOTE_BYTES = 512,
};

/* FOREIGN: something that is left alone. */
enum qs_spool_place { QS_SPOOL_FREE, QS_SPOOL_TAKEN, QS_SPOOL_FOREIGN };

struct qs_spool {
    int dir_fd, lock_fd;             /* owned; -1: there is none */
    int fd;                          /* owned: of the place that was used last; -1: none */
    uint16_t at;                     /* that place, from 1 on */
    uint64_t order;                  /* of the last record */
    uint8_t places[QS_SPOOL_PLACES]; /* enum qs_spool_place */
    char note[QS_SPOOL_NOTE_BYTES];  /* for people: where it is, and what is wrong with it */
};

/* A record's head: of a window that the ring has at `body`, or of one that is read. `order` is above 0. */
void qs_spool_encode(const struct qs_ring_window *w, uint64_t order, const uint8_t *body,
                     uint8_t head[QS_SPOOL_HEAD_BYTES]);
/* *w is what the head says, but for its place; *crc is that of the bytes. Returns its order; 0: it is none.
 */
uint64_t qs_spool_decode(const uint8_t head[QS_SPOOL_HEAD_BYTES], struct qs_ring_window *w, uint32_t *crc);

/* There is none. */
void qs_spool_init(struct qs_spool *spool);
/* What is kept in this folder goes to the ring, which is empty; a record that is torn or damaged is dropped,
 * and the note says so. Both descriptors become the spool's. */
void qs_spool_open(struct qs_spool *spool, const char *dir, int dir_fd, int lock_fd, struct qs_ring *ring);
void qs_spool_close(struct qs_spool *spool, const struct qs_ring *ring);
/* No window follows soon: what is erased is removed. */
void qs_spool_rest(struct qs_spool *spool, const struct qs_ring *ring);

/* The port's operations (port_spool.h). */
bool qs_spool_reserve(struct qs_spool *spool, struct qs_ring *ring, size_t bytes,
                      struct qs_port_fault *fault);
void qs_spool_keep(struct qs_spool *spool, const struct qs_ring *ring, struct qs_ring_window *w);
void qs_spool_tidy(struct qs_spool *spool, const struct qs_ring *ring);

#endif
