/* What the owner asks for: checked against the table, sent, then moved. Nothing is called back from here. */
#include "device/session_impl.h"

bool qs_session_may(struct qs_session *s, enum qs_session_event event, struct qs_err *err)
{
    if (!qs_session_is_ready(s))
        return qs_fail(err, QS_E_LINK, "%s is not connected (%s)", s->name, qs_session_state_name(s));
    if (!qs_session_allows(s, event))
        return qs_fail(err, QS_E_CONFLICT, "%s: no %s in state %s", s->name, qs_session_name_of_event(event),
                       qs_session_state_name(s));
    return true;
}

static bool is_open_run(const struct qs_session *s, const struct qs_uid *run, struct qs_err *err)
{
    return qs_uid_equal(run, &s->run.uid) || qs_fail(err, QS_E_CONFLICT, "%s: another run is open", s->name);
}

/* What the run needs and an old agent lacks. */
static bool has_what_it_takes(const struct qs_session *s, const struct qs_msg_run_begin *m,
                              struct qs_err *err)
{
    const struct {
        bool wanted;
        uint32_t feature;
        const char *what;
    } rows[] = {
        {m->mode == QS_RUN_HARNESS, QS_FEATURE_HARNESS, "has no harness mode"},
        {m->mode == QS_RUN_STREAM, QS_FEATURE_STREAM, "has no stream mode"},
        {m->output_kind == QS_OUTPUT_KIND_FILE, QS_FEATURE_OUTPUT_FILE, "writes no output to a file"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].wanted && (s->agreed.features & rows[i].feature) == 0)
            return qs_fail(err, QS_E_AGENT, "%s: the agent (%s) %s: it is too old", s->name, s->software,
                           rows[i].what);
    return true;
}

bool qs_session_run_begin(struct qs_session *s, const struct qs_msg_run_begin *m, struct qs_err *err)
{
    if (!qs_session_may(s, QS_SESSION_EV_RUN_BEGIN, err) || !has_what_it_takes(s, m, err))
        return false;
    if (!qs_session_send(s, QS_MSG_RUN_BEGIN, m, err))
        return false;
    s->run = (struct qs_session_run){.uid = m->run,
                                     .step_limit_ns = m->mode == QS_RUN_HARNESS ? m->hook_limit_ns : 0,
                                     .streams = m->mode == QS_RUN_STREAM};
    qs_session_fire(s, QS_SESSION_EV_RUN_BEGIN, NULL);
    return true;
}

bool qs_session_hook(struct qs_session *s, const struct qs_msg_hook *m, struct qs_err *err)
{
    if (!qs_session_may(s, QS_SESSION_EV_HOOK, err))
        return false;
    if (!qs_session_send(s, QS_MSG_HOOK, m, err))
        return false;
    s->run.hook_id = m->id;
    s->run.hook_limit_ns = m->limit_ns;
    qs_session_fire(s, QS_SESSION_EV_HOOK, NULL);
    return true;
}

static bool check_open(struct qs_session *s, const struct qs_msg_open *m, struct qs_err *err)
{
    if (!is_open_run(s, &m->run, err))
        return false;
    if (m->first_seq != s->run.next_seq)
        return qs_fail(err, QS_E_CONFLICT,
                       "%s: the window begins at iteration %llu, the run continues at %llu", s->name,
                       (unsigned long long)m->first_seq, (unsigned long long)s->run.next_seq);
    if (m->iterations > s->max_iterations)
        return qs_fail(err, QS_E_LIMIT, "%s: the agent takes at most %u iterations a window, not %u", s->name,
                       (unsigned)s->max_iterations, (unsigned)m->iterations);
    if (m->phase == QS_PHASE_TRACED && !qs_session_can_trace(s))
        return qs_fail(err, QS_E_LIMIT, "%s: the agent knows no traced windows", s->name);
    if (m->lease_ns - m->quiet_lead_ns <= m->max_ns)
        return qs_fail(err, QS_E_LIMIT, "%s: the lease must outlast the lead and the window", s->name);
    return true;
}

bool qs_session_open(struct qs_session *s, const struct qs_msg_open *m, struct qs_err *err)
{
    if (!qs_session_may(s, QS_SESSION_EV_OPEN, err) || !check_open(s, m, err))
        return false;
    if (!qs_session_send(s, QS_MSG_OPEN, m, err))
        return false;
    s->run.window = m->window;
    s->run.phase = m->phase;
    s->run.asked = m->iterations;
    s->run.lead_ns = m->quiet_lead_ns;
    s->run.lease_ns = m->lease_ns;
    s->run.rows_due = s->run.rows_come = 0;
    s->run.armings = 0;
    s->run.evals = m->evals;
    s->run.expectations = m->gate.count;
    s->run.waitings = 0;
    s->run.opened_ns = qs_loop_now_ns(s->loop);
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

bool qs_session_resend(struct qs_session *s, const struct qs_uid *run, uint64_t from_seq, struct qs_err *err)
{
    if (!qs_session_may(s, QS_SESSION_EV_RESEND, err))
        return false;
    const struct qs_held *held = qs_session_recall(s, run);
    if (!held)
        return qs_fail(err, QS_E_NOT_FOUND, "%s: the agent keeps no iterations of this run", s->name);
    if (from_seq < held->first_seq || from_seq >= held->next_seq)
        return qs_fail(err, QS_E_CONFLICT,
                       "%s: the agent keeps iterations %llu to %llu of this run, not %llu", s->name,
                       (unsigned long long)held->first_seq, (unsigned long long)held->next_seq,
                       (unsigned long long)from_seq);
    struct qs_msg_run_seq m = {.run = *run, .seq = from_seq};
    if (!qs_session_send(s, QS_MSG_RESEND, &m, err))
        return false;
    s->resend = (struct qs_held){.run = *run, .first_seq = from_seq, .next_seq = held->next_seq};
    s->again.known = false;
    qs_session_fire(s, QS_SESSION_EV_RESEND, NULL);
    return true;
}

bool qs_session_can_pull(const struct qs_session *s)
{
    return qs_session_is_ready(s) && (s->agreed.features & QS_FEATURE_PULL) != 0;
}

bool qs_session_can_tune(const struct qs_session *s, struct qs_session_place *ret)
{
    *ret = (struct qs_session_place){
        .software = s->software, .clock = s->clock_name, .operating_json = s->operating_json};
    return qs_session_is_ready(s) && s->operating_json && (s->agreed.features & QS_FEATURE_EVALS) != 0;
}

bool qs_session_can_part(const struct qs_session *s)
{
    return qs_session_is_ready(s) && (s->agreed.features & QS_FEATURE_APART) != 0;
}

bool qs_session_pull(struct qs_session *s, const struct qs_msg_pull *m, struct qs_err *err)
{
    if (!qs_session_may(s, QS_SESSION_EV_PULL, err) || !is_open_run(s, &m->run, err))
        return false;
    if (!qs_session_can_pull(s))
        return qs_fail(err, QS_E_LIMIT, "%s: this agent fetches no files", s->name);
    if (!qs_session_send(s, QS_MSG_PULL, m, err))
        return false;
    s->run.pull_id = m->id;
    s->run.pull_offset = m->offset;
    s->run.pull_max_bytes = m->max_bytes;
    qs_session_fire(s, QS_SESSION_EV_PULL, NULL);
    return true;
}

bool qs_session_can_trace(const struct qs_session *s)
{
    return qs_session_is_ready(s) && (s->agreed.features & QS_FEATURE_TRACE) != 0;
}

bool qs_session_trace(struct qs_session *s, const struct qs_msg_trace *m, struct qs_err *err)
{
    if (!qs_session_may(s, QS_SESSION_EV_TRACE, err) || !is_open_run(s, &m->run, err))
        return false;
    if (!qs_session_can_trace(s))
        return qs_fail(err, QS_E_LIMIT, "%s: the agent (%s) starts no tracers: it is too old", s->name,
                       s->software);
    if (!qs_session_send(s, QS_MSG_TRACE, m, err))
        return false;
    s->run.trace_id = m->id;
    s->run.trace_limit_ns = m->settle_ns;
    s->run.trace_stop_ns = m->stop_ns;
    qs_session_fire(s, QS_SESSION_EV_TRACE, NULL);
    return true;
}

bool qs_session_trace_stop(struct qs_session *s, const struct qs_uid *run, struct qs_err *err)
{
    if (!qs_session_may(s, QS_SESSION_EV_TRACE_STOP, err) || !is_open_run(s, run, err))
        return false;
    const struct qs_msg_trace_stop m = {.run = *run, .id = s->run.trace_id};
    if (!qs_session_send(s, QS_MSG_TRACE_STOP, &m, err))
        return false;
    s->run.trace_limit_ns = s->run.trace_stop_ns;
    qs_session_fire(s, QS_SESSION_EV_TRACE_STOP, NULL);
    return true;
}

bool qs_session_run_end(struct qs_session *s, const struct qs_uid *run, struct qs_err *err)
{
    if (!qs_session_may(s, QS_SESSION_EV_RUN_END, err) || !is_open_run(s, run, err))
        return false;
    if (!qs_session_send(s, QS_MSG_RUN_END, &(struct qs_msg_run){.run = *run}, err))
        return false;
    qs_session_fire(s, QS_SESSION_EV_RUN_END, NULL);
    return true;
}

bool qs_session_cancel(struct qs_session *s, const struct qs_uid *run, const char *why, struct qs_err *err)
{
    if (!qs_session_may(s, QS_SESSION_EV_CANCEL, err))
        return false;
    if (!qs_session_send(s, QS_MSG_CANCEL, &(struct qs_msg_run_why){.run = *run, .why = qs_text_of(why)},
                         err))
        return false;
    s->run.cancelled = true;
    qs_session_fire(s, QS_SESSION_EV_CANCEL, NULL);
    if (s->state == QS_SESSION_WAITING || s->state == QS_SESSION_ARMED)
        qs_session_arm_deadline(s); /* the wait must end now */
    return true;
}
