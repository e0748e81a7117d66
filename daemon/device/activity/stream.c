#include "device/activity/activity.h"

#include <stdlib.h>
#include <string.h>

#include "base/loop.h"
#include "base/mem.h"
#include "device/job/impl.h"
#include "device/job/events.h"

bool qs_stream_is_on(const struct qs_job_run *job)
{
    return qs_job_is_streamed(qs_job_run_benchmark(job));
}

void qs_stream_fill(const struct qs_job_run *job, struct qs_msg_run_begin *m)
{
    const struct qs_job_benchmark *b = qs_job_run_benchmark(job);
    m->mode = QS_RUN_STREAM;
    m->output_kind = QS_OUTPUT_KIND_CAPTURE;
    m->output_path = qs_text_of(NULL);
    m->stream = (struct qs_stream){.source = b->output_file ? QS_STREAM_FILE : QS_STREAM_STDOUT,
                                   .path = qs_text_of(b->output_file),
                                   .document_max_bytes = (uint32_t)b->stream.document_max_bytes};
}

/* Reading takes as long as the document is: what it is about may be over when it is done. */
struct reading {
    struct qs_job_run *job;
    uint64_t epoch;
    struct qs_streamed streamed; /* owned while it is read */
};

static void on_pool(void *user)
{
    struct reading *r = user;
    qs_streamed_read(&r->streamed);
}

static void on_read(void *user)
{
    struct reading r = *(struct reading *)user;
    struct qs_job_run *job = r.job;
    free(user);
    if (!qs_job_run_answered(job, r.epoch)) {
        qs_streamed_done(&r.streamed);
        return;
    }
    struct qs_assembler *made = &job->win.made;
    qs_streamed_done(&made->streamed);
    made->streamed = r.streamed;
    qs_assembler_documented(made);
    if (!made->streamed.ok)
        job->run.err = made->streamed.err;
    if (!made->streamed.ok && job->schedule.block > 0)
        qs_job_event_warning(job, "%s: %s", job->p.spec->arms[qs_schedule_arm(&job->schedule)].name,
                             made->streamed.err.text);
    qs_activity_window_whole(job);
}

void qs_stream_read(struct qs_job_run *job)
{
    struct qs_streamed *s = &job->win.made.streamed;
    struct reading *r = qs_calloc(1, sizeof *r);
    s->files = job->p.files;
    qs_job_form(job->p.spec, qs_schedule_arm(&job->schedule), job->schedule.point, &s->form);
    *r = (struct reading){.job = job, .epoch = job->epoch, .streamed = *s};
    qs_streamed_init(s);
    job->outstanding++;
    qs_loop_work(job->p.loop, QS_LANE_QUICK, on_pool, on_read, r);
}
