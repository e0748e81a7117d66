/* Tracers, as the session carries them. */
#ifndef QS_TEST_DEVICE_SESSION_TRACES_H
#define QS_TEST_DEVICE_SESSION_TRACES_H

#include "host.h"
#include "peer.h"

/* With a run open: TRACE, TRACE_STOP and a refusal; it is open afterwards. */
void session_traces(struct host *h, struct peer *p);

#endif
