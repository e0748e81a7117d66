/* The API: HTTP/1.1 with JSON and server-sent events over a Unix socket, for the same user and root. All of
 * it runs on the loop's thread; reads of the store run on the pool. The routes are a table (routes.c),
 * described in schema/openapi.yaml. */
#ifndef QS_API_API_H
#define QS_API_API_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/err.h"

struct qs_api;
struct qs_farm;
struct qs_farm_event;
struct qs_farm_variables;
struct qs_files;
struct qs_log;
struct qs_loop;
struct qs_store;

struct qs_api_events {
    /* Another client has connected, or one has left: count is how many there are now. */
    void (*on_clients)(size_t count, void *user);
    /* Another daemon asks an embedded one to make room: begin no job, end soon. True: a job is waited for. */
    bool (*on_yield)(void *user);
    void *user;
};

struct qs_api_parts { /* borrowed, but for the texts, which are copied; all outlive the API */
    struct qs_loop *loop;
    struct qs_farm *farm;
    struct qs_store *store;
    struct qs_files *files;
    struct qs_log *log;                        /* may be NULL */
    const struct qs_farm_variables *variables; /* the farm's lists, or NULL */
    const char *socket_path;                   /* its folder is made 0700 where it is missing */
    const char *version;
    /* The name of a user, as qs_owner_look_up (owner.h): NULL for that one. */
    bool (*look_up)(uid_t uid, char *out);
    bool embedded, simulated;
    bool reading; /* of a store that is only read: what would change something is refused */
};

/* NULL with *err where a part is missing or the path is too long for a socket. Nothing is opened yet. */
struct qs_api *qs_api_new(const struct qs_api_parts *parts, const struct qs_api_events *events,
                          struct qs_err *err);
/* Listens. QS_E_SOCKET_PLACE: another daemon answers on the path, or something that is no socket lies there;
 * QS_E_DENIED: the folder belongs to somebody else; QS_E_IO. After a failure it may be tried again. */
bool qs_api_start(struct qs_api *api, struct qs_err *err);
/* Removes the socket, cuts every connection, then on_stopped (once, from the loop) when no read or commit is
 * on its way for the API any more: the store and the farm must go on until then. Not from inside a callback
 * of the API. on_clients(0) comes before it. */
void qs_api_stop(struct qs_api *api, void (*on_stopped)(void *user), void *user);
/* NULL is allowed. Never started, or stopped. */
void qs_api_free(struct qs_api *api);

/* A read, a computation or a commit for somebody is under way. */
bool qs_api_is_working(const struct qs_api *api);

/* To be called from the farm's callbacks of the same names. While silent, no stream is written to, no
 * request is looked at but those that a running window must hear (cancel, health, version), and nothing is
 * lost: all goes on afterwards. What was begun before a silence ends in it, unless it may take long:
 * qs_api_is_answering tells when. */
void qs_api_on_farm_event(struct qs_api *api, const struct qs_farm_event *event);
void qs_api_on_silence(struct qs_api *api, bool silent);
bool qs_api_is_answering(const struct qs_api *api);

#endif
