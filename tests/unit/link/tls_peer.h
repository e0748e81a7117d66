/* The other side of TLS for tests, by the library itself: bytes go in and out through buffers. */
#ifndef QS_TESTS_UNIT_LINK_TLS_PEER_H
#define QS_TESTS_UNIT_LINK_TLS_PEER_H

#include <mbedtls/ssl.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "proto/enrolled.h"

struct tls_peer {
    mbedtls_ssl_config config;
    mbedtls_ssl_context ssl;
    struct qs_buf in, out, said; /* of the other side, for it, and what it says */
    bool up;
};

/* An agent. suites: NULL: the one of PROTOCOL.md. */
void tls_peer_init(struct tls_peer *p, const struct qs_enrolled *key, const int *suites);
/* A host; it speaks first: tls_peer_take of no bytes. */
void tls_peer_init_host(struct tls_peer *p, const struct qs_enrolled *key);
void tls_peer_done(struct tls_peer *p);
/* Takes in bytes of the other side. Returns what the library says: 0 where it wants more. */
int tls_peer_take(struct tls_peer *p, const void *bytes, size_t n);
void tls_peer_say(struct tls_peer *p, const void *bytes, size_t n);

#endif
