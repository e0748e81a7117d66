/* Shared by the reads. Internal to store. */
#ifndef QS_STORE_READ_UTIL_H
#define QS_STORE_READ_UTIL_H

#include <stddef.h>

#include "base/mem.h"
#include "store/rows.h"

enum qs_run_state qs_read_run_state(const char *name);

#endif
