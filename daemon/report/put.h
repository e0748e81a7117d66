/* Pieces that several documents have: a warning, a change of a history. */
#ifndef QS_REPORT_PUT_H
#define QS_REPORT_PUT_H

#include <stdbool.h>

#include "base/json.h"
#include "stats/drift.h"

struct qs_mixed;

/* Appends {"code":...,"text":...} to the open array. */
void qs_put_warning(struct qs_json *j, const char *code, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* Where blocks of both kinds count: what each says alone, and what it is worth. Names of both arms or sides;
 * false where there are not two of each kind. */
bool qs_report_warn_mixed(struct qs_json *j, const char *cand, const char *base, const struct qs_mixed *m);

/* Changes of a history in documents: schema/analysis.schema.json has their fields. */
/* A step or a drift as fields of the object that is open. */
void qs_put_change(struct qs_json *j, const struct qs_change *c);

/* What was found beside the changes: smaller, alone (counted from `from` on), phi, detectable_ratio. */
void qs_put_changes_beside(struct qs_json *j, const struct qs_changes *changes, size_t from);

#endif
