#include "report/work.h"

#include <math.h>
#include <stddef.h>

void qs_work_init(struct qs_work *w, const struct qs_progress *to, double planned_ns)
{
    *w = (struct qs_work){.to = to, .planned_ns = planned_ns, .piece = to->stage};
}

static bool tell(void *user, const char *stage, double done_ratio)
{
    struct qs_work *w = user;
    if (w->ended)
        return false;
    w->told_ratio = fmin(1, fmax(w->told_ratio, done_ratio));
    struct qs_progress to = *w->to;
    to.stage = stage ? stage : w->piece;
    w->ended = !qs_progress_go_on(&to, w->told_ratio);
    return !w->ended;
}

bool qs_work_begin(struct qs_work *w, const char *name, double cost_ns, struct qs_progress *ret)
{
    *ret = (struct qs_progress){.stage = name};
    if (w == NULL)
        return true;
    w->done_ns += w->piece_ns;
    w->piece_ns = cost_ns;
    w->piece = name;
    double all = fmax(w->planned_ns, w->done_ns + cost_ns);
    ret->go_on = tell;
    ret->user = w;
    ret->before = all > 0 ? w->done_ns / all : 0;
    ret->after = all > 0 ? 1 - (w->done_ns + cost_ns) / all : 0;
    return qs_progress_go_on(ret, 0);
}

struct qs_progress qs_work_here(struct qs_work *w)
{
    if (w == NULL)
        return (struct qs_progress){.go_on = NULL};
    return (struct qs_progress){
        .go_on = tell, .user = w, .before = w->told_ratio, .after = 1 - w->told_ratio};
}

enum qs_status qs_work_finish(struct qs_work *w)
{
    if (!w->ended)
        (void)tell(w, NULL, 1);
    return w->ended ? QS_ECANCELED : QS_OK;
}

bool qs_work_fail(struct qs_err *err)
{
    return qs_fail(err, QS_E_STOPPED, "it was cancelled while it was being computed");
}
