/* Users of this machine, by name or number. */
#ifndef QS_LINUX_IDENTITY_H
#define QS_LINUX_IDENTITY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { QS_GROUPS_MAX = 64 };

struct qs_identity {
    uint32_t uid, gid;
    uint32_t groups[QS_GROUPS_MAX]; /* gid among them; what exceeds the room is left out */
    size_t group_count;
    char name[64], home[256],
        shell[128]; /* of the user database; the number, "/" and "/bin/sh" where it has none */
};

/* False: nobody has this name. A number needs no entry in the user database: its group is then the same
 * number. */
bool qs_identity_find(const char *name, struct qs_identity *identity);

/* From here to the end of the loan this thread opens files with that user's rights. Only root's agent can;
 * false: nothing has changed. *own is for the end. */
bool qs_identity_lend(const struct qs_identity *of, struct qs_identity *own);
void qs_identity_end_loan(const struct qs_identity *own);

/* Opens a file with the rights of `as` (NULL: our own) and without waiting, as a pipe would for its other
 * end. flags: of open, beside those. A descriptor, or -1 and errno. */
int qs_identity_open(const struct qs_identity *as, int at_fd, const char *path, int flags);

#endif
