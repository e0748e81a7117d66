/* What the owner asks for: checked against the table, sent, then moved. Nothing is called back from here. */
#include "device/session/impl.h"

bool qs_session_may(struct qs_session *s, enum qs_session_event event, struct qs_err *err)
{
    if (!qs_session_is_ready(s))
        return qs_fail(err, QS_E_LINK, "%s is not connected (%s)", s->name, qs_session_state_name(s));
    if (!qs_session_allows(s, event))
        return qs_fail(err, QS_E_CONFLICT, "%s: no %s in state %s", s->name, qs_session_name_of_event(event),
                       qs_session_state_name(s));
    return true;
}

bool qs_session_is_open_run(const struct qs_session *s, const struct qs_uid *run, struct qs_err *err)
{
    return qs_uid_equal(run, &s->run.uid) || qs_fail(err, QS_E_CONFLICT, "%s: another run is open", s->name);
}

static bool check_open(struct qs_session *s, const struct qs_msg_open *m, struct qs_err *err)
{
    if (!qs_session_is_open_run(s, &m->run, err))
        return false;
    if (m->first_seq != s->run.next_seq)
        return qs_fail(err, QS_E_CONFLICT,
                       "%s: the window begins at iteration %llu, the run continues at %llu", s->name,
                       (unsigned long long)m->first_seq, (unsigned long long)s->run.next_seq);
    if (m->iterations > s->max_iterations)
        return qs_fail(err, QS_E_LIMIT, "%s: the agent takes at most %u iterations a window, not %u", s->name,
                       (unsigned)s->max_iterations, (unsigned)m->iterations);
    if (m->phase == QS_PHASE_TRACED && !qs_session_has(s, QS_FEATURE_TRACE))
        return qs_fail(err, QS_E_LIMIT, "%s: the agent does not support traced windows", s->name);
    if (m->lease_ns - m->quiet_lead_ns <= m->max_ns)
        return qs_fail(err, QS_E_LIMIT, "%s: the lease must outlast the lead and the window", s->name);
    return true;
}

/* The time of a line runs beside the others', except while the device is warmed or kept busy for lines that
 * want that; and a sensor may need a while for its first reading. */
static int64_t gate_ns(const struct qs_list *gate)
{
    struct qs_iter it = qs_list_iter(gate);
    struct qs_expectation e;
    int64_t longest_ns = 0;
    while (qs_list_expectation(&it, &e))
        longest_ns = e.timeout_ns > longest_ns ? e.timeout_ns : longest_ns;
    return 3 * longest_ns + QS_SESSION_REPLY_NS;
}

bool qs_session_open(struct qs_session *s, const struct qs_msg_open *m, struct qs_err *err)
{
    if (!qs_session_may(s, QS_SESSION_EV_OPEN, err) || !check_open(s, m, err))
        return false;
    if (s->call.row)
        return qs_fail(err, QS_E_CONFLICT, "%s: no window opens before the answer to %s", s->name,
                       qs_msg_name(s->call.row->type));
    if (!qs_session_send(s, QS_MSG_OPEN, m, err))
        return false;
    s->run.window = m->window;
    s->run.phase = m->phase;
    s->run.asked = m->iterations;
    s->run.lead_ns = m->quiet_lead_ns;
    s->run.lease_ns = m->lease_ns;
    s->run.gate_ns = gate_ns(&m->gate);
    s->run.rows_due = s->run.rows_come = 0;
    s->run.armings = s->run.disarms = 0;
    s->run.evals = m->evals;
    s->run.expectations = m->gate.count;
    s->run.waitings = 0;
    s->run.opened_ns = s->run.since_ns = qs_loop_now_ns(s->loop);
    s->run.cancelled = false;
    qs_session_fire(s, QS_SESSION_EV_OPEN, NULL);
    return true;
}

/* Nothing may be sent in a silent window: there the acknowledgement waits for its end. */
static bool keep_back(struct qs_session *s, const struct qs_msg_run_seq *m, struct qs_err *err)
{
    size_t i = 0;
    while (i < s->ack_count && !qs_uid_equal(&s->acks[i].run, &m->run))
        i++;
    if (i == QS_SESSION_ACKS)
        return qs_fail(err, QS_E_LIMIT, "%s: %zu acknowledgements wait for the window's end", s->name,
                       s->ack_count);
    s->acks[i] = *m;
    if (i == s->ack_count)
        s->ack_count++;
    return true;
}

static void acknowledged(struct qs_session *s, const struct qs_msg_run_seq *m)
{
    struct qs_held *held = qs_session_recall(s, &m->run);
    if (held && m->seq > held->first_seq)
        held->first_seq = m->seq < held->next_seq ? m->seq : held->next_seq;
}

bool qs_session_ack(struct qs_session *s, const struct qs_uid *run, uint64_t next_seq, struct qs_err *err)
{
    if (!qs_session_may(s, QS_SESSION_EV_ACK, err))
        return false;
    struct qs_msg_run_seq m = {.run = *run, .seq = next_seq};
    bool silent = s->state == QS_SESSION_QUIET;
    if (!(silent ? keep_back(s, &m, err) : qs_session_send(s, QS_MSG_ACK, &m, err)))
        return false;
    acknowledged(s, &m);
    qs_session_fire(s, QS_SESSION_EV_ACK, NULL);
    return true;
}

bool qs_session_has(const struct qs_session *s, uint32_t feature)
{
    return qs_session_is_ready(s) && (s->agreed.features & feature) != 0;
}

bool qs_session_can_tune(const struct qs_session *s, struct qs_session_place *ret)
{
    *ret = (struct qs_session_place){
        .software = s->software, .clock = s->clock_name, .operating_json = s->operating_json};
    return s->operating_json && qs_session_has(s, QS_FEATURE_EVALS);
}

bool qs_session_cancel(struct qs_session *s, const struct qs_uid *run, const char *why, struct qs_err *err)
{
    if (!qs_session_may(s, QS_SESSION_EV_CANCEL, err))
        return false;
    if (!qs_session_send(s, QS_MSG_CANCEL, &(struct qs_msg_run_why){.run = *run, .why = qs_text_of(why)},
                         err))
        return false;
    s->run.cancelled = true;
    s->run.since_ns = qs_loop_now_ns(s->loop);
    qs_session_fire(s, QS_SESSION_EV_CANCEL, NULL);
    if (s->state == QS_SESSION_WAITING || s->state == QS_SESSION_ARMED)
        qs_session_arm_deadline(s); /* the wait must end now */
    return true;
}
