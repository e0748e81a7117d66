/* What stood in the device's files before they were changed, on disk: written and synced before the change,
 * so that whoever comes after a kill or a power cut can put it back. Pure: records to bytes and back. Then
 * the file itself.
 *
 * STATE/control.journal is a sequence of records, all little-endian:
 *   u16 n (of what follows up to the CRC) · u8 kind · fields · u32 CRC-32C of everything before it.
 *   HEAD: text boot id · text root: the records behind it were made in this boot, below this root
 *   SET:  u8 flags · text path · text value: this stood there before it was changed. The first of a path is
 *         the original; a later one only adds flags
 *   DONE: text path: it stands there again
 * A text is u16 length + bytes. The end of a file that is no record is a change that never began. */
#ifndef QS_LINUX_JOURNAL_H
#define QS_LINUX_JOURNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/wire.h"

enum {
    QS_JOURNAL_ENTRIES = 256,
    QS_JOURNAL_TEXT_BYTES = 256, /* a path or a value, with its NUL */
    QS_JOURNAL_ROOT_BYTES = 512,
    QS_JOURNAL_BOOT_BYTES = 65,
    QS_JOURNAL_RECORD_BYTES = 1024,     /* more than the longest */
    QS_JOURNAL_FILE_BYTES = 512 * 1024, /* more than one of our making */
    QS_JOURNAL_ERROR_BYTES = 320
};

/* The name of a process that keeps a journal only to put back what it holds: whoever comes next does that,
 * and ends it. */
#define QS_JOURNAL_LINGERER "qs-restorer"

enum qs_journal_kind { QS_JOURNAL_HEAD = 1, QS_JOURNAL_SET = 2, QS_JOURNAL_DONE = 3 };
/* As in a TUNE. */
enum qs_journal_flag { QS_JOURNAL_PERSISTENT = 1, QS_JOURNAL_BLIND = 2 };

struct qs_journal_record {
    /* The name of a process that keeps a journal only to put back what it holds: whoever comes next does
     * that, and ends it. */
#define QS_JOURNAL_LINGERER "qs-restorer"

    enum qs_journal_kind kind;
    uint8_t flags;              /* SET */
    struct qs_text boot, root;  /* HEAD */
    struct qs_text path, value; /* SET; DONE has a path */
};
/* Returns its bytes, or 0 where it does not fit. */
size_t qs_journal_encode(const struct qs_journal_record *r, uint8_t *out, size_t cap);
/* Returns how many bytes the record at the beginning has, or 0 where there is none. Texts point into them. */
size_t qs_journal_decode(const uint8_t *bytes, size_t n, struct qs_journal_record *r);

/* One setting that is to be put back. */
struct qs_journal_entry {
    char path[QS_JOURNAL_TEXT_BYTES], value[QS_JOURNAL_TEXT_BYTES];
    uint8_t flags;
    /* The keeper's, and not on disk. */
    uint8_t turn; /* while it puts back */
    int stuck_fd; /* owned; of a hand that may still write it (hand.h); -1: there is none */
    bool looked;  /* it could not be put back, and has said this since */
    char seen[QS_JOURNAL_TEXT_BYTES];
};

struct qs_journal_state {
    struct qs_journal_entry entries[QS_JOURNAL_ENTRIES]; /* by their first change */
    size_t count;
    char boot[QS_JOURNAL_BOOT_BYTES], root[QS_JOURNAL_ROOT_BYTES]; /* of the last head; "" without one */
    bool damaged;                                                  /* something in the middle is no record */
};
/* What n bytes of a journal leave to be put back. */
void qs_journal_replay(struct qs_journal_state *state, const uint8_t *bytes, size_t n);

struct qs_journal {
    int dir_fd, fd, lock_fd; /* owned; -1: there is no journal */
    size_t bytes;            /* of the file */
    bool broken;             /* what is on disk is not known: it is written anew before it is used */
    bool rebooted;           /* since it was written */
    struct qs_journal_state state;
    char boot[QS_JOURNAL_BOOT_BYTES], root[QS_JOURNAL_ROOT_BYTES]; /* of today */
};

/* Opens DIR/control.journal, makes both where they are missing, and keeps every other agent out of it. What
 * a reboot has undone is forgotten. False: `error` says why, and nothing was changed there. */
bool qs_journal_open(struct qs_journal *j, const char *dir, const char *boot, const char *root,
                     char error[QS_JOURNAL_ERROR_BYTES]);
void qs_journal_close(struct qs_journal *j);
/* This process has it from now on, for whoever is kept out of it to see. */
void qs_journal_say_holder(const struct qs_journal *j);
/* The value is on disk when this returns true; where the path is there already, its first value stays. False:
 * errno, and the path may not be changed. */
bool qs_journal_keep(struct qs_journal *j, const char *path, const char *value, uint8_t flags);
/* The entry of this path; NULL: it is not there. Valid until one is released. */
struct qs_journal_entry *qs_journal_find(struct qs_journal *j, const char *path);
/* Entry i stands on the device again: it is gone from the journal. */
void qs_journal_release(struct qs_journal *j, size_t i);

#endif
