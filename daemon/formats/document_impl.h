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

#endif
