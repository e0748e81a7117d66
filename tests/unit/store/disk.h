/* A file system that fails on demand: a VFS over the real one. */
#ifndef QS_TESTS_UNIT_STORE_DISK_H
#define QS_TESTS_UNIT_STORE_DISK_H

#include <stdbool.h>

enum disk_fault { DISK_WELL, DISK_FULL, DISK_BROKEN, DISK_NO_SYNC, DISK_READ_ONLY, DISK_FAULTS };

struct disk {
    int fail_syncs; /* so many of the next syncs of the log fail */
    enum disk_fault fault;
    int fault_after;   /* from this sync of the log on: a commit has one */
    bool log_unsynced; /* the log was written after its last sync */
    int log_syncs;
    int sleeps;             /* of whoever waits for another one's lock; they take no time */
    void (*on_sleep)(void); /* or NULL */
};
extern struct disk disk;

/* Every database of this program lies on it from now on. */
void disk_install(void);

#endif
