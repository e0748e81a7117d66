#include "proto/seal.h"

#include <string.h>

enum { SUMMED_HEADER_BYTES = 12 };

static void make(const char *label, const void *key, size_t key_bytes, const struct qs_uid *session,
                 const uint8_t *agent_nonce, const struct qs_uid *farm, const uint8_t *hellos,
                 struct qs_seal *ret)
{
    struct qs_hmac h;
    qs_hmac_begin(&h, label, key, key_bytes, session, agent_nonce, farm);
    qs_hmac_add(&h, hellos, QS_SHA256_BYTES);
    qs_hmac_final(&h, ret->key);
    ret->on = true;
}

void qs_seal_make(const void *key, size_t key_bytes, const struct qs_uid *session,
                  const uint8_t agent_nonce[QS_NONCE_BYTES], const struct qs_uid *farm,
                  const uint8_t hellos[QS_SHA256_BYTES], struct qs_seal *ret_host, struct qs_seal *ret_agent)
{
    make("quiesce frames of the host", key, key_bytes, session, agent_nonce, farm, hellos, ret_host);
    make("quiesce frames of the agent", key, key_bytes, session, agent_nonce, farm, hellos, ret_agent);
}

void qs_seal_sum(const struct qs_seal *seal, const uint8_t *header, const uint8_t *payload, size_t n,
                 uint8_t out[QS_SEAL_BYTES])
{
    struct qs_hmac h;
    uint8_t sum[QS_SHA256_BYTES];
    qs_hmac_init(&h, seal->key, sizeof seal->key);
    qs_hmac_add(&h, header, SUMMED_HEADER_BYTES);
    qs_hmac_add(&h, payload, n);
    qs_hmac_final(&h, sum);
    memcpy(out, sum, QS_SEAL_BYTES);
}
