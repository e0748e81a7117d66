/* changed.c: what was changed on the device and put back, as it is stored. Private to device. */
#ifndef QS_DEVICE_ACTIVITY_CHANGED_H
#define QS_DEVICE_ACTIVITY_CHANGED_H

#include "device/board/pin.h"
#include "device/job/impl.h"

/* The answer to a TUNE of n items from `from` on. run_uid: 16 bytes, or NULL: of no single run. */
void qs_changed_set(struct qs_job_run *job, const struct qs_pins *pins, size_t from, size_t n,
                    const struct qs_msg_tuned *m, const uint8_t *run_uid);
/* An answer to RESTORE. Adds to both. last: nothing is tried again, so what was not put back is stored, too,
 * and people are warned of it. */
void qs_changed_back(struct qs_job_run *job, const struct qs_msg_restored *m, bool last, size_t *put_back,
                     size_t *left);
/* The items from `from` on become elements of a TUNE, whose list has QS_CONTROL_MAX_BYTES: how many did. */
size_t qs_changed_items(const struct qs_pins *pins, size_t from, struct qs_build *list);

#endif
