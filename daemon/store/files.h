/* Content-addressed files beside the database: DIR/ab/abcdef..., 0600, written to a temporary name, synced,
 * renamed. It waits for the disk. */
#ifndef QS_STORE_FILES_H
#define QS_STORE_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct qs_files;
struct qs_upload;

/* Made 0700 where missing, with its name on disk; left-over temporary files are removed. QS_E_STORE_PLACE,
 * QS_E_DENIED: it belongs to another user, or others may write it. */
struct qs_files *qs_files_open(const char *dir, struct qs_err *err);
/* To read only: makes and removes nothing, and what is not there has no content. */
struct qs_files *qs_files_open_reading(const char *dir);
void qs_files_close(struct qs_files *files);

/* expected: 64 hex digits. Bytes beyond max_bytes are refused with QS_E_LIMIT. */
struct qs_upload *qs_upload_begin(struct qs_files *files, const char expected[65], int64_t max_bytes,
                                  struct qs_err *err);
bool qs_upload_add(struct qs_upload *up, const void *bytes, size_t n, struct qs_err *err);
/* Frees up. QS_E_CONFLICT where the content's hash is another. After a failure the content is not here, even
 * where a file of its name is: it has to be uploaded again. */
bool qs_upload_finish(struct qs_upload *up, int64_t *ret_bytes, struct qs_err *err);
void qs_upload_abort(struct qs_upload *up);

/* The same for bytes that are all there: their hash. What is there already is not written again. */
bool qs_files_put(struct qs_files *files, const void *bytes, size_t n, char ret_sha256[65],
                  struct qs_err *err);

/* Opened for reading; the caller closes it. -1: QS_E_NOT_FOUND. */
int qs_files_get(struct qs_files *files, const char sha256[65], int64_t *ret_bytes, struct qs_err *err);
/* Removes content that nobody uses and that has not changed since older_than_wall_ns: what was uploaded for a
 * job that never came, or left by a run whose rows were not committed. What cannot be removed stays. */
struct qs_swept {
    size_t files;
    int64_t bytes;
};
struct qs_swept qs_files_sweep(struct qs_files *files, bool (*is_used)(const char *sha256, void *user),
                               void *user, int64_t older_than_wall_ns);
bool qs_files_has(struct qs_files *files, const char sha256[65]);

#endif
