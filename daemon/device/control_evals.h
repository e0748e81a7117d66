/* How many evaluations an iteration of the point in hand has: before its pilot the baseline's program is
 * asked, or measured. Private to device. */
#ifndef QS_DEVICE_CONTROL_EVALS_H
#define QS_DEVICE_CONTROL_EVALS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "device/evals.h"

struct qs_control;
struct qs_msg_open;

struct qs_control_evals {
    size_t points; /* that were begun */
    struct qs_evals at;
    char *depends; /* owned: the key of what is being found, or NULL where it cannot be known again */
};

void qs_control_evals_done(struct qs_control *c);
/* A point is set up, for the first time or again: its pilot begins with the baseline where need be. */
void qs_control_evals_begin(struct qs_control *c);
/* Rows that the window of the run in hand may need beside its own. */
uint32_t qs_control_evals_rows(const struct qs_control *c);
/* What kind of window comes next: its phase, iterations, longest time and evaluations. */
void qs_control_evals_open(const struct qs_control *c, struct qs_msg_open *m);
/* The committed window was one of tuning: it is judged here, and the next one is fed. */
bool qs_control_evals_window(struct qs_control *c);

/* control.c: an answer of the store that c->outstanding counts has come. False where it is of no use any
 * more; c may be gone then. */
bool qs_control_answered(struct qs_control *c, uint64_t epoch);

#endif
