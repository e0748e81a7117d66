/* Piece by piece, each answered before the next is asked for, with the farm's token for a transfer. */
#include <stdlib.h>

#include "base/loop.h"
#include "base/mem.h"
#include "device/job/impl.h"

static void ask(struct qs_job_run *job);
static void on_pulled(const union qs_msg *reply, const struct qs_err *refused, void *user);

static void ask_again(void *user)
{
    struct qs_job_run *job = user;
    job->fetch.again = NULL;
    ask(job);
}

static void give_up(struct qs_job_run *job, const struct qs_err *why)
{
    qs_timer_stop(job->fetch.again);
    job->fetch.again = NULL;
    job->fetch.done(job, NULL, why);
}

/* Asks for the next piece. */
static void ask(struct qs_job_run *job)
{
    struct qs_job_run_fetch *f = &job->fetch;
    struct qs_err err = QS_ERR_INIT;
    if (!qs_job_run_has_token(job, &job->fetch.again, ask_again))
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

void qs_job_run_fetch_begin(struct qs_job_run *job, enum qs_pull_source source, const char *path,
                            size_t limit_bytes, qs_job_run_fetched *done)
{
    struct qs_job_run_fetch *f = &job->fetch;
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
    struct qs_job_run_fetch *f = &job->fetch;
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
    f->done(job, m, NULL);
}

void qs_job_run_fetch_stop(struct qs_job_run *job)
{
    qs_timer_stop(job->fetch.again);
    job->fetch.again = NULL;
    qs_buf_clear(&job->fetch.bytes);
}

void qs_job_run_fetch_done(struct qs_job_run *job)
{
    qs_job_run_fetch_stop(job);
    qs_buf_done(&job->fetch.bytes);
    free(job->fetch.path);
    job->fetch.path = NULL;
}
