/* Files of results that the client has read: analysed in memory, without the store. */
#ifndef QS_API_ANALYZE_H
#define QS_API_ANALYZE_H

#include "api/exchange.h"

/* The bodies are JSON: {"files": [{"name", "text", "format"}], "options": {...}}, for a comparison exactly
 * two files, the baseline first. */
qs_exchange_fn qs_handle_analyze, qs_handle_analyze_compare, qs_handle_analyze_history;

#endif
