/* How long a gate will wait for a device to cool down, by its last waits, or else by what the device was
 * found to be like (`quiesce characterize`); and whether the wait is one as the latter says. Private to
 * device. */
#ifndef QS_DEVICE_ACTIVITY_COOLS_H
#define QS_DEVICE_ACTIVITY_COOLS_H

#include "device/job/impl.h"

struct qs_cools;

/* Reads it from the store, where a gate of the job waits for a temperature; nobody waits for that. Again when
 * a wait was stored. */
void qs_cools_read(struct qs_job_run *job);
void qs_cools_free(struct qs_cools *cools); /* NULL: nothing */
/* One reading of the wait of this expectation: how many seconds it has to go, by the model. NaN: nobody
 * knows; infinite: the device does not cool down so far, but to *end_mc. A wait that is not as the model has
 * it is told, once a sensor. */
double qs_cools_take(struct qs_job_run *job, const struct qs_job_expectation *e,
                     const struct qs_msg_waiting *m, double *end_mc);

#endif
