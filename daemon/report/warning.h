/* One warning of a document, as every face reads it. Private to report. */
#ifndef QS_REPORT_WARNING_H
#define QS_REPORT_WARNING_H

#include <stdbool.h>

struct qs_json;
struct qs_mixed;

/* Appends {"code":...,"text":...} to the open array. */
void qs_put_warning(struct qs_json *j, const char *code, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* Where blocks of both kinds count: what each says alone, and what it is worth. Names of both arms or sides;
 * false where there are not two of each kind. */
bool qs_report_warn_mixed(struct qs_json *j, const char *cand, const char *base, const struct qs_mixed *m);

#endif
