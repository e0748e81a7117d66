/* What the agent knows of the tracer beside a run. Part of agent.h. */
#ifndef QS_AGENT_CORE_AGENT_TRACE_H
#define QS_AGENT_CORE_AGENT_TRACE_H

#include <stdbool.h>
#include <stdint.h>

/* The stages of ending a child: asked at its limit, forced a second later, given up after five more. */
enum qs_agent_stage { QS_STAGE_RUNS, QS_STAGE_ASKED, QS_STAGE_FORCED, QS_STAGE_GIVEN_UP };

struct qs_agent_trace { /* the tracer of the run */
    bool on;            /* it was started, and its end was not told yet */
    uint32_t id, flags; /* of TRACE; for TRACED */
    enum qs_agent_stage stage;
    int64_t started_ns, stopped_ns, stop_ns;
    int64_t deadline_ns; /* of the state that waits for it */
};

#endif
