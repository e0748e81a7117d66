/* What a job measured, in the forms other tools read. */
#ifndef QS_API_EXPORT_H
#define QS_API_EXPORT_H

#include "api/exchange.h"

/* ?format=json|csv|markdown|asciidoc|orgmode */
qs_exchange_fn qs_handle_export;

/* One each, of an ended job. json: hyperfine's results, with the comparison as "quiesce". csv: a line for
 * every iteration, sent in pages. The others: a table for each point and device. */
qs_exchange_fn qs_export_json, qs_export_csv, qs_export_markdown, qs_export_asciidoc, qs_export_orgmode;

#endif
