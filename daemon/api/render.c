#include "api/render.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "config/job/stored.h"
#include "proto/names.h"

/* A wall time in ns, or null where it has not come. */
static void put_time(struct qs_json *j, const char *key, int64_t wall_ns)
{
    qs_json_kmaybe(j, key, wall_ns != 0, wall_ns);
}

void qs_render_job(struct qs_json *j, const struct qs_job_info *job)
{
    char seed[24]; /* as text: 64 bits do not fit a JSON number of every reader */
    snprintf(seed, sizeof seed, "%llu", (unsigned long long)job->seed);
    qs_json_kint(j, "id", job->id);
    qs_json_kstring(j, "name", job->name);
    qs_json_kstring(j, "owner", job->owner);
    qs_json_kstring(j, "state", qs_job_state_name(job->state));
    qs_json_kstring(j, "reason", job->reason);
    job->verdict_json ? qs_json_kraw(j, "verdict", job->verdict_json) : qs_json_kstring(j, "verdict", NULL);
    qs_json_kstring(j, "seed", seed);
    put_time(j, "submitted_wall_ns", job->submitted_wall_ns);
    put_time(j, "started_wall_ns", job->started_wall_ns);
    put_time(j, "ended_wall_ns", job->ended_wall_ns);
    qs_json_kint(j, "runs", job->runs);
    qs_json_kint(j, "runs_tainted", job->runs_tainted);
    qs_json_kint(j, "iterations", (int64_t)job->iterations);
}

void qs_render_taint(struct qs_json *j, uint32_t taint)
{
    char names[256];
    qs_taint_names(taint, names, sizeof names);
    qs_json_array(j);
    for (const char *name = names; *name;) {
        size_t n = strcspn(name, ",");
        qs_json_string_n(j, name, n);
        name += n + (name[n] == ',' ? 1 : 0);
    }
    qs_json_array_end(j);
}

/* What the device has not told yet is null, not an empty text. */
static void put_known(struct qs_json *j, const char *key, const char *text)
{
    qs_json_kstring(j, key, text && *text ? text : NULL);
}

static void put_error(struct qs_json *j, const struct qs_run_info *run)
{
    qs_json_key(j, "error");
    if (!run->error_slug) {
        qs_json_null(j);
        return;
    }
    qs_json_object(j);
    qs_json_kstring(j, "code", run->error_slug);
    qs_json_kstring(j, "message", run->error_text);
    qs_json_object_end(j);
}

void qs_render_run(struct qs_json *j, const struct qs_run_info *run)
{
    char uid[33];
    qs_hex(run->uid, sizeof run->uid, uid);
    qs_json_kint(j, "id", run->id);
    qs_json_kstring(j, "uid", uid);
    qs_json_kint(j, "job", run->job);
    qs_json_kint(j, "arm", run->arm);
    qs_json_kstring(j, "arm_name", run->arm_name);
    qs_json_kstring(j, "build", run->build);
    qs_json_kint(j, "point", run->point);
    qs_json_kstring(j, "device", run->device);
    qs_json_kbool(j, "simulated", run->simulated);
    qs_json_kint(j, "block", run->block);
    qs_json_kint(j, "pos", run->pos);
    qs_json_kint(j, "attempt", run->attempt);
    qs_json_kstring(j, "state", qs_run_state_name(run->state));
    qs_json_key(j, "taint");
    qs_render_taint(j, run->taint);
    qs_json_kint(j, "n", (int64_t)run->n);
    qs_json_kint(j, "n_tainted", (int64_t)run->n_tainted);
    qs_json_kint(j, "warmup_n", (int64_t)run->warmup_n);
    qs_json_kstring(j, "stop_reason", run->stop_reason);
    put_error(j, run);
    put_known(j, "exe_path", run->exe_path);
    put_known(j, "exe_sha256", run->exe_sha256);
    if (run->harness_json)
        qs_json_kraw(j, "harness", run->harness_json);
    if (run->stream_json)
        qs_json_kraw(j, "stream", run->stream_json);
    put_time(j, "started_wall_ns", run->started_wall_ns);
}

static void put_iteration(struct qs_json *j, const struct qs_iterations *it,
                          const struct qs_iteration_info *i)
{
    qs_json_object(j);
    qs_json_kint(j, "seq", (int64_t)i->seq);
    qs_json_kint(j, "window", i->window);
    qs_json_kstring(j, "phase", qs_phase_name(i->phase));
    qs_json_kmaybe(j, "start_ns", i->start_ns != INT64_MIN, i->start_ns);
    qs_json_kint(j, "duration_ns", i->duration_ns);
    qs_json_kint(j, "evals", i->evals);
    qs_json_kint(j, "status", i->status);
    qs_json_key(j, "taint");
    qs_render_taint(j, i->taint);
    for (size_t m = 0; m < it->metric_count; m++)
        qs_json_kmaybe(j, it->metrics[m], i->values[m] != INT64_MIN, i->values[m]);
    qs_json_object_end(j);
}

void qs_render_iterations(struct qs_json *j, const struct qs_iterations *it, size_t limit)
{
    qs_json_object(j);
    qs_json_karray(j, "metrics");
    for (size_t m = 0; m < it->metric_count; m++)
        qs_json_string(j, it->metrics[m]);
    qs_json_array_end(j);
    qs_json_karray(j, "iterations");
    for (size_t i = 0; i < it->count; i++)
        put_iteration(j, it, &it->at[i]);
    qs_json_array_end(j);
    bool full = it->count == limit;
    qs_json_kmaybe(j, "next", full, full ? (int64_t)it->at[it->count - 1].seq + 1 : 0);
    qs_json_object_end(j);
}

/* Whose they are, by the order of the arms, and what they are, by name. */
static void put_conditions(struct qs_json *j, const struct qs_job_spec *spec)
{
    qs_json_karray(j, "conditions");
    for (size_t a = 0; a < spec->arm_count; a++) {
        const struct qs_job_arm *arm = &spec->arms[a];
        qs_json_string(j, arm->has_conditions ? spec->conditions[arm->conditions].name : NULL);
    }
    qs_json_array_end(j);
    qs_json_kobject(j, "condition_sets");
    for (size_t i = 0; i < spec->condition_count; i++) {
        qs_json_key(j, spec->conditions[i].name);
        qs_job_put_conditions(j, &spec->conditions[i]);
    }
    qs_json_object_end(j);
}

void qs_render_spec(struct qs_json *j, const struct qs_job_spec *spec)
{
    qs_json_karray(j, "arms");
    for (size_t a = 0; a < spec->arm_count; a++)
        qs_json_string(j, spec->arms[a].name);
    qs_json_array_end(j);
    qs_json_karray(j, "builds");
    for (size_t a = 0; a < spec->arm_count; a++)
        qs_json_string(j, spec->arms[a].build_label);
    qs_json_array_end(j);
    put_conditions(j, spec);
    qs_json_karray(j, "points");
    for (size_t p = 0; p < spec->point_count; p++)
        qs_json_string(j, spec->points[p].label);
    qs_json_array_end(j);
}
