/* The seal of a keyed session's frames (PROTOCOL.md, "Seal"): who sent a frame, in which direction, as the
 * how manieth, and that nobody has changed it. It hides nothing. */
#ifndef QS_PROTO_SEAL_H
#define QS_PROTO_SEAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/auth.h"
#include "proto/limits.h"

/* One direction of one session. All zero: nothing is sealed. */
struct qs_seal {
    bool on;
    uint8_t key[QS_SHA256_BYTES];
};

/* The keys of both directions, from the key that both own and what both greetings said: `hellos` is the
 * SHA-256 over the payloads of HELLO_HOST and HELLO_AGENT. The seals are on afterwards. */
void qs_seal_make(const void *key, size_t key_bytes, const struct qs_uid *session,
                  const uint8_t agent_nonce[QS_NONCE_BYTES], const struct qs_uid *farm,
                  const uint8_t hellos[QS_SHA256_BYTES], struct qs_seal *ret_host, struct qs_seal *ret_agent);

/* Over the header without its checksum, and n bytes of payload. */
void qs_seal_sum(const struct qs_seal *seal, const uint8_t *header, const uint8_t *payload, size_t n,
                 uint8_t out[QS_SEAL_BYTES]);

#endif
