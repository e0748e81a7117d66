/* One warning of a document, as every face reads it. Private to report. */
#ifndef QS_REPORT_WARNING_H
#define QS_REPORT_WARNING_H

struct qs_json;

/* Appends {"code":...,"text":...} to the open array. */
void qs_put_warning(struct qs_json *j, const char *code, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

#endif
