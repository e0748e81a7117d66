/* TLS at the agent's TCP door: mutual proof of one enrolled key, and encryption (PROTOCOL.md, "TLS"). Nothing
 * here waits, and once a session stands nothing is sent but what it is told to send. */
#ifndef QS_LINUX_TLS_TLS_H
#define QS_LINUX_TLS_TLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/enrolled.h"

enum { QS_TLS_SESSIONS = 17 }; /* all guests of the door, and the host */

struct qs_tls;
struct qs_tls_session;

/* Whether this agent was built with it. */
bool qs_tls_is_built(void);
/* There is one in a process. NULL: it cannot be made. */
struct qs_tls *qs_tls_open(const struct qs_enrolled *key);
/* A session over a connection, which is borrowed until its end. NULL: there is no memory for it. */
struct qs_tls_session *qs_tls_begin(struct qs_tls *tls, int fd);
void qs_tls_end(struct qs_tls_session *session); /* NULL is allowed */

/* As far as the handshake goes with what has come. False: it has failed, and will. */
bool qs_tls_shake(struct qs_tls_session *session);
/* The host has proven the key, and we have. */
bool qs_tls_is_up(const struct qs_tls_session *session);
/* Nothing was said to the peer yet, so that plain words can still be read. */
bool qs_tls_is_silent(const struct qs_tls_session *session);
/* Of a session that is up. > 0: so many bytes; 0: nothing now; -1: the peer is gone, or is none. */
long qs_tls_receive(struct qs_tls_session *session, uint8_t *bytes, size_t cap);
/* > 0: so many were taken; 0: nothing now, to be called again with the same; -1: the peer is gone. */
long qs_tls_send(struct qs_tls_session *session, const uint8_t *bytes, size_t n);

#endif
