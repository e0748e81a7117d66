/* Is what is sent again what was stored? Internal to store. */
#ifndef QS_STORE_WRITE_WINDOW_SAME_H
#define QS_STORE_WRITE_WINDOW_SAME_H

#include "store/db.h"
#include "store/rows.h"

/* Compares what the device said: phase, times, evals, and each iteration's start, duration, status and
 * metrics. What the host judged (taints, attempt, silence) is not compared: the first judgement stands.
 * *ret_window 0: no stored window starts at this seq with this length; *ret_same: the one that does is equal.
 */
bool qs_window_same(struct qs_db *db, int64_t run, const struct qs_window_row *w, int64_t *ret_window,
                    bool *ret_same, struct qs_err *err);

#endif
