/* What the job run tells people and the record. Never a running effect: precision and progress only. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/loop.h"
#include "device/board/knob.h"
#include "device/board/pin.h"
#include "device/job/evals.h"
#include "device/job/impl.h"
#include "device/job/event.h"
#include "device/job/events.h"
#include "report/model.h"
#include "store/knob.h"

void qs_event_begin(struct qs_event *n)
{
    qs_buf_init(&n->buf);
    n->json = qs_json_to(&n->buf);
    qs_json_object(&n->json);
}

void qs_event_tell(struct qs_job_run *job, struct qs_event *n, const char *kind, bool with_run)
{
    qs_json_object_end(&n->json);
    job->events.on_event(kind, n->buf.data, with_run ? job->run.uid.b : NULL, job->events.user);
    qs_buf_done(&n->buf);
}

void qs_job_event_start(struct qs_job_run *job)
{
    struct qs_event n;
    qs_event_begin(&n);
    qs_json_kint(&n.json, "blocks_min", job->p.spec->plan.blocks_min);
    qs_json_kint(&n.json, "blocks_max", job->p.spec->plan.blocks_max);
    qs_json_kint(&n.json, "arms", (int64_t)job->p.spec->arm_count);
    qs_json_kint(&n.json, "points", (int64_t)job->p.spec->point_count);
    char seed[24];
    snprintf(seed, sizeof seed, "%llu", (unsigned long long)job->p.seed);
    qs_json_kstring(&n.json, "seed", seed);
    qs_json_kbool(&n.json, "simulated", job->p.simulated);
    qs_event_tell(job, &n, "job.start", false);
}

void qs_job_event_push(struct qs_job_run *job, size_t missing, int64_t bytes, size_t there)
{
    struct qs_event n;
    qs_event_begin(&n);
    qs_json_kint(&n.json, "files", (int64_t)missing);
    qs_json_kint(&n.json, "bytes", bytes);
    qs_json_kint(&n.json, "there", (int64_t)there);
    qs_event_tell(job, &n, "job.push", false);
}

void qs_job_event_pushed(struct qs_job_run *job, size_t files, int64_t bytes, int64_t elapsed_ns)
{
    struct qs_event n;
    qs_event_begin(&n);
    qs_json_kint(&n.json, "files", (int64_t)files);
    qs_json_kint(&n.json, "bytes", bytes);
    qs_json_kint(&n.json, "elapsed_ns", elapsed_ns);
    qs_event_tell(job, &n, "job.pushed", false);
}

void qs_job_event_pinned(struct qs_job_run *job, const struct qs_pins *pins, unsigned again)
{
    struct qs_event n;
    qs_event_begin(&n);
    qs_json_karray(&n.json, "held");
    for (size_t i = 0; i < pins->choices.count; i++)
        qs_json_string(&n.json, pins->choices.at[i].text);
    qs_json_array_end(&n.json);
    qs_json_kint(&n.json, "files", (int64_t)pins->items.count);
    if (again > 0)
        qs_json_kint(&n.json, "again", again);
    qs_event_tell(job, &n, "job.pinned", true);
}

void qs_job_event_restored(struct qs_job_run *job, size_t put_back, size_t left)
{
    struct qs_event n;
    qs_event_begin(&n);
    qs_json_kint(&n.json, "files", (int64_t)put_back);
    qs_json_kint(&n.json, "left", (int64_t)left);
    qs_event_tell(job, &n, "job.restored", false);
}

void qs_job_event_probing(struct qs_job_run *job, size_t clocks, size_t switches, int64_t takes_ns)
{
    struct qs_event n;
    qs_event_begin(&n);
    qs_json_kstring(&n.json, "device", job->p.device);
    qs_json_kint(&n.json, "clocks", (int64_t)clocks);
    qs_json_kint(&n.json, "switches", (int64_t)switches);
    qs_json_kint(&n.json, "takes_ns", takes_ns);
    qs_event_tell(job, &n, "job.probing", false);
}

void qs_job_event_characterizing(struct qs_job_run *job, const struct qs_characterizing *at)
{
    struct qs_event n;
    qs_event_begin(&n);
    qs_json_kstring(&n.json, "domain", at->domain);
    qs_json_kstring(&n.json, "phase", at->phase);
    qs_json_kint(&n.json, "stage", (int64_t)at->stage);
    qs_json_kint(&n.json, "stages", (int64_t)at->stages);
    qs_json_kint(&n.json, "left_ns", at->left_ns);
    qs_event_tell(job, &n, "job.characterizing", false);
}

void qs_job_event_characterized(struct qs_job_run *job, const struct qs_model_row *warms,
                                const struct qs_model_row *cools)
{
    const struct qs_model_row *rows[] = {warms, cools};
    struct qs_event n;
    qs_event_begin(&n);
    qs_json_kstring(&n.json, "domain", cools->domain);
    qs_json_kstring(&n.json, "sensor", cools->sensor);
    for (size_t i = 0; i < 2; i++) {
        qs_json_kobject(&n.json, rows[i]->kind);
        qs_model_json(rows[i], &n.json);
        qs_json_object_end(&n.json);
    }
    qs_event_tell(job, &n, "job.characterized", false);
}

void qs_job_event_soaked(struct qs_job_run *job, const struct qs_model_row *found)
{
    struct qs_event n;
    qs_event_begin(&n);
    qs_json_kstring(&n.json, "domain", found->domain);
    qs_json_kstring(&n.json, "says", found->says);
    qs_json_kint(&n.json, "khz", found->khz);
    qs_json_kstring(&n.json, "why", found->why);
    qs_event_tell(job, &n, "job.soaked", false);
}

void qs_job_event_knobs(struct qs_job_run *job, const struct qs_knob_row *rows, size_t count)
{
    struct qs_event n;
    size_t tried = 0;
    qs_event_begin(&n);
    qs_json_karray(&n.json, "doubtful");
    for (size_t i = 0; i < count; i++) {
        tried += strcmp(rows[i].sticks, "untried") != 0;
        if (!qs_knob_is_doubtful(&rows[i]))
            continue;
        qs_json_object(&n.json);
        qs_json_kstring(&n.json, "name", rows[i].name);
        qs_json_kstring(&n.json, "sticks", rows[i].sticks);
        qs_json_kstring(&n.json, "effect", rows[i].effect);
        qs_json_kstring(&n.json, "why", rows[i].why);
        qs_json_object_end(&n.json);
    }
    qs_json_array_end(&n.json);
    qs_json_kint(&n.json, "tried", (int64_t)tried);
    qs_json_kint(&n.json, "untried", (int64_t)(count - tried));
    qs_event_tell(job, &n, "job.knobs", false);
}

void qs_job_event_pilot(struct qs_job_run *job, size_t arm, int64_t pilot_ns)
{
    struct qs_event n;
    qs_event_begin(&n);
    qs_json_kint(&n.json, "point", (int64_t)job->schedule.point);
    qs_json_kstring(&n.json, "arm", job->p.spec->arms[arm].name);
    qs_json_kint(&n.json, "pilot_ns", pilot_ns);
    qs_event_tell(job, &n, "job.pilot", false);
}

void qs_job_event_evals(struct qs_job_run *job, const struct qs_evals *evals)
{
    struct qs_event n;
    qs_event_begin(&n);
    qs_json_kint(&n.json, "point", (int64_t)job->schedule.point);
    qs_json_key(&n.json, "evaluations");
    qs_evals_json(evals, &n.json);
    qs_event_tell(job, &n, "job.evals", true);
}

void qs_job_event_plan(struct qs_job_run *job)
{
    int64_t longest_ns = 0, block_ns = 0;
    for (size_t a = 0; a < job->p.spec->arm_count; a++) {
        int64_t window_ns = job->schedule.pilot_ns[a] * (int64_t)job->schedule.run_iterations;
        block_ns += window_ns;
        if (window_ns > longest_ns)
            longest_ns = window_ns;
    }
    struct qs_event n;
    qs_event_begin(&n);
    qs_json_kint(&n.json, "point", (int64_t)job->schedule.point);
    if (!qs_stream_is_on(job)) /* else a run has what its program writes */
        qs_json_kint(&n.json, "iterations_per_run", job->schedule.run_iterations);
    qs_json_kint(&n.json, "predicted_window_ns", longest_ns);
    qs_json_kint(&n.json, "predicted_block_ns", block_ns);
    qs_event_tell(job, &n, "job.plan", false);
}

void qs_job_event_planned(struct qs_job_run *job, const struct qs_planner_answer *answer)
{
    struct qs_event n;
    qs_event_begin(&n);
    qs_json_kint(&n.json, "point", (int64_t)job->schedule.point);
    qs_json_kint(&n.json, "iterations_per_run", (int64_t)answer->iterations);
    qs_json_kint(&n.json, "blocks", (int64_t)answer->runs);
    qs_json_kdouble(&n.json, "half_width_ratio", answer->half_width_ratio);
    qs_json_kbool(&n.json, "attainable", answer->attainable);
    qs_event_tell(job, &n, "job.planned", false);
}

void qs_job_event_announce(struct qs_job_run *job, int64_t predicted_ns)
{
    struct qs_event n;
    qs_event_begin(&n);
    qs_json_kstring(&n.json, "arm", job->p.spec->arms[qs_schedule_arm(&job->schedule)].name);
    qs_json_kint(&n.json, "block", job->schedule.block);
    qs_json_kint(&n.json, "predicted_ns", predicted_ns);
    qs_event_tell(job, &n, "window.announce", true);
}

void qs_job_event_host(struct qs_job_run *job, const char *what, const char *name, const char *why)
{
    struct qs_event n;
    qs_event_begin(&n);
    qs_json_kstring(&n.json, "what", what);
    qs_json_kstring(&n.json, "name", name);
    qs_json_kstring(&n.json, "why", why);
    qs_event_tell(job, &n, "host.failed", true);
}

void qs_job_event_meter(struct qs_job_run *job, const char *name, const char *why)
{
    struct qs_event n;
    qs_event_begin(&n);
    qs_json_kstring(&n.json, "name", name);
    qs_json_kstring(&n.json, "why", why);
    qs_event_tell(job, &n, "meter.failed", true);
}

void qs_job_event_held(struct qs_job_run *job, const char *why)
{
    struct qs_event n;
    qs_event_begin(&n);
    qs_json_kstring(&n.json, "why", why);
    snprintf(job->win.waits_for, sizeof job->win.waits_for, "%s", why);
    qs_event_tell(job, &n, "window.held", true);
}

void qs_job_event_run(struct qs_job_run *job)
{
    char taint[128];
    struct qs_event n;
    qs_event_begin(&n);
    qs_json_kint(&n.json, "point", (int64_t)job->schedule.point);
    qs_json_kstring(&n.json, "arm", job->p.spec->arms[qs_schedule_arm(&job->schedule)].name);
    qs_json_kint(&n.json, "block", job->schedule.block);
    qs_json_kint(&n.json, "pos", (int64_t)job->schedule.turn);
    qs_json_kint(&n.json, "n", (int64_t)job->run.clean_n);
    qs_json_kint(&n.json, "tainted",
                 (int64_t)(job->run.stored_n - job->run.traced_n) - (int64_t)job->run.clean_n);
    qs_json_kstring(&n.json, "taint", qs_taint_names(job->run.taint, taint, sizeof taint));
    qs_event_tell(job, &n, "run.done", true);
}

void qs_job_event_repeat(struct qs_job_run *job, const char *why)
{
    struct qs_event n;
    qs_event_begin(&n);
    qs_json_kint(&n.json, "point", (int64_t)job->schedule.point);
    qs_json_kint(&n.json, "block", job->schedule.block);
    qs_json_kint(&n.json, "attempt", job->schedule.attempt + 1);
    qs_json_kstring(&n.json, "why", why);
    qs_event_tell(job, &n, "block.repeat", false);
}

void qs_job_event_block(struct qs_job_run *job, double half_width)
{
    int64_t now_ns = qs_loop_now_ns(job->p.loop),
            eta_ns = qs_schedule_eta_ns(&job->schedule, now_ns, qs_patience_left_ns(job));
    const struct qs_job_plan *plan = &job->p.spec->plan;
    struct qs_event n;
    qs_event_begin(&n);
    qs_json_kint(&n.json, "point", (int64_t)job->schedule.point);
    qs_json_kint(&n.json, "points", (int64_t)job->p.spec->point_count);
    qs_json_kint(&n.json, "block", (int64_t)job->schedule.blocks_done);
    qs_json_kint(&n.json, "blocks_min", plan->blocks_min);
    qs_json_kint(&n.json, "blocks_max", plan->blocks_max);
    qs_json_kint(&n.json, "next_look", qs_schedule_next_look(&job->schedule));
    qs_json_kdouble(&n.json, "half_width_ratio", half_width);
    qs_json_kdouble(&n.json, "goal_ratio", plan->interval_ratio > 0 ? plan->interval_ratio : NAN);
    qs_json_kint(&n.json, "elapsed_ns", now_ns - job->began_ns);
    qs_patience_put(job, &n.json);
    qs_json_key(&n.json, "eta_ns");
    eta_ns >= 0 ? qs_json_int(&n.json, eta_ns) : qs_json_null(&n.json);
    qs_event_tell(job, &n, "job.progress", false);
}

void qs_job_event_lost(struct qs_job_run *job, const char *why)
{
    struct qs_event n;
    qs_event_begin(&n);
    qs_json_kstring(&n.json, "why", why);
    qs_event_tell(job, &n, "job.lost", false);
}

void qs_job_event_back(struct qs_job_run *job)
{
    struct qs_event n;
    qs_event_begin(&n);
    qs_json_kstring(&n.json, "boot", job->boot_uuid);
    qs_event_tell(job, &n, "job.back", false);
}

void qs_job_event_warning(struct qs_job_run *job, const char *fmt, ...)
{
    QS_BUF(text);
    struct qs_event n;
    va_list ap;
    va_start(ap, fmt);
    qs_buf_vfmt(&text, fmt, ap);
    va_end(ap);
    qs_event_begin(&n);
    qs_json_kstring(&n.json, "text", text.data);
    qs_event_tell(job, &n, "job.warning", false);
}
