#include "base/loop.h"

#include <stdlib.h>

#include "base/loop_impl.h"
#include "base/loop_lanes.h"
#include "base/mem.h"

bool qs_loop_is_virtual(const struct qs_loop *loop)
{
    return !loop->ops->io_start;
}

size_t qs_loop_allow_files(struct qs_loop *loop, size_t most)
{
    return loop->ops->allow_files ? loop->ops->allow_files(loop, most) : most;
}

void qs_loop_run(struct qs_loop *loop)
{
    loop->ops->run(loop);
    loop->stopping = false;
}

void qs_loop_stop(struct qs_loop *loop)
{
    loop->stopping = true;
    if (loop->ops->stop)
        loop->ops->stop(loop);
}

size_t qs_loop_free(struct qs_loop *loop)
{
    if (!loop)
        return 0;
    size_t left = loop->timers.count + loop->posts.count;
    qs_timerq_done(&loop->timers);
    qs_postq_done(&loop->posts);
    return left + loop->ops->close(loop);
}

int64_t qs_loop_now_ns(const struct qs_loop *loop)
{
    return loop->ops->now_ns(loop);
}

int64_t qs_loop_wall_ns(const struct qs_loop *loop)
{
    return loop->ops->wall_ns(loop);
}

void qs_loop_random(struct qs_loop *loop, void *bytes, size_t n)
{
    loop->ops->random(loop, bytes, n);
}

struct qs_timer *qs_timer_start(struct qs_loop *loop, int64_t delay_ns, qs_loop_fn *fn, void *user)
{
    struct qs_timer *t = qs_malloc(sizeof *t);
    *t = (struct qs_timer){.loop = loop, .fn = fn, .user = user};
    int64_t delay = delay_ns > 0 ? delay_ns : 0;
    if (__builtin_add_overflow(qs_loop_now_ns(loop), delay, &t->due_ns))
        t->due_ns = INT64_MAX;
    qs_timerq_push(&loop->timers, t);
    if (loop->ops->timers_changed && t->index == 0)
        loop->ops->timers_changed(loop);
    return t;
}

void qs_timer_stop(struct qs_timer *timer)
{
    if (!timer || timer->index == QS_TIMER_IDLE)
        return;
    struct qs_loop *loop = timer->loop;
    bool was_first = timer->index == 0;
    qs_timerq_remove(&loop->timers, timer);
    free(timer);
    if (loop->ops->timers_changed && was_first)
        loop->ops->timers_changed(loop);
}

void qs_loop_post(struct qs_loop *loop, qs_loop_fn *fn, void *user)
{
    qs_postq_push(&loop->posts, (struct qs_post){.fn = fn, .user = user});
    if (loop->ops->posted)
        loop->ops->posted(loop);
}

void qs_loop_work(struct qs_loop *loop, enum qs_lane lane, qs_loop_fn *work, qs_loop_fn *after, void *user)
{
    loop->ops->work(loop, lane, work, after, user);
}

bool qs_loop_is_working(const struct qs_loop *loop)
{
    return loop->ops->lanes && qs_lanes_is_working(loop->ops->lanes(loop));
}

void qs_loop_hold_works(struct qs_loop *loop)
{
    if (loop->ops->lanes)
        qs_lanes_hold(loop->ops->lanes(loop), true);
}

void qs_loop_release_works(struct qs_loop *loop)
{
    if (loop->ops->lanes)
        qs_lanes_hold(loop->ops->lanes(loop), false);
}

void qs_loop_rest(struct qs_loop *loop)
{
    if (loop->ops->lanes)
        qs_lanes_rest(loop->ops->lanes(loop));
}

void qs_loop_rouse(struct qs_loop *loop)
{
    if (loop->ops->lanes)
        qs_lanes_rouse(loop->ops->lanes(loop));
}

static void *refuse(struct qs_err *err, const char *what)
{
    qs_fail(err, QS_E_INTERNAL, "%s has no place in virtual time", what);
    return NULL;
}

struct qs_io *qs_io_start(struct qs_loop *loop, int fd, unsigned events, qs_io_fn *fn, void *user,
                          struct qs_err *err)
{
    if (!loop->ops->io_start)
        return refuse(err, "a descriptor");
    return loop->ops->io_start(loop, fd, events, fn, user, err);
}

bool qs_io_update(struct qs_io *io, unsigned events, struct qs_err *err)
{
    return io->loop->ops->io_update(io, events, err);
}

void qs_io_stop(struct qs_io *io)
{
    if (io)
        io->loop->ops->io_stop(io);
}

struct qs_child *qs_child_start(struct qs_loop *loop, const struct qs_spawn *spec, qs_child_fn *fn,
                                void *user, struct qs_err *err)
{
    if (!loop->ops->child_start)
        return refuse(err, "a process");
    return loop->ops->child_start(loop, spec, fn, user, err);
}

pid_t qs_child_pid(const struct qs_child *child)
{
    return child->loop->ops->child_pid(child);
}

void qs_child_kill(struct qs_child *child, int signum)
{
    child->loop->ops->child_kill(child, signum);
}

void qs_child_stop(struct qs_child *child)
{
    if (child)
        child->loop->ops->child_stop(child);
}

struct qs_signal *qs_signal_start(struct qs_loop *loop, int signum, qs_signal_fn *fn, void *user,
                                  struct qs_err *err)
{
    if (!loop->ops->signal_start)
        return refuse(err, "a signal");
    return loop->ops->signal_start(loop, signum, fn, user, err);
}

void qs_signal_stop(struct qs_signal *sig)
{
    if (sig)
        sig->loop->ops->signal_stop(sig);
}
