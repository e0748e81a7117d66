/* What sides of a comparison can be called: the builds and the nights that were measured. */
#ifndef QS_REPORT_NAMED_H
#define QS_REPORT_NAMED_H

#include "base/buf.h"
#include "report/sides/selector.h"
#include "store/read/named.h"

/* Appends the document {"builds":[...],"nights":[...]} (schema/openapi.yaml), the newest first, at most
 * `limit` of each. */
void qs_named_put(const struct qs_named_list *list, size_t limit, struct qs_buf *out);

#endif
