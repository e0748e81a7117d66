#include "world.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char text[] =
    "quiesce: 1\nname: golden\n"
    "benchmarks:\n"
    "  - {name: blur, argv: [sleep, '1']}\n"
    "  - {name: 'p|q', argv: [sleep, '2'], metrics: {time: {margin: 5%}}}\n"
    "arms: {base: {argv: [sleep, '0']}, v2: {build: {label: v2}}, 'a,\"b': {argv: [echo, 'x|y']}}\n";

static void on_stored(const struct qs_err *err, int64_t id, void *user)
{
    (void)id;
    (void)user;
    if (err)
        fail_msg("%s", err->text);
}

/* `document`: the stored one as it is; NULL: that of the text, with more members. */
static void put_job(struct fixture *f, const char *name, const char *more, const char *document)
{
    const struct qs_arm_row arms[] = {{.name = "base", .argv_json = "[]"},
                                      {.name = "v2", .argv_json = "[]", .build_label = "v2"},
                                      {.name = "a,\"b", .argv_json = "[]"}};
    const struct qs_point_row points[] = {
        {.benchmark = "blur", .params_json = "{}", .conditions_json = "{}", .label = "blur"},
        {.benchmark = "p|q", .params_json = "{}", .conditions_json = "{}", .label = "p|q"}};
    json_t *quoted = json_string(text);
    char *in_json = json_dumps(quoted, JSON_ENCODE_ANY), *spec = malloc(4096);
    snprintf(spec, 4096, "{\"text\":%s%s}", in_json, more);
    const struct qs_job_row row = {.owner = "ada",
                                   .name = name,
                                   .spec_json = document ? document : spec,
                                   .seed = UINT64_MAX - 1,
                                   .submitted_wall_ns = 10,
                                   .arms = arms,
                                   .arm_count = 3,
                                   .points = points,
                                   .point_count = 2};
    qs_store_submit(f->store, &row, on_stored, NULL);
    json_decref(quoted);
    free(in_json);
    free(spec);
}

static void put_session(struct fixture *f, int64_t job, uint8_t uid, const char *device, bool simulated)
{
    const struct qs_device_row row = {
        .name = device, .serial = device, .port_path = "", .profile = "local", .simulated = simulated};
    const struct qs_boot_row boot = {
        .device = device, .boot_uuid = device, .fingerprint_json = "{}", .clock = "m", .seen_wall_ns = 5};
    const struct qs_session_row session = {.uid = {uid},
                                           .job = job,
                                           .device = device,
                                           .boot_uuid = device,
                                           .env_json = "{\"kernel\":\"6.1\"}",
                                           .started_wall_ns = job * INT64_C(86400000000000)};
    qs_store_device(f->store, &row, on_stored, NULL);
    qs_store_boot(f->store, &boot, on_stored, NULL);
    qs_store_session_begin(f->store, &session, on_stored, NULL);
}

struct window {
    enum qs_phase phase;
    uint32_t ord, taint;
    uint64_t first_seq;
    size_t n;
};

/* Arm 2 is measured by four evaluations at a time. Of each third block the system time is missing. */
static void put_window(struct fixture *f, const struct qs_run_row *run, const struct window *window)
{
    static const char *const metrics[] = {"user_time_us", "system_time_us", "frames"};
    static const struct qs_metric_kind kinds[] = {
        {.unit = "us"}, {.unit = "us"}, {.unit = "count", .higher_is_better = true, .deterministic = true}};
    const uint32_t evals = run->arm == 2 ? 4 : 1;
    struct qs_iteration_row rows[4] = {{0}};
    const struct qs_taint_row taint = {.i = (int32_t)window->n - 1, .code = "exit", .value = 3, .bound = 0};
    for (size_t i = 0; i < window->n; i++)
        rows[i] = (struct qs_iteration_row){
            .start_off_ns = run->stream_json ? -1 : 7 * (int64_t)i,
            .duration_ns = evals * (int64_t)(1000000 + 500000 * run->arm + 1000 * (run->block % 3) + 100 * i +
                                             run->point),
            .taint = window->taint,
            .values = {100 + run->arm, run->block % 3 == 0 ? INT64_MIN : 20 + run->block, 7 + run->arm}};
    const struct qs_reading_row reading = {.sensor = "thermal:cpu", .value = 44900};
    const struct qs_gate_row gate = {.decided_ns = 3000000000,
                                     .outcome = "open",
                                     .polls = 3,
                                     .deciding = &reading,
                                     .deciding_count = 1,
                                     .trace = "[[0,0,61200],[1000,0,51000],[2000,0,46300]]"};
    if (run->block == 1 && run->arm == 1) {
        rows[window->n - 1].taint = QS_TAINT_EXIT;
        rows[window->n - 1].status = 3;
    }
    const struct qs_window_row row = {.run_uid = {run->uid[0], run->uid[1]},
                                      .ord = window->ord,
                                      .phase = window->phase,
                                      .first_seq = window->first_seq,
                                      .opened_ns = 1000 * window->ord,
                                      .closed_ns = 1000 * window->ord + 500,
                                      .evals = evals,
                                      .how = "done",
                                      .gate =
                                          run->block == 1 && run->arm == 0 && run->point == 0 ? &gate : NULL,
                                      .taints = &taint,
                                      .taint_count = run->block == 1 && run->arm == 1,
                                      .metrics = metrics,
                                      .metric_count = 3,
                                      .kinds = kinds,
                                      .iterations = rows,
                                      .n = window->n};
    qs_store_window(f->store, &row, on_stored, NULL);
}

static void put_run(struct fixture *f, const struct qs_run_row *run, uint32_t disturbed)
{
    const struct window windows[] = {
        {QS_PHASE_WARMUP, 0, 0, 0, 1}, {QS_PHASE_MEASURE, 1, disturbed, 1, 4}, {QS_PHASE_TRACED, 2, 0, 5, 1}};
    qs_store_run_begin(f->store, run, on_stored, NULL);
    for (size_t i = 0; i < (run->block == 1 && run->arm == 0 ? 3 : 2); i++)
        put_window(f, run, &windows[i]);
}

static void end_run(struct fixture *f, const struct qs_run_row *run, struct qs_run_end_row end)
{
    memcpy(end.uid, run->uid, sizeof end.uid);
    end.ended_wall_ns = 60;
    if (!end.error_slug) {
        end.exe_path = run->arm == 2 ? "/bin/echo" : "/bin/sleep";
        end.exe_sha256 = run->arm == 2 ? SHA_OF_HELLO : SHA_OF_ARM;
    }
    qs_store_run_end(f->store, &end, on_stored, NULL);
}

/* The arms once each. The uid says which run of which job it is. */
static void put_block(struct fixture *f, int64_t job, uint8_t session, uint32_t point, uint32_t block)
{
    for (uint32_t arm = 0; arm < 3; arm++) {
        const struct qs_run_row run = {.uid = {(uint8_t)job, (uint8_t)(session * 32 + block * 3 + arm)},
                                       .session_uid = {session},
                                       .job = job,
                                       .arm = arm,
                                       .point = point,
                                       .block = block,
                                       .pos = arm,
                                       .harness_json = arm == 2 ? "{\"layout\":\"fixed\"}" : NULL,
                                       .started_wall_ns = 50 + block};
        put_run(f, &run, 0);
        end_run(f, &run,
                (struct qs_run_end_row){.state = QS_RUN_DONE, .stop_reason = "fixed", .warmup_n = 1});
    }
}

/* A run that failed, one that was interrupted, and one whose iterations are all tainted softly. */
static void put_bad_block(struct fixture *f, int64_t job, uint8_t session, uint32_t block)
{
    static const struct qs_run_end_row ends[] = {
        {.state = QS_RUN_FAILED, .taint = QS_TAINT_EXIT, .error_slug = "exec", .error_text = "it is gone"},
        {.state = QS_RUN_INTERRUPTED, .taint = QS_TAINT_INTERRUPTED},
        {.state = QS_RUN_DONE, .stop_reason = "fixed", .taint = QS_TAINT_GATE | QS_TAINT_EVIDENCE}};
    for (uint32_t arm = 0; arm < 3; arm++) {
        const struct qs_run_row run = {.uid = {(uint8_t)job, (uint8_t)(session * 32 + block * 3 + arm)},
                                       .session_uid = {session},
                                       .job = job,
                                       .arm = arm,
                                       .block = block,
                                       .pos = 2 - arm,
                                       .attempt = 1,
                                       .stream_json = arm == 1 ? "{\"format\":\"numbers\"}" : NULL,
                                       .started_wall_ns = 70};
        put_run(f, &run, arm == 2 ? QS_TAINT_GATE : 0);
        end_run(f, &run, ends[arm]);
    }
}

static void put_left(struct fixture *f)
{
    const struct qs_trace_row trace = {
        .has_window = true, .window = 2, .flags = 3, .started_ns = 2000, .stopped_ns = 2500};
    const struct qs_artifact_row rows[] = {
        {.run_uid = {1, 35},
         .idx = 0,
         .kind = "output",
         .name = "output",
         .total_bytes = 9,
         .why = "too big"},
        {.run_uid = {1, 35}, .idx = 1, .kind = "trace", .name = "perf", .why = "cut", .trace = &trace}};
    for (size_t i = 0; i < 2; i++)
        qs_store_artifact(f->store, &rows[i], on_stored, NULL);
}

static void put_event(struct fixture *f, int64_t job, const char *kind, const char *device, const char *body)
{
    const struct qs_event_row row = {
        .wall_ns = 500 + job, .kind = kind, .job = job, .device = device, .body_json = body};
    qs_store_event(f->store, &row, on_stored, NULL);
}

static void end_job(struct fixture *f, int64_t job, enum qs_job_state state, const char *verdict)
{
    char body[64];
    snprintf(body, sizeof body, "{\"state\":\"%s\"}", qs_job_state_name(state));
    const struct qs_job_end_row row = {.job = job,
                                       .at_ns = 900 + job,
                                       .state = state,
                                       .reason = "blocks",
                                       .runs_per_block = 3,
                                       .verdict_json = verdict,
                                       .result_json = verdict,
                                       .state_json = body};
    qs_store_job_end(f->store, &row, on_stored, NULL);
}

void world_make(struct fixture *f)
{
    char sha[65];
    struct qs_err err;
    put_job(f, "golden",
            ",\"name\":\"g.yaml\",\"files\":{\"hello\":\"" SHA_OF_HELLO "\",\"arm\":\"" SHA_OF_ARM
            "\",\"short\":\"ab\",\"none\":7}",
            NULL);
    put_job(f, "again", ",\"reproduces\":1", NULL);
    put_job(f, "waits", "", NULL);
    put_job(f, "lost", "", "{\"text\":7}");
    put_job(f, "early", "", NULL);
    put_job(f, "runs", "", NULL);
    assert_true(qs_files_put(f->files, "hello", 5, sha, &err));
    for (int64_t job = 1; job <= 2; job++) {
        uint8_t session = (uint8_t)(2 * job - 1);
        qs_store_job_state(f->store, job, QS_JOB_RUNNING, "begun", 40 + job, on_stored, NULL);
        put_session(f, job, session, "bench", false);
        for (uint32_t block = 0; block <= (job == 1 ? 5 : 3); block++)
            put_block(f, job, session, 0, block);
        put_session(f, job, (uint8_t)(session + 1), "sim", true);
        put_block(f, job, (uint8_t)(session + 1), 1, 1);
    }
    put_bad_block(f, 1, 1, 6);
    put_left(f);
    put_event(f, 1, "device.state", "bench", "{\"state\":\"ready\",\"wall_ns\":1}");
    put_event(f, 1, "odd", "bench", "[7]");
    put_event(f, 1, "own", "bench", "{\"device\":\"other\",\"job\":9}");
    end_job(f, 1, QS_JOB_DONE, "{\"text\":\"v2 50 % slower\"}");
    end_job(f, 2, QS_JOB_DONE, NULL);
    end_job(f, 4, QS_JOB_FAILED, NULL);
    end_job(f, 5, QS_JOB_CANCELLED, NULL);
    qs_store_job_state(f->store, 6, QS_JOB_RUNNING, "begun", 46, on_stored, NULL);
    store_event(f, 6, "begun", "{}"); /* waits for all that was stored before it */
}
