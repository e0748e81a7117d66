/* What simulated devices have measured, noted at their ports, before any byte of it goes on its way, and the
 * comparison with a database. In place of qs_sim_init, _on_bytes, _link_down, qs_agent_on_child and
 * qs_sim_program_row (--wrap). */
#ifndef QS_TESTS_UNIT_FARM_LEDGER_H
#define QS_TESTS_UNIT_FARM_LEDGER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

void ledger_begin(void);
void ledger_end(void);
size_t ledger_count(void);

/* Windows in which bytes of the host arrived, or the link was lost. */
size_t ledger_disturbed(void);

/* All agents have a session, no run, and nothing that waits to be acknowledged. */
bool ledger_is_settled(void);

/* Says what differs: an iteration that is not in the database once, as it was measured and in its place; one
 * there that was never measured; a disturbed window without a taint. */
void ledger_compare(const char *db, struct qs_buf *problems);
/* What the device of this sim_seed says is not to be relied on: what it has measured may be missing, and only
 * its durations and their places are compared. */
void ledger_distrust(uint64_t sim_seed);

#endif
