/* A farm without devices in place of the real one: it checks and stores jobs as the real one does, and runs
 * none. A test says what happens to them. */
#ifndef QS_TEST_API_FAKE_FARM_H
#define QS_TEST_API_FAKE_FARM_H

#include <stdatomic.h>

#include "farm/farm.h"

struct qs_farm {
    struct qs_store *store;
    struct qs_files *files;
    int64_t live;        /* the job that may be cancelled, 0: none */
    int64_t cancelled;   /* the last one that was */
    unsigned asked;      /* of devices: the first is answered */
    unsigned looked_for; /* kinds of links */
    char cancel_why[200];
    const char *why, *why_code; /* NULL: nothing holds a job */
    int64_t position;           /* of a job, -1: it does not wait */
    const char *progress;       /* JSON */
    bool full;                  /* nothing is taken or cancelled */
    struct qs_loop *holds;      /* its works, once a job was submitted; or NULL */
    const char *disk;           /* the live job's end waits for it, or NULL */
    char owner[64];             /* of the last submission, as what follows */
    char name[64], where[64];
    int64_t reproduces;
    uint64_t seed;
    size_t file_count;
    char said[1024];             /* the words that were said last, a line each */
    bool refuses_words;          /* the disk does */
    struct qs_profiles profiles; /* none */
    atomic_uint prepared;        /* submissions that are read and not freed */
};

#endif
