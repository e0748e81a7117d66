/* Private to config: the type and range of a key in words, for messages and for the key reference. */
#ifndef QS_CONFIG_DOCUMENT_SCHEMA_FORM_H
#define QS_CONFIG_DOCUMENT_SCHEMA_FORM_H

#include "base/buf.h"
#include "config/document/schema.h"

/* "a duration such as 20s", "true or false", "one of free, max" */
void qs_schema_form(const struct qs_key *key, struct qs_buf *out);
/* "1ms to 1h", "at most 64KiB"; nothing where the key is not bounded. */
void qs_schema_range(const struct qs_key *key, struct qs_buf *out);

#endif
