/* A file system of the scripted port: as large as the test says, everything in memory, and nothing but what
 * the operations did. */
#ifndef QS_TESTS_AGENT_SCRIPT_FILES_H
#define QS_TESTS_AGENT_SCRIPT_FILES_H

#include "core/port.h"

enum { DISK_FILES = 8, DISK_FILE_BYTES = 4096 };

struct disk_file {
    struct qs_port_key key;
    uint8_t bytes[DISK_FILE_BYTES];
    size_t n;
    int64_t stamp, used_ns;
};

struct disk {
    uint64_t total_bytes, taken_bytes; /* by others */
    bool no_space_known;
    struct disk_file files[DISK_FILES];
    size_t count, listed;
    struct disk_file part;
    bool parted;
    int refuse;          /* errno of the next operation that can fail */
    int refuse_keep;     /* the same, of the next keep */
    size_t placed;       /* files in directories */
    char last_name[128]; /* of them */
    size_t clears, sums;
};

extern const struct qs_port_files disk_port; /* ctx: the struct script */
/* A file that an earlier life has left. */
void disk_leave(struct disk *disk, const struct qs_port_key *key, uint8_t byte, size_t n, int64_t used_ns);

#endif
