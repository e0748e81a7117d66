#include "config/document/load.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

char *qs_load_text(const char *path, size_t *ret_bytes, struct qs_err *err)
{
    FILE *f = fopen(path, "re");
    if (!f) {
        qs_fail(err, QS_E_IO, "cannot read %s: %s", path, strerror(errno));
        return NULL;
    }
    char *text = qs_malloc(QS_DOC_BYTES + 1);
    *ret_bytes = fread(text, 1, QS_DOC_BYTES + 1, f);
    bool bad = ferror(f) != 0 || *ret_bytes > QS_DOC_BYTES;
    fclose(f);
    if (!bad)
        return text;
    free(text);
    qs_fail(err, QS_E_IO, "cannot read %s: an error, or more than %d bytes", path, QS_DOC_BYTES);
    return NULL;
}

bool qs_load_farm(const char *path, qs_farm_address_fn *check_address, struct qs_farm_config **ret,
                  struct qs_buf *problems, struct qs_err *err)
{
    size_t bytes;
    QS_FREED char *text = qs_load_text(path, &bytes, err);
    if (!text)
        return false;
    struct qs_problems found;
    struct qs_doc *doc = NULL;
    qs_problems_init(&found);
    bool ok = qs_doc_read(path, text, bytes, false, &doc, &found) &&
              qs_farm_from_doc(doc, check_address, ret, &found);
    if (!ok) {
        qs_problems_text(&found, path, problems);
        qs_fail(err, QS_E_CONFIG, "%s has %zu problem%s", path, found.count, found.count == 1 ? "" : "s");
    }
    if (doc)
        qs_doc_free(doc);
    qs_problems_done(&found);
    return ok;
}
