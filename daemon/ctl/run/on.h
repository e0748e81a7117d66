/* `--on`: the device that a job is for. */
#ifndef QS_CTL_RUN_ON_H
#define QS_CTL_RUN_ON_H

#include "ctl/client/api.h"

/* The device that --on means, as GET /api/v1/devices/NAME has it (owned), ready for a job; where nobody has
 * looked at it before, it is looked at by a job of its own, but with only_seen. Waits for it to appear (15 s)
 * and to become ready (60 s). NULL: all is said, *ret_code is set. */
json_t *qs_on_find(struct qs_ctl *ctl, struct qs_http *http, bool only_seen, int *ret_code);

/* What its sensors say now (GET .../NAME:read), owned; NULL where a job has it, or it cannot say. */
json_t *qs_on_readings(struct qs_http *http, const json_t *device);

#endif
