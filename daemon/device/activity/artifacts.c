/* What a run has left: the output of its windows, what the kernel logged, and the files that the job
 * declares. Fetched piece by piece between its last window and its end, so that no window has company. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/loop.h"
#include "base/text.h"
#include "device/job/impl.h"

enum { OUTPUT_MAX_BYTES = 1024 * 1024 };

static const struct qs_job_benchmark *bench_of(const struct qs_job_run *job)
{
    return &job->p.spec->benchmarks[job->p.spec->points[job->plan.point].benchmark];
}

static void store(struct qs_job_run *job, const char *kind, const char *name, const struct qs_buf *bytes,
                  uint64_t total_bytes, const char *why)
{
    struct qs_artifact_row row = {.idx = job->artifacts.kept++,
                                  .kind = kind,
                                  .name = name,
                                  .files = job->p.files,
                                  .bytes = bytes ? bytes->data : NULL,
                                  .n = bytes ? bytes->len : 0,
                                  .total_bytes = total_bytes > INT64_MAX ? INT64_MAX : (int64_t)total_bytes,
                                  .why = why};
    memcpy(row.run_uid, job->run.uid.b, sizeof row.run_uid);
    qs_store_done_fn *fn;
    void *user;
    qs_job_run_store_quiet(job, &fn, &user);
    qs_store_artifact(job->p.store, &row, fn, user);
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

void qs_job_run_artifacts_output(struct qs_job_run *job)
{
    const struct qs_msg_closed *m = &job->win.made.closed;
    keep_output(&job->artifacts.output, m->output);
    keep_output(&job->artifacts.errors, m->errors);
    job->artifacts.output_bytes += m->output_bytes;
    job->artifacts.errors_bytes += m->errors_bytes;
    job->artifacts.apart = m->apart;
}

/* The path of a declared file with its parameters filled in; false behind the last one. */
static bool path_of(const struct qs_job_run *job, size_t i, struct qs_strings *filled)
{
    const struct qs_strings *all = &bench_of(job)->artifacts;
    if (i >= all->count)
        return false;
    const struct qs_strings one = {.at = &all->at[i], .count = 1};
    qs_job_fill(job->p.spec, qs_plan_arm(&job->plan), job->plan.point, &one, filled);
    return true;
}

static size_t limit_of(const struct qs_job_run *job)
{
    enum { KERNEL_LOG_MAX_BYTES = 65536 };
    return job->artifacts.next == 0 ? KERNEL_LOG_MAX_BYTES : (size_t)bench_of(job)->artifact_max_bytes;
}

static void on_run_ended(const union qs_msg *reply, const struct qs_err *refused, void *user)
{
    struct qs_job_run *job = user;
    if (refused) {
        qs_job_run_refused(job, refused);
        return;
    }
    job->run.open_on_agent = false;
    qs_job_run_harness_ended(job, &reply->run_ended);
    qs_job_run_feed(job, QS_JI_RUN_ENDED);
}

static void end_run(struct qs_job_run *job)
{
    struct qs_err err = QS_ERR_INIT;
    const struct qs_msg_run m = {.run = job->run.uid};
    qs_job_run_give_token(job);
    if (!qs_job_run_call(job, QS_MSG_RUN_END, &m, qs_job_run_step_limit_ns(job), on_run_ended, &err))
        qs_job_run_unsent(job, &err);
}

static void keep_one(struct qs_job_run *job, const struct qs_msg_pulled *m)
{
    const struct qs_job_run_fetch *f = &job->fetch;
    struct qs_buf why;
    bool file = f->source == QS_PULL_FILE;
    qs_buf_init(&why);
    if (m->why.n > 0) /* of what was had, too: what speaks against it */
        qs_text_escape(&why, m->why.p ? m->why.p : "", m->why.n);
    bool empty_log = !file && m->status == QS_PULL_OK && f->bytes.len == 0;
    if (!empty_log)
        store(job, file ? "file" : "kernel-log", file ? f->path : "kernel-log", &f->bytes, m->total_bytes,
              m->status != QS_PULL_OK || why.len > 0 ? why.data
              : f->bytes.len == 0                    ? "it is empty"
                                                     : NULL);
    qs_buf_done(&why);
}

static void fetch_next(struct qs_job_run *job);

/* What cannot be had is a row with the reason: it fails no run. */
static void on_fetched(struct qs_job_run *job, const struct qs_msg_pulled *last, const struct qs_err *why)
{
    bool file = job->fetch.source == QS_PULL_FILE;
    if (last)
        keep_one(job, last);
    else
        store(job, file ? "file" : "kernel-log", file ? job->fetch.path : "kernel-log", NULL, 0, why->text);
    job->artifacts.next++;
    fetch_next(job);
}

/* The kernel's log, then the declared files. */
static void fetch_next(struct qs_job_run *job)
{
    struct qs_strings path = {0};
    bool file = job->artifacts.next > 0;
    if (file && !path_of(job, job->artifacts.next - 1, &path)) {
        end_run(job);
        return;
    }
    qs_job_run_fetch_begin(job, file ? QS_PULL_FILE : QS_PULL_KERNEL_LOG, file ? path.at[0] : "",
                           limit_of(job), on_fetched);
    qs_strings_done(&path);
}

void qs_job_run_artifacts_begin(struct qs_job_run *job)
{
    job->artifacts.kept = job->run.documents;
    job->artifacts.next = 0;
    const struct qs_job_spec *spec = job->p.spec;
    const struct qs_job_benchmark *bench = &spec->benchmarks[spec->points[job->plan.point].benchmark];
    bool elsewhere = bench->output == QS_OUTPUT_FILE && !qs_job_run_is_stream(job);
    store_output(job,
                 job->artifacts.apart ? "stdout"
                 : elsewhere          ? "stderr"
                                      : "output",
                 &job->artifacts.output, &job->artifacts.output_bytes);
    store_output(job, "stderr", &job->artifacts.errors, &job->artifacts.errors_bytes);
    if (!job->p.files || !qs_session_has(job->p.session, QS_FEATURE_PULL)) {
        end_run(job);
        return;
    }
    fetch_next(job);
}

void qs_job_run_artifacts_stop(struct qs_job_run *job)
{
    qs_buf_clear(&job->artifacts.output);
    qs_buf_clear(&job->artifacts.errors);
    job->artifacts.output_bytes = job->artifacts.errors_bytes = 0;
}

void qs_job_run_artifacts_done(struct qs_job_run *job)
{
    qs_job_run_artifacts_stop(job);
    qs_buf_done(&job->artifacts.output);
    qs_buf_done(&job->artifacts.errors);
}
