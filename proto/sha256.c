#include <string.h>

#include "proto/auth.h"

/* FIPS 180-4, 4.2.2: the fractions of the cube roots of the first 64 primes. */
/* clang-format off */
static const uint32_t round_constant[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};
/* 5.3.3: the fractions of the square roots of the first 8 primes. */
static const uint32_t initial_hash[8] = {
    0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
    0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19,
};
/* clang-format on */

static uint32_t rotate_right(uint32_t x, unsigned n)
{
    return (x >> n) | (x << (32U - n));
}

static uint32_t load_be32(const uint8_t *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | (uint32_t)p[3];
}

static void store_be32(uint8_t *p, uint32_t v)
{
    p[0] = (uint8_t)(v >> 24);
    p[1] = (uint8_t)(v >> 16);
    p[2] = (uint8_t)(v >> 8);
    p[3] = (uint8_t)v;
}

/* 6.2.2, step 1 */
static void schedule(uint32_t w[64], const uint8_t *block)
{
    for (size_t t = 0; t < 16; t++)
        w[t] = load_be32(block + 4 * t);
    for (size_t t = 16; t < 64; t++) {
        uint32_t s0 = rotate_right(w[t - 15], 7) ^ rotate_right(w[t - 15], 18) ^ (w[t - 15] >> 3);
        uint32_t s1 = rotate_right(w[t - 2], 17) ^ rotate_right(w[t - 2], 19) ^ (w[t - 2] >> 10);
        w[t] = s1 + w[t - 7] + s0 + w[t - 16];
    }
}

/* Of a .. h of the standard (i: 0 .. 7) in round t: instead of all of them, the place of `a` moves. */
static uint32_t *word(uint32_t v[8], size_t t, size_t i)
{
    return &v[(i - t) % 8];
}

/* 6.2.2, steps 2 to 4 */
static void compress(uint32_t h[8], const uint8_t *block)
{
    uint32_t w[64];
    uint32_t v[8];
    schedule(w, block);
    memcpy(v, h, sizeof v);
    for (size_t t = 0; t < 64; t++) {
        uint32_t a = *word(v, t, 0), b = *word(v, t, 1), c = *word(v, t, 2);
        uint32_t e = *word(v, t, 4), f = *word(v, t, 5), g = *word(v, t, 6);
        uint32_t s1 = rotate_right(e, 6) ^ rotate_right(e, 11) ^ rotate_right(e, 25);
        uint32_t t1 = *word(v, t, 7) + s1 + ((e & f) ^ (~e & g)) + round_constant[t] + w[t];
        uint32_t s0 = rotate_right(a, 2) ^ rotate_right(a, 13) ^ rotate_right(a, 22);
        *word(v, t, 3) += t1;
        *word(v, t, 7) = t1 + s0 + ((a & b) ^ (a & c) ^ (b & c)); /* the next round's `a` */
    }
    for (size_t i = 0; i < 8; i++)
        h[i] += v[i];
}

void qs_sha256_init(struct qs_sha256 *s)
{
    memset(s, 0, sizeof *s);
    memcpy(s->h, initial_hash, sizeof s->h);
}

void qs_sha256_add(struct qs_sha256 *s, const void *bytes, size_t n)
{
    const uint8_t *p = bytes;
    s->total_bytes += n;
    while (n > 0) {
        if (s->fill == 0 && n >= QS_SHA256_BLOCK_BYTES) {
            compress(s->h, p);
            p += QS_SHA256_BLOCK_BYTES;
            n -= QS_SHA256_BLOCK_BYTES;
            continue;
        }
        size_t room = QS_SHA256_BLOCK_BYTES - s->fill;
        size_t take = n < room ? n : room;
        memcpy(s->block + s->fill, p, take);
        s->fill += take;
        p += take;
        n -= take;
        if (s->fill == QS_SHA256_BLOCK_BYTES) {
            compress(s->h, s->block);
            s->fill = 0;
        }
    }
}

void qs_sha256_final(struct qs_sha256 *s, uint8_t out[QS_SHA256_BYTES])
{
    static const uint8_t padding[QS_SHA256_BLOCK_BYTES] = {0x80};
    uint64_t bits = s->total_bytes * 8;
    uint8_t length[8];
    store_be32(length, (uint32_t)(bits >> 32));
    store_be32(length + 4, (uint32_t)bits);
    size_t pad = s->fill < 56 ? 56 - s->fill : 120 - s->fill;
    qs_sha256_add(s, padding, pad);
    qs_sha256_add(s, length, sizeof length);
    for (size_t i = 0; i < 8; i++)
        store_be32(out + 4 * i, s->h[i]);
}

void qs_sha256(const void *bytes, size_t n, uint8_t out[QS_SHA256_BYTES])
{
    struct qs_sha256 s;
    qs_sha256_init(&s);
    qs_sha256_add(&s, bytes, n);
    qs_sha256_final(&s, out);
}
