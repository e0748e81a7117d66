/* A moment as people write it. */
#ifndef QS_CTL_WHEN_H
#define QS_CTL_WHEN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

/* "2026-11-01", "2026-11-01T05:30" (UTC, seconds may follow), or a time ago: "90min", "12h", "30d", "2w".
 * end_of_day: a date alone means its last second. QS_E_USAGE. */
bool qs_when_parse(const char *text, int64_t now_wall_ns, bool end_of_day, int64_t *ret_wall_ns,
                   struct qs_err *err);

#endif
