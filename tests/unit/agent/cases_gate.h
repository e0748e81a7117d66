/* Windows with a gate: a run that is open, lines on the sensor "heat", and OPEN of window 4. */
#ifndef QS_TESTS_AGENT_CASES_GATE_H
#define QS_TESTS_AGENT_CASES_GATE_H

#include "script.h"

struct script *gate_in_run(void); /* owned by the caller: script_free */
struct qs_expectation gate_below(int64_t hi, int64_t timeout_ns, enum qs_gate_on_timeout on_timeout);
void gate_open(struct script *s, const struct qs_expectation *gate, size_t n);
/* A run whose window 4 has this gate, and is armed; as above. */
struct script *gate_armed(const struct qs_expectation *e);

#endif
