#include "tls_peer.h"

#include <assert.h>
#include <string.h>
#include <sys/random.h>

static int random_bytes(void *ctx, unsigned char *bytes, size_t n)
{
    (void)ctx;
    return getrandom(bytes, n, 0) == (ssize_t)n ? 0 : -1;
}

static int to_other(void *ctx, const unsigned char *bytes, size_t n)
{
    struct tls_peer *p = ctx;
    qs_buf_add(&p->out, bytes, n);
    return (int)n;
}

static int from_other(void *ctx, unsigned char *bytes, size_t n)
{
    struct tls_peer *p = ctx;
    n = n < p->in.len ? n : p->in.len;
    if (n == 0)
        return MBEDTLS_ERR_SSL_WANT_READ;
    memcpy(bytes, p->in.data, n);
    qs_buf_drop_front(&p->in, n);
    return (int)n;
}

static void init(struct tls_peer *p, const struct qs_enrolled *key, const int *suites, int end)
{
    static const int usual[] = {MBEDTLS_TLS_ECDHE_PSK_WITH_CHACHA20_POLY1305_SHA256, 0};
    static const mbedtls_ecp_group_id curves[] = {MBEDTLS_ECP_DP_CURVE25519, MBEDTLS_ECP_DP_NONE};
    memset(p, 0, sizeof *p);
    qs_buf_init(&p->in);
    qs_buf_init(&p->out);
    qs_buf_init(&p->said);
    mbedtls_ssl_config_init(&p->config);
    mbedtls_ssl_init(&p->ssl);
    int wrong = mbedtls_ssl_config_defaults(&p->config, end, MBEDTLS_SSL_TRANSPORT_STREAM,
                                            MBEDTLS_SSL_PRESET_DEFAULT);
    mbedtls_ssl_conf_rng(&p->config, random_bytes, NULL);
    mbedtls_ssl_conf_ciphersuites(&p->config, suites ? suites : usual);
    mbedtls_ssl_conf_curves(&p->config, curves);
    mbedtls_ssl_conf_renegotiation(&p->config, MBEDTLS_SSL_RENEGOTIATION_ENABLED);
    wrong |= mbedtls_ssl_conf_psk(&p->config, key->secret, sizeof key->secret,
                                  (const unsigned char *)key->name, strlen(key->name));
    wrong |= mbedtls_ssl_setup(&p->ssl, &p->config);
    mbedtls_ssl_set_bio(&p->ssl, p, to_other, from_other, NULL);
    assert(!wrong);
}

void tls_peer_init(struct tls_peer *p, const struct qs_enrolled *key, const int *suites)
{
    init(p, key, suites, MBEDTLS_SSL_IS_SERVER);
}

void tls_peer_init_host(struct tls_peer *p, const struct qs_enrolled *key)
{
    init(p, key, NULL, MBEDTLS_SSL_IS_CLIENT);
}

void tls_peer_done(struct tls_peer *p)
{
    mbedtls_ssl_free(&p->ssl);
    mbedtls_ssl_config_free(&p->config);
    qs_buf_done(&p->in);
    qs_buf_done(&p->out);
    qs_buf_done(&p->said);
}

int tls_peer_take(struct tls_peer *p, const void *bytes, size_t n)
{
    unsigned char text[16384];
    int status = 0;
    qs_buf_add(&p->in, bytes, n);
    if (!p->up) {
        status = mbedtls_ssl_handshake(&p->ssl);
        p->up = status == 0;
    }
    while (p->up && (status = mbedtls_ssl_read(&p->ssl, text, sizeof text)) > 0)
        qs_buf_add(&p->said, text, (size_t)status);
    return status == MBEDTLS_ERR_SSL_WANT_READ ? 0 : status;
}

void tls_peer_say(struct tls_peer *p, const void *bytes, size_t n)
{
    const unsigned char *at = bytes;
    while (n > 0) {
        int sent = mbedtls_ssl_write(&p->ssl, at, n);
        assert(sent > 0);
        at += sent;
        n -= (size_t)sent;
    }
}
