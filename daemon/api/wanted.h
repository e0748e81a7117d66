/* Which metrics a request asks for: `metric=calls,power_mW`. */
#ifndef QS_API_WANTED_H
#define QS_API_WANTED_H

#include "api/uri.h"
#include "base/err.h"
#include "store/read/arms.h"

enum { QS_WANTED_MOST = 32 };

struct qs_wanted {             /* zeroed before the first use; not to be moved once taken */
    struct qs_arm_wanted list; /* without names: all that were declared */
    const char *names[QS_WANTED_MOST];
    char *text; /* owned */
};

/* From the query. QS_E_USAGE. */
bool qs_wanted_take(struct qs_wanted *w, const struct qs_uri *uri, struct qs_err *err);
void qs_wanted_done(struct qs_wanted *w);

#endif
