/* An embedded daemon makes room for one that an operator starts: the request, and who sends it. */
#ifndef QS_API_YIELD_H
#define QS_API_YIELD_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

struct qs_log;

struct qs_heir { /* one that waits for its place; zero before the first call */
    char why[QS_ERR_TEXT_BYTES];
    bool granted, told;
    int64_t since_ns, due_ns, pause_ns;
};

/* Before anything else runs here: whether what `why` says is in the way is worth another try now, because an
 * embedded daemon has the database or the socket and ends when its job has ended. It is asked to, where it
 * listens (a database's owner: where it said that it does), and what is waited for is logged now and then.
 * Sleeps a little. False: it is something else (nobody can be asked, no socket lies there, it is not
 * embedded), or has not answered for 15 s. */
bool qs_heir_waits(struct qs_heir *heir, const char *db, const char *socket_path, const struct qs_err *why,
                   struct qs_log *log);

#endif
