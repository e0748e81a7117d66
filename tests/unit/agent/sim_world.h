/* A simulated device at the other end of a link, in virtual time. */
#ifndef QS_TESTS_AGENT_SIM_WORLD_H
#define QS_TESTS_AGENT_SIM_WORLD_H

#include "peer.h"
#include "sim/port.h"

#define MS INT64_C(1000000)

struct world {
    struct qs_sim *sim;
    struct peer peer;
    int64_t now_ns;
    uint8_t *log; /* owned: every byte that the device sent */
    size_t logged;
};

/* The link is up and the greetings are said. */
void world_init(struct world *w, const struct qs_sim_options *options);
void world_done(struct world *w);
/* The next letter, which has to be of this type; time passes until it is there. Valid until the next call. */
const struct letter *expect(struct world *w, uint8_t type);
/* A run of one window of n iterations; the rows' durations. */
void measure(struct world *w, const char *const *argv, uint32_t n, int64_t *durations);

#endif
