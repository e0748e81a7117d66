/* Windows of mode stream: values, document and the reason of a failure are one commit. */
#include "fixture.h"

#include <stdlib.h>
#include <string.h>

#include "report/shown.h"
#include "store/files.h"

static struct qs_files *files;

static int setup(void **state)
{
    return fixture_setup_files(state, &files);
}

static int teardown(void **state)
{
    return fixture_teardown_files(state, files);
}

static void begin(struct fixture *f)
{
    const struct qs_run_row row = {.uid = {1},
                                   .session_uid = {99},
                                   .job = f->job,
                                   .block = 1,
                                   .stream_json = "{\"format\":\"numbers\",\"unit\":\"ms\"}",
                                   .started_wall_ns = 30};
    qs_store_run_begin(f->store, &row, on_fine, NULL);
    qs_loop_run(f->loop);
}

static struct qs_document_row content(const char *name, const char *text)
{
    return (struct qs_document_row){
        .name = name, .files = files, .bytes = text, .n = strlen(text), .total_bytes = (int64_t)strlen(text)};
}

/* One process with n values whose starts nobody knows. */
static struct qs_window_row stream(uint32_t ord, uint64_t first_seq, size_t n, struct qs_iteration_row *rows,
                                   const struct qs_document_row *document)
{
    struct qs_window_row w = make_window(1, ord, first_seq, n, rows);
    for (size_t i = 0; i < n; i++)
        rows[i].start_off_ns = -1;
    w.silence = QS_SILENCE_NONE;
    w.metric_count = 0;
    w.device_n = 1;
    w.document = document;
    return w;
}

static struct qs_run_info *look(struct qs_store_reader *r, struct qs_runs *runs, struct qs_err *err)
{
    assert_true(qs_read_run(r, (const uint8_t[16]){1}, runs, err));
    return &runs->at[0];
}

static bool check_values(struct qs_store_reader *r, void *user, struct qs_err *err)
{
    struct qs_runs runs;
    struct qs_iterations list;
    char *left = NULL;
    (void)user;
    const struct qs_run_info *run = look(r, &runs, err);
    assert_int_equal(run->n, 5);
    assert_int_equal(run->device_seq, 2); /* two processes */
    assert_string_equal(run->stream_json, "{\"format\":\"numbers\",\"unit\":\"ms\"}");
    qs_runs_free(&runs);
    assert_true(qs_read_iterations(r, (const uint8_t[16]){1}, 0, 100, &list, err));
    assert_int_equal(list.count, 5);
    for (size_t i = 0; i < list.count; i++) {
        assert_int_equal(list.at[i].seq, i);
        assert_int_equal(list.at[i].duration_ns, 1001000 + (int64_t)i);
    }
    qs_iterations_free(&list);
    assert_true(qs_shown_artifacts(r, (const uint8_t[16]){1}, &left, err));
    assert_non_null(strstr(left, "\"kind\":\"output\",\"name\":\"stdout\""));
    assert_non_null(strstr(left, "\"kind\":\"file\",\"name\":\"out.txt\""));
    assert_non_null(strstr(left, "\"kept_bytes\":12,\"total_bytes\":12"));
    const char *third = strstr(strstr(strstr(left, "\"kind\"") + 1, "\"kind\"") + 1, "\"kind\"");
    assert_null(third); /* what is sent again changes nothing */
    free(left);
    return true;
}

static void values_and_document_are_one_commit(void **state)
{
    struct fixture *f = *state;
    struct qs_err err = QS_ERR_INIT;
    struct qs_iteration_row rows[3];
    const struct qs_document_row out = content(NULL, "1.5\n2.5\n3.5\n"), file = content("out.txt", "4\n5\n");
    begin(f);
    struct qs_window_row w = stream(0, 0, 3, rows, &out);
    assert_int_equal(put_window(f, &w), QS_E_NONE);
    assert_int_equal(put_window(f, &w), QS_E_NONE);
    w = stream(1, 3, 2, rows, &file);
    assert_int_equal(put_window(f, &w), QS_E_NONE);
    assert_true(qs_store_read_now(f->store, check_values, f, &err));
}

static bool check_nothing(struct qs_store_reader *r, void *user, struct qs_err *err)
{
    struct qs_runs runs;
    char *left = NULL;
    (void)user;
    const struct qs_run_info *run = look(r, &runs, err);
    assert_int_equal(run->n, 0);
    assert_int_equal(run->device_seq, 0);
    qs_runs_free(&runs);
    assert_true(qs_shown_artifacts(r, (const uint8_t[16]){1}, &left, err));
    assert_string_equal(left, "[]");
    free(left);
    return true;
}

/* A window that the store refuses leaves no document behind. */
static void a_refused_window_has_no_document(void **state)
{
    struct fixture *f = *state;
    struct qs_err err = QS_ERR_INIT;
    struct qs_iteration_row rows[2];
    const struct qs_document_row out = content(NULL, "1\n2\n");
    begin(f);
    const struct qs_window_row w = stream(0, 7, 2, rows, &out);
    assert_int_equal(put_window(f, &w), QS_E_CONFLICT); /* a gap */
    assert_true(qs_store_read_now(f->store, check_nothing, f, &err));
}

static bool check_failure(struct qs_store_reader *r, void *user, struct qs_err *err)
{
    struct qs_runs runs;
    char *left = NULL, *windows = NULL;
    (void)user;
    const struct qs_run_info *run = look(r, &runs, err);
    assert_int_equal(run->n, 0);
    assert_int_equal(run->device_seq, 2); /* both processes ran */
    qs_runs_free(&runs);
    assert_true(qs_shown_artifacts(r, (const uint8_t[16]){1}, &left, err));
    assert_non_null(strstr(left, "\"kept_bytes\":4,\"total_bytes\":9000,\"why\":\"its beginning\""));
    assert_non_null(
        strstr(left, "\"sha256\":\"\",\"kept_bytes\":null,\"total_bytes\":0,\"why\":\"no such file\""));
    free(left);
    assert_true(qs_shown_windows(r, (const uint8_t[16]){1}, &windows, err));
    assert_non_null(strstr(windows, "stdout:1:1: `abc` is not a number"));
    assert_non_null(strstr(windows, "\"silence\":\"none\",\"silence_why\":\"the program writes"));
    free(windows);
    return true;
}

static void a_document_that_is_wrong_is_kept_with_the_reason(void **state)
{
    struct fixture *f = *state;
    struct qs_err err = QS_ERR_INIT;
    struct qs_iteration_row none[1];
    struct qs_document_row cut = content(NULL, "abc\n");
    const struct qs_document_row missing = {.name = "out.txt", .files = files, .why = "no such file"};
    cut.total_bytes = 9000;
    cut.why = "its beginning";
    begin(f);
    struct qs_window_row w = stream(0, 0, 0, none, &cut);
    w.how = "failed";
    w.failure = "stdout:1:1: `abc` is not a number";
    assert_int_equal(put_window(f, &w), QS_E_NONE);
    w = stream(1, 0, 0, none, &missing);
    w.how = "failed";
    w.failure = "out.txt: the program did not write it: no such file";
    assert_int_equal(put_window(f, &w), QS_E_NONE);
    assert_true(qs_store_read_now(f->store, check_failure, f, &err));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(values_and_document_are_one_commit),
        TEST(a_refused_window_has_no_document),
        TEST(a_document_that_is_wrong_is_kept_with_the_reason),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
