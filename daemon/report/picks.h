/* What people write to say which runs they mean: one side of a comparison. */
#ifndef QS_REPORT_PICKS_H
#define QS_REPORT_PICKS_H

#include "base/err.h"
#include "store/read_arms.h"

struct qs_picks {
    struct qs_arm_pick *at; /* owned, as the texts in them */
    size_t count;
};

/* Items separated by commas, each one of
 *   12, 12:ARM                       a job, or one of its arms
 *   build:LABEL                      every arm that measured this build, whatever its name
 *   night:2026-11-20, night:...:ARM  sessions that began from noon to noon, UTC, from that day on
 * QS_E_USAGE says what is wrong with which. */
bool qs_picks_parse(const char *text, struct qs_picks *ret, struct qs_err *err);
void qs_picks_done(struct qs_picks *s);

#endif
