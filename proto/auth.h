/* SHA-256 (FIPS 180-4), HMAC-SHA-256 (RFC 2104), and the two proofs of the AUTH message (PROTOCOL.md,
 * "Auth"). */
#ifndef QS_PROTO_AUTH_H
#define QS_PROTO_AUTH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/uid.h"

enum { QS_SHA256_BYTES = 32, QS_SHA256_BLOCK_BYTES = 64, QS_NONCE_BYTES = 16 };

struct qs_sha256 {
    uint32_t h[8];
    uint64_t total_bytes;
    uint8_t block[QS_SHA256_BLOCK_BYTES];
    size_t fill; /* bytes in block */
};
void qs_sha256_init(struct qs_sha256 *s);
void qs_sha256_add(struct qs_sha256 *s, const void *bytes, size_t n);
/* Ends the sum; s must be initialised again before it is used again. */
void qs_sha256_final(struct qs_sha256 *s, uint8_t out[QS_SHA256_BYTES]);
/* In one call. */
void qs_sha256(const void *bytes, size_t n, uint8_t out[QS_SHA256_BYTES]);

struct qs_hmac {
    struct qs_sha256 inner;
    uint8_t outer_pad[QS_SHA256_BLOCK_BYTES];
};
void qs_hmac_init(struct qs_hmac *h, const void *key, size_t key_bytes);
void qs_hmac_add(struct qs_hmac *h, const void *bytes, size_t n);
void qs_hmac_final(struct qs_hmac *h, uint8_t out[QS_SHA256_BYTES]); /* wipes h */
/* Begins with what both HELLOs said: label (without its NUL) || session || agent nonce || farm. */
void qs_hmac_begin(struct qs_hmac *h, const char *label, const void *key, size_t key_bytes,
                   const struct qs_uid *session, const uint8_t agent_nonce[QS_NONCE_BYTES],
                   const struct qs_uid *farm);

/* Equal, in a time that depends on n only. */
bool qs_auth_equal(const uint8_t *a, const uint8_t *b, size_t n);

/* The proof that each side owns the key, over what both HELLOs said: HMAC(key, label || session || agent
 * nonce || farm), the label "quiesce host" or "quiesce agent" without a NUL. Two labels: an answer is never a
 * reflected question. */
void qs_auth_mac_host(const void *key, size_t key_bytes, const struct qs_uid *session,
                      const uint8_t agent_nonce[QS_NONCE_BYTES], const struct qs_uid *farm,
                      uint8_t out[QS_SHA256_BYTES]);
void qs_auth_mac_agent(const void *key, size_t key_bytes, const struct qs_uid *session,
                       const uint8_t agent_nonce[QS_NONCE_BYTES], const struct qs_uid *farm,
                       uint8_t out[QS_SHA256_BYTES]);

#endif
