#include "fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

const char job_text[] = "quiesce: 1\n"
                        "name: sleepers\n"
                        "benchmarks:\n"
                        "  - {name: sleep, argv: [sleep, \"{s}\"]}\n"
                        "arms:\n"
                        "  a: {params: {s: 0}}\n"
                        "  b: {params: {s: 0.01}}\n";

static void on_trouble(const struct qs_err *err, void *user)
{
    (void)user;
    fail_msg("the store: %s", err->text);
}

static void on_clients(size_t count, void *user)
{
    struct fixture *f = user;
    f->clients = count;
    qs_loop_stop(f->loop); /* somebody may wait for this */
}

static bool on_yield(void *user)
{
    struct fixture *f = user;
    f->yields++;
    return f->farm.live != 0;
}

void start_api(struct fixture *f)
{
    struct qs_err err = QS_ERR_INIT;
    struct qs_api_parts parts = {.loop = f->loop,
                                 .farm = &f->farm,
                                 .store = f->store,
                                 .files = f->files,
                                 .socket_path = f->socket,
                                 .version = "9.8.7",
                                 .look_up = f->look_up,
                                 .embedded = f->embedded,
                                 .reading = f->reading};
    struct qs_api_events events = {.on_clients = on_clients, .on_yield = on_yield, .user = f};
    f->api = qs_api_new(&parts, &events, &err);
    if (!f->api || !qs_api_start(f->api, &err))
        fail_msg("%s", err.text);
}

static void on_stopped(void *user)
{
    struct fixture *f = user;
    f->stopped = true;
    qs_loop_stop(f->loop);
}

void stop_api(struct fixture *f)
{
    f->stopped = false;
    qs_api_stop(f->api, on_stopped, f);
    while (!f->stopped)
        qs_loop_run(f->loop);
    assert_int_equal(f->clients, 0);
    qs_api_free(f->api);
    f->api = NULL;
}

int setup(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);
    struct qs_err err = QS_ERR_INIT;
    char path[128];
    snprintf(f->dir, sizeof f->dir, "/tmp/qs-api-XXXXXX");
    assert_non_null(mkdtemp(f->dir));
    snprintf(f->socket, sizeof f->socket, "%s/run/api.sock", f->dir);
    f->loop = qs_loop_new_real(&err);
    assert_non_null(f->loop);
    snprintf(path, sizeof path, "%s/q.db", f->dir);
    struct qs_store_events events = {.on_trouble = on_trouble, .user = f};
    if (!qs_store_open(f->loop, path, &events, &f->store, &err))
        fail_msg("%s", err.text);
    snprintf(path, sizeof path, "%s/files", f->dir);
    f->files = qs_files_open(path, &err);
    assert_non_null(f->files);
    f->farm = (struct qs_farm){.store = f->store, .files = f->files, .position = -1};
    start_api(f);
    *state = f;
    return 0;
}

int teardown(void **state)
{
    struct fixture *f = *state;
    char command[128];
    if (f->api)
        stop_api(f);
    qs_store_close(f->store);
    qs_loop_run(f->loop); /* what an answer gave the store to keep may have been under way */
    qs_files_close(f->files);
    assert_int_equal(qs_loop_free(f->loop), 0);
    snprintf(command, sizeof command, "rm -rf '%s'", f->dir);
    assert_int_equal(system(command), 0);
    free(f);
    return 0;
}

static void on_committed(const struct qs_err *err, int64_t id, void *user)
{
    struct fixture *f = user;
    if (err)
        fail_msg("%s", err->text);
    f->last_event = id;
    f->stopped = true;
    qs_loop_stop(f->loop);
}

static void await_commit(struct fixture *f)
{
    while (!f->stopped)
        qs_loop_run(f->loop);
}

int64_t submit(struct fixture *f)
{
    json_t *body = json_pack("{s:s}", "text", job_text);
    char *text = json_dumps(body, 0);
    struct answer a = fetch(f, "POST", "/api/v1/jobs", NULL, text, strlen(text));
    assert_int_equal(a.status, 201);
    int64_t id = int_at(&a, "id");
    answer_done(&a);
    free(text);
    json_decref(body);
    return id;
}

static void put_run(struct fixture *f, int64_t job, uint8_t index, size_t n)
{
    static const char *const metrics[] = {"user_time_us", "system_time_us"};
    struct qs_iteration_row *rows = calloc(n, sizeof *rows);
    struct qs_run_row run = {.uid = {1, index},
                             .session_uid = {99},
                             .job = job,
                             .arm = index % 2,
                             .block = index / 2u + 1,
                             .pos = index % 2,
                             .started_wall_ns = 30};
    for (size_t i = 0; i < n; i++)
        rows[i] = (struct qs_iteration_row){.start_off_ns = (int64_t)i,
                                            .duration_ns =
                                                1000000 + 500000 * (index % 2) + (int64_t)i % 7 * 100 + index,
                                            .values = {100, 20}};
    rows[n - 1].taint = QS_TAINT_EXIT;
    rows[n - 1].status = 3;
    struct qs_taint_row taint = {.i = (int32_t)n - 1, .code = "exit", .value = 3, .bound = 0};
    struct qs_window_row w = {.run_uid = {1, index},
                              .phase = QS_PHASE_MEASURE,
                              .opened_ns = 1000 + index,
                              .closed_ns = 2000 + index,
                              .evals = 1,
                              .how = "done",
                              .taints = &taint,
                              .taint_count = 1,
                              .metrics = metrics,
                              .metric_count = 2,
                              .iterations = rows,
                              .n = n};
    struct qs_run_end_row end = {
        .uid = {1, index}, .state = QS_RUN_DONE, .stop_reason = "fixed", .ended_wall_ns = 40};
    f->stopped = false;
    qs_store_run_begin(f->store, &run, NULL, NULL);
    qs_store_window(f->store, &w, NULL, NULL);
    qs_store_run_end(f->store, &end, on_committed, f);
    await_commit(f);
    free(rows);
}

void measure(struct fixture *f, int64_t job, size_t runs, size_t n)
{
    struct qs_device_row device = {.name = "bench", .serial = "S1", .port_path = "", .profile = "local"};
    struct qs_boot_row boot = {
        .device = "bench", .boot_uuid = "boot-1", .fingerprint_json = "{}", .clock = "m", .seen_wall_ns = 5};
    struct qs_session_row session = {.uid = {99},
                                     .job = job,
                                     .device = "bench",
                                     .boot_uuid = "boot-1",
                                     .env_json = "{\"kernel\":\"6.1\"}",
                                     .started_wall_ns = 20};
    f->stopped = false;
    qs_store_device(f->store, &device, NULL, NULL);
    qs_store_boot(f->store, &boot, NULL, NULL);
    qs_store_session_begin(f->store, &session, on_committed, f);
    await_commit(f);
    for (size_t i = 0; i < runs; i++)
        put_run(f, job, (uint8_t)i, n);
}

void set_state(struct fixture *f, int64_t job, enum qs_job_state state)
{
    f->stopped = false;
    qs_store_job_state(f->store, job, state, "blocks", qs_loop_wall_ns(f->loop), on_committed, f);
    await_commit(f);
}

void store_event(struct fixture *f, int64_t job, const char *kind, const char *body)
{
    struct qs_event_row row = {.wall_ns = 77, .kind = kind, .job = job, .body_json = body};
    f->stopped = false;
    qs_store_event(f->store, &row, on_committed, f);
    await_commit(f);
}

void happen(struct fixture *f, int64_t job, const char *kind, const char *body)
{
    store_event(f, job, kind, body);
    struct qs_farm_event event = {
        .id = f->last_event, .wall_ns = 77, .job = job, .kind = kind, .body_json = body};
    qs_api_on_farm_event(f->api, &event);
}
