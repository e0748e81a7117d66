/* Which system a device runs, by its facts. */
#ifndef QS_REPORT_SYSTEM_H
#define QS_REPORT_SYSTEM_H

#include "base/buf.h"
#include "config/document/doc.h"

/* Those of the device; a session's environment has them as one member. NULL: doc is. */
const struct qs_node *qs_system_facts(const struct qs_doc *doc);
/* Appends what a board and a model belong to: build, machine, processor, kernel; "unknown" where none is
 * told. */
void qs_system_fingerprint(const char *facts_json, struct qs_buf *out);

#endif
