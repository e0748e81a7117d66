/* Where the daemon's socket is, and how a command starts a daemon where none answers. */
#ifndef QS_CTL_CLIENT_BOOT_H
#define QS_CTL_CLIENT_BOOT_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/err.h"
#include "ctl/client/http.h"

/* `given` (--socket), else QUIESCE_SOCKET, else $XDG_RUNTIME_DIR/quiesce/api.sock, else
 * /tmp/quiesce-UID/api.sock, refused where its folder belongs to somebody else or is open to others. */
bool qs_boot_socket(const char *given, struct qs_buf *path, struct qs_err *err);

/* Whether a daemon answers now. */
bool qs_boot_answers(struct qs_http *http);

/* The daemon's program: $QUIESCED, beside this program, in the folders around it (build trees), in PATH. */
bool qs_boot_find(const char *self, struct qs_buf *path, struct qs_err *err);

/* Starts `quiesced --embedded` and waits until it answers, at most 15 s; it outlives this program. Several
 * callers at once are fine: one daemon gets the socket, all see it answer. On failure `tail` has the end of
 * its log. */
bool qs_boot_start(struct qs_http *http, const char *self, struct qs_buf *tail, struct qs_err *err);

/* Starts `quiesced --reading` on the usual database, which answers this program alone and ends with it:
 * nothing is made, owned or left. NULL: err, and the end of what it said in `tail`. */
struct qs_http *qs_boot_read(const char *self, struct qs_buf *tail, struct qs_err *err);

#endif
