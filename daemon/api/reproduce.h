/* Doing a job again: what it takes, the submission, and how the repetition compares. */
#ifndef QS_API_REPRODUCE_H
#define QS_API_REPRODUCE_H

#include "api/exchange.h"

qs_exchange_fn qs_handle_reproduce_plan, qs_handle_reproduce, qs_handle_reproduction;

#endif
