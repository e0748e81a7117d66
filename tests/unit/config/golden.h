/* Shared by the tests of config: files of a folder, documents into specs, and a spec as text to compare. */
#ifndef QS_TESTS_CONFIG_GOLDEN_H
#define QS_TESTS_CONFIG_GOLDEN_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "config/job/job.h"

/* The whole file, NUL-terminated, owned by the caller; NULL where it cannot be read. */
char *golden_read(const char *path, size_t *ret_len);
/* Compares with DIR/NAME.txt; where they differ, writes NAME.got into the working directory and fails. */
void golden_same(const char *dir, const char *name, const struct qs_buf *got);
/* Names in a folder that end in one of two suffixes, sorted; owned, ends with NULL. */
char **golden_list(const char *dir, const char *suffix, const char *other_suffix, size_t *ret_count);
/* The job in this text, or NULL; problems as text are appended to `err`. */
struct qs_job_spec *golden_job(const char *name, const char *text, size_t len, struct qs_buf *err);
/* Every field of a spec. */
void golden_dump(const struct qs_job_spec *spec, struct qs_buf *out);

#endif
