/* Views of what was read from the store or from files: each run is looked at for itself. */
#ifndef QS_REPORT_VIEWS_OF_H
#define QS_REPORT_VIEWS_OF_H

#include "formats/import.h"
#include "report/views.h"
#include "store/read/arms.h"

/* Takes iterations out of the runs, of every metric but those of windows; the tally counts those of the
 * duration that would be looked at. */
void qs_views_of_runs(const struct qs_views *views, struct qs_arm_runs *runs, struct qs_views_tally *tally);
/* Takes values out of each run of each series, and counts them among those that were dropped; a run of which
 * nothing is left is none. QS_E_USAGE: nothing is left of a series. */
bool qs_views_of_import(const struct qs_views *views, struct qs_import *import, struct qs_views_tally *tally,
                        struct qs_err *err);

#endif
