/* What the fuzz targets of both sides of TLS share: a peer that has the key, whose bytes the input changes on
 * their way, and randomness and a time that are the same for each input, so that what was found or recorded
 * happens again. Linked with --wrap=getrandom. */
#ifndef QS_TESTS_FUZZ_TLS_BYTES_H
#define QS_TESTS_FUZZ_TLS_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "proto/enrolled.h"

extern const struct qs_enrolled tls_bytes_key;

/* Randomness begins anew. */
void tls_bytes_begin(void);
/* What is drawn from now on is the peer's, or ours: each has its own, so that what a peer has said can be
 * said again without one. */
void tls_bytes_draw(bool peer);

/* Steps of four bytes: how many bytes pass before it (two of them), what is done then, and how much. */
struct tls_bytes_steps {
    const uint8_t *at;
    size_t n;
    size_t passed; /* since the last one */
    bool ended;    /* nothing more passes */
};

/* Adds to `out` what becomes of n bytes that somebody says. */
void tls_bytes_pass(struct tls_bytes_steps *steps, const void *bytes, size_t n, struct qs_buf *out);

#endif
