/* The environment achieved, as pairs of texts sorted by key. */
#ifndef QS_LINUX_FACTS_H
#define QS_LINUX_FACTS_H

#include "core/port.h"
#include "linux/keeper.h"
#include "linux/probe.h"

/* What facts are read with. */
struct qs_facts {
    const struct qs_probe *probe;        /* borrowed */
    const char *clock;                   /* borrowed */
    const struct qs_keeper_notes *notes; /* borrowed; so they are read anew each time */
    const char *spool;                   /* borrowed: what is said of it */
    char agent_sha256[65];
};

/* Sums up our own executable. */
void qs_facts_init(struct qs_facts *facts, const struct qs_probe *probe, const char *clock,
                   const struct qs_keeper_notes *notes, const char *spool);
/* Fact number index, read now; false behind the last. What this kernel does not have reads "none". */
bool qs_facts_get(const struct qs_facts *facts, size_t index, struct qs_port_fact *fact);

#endif
