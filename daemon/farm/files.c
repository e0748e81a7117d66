/* What a build's label stands for. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "farm/farm_impl.h"
#include "proto/auth.h"

static int by_name(const void *a, const void *b)
{
    const struct qs_job_file *const *x = a, *const *y = b;
    return strcmp((*x)->name, (*y)->name);
}

void qs_farm_build_content(const struct qs_job_arm *arm, struct qs_buf *out)
{
    const struct qs_job_file **sorted = qs_calloc(arm->file_count + 1, sizeof(const struct qs_job_file *));
    uint8_t sha[QS_SHA256_BYTES];
    char hex[2 * QS_SHA256_BYTES + 1];
    QS_BUF(text);
    for (size_t i = 0; i < arm->file_count; i++)
        sorted[i] = &arm->files[i];
    qsort(sorted, arm->file_count, sizeof *sorted, by_name);
    for (size_t i = 0; i < arm->file_count; i++)
        qs_buf_fmt(&text, "%s\n%s\n%s\n", sorted[i]->name, sorted[i]->executable ? "0500" : "0400",
                   sorted[i]->sha256);
    qs_sha256(text.data, text.len, sha);
    qs_hex(sha, sizeof sha, hex);
    qs_buf_str(out, hex);
    free(sorted);
}
