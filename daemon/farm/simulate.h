/* One job on the simulated devices of a farm, in virtual time: the real queue, job runs, sessions, codec,
 * store and statistics over the agent's own core on a simulated port. Equal seeds give byte-identical event
 * logs for one binary. */
#ifndef QS_FARM_SIMULATE_H
#define QS_FARM_SIMULATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "config/farm/farm.h"

struct qs_simulation {                   /* all borrowed */
    const struct qs_farm_config *config; /* every device must be simulated */
    const char *job_text, *job_name;
    size_t job_bytes;
    const char *db;        /* a new file, or NULL: a temporary one that is removed */
    const char *event_log; /* or NULL */
    uint64_t seed;
    bool json; /* the whole comparison document instead of a line per comparison */
};

/* Appends what came out to out; every line and the document say that it is simulated. */
bool qs_simulate(const struct qs_simulation *sim, struct qs_buf *out, struct qs_err *err);

#endif
