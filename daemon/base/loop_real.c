/* Real time, over libuv. One uv_timer stands for the first of our timers, an active uv_idle keeps libuv from
 * waiting while posts are left. Memory of a libuv handle goes in its closing callback, never earlier. */
#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <uv.h>

#include "base/process.h"
#include "base/loop_impl.h"
#include "base/loop_lanes.h"
#include "base/mem.h"

struct real_loop {
    struct qs_loop base;
    uv_loop_t uv;
    uv_timer_t timer;
    uv_idle_t idle;
    uv_async_t done; /* a work has ended; keeps the loop running while there are works */
    struct qs_lanes *lanes;
    struct rlimit files; /* as this process was started; ours is another where own_files */
    bool own_files;
    size_t live; /* descriptors, children and signals that were started and not stopped */
};

struct real_io {
    struct qs_io base;
    uv_poll_t uv;
    unsigned events;
    qs_io_fn *fn;
    void *user;
};

struct real_child {
    struct qs_child base;
    uv_process_t uv;
    bool exited;
    qs_child_fn *fn; /* NULL: forgotten, only reaped */
    void *user;
};

struct real_signal {
    struct qs_signal base;
    uv_signal_t uv;
    qs_signal_fn *fn;
    void *user;
};

static struct real_loop *real_of(struct qs_loop *loop)
{
    return (struct real_loop *)loop;
}

static int64_t real_now(const struct qs_loop *loop)
{
    (void)loop;
    return qs_clock_ns(CLOCK_MONOTONIC);
}

static int64_t real_wall(const struct qs_loop *loop)
{
    (void)loop;
    return qs_clock_ns(CLOCK_REALTIME);
}

static void real_random(struct qs_loop *loop, void *bytes, size_t n)
{
    (void)loop;
    unsigned char *out = bytes;
    while (n > 0) {
        ssize_t got = getrandom(out, n, 0);
        if (got < 0 && errno != EINTR) {
            perror("quiesce: getrandom");
            abort(); /* identities and nonces must not become predictable */
        }
        if (got > 0) {
            out += got;
            n -= (size_t)got;
        }
    }
}

/* ---- posts ---- */

/* The end of every callback from libuv, in which fn was called. */
static void end_callback(struct real_loop *loop, uintptr_t fn)
{
    qs_loop_ran(&loop->base, fn);
    qs_loop_run_posts(&loop->base);
    if (loop->base.posts.count == 0)
        uv_idle_stop(&loop->idle);
}

static void on_idle(uv_idle_t *idle)
{
    struct real_loop *r = idle->loop->data;
    qs_loop_woke(&r->base);
    end_callback(r, 0);
}

static void real_posted(struct qs_loop *loop)
{
    uv_idle_start(&real_of(loop)->idle, on_idle);
}

/* ---- timers ---- */

static void on_timer(uv_timer_t *timer);

/* libuv counts milliseconds of the same clock, rounded down: what is due is rounded up, so that nobody wakes
 * for nothing. on_timer has the last word on what is due. */
static void real_timers_changed(struct qs_loop *loop)
{
    struct real_loop *r = real_of(loop);
    struct qs_timer *first = qs_timerq_first(&loop->timers);
    if (loop->stopping) /* what is due now would be called for ever: libuv leaves its timers only when none is
                         */
        return;
    if (!first) {
        uv_timer_stop(&r->timer);
        return;
    }
    uint64_t due_ns = first->due_ns > 0 ? (uint64_t)first->due_ns : 0;
    uint64_t due_ms = (due_ns + 999999) / 1000000;
    uint64_t now_ms = uv_now(&r->uv);
    uv_timer_start(&r->timer, on_timer, due_ms > now_ms ? due_ms - now_ms : 0, 0);
}

static void on_timer(uv_timer_t *timer)
{
    struct real_loop *r = timer->loop->data;
    int64_t now_ns = real_now(&r->base);
    qs_loop_woke(&r->base);
    while (!r->base.stopping) {
        struct qs_timer *t = qs_timerq_first(&r->base.timers);
        if (!t || t->due_ns > now_ns)
            break;
        qs_loop_fire(&r->base, t);
        end_callback(r, 0);
    }
    real_timers_changed(&r->base);
}

/* ---- work ---- */

/* A thread of a lane. */
static void on_work_done(void *user)
{
    struct real_loop *r = user;
    uv_async_send(&r->done);
}

static void on_done(uv_async_t *async)
{
    struct real_loop *r = async->loop->data;
    struct qs_lane_done done;
    qs_loop_woke(&r->base);
    while (qs_lanes_take(r->lanes, &done)) {
        if (qs_lanes_count(r->lanes) == 0)
            uv_unref((uv_handle_t *)&r->done);
        done.after(done.user);
        end_callback(r, (uintptr_t)done.after);
    }
}

static void real_work(struct qs_loop *loop, enum qs_lane lane, qs_loop_fn *work, qs_loop_fn *after,
                      void *user)
{
    struct real_loop *r = real_of(loop);
    uv_ref((uv_handle_t *)&r->done);
    qs_lanes_add(r->lanes, lane, work, after, user);
}

static struct qs_lanes *real_lanes(const struct qs_loop *loop)
{
    return ((const struct real_loop *)loop)->lanes;
}

/* ---- handles ---- */

static void on_closed(uv_handle_t *handle)
{
    free(handle->data);
}

static void close_handle(uv_handle_t *handle)
{
    if (!uv_is_closing(handle))
        uv_close(handle, on_closed);
}

static enum qs_errc code_of(int status)
{
    bool exhausted = status == UV_EMFILE || status == UV_ENFILE || status == UV_ENOMEM || status == UV_EAGAIN;
    return exhausted ? QS_E_RESOURCE : QS_E_IO;
}

static void on_poll(uv_poll_t *handle, int status, int events)
{
    struct real_io *io = handle->data;
    struct real_loop *r = real_of(io->base.loop);
    unsigned fired = (events & UV_READABLE ? QS_IO_READ : 0U) | (events & UV_WRITABLE ? QS_IO_WRITE : 0U) |
                     (events & UV_DISCONNECT ? QS_IO_GONE : 0U);
    qs_io_fn *fn = io->fn;
    qs_loop_woke(&r->base);
    fn(status < 0 ? QS_IO_READ : fired, io->user);
    /* libuv stops at an error; level-triggered means that it fires until it is dealt with. */
    if (status < 0 && !uv_is_closing((uv_handle_t *)handle))
        qs_io_update(&io->base, io->events, NULL);
    end_callback(r, (uintptr_t)fn);
}

static bool real_io_update(struct qs_io *base, unsigned events, struct qs_err *err)
{
    struct real_io *io = (struct real_io *)base;
    int want = (events & QS_IO_READ ? UV_READABLE : 0) | (events & QS_IO_WRITE ? UV_WRITABLE : 0) |
               (events & QS_IO_GONE ? UV_DISCONNECT : 0);
    int status = want ? uv_poll_start(&io->uv, want, on_poll) : uv_poll_stop(&io->uv);
    if (status < 0)
        return qs_fail(err, code_of(status), "cannot watch a descriptor: %s", uv_strerror(status));
    io->events = events;
    return true;
}

static struct qs_io *real_io_start(struct qs_loop *loop, int fd, unsigned events, qs_io_fn *fn, void *user,
                                   struct qs_err *err)
{
    struct real_loop *r = real_of(loop);
    struct real_io *io = qs_calloc(1, sizeof *io);
    int status = uv_poll_init(&r->uv, &io->uv, fd);
    if (status < 0) {
        free(io);
        qs_fail(err, code_of(status), "cannot watch descriptor %d: %s", fd, uv_strerror(status));
        return NULL;
    }
    io->base.loop = loop;
    io->uv.data = io;
    io->fn = fn;
    io->user = user;
    if (!real_io_update(&io->base, events, err)) {
        close_handle((uv_handle_t *)&io->uv);
        return NULL;
    }
    r->live++;
    return &io->base;
}

static void real_io_stop(struct qs_io *base)
{
    struct real_io *io = (struct real_io *)base;
    real_of(base->loop)->live--;
    close_handle((uv_handle_t *)&io->uv);
}

static void on_exit_of_child(uv_process_t *process, int64_t exit_code, int term_signal)
{
    struct real_child *c = process->data;
    struct real_loop *r = real_of(c->base.loop);
    c->exited = true;
    close_handle((uv_handle_t *)process);
    if (!c->fn)
        return;
    r->live--;
    qs_loop_woke(&r->base);
    c->fn((int)exit_code, term_signal, c->user);
    end_callback(r, (uintptr_t)c->fn);
}

static void fail_spawn(struct qs_err *err, const struct qs_spawn *spec, int status)
{
    enum qs_errc code = code_of(status) == QS_E_RESOURCE ? QS_E_RESOURCE : QS_E_COMMAND;
    if (spec->cwd && access(spec->cwd, X_OK) != 0)
        qs_fail(err, code, "cannot enter the directory %s: %s", spec->cwd, uv_strerror(status));
    else
        qs_fail(err, code, "cannot start %s: %s", spec->argv[0], uv_strerror(status));
}

static struct qs_child *real_child_start(struct qs_loop *loop, const struct qs_spawn *spec, qs_child_fn *fn,
                                         void *user, struct qs_err *err)
{
    struct real_loop *r = real_of(loop);
    assert(spec->argv && spec->argv[0] && fn);
    uv_stdio_container_t stdio[3];
    for (int i = 0; i < 3; i++) {
        stdio[i].flags = spec->fd[i] < 0 ? UV_IGNORE : UV_INHERIT_FD;
        stdio[i].data.fd = spec->fd[i];
    }
    uv_process_options_t options = {
        .exit_cb = on_exit_of_child,
        .file = spec->argv[0],
        .args = (char **)spec->argv, /* libuv does not write to them */
        .env = (char **)spec->env,
        .cwd = spec->cwd,
        .flags = spec->new_session ? UV_PROCESS_DETACHED : 0,
        .stdio_count = 3,
        .stdio = stdio,
    };
    struct real_child *c = qs_calloc(1, sizeof *c);
    c->base.loop = loop;
    c->fn = fn;
    c->user = user;
    c->uv.data = c;
    int status = uv_spawn(&r->uv, &c->uv, &options);
    if (status < 0) {
        close_handle((uv_handle_t *)&c->uv);
        fail_spawn(err, spec, status);
        return NULL;
    }
    if (r->own_files)
        prlimit(c->uv.pid, RLIMIT_NOFILE, &r->files, NULL);
    r->live++;
    return &c->base;
}

static pid_t real_child_pid(const struct qs_child *child)
{
    return ((const struct real_child *)child)->uv.pid;
}

static void real_child_kill(struct qs_child *child, int signum)
{
    struct real_child *c = (struct real_child *)child;
    if (!c->exited)
        uv_process_kill(&c->uv, signum);
}

static void real_child_stop(struct qs_child *child)
{
    struct real_child *c = (struct real_child *)child;
    if (c->exited)
        return;
    c->fn = NULL;
    uv_unref((uv_handle_t *)&c->uv);
    real_of(child->loop)->live--;
}

static void on_signal(uv_signal_t *handle, int signum)
{
    struct real_signal *s = handle->data;
    struct real_loop *r = real_of(s->base.loop);
    qs_signal_fn *fn = s->fn;
    qs_loop_woke(&r->base);
    fn(signum, s->user);
    end_callback(r, (uintptr_t)fn);
}

static struct qs_signal *real_signal_start(struct qs_loop *loop, int signum, qs_signal_fn *fn, void *user,
                                           struct qs_err *err)
{
    struct real_loop *r = real_of(loop);
    struct real_signal *s = qs_calloc(1, sizeof *s);
    s->base.loop = loop;
    s->fn = fn;
    s->user = user;
    int status = uv_signal_init(&r->uv, &s->uv);
    s->uv.data = s;
    if (status < 0) {
        free(s);
    } else {
        status = uv_signal_start(&s->uv, on_signal, signum);
        if (status < 0)
            close_handle((uv_handle_t *)&s->uv);
    }
    if (status < 0) {
        qs_fail(err, code_of(status), "cannot watch signal %d: %s", signum, uv_strerror(status));
        return NULL;
    }
    r->live++;
    return &s->base;
}

static void real_signal_stop(struct qs_signal *base)
{
    struct real_signal *s = (struct real_signal *)base;
    real_of(base->loop)->live--;
    close_handle((uv_handle_t *)&s->uv);
}

/* ---- the loop ---- */

static size_t real_allow_files(struct qs_loop *loop, size_t most)
{
    struct real_loop *r = real_of(loop);
    struct rlimit now;
    if (getrlimit(RLIMIT_NOFILE, &now) != 0)
        return 0;
    if (!r->own_files)
        r->files = now;
    if (now.rlim_cur >= most)
        return most;
    now.rlim_cur = most < now.rlim_max ? most : now.rlim_max;
    r->own_files |= setrlimit(RLIMIT_NOFILE, &now) == 0;
    return getrlimit(RLIMIT_NOFILE, &now) == 0 && now.rlim_cur < most ? now.rlim_cur : most;
}

static void real_run(struct qs_loop *loop)
{
    real_timers_changed(loop); /* not kept up to date while the loop was stopping */
    uv_run(&real_of(loop)->uv, UV_RUN_DEFAULT);
}

static void real_stop(struct qs_loop *loop)
{
    uv_stop(&real_of(loop)->uv);
}

static void close_any(uv_handle_t *handle, void *arg)
{
    (void)arg;
    /* A forgotten child that has just ended would stay a zombie without its handle. */
    if (uv_handle_get_type(handle) == UV_PROCESS && uv_is_active(handle))
        waitpid(((uv_process_t *)handle)->pid, NULL, WNOHANG);
    close_handle(handle);
}

static size_t real_close(struct qs_loop *loop)
{
    struct real_loop *r = real_of(loop);
    size_t left = r->live + qs_lanes_count(r->lanes);
    qs_lanes_free(r->lanes);
    uv_walk(&r->uv, close_any, NULL);
    while (uv_run(&r->uv, UV_RUN_DEFAULT) != 0) {
    }
    int status = uv_loop_close(&r->uv);
    assert(status == 0);
    (void)status;
    free(r);
    return left;
}

static const struct qs_loop_ops real_ops = {
    .run = real_run,
    .stop = real_stop,
    .close = real_close,
    .now_ns = real_now,
    .wall_ns = real_wall,
    .random = real_random,
    .timers_changed = real_timers_changed,
    .posted = real_posted,
    .work = real_work,
    .lanes = real_lanes,
    .allow_files = real_allow_files,
    .io_start = real_io_start,
    .io_update = real_io_update,
    .io_stop = real_io_stop,
    .child_start = real_child_start,
    .child_pid = real_child_pid,
    .child_kill = real_child_kill,
    .child_stop = real_child_stop,
    .signal_start = real_signal_start,
    .signal_stop = real_signal_stop,
};

struct qs_loop *qs_loop_new_real(struct qs_err *err)
{
    struct real_loop *r = qs_calloc(1, sizeof *r);
    int status = uv_loop_init(&r->uv);
    if (status < 0) {
        free(r);
        qs_fail(err, QS_E_RESOURCE, "cannot make an event loop: %s", uv_strerror(status));
        return NULL;
    }
    status = uv_async_init(&r->uv, &r->done, on_done);
    if (status < 0) {
        uv_loop_close(&r->uv);
        free(r);
        qs_fail(err, QS_E_RESOURCE, "cannot make an event loop: %s", uv_strerror(status));
        return NULL;
    }
    uv_unref((uv_handle_t *)&r->done);
    r->base.ops = &real_ops;
    r->uv.data = r;
    uv_timer_init(&r->uv, &r->timer); /* these two cannot fail */
    uv_idle_init(&r->uv, &r->idle);
    r->lanes = qs_lanes_new(on_work_done, r);
    return &r->base;
}
