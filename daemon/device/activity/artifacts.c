/* The artifacts of a run: the output of its windows, what the kernel logged, and the files that the job
 * declares. Fetched piece by piece between its last window and its end, so that no window has company. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/loop.h"
#include "base/text.h"
#include "device/activity/artifacts.h"
#include "device/activity/fetch.h"
#include "device/activity/activity.h"
#include "device/job/impl.h"

enum { OUTPUT_MAX_BYTES = 1024 * 1024 };

struct artifacts {                /* of the run in hand */
    size_t next;                  /* 0 the kernel's log, then the declared files */
    uint32_t kept;                /* rows stored, traces among them */
    struct qs_buf output, errors; /* owned: what its windows wrote; errors: where the streams are apart */
    uint64_t output_bytes, errors_bytes; /* kept or not */
    bool apart;
    qs_job_run_then *then; /* all of it is kept */
};

static struct artifacts *mine(const struct qs_job_run *job)
{
    return job->activities[QS_ACTIVITY_ARTIFACTS];
}

/* Documents are numbered by the store, before the others. */
uint32_t qs_activity_artifacts_number(struct qs_job_run *job)
{
    struct artifacts *a = mine(job);
    a->kept = a->kept < job->run.documents ? job->run.documents : a->kept;
    return a->kept++;
}

static void store(struct qs_job_run *job, const char *kind, const char *name, const struct qs_buf *bytes,
                  uint64_t total_bytes, const char *why)
{
    struct qs_artifact_row row = {.idx = qs_activity_artifacts_number(job),
                                  .kind = kind,
                                  .name = name,
                                  .files = job->p.files,
                                  .bytes = bytes ? bytes->data : NULL,
                                  .n = bytes ? bytes->len : 0,
                                  .total_bytes = total_bytes > INT64_MAX ? INT64_MAX : (int64_t)total_bytes,
                                  .why = why};
    memcpy(row.run_uid, job->run.uid.b, sizeof row.run_uid);
    qs_store_artifact(job->p.store, &row, qs_job_run_stored, qs_job_run_asks(job));
}

static void keep_output(struct qs_buf *all, struct qs_text some)
{
    size_t room = OUTPUT_MAX_BYTES - all->len;
    qs_buf_add(all, some.p ? some.p : "", some.n < room ? some.n : room);
}

static void store_output(struct qs_job_run *job, const char *name, struct qs_buf *bytes,
                         uint64_t *total_bytes)
{
    if (job->p.files && *total_bytes > 0)
        store(job, "output", name, bytes, *total_bytes, bytes->len == 0 ? "it was not captured" : NULL);
    qs_buf_clear(bytes);
    *total_bytes = 0;
}

void qs_activity_artifacts_output(struct qs_job_run *job)
{
    const struct qs_msg_closed *m = &job->win.made.closed;
    keep_output(&mine(job)->output, m->output);
    keep_output(&mine(job)->errors, m->errors);
    mine(job)->output_bytes += m->output_bytes;
    mine(job)->errors_bytes += m->errors_bytes;
    mine(job)->apart = m->apart;
}

/* The path of a declared file with its parameters filled in; false behind the last one. */
static bool path_of(const struct qs_job_run *job, size_t i, struct qs_strings *filled)
{
    const struct qs_strings *all = &qs_job_run_benchmark(job)->artifacts;
    if (i >= all->count)
        return false;
    const struct qs_strings one = {.at = &all->at[i], .count = 1};
    qs_job_fill(job->p.spec, qs_schedule_arm(&job->schedule), job->schedule.point, &one, filled);
    return true;
}

static size_t limit_of(const struct qs_job_run *job)
{
    enum { KERNEL_LOG_MAX_BYTES = 65536 };
    return mine(job)->next == 0 ? KERNEL_LOG_MAX_BYTES
                                : (size_t)qs_job_run_benchmark(job)->artifact_max_bytes;
}

static void keep_one(struct qs_job_run *job, const struct qs_fetched *what)
{
    const struct qs_msg_pulled *m = what->last;
    QS_BUF(why);
    bool file = what->source == QS_PULL_FILE;
    if (m->why.n > 0) /* of what was had, too: what speaks against it */
        qs_text_escape(&why, m->why.p ? m->why.p : "", m->why.n);
    bool empty_log = !file && m->status == QS_PULL_OK && what->bytes->len == 0;
    if (!empty_log)
        store(job, file ? "file" : "kernel-log", file ? what->path : "kernel-log", what->bytes,
              m->total_bytes,
              m->status != QS_PULL_OK || why.len > 0 ? why.data
              : what->bytes->len == 0                ? "it is empty"
                                                     : NULL);
}

static void fetch_next(struct qs_job_run *job);

/* What cannot be had is a row with the reason: it fails no run. */
static void on_fetched(struct qs_job_run *job, const struct qs_fetched *what, const struct qs_err *why)
{
    bool file = what->source == QS_PULL_FILE;
    if (what->last)
        keep_one(job, what);
    else
        store(job, file ? "file" : "kernel-log", file ? what->path : "kernel-log", NULL, 0, why->text);
    mine(job)->next++;
    fetch_next(job);
}

/* The kernel's log, then the declared files. */
static void fetch_next(struct qs_job_run *job)
{
    QS_SCOPED(qs_strings_done) struct qs_strings path = {0};
    bool file = mine(job)->next > 0;
    if (file && !path_of(job, mine(job)->next - 1, &path)) {
        mine(job)->then(job);
        return;
    }
    qs_activity_fetch_begin(job, file ? QS_PULL_FILE : QS_PULL_KERNEL_LOG, file ? path.at[0] : "",
                            limit_of(job), on_fetched);
}

void qs_activity_artifacts_keep(struct qs_job_run *job, qs_job_run_then *then)
{
    struct artifacts *a = mine(job);
    bool elsewhere = qs_job_run_benchmark(job)->output == QS_OUTPUT_FILE && !qs_stream_is_on(job);
    a->next = 0;
    a->then = then;
    store_output(job, a->apart ? "stdout" : elsewhere ? "stderr" : "output", &a->output, &a->output_bytes);
    store_output(job, "stderr", &a->errors, &a->errors_bytes);
    if (!job->p.files || !qs_session_has(job->p.session, QS_FEATURE_PULL))
        then(job);
    else
        fetch_next(job);
}

static void init(struct qs_job_run *job)
{
    qs_buf_init(&mine(job)->output);
    qs_buf_init(&mine(job)->errors);
}

static void new_run(struct qs_job_run *job)
{
    mine(job)->kept = 0;
}

static void stop(struct qs_job_run *job, const char *why)
{
    struct artifacts *a = mine(job);
    (void)why;
    qs_buf_clear(&a->output);
    qs_buf_clear(&a->errors);
    a->output_bytes = a->errors_bytes = 0;
}

static void done(struct qs_job_run *job)
{
    qs_buf_done(&mine(job)->output);
    qs_buf_done(&mine(job)->errors);
}

const struct qs_activity qs_activity_artifacts = {
    .state_bytes = sizeof(struct artifacts), .init = init, .new_run = new_run, .stop = stop, .done = done};
