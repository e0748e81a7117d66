/* The host's side of TLS over any stream (PROTOCOL.md, "TLS"): one enrolled key, proven by both sides, and
 * everything encrypted. It holds no descriptor: bytes go in and out through buffers. After the handshake it
 * says nothing but what it is told to say. */
#ifndef QS_LINK_TLS_TLS_H
#define QS_LINK_TLS_TLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "proto/enrolled.h"

struct qs_tls;

/* NULL: QS_E_RESOURCE. name: of the device, for errors; copied. */
struct qs_tls *qs_tls_new(const char *name, const struct qs_enrolled *key, struct qs_err *err);
void qs_tls_free(struct qs_tls *tls); /* NULL is allowed */
/* Takes in n bytes of the peer (0: begins). What they say is added to `said`; what the peer is to get, to
 * `wire`, also where it fails: QS_E_AUTH where the key is not the agent's, QS_E_LINK where the peer has ended
 * or broken it. Nothing can follow then. */
bool qs_tls_take(struct qs_tls *tls, const uint8_t *bytes, size_t n, struct qs_buf *said, struct qs_buf *wire,
                 struct qs_err *err);
/* Both sides have proven the key. */
bool qs_tls_is_up(const struct qs_tls *tls);
/* How many bytes n bytes become at most. */
size_t qs_tls_sealed_bytes(size_t n);
/* Adds n bytes, sealed, to `wire`. It is up. */
bool qs_tls_seal(struct qs_tls *tls, const uint8_t *bytes, size_t n, struct qs_buf *wire, struct qs_err *err);

#endif
