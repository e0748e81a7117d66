/* Runs, and what was measured in them. */
#ifndef QS_API_RUNS_H
#define QS_API_RUNS_H

#include "api/exchange.h"

qs_exchange_fn qs_handle_runs, qs_handle_run, qs_handle_iterations;

#endif
