/* trip.c: the limit of temperature of a job that switches off what protects its device from heat; any other
 * may have one, too. It is lines of the gate, which end the job at once, and a look at what a window's end
 * was like. Private to device. */
#ifndef QS_DEVICE_ACTIVITY_TRIP_H
#define QS_DEVICE_ACTIVITY_TRIP_H

#include "device/board/pin.h"
#include "device/board/sensor.h"
#include "device/job/impl.h"

/* May what the run in hand wants be written? False: it takes protection away, and no limit stands instead.
 * Where one does, that is told, and stored with the session. */
bool qs_trip_allows(struct qs_job_run *job, const struct qs_pins *pins, struct qs_err *err);
/* Is this a temperature that counts for a limit of the job's, in any of its conditions? */
bool qs_trip_watches(const struct qs_job_spec *spec, const struct qs_board_sensor *sensor);
/* The lines of the run in hand. False: they are too many. */
bool qs_trip_gate(const struct qs_job_run *job, struct qs_build *gate);
/* Is the device above the limit, by what CLOSED tells of the window in hand, or can nobody tell any more? */
bool qs_trip_is_over(const struct qs_job_run *job, struct qs_err *err);

#endif
