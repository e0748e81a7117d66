#include "ctl/read_text.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

bool qs_read_text(const char *path, size_t most_bytes, struct qs_buf *text, struct qs_err *err)
{
    char chunk[4096];
    FILE *f = strcmp(path, "-") == 0 ? stdin : fopen(path, "rbe");
    if (f == NULL)
        return qs_fail(err, QS_E_USAGE, "%s: %s", path, strerror(errno));
    for (size_t n = 0; text->len <= most_bytes && (n = fread(chunk, 1, sizeof(chunk), f)) > 0;)
        qs_buf_add(text, chunk, n);
    bool ok = ferror(f) == 0 || qs_fail(err, QS_E_USAGE, "%s: %s", path, strerror(errno));
    if (ok && text->len > most_bytes)
        ok = qs_fail(err, QS_E_LIMIT, "%s is longer than %zu MiB", path, most_bytes / 1024 / 1024);
    if (f != stdin)
        fclose(f);
    return ok;
}
