/* Iterations that an agent kept: from HELD over RESEND to rows of the interrupted run, and the
 * acknowledgement. Private to device. */
#ifndef QS_DEVICE_WINDOW_HELD_H
#define QS_DEVICE_WINDOW_HELD_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "proto/msg.h"

struct qs_files;
struct qs_loop;
struct qs_store;
struct qs_session;
struct qs_held_runs;

struct qs_held_parts {  /* borrowed */
    const char *device; /* whose runs are taken; NULL: anybody's */
    struct qs_loop *loop;
    struct qs_store *store;
    struct qs_files *files; /* for documents; NULL: they are not kept */
    struct qs_session *session;
};

struct qs_held_events {
    void (*on_note)(bool warning, const char *text, void *user);
    /* Once after each start: nothing that the agent kept is left to ask for, the session is free for runs. */
    void (*on_done)(void *user);
    void *user;
};

struct qs_held_runs *qs_held_new(const struct qs_held_parts *parts, const struct qs_held_events *events);
void qs_held_free(struct qs_held_runs *h); /* requests on their way end quietly */
/* Told before ready. */
void qs_held_add(struct qs_held_runs *h, const struct qs_uid *run, uint64_t first_seq, uint64_t next_seq);
bool qs_held_any(const struct qs_held_runs *h); /* was anything told since the last reset? */
/* The link is ready: asks for what is missing, one run after the other. */
void qs_held_start(struct qs_held_runs *h);
/* The link went down: what was told before is void. */
void qs_held_reset(struct qs_held_runs *h);

#endif
