/* Which contents the history names. */
#ifndef QS_STORE_READ_FILES_H
#define QS_STORE_READ_FILES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

struct qs_store_reader;

/* Hashes that jobs and artifacts name, each once, sorted. */
struct qs_file_use {
    char sha256[65];
};
struct qs_file_uses {
    struct qs_file_use *at;
    size_t count;
};
bool qs_read_file_uses(struct qs_store_reader *r, struct qs_file_uses *ret, struct qs_err *err);
void qs_file_uses_free(struct qs_file_uses *uses);
bool qs_file_is_used(const char *sha256, void *uses); /* for qs_files_sweep; uses: struct qs_file_uses */

#endif
