#include "device/activity/sustained.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "device/board/board.h"
#include "device/job/asks.h"
#include "device/job/events.h"
#include "store/model.h"

enum { OLD_DAYS = 90 };
#define DAY_NS (86400 * INT64_C(1000000000))

struct look {
    struct qs_job_look at;
    qs_job_run_then *then;
    qs_sustained_fn *take;
    int64_t khz, found_wall_ns; /* khz 0: not found */
    bool same, none;            /* of this system; at its lowest it was throttled, too */
};

/* They come in the order of time: the last one counts, of this system before any of another. */
static void take_row(const struct qs_model_info *m, void *user)
{
    struct look *l = user;
    bool same = strcmp(m->fingerprint, l->at.fingerprint) == 0, none = strcmp(m->row.says, "none") == 0;
    if (strcmp(m->row.kind, "sustained") != 0 || (l->same && !same) ||
        (!none && strcmp(m->row.says, "ok") != 0))
        return;
    l->khz = m->row.khz;
    l->found_wall_ns = m->found_wall_ns;
    l->same = same;
    l->none = none;
}

static bool look(struct qs_store_reader *reader, void *user, struct qs_err *err)
{
    struct look *l = user;
    return qs_read_models(reader, l->at.device, NULL, false, take_row, l, err);
}

static void warn(const struct look *l)
{
    int64_t days = (qs_loop_wall_ns(l->at.job->p.loop) - l->found_wall_ns) / DAY_NS;
    const char *device = l->at.job->p.device;
    if (!l->same)
        qs_job_event_warning(l->at.job,
                             "what %s sustains (%lld MHz) was found with another system on it; `quiesce "
                             "characterize --again %s` finds it anew",
                             device, (long long)l->khz / 1000, device);
    else if (days > OLD_DAYS)
        qs_job_event_warning(l->at.job,
                             "what %s sustains (%lld MHz) was found %lld days ago; `quiesce characterize "
                             "--again %s` finds it anew",
                             device, (long long)l->khz / 1000, (long long)days, device);
}

static void on_looked(const struct qs_err *err, void *user)
{
    struct look l = *(struct look *)user;
    struct qs_job_run *job = l.at.job;
    struct qs_err why = err ? *err : QS_ERR_INIT;
    free(user);
    if (!qs_job_look_end(&l.at))
        return;
    const char *device = job->p.device;
    if (!err && l.none)
        qs_fail(&why, QS_E_PRECONDITION,
                "%s sustains no frequency: it was throttled at its lowest, too; write `frequency: min`, or "
                "cool it and find it anew: quiesce characterize --again %s",
                device, device);
    else if (!err && l.khz == 0)
        qs_fail(&why, QS_E_PRECONDITION,
                "what %s sustains is not known: `quiesce characterize %s` first; or write max, or a share "
                "such as 60%%",
                device, device);
    if (err || l.khz == 0) {
        l.take(job, 0, &why);
        return;
    }
    warn(&l);
    l.take(job, (size_t)l.khz, NULL);
    l.then(job);
}

void qs_sustained_find(struct qs_job_run *job, qs_job_run_then *then, qs_sustained_fn *take)
{
    struct look *l = qs_calloc(1, sizeof *l);
    l->then = then;
    l->take = take;
    qs_job_look_begin(&l->at, job, look, on_looked);
}

struct qs_wish qs_sustained_wish(const struct qs_board *board, size_t khz)
{
    int64_t most = 0;
    for (size_t i = 0; i < board->domains.count; i++) {
        const struct qs_board_domain *d = &board->domains.at[i];
        if (d->kind == QS_DOMAIN_CPU && d->hold == QS_HOLD_OK && (int64_t)d->hw_max_khz > most)
            most = (int64_t)d->hw_max_khz;
    }
    int64_t ppm = most > 0 ? ((int64_t)khz * 1000000 + most - 1) / most : 1000000;
    return (struct qs_wish){QS_WISH_SHARE, ppm > 1000000 ? 1000000 : ppm, 0};
}
