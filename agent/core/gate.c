#include "core/gate.h"

#include <string.h>

/* A sensor that needs two looks has not failed before it had the time for them. */
#define STALE_GRACE_NS INT64_C(1000000000)
/* Nor has one whose commands still run; each of them is ended before. */
#define PENDING_GRACE_NS INT64_C(20000000000)

#define DEGREE_MC 1000.0

void qs_agent_gate_load(struct qs_agent_gate *gate, const struct qs_list *program, int64_t now_ns)
{
    struct qs_iter it = qs_list_iter(program);
    struct qs_expectation e;
    gate->count = 0;
    gate->began_ns = gate->decided_ns = now_ns;
    gate->polls = 0;
    gate->stale = gate->heats = gate->cannot_heat = false;
    gate->heats_since_ns = gate->heated_ns = 0;
    gate->holds = gate->loaded = false;
    gate->holds_since_ns = gate->held_ns = 0;
    gate->outcome = QS_GATE_OPEN;
    while (gate->count < QS_GATE_MAX && qs_list_expectation(&it, &e)) {
        struct qs_gate_item *item = &gate->items[gate->count++];
        *item = (struct qs_gate_item){.flags = e.flags,
                                      .on_timeout = e.on_timeout,
                                      .lo = e.lo,
                                      .hi = e.hi,
                                      .dwell_ns = e.dwell_ns,
                                      .timeout_ns = e.timeout_ns,
                                      .reading = {.status = QS_READING_STALE}};
        qs_text_copy(e.sensor, item->sensor, sizeof item->sensor);
    }
}

static bool in_band(const struct qs_gate_item *item)
{
    const struct qs_port_reading *r = &item->reading;
    if (r->status == QS_READING_STALE) {
        return false;
    }
    if (r->status != QS_READING_OK) {
        return (item->flags & QS_GATE_UNREADABLE_OK) != 0;
    }
    return !((item->flags & QS_GATE_HAS_LO) && r->value < item->lo) &&
           !((item->flags & QS_GATE_HAS_HI) && r->value > item->hi);
}

/* One that waits for a return counts only once the line before it was passed. */
static bool holds(struct qs_agent_gate *gate, size_t i)
{
    struct qs_gate_item *item = &gate->items[i];
    const struct qs_gate_item *before = item - 1;
    if (!(item->flags & QS_GATE_RETURN)) {
        return in_band(item);
    }
    if (i > 0 && before->reading.status == QS_READING_OK && before->reading.value > before->hi) {
        item->above = true;
    }
    item->above = item->above && !in_band(item);
    return !item->above;
}

static void judge(struct qs_agent_gate *gate, size_t i, int64_t now_ns, bool heats)
{
    struct qs_gate_item *item = &gate->items[i];
    bool within = !heats && holds(gate, i);
    if (within && !item->within) {
        item->since_ns = now_ns;
    }
    item->within = within;
    item->met = within && now_ns - item->since_ns >= item->dwell_ns;
}

static bool timed_out(const struct qs_gate_item *item, int64_t waited_ns)
{
    int64_t grace = item->reading.pending                      ? PENDING_GRACE_NS
                    : item->reading.status == QS_READING_STALE ? STALE_GRACE_NS
                                                               : 0;
    return waited_ns >= item->timeout_ns + grace;
}

static enum qs_gate_outcome outcome_of(enum qs_gate_on_timeout on_timeout)
{
    switch (on_timeout) {
    case QS_GATE_ON_TIMEOUT_TAINT:
        return QS_GATE_TAINTED;
    case QS_GATE_ON_TIMEOUT_DEFER:
        return QS_GATE_DEFER;
    case QS_GATE_ON_TIMEOUT_REQUEUE:
        return QS_GATE_REQUEUE;
    case QS_GATE_ON_TIMEOUT_FAIL:
        return QS_GATE_FAIL;
    }
    return QS_GATE_FAIL;
}

static void give_up(struct qs_gate_item *item)
{
    bool low = (item->flags & QS_GATE_HAS_LO) && item->reading.value < item->lo;
    item->given_up = true;
    item->missed_value = item->reading.value;
    item->missed_bound = low ? item->lo : item->hi;
}

/* Where warming began below lo it goes on for a quarter of the band: a device that is only just warm enough
 * would be too cold again by the time the gate opens. A reading that is not there yet changes nothing. */
static bool is_cold(const struct qs_gate_item *item, bool heats)
{
    double lo = (double)item->lo;
    double quarter = (item->flags & QS_GATE_HAS_HI) ? ((double)item->hi - lo) / 4 : DEGREE_MC;
    const struct qs_port_reading *r = &item->reading;
    if (!(item->flags & QS_GATE_HEAT) || item->given_up || item->timeout_ns == 0) {
        return false;
    }
    return r->status == QS_READING_OK ? (double)r->value < lo + (heats ? quarter : 0)
                                      : heats && r->status == QS_READING_STALE;
}

/* Begins and ends warming. What runs for it is somebody's busy processor: while it does, nothing is judged.
 */
static void warm(struct qs_agent_gate *gate, const struct qs_port *port, int64_t now_ns)
{
    bool cold = false;
    for (size_t i = 0; i < gate->count; i++) {
        cold = cold || is_cold(&gate->items[i], gate->heats);
    }
    if (cold && !gate->heats && !gate->cannot_heat && port->load.start) {
        gate->heats = port->load.start(port->ctx, "") == QS_LOAD_ON;
        gate->cannot_heat = !gate->heats;
        gate->heats_since_ns = now_ns;
    } else if (!cold && gate->heats && port->load.stop(port->ctx)) {
        gate->heats = false;
        gate->heated_ns += now_ns - gate->heats_since_ns;
    }
}

/* While the device is warmed, or kept busy, only the time of those that want it runs. */
static int64_t waited(const struct qs_agent_gate *gate, const struct qs_gate_item *item, int64_t now_ns)
{
    int64_t heated_ns = gate->heated_ns + (gate->heats ? now_ns - gate->heats_since_ns : 0);
    int64_t held_ns = gate->held_ns + (gate->holds ? now_ns - gate->holds_since_ns : 0);
    if (item->flags & QS_GATE_HOLD) {
        return held_ns;
    }
    return now_ns - gate->began_ns - held_ns - ((item->flags & QS_GATE_HEAT) ? 0 : heated_ns);
}

/* It is no longer waited for. True: nor for the window. */
static bool time_out(struct qs_agent_gate *gate, struct qs_gate_item *item)
{
    enum qs_gate_outcome outcome = outcome_of(item->on_timeout);
    gate->outcome = outcome > gate->outcome ? outcome : gate->outcome;
    give_up(item);
    return outcome != QS_GATE_TAINTED;
}

/* How busy the machine is says nothing while we keep it busy: it was quiet enough before. */
static bool is_blind(const struct qs_agent_gate *gate, const struct qs_gate_item *item)
{
    return gate->holds && item->met && !strchr(item->sensor, ':');
}

/* Those that are to be held, or all others: is none of them waited for? */
static bool pass(struct qs_agent_gate *gate, bool held, bool shut, int64_t now_ns, bool *over)
{
    bool all = true;
    for (size_t i = 0; i < gate->count; i++) {
        struct qs_gate_item *item = &gate->items[i];
        if (((item->flags & QS_GATE_HOLD) != 0) != held || is_blind(gate, item)) {
            continue;
        }
        judge(gate, i, now_ns, shut);
        if ((item->met && !item->reading.pending) || item->given_up) {
            continue; /* no command of ours runs into a window */
        }
        bool spared = !held && shut && !(item->flags & QS_GATE_HEAT) && in_band(item);
        bool late = !spared && timed_out(item, waited(gate, item, now_ns));
        *over = (late && time_out(gate, item)) || *over;
        all = all && late;
    }
    return all;
}

/* False: the load has not ended yet. */
static bool let_go(struct qs_agent_gate *gate, const struct qs_port *port)
{
    gate->loaded = gate->loaded && !port->load.stop(port->ctx);
    return !gate->loaded;
}

static void end_hold(struct qs_agent_gate *gate, const struct qs_port *port, int64_t now_ns)
{
    gate->held_ns += gate->holds ? now_ns - gate->holds_since_ns : 0;
    gate->holds = false;
    (void)let_go(gate, port);
}

static void begin_hold(struct qs_agent_gate *gate, const struct qs_port *port, int64_t now_ns, bool *over)
{
    gate->holds = true;
    gate->holds_since_ns = now_ns;
    gate->loaded = port->load.start && port->load.start(port->ctx, "") == QS_LOAD_ON;
    for (size_t i = 0; i < gate->count && !gate->loaded; i++) {
        struct qs_gate_item *item = &gate->items[i];
        if ((item->flags & QS_GATE_HOLD) && !item->given_up) {
            *over = time_out(gate, item) || *over;
        }
    }
}

static bool has_hold(const struct qs_agent_gate *gate)
{
    bool any = false;
    for (size_t i = 0; i < gate->count; i++) {
        any = any || (gate->items[i].flags & QS_GATE_HOLD);
    }
    return any;
}

/* Last of all, when the others are met (`rest`): is what is to be held there? A reading from before the load
 * does not tell. */
static bool hold(struct qs_agent_gate *gate, const struct qs_port *port, bool rest, int64_t now_ns,
                 bool *over)
{
    bool held = gate->holds;
    bool deciding = gate->holds && !gate->loaded;
    if (!has_hold(gate)) {
        return rest;
    }
    if (!rest || (!held && !let_go(gate, port))) {
        end_hold(gate, port, now_ns);
        return false;
    }
    if (!held) {
        begin_hold(gate, port, now_ns, over);
    }
    bool there = pass(gate, true, !held, now_ns, over);
    if (deciding && !there) {
        end_hold(gate, port, now_ns);
    }
    gate->stale = gate->stale || !there; /* ask again soon */
    return there;
}

void qs_agent_gate_let_go(struct qs_agent_gate *gate, const struct qs_port *port)
{
    gate->holds = let_go(gate, port) && gate->holds;
}

void qs_agent_gate_pause(struct qs_agent_gate *gate, const struct qs_port *port)
{
    gate->holds = false;
    gate->held_ns = 0;
    (void)let_go(gate, port);
}

enum qs_gate_answer qs_agent_gate_poll(struct qs_agent_gate *gate, const struct qs_port *port, int64_t now_ns)
{
    bool over = false;
    gate->polls++;
    gate->stale = false;
    gate->decided_ns = now_ns;
    for (size_t i = 0; i < gate->count; i++) {
        struct qs_gate_item *item = &gate->items[i];
        if (is_blind(gate, item)) {
            item->reading.age_ns = now_ns - gate->holds_since_ns;
            continue;
        }
        port->read_sensor(port->ctx, item->sensor, &item->reading);
        gate->stale = gate->stale || item->reading.status == QS_READING_STALE || item->reading.pending;
    }
    bool settled = !port->settled || port->settled(port->ctx);
    gate->stale = gate->stale || !settled;
    bool heated = gate->heats; /* when it was read */
    warm(gate, port, now_ns);
    bool rest = pass(gate, false, heated || gate->heats, now_ns, &over) && settled && !gate->heats;
    bool all = hold(gate, port, rest && !over, now_ns, &over);
    if (over) {
        return QS_GATE_ANSWER_OVER;
    }
    return all ? QS_GATE_ANSWER_OPEN : QS_GATE_ANSWER_WAIT;
}

bool qs_agent_gate_blocker(const struct qs_agent_gate *gate, size_t *index)
{
    for (size_t i = 0; i < gate->count && gate->heats; i++) {
        if (is_cold(&gate->items[i], true)) {
            *index = i;
            return true;
        }
    }
    for (size_t i = 0; i < gate->count; i++) {
        const struct qs_gate_item *item = &gate->items[i];
        if ((!item->met || item->reading.pending) && !item->given_up) {
            *index = i;
            return true;
        }
    }
    return false;
}

int64_t qs_agent_gate_eta(const struct qs_gate_item *item, int64_t now_ns)
{
    return item->within ? item->since_ns + item->dwell_ns - now_ns : -1;
}
