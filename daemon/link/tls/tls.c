#include "link/tls/tls.h"

#include <mbedtls/ssl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/mem.h"
#include "base/text.h"

enum {
    RECORD_BYTES = 4096, /* of ours: the agent has no room for longer ones */
    OVERHEAD_BYTES = 64, /* more than a record adds */
    FIRST_TYPE = 20,     /* of a record (RFC 5246, 6.2.1) */
    LAST_TYPE = 23,
    QUOTED_BYTES = 160 /* of what is no TLS */
};

struct qs_tls {
    char *name; /* owned */
    mbedtls_ssl_config config;
    mbedtls_ssl_context ssl;
    const uint8_t *bytes; /* of the peer, while they are taken in */
    size_t n;
    struct qs_buf *wire; /* borrowed for a call; NULL: nothing may be sent now */
    bool up, heard;
};

static const int suites[] = {MBEDTLS_TLS_ECDHE_PSK_WITH_CHACHA20_POLY1305_SHA256, 0};
static const mbedtls_ecp_group_id curves[] = {MBEDTLS_ECP_DP_CURVE25519, MBEDTLS_ECP_DP_NONE};

static int random_bytes(void *ctx, unsigned char *bytes, size_t n)
{
    (void)ctx;
    return getrandom(bytes, n, 0) == (ssize_t)n ? 0 : -1;
}

static int to_peer(void *ctx, const unsigned char *bytes, size_t n)
{
    struct qs_tls *tls = ctx;
    if (!tls->wire)
        return MBEDTLS_ERR_SSL_INTERNAL_ERROR;
    qs_buf_add(tls->wire, bytes, n);
    return (int)n;
}

static int from_peer(void *ctx, unsigned char *bytes, size_t n)
{
    struct qs_tls *tls = ctx;
    n = n < tls->n ? n : tls->n;
    if (n == 0)
        return MBEDTLS_ERR_SSL_WANT_READ;
    memcpy(bytes, tls->bytes, n);
    tls->bytes += n;
    tls->n -= n;
    return (int)n;
}

static bool set_up(struct qs_tls *tls, const struct qs_enrolled *key)
{
    if (mbedtls_ssl_config_defaults(&tls->config, MBEDTLS_SSL_IS_CLIENT, MBEDTLS_SSL_TRANSPORT_STREAM,
                                    MBEDTLS_SSL_PRESET_DEFAULT) != 0)
        return false;
    mbedtls_ssl_conf_rng(&tls->config, random_bytes, NULL);
    mbedtls_ssl_conf_ciphersuites(&tls->config, suites);
    mbedtls_ssl_conf_curves(&tls->config, curves);
    mbedtls_ssl_conf_min_version(&tls->config, MBEDTLS_SSL_MAJOR_VERSION_3, MBEDTLS_SSL_MINOR_VERSION_3);
    mbedtls_ssl_conf_session_tickets(&tls->config, MBEDTLS_SSL_SESSION_TICKETS_DISABLED);
    if (mbedtls_ssl_conf_psk(&tls->config, key->secret, sizeof key->secret, (const unsigned char *)key->name,
                             strlen(key->name)) != 0 ||
        mbedtls_ssl_setup(&tls->ssl, &tls->config) != 0)
        return false;
    mbedtls_ssl_set_bio(&tls->ssl, tls, to_peer, from_peer, NULL);
    return true;
}

struct qs_tls *qs_tls_new(const char *name, const struct qs_enrolled *key, struct qs_err *err)
{
    struct qs_tls *tls = qs_calloc(1, sizeof *tls);
    tls->name = qs_strdup(name);
    mbedtls_ssl_config_init(&tls->config);
    mbedtls_ssl_init(&tls->ssl);
    if (set_up(tls, key))
        return tls;
    qs_fail(err, QS_E_RESOURCE, "%s: cannot make a TLS client", name);
    qs_tls_free(tls);
    return NULL;
}

void qs_tls_free(struct qs_tls *tls)
{
    if (!tls)
        return;
    mbedtls_ssl_free(&tls->ssl);
    mbedtls_ssl_config_free(&tls->config);
    free(tls->name);
    free(tls);
}

bool qs_tls_is_up(const struct qs_tls *tls)
{
    return tls->up;
}

size_t qs_tls_sealed_bytes(size_t n)
{
    return n + (n / RECORD_BYTES + 1) * OVERHEAD_BYTES;
}

/* What the agent complains of, where it does. */
static int complaint(const struct qs_tls *tls, int status)
{
    return status == MBEDTLS_ERR_SSL_FATAL_ALERT_MESSAGE ? tls->ssl.in_msg[1] : -1;
}

static bool fail_handshake(const struct qs_tls *tls, int status, struct qs_err *err)
{
    int alert = complaint(tls, status);
    if (alert == MBEDTLS_SSL_ALERT_MSG_UNKNOWN_PSK_IDENTITY)
        return qs_fail(
            err, QS_E_AUTH,
            "%s: the agent has another device's key file: enrol the device, and give the agent the "
            "file that it makes",
            tls->name);
    if (alert == MBEDTLS_SSL_ALERT_MSG_BAD_RECORD_MAC || alert == MBEDTLS_SSL_ALERT_MSG_DECRYPT_ERROR ||
        status == MBEDTLS_ERR_SSL_INVALID_MAC)
        return qs_fail(err, QS_E_AUTH, "%s: the agent's key is another one than our key file's", tls->name);
    if (alert >= 0)
        return qs_fail(err, QS_E_AUTH,
                       "%s: whoever listens there refuses our way of TLS (alert %d): is it a quiesce-agent?",
                       tls->name, alert);
    return qs_fail(err, QS_E_LINK, "%s: what came is not the TLS of a quiesce-agent (TLS -0x%04x)", tls->name,
                   (unsigned)-status);
}

/* An agent that turns us away before a handshake says so in plain words, which nobody vouches for. */
static bool check_first(const struct qs_tls *tls, struct qs_err *err)
{
    QS_BUF(text);
    if (tls->bytes[0] >= FIRST_TYPE && tls->bytes[0] <= LAST_TYPE)
        return true;
    qs_text_first_line(&text, (const char *)tls->bytes, tls->n < QUOTED_BYTES ? tls->n : QUOTED_BYTES);
    return qs_fail(err, QS_E_LINK, "%s does not speak TLS, but says `%s`", tls->name, text.data);
}

/* What stands is told nothing here: no alert, and no answer to a wish for another handshake. */
static bool listen_on(struct qs_tls *tls, struct qs_buf *said, struct qs_err *err)
{
    unsigned char text[16384];
    int got = 1;
    tls->wire = NULL;
    while (got > 0) {
        got = mbedtls_ssl_read(&tls->ssl, text, sizeof text);
        if (got > 0)
            qs_buf_add(said, text, (size_t)got);
    }
    if (got == MBEDTLS_ERR_SSL_WANT_READ)
        return true;
    if (got == MBEDTLS_ERR_SSL_PEER_CLOSE_NOTIFY)
        return qs_fail(err, QS_E_LINK, "%s closed the connection", tls->name);
    return qs_fail(err, QS_E_LINK, "%s: the connection was tampered with, or damaged (TLS -0x%04x)",
                   tls->name, (unsigned)-got);
}

bool qs_tls_take(struct qs_tls *tls, const uint8_t *bytes, size_t n, struct qs_buf *said, struct qs_buf *wire,
                 struct qs_err *err)
{
    tls->bytes = bytes;
    tls->n = n;
    tls->wire = wire;
    if (n > 0 && !tls->heard && !check_first(tls, err))
        return false;
    tls->heard = tls->heard || n > 0;
    int status = tls->up ? 0 : mbedtls_ssl_handshake(&tls->ssl);
    tls->up = status == 0;
    bool ok = tls->up ? listen_on(tls, said, err)
                      : status == MBEDTLS_ERR_SSL_WANT_READ || fail_handshake(tls, status, err);
    tls->wire = NULL;
    return ok;
}

bool qs_tls_seal(struct qs_tls *tls, const uint8_t *bytes, size_t n, struct qs_buf *wire, struct qs_err *err)
{
    tls->wire = wire;
    int sent = 1;
    while (n > 0 && sent > 0) {
        sent = mbedtls_ssl_write(&tls->ssl, bytes, n < RECORD_BYTES ? n : RECORD_BYTES);
        bytes += sent > 0 ? sent : 0;
        n -= sent > 0 ? (size_t)sent : 0;
    }
    tls->wire = NULL;
    return n == 0 || qs_fail(err, QS_E_LINK, "%s: cannot encrypt (TLS -0x%04x)", tls->name, (unsigned)-sent);
}
