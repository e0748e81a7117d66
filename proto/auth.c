#include "proto/auth.h"

#include <string.h>

/* A volatile view, so that the store is not optimised away. */
static void wipe(void *memory, size_t n)
{
    volatile uint8_t *p = memory;
    for (size_t i = 0; i < n; i++)
        p[i] = 0;
}

void qs_hmac_init(struct qs_hmac *h, const void *key, size_t key_bytes)
{
    uint8_t block[QS_SHA256_BLOCK_BYTES] = {0};
    if (key_bytes > sizeof block)
        qs_sha256(key, key_bytes, block);
    else if (key_bytes > 0)
        memcpy(block, key, key_bytes);
    uint8_t inner_pad[QS_SHA256_BLOCK_BYTES];
    for (size_t i = 0; i < sizeof block; i++) {
        inner_pad[i] = block[i] ^ 0x36U;
        h->outer_pad[i] = block[i] ^ 0x5cU;
    }
    qs_sha256_init(&h->inner);
    qs_sha256_add(&h->inner, inner_pad, sizeof inner_pad);
    wipe(block, sizeof block);
    wipe(inner_pad, sizeof inner_pad);
}

void qs_hmac_add(struct qs_hmac *h, const void *bytes, size_t n)
{
    qs_sha256_add(&h->inner, bytes, n);
}

void qs_hmac_final(struct qs_hmac *h, uint8_t out[QS_SHA256_BYTES])
{
    uint8_t inner[QS_SHA256_BYTES];
    struct qs_sha256 outer;
    qs_sha256_final(&h->inner, inner);
    qs_sha256_init(&outer);
    qs_sha256_add(&outer, h->outer_pad, sizeof h->outer_pad);
    qs_sha256_add(&outer, inner, sizeof inner);
    qs_sha256_final(&outer, out);
    wipe(&outer, sizeof outer);
    wipe(h, sizeof *h);
}

bool qs_auth_equal(const uint8_t *a, const uint8_t *b, size_t n)
{
    volatile uint8_t difference = 0;
    for (size_t i = 0; i < n; i++)
        difference = (uint8_t)(difference | (a[i] ^ b[i]));
    return difference == 0;
}

void qs_hmac_begin(struct qs_hmac *h, const char *label, const void *key, size_t key_bytes,
                   const struct qs_uid *session, const uint8_t agent_nonce[QS_NONCE_BYTES],
                   const struct qs_uid *farm)
{
    qs_hmac_init(h, key, key_bytes);
    qs_hmac_add(h, label, strlen(label));
    qs_hmac_add(h, session->b, QS_UID_BYTES);
    qs_hmac_add(h, agent_nonce, QS_NONCE_BYTES);
    qs_hmac_add(h, farm->b, QS_UID_BYTES);
}

static void mac(const char *label, const void *key, size_t key_bytes, const struct qs_uid *session,
                const uint8_t *agent_nonce, const struct qs_uid *farm, uint8_t *out)
{
    struct qs_hmac h;
    qs_hmac_begin(&h, label, key, key_bytes, session, agent_nonce, farm);
    qs_hmac_final(&h, out);
}

void qs_auth_mac_host(const void *key, size_t key_bytes, const struct qs_uid *session,
                      const uint8_t agent_nonce[QS_NONCE_BYTES], const struct qs_uid *farm,
                      uint8_t out[QS_SHA256_BYTES])
{
    mac("quiesce host", key, key_bytes, session, agent_nonce, farm, out);
}

void qs_auth_mac_agent(const void *key, size_t key_bytes, const struct qs_uid *session,
                       const uint8_t agent_nonce[QS_NONCE_BYTES], const struct qs_uid *farm,
                       uint8_t out[QS_SHA256_BYTES])
{
    mac("quiesce agent", key, key_bytes, session, agent_nonce, farm, out);
}
