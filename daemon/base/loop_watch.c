/* Who keeps the loop: the processor time of each callback, which a busy machine does not add to. */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "base/process.h"
#include "base/loop_impl.h"

void qs_loop_watch(struct qs_loop *loop, int64_t limit_ns, qs_loop_slow_fn *on_slow, void *user)
{
    loop->watch = (struct qs_loop_watch){.limit_ns = limit_ns,
                                         .on_slow = on_slow,
                                         .user = user,
                                         .cpu_ns = qs_clock_ns(CLOCK_THREAD_CPUTIME_ID),
                                         .wall_ns = qs_clock_ns(CLOCK_MONOTONIC)};
}

void qs_loop_note(struct qs_loop *loop, const char *doing)
{
    loop->watch.doing = doing;
}

void qs_loop_woke(struct qs_loop *loop)
{
    if (!loop->watch.on_slow)
        return;
    loop->watch.cpu_ns = qs_clock_ns(CLOCK_THREAD_CPUTIME_ID);
    loop->watch.wall_ns = qs_clock_ns(CLOCK_MONOTONIC);
}

/* What addr2line -e FILE understands. */
static void place(uintptr_t fn, char *out, size_t bytes)
{
    Dl_info in;
    if (dladdr((void *)fn, &in) == 0 || !in.dli_fname) {
        snprintf(out, bytes, "%#lx", (unsigned long)fn);
        return;
    }
    const char *slash = strrchr(in.dli_fname, '/');
    snprintf(out, bytes, "%s+%#lx", slash ? slash + 1 : in.dli_fname,
             (unsigned long)(fn - (uintptr_t)in.dli_fbase));
}

void qs_loop_ran(struct qs_loop *loop, uintptr_t fn)
{
    struct qs_loop_watch *w = &loop->watch;
    char where[128];
    if (!w->on_slow)
        return;
    int64_t cpu_ns = qs_clock_ns(CLOCK_THREAD_CPUTIME_ID), wall_ns = qs_clock_ns(CLOCK_MONOTONIC);
    struct qs_loop_slow slow = {
        .cpu_ns = cpu_ns - w->cpu_ns, .wall_ns = wall_ns - w->wall_ns, .where = where, .doing = w->doing};
    w->cpu_ns = cpu_ns;
    w->wall_ns = wall_ns;
    w->doing = NULL;
    if (slow.cpu_ns < w->limit_ns)
        return;
    place(fn, where, sizeof where);
    w->on_slow(&slow, w->user);
}
