#include "cm.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ctl/text_file.h"

static char folder[64];

static const char *in_folder(const char *name)
{
    static char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static int make_folder(void **state)
{
    (void)state;
    strcpy(folder, "/tmp/qs-text-file-XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
    (void)state;
    unlink(in_folder("out"));
    return rmdir(folder); /* fails where something else was left there */
}

static void want(const char *text)
{
    struct qs_buf got;
    struct qs_err err = QS_ERR_INIT;
    qs_buf_init(&got);
    assert_true(qs_read_text(in_folder("out"), 1000, &got, &err));
    assert_int_equal(got.len, strlen(text));
    assert_memory_equal(got.data, text, got.len);
    qs_buf_done(&got);
}

static void put(const char *text)
{
    struct qs_err err = QS_ERR_INIT;
    assert_true(qs_write_text(in_folder("out"), text, strlen(text), &err));
    want(text);
}

static void a_file_is_new_or_written_over(void **state)
{
    (void)state;
    put("first, and longer\n");
    put("second\n");
}

/* The limit stands for a disk that is full. */
static void what_was_there_outlives_an_error(void **state)
{
    (void)state;
    struct rlimit was, tight;
    struct qs_err err = QS_ERR_INIT;
    put("old\n");
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &was), 0);
    tight = was;
    tight.rlim_cur = 4;
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &tight), 0);
    bool ok = qs_write_text(in_folder("out"), "longer than four\n", 17, &err);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &was), 0);
    signal(SIGXFSZ, SIG_DFL);
    assert_false(ok);
    assert_int_equal(err.code, QS_E_IO);
    assert_non_null(strstr(err.text, "/out: File too large"));
    want("old\n");
}

static void a_folder_that_is_not_there(void **state)
{
    (void)state;
    struct qs_err err = QS_ERR_INIT;
    assert_false(qs_write_text(in_folder("none/out"), "x", 1, &err));
    assert_non_null(strstr(err.text, "none/out: No such file"));
}

static void a_new_file_is_never_written_over(void **state)
{
    (void)state;
    struct qs_err err = QS_ERR_INIT;
    assert_true(qs_may_create(in_folder("out"), &err));
    assert_int_equal(access(in_folder("out"), F_OK), -1);
    assert_true(qs_create_text(in_folder("out"), "new\n", 4, &err));
    want("new\n");
    assert_false(qs_may_create(in_folder("out"), &err));
    assert_non_null(strstr(err.text, "/out is there already"));
    assert_false(qs_create_text(in_folder("out"), "x", 1, &err));
    want("new\n");
}

static void where_no_file_can_be_is_said_before_one_is_written(void **state)
{
    (void)state;
    struct qs_err err = QS_ERR_INIT;
    assert_false(qs_may_create(in_folder("none/out"), &err));
    assert_int_equal(err.code, QS_E_USAGE);
    assert_non_null(strstr(err.text, "none/out\": No such file"));
    assert_false(qs_may_create("", &err));
    assert_string_equal(err.text, "cannot write \"\": No such file or directory");
}

static void what_is_no_regular_file_is_written_as_it_is(void **state)
{
    (void)state;
    struct stat st;
    struct qs_err err = QS_ERR_INIT;
    assert_true(qs_write_text("/dev/null", "x", 1, &err));
    assert_int_equal(stat("/dev/null", &st), 0);
    assert_true(S_ISCHR(st.st_mode));
    assert_false(qs_write_text("/dev/full", "x", 1, &err));
    assert_non_null(strstr(err.text, "/dev/full: No space left"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_file_is_new_or_written_over, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(what_was_there_outlives_an_error, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(a_folder_that_is_not_there, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(a_new_file_is_never_written_over, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(where_no_file_can_be_is_said_before_one_is_written, make_folder,
                                        remove_folder),
        cmocka_unit_test_setup_teardown(what_is_no_regular_file_is_written_as_it_is, make_folder,
                                        remove_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
