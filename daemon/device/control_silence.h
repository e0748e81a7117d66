/* The silence of a window: what is claimed of it, and the rows that show it. Private to device. */
#ifndef QS_DEVICE_CONTROL_SILENCE_H
#define QS_DEVICE_CONTROL_SILENCE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/loop.h"
#include "store/rows.h"

struct qs_control;

enum { QS_CONTROL_SILENCE_ROWS = 8 }; /* of evidence or taints about the silence of a window */

/* What is claimed of the window's silence (CLOSED is kept already), and the rows that show
 * it; their texts are static. Both functions give at most QS_CONTROL_SILENCE_ROWS. */
void qs_control_judge_silence(struct qs_control *c);
size_t qs_control_silence_evidence(const struct qs_control *c, struct qs_evidence_row *out);
size_t qs_control_silence_taints(const struct qs_control *c, struct qs_taint_row *out);
/* Whether it may transfer, by the farm's token where there is one. False: ask_again is called with c, once,
 * after a while; *again is its timer, which ask_again sets to NULL. */
bool qs_control_has_token(struct qs_control *c, struct qs_timer **again, qs_loop_fn *ask_again);
void qs_control_give_token(struct qs_control *c); /* nothing happens where it has none */
/* While it is on, a host that shares the machine begins no commit and no read. Nothing happens where it is so
 * already. */
void qs_control_set_silence(struct qs_control *c, bool on);

#endif
