/* Shared by the reads. Internal to store. */
#ifndef QS_STORE_READ_UTIL_H
#define QS_STORE_READ_UTIL_H

#include <stddef.h>

#include "base/mem.h"
#include "store/rows.h"

/* SQL, of a run `r`: its block was begun again, and counts with its last attempt. Which runs these are the
 * view says alone; whoever reads runs for numbers asks it. */
#define QS_RUN_SUPERSEDED "EXISTS (SELECT 1 FROM v_superseded x WHERE x.id = r.id)"

enum qs_run_state qs_read_run_state(const char *name);

#endif
