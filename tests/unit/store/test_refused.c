/* What is refused, in its whole words; the names of states and taints; and which contents are named. */
#include "fixture.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "store/read/files.h"

#define SUM(digits)                                                                                          \
    digits digits digits digits digits digits digits digits digits digits digits digits digits digits digits \
        digits

static const char sum_1[] = SUM("0a1b"), sum_2[] = SUM("0a2b"), sum_3[] = SUM("0a3b");

static void expect_told(struct fixture *f, const struct told *told, enum qs_errc code, const char *text)
{
    qs_loop_run(f->loop);
    assert_int_equal(told->count, 1);
    assert_string_equal(told->text, text);
    assert_int_equal(told->code, code);
}

static void a_run_that_is_begun_again_is_the_same(void **state)
{
    static const char text[] = "this run is stored as another turn";
    struct fixture *f = *state;
    const struct qs_run_row row = {.uid = {1}, .session_uid = {99}, .job = f->job, .block = 1};
    for (int i = 0; i < 8; i++) {
        struct qs_run_row again = row;
        struct told told = {0};
        again.job += i == 2;
        again.arm += i == 3;
        again.point += i == 4;
        again.block += i == 5;
        again.pos += i == 6;
        again.attempt += i == 7;
        qs_store_run_begin(f->store, &again, on_told, &told);
        expect_told(f, &told, i < 2 ? QS_E_NONE : QS_E_CONFLICT, i < 2 ? "" : text);
    }
}

static void a_session_that_is_begun_again_is_the_same(void **state)
{
    struct fixture *f = *state;
    const struct qs_boot_row boot = {
        .device = "bench", .boot_uuid = "boot-2", .fingerprint_json = "{}", .clock = "c"};
    qs_store_boot(f->store, &boot, on_fine, NULL);
    for (int i = 0; i < 3; i++) {
        const struct qs_session_row row = {.uid = {99},
                                           .job = f->job + (i == 1),
                                           .device = "bench",
                                           .boot_uuid = i == 2 ? "boot-2" : "boot-1",
                                           .env_json = "{}"};
        struct told told = {0};
        qs_store_session_begin(f->store, &row, on_told, &told);
        expect_told(f, &told, i == 0 ? QS_E_NONE : QS_E_CONFLICT,
                    i == 0 ? "" : "this session is stored with another job or boot");
    }
}

static void windows_follow_and_are_bounded(void **state)
{
    static const struct {
        uint64_t first_seq;
        size_t metrics;
        enum qs_errc code;
        const char *text;
    } rows[] = {
        {10, 16, QS_E_CONFLICT, "window 7 starts at iteration 10, but 0 is the next one"},
        {INT64_MAX / 2, 0, QS_E_CONFLICT,
         "window 7 starts at iteration 4611686018427387903, but 0 is the next one"},
        {UINT64_C(1) << 62, 0, QS_E_LIMIT,
         "a window of 1 iterations from 4611686018427387904 is beyond what is kept"},
        {0, 17, QS_E_LIMIT, "17 metrics, at most 16 are kept"},
        {0, 16, QS_E_NONE, ""},
        {0, 16, QS_E_NONE, ""},
        {0, 16, QS_E_CONFLICT, "window 7: iterations from 0 are stored with another content"},
    };
    struct fixture *f = *state;
    const char *names[17];
    char text[17][8];
    for (unsigned i = 0; i < 17; i++) {
        snprintf(text[i], sizeof text[i], "m%u", i % 100);
        names[i] = text[i];
    }
    run_begin(f, 1, 0, 1, 0);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct qs_iteration_row row;
        struct qs_window_row w = make_window(1, 7, 0, 1, &row);
        struct told told = {0};
        for (int k = 0; k < 16; k++)
            row.values[k] = k + (i == sizeof rows / sizeof *rows - 1);
        w.first_seq = rows[i].first_seq;
        w.metrics = names;
        w.metric_count = rows[i].metrics;
        qs_store_window(f->store, &w, on_told, &told);
        expect_told(f, &told, rows[i].code, rows[i].text);
    }
}

static void hashes_have_64_digits(void **state)
{
    struct fixture *f = *state;
    struct told told[3] = {{0}};
    char odd[65];
    memset(odd, 'g', 64);
    odd[64] = '\0';
    qs_store_file(f->store, odd, 1, on_told, &told[0]);
    expect_told(f, &told[0], QS_E_CONFLICT, "a file's hash is not 64 hex digits");
    const struct qs_run_end_row end = {.uid = {1}, .state = QS_RUN_DONE, .exe_sha256 = "0a1b"};
    run_begin(f, 1, 0, 1, 0);
    qs_store_run_end(f->store, &end, on_told, &told[1]);
    expect_told(f, &told[1], QS_E_CONFLICT, "the executable's hash is not 64 hex digits");
    const struct qs_arm_row arm = {
        .name = "a", .build_label = "r\"1", .build_content = odd, .argv_json = "[]"};
    const struct qs_job_row job = {
        .owner = "o", .name = "n", .spec_json = "{}", .arms = &arm, .arm_count = 1};
    qs_store_submit(f->store, &job, on_told, &told[2]);
    expect_told(f, &told[2], QS_E_CONFLICT, "build \"r\"1\": the content is not 64 hex digits");
}

static bool read_state(struct qs_store_reader *r, void *user, struct qs_err *err)
{
    int64_t *job = user; /* and then its state */
    struct qs_jobs jobs;
    assert_true(qs_read_job(r, *job, &jobs, err));
    *job = (int64_t)jobs.at[0].state;
    qs_jobs_free(&jobs);
    return true;
}

static void an_end_is_the_last_state(void **state)
{
    struct fixture *f = *state;
    static const enum qs_job_state ends[] = {QS_JOB_DONE, QS_JOB_FAILED, QS_JOB_CANCELLED};
    for (size_t i = 0; i < 3; i++) {
        struct told told[3] = {{0}};
        int64_t job = 0;
        const struct qs_job_row row = {.owner = "o", .name = "n", .spec_json = "{}"};
        qs_store_submit(f->store, &row, on_fine, &job);
        qs_loop_run(f->loop);
        const struct qs_job_end_row end = {.job = job, .at_ns = 9, .state = ends[i], .state_json = "{}"};
        qs_store_job_end(f->store, &end, on_told, &told[0]);
        expect_told(f, &told[0], QS_E_NONE, "");
        qs_store_job_state(f->store, job, QS_JOB_RUNNING, NULL, 10, on_told, &told[1]);
        char *want = qs_asprintf("job %" PRId64 " has already ended, it cannot become running", job);
        expect_told(f, &told[1], QS_E_CONFLICT, want);
        free(want);
        qs_store_job_state(f->store, 77, QS_JOB_RUNNING, NULL, 10, on_told, &told[2]);
        expect_told(f, &told[2], QS_E_NOT_FOUND, "no job 77 is stored");
        assert_true(qs_store_read_now(f->store, read_state, &job, NULL));
        assert_int_equal(job, ends[i]);
    }
}

static void states_and_taints_have_names(void **state)
{
    static const char *const jobs[] = {"queued", "running", "done", "failed", "cancelled", ""};
    static const char *const runs[] = {"running", "done", "failed", "interrupted", "cancelled", ""};
    static const char all[] = "gate,evidence,link,exit,timeout,children,output,hook,interrupted,clock";
    char out[sizeof all], untouched = 'x';
    (void)state;
    for (int i = 0; i < 6; i++) {
        assert_string_equal(qs_job_state_name((enum qs_job_state)i), jobs[i]);
        assert_string_equal(qs_run_state_name((enum qs_run_state)i), runs[i]);
    }
    assert_string_equal(qs_taint_names(0, out, sizeof out), "");
    assert_string_equal(qs_taint_names(QS_TAINT_LINK | QS_TAINT_CLOCK, out, sizeof out), "link,clock");
    assert_string_equal(qs_taint_names(UINT32_MAX, out, sizeof out), all);
    assert_memory_equal(qs_taint_names(UINT32_MAX, out, sizeof out - 1), all, sizeof all - 2);
    assert_string_equal(qs_taint_names(UINT32_MAX, out, 1), "");
    qs_taint_names(1, &untouched, 0);
    assert_int_equal(untouched, 'x');
}

static bool check_uses(struct qs_store_reader *r, void *user, struct qs_err *err)
{
    struct qs_file_uses uses;
    (void)user;
    assert_true(qs_read_file_uses(r, &uses, err));
    assert_int_equal(uses.count, 2);
    assert_true(qs_file_is_used(sum_1, &uses));
    assert_true(qs_file_is_used(sum_3, &uses));
    assert_false(qs_file_is_used(sum_2, &uses));
    qs_file_uses_free(&uses);
    assert_false(qs_file_is_used(sum_1, &uses));
    return true;
}

/* By their whole hash, in whatever case the document has it; what is no hash names nothing. */
static void contents_are_named_by_documents(void **state)
{
    struct fixture *f = *state;
    struct qs_err err = QS_ERR_INIT;
    char upper[65];
    memcpy(upper, sum_3, sizeof upper);
    for (char *c = upper; *c; c++)
        *c = (char)(*c == 'a' ? 'A' : *c == 'b' ? 'B' : *c);
    char *spec = qs_asprintf("{\"files\":{\"x\":\"%s\",\"y\":\"%s\",\"z\":\"%.63s\"}}", sum_1, upper, sum_2);
    const struct qs_arm_row arm = {.name = "a", .argv_json = "[]"};
    const struct qs_job_row job = {
        .owner = "o", .name = "n", .spec_json = spec, .arms = &arm, .arm_count = 1};
    qs_store_submit(f->store, &job, on_fine, NULL);
    qs_loop_run(f->loop);
    assert_true(qs_store_read_now(f->store, check_uses, NULL, &err));
    free(spec);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_run_that_is_begun_again_is_the_same),
        TEST(a_session_that_is_begun_again_is_the_same),
        TEST(windows_follow_and_are_bounded),
        TEST(hashes_have_64_digits),
        TEST(an_end_is_the_last_state),
        TEST(states_and_taints_have_names),
        TEST(contents_are_named_by_documents),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
