/* Replies that are sent as they are made: the connection is suspended while there is nothing to send, so that
 * nothing spins. */
#ifndef QS_API_FLOW_H
#define QS_API_FLOW_H

#include <stdint.h>
#include <sys/types.h>

#include "api/exchange.h"

/* libmicrohttpd asks for at most `max` bytes; cls is the request. */
ssize_t qs_flow_read(void *cls, uint64_t pos, char *out, size_t max);
/* Learns from now on when the client leaves, also while there is nothing to send. */
void qs_flow_watch(struct qs_exchange *ex);
/* The same for what may go on for long: a client that will send no more has left. */
void qs_flow_end_with_client(struct qs_exchange *ex);
void qs_flow_unwatch(struct qs_exchange *ex);

#endif
