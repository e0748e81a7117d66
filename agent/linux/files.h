/* Where pushed files lie on Linux: ROOT/N/files/SHA256[.x] and ROOT/N/dirs/NNNN/NAME, N from 1 for each agent
 * that uses ROOT at the same time. */
#ifndef QS_LINUX_FILES_H
#define QS_LINUX_FILES_H

#include "core/port.h"
#include "linux/io.h"
#include "proto/limits.h"

enum { QS_FILES_ERROR_BYTES = 320 };

struct qs_linux_files {
    int lock_fd;           /* owned: the place is ours; -1: there is none */
    int files_fd, dirs_fd; /* owned */
    int part_fd;           /* owned: the file that is coming, or -1 */
    uint64_t unsynced_bytes;
    struct qs_dir list; /* while `next` is asked */
    bool listing;
    uint32_t moved;                /* names given to what `clear` takes out of its directory */
    char root[QS_PORT_PATH_BYTES]; /* ROOT/N */
};

/* Takes a free place below `root`, makes it where it is missing, and removes what an earlier life had not
 * finished. NULL: below the user's state directory, or where Android lets its shell write. False: `error`
 * says why, and there is no cache. */
bool qs_files_open(struct qs_linux_files *files, const char *root, char error[QS_FILES_ERROR_BYTES]);
void qs_files_close(struct qs_linux_files *files);

/* The operations, for the port that owns `files`. */
bool qs_files_next(struct qs_linux_files *files, struct qs_port_item *item);
bool qs_files_space(struct qs_linux_files *files, uint64_t *free_bytes, uint64_t *total_bytes);
bool qs_files_look(struct qs_linux_files *files, const struct qs_port_key *key, uint64_t *bytes,
                   int64_t *stamp);
bool qs_files_sum(struct qs_linux_files *files, const struct qs_port_key *key,
                  uint8_t sha256[QS_SHA256_BYTES]);
void qs_files_used(struct qs_linux_files *files, const struct qs_port_key *key);
void qs_files_remove(struct qs_linux_files *files, const struct qs_port_key *key);
bool qs_files_create(struct qs_linux_files *files, struct qs_port_fault *fault);
bool qs_files_write(struct qs_linux_files *files, const void *bytes, size_t n, struct qs_port_fault *fault);
bool qs_files_keep(struct qs_linux_files *files, const struct qs_port_key *key, struct qs_port_fault *fault);
void qs_files_discard(struct qs_linux_files *files);

/* stage.c */
bool qs_files_place(struct qs_linux_files *files, uint16_t dir, const char *name,
                    const struct qs_port_key *key, struct qs_port_fault *fault);
void qs_files_path(struct qs_linux_files *files, uint16_t dir, char *text, size_t cap);
uint64_t qs_files_clear(struct qs_linux_files *files);

/* A directory of this user's own for what outlives an agent, made where it is missing. Negative: errno. */
int qs_files_open_state(const char *dir);
/* A lock in it that ends with its last descriptor. Negative: errno, EBUSY where another agent has it. */
int qs_files_lock(int dir_fd, const char *name);

/* Inside the two files: the name of an item; false with errno as `fault`. */
enum { QS_FILES_NAME_BYTES = 2 * QS_SHA256_BYTES + 3 };
void qs_files_name(const struct qs_port_key *key, char name[QS_FILES_NAME_BYTES]);
bool qs_files_fault(struct qs_port_fault *fault, const char *what);

#endif
