#include "linux/tls/tls.h"

#include "linux/io.h"

#include <errno.h>
#include <mbedtls/memory_buffer_alloc.h>
#include <mbedtls/ssl.h>
#include <string.h>
#include <sys/socket.h>

enum {
    RECORD_BYTES = 16384, /* of any peer */
    HEAP_BYTES =
        1024 * 1024 /* more than the handshakes of all sessions take at once; untouched pages cost nothing */
};

struct qs_tls_session {
    int fd; /* borrowed; -1: free */
    bool up, spoke, listens;
    mbedtls_ssl_context ssl;
};

struct qs_tls {
    mbedtls_ssl_config config;
    struct qs_tls_session at[QS_TLS_SESSIONS];
#ifdef MBEDTLS_MEMORY_BUFFER_ALLOC_C
    uint8_t heap[HEAP_BYTES]; /* of the library */
#endif
};

static const int suites[] = {MBEDTLS_TLS_ECDHE_PSK_WITH_CHACHA20_POLY1305_SHA256, 0};
static const mbedtls_ecp_group_id curves[] = {MBEDTLS_ECP_DP_CURVE25519, MBEDTLS_ECP_DP_NONE};

bool qs_tls_is_built(void)
{
    return true;
}

static int random_bytes(void *ctx, unsigned char *bytes, size_t n)
{
    (void)ctx;
    qs_io_random(bytes, n);
    return 0;
}

/* What stands says nothing of its own: no alert, and no answer to a wish for another handshake. */
static int to_peer(void *ctx, const unsigned char *bytes, size_t n)
{
    struct qs_tls_session *session = ctx;
    if (session->up && session->listens) {
        return MBEDTLS_ERR_SSL_INTERNAL_ERROR;
    }
    ssize_t sent = send(session->fd, bytes, n, MSG_NOSIGNAL | MSG_DONTWAIT);
    session->spoke = session->spoke || sent > 0;
    if (sent < 0) {
        return errno == EAGAIN || errno == EINTR ? MBEDTLS_ERR_SSL_WANT_WRITE : MBEDTLS_ERR_SSL_CONN_EOF;
    }
    return (int)sent;
}

static int from_peer(void *ctx, unsigned char *bytes, size_t n)
{
    struct qs_tls_session *session = ctx;
    ssize_t got = recv(session->fd, bytes, n, MSG_DONTWAIT);
    if (got < 0) {
        return errno == EAGAIN || errno == EINTR ? MBEDTLS_ERR_SSL_WANT_READ : MBEDTLS_ERR_SSL_CONN_EOF;
    }
    return (int)got;
}

struct qs_tls *qs_tls_open(const struct qs_enrolled *key)
{
    static struct qs_tls only;
    struct qs_tls *tls = &only;
    for (size_t i = 0; i < QS_TLS_SESSIONS; i++) {
        tls->at[i].fd = -1;
    }
#ifdef MBEDTLS_MEMORY_BUFFER_ALLOC_C
    mbedtls_memory_buffer_alloc_init(tls->heap, sizeof tls->heap);
#endif
    mbedtls_ssl_config_init(&tls->config);
    int wrong = mbedtls_ssl_config_defaults(&tls->config, MBEDTLS_SSL_IS_SERVER, MBEDTLS_SSL_TRANSPORT_STREAM,
                                            MBEDTLS_SSL_PRESET_DEFAULT);
    mbedtls_ssl_conf_rng(&tls->config, random_bytes, NULL);
    mbedtls_ssl_conf_ciphersuites(&tls->config, suites);
    mbedtls_ssl_conf_curves(&tls->config, curves);
    mbedtls_ssl_conf_min_version(&tls->config, MBEDTLS_SSL_MAJOR_VERSION_3, MBEDTLS_SSL_MINOR_VERSION_3);
    wrong = wrong ? wrong
                  : mbedtls_ssl_conf_psk(&tls->config, key->secret, sizeof key->secret,
                                         (const unsigned char *)key->name, strlen(key->name));
    return wrong ? NULL : tls;
}

struct qs_tls_session *qs_tls_begin(struct qs_tls *tls, int fd)
{
    struct qs_tls_session *session = tls->at;
    while (session < tls->at + QS_TLS_SESSIONS && session->fd >= 0) {
        session++;
    }
    if (session == tls->at + QS_TLS_SESSIONS) {
        return NULL;
    }
    *session = (struct qs_tls_session){.fd = fd};
    mbedtls_ssl_init(&session->ssl);
    if (mbedtls_ssl_setup(&session->ssl, &tls->config) != 0) {
        qs_tls_end(session);
        return NULL;
    }
    mbedtls_ssl_set_bio(&session->ssl, session, to_peer, from_peer, NULL);
    return session;
}

void qs_tls_end(struct qs_tls_session *session)
{
    if (session) {
        mbedtls_ssl_free(&session->ssl);
        session->fd = -1;
    }
}

bool qs_tls_shake(struct qs_tls_session *session)
{
    int status = mbedtls_ssl_handshake(&session->ssl);
    session->up = status == 0;
    return status == 0 || status == MBEDTLS_ERR_SSL_WANT_READ || status == MBEDTLS_ERR_SSL_WANT_WRITE;
}

bool qs_tls_is_up(const struct qs_tls_session *session)
{
    return session->up;
}

bool qs_tls_is_silent(const struct qs_tls_session *session)
{
    return !session->spoke;
}

long qs_tls_receive(struct qs_tls_session *session, uint8_t *bytes, size_t cap)
{
    size_t n = 0;
    int got = 1;
    session->listens = true;
    /* Nothing of a record may stay behind here: no descriptor would tell of it. */
    while (got > 0 && (n == 0 || cap - n >= RECORD_BYTES)) {
        got = mbedtls_ssl_read(&session->ssl, bytes + n, cap - n);
        n += got > 0 ? (size_t)got : 0;
    }
    session->listens = false;
    if (got > 0 || got == MBEDTLS_ERR_SSL_WANT_READ) {
        return (long)n;
    }
    bool left = got == 0 || got == MBEDTLS_ERR_SSL_CONN_EOF || got == MBEDTLS_ERR_SSL_PEER_CLOSE_NOTIFY;
    return left && n > 0 ? (long)n : -1; /* that it has left is told again */
}

long qs_tls_send(struct qs_tls_session *session, const uint8_t *bytes, size_t n)
{
    int sent = mbedtls_ssl_write(&session->ssl, bytes, n);
    return sent == MBEDTLS_ERR_SSL_WANT_WRITE ? 0 : sent > 0 ? sent : -1;
}
