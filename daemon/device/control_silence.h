/* The way into a window's silence: the farm's token, and what this machine holds back. Private to device. */
#ifndef QS_DEVICE_CONTROL_SILENCE_H
#define QS_DEVICE_CONTROL_SILENCE_H

#include <stdbool.h>

#include "base/loop.h"

struct qs_control;

/* Whether it may transfer, by the farm's token where there is one. False: ask_again is called with c, once,
 * after a while; *again is its timer, which ask_again sets to NULL. */
bool qs_control_has_token(struct qs_control *c, struct qs_timer **again, qs_loop_fn *ask_again);
void qs_control_give_token(struct qs_control *c); /* nothing happens where it has none */
/* While it is on, a host that shares the machine begins no commit and no read. Nothing happens where it is so
 * already. */
void qs_control_set_silence(struct qs_control *c, bool on);

#endif
