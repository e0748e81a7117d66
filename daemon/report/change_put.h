/* Changes of a history in documents: schema/analysis.schema.json has their fields. */
#ifndef QS_REPORT_CHANGE_PUT_H
#define QS_REPORT_CHANGE_PUT_H

#include "base/json.h"
#include "stats/drift.h"

/* A step or a drift as fields of the object that is open. */
void qs_put_change(struct qs_json *j, const struct qs_change *c);

#endif
