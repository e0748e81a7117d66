/* Series of the store: which there are, and one with its changes (report/history/history.h). */
#ifndef QS_API_HISTORY_H
#define QS_API_HISTORY_H

#include "api/exchange.h"

qs_exchange_fn qs_handle_series, qs_handle_history;

#endif
