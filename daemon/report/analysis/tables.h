/* A comparison of files as tables, gathered while the document is written. Private to report. */
#ifndef QS_REPORT_ANALYSIS_TABLES_H
#define QS_REPORT_ANALYSIS_TABLES_H

#include "report/analysis/impl.h"
#include "report/verdict/verdict.h"

struct qs_file_tables;

/* NULL where opts ask for none: the others take it. Two files, which are borrowed as the options. */
struct qs_file_tables *qs_file_tables_begin(const struct qs_analysis_file *files,
                                            const struct qs_analysis_opts *opts);
void qs_file_tables_verdict(struct qs_file_tables *f, const char *benchmark, const struct qs_comparison *c);
/* A series that one file alone has: side is QS_BASE or QS_CAND. */
void qs_file_tables_alone(struct qs_file_tables *f, int side, const struct qs_import_series *series);
/* Writes them all to opts->tables, whose text it gives; frees f. NULL: nobody asked. */
const char *qs_file_tables_end(struct qs_file_tables *f, const struct qs_tally *tally);

#endif
