/* Piece by piece, each answered before the next is asked for, with the farm's token for a transfer. */
#include <stdlib.h>

#include "base/loop.h"
#include "base/mem.h"
#include "device/activity/fetch.h"
#include "device/job/impl.h"

struct fetch {
    uint32_t id; /* of the last PULL */
    enum qs_pull_source source;
    char *path; /* owned: of a file, else "" */
    size_t limit_bytes;
    struct qs_buf bytes; /* owned: what has come */
    qs_activity_fetched *done;
};

static struct fetch *mine(const struct qs_job_run *job)
{
    return job->activities[QS_ACTIVITY_FETCH];
}

static void ask(struct qs_job_run *job);
static void on_pulled(const union qs_msg *reply, const struct qs_err *refused, void *user);

static void give_up(struct qs_job_run *job, const struct qs_err *why)
{
    mine(job)->done(job, &(struct qs_fetched){.source = mine(job)->source, .path = mine(job)->path}, why);
}

/* Asks for the next piece. */
static void ask(struct qs_job_run *job)
{
    struct fetch *f = mine(job);
    struct qs_err err = QS_ERR_INIT;
    if (!qs_job_run_has_token(job, ask))
        return;
    size_t left = f->limit_bytes - f->bytes.len;
    const struct qs_msg_pull m = {.run = job->run.uid,
                                  .id = ++f->id,
                                  .source = f->source,
                                  .path = qs_text_of(f->path),
                                  .offset = f->bytes.len,
                                  .max_bytes = left < QS_PULL_MAX_BYTES ? (uint32_t)left : QS_PULL_MAX_BYTES};
    if (!qs_job_run_call(job, QS_MSG_PULL, &m, 0, on_pulled, &err) && err.code != QS_E_LINK)
        give_up(job, &err);
}

void qs_activity_fetch_begin(struct qs_job_run *job, enum qs_pull_source source, const char *path,
                             size_t limit_bytes, qs_activity_fetched *done)
{
    struct fetch *f = mine(job);
    free(f->path);
    f->path = qs_strdup(path);
    f->source = source;
    f->limit_bytes = limit_bytes;
    f->done = done;
    qs_buf_clear(&f->bytes);
    ask(job);
}

static void on_pulled(const union qs_msg *reply, const struct qs_err *refused, void *user)
{
    struct qs_job_run *job = user;
    struct fetch *f = mine(job);
    if (refused) {
        give_up(job, refused);
        return;
    }
    const struct qs_msg_pulled *m = &reply->pulled;
    size_t room = f->limit_bytes - f->bytes.len;
    qs_buf_add(&f->bytes, m->bytes.p ? m->bytes.p : "", m->bytes.n < room ? m->bytes.n : room);
    bool whole = m->status != QS_PULL_OK || m->bytes.n == 0 || f->bytes.len >= m->total_bytes ||
                 f->bytes.len == f->limit_bytes;
    if (!whole) {
        ask(job);
        return;
    }
    f->done(job, &(struct qs_fetched){.source = f->source, .path = f->path, .last = m, .bytes = &f->bytes},
            NULL);
}

static void init(struct qs_job_run *job)
{
    qs_buf_init(&mine(job)->bytes);
}

static void stop(struct qs_job_run *job, const char *why)
{
    (void)why;
    qs_buf_clear(&mine(job)->bytes);
}

static void done(struct qs_job_run *job)
{
    qs_buf_done(&mine(job)->bytes);
    free(mine(job)->path);
}

const struct qs_activity qs_activity_fetch = {
    .state_bytes = sizeof(struct fetch), .init = init, .stop = stop, .done = done};
