#include "device/job/asks.h"

#include <stdlib.h>

#include "base/mem.h"
#include "device/board/board.h"

void qs_job_run_ask(struct qs_job_run *job, bool *on, enum qs_msg_type type, const void *m, int64_t allow_ns,
                    qs_session_reply *on_reply)
{
    struct qs_err err = QS_ERR_INIT;
    *on = true;
    if (!qs_job_run_call(job, type, m, allow_ns, on_reply, &err))
        qs_job_run_unsent(job, &err);
}

bool qs_job_run_heard(bool *on)
{
    bool was_on = *on;
    *on = false;
    return was_on;
}

void qs_job_look_begin(struct qs_job_look *look, struct qs_job_run *job, qs_store_read_fn *read,
                       qs_store_after_fn *after)
{
    QS_BUF(fingerprint);
    qs_board_fingerprint(job->facts_json, &fingerprint);
    *look = (struct qs_job_look){.job = job,
                                 .epoch = job->epoch,
                                 .device = qs_strdup(job->p.device),
                                 .fingerprint = qs_buf_take(&fingerprint)};
    job->outstanding++;
    qs_store_read(job->p.store, read, after, look);
}

bool qs_job_look_end(struct qs_job_look *look)
{
    free(look->device);
    free(look->fingerprint);
    look->device = look->fingerprint = NULL;
    return qs_job_run_answered(look->job, look->epoch);
}
