/* Documents that the daemon computes while we wait: a line says how far it is, Ctrl-C ends the work. */
#ifndef QS_CTL_COMPUTED_H
#define QS_CTL_COMPUTED_H

#include "ctl/client/api.h"

struct qs_computation {
    const char *path;
    const char *body; /* of a POST, JSON; NULL: a GET */
    size_t body_bytes;
};

/* Appends the document and a newline. False with the reason said and *ret_code set: QS_EXIT_INTERRUPTED after
 * Ctrl-C, which is heard within the wait for the next event and hangs up, so that the daemon ends the work.
 */
bool qs_computed_text(struct qs_ctl *ctl, struct qs_http *http, const struct qs_computation *what,
                      struct qs_buf *out, int *ret_code);

/* Pure: "bootstrap median: 41 %, 12 s, about 17 s left". What is left is as long as the share says; nothing
 * is said of it below 2 %. stage may be NULL. */
void qs_computed_line(struct qs_buf *out, const char *stage, double done_ratio, int64_t elapsed_ns);

#endif
