/* `--on`: under which conditions a job measures, by what its device has. Pure. */
#ifndef QS_CTL_RUN_AIM_H
#define QS_CTL_RUN_AIM_H

#include <jansson.h>

#include "base/buf.h"

/* Makes the job one for this device: its clocks are held at their highest where the agent may write them, or
 * by load where it may only read the one clock that the job uses; windows begin when the device is quiet, and
 * where a temperature of its processors is known no warmer than one that is well above what it is now.
 * device: of GET /api/v1/devices/NAME; readings: of NAME:read, or NULL. Appends to `said` what is held, what
 * is not, and why. */
void qs_run_aim(json_t *job, const json_t *device, const json_t *readings, struct qs_buf *said);

#endif
