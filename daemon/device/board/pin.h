/* From a board and a wish to what is written to hold its frequencies, in an order that always works:
 * processors on; governors; then for each domain its lower limit to the hardware's, its upper limit to the
 * frequency, its lower limit to the frequency, and the frequency itself where the governor is `userspace`. */
#ifndef QS_DEVICE_BOARD_PIN_H
#define QS_DEVICE_BOARD_PIN_H

#include "config/profile/wish.h"
#include "device/board/board.h"

struct qs_pin_wishes {
    struct qs_wish of[QS_DOMAIN_KINDS]; /* zeroed: all free */
};

enum qs_pin_flag {
    QS_PIN_PERSISTENT = QS_TUNE_PERSISTENT,
    QS_PIN_NO_READ_BACK = QS_TUNE_BLIND /* a later item writes the same file */
};
struct qs_pin_item {
    char *path, *value;
    unsigned flags; /* enum qs_pin_flag */
};
struct qs_pin_choice {                    /* what a domain is held at */
    const struct qs_board_domain *domain; /* borrowed of the board */
    size_t khz;
    char *text; /* "policy0: 738 MHz (50% of 1803 MHz is 901.5 MHz; the nearest step at or below it)" */
};
struct qs_pins {
    struct {
        struct qs_pin_item *at;
        size_t count;
    } items; /* more than one TUNE takes, on large machines */
    struct {
        struct qs_pin_choice *at;
        size_t count;
    } choices;
    /* Processors that the first `online_count` items switch on and that no domain has: what they can do is
     * known from a survey after those items. */
    size_t online_count;
    bool survey_again;
};

/* False: QS_E_NOT_FOUND (no domain of this kind), QS_E_DENIED (it cannot be written), QS_E_JOB (no such
 * frequency), each with what there is and what to do. A kind that is free is left alone. */
bool qs_board_pin(const struct qs_board *board, const struct qs_pin_wishes *wishes, struct qs_pins *ret,
                  struct qs_err *err);
void qs_pins_done(struct qs_pins *pins);

#endif
