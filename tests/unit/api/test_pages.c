/* What is read in pages is whole where it fills one, and where it is one longer. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fixture.h"

static const uint8_t session_uid[16] = {9};

static void on_stored(const struct qs_err *err, int64_t id, void *user)
{
    (void)id;
    (void)user;
    if (err)
        fail_msg("%s", err->text);
}

static void begin(struct fixture *f, int64_t job)
{
    const struct qs_device_row device = {
        .name = "bench", .serial = "S1", .port_path = "", .profile = "local"};
    const struct qs_boot_row boot = {
        .device = "bench", .boot_uuid = "b", .fingerprint_json = "{}", .clock = "m", .seen_wall_ns = 5};
    struct qs_session_row session = {
        .uid = {9}, .job = job, .device = "bench", .boot_uuid = "b", .env_json = "{}", .started_wall_ns = 20};
    qs_store_device(f->store, &device, on_stored, NULL);
    qs_store_boot(f->store, &boot, on_stored, NULL);
    qs_store_session_begin(f->store, &session, on_stored, NULL);
}

/* A run of n iterations of 1000, 1001, ... ns, with metrics NAME0, NAME1, ... */
static void put_run(struct fixture *f, int64_t job, uint32_t number, size_t n, const char *name,
                    size_t metric_count)
{
    char names[QS_ROW_METRICS_MAX][16];
    const char *metrics[QS_ROW_METRICS_MAX];
    struct qs_metric_kind kinds[QS_ROW_METRICS_MAX];
    struct qs_run_row run = {.uid = {(uint8_t)(number >> 8), (uint8_t)number, 1},
                             .job = job,
                             .arm = number % 2,
                             .block = number / 2 + 1,
                             .pos = number % 2,
                             .started_wall_ns = 30};
    struct qs_run_end_row end = {.state = QS_RUN_DONE, .stop_reason = "fixed", .ended_wall_ns = 40};
    struct qs_iteration_row *rows = calloc(n, sizeof *rows);
    for (size_t i = 0; i < n; i++)
        rows[i] = (struct qs_iteration_row){.start_off_ns = (int64_t)i, .duration_ns = 1000 + (int64_t)i};
    for (size_t m = 0; m < metric_count; m++) {
        snprintf(names[m], sizeof names[m], "%s%u", name, (unsigned)m);
        metrics[m] = names[m];
        kinds[m] = (struct qs_metric_kind){.unit = "count"};
    }
    memcpy(run.session_uid, session_uid, sizeof session_uid);
    memcpy(end.uid, run.uid, sizeof end.uid);
    const struct qs_window_row window = {.run_uid = {run.uid[0], run.uid[1], 1},
                                         .phase = QS_PHASE_MEASURE,
                                         .opened_ns = 1,
                                         .closed_ns = 2,
                                         .evals = 1,
                                         .how = "done",
                                         .metrics = metrics,
                                         .kinds = kinds,
                                         .metric_count = metric_count,
                                         .iterations = rows,
                                         .n = n};
    qs_store_run_begin(f->store, &run, on_stored, NULL);
    qs_store_window(f->store, &window, on_stored, NULL);
    qs_store_run_end(f->store, &end, on_stored, NULL);
    free(rows);
}

static struct answer export(struct fixture *f, const char *format)
{
    char target[80];
    snprintf(target, sizeof target, "/api/v1/jobs/1/export?format=%s", format);
    struct answer a = get(f, target);
    assert_int_equal(a.status, 200);
    return a;
}

/* Lines but the first, whose field of this index counts up from 0 within each run. */
static size_t lines_of(struct fixture *f)
{
    struct answer a = export(f, "csv");
    size_t lines = 0;
    unsigned seq = 0, next = 0;
    char run[33] = "", last[33] = "";
    for (const char *line = strchr(a.body.data, '\n') + 1; *line; line = strchr(line, '\n') + 1, lines++) {
        assert_int_equal(sscanf(line, "%32[^,],%*[ab],,0,sleep,bench,%*u,%*u,%u,", run, &seq), 2);
        next = strcmp(run, last) == 0 ? next + 1 : 0;
        assert_int_equal(seq, next);
        strcpy(last, run);
    }
    answer_done(&a);
    return lines;
}

/* One job has as many runs as are read at a time; then one more. */
static void runs_come_in_pages(void **state)
{
    enum { PAGE = 500 };
    struct fixture *f = *state;
    int64_t job = submit(f);
    begin(f, job);
    for (uint32_t i = 0; i < PAGE; i++)
        put_run(f, job, i, 1, "", 0);
    set_state(f, job, QS_JOB_DONE);
    assert_int_equal(lines_of(f), PAGE);
    put_run(f, job, PAGE, 2, "", 0);
    put_run(f, job, PAGE + 1, 1, "late", 1);
    set_state(f, job, QS_JOB_DONE);
    assert_int_equal(lines_of(f), PAGE + 3);
    struct answer a = export(f, "csv");
    assert_non_null(strstr(a.body.data, ",phase,")); /* columns of the second page */
    assert_non_null(strstr(a.body.data, ",late0\n"));
    answer_done(&a);
}

static void iterations_come_in_pages(void **state)
{
    static const size_t counts[] = {999, 1000, 1001, 1999, 2000, 2001, 4000, 1};
    enum { RUNS = sizeof counts / sizeof *counts };
    struct fixture *f = *state;
    size_t all = 0, of_arm[2] = {0};
    int64_t job = submit(f);
    begin(f, job);
    for (uint32_t i = 0; i < RUNS; i++) {
        put_run(f, job, i, counts[i], "", 0);
        of_arm[i % 2] += counts[i];
        all += counts[i];
    }
    set_state(f, job, QS_JOB_DONE);
    assert_int_equal(lines_of(f), all);
    struct answer a = export(f, "json");
    for (size_t arm = 0; arm < 2; arm++) {
        const json_t *result = json_array_get(json_object_get(a.json, "results"), arm);
        const json_t *times = json_object_get(result, "times");
        assert_int_equal(json_array_size(times), of_arm[arm]);
        double sum_us = 0, want_us = 0;
        for (size_t i = 0; i < json_array_size(times); i++)
            sum_us += 1e6 * json_real_value(json_array_get(times, i));
        for (size_t i = arm; i < RUNS; i += 2)
            want_us += (double)counts[i] * (1000 + (double)(counts[i] - 1) / 2) / 1000;
        assert_true(sum_us > want_us - 1e-3 && sum_us < want_us + 1e-3); /* each once */
        assert_true(json_is_null(json_object_get(result, "user")));      /* no run has it */
    }
    answer_done(&a);
}

/* Of more metrics than a table has columns the first are told. */
static void columns_are_bounded(void **state)
{
    enum { COLUMNS = 64, FIRST = 15 };
    struct fixture *f = *state;
    char name[8];
    size_t columns = 0;
    int64_t job = submit(f);
    begin(f, job);
    for (uint32_t i = 0; i < 6; i++) {
        snprintf(name, sizeof name, "m%c", 'a' + (char)i);
        put_run(f, job, i, 1, name, QS_ROW_METRICS_MAX);
    }
    set_state(f, job, QS_JOB_DONE);
    struct answer a = export(f, "csv");
    size_t head = strcspn(a.body.data, "\n");
    for (size_t i = 0; i < head; i++)
        columns += a.body.data[i] == ',';
    assert_int_equal(columns + 1, FIRST + COLUMNS);
    answer_done(&a);
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(runs_come_in_pages),
        CASE(iterations_come_in_pages),
        CASE(columns_are_bounded),
    };
    return cmocka_run_group_tests_name("pages", tests, NULL, NULL);
}
