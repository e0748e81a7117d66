/* The builds and nights that sides of a comparison can be called by (report/named.h). */
#ifndef QS_API_BUILDS_H
#define QS_API_BUILDS_H

#include "api/exchange.h"

qs_exchange_fn qs_handle_builds;

#endif
