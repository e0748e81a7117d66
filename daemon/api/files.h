/* Files by their content's hash. */
#ifndef QS_API_FILES_H
#define QS_API_FILES_H

#include "api/exchange.h"

/* Of an upload's first call, and a no-op for all others: opens the file, or answers that it is there. */
void qs_handle_file_begin(struct qs_exchange *ex);
qs_exchange_fn qs_handle_file_put, qs_handle_file_get, qs_handle_file_head;

#endif
