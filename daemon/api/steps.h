/* Work that takes long and says how far it is: a client that accepts text/event-stream hears of it while it
 * waits. Events: `progress` {"stage", "done_ratio"}, at most four a second; then `result`, the document that
 * the plain answer would be, or `error`, the body of the plain refusal with its `status`. Either ends the
 * stream. */
#ifndef QS_API_STEPS_H
#define QS_API_STEPS_H

#include "api/exchange.h"
#include "stats/status.h"

/* Before the work is begun: from now on a client that leaves ends it, and one that listens is answered by a
 * stream. */
void qs_steps_start(struct qs_exchange *ex);
/* What the work is given, on the pool: false after the client has left. */
struct qs_progress qs_steps_progress(struct qs_exchange *ex);
/* The answer of a request that is followed, as the last event; takes over *text. False: it is none. */
bool qs_steps_answer(struct qs_exchange *ex, unsigned status, struct qs_buf *text);
void qs_steps_stop(struct qs_exchange *ex);

#endif
