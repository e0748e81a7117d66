/* Databases of each released version open, are brought to the newest one, and still say what they said.
 * `test_store_golden write FILE` makes the one of the present version; what is in tests/golden/db is never
 * made again. */
#include "fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { WINDOWS = 3, PER_WINDOW = 5 };

static void write_rows(struct fixture *f)
{
    struct qs_iteration_row rows[PER_WINDOW];
    for (uint8_t run = 1; run <= 2; run++) {
        run_begin(f, run, run - 1u, 1, run - 1u);
        for (uint32_t w = 0; w < WINDOWS; w++) {
            struct qs_window_row window = make_window(run, w, w * PER_WINDOW, PER_WINDOW, rows);
            rows[4].status = w == 2 ? -9 : 0;
            rows[4].taint = w == 2 ? QS_TAINT_EXIT : 0;
            assert_int_equal(put_window(f, &window), QS_E_NONE);
        }
        struct qs_run_end_row end = {
            .uid = {run}, .state = QS_RUN_DONE, .stop_reason = "fixed", .ended_wall_ns = 99};
        qs_store_run_end(f->store, &end, on_fine, NULL);
    }
    qs_store_job_state(f->store, f->job, QS_JOB_DONE, NULL, 100, on_fine, NULL);
    qs_loop_run(f->loop);
}

static void copy(const char *from, const char *to)
{
    char block[4096];
    FILE *in = fopen(from, "rb"), *out = fopen(to, "wb");
    assert_non_null(in);
    assert_non_null(out);
    for (size_t n; (n = fread(block, 1, sizeof block, in)) > 0;)
        assert_int_equal(fwrite(block, 1, n, out), n);
    fclose(in);
    assert_int_equal(fclose(out), 0);
}

static bool read_rows(struct qs_store_reader *r, void *user, struct qs_err *err)
{
    (void)user;
    struct qs_samples samples;
    struct qs_iterations it;
    uint8_t uid[16] = {2};
    assert_true(qs_read_samples(r, 1, &samples, err));
    assert_int_equal(samples.count, 2);
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(samples.at[i].arm, i);
        assert_int_equal(samples.at[i].n, 14);
        assert_int_equal(samples.at[i].n_tainted, 1);
        assert_int_equal(samples.at[i].durations_ns[13], 1000000 + 1000 * ((int64_t)i + 1) + 13);
    }
    qs_samples_free(&samples);
    assert_true(qs_read_iterations(r, uid, 0, 100, &it, err));
    assert_int_equal(it.count, WINDOWS * PER_WINDOW);
    assert_int_equal(it.at[14].status, -9);
    assert_int_equal(it.at[13].values[0], 23);
    qs_iterations_free(&it);
    return true;
}

static void version_1_is_read_and_continued(void **state)
{
    (void)state;
    struct fixture f;
    struct qs_err err = QS_ERR_INIT;
    struct qs_iteration_row rows[PER_WINDOW];
    fixture_init(&f);
    copy(GOLDEN_DIR "/v1.db", f.path);
    fixture_open(&f);
    assert_true(qs_store_read_now(f.store, read_rows, NULL, &err));
    struct qs_window_row again = make_window(1, 1, PER_WINDOW, PER_WINDOW, rows);
    assert_int_equal(put_window(&f, &again), QS_E_NONE);
    struct qs_window_row next = make_window(1, 3, 3 * PER_WINDOW, PER_WINDOW, rows);
    assert_int_equal(put_window(&f, &next), QS_E_NONE);
    fixture_done(&f);
}

static int write_golden(const char *path)
{
    struct fixture f;
    fixture_init(&f);
    fixture_open(&f);
    fixture_world(&f);
    write_rows(&f);
    fixture_close(&f);
    copy(f.path, path);
    fixture_done(&f);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc == 3 && strcmp(argv[1], "write") == 0)
        return write_golden(argv[2]);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(version_1_is_read_and_continued),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
