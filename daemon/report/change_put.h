/* Changes of a history in documents: schema/analysis.schema.json has their fields. */
#ifndef QS_REPORT_CHANGE_PUT_H
#define QS_REPORT_CHANGE_PUT_H

#include "base/json.h"
#include "stats/drift.h"

/* A step or a drift as fields of the object that is open. */
void qs_put_change(struct qs_json *j, const struct qs_change *c);

/* What was found beside the changes: smaller, alone (counted from `from` on), phi, detectable_ratio. */
void qs_put_changes_beside(struct qs_json *j, const struct qs_changes *changes, size_t from);

#endif
