/* Streams of events (server-sent): each goes on where its client stopped, and none loses an event. What
 * happens now is queued for a stream up to a bound; a stream that falls behind reads from the store by the
 * event's number until it has caught up. */
#ifndef QS_API_EVENTS_H
#define QS_API_EVENTS_H

#include "api/exchange.h"
#include "farm/farm.h"

/* Something happened: for every stream that it concerns. */
void qs_events_tell(struct qs_api *api, const struct qs_farm_event *event);

#endif
