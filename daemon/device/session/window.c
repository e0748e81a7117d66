/* What the agent tells of runs and windows: the way to silence, the window's end, its iterations. */
#include <assert.h>
#include <string.h>

#include "device/session/impl.h"
#include "proto/names.h"

#define ARM_EACH_NS INT64_C(10000000)

/* ---- runs that the agent keeps iterations of ---- */

struct qs_held *qs_session_recall(struct qs_session *s, const struct qs_uid *run)
{
    for (size_t i = 0; i < s->held_count; i++) {
        if (qs_uid_equal(&s->held[i].run, run))
            return &s->held[i];
    }
    return NULL;
}

static void forget(struct qs_session *s, size_t i)
{
    assert(i < s->held_count && s->held_count <= QS_HELD_MAX);
    s->held_count--;
    memmove(&s->held[i], &s->held[i + 1], (s->held_count - i) * sizeof s->held[0]);
}

void qs_session_remember(struct qs_session *s, const struct qs_uid *run, uint64_t first, uint64_t next)
{
    struct qs_held *known = qs_session_recall(s, run);
    if (known) {
        known->next_seq = next > known->next_seq ? next : known->next_seq;
        return;
    }
    size_t drop = 0;
    for (size_t i = 0; i < s->held_count; i++) {
        if (s->held[i].first_seq == s->held[i].next_seq) { /* all acknowledged */
            drop = i;
            break;
        }
    }
    if (s->held_count == QS_HELD_MAX)
        forget(s, drop);
    s->held[s->held_count++] = (struct qs_held){.run = *run, .first_seq = first, .next_seq = next};
}

/* ---- errors ---- */

static enum qs_errc code_of(const struct qs_msg_error *m)
{
    switch (m->blame) {
    case QS_WIRE_BLAME_OPERATOR:
        return QS_E_COMMAND;
    case QS_WIRE_BLAME_DEVICE:
        return QS_E_AGENT;
    case QS_WIRE_BLAME_HOST:
    case QS_WIRE_BLAME_QUIESCE:
        return QS_E_INTERNAL;
    }
    return QS_E_AGENT;
}

void qs_session_said(const struct qs_session *s, const struct qs_msg_error *m, struct qs_err *ret)
{
    QS_BUF(text);
    qs_session_agent_text(m->text, &text);
    qs_fail(ret, code_of(m), "%s: %s (%s)", s->name, text.data, qs_wire_code_name(m->code));
}

bool qs_session_do_error(struct qs_session *s, const union qs_msg *m)
{
    struct qs_err err = QS_ERR_INIT;
    qs_session_said(s, &m->error, &err);
    if (qs_uid_is_zero(&m->error.run)) /* of the session: what was under way there is over */
        return qs_session_broken(s, m->error.code == QS_CODE_PROTOCOL ? QS_E_LINK : QS_E_AGENT, "%s",
                                 err.text);
    if (qs_uid_equal(&m->error.run, &s->run.uid) && s->run.to.on_error)
        s->run.to.on_error(&err, s->run.to.user);
    else if (++s->complaints > QS_SESSION_COMPLAINTS)
        return qs_session_broken(
            s, QS_E_PROTOCOL,
            "%s: the agent has sent %u errors about runs that are not open; the last: %.300s", s->name,
            s->complaints, err.text);
    else if (s->events.on_error)
        s->events.on_error(&m->error.run, &err, s->events.user);
    return true;
}

/* ---- the way to silence ---- */

/* Since OPEN, more often than once in so long. What the link has kept back comes at once. */
static bool comes_too_often(const struct qs_session *s, uint64_t times, int64_t each_ns)
{
    enum { SPARE = 2 };
    return times > SPARE + (uint64_t)((qs_loop_now_ns(s->loop) - s->run.opened_ns) / each_ns);
}

bool qs_session_do_waiting(struct qs_session *s, const union qs_msg *m)
{
    if (m->waiting.expectation >= s->run.expectations)
        return qs_session_broken(s, QS_E_PROTOCOL, "%s: expectation %u of a gate with %u is not met", s->name,
                                 (unsigned)m->waiting.expectation, (unsigned)s->run.expectations);
    const int64_t second_ns = 990000000; /* clocks differ */
    s->run.waitings++;
    if (comes_too_often(s, s->run.waitings, second_ns))
        return qs_session_broken(
            s, QS_E_PROTOCOL,
            "%s: the agent said %llu times within %.1f s what it waits for: once a second is allowed",
            s->name, (unsigned long long)s->run.waitings,
            (double)(qs_loop_now_ns(s->loop) - s->run.opened_ns) / 1e9);
    if (s->run.to.on_waiting)
        s->run.to.on_waiting(&m->waiting, s->run.to.user);
    return true;
}

/* ARM, or (m NULL) what stood in the way of an answer is gone.
 * An answer to a heartbeat that is on its way would arrive in the window: it is awaited. After CANCEL nothing
 * is answered: the agent will close the window. */
bool qs_session_do_ask(struct qs_session *s, const union qs_msg *m)
{
    const char *why = "nobody wants this window";
    if (m && m->window.arming != s->run.armings)
        return qs_session_broken(s, QS_E_PROTOCOL, "%s: ARM %u came, %u is next", s->name,
                                 (unsigned)m->window.arming, (unsigned)s->run.armings);
    if (m)
        s->run.arming = s->run.armings++;
    if (m && comes_too_often(s, s->run.armings, ARM_EACH_NS))
        return qs_session_broken(
            s, QS_E_PROTOCOL,
            "%s: the agent was ready for the window %u times within %.3f s: once in 10 ms "
            "is allowed",
            s->name, (unsigned)s->run.armings, (double)(qs_loop_now_ns(s->loop) - s->run.opened_ns) / 1e9);
    if (s->clock.asked || s->run.cancelled)
        return true;
    uint32_t generation = s->generation;
    bool granted = s->run.to.may_quiet && s->run.to.may_quiet(&why, s->run.to.user);
    if (s->generation != generation || s->state != QS_SESSION_ARMED || s->run.cancelled)
        return true; /* the owner changed its mind inside */
    union qs_msg answer;
    answer.window_why = (struct qs_msg_window_why){.why = qs_text_of(why)};
    qs_session_fire(s, granted ? QS_SESSION_EV_GRANTED : QS_SESSION_EV_DENIED, &answer);
    return true;
}

bool qs_session_do_hold(struct qs_session *s, const union qs_msg *m)
{
    struct qs_msg_window_why hold = {
        .run = s->run.uid, .window = s->run.window, .arming = s->run.arming, .why = m->window_why.why};
    s->run.since_ns = qs_loop_now_ns(s->loop); /* this wait is for us */
    qs_session_arm_deadline(s);
    return qs_session_send(s, QS_MSG_HOLD, &hold, &s->why);
}

/* The agent waits the lead out before its deciding reading. The segment that acknowledges QUIET falls into
 * the lead, so the segments are read in the middle of it; later than the lead they prove nothing. */
static void on_mark(void *user)
{
    struct qs_session *s = user;
    s->mark = NULL;
    qs_link_counters(s->link, &s->silence.mark);
    s->silence.mark_ok = !s->silence.heard && s->silence.mark.has_segments &&
                         qs_loop_now_ns(s->loop) - s->silence.quiet_ns < s->run.lead_ns;
}

bool qs_session_do_quiet(struct qs_session *s, const union qs_msg *m)
{
    (void)m;
    struct qs_msg_window quiet = {.run = s->run.uid, .window = s->run.window, .arming = s->run.arming};
    struct qs_link_counters now;
    if (!qs_session_send(s, QS_MSG_QUIET, &quiet, &s->why))
        return false;
    qs_link_counters(s->link, &now);
    s->silence = (struct qs_session_silence){.on = true, .quiet_ns = qs_loop_now_ns(s->loop), .begin = now};
    qs_timer_stop(s->beat);
    s->beat = NULL;
    qs_timer_stop(s->mark);
    s->mark = now.has_segments ? qs_timer_start(s->loop, s->run.lead_ns / 2, on_mark, s) : NULL;
    if (s->run.to.on_quiet)
        s->run.to.on_quiet(s->run.to.user);
    return true;
}

/* The link may speak again: heartbeats, and what was kept back. */
static bool end_silence(struct qs_session *s)
{
    if (!s->silence.on)
        return true;
    s->silence.on = false;
    qs_timer_stop(s->mark);
    s->mark = NULL;
    qs_session_arm_beat(s);
    for (size_t i = 0; i < s->ack_count; i++) {
        if (!qs_session_send(s, QS_MSG_ACK, &s->acks[i], &s->why))
            return false;
    }
    s->ack_count = 0;
    return true;
}

bool qs_session_do_disarm(struct qs_session *s, const union qs_msg *m)
{
    if (s->run.armings == 0 || m->window_why.arming != s->run.arming)
        return qs_session_broken(s, QS_E_PROTOCOL, "%s: DISARM takes back ARM %u, the last was %u", s->name,
                                 (unsigned)m->window_why.arming, (unsigned)s->run.arming);
    if (++s->run.disarms > s->run.armings)
        return qs_session_broken(s, QS_E_PROTOCOL, "%s: DISARM came %u times, ARM %u times", s->name,
                                 (unsigned)s->run.disarms, (unsigned)s->run.armings);
    if (qs_session_is_over(s)) /* before the next ARM, which may be there already */
        return qs_session_do_give_up(s, NULL);
    if (!end_silence(s))
        return false;
    QS_BUF(why);
    qs_session_agent_text(m->window_why.why, &why);
    if (s->run.to.on_disarm)
        s->run.to.on_disarm(why.data, s->run.to.user);
    return true;
}

bool qs_session_do_noise(struct qs_session *s, const union qs_msg *m)
{
    (void)m;
    s->silence.noise++;
    return true;
}

bool qs_session_do_noisy_error(struct qs_session *s, const union qs_msg *m)
{
    s->silence.noise++;
    return qs_session_do_error(s, m);
}

/* ---- the window's end ---- */

/* By our own socket: nothing was written after QUIET, and what came first was CLOSED. */
static bool was_silent(const struct qs_session *s)
{
    const struct qs_session_silence *q = &s->silence;
    return q->noise == 0 && q->heard && q->end.bytes_out == q->begin.bytes_out &&
           q->end.bytes_in == q->begin.bytes_in;
}

/* By the segments, or USB's transfers, from the mark to CLOSED: all that came carried its bytes, and all that
 * went acknowledged them. */
static bool is_proven(const struct qs_session *s)
{
    const struct qs_link_counters *a = &s->silence.mark;
    const struct qs_link_counters *b = &s->silence.end;
    if (!s->silence.mark_ok || !b->has_segments)
        return false;
    uint64_t data_in = b->data_segments_in - a->data_segments_in;
    uint64_t acknowledged = b->are_transfers ? 0 : data_in;
    return data_in >= 1 && b->segments_in - a->segments_in == data_in &&
           b->data_segments_out == a->data_segments_out && b->segments_out - a->segments_out <= acknowledged;
}

/* Taints of iterations name some that are there. */
static bool check_taints(struct qs_session *s, const struct qs_msg_closed *m)
{
    struct qs_iter it = qs_list_iter(&m->taints);
    struct qs_taint taint;
    while (qs_list_taint(&it, &taint)) {
        if (taint.iteration < -1 || taint.iteration >= (int64_t)m->iterations)
            return qs_session_broken(s, QS_E_PROTOCOL, "%s: a taint of iteration %d in a window of %u",
                                     s->name, (int)taint.iteration, (unsigned)m->iterations);
    }
    return true;
}

static bool check_closed(struct qs_session *s, const struct qs_msg_closed *m)
{
    uint32_t evals = m->evals > 0 ? m->evals : 1, asked = s->run.evals > 0 ? s->run.evals : 1;
    if (m->iterations > s->run.asked)
        return qs_session_broken(s, QS_E_PROTOCOL, "%s: %u iterations were asked for, the window has %u",
                                 s->name, (unsigned)s->run.asked, (unsigned)m->iterations);
    if (m->phase != s->run.phase)
        return qs_session_broken(s, QS_E_PROTOCOL, "%s: the window closed in another phase", s->name);
    if (evals != asked)
        return qs_session_broken(s, QS_E_PROTOCOL, "%s: %u evaluations were asked for, the window has %u",
                                 s->name, (unsigned)asked, (unsigned)evals);
    return check_taints(s, m);
}

static struct qs_session_quiet what_was_counted(const struct qs_session *s)
{
    const struct qs_session_silence *q = &s->silence;
    struct qs_session_quiet ret = {.silent = q->on && was_silent(s), .from = q->begin, .to = q->end};
    ret.proven = ret.silent && is_proven(s);
    ret.frames = q->noise;
    ret.counted = q->on && q->heard;
    ret.from.has_segments = q->mark_ok;
    ret.from.are_transfers = q->mark.are_transfers;
    ret.from.segments_in = q->mark.segments_in;
    ret.from.segments_out = q->mark.segments_out;
    ret.from.data_segments_in = q->mark.data_segments_in;
    ret.from.data_segments_out = q->mark.data_segments_out;
    return ret;
}

static void expect_document(struct qs_session *s, const struct qs_msg_closed *m)
{
    s->document = (struct qs_session_document){.run = m->run, .window = m->window};
}

bool qs_session_do_closed(struct qs_session *s, const union qs_msg *m)
{
    expect_document(s, &m->closed);
    struct qs_session_quiet quiet = what_was_counted(s);
    if (!check_closed(s, &m->closed) || !end_silence(s))
        return false;
    s->run.rows_due = m->closed.iterations;
    s->run.rows_come = 0;
    if (s->state == QS_SESSION_RUN_OPEN)
        qs_session_burst_if_due(s);
    if (s->run.to.on_closed)
        s->run.to.on_closed(&m->closed, &quiet, s->run.to.user);
    return true;
}

/* A window of an earlier connection: nobody counted its silence. */
bool qs_session_do_closed_again(struct qs_session *s, const union qs_msg *m)
{
    struct qs_session_again *again = &s->again;
    if (again->known && again->come < again->due)
        return qs_session_broken(s, QS_E_PROTOCOL, "%s: window %u came again with %u of %u iterations",
                                 s->name, (unsigned)again->window, (unsigned)again->come,
                                 (unsigned)again->due);
    *again = (struct qs_session_again){
        .known = true, .window = m->closed.window, .due = m->closed.iterations, .to = again->to};
    if (!check_taints(s, &m->closed))
        return false;
    expect_document(s, &m->closed);
    if (again->to.on_closed)
        again->to.on_closed(&m->closed, NULL, again->to.user);
    return true;
}

/* ---- documents ---- */

static bool continues(const struct qs_session_document *d, const struct qs_msg_document *m)
{
    return m->offset == d->come_bytes && (!d->begun || d->come_bytes < d->kept_bytes) &&
           (!d->begun ||
            (m->status == d->status && m->total_bytes == d->total_bytes && m->kept_bytes == d->kept_bytes));
}

bool qs_session_do_document(struct qs_session *s, const union qs_msg *m)
{
    struct qs_session_document *d = &s->document;
    bool ours = qs_uid_equal(&m->document.run, &d->run) && m->document.window == d->window;
    bool live = s->state == QS_SESSION_COLLECTING;
    if (!ours || (live && (!s->run.streams || s->run.rows_come > 0)))
        return qs_session_broken(s, QS_E_PROTOCOL, "%s: a document of another run, window or mode", s->name);
    if (!continues(d, &m->document))
        return qs_session_broken(s, QS_E_PROTOCOL, "%s: byte %u of a document came, %u of %u is next",
                                 s->name, (unsigned)m->document.offset, (unsigned)d->come_bytes,
                                 (unsigned)d->kept_bytes);
    d->begun = true;
    d->status = m->document.status;
    d->total_bytes = m->document.total_bytes;
    d->kept_bytes = m->document.kept_bytes;
    d->come_bytes += m->document.bytes.n;
    qs_session_arm_deadline(s);
    const struct qs_run_events *to = live ? &s->run.to : &s->again.to;
    if (to->on_document)
        to->on_document(&m->document, to->user);
    return true;
}

/* All of it comes before the rows. */
static bool document_is_whole(struct qs_session *s, bool due)
{
    const struct qs_session_document *d = &s->document;
    return (d->begun ? d->come_bytes == d->kept_bytes : !due) ||
           qs_session_broken(s, QS_E_PROTOCOL, "%s: iterations came before their document", s->name);
}

/* ---- iterations ---- */

static bool count_window_rows(struct qs_session *s, const struct qs_msg_iterations *m)
{
    struct qs_session_run *run = &s->run;
    if (!qs_uid_equal(&m->run, &run->uid) || m->window != run->window)
        return qs_session_broken(s, QS_E_PROTOCOL, "%s: iterations of another run or window", s->name);
    if (m->first_seq != run->next_seq || m->first_index != run->rows_come)
        return qs_session_broken(s, QS_E_PROTOCOL,
                                 "%s: iteration %llu (number %u of the window) came, %llu (%u) is next",
                                 s->name, (unsigned long long)m->first_seq, (unsigned)m->first_index,
                                 (unsigned long long)run->next_seq, (unsigned)run->rows_come);
    if (m->rows.count == 0 || m->rows.count > run->rows_due - run->rows_come)
        return qs_session_broken(s, QS_E_PROTOCOL, "%s: %u iterations came, %u are due", s->name,
                                 (unsigned)m->rows.count, (unsigned)(run->rows_due - run->rows_come));
    run->rows_come += m->rows.count;
    run->next_seq += m->rows.count;
    qs_session_remember(s, &run->uid, m->first_seq, run->next_seq);
    return true;
}

/* Whole windows come again, each behind its CLOSED: the first may begin below what was asked for, but nothing
 * may be missing. */
static bool count_resent_rows(struct qs_session *s, const struct qs_msg_iterations *m)
{
    struct qs_held *due = &s->resend;
    struct qs_session_again *again = &s->again;
    uint64_t end = m->first_seq + m->rows.count;
    bool ours = qs_uid_equal(&m->run, &due->run) && m->first_seq <= due->first_seq && end <= due->next_seq;
    bool next = again->known && m->window == again->window && m->first_index == again->come &&
                (again->come == 0 || m->first_seq == again->first_seq + again->come);
    bool fits = m->rows.count > 0 && m->rows.count <= again->due - again->come;
    if (!ours || !next || !fits)
        return qs_session_broken(s, QS_E_PROTOCOL, "%s: not the iterations that were asked for again",
                                 s->name);
    again->first_seq = again->come == 0 ? m->first_seq : again->first_seq;
    again->come += m->rows.count;
    if (end == due->next_seq && again->come < again->due)
        return qs_session_broken(s, QS_E_PROTOCOL, "%s: the last window that came again lacks iterations",
                                 s->name);
    due->first_seq = end > due->first_seq ? end : due->first_seq;
    return true;
}

/* All rows of a window have the metrics of its first ones: the window is stored with one list. */
static bool has_same_metrics(struct qs_session *s, const struct qs_msg_iterations *m)
{
    struct qs_session_metrics come = {.count = 0};
    struct qs_iter it = qs_list_iter(&m->metrics);
    while (come.count < QS_METRICS_MAX && qs_list_u16(&it, &come.ids[come.count]))
        come.count++;
    if (m->first_index == 0)
        s->metrics = come;
    if (come.count == s->metrics.count &&
        memcmp(come.ids, s->metrics.ids, come.count * sizeof *come.ids) == 0)
        return true;
    return qs_session_broken(s, QS_E_PROTOCOL, "%s: the metrics changed within the window, at number %u",
                             s->name, (unsigned)m->first_index);
}

/* The state has moved: a count that is not over yet, or one of the two that were left, tells which rows these
 * are. */
bool qs_session_do_rows(struct qs_session *s, const union qs_msg *m)
{
    bool resent = s->resend.first_seq < s->resend.next_seq;
    if (!document_is_whole(s, !resent && s->run.streams) ||
        !(resent ? count_resent_rows(s, &m->iterations) : count_window_rows(s, &m->iterations)) ||
        !has_same_metrics(s, &m->iterations))
        return false;
    qs_session_arm_deadline(s);
    if (s->state == QS_SESSION_RUN_OPEN && !s->call.row)
        qs_session_burst_if_due(s);
    const struct qs_run_events *to = resent ? &s->again.to : &s->run.to;
    if (to->on_iterations)
        to->on_iterations(&m->iterations, to->user);
    return true;
}
