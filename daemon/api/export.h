/* What a job measured, in the forms other tools read. */
#ifndef QS_API_EXPORT_H
#define QS_API_EXPORT_H

#include "api/exchange.h"

/* ?format=json|csv|markdown|asciidoc|orgmode */
qs_exchange_fn qs_handle_export;

/* Of an ended job. json: hyperfine's results, with the comparison as "quiesce". csv: a line for every
 * iteration, sent in pages. */
qs_exchange_fn qs_export_json, qs_export_csv;
/* A table for each point and device in a form that report/tables knows; any other word is refused. */
void qs_export_tables(struct qs_exchange *ex, const char *form);

#endif
