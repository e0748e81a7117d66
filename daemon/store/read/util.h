/* Shared by the reads. Internal to store. */
#ifndef QS_STORE_READ_UTIL_H
#define QS_STORE_READ_UTIL_H

#include <stddef.h>

#include "base/mem.h"
#include "store/rows.h"

/* SQL, of a run `r`: it gives values (qs_values_of_state says which do). */
#define QS_RUN_GIVES "r.state = 'done'"

/* SQL, of a run `r`: its block was begun again, and counts with its last attempt. Which runs these are the
 * view says alone; whoever reads runs for numbers asks it. Asked of each run it took a sixth of the time of
 * such a read: hence only where some later attempt of the block is in the index of these, which hardly ever
 * has any. (Of AND, SQLite computes both sides.) */
#define QS_RUN_SUPERSEDED                                                                                    \
    "iif(EXISTS (SELECT 1 FROM run later WHERE later.job_id = r.job_id AND later.point_idx = r.point_idx"    \
    " AND later.block = r.block AND later.attempt > 0), EXISTS (SELECT 1 FROM v_superseded x WHERE x.id = "  \
    "r.id), 0)"

/* Of the arm a at the point p: its own conditions, else the point's; and the controls among them, which tell
 * one series from another. Points of versions before 12 have no more than their controls. */
#define QS_SQL_CONDITIONS "coalesce(a.conditions, p.conditions)"
#define QS_SQL_CONTROLS   "coalesce(json_extract(" QS_SQL_CONDITIONS ", '$.controls'), " QS_SQL_CONDITIONS ")"

/* The points of the benchmark and parameters of point ?1, under whatever conditions. */
#define QS_SQL_SAME_POINTS                                                                                   \
    "(SELECT q.id FROM point o JOIN point q ON q.benchmark_id = o.benchmark_id AND q.params = o.params"      \
    " WHERE o.id = ?1)"

enum qs_run_state qs_read_run_state(const char *name);

#endif
