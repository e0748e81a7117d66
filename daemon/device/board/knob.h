/* Can what is written to a device be relied on? Each frequency domain is held at its lowest and at its
 * highest frequency, each switch is turned once: what the files then say, what the clock does, and how fast a
 * loop is. Pure. */
#ifndef QS_DEVICE_BOARD_KNOB_H
#define QS_DEVICE_BOARD_KNOB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "device/board/board.h"
#include "device/board/pin.h"
#include "proto/msg_control.h"
#include "store/knob.h"

enum qs_knob_sticks {
    QS_KNOB_STICKS,
    QS_KNOB_LATE,    /* it did after a while */
    QS_KNOB_UNTRIED, /* nothing was written */
    QS_KNOB_SLIPS,   /* it says something else */
    QS_KNOB_IGNORED, /* it says what it said before */
    QS_KNOB_FAILS    /* as qs_tune_outcome_name says */
};
enum qs_knob_effect {
    QS_KNOB_UNKNOWN,
    QS_KNOB_WORKS,
    QS_KNOB_CLAIMED, /* its file says so; a loop does not notice */
    QS_KNOB_WITHOUT
};
const char *qs_knob_sticks_name(enum qs_knob_sticks sticks); /* "yes", "late", "untried", ... */
const char *qs_knob_effect_name(enum qs_knob_effect effect); /* "unknown", "yes", "claimed", "no" */

struct qs_knob_point { /* what was seen while it was held at a frequency */
    int64_t khz;       /* by its file; 0: not known */
    int64_t loop_ns;   /* 0: not known */
};
struct qs_knob {             /* zeroed; to be done */
    const char *name, *kind; /* borrowed of the board */
    char *path;              /* owned; or NULL */
    enum qs_knob_sticks sticks;
    enum qs_tune_outcome outcome; /* of one that FAILS */
    enum qs_knob_effect effect;
    int64_t after_ms;
    int64_t low_khz, high_khz;
    struct qs_knob_point low, high;
    struct qs_buf why;
};
void qs_knob_done(struct qs_knob *knob);
/* Borrows. */
struct qs_knob_row qs_knob_row(const struct qs_knob *knob);

/* What holds one domain of the board at its lowest or highest frequency. False: it cannot be tried, and why
 * says so. To be done by qs_pins_done; borrows of the board. */
bool qs_knob_hold(const struct qs_board *board, size_t domain, bool high, struct qs_pins *ret,
                  struct qs_knob *knob);
/* One more item, which turns a switch; false as above. */
bool qs_knob_turn(const struct qs_board_switch *one, struct qs_pins *pins, struct qs_knob *knob);
bool qs_knob_may_turn(const struct qs_board_switch *one);
/* What a number of the domain's clock is in kHz. */
uint64_t qs_knob_khz(const struct qs_board_domain *domain, uint64_t raw);
/* What became of an item; after_ms: since it was first written. The worst of a knob's items stays, until the
 * same file is told better of. */
void qs_knob_take(struct qs_knob *knob, const struct qs_pin_item *item, const struct qs_tuned *told,
                  int64_t after_ms);
/* Was it tried, and cannot be relied on? */
bool qs_knob_is_doubtful(const struct qs_knob_row *row);
/* Do the wishes set it, or what is of its kind? */
bool qs_knob_matters(const struct qs_knob_row *row, const struct qs_wishes *wishes);
/* "policy0 cannot be relied on (ignored): 600000 was written and taken, and it still says 1800000" */
void qs_knob_say(const struct qs_knob_row *row, struct qs_buf *out);
/* Both points are seen: effect, and what is wrong. */
void qs_knob_judge(struct qs_knob *knob);

#endif
