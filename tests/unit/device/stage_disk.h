/* Files on the stage: what its agent has, and what was asked of it. Part of struct stage. */
#ifndef QS_TEST_DEVICE_STAGE_DISK_H
#define QS_TEST_DEVICE_STAGE_DISK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "proto/msg.h"

enum { STAGE_FILE_BYTES = 1500000 };

struct stage_disk {                /* files on the device */
    bool old_agent;                /* takes none */
    enum qs_put_status refuse_put; /* MORE: does not */
    enum qs_staged_status refuse_stage;
    bool no_blob;     /* the daemon has lost a file */
    bool short_blob;  /* or a part of it */
    unsigned elf;     /* each file is an ELF program for this machine (e_machine); 0: it is not */
    uint32_t changed; /* told by CLEANED */
    bool odd;         /* names one file twice that it misses, and one that it was not asked for */
    /* What happened. */
    unsigned haves, puts, kept, stages, cleans, given_up;
    struct qs_content there[8];
    size_t there_n;
    struct qs_content put;
    uint64_t sent, told;
    size_t asked_n;
    struct qs_content asked[8];
    struct qs_buf places; /* "dir name" a line each */
    uint16_t dir;
};

#endif
