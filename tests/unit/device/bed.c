#include "bed.h"

#include <stdlib.h>

void bed_init(struct bed *b, enum peer_kind kind)
{
    b->loop = qs_loop_new_real(NULL);
    b->peer = peer_new(b->loop, kind);
    b->peer->user = b;
    struct qs_farm_device device = {.name = (char *)"board",
                                    .link = kind == PEER_TLS ? QS_LINK_TCP : QS_LINK_UNIX,
                                    .address = b->peer->address,
                                    .key_file = kind != PEER_UNIX ? b->peer->key_file : NULL};
    host_init(&b->host, b->loop, &device);
}

void bed_done(struct bed *b)
{
    host_done(&b->host);
    peer_free(b->peer);
    assert_int_equal(qs_loop_free(b->loop), 0);
}

struct bed *bed_new(enum peer_kind kind)
{
    struct bed *b = calloc(1, sizeof *b);
    assert_non_null(b);
    bed_init(b, kind);
    return b;
}

void bed_free(struct bed *b)
{
    bed_done(b);
    free(b);
}

void bed_fails(struct bed *b, enum qs_errc code, const char *part)
{
    host_wait(&b->host, "down");
    host_assert_why(&b->host, code, part);
    assert_string_equal(qs_session_state_name(b->host.session), "backoff");
    bed_free(b);
}
