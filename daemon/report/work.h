/* The work of one document, planned before it begins: pieces with a name and a cost each. What is told is the
 * cost of the pieces done over that of all, and inside a piece what the statistics tell of theirs. */
#ifndef QS_REPORT_WORK_H
#define QS_REPORT_WORK_H

#include "base/err.h"
#include "stats/status.h"

struct qs_work {
    const struct qs_progress *to; /* borrowed: who hears of it */
    double planned_ns, done_ns;   /* of all pieces, of those before the one under way */
    double piece_ns;
    const char *piece; /* borrowed: its name */
    double told_ratio; /* the last share that was told: what is told never falls */
    bool ended;        /* the answer was no; every later answer is no as well */
};

/* planned_ns: the sum of the costs of all pieces, in nanoseconds of a processor of 2020. Only their
 * proportions matter. */
void qs_work_init(struct qs_work *w, const struct qs_progress *to, double planned_ns);

/* The next piece; ends the one before. False: nothing more is to be computed. *ret is handed to whoever does
 * the piece. name is borrowed until the next piece. w may be NULL: nobody hears of it then. */
bool qs_work_begin(struct qs_work *w, const char *name, double cost_ns, struct qs_progress *ret);

/* For small work inside whatever piece is under way when it asks: it tells what was told before. w may be
 * NULL. */
struct qs_progress qs_work_here(struct qs_work *w);

/* All pieces are done: tells 1, unless it was ended. QS_OK, QS_ECANCELED. */
enum qs_status qs_work_finish(struct qs_work *w);

/* False, with the QS_E_STOPPED of a document that was ended. */
bool qs_work_fail(struct qs_err *err);

#endif
