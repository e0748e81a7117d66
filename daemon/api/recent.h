/* What a device did last, as JSON of its document. Private to api. */
#ifndef QS_API_RECENT_H
#define QS_API_RECENT_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/err.h"

struct qs_store_reader;

/* Its last session, with how many of its windows were marked, and for what; "null": it has none. */
bool qs_read_session_json(struct qs_store_reader *reader, const char *device, struct qs_buf *out,
                          struct qs_err *err);
/* What its temperatures and clocks said over the last quarter of an hour before the newest reading; "null":
 * there is none. */
bool qs_read_recent_json(struct qs_store_reader *reader, const char *device, struct qs_buf *out,
                         struct qs_err *err);

#endif
