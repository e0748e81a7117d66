/* The iterations of a window as a table that SQL reads, so that one statement writes all of them:
 *
 *     INSERT INTO iteration SELECT ?, i, start_off_ns, duration_ns, taint FROM window_rows(?)
 *
 * It has no more than the row that is asked for, and none of it outlives the statement. Internal to store. */
#ifndef QS_STORE_BULK_H
#define QS_STORE_BULK_H

#include "store/db.h"
#include "store/metrics.h"
#include "store/rows_window.h"

enum { QS_BULK_VALUES = QS_RUSAGE_COLUMNS };

/* window_rows(i, start_off_ns, duration_ns, taint, status, v0, ... v8): i counts from 0; v0 ... are the
 * metrics at these places of values[], NULL where a place is < 0 or the value is not there (INT64_MIN). */
struct qs_bulk {
    const struct qs_iteration_row *rows; /* borrowed, n of them */
    size_t n;
    int place[QS_BULK_VALUES];
};

/* Once for a connection that writes. */
bool qs_bulk_add(struct qs_db *db, struct qs_err *err);
/* As the next parameter; borrowed until the statement ends. */
void qs_stmt_bulk(struct qs_stmt *s, const struct qs_bulk *bulk);

#endif
