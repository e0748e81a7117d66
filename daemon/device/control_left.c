/* What a run has left: the output of its windows, what the kernel logged, and the files that the job
 * declares. Fetched piece by piece between its last window and its end, so that no window has company. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/loop.h"
#include "base/text.h"
#include "device/control_impl.h"

enum { OUTPUT_MAX_BYTES = 1024 * 1024 };

static const struct qs_job_benchmark *bench_of(const struct qs_control *c)
{
    return &c->p.spec->benchmarks[c->p.spec->points[c->plan.point].benchmark];
}

static void store(struct qs_control *c, const char *kind, const char *name, const struct qs_buf *bytes,
                  uint64_t total_bytes, const char *why)
{
    struct qs_artifact_row row = {.idx = c->left.kept++,
                                  .kind = kind,
                                  .name = name,
                                  .files = c->p.files,
                                  .bytes = bytes ? bytes->data : NULL,
                                  .n = bytes ? bytes->len : 0,
                                  .total_bytes = total_bytes > INT64_MAX ? INT64_MAX : (int64_t)total_bytes,
                                  .why = why};
    memcpy(row.run_uid, c->run.uid.b, sizeof row.run_uid);
    qs_store_done_fn *fn;
    void *user;
    qs_control_store_quiet(c, &fn, &user);
    qs_store_artifact(c->p.store, &row, fn, user);
}

static void keep_output(struct qs_buf *all, struct qs_text some)
{
    size_t room = OUTPUT_MAX_BYTES - all->len;
    qs_buf_add(all, some.p ? some.p : "", some.n < room ? some.n : room);
}

static void store_output(struct qs_control *c, const char *name, struct qs_buf *bytes, uint64_t *total_bytes)
{
    if (c->p.files && *total_bytes > 0)
        store(c, "output", name, bytes, *total_bytes, bytes->len == 0 ? "it was not captured" : NULL);
    qs_buf_clear(bytes);
    *total_bytes = 0;
}

void qs_control_left_output(struct qs_control *c)
{
    const struct qs_msg_closed *m = &c->win.made.closed;
    keep_output(&c->left.output, m->output);
    keep_output(&c->left.errors, m->errors);
    c->left.output_bytes += m->output_bytes;
    c->left.errors_bytes += m->errors_bytes;
    c->left.apart = m->apart;
}

/* The path of a declared file with its parameters filled in; false behind the last one. */
static bool path_of(const struct qs_control *c, size_t i, struct qs_strings *filled)
{
    const struct qs_strings *all = &bench_of(c)->artifacts;
    if (i >= all->count)
        return false;
    const struct qs_strings one = {.at = &all->at[i], .count = 1};
    qs_job_fill(c->p.spec, qs_plan_arm(&c->plan), c->plan.point, &one, filled);
    return true;
}

static size_t limit_of(const struct qs_control *c)
{
    enum { KERNEL_LOG_MAX_BYTES = 65536 };
    return c->left.next == 0 ? KERNEL_LOG_MAX_BYTES : (size_t)bench_of(c)->artifact_max_bytes;
}

static void on_run_ended(const union qs_msg *reply, const struct qs_err *refused, void *user)
{
    struct qs_control *c = user;
    if (refused) {
        qs_control_refused(c, refused);
        return;
    }
    c->run.open_on_agent = false;
    qs_control_harness_ended(c, &reply->run_ended);
    qs_control_feed(c, QS_CE_RUN_ENDED);
}

static void end_run(struct qs_control *c)
{
    struct qs_err err = QS_ERR_INIT;
    const struct qs_msg_run m = {.run = c->run.uid};
    qs_control_give_token(c);
    if (!qs_control_call(c, QS_MSG_RUN_END, &m, qs_control_step_limit_ns(c), on_run_ended, &err))
        qs_control_unsent(c, &err);
}

static void keep_one(struct qs_control *c, const struct qs_msg_pulled *m)
{
    const struct qs_control_fetch *f = &c->fetch;
    struct qs_buf why;
    bool file = f->source == QS_PULL_FILE;
    qs_buf_init(&why);
    if (m->why.n > 0) /* of what was had, too: what speaks against it */
        qs_text_escape(&why, m->why.p ? m->why.p : "", m->why.n);
    bool empty_log = !file && m->status == QS_PULL_OK && f->bytes.len == 0;
    if (!empty_log)
        store(c, file ? "file" : "kernel-log", file ? f->path : "kernel-log", &f->bytes, m->total_bytes,
              m->status != QS_PULL_OK || why.len > 0 ? why.data
              : f->bytes.len == 0                    ? "it is empty"
                                                     : NULL);
    qs_buf_done(&why);
}

static void fetch_next(struct qs_control *c);

/* What cannot be had is a row with the reason: it fails no run. */
static void on_fetched(struct qs_control *c, const struct qs_msg_pulled *last, const struct qs_err *why)
{
    bool file = c->fetch.source == QS_PULL_FILE;
    if (last)
        keep_one(c, last);
    else
        store(c, file ? "file" : "kernel-log", file ? c->fetch.path : "kernel-log", NULL, 0, why->text);
    c->left.next++;
    fetch_next(c);
}

/* The kernel's log, then the declared files. */
static void fetch_next(struct qs_control *c)
{
    struct qs_strings path = {0};
    bool file = c->left.next > 0;
    if (file && !path_of(c, c->left.next - 1, &path)) {
        end_run(c);
        return;
    }
    qs_control_fetch_begin(c, file ? QS_PULL_FILE : QS_PULL_KERNEL_LOG, file ? path.at[0] : "", limit_of(c),
                           on_fetched);
    qs_strings_done(&path);
}

void qs_control_left_begin(struct qs_control *c)
{
    c->left.kept = c->run.documents;
    c->left.next = 0;
    const struct qs_job_spec *spec = c->p.spec;
    const struct qs_job_benchmark *bench = &spec->benchmarks[spec->points[c->plan.point].benchmark];
    bool elsewhere = bench->output == QS_OUTPUT_FILE && !qs_control_is_stream(c);
    store_output(c,
                 c->left.apart ? "stdout"
                 : elsewhere   ? "stderr"
                               : "output",
                 &c->left.output, &c->left.output_bytes);
    store_output(c, "stderr", &c->left.errors, &c->left.errors_bytes);
    if (!c->p.files || !qs_session_has(c->p.session, QS_FEATURE_PULL)) {
        end_run(c);
        return;
    }
    fetch_next(c);
}

void qs_control_left_stop(struct qs_control *c)
{
    qs_buf_clear(&c->left.output);
    qs_buf_clear(&c->left.errors);
    c->left.output_bytes = c->left.errors_bytes = 0;
}

void qs_control_left_done(struct qs_control *c)
{
    qs_control_left_stop(c);
    qs_buf_done(&c->left.output);
    qs_buf_done(&c->left.errors);
}
