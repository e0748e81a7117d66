/* Runs of harness mode: what their program is given, how it is moved, and how it ended. */
#include <string.h>

#include "base/json.h"
#include "device/activity/harness.h"
#include "device/activity/tune.h"
#include "device/job/impl.h"
#include "device/job/events.h"

bool qs_harness_is_on(const struct qs_job_run *job)
{
    return qs_job_run_benchmark(job)->mode == QS_MODE_HARNESS;
}

void qs_harness_draw(struct qs_job_run *job)
{
    const struct qs_job_turn turn = {.point = job->schedule.point,
                                     .block = job->schedule.block,
                                     .attempt = job->schedule.attempt,
                                     .pos = (uint32_t)job->schedule.turn};
    qs_job_draw_layout(job->p.spec, job->p.seed, job->schedule.device, &turn, &job->run.program.layout);
}

static const char *ended_name(enum qs_ended_how how)
{
    static const char *const names[] = {"", "exited", "signalled", "lost"};
    return names[how];
}

void qs_harness_json(const struct qs_job_run *job, struct qs_buf *out)
{
    const struct qs_job_benchmark *b = qs_job_run_benchmark(job);
    const struct qs_program *p = &job->run.program;
    struct qs_json j = qs_json_to(out);
    qs_json_object(&j);
    qs_json_kstring(&j, "benchmark", b->program_benchmark ? b->program_benchmark : "");
    qs_json_kstring(&j, "layout", b->layout == QS_JOB_LAYOUT_FIXED ? "fixed" : "random");
    qs_json_kint(&j, "environment_bytes", p->layout.environment_bytes);
    qs_json_kint(&j, "stack_bytes", p->layout.stack_bytes);
    qs_json_kint(&j, "heap_bytes", p->layout.heap_bytes);
    qs_activity_tune_put(job, &j);
    if (p->header_version > 0) {
        qs_json_kint(&j, "header", p->header_version);
        qs_json_kbool(&j, "shared_cpu", (p->ready_flags & QS_READY_SHARED_CPU) != 0);
    }
    if (p->how != QS_ENDED_COMMAND) {
        qs_json_kstring(&j, "ended", ended_name(p->how));
        qs_json_kint(&j, "code", p->code);
        qs_json_kbool(&j, "torn_down", (p->ended_flags & QS_ENDED_NO_TEARDOWN) == 0);
    }
    qs_json_object_end(&j);
}

bool qs_harness_fill(struct qs_job_run *job, struct qs_build *params, struct qs_msg_run_begin *m)
{
    const struct qs_job_layout *l = &job->run.program.layout;
    uint32_t n = qs_schedule_iterations(&job->schedule), rows = qs_activity_tune_rows(job);
    QS_SCOPED(qs_strings_done) struct qs_strings list = {0};
    bool ok = true;
    qs_job_program_params(job->p.spec, qs_schedule_arm(&job->schedule), job->schedule.point, &list);
    for (size_t i = 0; ok && i < list.count; i++)
        ok = qs_build_text(params, qs_text_of(list.at[i]));
    m->mode = QS_RUN_HARNESS;
    m->harness = (struct qs_harness){.benchmark = qs_text_of(qs_job_run_benchmark(job)->program_benchmark),
                                     .params = qs_build_list(params),
                                     .capacity = n < rows                ? rows
                                                 : n < QS_ITERATIONS_MAX ? n
                                                                         : QS_ITERATIONS_MAX,
                                     .seed = l->seed,
                                     .environment_bytes = l->environment_bytes,
                                     .stack_bytes = l->stack_bytes,
                                     .heap_bytes = l->heap_bytes};
    return ok;
}

void qs_harness_ready(struct qs_job_run *job, const struct qs_msg_run_ready *m)
{
    struct qs_program *p = &job->run.program;
    p->header_version = m->header_version;
    p->ready_flags = m->flags;
    p->evals_max = m->evals_max;
    qs_text_copy(m->cpus, p->cpus, sizeof p->cpus);
}

void qs_harness_ended(struct qs_job_run *job, const struct qs_msg_run_ended *m)
{
    struct qs_program *p = &job->run.program;
    p->how = m->how;
    p->code = m->code;
    p->ended_flags = m->flags;
    if (m->flags & QS_ENDED_LEFT_CHILDREN)
        job->run.taint |= QS_TAINT_CHILDREN;
    if (m->flags & QS_ENDED_NO_TEARDOWN)
        job->run.taint |= QS_TAINT_HOOK;
    bool clean = m->how == QS_ENDED_EXITED && m->code == 0 && (m->flags & QS_ENDED_NO_TEARDOWN) == 0;
    if (m->how != QS_ENDED_COMMAND && !clean && !qs_job_run_over(job))
        qs_job_event_warning(job, "the program of %s %s with %d%s",
                             job->p.spec->arms[qs_schedule_arm(&job->schedule)].name, ended_name(m->how),
                             (int)m->code,
                             (m->flags & QS_ENDED_TIMED_OUT)     ? ": its teardown reached its limit"
                             : (m->flags & QS_ENDED_NO_TEARDOWN) ? ": it did not tear down"
                                                                 : "");
}
