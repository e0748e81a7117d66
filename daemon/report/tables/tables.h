/* What was compared as tables, for a pull request or a wiki: one writer for its forms, one row for a verdict.
 */
#ifndef QS_REPORT_TABLES_TABLES_H
#define QS_REPORT_TABLES_TABLES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

enum { QS_TABLES_COLUMNS_MAX = 12 };

struct qs_comparison;

struct qs_tables { /* starts from {0}: nobody asks for tables */
    const struct qs_tables_form *form;
    struct qs_buf out;
};

/* "markdown", "asciidoc", "orgmode": false for any other word. To be freed by qs_tables_done. */
bool qs_tables_init(struct qs_tables *ret, const char *form);
void qs_tables_init_like(struct qs_tables *ret, const struct qs_tables *other);
void qs_tables_done(struct qs_tables *t);
/* Media type of the text. Static. */
const char *qs_tables_type(const struct qs_tables *t);

/* The rest is for who fills them. A headline of the document (1) or of a part of it (2): text follows. */
void qs_tables_headline(struct qs_tables *t, int level);
/* Text of others: what has a meaning in the form is escaped, control characters are shown, line ends are
 * spaces. NULL: nothing. */
void qs_tables_text(struct qs_tables *t, const char *s);
/* The same, in bold type. */
void qs_tables_bold(struct qs_tables *t, const char *s);
/* A command as it is typed. */
void qs_tables_code(struct qs_tables *t, const char *s);
/* The first so many titles, at most QS_TABLES_COLUMNS_MAX; align has l or r for each. */
void qs_tables_head(struct qs_tables *t, const char *const *titles, const char *align, size_t columns);
/* Before the first cell of a row, between two, after the last; after the last row. */
void qs_tables_row(struct qs_tables *t);
void qs_tables_next(struct qs_tables *t);
void qs_tables_row_end(struct qs_tables *t);
void qs_tables_end(struct qs_tables *t);

/* verdicts.c: what was compared, a row each. All borrowed; unknown texts are "". */
struct qs_tables_verdict {
    const char *point, *where; /* where: the device, or the file */
    const char *arms[2];       /* of the base and the candidate */
    const struct qs_comparison *c;
};
/* Headline of two sides: "build:v2 with build:v1". */
void qs_tables_title(struct qs_tables *t, const char *candidate, const char *base);
/* What is said of all, in words, and the head of the rows; or that there are none. */
struct qs_tally;
void qs_tables_verdict_head(struct qs_tables *t, const struct qs_tally *tally);
void qs_tables_nothing_in_common(struct qs_tables *t);
void qs_tables_verdict_row(struct qs_tables *t, const struct qs_tables_verdict *v);
/* The cell of the verdict: a regression in bold type, and why it says no more. */
void qs_tables_verdict_cell(struct qs_tables *t, const struct qs_comparison *c);
/* And of what else it says; a dash where that is nothing. */
void qs_tables_notes_cell(struct qs_tables *t, const struct qs_comparison *c);
/* "- view of a: discard-first 10 leaves 40 of 50 iterations", a line; nothing where there are no views. */
struct qs_views;
struct qs_views_tally;
void qs_tables_views(struct qs_tables *t, const char *of, const struct qs_views *views,
                     const struct qs_views_tally *tally);

#endif
