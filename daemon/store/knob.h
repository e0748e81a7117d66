/* What was tried on a device, of one system (store/control.h has the fingerprint): does what is written stay,
 * and does it do something? Texts as in rows.h: requests copy them. */
#ifndef QS_STORE_KNOB_H
#define QS_STORE_KNOB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "store/store.h"

struct qs_knob_row {
    const char *name, *kind; /* of the board's domain or switch */
    const char *path;        /* the file that decided it, or "" */
    const char *sticks;      /* qs_knob_sticks_name (device/board/knob.h) */
    const char *effect;      /* qs_knob_effect_name */
    const char *why;         /* in words, or NULL: all is well */
    int64_t after_ms;        /* how long it took; 0: it was there at once */
    /* Of frequencies: where it was held, and what the device then said; 0: not known. */
    int64_t low_khz, high_khz, seen_low_khz, seen_high_khz;
    double loop_ratio; /* how much longer a loop took at the low one; NaN: not measured */
};
struct qs_knob_rows {
    const char *device, *fingerprint;
    int64_t job;
    int64_t found_wall_ns;
    const struct qs_knob_row *rows;
    size_t count;
};
/* They replace all of this device and fingerprint. QS_E_NOT_FOUND: no such device. */
void qs_store_knobs(struct qs_store *store, const struct qs_knob_rows *knobs, qs_store_done_fn *done,
                    void *user);

/* What follows: inside a qs_store_read function. */

struct qs_knob_info {
    struct qs_knob_row row; /* its texts are borrowed for the call */
    const char *fingerprint;
    int64_t job, found_wall_ns;
};
typedef void qs_knob_fn(const struct qs_knob_info *knob, void *user);
/* Those that were found last, of whatever system, in the order of their names. */
bool qs_read_knobs(struct qs_store_reader *r, const char *device, qs_knob_fn *fn, void *user,
                   struct qs_err *err);

#endif
