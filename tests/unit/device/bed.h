/* A session on the loop of a scripted agent, over a Unix socket, with or without a key, or over TCP with TLS.
 */
#ifndef QS_TESTS_UNIT_DEVICE_BED_H
#define QS_TESTS_UNIT_DEVICE_BED_H

#include "host.h"
#include "peer.h"

struct bed {
    struct qs_loop *loop;
    struct peer *peer; /* its user is the bed */
    struct host host;
};

void bed_init(struct bed *b, enum peer_kind kind);
void bed_done(struct bed *b);
struct bed *bed_new(enum peer_kind kind);
void bed_free(struct bed *b);
/* The connection ends for this reason and will be tried again; frees the bed. */
void bed_fails(struct bed *b, enum qs_errc code, const char *part);

#endif
