/* One connection to the machine's adb server: asks it for one thing after another, each of which it grants or
 * refuses (SERVICES.TXT of adb), and then carries bytes. The server is never started and never ended. */
#ifndef QS_LINK_ADB_CALL_H
#define QS_LINK_ADB_CALL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

struct qs_loop;
struct qs_adb_call;

struct qs_adb_events {
    /* The last request was granted: bytes come and may be sent. NULL: nobody needs to know. */
    void (*on_open)(void *user);
    /* n >= 1, borrowed for the call. */
    void (*on_bytes)(const uint8_t *bytes, size_t n, void *user);
    /* Once, the last: why it failed; NULL where the server closed what was open. */
    void (*on_end)(const struct qs_err *why, void *user);
    void *user;
};

/* Connects, and makes the requests in their order: `serial` (or NULL) as host:transport, then the service.
 * Callbacks run on the loop, never from inside a call, and not after qs_adb_close; in on_open and on_bytes
 * the call may be closed, and on_end may. False: there is no way to ask, QS_E_LINK as a rule. */
struct qs_adb_call *qs_adb_open(struct qs_loop *loop, const char *serial, const char *service,
                                const struct qs_adb_events *events, struct qs_err *err);
/* While open: all n bytes, as the server takes them. */
void qs_adb_send(struct qs_adb_call *call, const void *bytes, size_t n);
/* In on_open: the socket is the caller's from now on, nothing was read of what follows. The call is closed.
 */
int qs_adb_take(struct qs_adb_call *call);
void qs_adb_close(struct qs_adb_call *call); /* NULL is allowed */

#endif
