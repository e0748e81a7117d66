/* From the words of CLOSED and of iterations to those of the store. Private to device. */
#ifndef QS_DEVICE_WINDOW_CLOSED_H
#define QS_DEVICE_WINDOW_CLOSED_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/msg.h"

/* Taints of a window by itself: its gate, its evidence, its link; noisy: the silence of the link was broken.
 */
uint32_t qs_closed_taint(const struct qs_msg_closed *m, bool noisy);
/* Taints of an iteration by its flags (enum qs_iteration_flag). */
uint32_t qs_closed_iteration_taint(uint32_t flags);
const char *qs_closed_how_word(enum qs_closed_how how);

#endif
