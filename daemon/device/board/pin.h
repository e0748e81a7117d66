/* From a board and wishes to what is written, in an order that always works: processors on, processors off,
 * boost; other switches; governors; then for each domain its lower limit to the hardware's, its upper limit
 * to the frequency, its lower limit to the frequency, and the frequency itself where the governor is
 * `userspace`. */
#ifndef QS_DEVICE_BOARD_PIN_H
#define QS_DEVICE_BOARD_PIN_H

#include "config/profile/wish.h"
#include "device/board/board.h"

enum qs_pin_flag {
    QS_PIN_PERSISTENT = QS_TUNE_PERSISTENT,
    QS_PIN_NO_READ_BACK = QS_TUNE_BLIND, /* a later item writes the same file */
    QS_PIN_COMMAND = QS_TUNE_COMMAND,
    QS_PIN_TRANSIENT = QS_TUNE_TRANSIENT, /* nothing of it is left under another governor */
    QS_PIN_MAY_FAIL =
        256 /* of the host alone: what cannot be switched on does not disturb (a core's sibling) */
};
struct qs_pin_item {
    char *path, *value;
    unsigned flags; /* enum qs_pin_flag */
};
struct qs_pin_choice {                    /* what a domain is held at, or a switch set to */
    const struct qs_board_domain *domain; /* borrowed of the board; NULL: nothing of it is held */
    size_t khz;
    char *text; /* "policy0: 738 MHz (50% of 1803 MHz is 901.5 MHz; the nearest step at or below it)" */
    bool warm;  /* nothing of it is written: its processors are kept busy until it is at khz */
    size_t raw, limit_raw; /* warm: as its files have the operating point, and its upper limit (0: none) */
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
    struct qs_strings thermal; /* names of switches that protect from heat, and are not on */
    /* The items switch processors or boost, and are all that is known: what frequencies there are follows
     * from a survey after them. */
    bool survey_again;
};

/* False: QS_E_NOT_FOUND (there is no such domain or switch), QS_E_DENIED (it cannot be written), QS_E_JOB (no
 * such frequency, governor or value), each with what there is and what to do. What is not wished is left
 * alone. settled: the board is of the survey after such items. */
bool qs_board_pin(const struct qs_board *board, const struct qs_wishes *wishes, bool settled,
                  struct qs_pins *ret, struct qs_err *err);
void qs_pins_done(struct qs_pins *pins);
/* One more, which is a file of the caller's own choice; path is copied. */
void qs_pins_item(struct qs_pins *pins, const char *path, char *owned_value, unsigned flags);

/* `frequency: hold`, after that: adds a choice for each clock of these processors ("": all). It is the
 * highest operating point, or the highest below the upper limit, which is never written; home: the board at
 * the session's begin, whose limit counts where it was higher. QS_E_DENIED: neither clock nor residency of
 * one can be read; QS_E_NOT_FOUND. */
bool qs_board_hold(const struct qs_board *board, const struct qs_board *home, const char *cpus,
                   struct qs_pins *pins, struct qs_err *err);

/* The processors that a word of a job stands for: "all", a cluster's name; or a list, which must be there.
 * NULL with what there is. Owned. */
char *qs_board_cpus_of(const struct qs_board *board, const char *word, struct qs_err *err);
/* The index'th processor, round and round, of those of the cluster `big`. */
char *qs_board_one_big(const struct qs_board *board, size_t index, struct qs_err *err);

#endif
