#include "sim_world.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "proto/names.h"

enum { LOG_BYTES = 1 << 20 };

static bool on_send(void *ctx, const uint8_t *bytes, size_t n)
{
    struct world *w = ctx;
    assert_true(w->logged + n <= LOG_BYTES);
    memcpy(w->log + w->logged, bytes, n);
    w->logged += n;
    peer_receive(&w->peer, bytes, n);
    return true;
}

static void on_close(void *ctx)
{
    (void)ctx;
    fail_msg("the agent let go of the link");
}

static void to_sim(void *ctx, const uint8_t *bytes, size_t n)
{
    struct world *w = ctx;
    qs_sim_on_bytes(w->sim, w->now_ns, bytes, n);
}

const struct letter *expect(struct world *w, uint8_t type)
{
    const struct letter *l;
    while (!(l = peer_pop(&w->peer))) {
        w->now_ns = qs_sim_next_ns(w->sim);
        assert_true(w->now_ns != INT64_MAX);
        qs_sim_on_time(w->sim, w->now_ns);
    }
    assert_string_equal(qs_msg_name(l->type), qs_msg_name(type));
    return l;
}

void world_init(struct world *w, const struct qs_sim_options *options)
{
    *w = (struct world){.sim = malloc(sizeof *w->sim), .log = malloc(LOG_BYTES)};
    peer_init(&w->peer, to_sim, w);
    qs_sim_init(w->sim, options, 0, on_send, on_close, w);
    qs_sim_link_up(w->sim, 0);
    peer_hello(&w->peer, 10000);
    expect(w, QS_MSG_HELLO_AGENT);
    expect(w, QS_MSG_HELD);
}

void world_done(struct world *w)
{
    peer_done(&w->peer);
    free(w->sim);
    free(w->log);
}

void measure(struct world *w, const char *const *argv, uint32_t n, int64_t *durations)
{
    struct qs_msg_iterations m;
    struct qs_row row;
    peer_run_begin(&w->peer, &(struct run_spec){.argv = argv});
    expect(w, QS_MSG_RUN_READY);
    peer_open(&w->peer, &(struct open_spec){.iterations = n, .phase = QS_PHASE_MEASURE});
    expect(w, QS_MSG_ARM);
    peer_window(&w->peer, QS_MSG_QUIET, 0);
    expect(w, QS_MSG_CLOSED);
    const struct letter *l = expect(w, QS_MSG_ITERATIONS);
    assert_int_equal(qs_msg_decode_iterations(l->payload, l->n, &m), 0);
    assert_int_equal(m.rows.count, n);
    struct qs_iter it = qs_list_iter(&m.rows);
    while (qs_list_row(&it, m.metrics.count, &row)) {
        *durations++ = row.duration_ns;
    }
    peer_seq(&w->peer, QS_MSG_ACK, n);
    peer_run_end(&w->peer);
    expect(w, QS_MSG_RUN_ENDED);
    w->peer.run.b[0]++;
}
