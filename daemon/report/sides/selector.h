/* What people write to say which runs they mean: one side of a comparison. */
#ifndef QS_REPORT_SIDES_SELECTOR_H
#define QS_REPORT_SIDES_SELECTOR_H

#include "base/err.h"
#include "store/read/arms.h"

struct qs_run_selector {
    struct qs_run_filter *at; /* owned, as the texts in them */
    size_t count;
};

/* What several arms of one point on one side may be taken for one sample: those that its words name one by
 * one; those of several jobs, where none compares arms; those of one name. */
enum qs_pool { QS_POOL_JOBS, QS_POOL_ALL, QS_POOL_NAMES };

/* Items separated by commas, each one of
 *   12, 12:ARM                       a job, or one of its arms
 *   build:LABEL                      every arm that measured this build, whatever its name
 *   build:FROM..TO                   from one build to the other, in the order in which they came
 *   night:2026-11-20, night:...:ARM  sessions that began on that day, from midnight to midnight here
 * QS_E_USAGE says what is wrong with which. */
bool qs_run_selector_parse(const char *text, struct qs_run_selector *ret, struct qs_err *err);
enum qs_pool qs_run_selector_pool(const struct qs_run_selector *s);
void qs_run_selector_done(struct qs_run_selector *s);

enum { QS_NIGHT_CHARS = 11 };
/* What `night:` calls a moment: the day here, "2026-11-20". */
void qs_night_name(int64_t wall_ns, char text[QS_NIGHT_CHARS]);

#endif
