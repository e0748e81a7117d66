/* The way into a window's silence. */
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
