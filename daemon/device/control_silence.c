/* The way into a window's silence, what is claimed of it, and the counters on which the claim stands. */
#include "base/loop.h"
#include "device/control_impl.h"
#include "device/control_news.h"

/* Once a window, when it has taken long enough to be asked about: short windows that take turns are no news.
 */
static void say_held(struct qs_control *c, const char *why)
{
    const int64_t patience_ns = INT64_C(1000000000);
    int64_t now_ns = qs_loop_now_ns(c->p.loop);
    if (c->win.held_ns == 0)
        c->win.held_ns = now_ns;
    if (c->win.held_told || now_ns - c->win.held_ns < patience_ns)
        return;
    c->win.held_told = true;
    qs_control_news_held(c, why);
}

void qs_control_set_silence(struct qs_control *c, bool on)
{
    if (c->silence_on == on)
        return;
    c->silence_on = on;
    if (c->p.local) {
        if (on) {
            qs_store_hold(c->p.store);
            qs_loop_hold_works(c->p.loop);
        } else {
            qs_loop_release_works(c->p.loop);
            qs_store_release(c->p.store);
        }
    }
    if (c->events.on_silence)
        c->events.on_silence(on, c->events.user);
}

/* A host that somebody asks all the time would never have nothing to do: it ends what it has begun and begins
 * nothing else until the device asks again, or waits for something of its own. */
static bool is_host_ready(struct qs_control *c, const char **why)
{
    if (qs_store_log_is_full(c->p.store)) { /* it is not for the host's silence: that would keep it full */
        *why = "waiting for the disk: somebody keeps a transaction open on the database, and its log is full";
        qs_control_set_silence(c, false);
        say_held(c, *why);
        return false;
    }
    if (c->p.local && qs_store_is_busy(c->p.store))
        *why = "a commit is on its way";
    else if (c->p.local && qs_loop_is_working(c->p.loop))
        *why = "the host reads its database, or finishes an upload";
    else
        return true;
    qs_control_set_silence(c, true);
    return false;
}

bool qs_control_may_quiet(struct qs_control *c, const char **why)
{
    if (!is_host_ready(c, why))
        return false;
    if (c->events.take_token && !c->events.take_token(true, why, c->events.user)) {
        qs_control_set_silence(c, false); /* who has it may need the store before he gives it */
        say_held(c, *why);
        return false;
    }
    c->has_token = true;
    return true;
}

bool qs_control_has_token(struct qs_control *c, struct qs_timer **again, qs_loop_fn *ask_again)
{
    const int64_t ask_ns = INT64_C(100000000);
    const char *why;
    if (c->has_token || !c->events.take_token)
        return true;
    c->has_token = c->events.take_token(false, &why, c->events.user);
    if (!c->has_token && !*again)
        *again = qs_timer_start(c->p.loop, ask_ns, ask_again, c);
    return c->has_token;
}

void qs_control_give_token(struct qs_control *c)
{
    if (c->has_token && c->events.give_token)
        c->events.give_token(c->events.user);
    c->has_token = false;
}

/* What passed the agent's own TCP socket between its readings, -1 where it does not count. */
static int64_t agent_segments(const struct qs_msg_closed *m)
{
    struct qs_iter it = qs_list_iter(&m->evidence);
    struct qs_evidence e;
    int64_t sum = 0, grown;
    unsigned seen = 0;
    while (qs_list_evidence(&it, &e)) {
        if (!qs_text_is(e.kind, "agent.tcp.in_segments") && !qs_text_is(e.kind, "agent.tcp.out_segments"))
            continue;
        if (e.status != QS_READING_OK || __builtin_sub_overflow(e.after, e.before, &grown) || grown < 0 ||
            __builtin_add_overflow(sum, grown, &sum))
            return -1;
        seen++;
    }
    return seen == 2 ? sum : -1;
}

/* A proof needs one connection between here and the benchmark's machine: behind a forwarded port there is
 * another one, which nobody counts. */
void qs_control_judge_silence(struct qs_control *c)
{
    struct qs_control_window *w = &c->win;
    w->agent_segments = agent_segments(&w->msg);
    bool silent = w->quiet.silent && w->msg.frames_in_window == 0 && w->msg.unread_bytes_at_close == 0 &&
                  w->agent_segments <= 0;
    w->claim = !silent                                                   ? QS_SILENCE_NONE
               : w->quiet.proven && c->p.local && w->agent_segments == 0 ? QS_SILENCE_PROVEN
                                                                         : QS_SILENCE_OBSERVED;
}

static void put(struct qs_evidence_row *out, size_t *n, const char *kind, bool present, uint64_t before,
                uint64_t after)
{
    out[(*n)++] = (struct qs_evidence_row){
        .kind = kind, .present = present, .before = (int64_t)before, .after = (int64_t)after};
}

size_t qs_control_silence_evidence(const struct qs_control *c, struct qs_evidence_row *out)
{
    const struct qs_session_quiet *q = &c->win.quiet;
    const struct qs_link_counters *a = &q->from, *b = &q->to;
    size_t n = 0;
    if (!q->counted)
        return 0;
    put(out, &n, "host.link.in_bytes", true, a->bytes_in, b->bytes_in);
    put(out, &n, "host.link.out_bytes", true, a->bytes_out, b->bytes_out);
    if (b->has_segments) {
        bool both = a->has_segments;
        put(out, &n, "host.tcp.in_segments", both, a->segments_in, b->segments_in);
        put(out, &n, "host.tcp.out_segments", both, a->segments_out, b->segments_out);
        put(out, &n, "host.tcp.in_data_segments", both, a->data_segments_in, b->data_segments_in);
        put(out, &n, "host.tcp.out_data_segments", both, a->data_segments_out, b->data_segments_out);
    }
    put(out, &n, "agent.link.in_frames", true, 0, c->win.msg.frames_in_window);
    put(out, &n, "agent.link.unread_bytes", true, 0, c->win.msg.unread_bytes_at_close);
    return n;
}

size_t qs_control_silence_taints(const struct qs_control *c, struct qs_taint_row *out)
{
    const struct qs_session_quiet *q = &c->win.quiet;
    size_t n = 0;
    if (q->counted && q->frames > 0)
        out[n++] = (struct qs_taint_row){.i = -1, .code = "link.host_frames", .value = q->frames};
    else if (q->counted && !q->silent)
        out[n++] = (struct qs_taint_row){
            .i = -1,
            .code = "link.host_bytes",
            .value = (int64_t)(q->to.bytes_in - q->from.bytes_in + q->to.bytes_out - q->from.bytes_out)};
    if (c->win.agent_segments > 0)
        out[n++] = (struct qs_taint_row){.i = -1, .code = "link.segments", .value = c->win.agent_segments};
    return n;
}
