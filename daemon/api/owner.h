/* Who asks, by name: what jobs and cancellations are signed with. The system's user database may lie behind a
 * network and take seconds, so it is asked off the loop, and once for each user while it knows him: this user
 * and root are all that are served. */
#ifndef QS_API_OWNER_H
#define QS_API_OWNER_H

#include "api/exchange.h"

/* The name of a user, or its number; out has room for QS_API_NAME_BYTES. False where the system could not say
 * who it is. Any thread; may block. */
bool qs_owner_look_up(uid_t uid, char *out);
/* Runs then(ex) on the loop with ex->owner filled: at once where the name is known, else after it was looked
 * up. */
void qs_owner_find(struct qs_exchange *ex, qs_exchange_fn *then);
/* For what must not wait: fills ex->owner with the name where it is known, else with the number. */
void qs_owner_guess(struct qs_exchange *ex);

#endif
