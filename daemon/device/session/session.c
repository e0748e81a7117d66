/* The life of a session: connections, deadlines, heartbeats, and frames on their way to the table. */
#include "device/session/session.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "device/session/impl.h"

/* ---- entering and leaving callbacks: the owner may free the session inside any of them ---- */

static void destroy(struct qs_session *s)
{
    qs_link_free(s->link);
    free(s->facts_json);
    free(s->operating_json);
    free(s->name);
    free(s);
}

static void leave(struct qs_session *s)
{
    if (--s->depth == 0 && s->dead)
        destroy(s);
}

static void fire(struct qs_session *s, enum qs_session_event event)
{
    s->depth++;
    qs_session_fire(s, event, NULL);
    leave(s);
}

bool qs_session_broken(struct qs_session *s, enum qs_errc code, const char *fmt, ...)
{
    char text[QS_ERR_TEXT_BYTES];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    return qs_fail(&s->why, code, "%s", text);
}

void qs_session_agent_text(struct qs_text t, struct qs_buf *out)
{
    if (t.n > 0)
        qs_text_escape(out, t.p, t.n);
}

/* ---- deadlines ---- */

static void on_deadline(void *user)
{
    struct qs_session *s = user;
    s->deadline = NULL;
    fire(s, s->state == QS_SESSION_BACKOFF ? QS_SESSION_EV_RETRY : QS_SESSION_EV_DEADLINE);
}

static void on_lost_later(void *user)
{
    struct qs_session *s = user;
    s->deadline = NULL;
    fire(s, QS_SESSION_EV_LOST);
}

/* 100 ms, doubled with each failure up to 5 s, then 0.5 to 1 of it: a farm that comes back does not knock at
 * once. */
static int64_t backoff_ns(struct qs_session *s)
{
    int64_t base = QS_SESSION_BACKOFF_NS << (s->failures < 6 ? s->failures : 6);
    if (base > QS_SESSION_BACKOFF_MAX)
        base = QS_SESSION_BACKOFF_MAX;
    uint32_t draw = 0;
    qs_loop_random(s->loop, &draw, sizeof draw);
    return base / 2 + (int64_t)((uint64_t)base / 2 * draw >> 32);
}

/* How long the present state may last; 0: as long as it likes. */
static int64_t limit_ns(struct qs_session *s)
{
    switch (s->state) {
    case QS_SESSION_BACKOFF:
        return backoff_ns(s);
    case QS_SESSION_CONNECTING:
        return s->traits->opening_ns > 0 ? s->traits->opening_ns : QS_SESSION_HANDSHAKE_NS;
    case QS_SESSION_HELLO:
    case QS_SESSION_AUTH:
    case QS_SESSION_SYNC_HELD:
    case QS_SESSION_SYNC_FACTS:
    case QS_SESSION_SYNC_CLOCK:
        return QS_SESSION_HANDSHAKE_NS;
    case QS_SESSION_COLLECTING:
        return QS_SESSION_REPLY_NS;
    case QS_SESSION_WAITING:
        return s->run.cancelled ? QS_SESSION_REPLY_NS : s->run.gate_ns;
    case QS_SESSION_ARMED:
        return s->run.cancelled ? QS_SESSION_REPLY_NS : QS_HEARTBEAT_LOST_AFTER * s->heartbeat_ns;
    case QS_SESSION_QUIET:
        return s->run.lease_ns;
    case QS_SESSION_READY:
    case QS_SESSION_RUN_OPEN:
        return qs_session_is_owed(s) ? s->call.limit_ns : 0;
    case QS_SESSION_STOPPED:
    case QS_SESSION_STATES:
        return 0;
    }
    return 0;
}

/* Whoever arms and takes it back, again and again, gets no more time at the gate for that. */
static int64_t left_ns(struct qs_session *s)
{
    bool goes_on = s->state == QS_SESSION_WAITING || (s->state == QS_SESSION_ARMED && s->run.cancelled);
    int64_t limit = limit_ns(s);
    int64_t left = s->run.since_ns + limit - qs_loop_now_ns(s->loop);
    return !goes_on ? limit : left > 1 ? left : 1;
}

bool qs_session_is_over(struct qs_session *s)
{
    return left_ns(s) == 1;
}

void qs_session_arm_deadline(struct qs_session *s)
{
    qs_timer_stop(s->deadline);
    int64_t limit = left_ns(s);
    s->deadline = limit > 0 ? qs_timer_start(s->loop, limit, on_deadline, s) : NULL;
}

bool qs_session_do_give_up(struct qs_session *s, const union qs_msg *m)
{
    (void)m;
    QS_BUF(limit);
    QS_BUF(said);
    qs_text_duration(&limit, (double)limit_ns(s));
    qs_session_quote_noise(s, &said);
    if (s->state == QS_SESSION_QUIET)
        qs_session_broken(s, QS_E_LINK,
                          "%s: the lease ran out: the end of the window was not reported within %s", s->name,
                          limit.data);
    else if (s->state == QS_SESSION_WAITING && !s->run.cancelled)
        qs_session_broken(s, QS_E_LINK, "%s: the gate has neither opened nor timed out within %s", s->name,
                          limit.data);
    else if (s->call.row)
        qs_session_broken(s, QS_E_LINK, "%s: no answer to %s within %s", s->name,
                          qs_msg_name(s->call.row->type), limit.data);
    else
        qs_session_broken(s, QS_E_LINK, "%s: no answer within %s in state %s%s", s->name, limit.data,
                          qs_session_state_name(s), said.data);
    return false;
}

/* ---- connections ---- */

bool qs_session_do_connect(struct qs_session *s, const union qs_msg *m)
{
    (void)m;
    s->generation++;
    if (qs_link_open(s->link, &s->why))
        return true;
    qs_timer_stop(s->deadline); /* nothing is told from inside qs_session_start */
    s->deadline = qs_timer_start(s->loop, 0, on_lost_later, s);
    return true;
}

static void disconnect(struct qs_session *s)
{
    s->generation++;
    qs_link_close(s->link);
    qs_timer_stop(s->beat);
    qs_timer_stop(s->mark);
    s->beat = s->mark = NULL;
    s->held_count = s->ack_count = 0;
    s->complaints = 0;
    memset(&s->clock, 0, sizeof s->clock);
    memset(&s->call, 0, sizeof s->call);
    memset(&s->run, 0, sizeof s->run);
    memset(&s->resend, 0, sizeof s->resend);
    memset(&s->silence, 0, sizeof s->silence);
    memset(&s->files, 0, sizeof s->files);
    s->dropped = QS_ERR_INIT;
    free(s->facts_json);
    s->facts_json = NULL;
    free(s->operating_json);
    s->operating_json = NULL;
}

/* The backoff's deadline already runs. */
bool qs_session_do_retreat(struct qs_session *s, const union qs_msg *m)
{
    (void)m;
    struct qs_err why = s->why;
    s->failures++;
    qs_session_send_error(s, &why);
    disconnect(s);
    s->events.on_down(&why, s->events.user);
    return true;
}

bool qs_session_do_leave(struct qs_session *s, const union qs_msg *m)
{
    (void)m;
    qs_session_send(s, QS_MSG_BYE, &(struct qs_msg_bye){.why = qs_text_of("the host ends the session")},
                    NULL);
    disconnect(s);
    return true;
}

static void on_up(void *user)
{
    fire(user, QS_SESSION_EV_LINK_UP);
}

static void on_down(const struct qs_err *why, void *user)
{
    struct qs_session *s = user;
    QS_BUF(said);
    qs_session_quote_noise(s, &said);
    qs_session_broken(s, why->code, "%s%s", why->text, said.data);
    fire(s, QS_SESSION_EV_LOST);
}

/* ---- heartbeats ---- */

static void on_beat(void *user)
{
    struct qs_session *s = user;
    s->beat = NULL;
    if (s->state != QS_SESSION_QUIET)
        fire(s, QS_SESSION_EV_HEARTBEAT);
}

bool qs_session_do_beat(struct qs_session *s, const union qs_msg *m)
{
    (void)m;
    int64_t now = qs_loop_now_ns(s->loop);
    bool may_be_deaf = s->call.row && s->call.row->deaf; /* its answer has a deadline */
    s->quiet_beats = may_be_deaf ? 0 : s->quiet_beats + 1;
    /* Beats are counted, not time: after a stall of ours the answers are there and only not yet read. */
    if (s->quiet_beats > QS_HEARTBEAT_LOST_AFTER)
        return qs_session_broken(s, QS_E_LINK, "%s: nothing was heard for %lld ms", s->name,
                                 (long long)((now - s->heard_ns) / 1000000));
    s->beat = qs_timer_start(s->loop, s->heartbeat_ns, on_beat, s);
    return s->clock.asked || qs_session_ping(s);
}

void qs_session_arm_beat(struct qs_session *s)
{
    qs_timer_stop(s->beat);
    s->heard_ns = qs_loop_now_ns(s->loop);
    s->quiet_beats = 0;
    s->beat = qs_timer_start(s->loop, s->heartbeat_ns, on_beat, s);
}

/* ---- frames ---- */

static void on_bytes(const uint8_t *bytes, size_t n, void *user)
{
    struct qs_session *s = user;
    uint32_t generation = s->generation;
    s->depth++;
    s->heard_ns = qs_loop_now_ns(s->loop);
    s->quiet_beats = 0;
    if (s->state == QS_SESSION_QUIET && !s->silence.heard) {
        s->silence.heard = true;
        qs_link_counters(s->link, &s->silence.end);
        s->silence.end.bytes_in -= n; /* of what has come now the frames decide */
    }
    while (n > 0 && s->generation == generation) {
        struct qs_frame frame;
        size_t used = 0;
        int got = qs_framer_feed(&s->framer, bytes, n, &used, &frame);
        if (got == 0)
            break;
        if (got > 0)
            qs_session_take_frame(s, &frame);
        else
            qs_session_take_garbage(s, got);
        bytes += used;
        n -= used;
    }
    leave(s);
}

/* ---- the owner ---- */

struct qs_session *qs_session_new(struct qs_loop *loop, const struct qs_farm_device *device,
                                  const uint8_t farm_uid[16], int64_t heartbeat_ns,
                                  const struct qs_session_events *events)
{
    struct qs_session *s = qs_calloc(1, sizeof *s);
    s->loop = loop;
    s->events = *events;
    s->name = qs_strdup(device->name ? device->name : "device");
    memcpy(s->farm.b, farm_uid, sizeof s->farm.b);
    int64_t ms = heartbeat_ns / 1000000;
    ms = ms < QS_HEARTBEAT_MIN_MS ? QS_HEARTBEAT_MIN_MS : ms;
    ms = ms > QS_HEARTBEAT_MAX_MS ? QS_HEARTBEAT_MAX_MS : ms;
    s->heartbeat_ns = ms * 1000000;
    struct qs_link_events link = {.on_up = on_up, .on_bytes = on_bytes, .on_down = on_down, .user = s};
    s->link = qs_link_new(loop, device, &link);
    s->traits = qs_link_traits(device->link);
    return s;
}

void qs_session_free(struct qs_session *s)
{
    if (!s)
        return;
    s->depth++;
    qs_session_stop(s);
    s->dead = true;
    leave(s);
}

void qs_session_start(struct qs_session *s)
{
    if (qs_session_allows(s, QS_SESSION_EV_START))
        fire(s, QS_SESSION_EV_START);
}

void qs_session_stop(struct qs_session *s)
{
    s->depth++;
    if (qs_session_allows(s, QS_SESSION_EV_STOP))
        fire(s, QS_SESSION_EV_STOP);
    qs_timer_stop(s->deadline);
    s->deadline = NULL;
    leave(s);
}

static void on_dropped(void *user)
{
    struct qs_session *s = user;
    s->deadline = NULL;
    s->why = s->dropped;
    s->dropped = QS_ERR_INIT;
    fire(s, QS_SESSION_EV_LOST);
}

void qs_session_drop(struct qs_session *s, const struct qs_err *why)
{
    if (!qs_session_is_ready(s) || s->dropped.code != QS_E_NONE)
        return;
    s->generation++; /* nothing more is taken from it */
    s->dropped = *why;
    qs_link_close(s->link);
    qs_timer_stop(s->beat);
    s->beat = NULL;
    qs_timer_stop(s->deadline);
    s->deadline = qs_timer_start(s->loop, 0, on_dropped, s);
}

bool qs_session_is_ready(const struct qs_session *s)
{
    return s->state >= QS_SESSION_READY;
}

const char *qs_session_state_name(const struct qs_session *s)
{
    return qs_session_name_of_state(s->state);
}
