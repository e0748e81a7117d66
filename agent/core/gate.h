/* The gate before a window: expectations about the machine, compiled by the host, decided here. */
#ifndef QS_AGENT_CORE_GATE_H
#define QS_AGENT_CORE_GATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/port.h"
#include "proto/msg.h"

struct qs_gate_item {
    char sensor[QS_NAME_MAX_BYTES + 1];
    uint8_t flags;
    enum qs_gate_on_timeout on_timeout;
    int64_t lo, hi, dwell_ns, timeout_ns;
    bool above;       /* QS_GATE_RETURN: the line before it was above its hi, and it is not down yet */
    bool within;      /* the last reading was in the band */
    int64_t since_ns; /* since when without a break */
    bool met;         /* within, for the whole dwell */
    bool given_up;    /* timed out with "taint": waited for no longer */
    int64_t missed_value, missed_bound; /* at that moment */
    struct qs_port_reading reading;     /* the last one */
};

struct qs_agent_gate {
    struct qs_gate_item items[QS_GATE_MAX];
    size_t count;
    int64_t began_ns, decided_ns;
    uint32_t polls;
    bool heats;                        /* the device is being warmed, or what warms it has not ended yet */
    bool cannot_heat;                  /* nothing can */
    int64_t heats_since_ns, heated_ns; /* the waits before this one, in all */
    /* What is to be held (QS_GATE_HOLD) is judged, processors are kept busy for it; since when, and how long
     * before that. The load ends directly before the deciding reading, which is one of it. */
    bool holds, loaded;
    int64_t holds_since_ns, held_ns;
    bool stale; /* the last batch had a reading that was not ready yet: ask again soon */
    enum qs_gate_outcome outcome;
};

enum qs_gate_answer { QS_GATE_ANSWER_WAIT, QS_GATE_ANSWER_OPEN, QS_GATE_ANSWER_OVER };

/* Takes the program of an OPEN (already decoded, so already bounded); the wait begins at now_ns. */
void qs_agent_gate_load(struct qs_agent_gate *gate, const struct qs_list *program, int64_t now_ns);
/* Reads all sensors in one batch and decides. OPEN: every expectation is met, or was given up with a taint.
 * OVER: one timed out, gate->outcome says how. A value that is unreadable or missing fails its expectation
 * unless that says otherwise; a stale one is waited for. While the device is warmed nothing else is judged.
 */
enum qs_gate_answer qs_agent_gate_poll(struct qs_agent_gate *gate, const struct qs_port *port,
                                       int64_t now_ns);
/* Before the deciding reading: no processor is kept busy any more. Where one cannot be let go, that reading
 * does not open the gate. */
void qs_agent_gate_let_go(struct qs_agent_gate *gate, const struct qs_port *port);
/* The host puts the window off: what is held is let go, and begins anew with the next look. */
void qs_agent_gate_pause(struct qs_agent_gate *gate, const struct qs_port *port);
/* The expectation that keeps the gate shut: the first that is neither met nor given up. False: none. */
bool qs_agent_gate_blocker(const struct qs_agent_gate *gate, size_t *index);
/* When it will open at the earliest if its value stays in the band, as a span from now_ns; -1: not known. */
int64_t qs_agent_gate_eta(const struct qs_gate_item *item, int64_t now_ns);

#endif
