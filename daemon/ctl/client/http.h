/* HTTP over the daemon's Unix socket. One request at a time. */
#ifndef QS_CTL_CLIENT_HTTP_H
#define QS_CTL_CLIENT_HTTP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/buf.h"
#include "base/err.h"

enum { QS_HTTP_REPLY_BYTES = 256 * 1024 * 1024 };

struct qs_http;

struct qs_http_request {
    const char *method, *path;
    const char *type; /* of the body, or NULL: application/json */
    const char *key;  /* Idempotency-Key, or NULL */
    const char *body; /* or NULL */
    size_t body_bytes;
    FILE *file; /* instead of body: read to its end (borrowed) */
    int64_t file_bytes;
};

struct qs_http_reply {
    long status;
    struct qs_buf body; /* init'ed by the caller */
};

/* `socket` is copied: a path, or "@NAME" of one that is not in the file system:
 * there a listener of another user is sent nothing (QS_E_DENIED). */
struct qs_http *qs_http_new(const char *socket, struct qs_err *err);
void qs_http_free(struct qs_http *http);
QS_RELEASE_AT(qs_http_free_at, struct qs_http, qs_http_free)
const char *qs_http_socket(const struct qs_http *http);

/* Sends and waits for the whole answer, any status. False: nobody answers (QS_E_UNREACHABLE), or the
 * connection broke or found no place (QS_E_DAEMON), or the answer is too long (QS_E_LIMIT). */
bool qs_http_call(struct qs_http *http, const struct qs_http_request *request, struct qs_http_reply *reply,
                  struct qs_err *err);

enum qs_http_end { QS_HTTP_ENDED, QS_HTTP_BROKEN, QS_HTTP_WOKEN, QS_HTTP_REFUSED };
struct qs_http_stream {
    const char *path;
    const char *body; /* of a POST, JSON; NULL: a GET */
    size_t body_bytes;
    int64_t last_id;  /* Last-Event-ID, or -1 */
    int wake_fd;      /* readable: the stream ends as WOKEN; -1: none */
    int64_t limit_ns; /* ends as WOKEN after so long; 0: none */
    /* False ends the stream as ENDED. */
    bool (*on_bytes)(const char *bytes, size_t n, void *user);
    void *user;
};
/* Reads a body that has no end of its own. Sleeps until bytes come: nothing wakes up in between. REFUSED: a
 * status that is not 200, with the body in reply. BROKEN: with err. */
enum qs_http_end qs_http_follow(struct qs_http *http, const struct qs_http_stream *stream,
                                struct qs_http_reply *reply, struct qs_err *err);

/* Appends s for an address (RFC 3986): what is not unreserved, nor a slash, becomes %XX. */
void qs_http_escape(struct qs_buf *out, const char *s);

#endif
