/* Server-sent events (WHATWG HTML, "Server-sent events"): bytes into events, with bounds on what a server
 * can make us keep. */
#ifndef QS_CTL_CLIENT_SSE_H
#define QS_CTL_CLIENT_SSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

enum { QS_SSE_LINE_BYTES = 1024 * 1024 };

struct qs_sse {
    struct qs_buf line, kind, data;
    int64_t id;      /* the last one dispatched, -1 before */
    int64_t next_id; /* of the event that is being read */
    bool has_data, after_cr;
    size_t most_bytes; /* of a line, and of the data of an event; QS_SSE_LINE_BYTES unless it is set after
                          init */
};

/* kind is "message" where the server named none; borrowed. False ends the feeding. */
typedef bool qs_sse_fn(int64_t id, const char *kind, const char *data, void *user);

void qs_sse_init(struct qs_sse *sse);
void qs_sse_done(struct qs_sse *sse);
/* A new connection: forgets a half event, keeps the id. */
void qs_sse_restart(struct qs_sse *sse);
/* False where fn said so or a line is longer than most_bytes. */
bool qs_sse_feed(struct qs_sse *sse, const char *bytes, size_t n, qs_sse_fn *fn, void *user);

#endif
