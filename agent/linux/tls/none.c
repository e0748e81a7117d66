/* An agent without TLS has no door for TCP either (listen.c). */
#include "linux/tls/tls.h"

bool qs_tls_is_built(void)
{
    return false;
}

struct qs_tls *qs_tls_open(const struct qs_enrolled *key)
{
    (void)key;
    return NULL;
}

struct qs_tls_session *qs_tls_begin(struct qs_tls *tls, int fd)
{
    (void)tls;
    (void)fd;
    return NULL;
}

void qs_tls_end(struct qs_tls_session *session)
{
    (void)session;
}

bool qs_tls_shake(struct qs_tls_session *session)
{
    (void)session;
    return false;
}

bool qs_tls_is_up(const struct qs_tls_session *session)
{
    (void)session;
    return false;
}

bool qs_tls_is_silent(const struct qs_tls_session *session)
{
    (void)session;
    return true;
}

long qs_tls_receive(struct qs_tls_session *session, uint8_t *bytes, size_t cap)
{
    (void)session;
    (void)bytes;
    (void)cap;
    return -1;
}

long qs_tls_send(struct qs_tls_session *session, const uint8_t *bytes, size_t n)
{
    (void)session;
    (void)bytes;
    (void)n;
    return -1;
}
