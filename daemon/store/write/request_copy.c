/* The writing half of store.h: each call copies what it is given, deeply, and queues it. */
#include <string.h>

#include "store/write/request.h"

static void keep(struct qs_arena *a, const char **text)
{
    *text = qs_arena_text(a, *text);
}

static void push(struct qs_store *store, struct qs_request *req, const void *row, size_t bytes)
{
    req->row = qs_arena_copy(&req->arena, row, bytes);
    qs_store_enqueue(store, req);
}

struct qs_request *qs_store_copy_job(const struct qs_job_row *job)
{
    struct qs_request *req = qs_request_new(qs_apply_job, NULL, NULL);
    struct qs_arena *a = &req->arena;
    struct qs_job_row row = *job;
    keep(a, &row.name);
    keep(a, &row.spec_json);
    struct qs_arm_row *arms = qs_arena_copy(a, job->arms, job->arm_count * sizeof *arms);
    for (size_t i = 0; i < job->arm_count; i++) {
        keep(a, &arms[i].name);
        keep(a, &arms[i].build_label);
        keep(a, &arms[i].build_content);
        keep(a, &arms[i].argv_json);
        keep(a, &arms[i].conditions_json);
    }
    struct qs_point_row *points = qs_arena_copy(a, job->points, job->point_count * sizeof *points);
    for (size_t i = 0; i < job->point_count; i++) {
        keep(a, &points[i].benchmark);
        keep(a, &points[i].params_json);
        keep(a, &points[i].conditions_json);
        keep(a, &points[i].label);
    }
    row.arms = arms;
    row.points = points;
    req->row = qs_arena_copy(a, &row, sizeof row);
    return req;
}

void qs_store_drop_copy(struct qs_request *copy)
{
    if (copy)
        qs_request_free(copy);
}

void qs_store_submit_copy(struct qs_store *store, struct qs_request *copy, const struct qs_job_row *job,
                          qs_store_done_fn *done, void *user)
{
    struct qs_job_row row = *(const struct qs_job_row *)copy->row;
    row.idem = qs_arena_text(&copy->arena, job->idem);
    row.owner = qs_arena_text(&copy->arena, job->owner);
    row.seed = job->seed;
    row.submitted_wall_ns = job->submitted_wall_ns;
    copy->done = done;
    copy->user = user;
    push(store, copy, &row, sizeof row);
}

void qs_store_submit(struct qs_store *store, const struct qs_job_row *job, qs_store_done_fn *done, void *user)
{
    qs_store_submit_copy(store, qs_store_copy_job(job), job, done, user);
}

void qs_store_job_state(struct qs_store *store, int64_t job, enum qs_job_state state, const char *reason,
                        int64_t at_ns, qs_store_done_fn *done, void *user)
{
    struct qs_request *req = qs_request_new(qs_apply_job_state, done, user);
    struct qs_job_state_row row = {
        .job = job, .at_ns = at_ns, .state = state, .reason = qs_arena_text(&req->arena, reason)};
    push(store, req, &row, sizeof row);
}

void qs_store_job_end(struct qs_store *store, const struct qs_job_end_row *end, qs_store_done_fn *done,
                      void *user)
{
    struct qs_request *req = qs_request_new(qs_apply_job_end, done, user);
    struct qs_job_end_row row = *end;
    keep(&req->arena, &row.reason);
    keep(&req->arena, &row.verdict_json);
    keep(&req->arena, &row.result_json);
    keep(&req->arena, &row.state_json);
    push(store, req, &row, sizeof row);
}

void qs_store_end_former_life(struct qs_store *store, int64_t at_ns, qs_store_done_fn *done, void *user)
{
    push(store, qs_request_new(qs_apply_former_life, done, user), &at_ns, sizeof at_ns);
}

void qs_store_device(struct qs_store *store, const struct qs_device_row *device, qs_store_done_fn *done,
                     void *user)
{
    struct qs_request *req = qs_request_new(qs_apply_device, done, user);
    struct qs_device_row row = *device;
    keep(&req->arena, &row.name);
    keep(&req->arena, &row.serial);
    keep(&req->arena, &row.port_path);
    keep(&req->arena, &row.profile);
    push(store, req, &row, sizeof row);
}

void qs_store_boot(struct qs_store *store, const struct qs_boot_row *boot, qs_store_done_fn *done, void *user)
{
    struct qs_request *req = qs_request_new(qs_apply_boot, done, user);
    struct qs_boot_row row = *boot;
    keep(&req->arena, &row.device);
    keep(&req->arena, &row.boot_uuid);
    keep(&req->arena, &row.fingerprint_json);
    keep(&req->arena, &row.clock);
    push(store, req, &row, sizeof row);
}

void qs_store_clock_pair(struct qs_store *store, const struct qs_clock_row *pair, qs_store_done_fn *done,
                         void *user)
{
    struct qs_request *req = qs_request_new(qs_apply_clock_pair, done, user);
    struct qs_clock_row row = *pair;
    keep(&req->arena, &row.device);
    keep(&req->arena, &row.boot_uuid);
    push(store, req, &row, sizeof row);
}

void qs_store_session_begin(struct qs_store *store, const struct qs_session_row *session,
                            qs_store_done_fn *done, void *user)
{
    struct qs_request *req = qs_request_new(qs_apply_session, done, user);
    struct qs_session_row row = *session;
    keep(&req->arena, &row.device);
    keep(&req->arena, &row.boot_uuid);
    keep(&req->arena, &row.env_json);
    push(store, req, &row, sizeof row);
}

void qs_store_session_end(struct qs_store *store, const uint8_t uid[16], int64_t at_ns, const char *reason,
                          qs_store_done_fn *done, void *user)
{
    struct qs_request *req = qs_request_new(qs_apply_session_end, done, user);
    struct qs_session_end_row row = {.at_ns = at_ns, .reason = qs_arena_text(&req->arena, reason)};
    memcpy(row.uid, uid, sizeof row.uid);
    push(store, req, &row, sizeof row);
}

void qs_store_session_env(struct qs_store *store, const uint8_t uid[16], const char *env_json,
                          qs_store_done_fn *done, void *user)
{
    struct qs_request *req = qs_request_new(qs_apply_session_env, done, user);
    struct qs_session_env_row row = {.env_json = qs_arena_text(&req->arena, env_json)};
    memcpy(row.uid, uid, sizeof row.uid);
    push(store, req, &row, sizeof row);
}

void qs_store_run_begin(struct qs_store *store, const struct qs_run_row *run, qs_store_done_fn *done,
                        void *user)
{
    struct qs_request *req = qs_request_new(qs_apply_run, done, user);
    struct qs_run_row row = *run;
    keep(&req->arena, &row.harness_json);
    keep(&req->arena, &row.stream_json);
    push(store, req, &row, sizeof row);
}

void qs_store_run_end(struct qs_store *store, const struct qs_run_end_row *end, qs_store_done_fn *done,
                      void *user)
{
    struct qs_request *req = qs_request_new(qs_apply_run_end, done, user);
    struct qs_run_end_row row = *end;
    keep(&req->arena, &row.stop_reason);
    keep(&req->arena, &row.error_slug);
    keep(&req->arena, &row.error_text);
    keep(&req->arena, &row.exe_path);
    keep(&req->arena, &row.exe_sha256);
    keep(&req->arena, &row.harness_json);
    push(store, req, &row, sizeof row);
}

static const struct qs_gate_row *copy_gate(struct qs_arena *a, const struct qs_gate_row *gate)
{
    if (!gate)
        return NULL;
    struct qs_gate_row *copy = qs_arena_copy(a, gate, sizeof *gate);
    keep(a, &copy->outcome);
    keep(a, &copy->busiest);
    keep(a, &copy->trace);
    struct qs_reading_row *readings =
        qs_arena_copy(a, gate->deciding, gate->deciding_count * sizeof *readings);
    for (size_t i = 0; i < gate->deciding_count; i++)
        keep(a, &readings[i].sensor);
    copy->deciding = readings;
    return copy;
}

static const struct qs_document_row *copy_document(struct qs_arena *a, const struct qs_document_row *document)
{
    if (!document)
        return NULL;
    struct qs_document_row *copy = qs_arena_copy(a, document, sizeof *document);
    keep(a, &copy->name);
    keep(a, &copy->why);
    copy->bytes = qs_arena_copy(a, document->bytes, document->n);
    return copy;
}

static void copy_window_lists(struct qs_arena *a, struct qs_window_row *row)
{
    struct qs_evidence_row *evidence =
        qs_arena_copy(a, row->evidence, row->evidence_count * sizeof *evidence);
    for (size_t i = 0; i < row->evidence_count; i++)
        keep(a, &evidence[i].kind);
    row->evidence = evidence;
    struct qs_taint_row *taints = qs_arena_copy(a, row->taints, row->taint_count * sizeof *taints);
    for (size_t i = 0; i < row->taint_count; i++)
        keep(a, &taints[i].code);
    row->taints = taints;
    const char **metrics = qs_arena_copy(a, row->metrics, row->metric_count * sizeof *metrics);
    for (size_t i = 0; i < row->metric_count; i++)
        keep(a, &metrics[i]);
    row->metrics = metrics;
    if (row->kinds) {
        struct qs_metric_kind *kinds = qs_arena_copy(a, row->kinds, row->metric_count * sizeof *kinds);
        for (size_t i = 0; i < row->metric_count; i++)
            keep(a, &kinds[i].unit);
        row->kinds = kinds;
    }
    row->iterations = qs_arena_copy(a, row->iterations, row->n * sizeof *row->iterations);
}

void qs_store_window(struct qs_store *store, const struct qs_window_row *window, qs_store_done_fn *done,
                     void *user)
{
    struct qs_request *req = qs_request_new(qs_apply_window, done, user);
    struct qs_window_row row = *window;
    keep(&req->arena, &row.how);
    keep(&req->arena, &row.failure);
    keep(&req->arena, &row.output);
    row.gate = copy_gate(&req->arena, window->gate);
    row.document = copy_document(&req->arena, window->document);
    copy_window_lists(&req->arena, &row);
    push(store, req, &row, sizeof row);
}

void qs_store_event(struct qs_store *store, const struct qs_event_row *event, qs_store_done_fn *done,
                    void *user)
{
    struct qs_request *req = qs_request_new(qs_apply_event, done, user);
    struct qs_event_row row = *event;
    keep(&req->arena, &row.kind);
    keep(&req->arena, &row.device);
    keep(&req->arena, &row.body_json);
    if (event->run_uid)
        row.run_uid = qs_arena_copy(&req->arena, event->run_uid, 16);
    push(store, req, &row, sizeof row);
}

void qs_store_artifact(struct qs_store *store, const struct qs_artifact_row *artifact, qs_store_done_fn *done,
                       void *user)
{
    struct qs_request *req = qs_request_new(qs_apply_artifact, done, user);
    struct qs_artifact_row row = *artifact;
    keep(&req->arena, &row.kind);
    keep(&req->arena, &row.name);
    keep(&req->arena, &row.why);
    row.bytes = qs_arena_copy(&req->arena, artifact->bytes, artifact->n);
    if (artifact->trace)
        row.trace = qs_arena_copy(&req->arena, artifact->trace, sizeof *artifact->trace);
    push(store, req, &row, sizeof row);
}

void qs_store_file(struct qs_store *store, const char sha256[65], int64_t bytes, qs_store_done_fn *done,
                   void *user)
{
    struct qs_request *req = qs_request_new(qs_apply_file, done, user);
    struct qs_file_row row = {.bytes = bytes};
    memcpy(row.sha256, sha256, sizeof row.sha256);
    push(store, req, &row, sizeof row);
}
