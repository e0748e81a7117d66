/* What the files of the history share. Private to report. */
#ifndef QS_REPORT_HISTORY_IMPL_H
#define QS_REPORT_HISTORY_IMPL_H

#include "report/env_diff.h"
#include "report/history/history.h"

struct qs_history_night {                     /* a session; starts with it alone */
    const struct qs_history_session *session; /* borrowed */
    struct qs_job_spec *spec;                 /* owned: its job, once somebody has asked; or NULL */
    bool is_read;
};
void qs_history_night_done(struct qs_history_night *night);

/* What differs between the circumstances of two sessions beside the build under test: environment, the job's
 * conditions, the command, the executable where it belongs to no build. To be freed whatever the answer. */
bool qs_history_diff(struct qs_history_night *base, struct qs_history_night *cand,
                     const struct qs_farm_variables *of_farm, struct qs_env_diff *ret, struct qs_err *err);

/* What tells one thing under test from another: the build's label, or for an arm without one the beginning of
 * its executable's hash; "" where neither is known. */
void qs_history_build(const struct qs_history_session *session, char text[80]);

#endif
