/* Heartbeats and the mapping of clocks: one PING is out at a time, whatever it is for. */
#include "device/session/impl.h"

bool qs_session_ping(struct qs_session *s)
{
    struct qs_session_clock *c = &s->clock;
    c->asked = true;
    c->id++;
    c->sent_ns = qs_loop_now_ns(s->loop);
    return qs_session_send(s, QS_MSG_PING, &(struct qs_msg_ping){.id = c->id, .t_send_ns = c->sent_ns},
                           &s->why);
}

/* A PING that is out already is the first of the burst. A failed send is told by the link. */
void qs_session_burst(struct qs_session *s, unsigned round_trips)
{
    struct qs_session_clock *c = &s->clock;
    c->bursting = true;
    c->has_best = false;
    c->left = round_trips - 1;
    c->burst_ns = qs_loop_now_ns(s->loop);
    if (!c->asked)
        qs_session_ping(s);
}

void qs_session_burst_if_due(struct qs_session *s)
{
    if (!s->clock.bursting && qs_loop_now_ns(s->loop) - s->clock.burst_ns >= QS_SESSION_CLOCK_EACH_NS)
        qs_session_burst(s, QS_SESSION_BURST);
}

bool qs_session_do_pong(struct qs_session *s, const union qs_msg *m)
{
    int64_t now = qs_loop_now_ns(s->loop);
    struct qs_msg_pong pong = {
        .id = m->ping.id, .t_send_ns = m->ping.t_send_ns, .t_recv_ns = now, .t_reply_ns = now};
    return qs_session_send(s, QS_MSG_PONG, &pong, &s->why);
}

/* Clock filter of NTP (RFC 5905, 8 and 10): the middles of both sides' spans belong together, with an error
 * of at most half the round trip; the least round trip of a burst is kept. */
static void take_sample(struct qs_session *s, const struct qs_msg_pong *pong, int64_t now)
{
    struct qs_session_clock *c = &s->clock;
    int64_t span = now - c->sent_ns;
    int64_t held = 0;
    if (__builtin_sub_overflow(pong->t_reply_ns, pong->t_recv_ns, &held) || held < 0 || held > span)
        return;
    if (c->has_best && span - held >= c->rtt_ns)
        return;
    c->has_best = true;
    c->rtt_ns = span - held;
    c->host_ns = c->sent_ns + span / 2;
    c->device_ns = pong->t_recv_ns + held / 2;
}

static bool end_burst(struct qs_session *s)
{
    struct qs_session_clock *c = &s->clock;
    c->bursting = false;
    if (!c->has_best && s->state == QS_SESSION_SYNC_CLOCK)
        return qs_session_broken(s, QS_E_PROTOCOL, "%s: the agent's clock runs backwards or faster than ours",
                                 s->name);
    uint32_t generation = s->generation;
    if (c->has_best && s->events.on_clock)
        s->events.on_clock(c->host_ns, c->device_ns, c->rtt_ns, s->events.user);
    if (s->generation == generation && s->state == QS_SESSION_SYNC_CLOCK)
        qs_session_fire(s, QS_SESSION_EV_CLOCKED, NULL);
    return true;
}

bool qs_session_do_clock(struct qs_session *s, const union qs_msg *m)
{
    struct qs_session_clock *c = &s->clock;
    if (!c->asked || m->pong.id != c->id || m->pong.t_send_ns != c->sent_ns)
        return qs_session_broken(s, QS_E_PROTOCOL, "%s: a PONG without a PING", s->name);
    c->asked = false;
    if (!c->bursting)
        return true;
    take_sample(s, &m->pong, qs_loop_now_ns(s->loop));
    if (c->left == 0)
        return end_burst(s);
    c->left--;
    return qs_session_ping(s);
}

/* The window wants to begin: what is left of the burst is dropped. */
bool qs_session_do_clock_then_ask(struct qs_session *s, const union qs_msg *m)
{
    s->clock.left = 0;
    uint32_t generation = s->generation;
    if (!qs_session_do_clock(s, m))
        return false;
    return s->generation != generation || s->state != QS_SESSION_ARMED || qs_session_do_ask(s, NULL);
}
