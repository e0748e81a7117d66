/* Comparison documents for other programs: a pure function of a document. */
#ifndef QS_CTL_EXPORT_H
#define QS_CTL_EXPORT_H

#include <jansson.h>

#include "base/buf.h"

/* JUnit's XML. A test case for each verdict, its class the device. A regression that stands is a failure;
 * what is inconclusive, or expected by chance among so many, is skipped: it was not decided, and a pass would
 * say that it was. All else passes, with its sentence as output. A refused comparison is one case with an
 * error. */
void qs_export_junit(const json_t *doc, struct qs_buf *out);

#endif
