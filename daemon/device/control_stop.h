/* When a run has enough: its stop rule over the accepted iterations, and the limits that hold whatever it
 * says. Private to device. */
#ifndef QS_DEVICE_CONTROL_STOP_H
#define QS_DEVICE_CONTROL_STOP_H

#include <stdbool.h>
#include <stdint.h>

struct qs_control;

/* The next iteration of the run in hand. */
void qs_control_stop_push(struct qs_control *c, int64_t duration_ns, bool accepted);
/* At a window's end: true where the run is over, with its reason in the run. */
bool qs_control_stop_holds(struct qs_control *c);

#endif
