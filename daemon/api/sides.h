/* Two sides compared: jobs, builds or nights against others (report/sides/sides.h). */
#ifndef QS_API_SIDES_H
#define QS_API_SIDES_H

#include "api/exchange.h"

/* Read on the pool, then computed there: a client that leaves ends it. QS_E_CONFLICT where a job that is
 * named has not ended. */
qs_exchange_fn qs_handle_sides;

#endif
