/* What the readers of documents share. Private to formats. */
#ifndef QS_FORMATS_DOCUMENT_IMPL_H
#define QS_FORMATS_DOCUMENT_IMPL_H

#include "formats/document.h"
#include "formats/reader.h"

struct qs_document_build {
    const struct qs_form *form;
    struct qs_reader *r;
    struct qs_document *to;
};

/* One more value, of `ns` for all evaluations; `at` is its place. False with a problem: also where one
 * evaluation alone would lose digits. */
bool qs_document_add(struct qs_document_build *b, double ns, const char *at);
bool qs_document_gbench(struct qs_document_build *b);
bool qs_document_am_start(struct qs_document_build *b);
bool qs_document_androidx(struct qs_document_build *b);
/* Where the file begins behind what am said; the text's end where none came. */
const char *qs_document_androidx_body(const char *text);
/* Has the test passed, by what stands in the reader's text before `end`? False with a problem. */
bool qs_document_instrumented(struct qs_reader *r, const char *end);

#endif
