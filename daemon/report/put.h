/* Pieces that several documents have: a warning, a change of a history. */
#ifndef QS_REPORT_PUT_H
#define QS_REPORT_PUT_H

#include <stdbool.h>

#include "report/fields.h"
#include "stats/drift.h"

struct qs_mixed;

/* Appends a warning to the open array: a word for programs, a text for people. */
extern const struct qs_field qs_warning_rows[];
void qs_put_warning(struct qs_json *j, const char *code, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* Where blocks of both kinds count: what each says alone, and what it is worth. Names of both arms or sides;
 * false where there are not two of each kind. */
bool qs_report_warn_mixed(struct qs_json *j, const char *cand, const char *base, const struct qs_mixed *m);

/* Changes of a history in documents. */
extern const struct qs_field qs_change_rows[]; /* of struct qs_change: a step or a drift */

struct qs_smaller_steps { /* than the margin */
    size_t steps;
    double most_ratio; /* the largest of them */
};
struct qs_beside_changes { /* what was found beside the changes */
    struct qs_smaller_steps smaller;
    struct qs_field_list alone;
    double phi, detectable_ratio;
};
extern const struct qs_field qs_beside_changes_rows[];
/* Of points that are counted from `from` on; the list is owned by the caller. */
struct qs_beside_changes qs_beside_changes(const struct qs_changes *changes, size_t from);

#endif
