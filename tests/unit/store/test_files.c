#include "fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/files.h"

/* SHA-256 of "abc" (FIPS 180-4, example B.1). */
static const char abc[] = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

static const char short_name[65] = "ba";
static char dir[160], path[320];

static int setup(void **state)
{
    struct fixture *f = malloc(sizeof *f);
    fixture_init(f);
    snprintf(dir, sizeof dir, "%s/deep/files", f->dir);
    *state = f;
    return 0;
}

static bool put(struct qs_files *files, const char *name, const char *content, int64_t max,
                struct qs_err *err)
{
    int64_t bytes = -1;
    struct qs_upload *up = qs_upload_begin(files, name, max, err);
    if (!up)
        return false;
    for (const char *c = content; *c; c++)
        if (!qs_upload_add(up, c, 1, err)) {
            qs_upload_abort(up);
            return false;
        }
    return qs_upload_finish(up, &bytes, err) && bytes == (int64_t)strlen(content);
}

static int count_files(void)
{
    char command[256];
    snprintf(command, sizeof command, "find '%s' -type f | wc -l", dir);
    FILE *p = popen(command, "r");
    int n = -1;
    assert_int_equal(fscanf(p, "%d", &n), 1);
    pclose(p);
    return n;
}

static void what_is_put_is_found(void **state)
{
    (void)state;
    struct qs_err err = QS_ERR_INIT;
    struct stat st;
    struct qs_files *files = qs_files_open(dir, &err);
    assert_non_null(files);
    assert_int_equal(stat(dir, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0700);
    assert_false(qs_files_has(files, abc));
    assert_true(put(files, abc, "abc", 3, &err));
    assert_true(put(files, abc, "abc", 3, &err)); /* again: the same */
    assert_true(qs_files_has(files, abc));
    assert_int_equal(count_files(), 1);
    snprintf(path, sizeof path, "%s/ba/%s", dir, abc);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    qs_files_close(files);
}

static void wrong_content_leaves_nothing(void **state)
{
    (void)state;
    struct qs_err err = QS_ERR_INIT;
    struct qs_files *files = qs_files_open(dir, &err);
    assert_false(put(files, abc, "abd", 3, &err));
    assert_int_equal(err.code, QS_E_CONFLICT);
    assert_false(put(files, abc, "abcd", 3, &err));
    assert_int_equal(err.code, QS_E_LIMIT);
    assert_false(
        put(files, "../../../../../../../../../../../../../../../../../etc/passwd-4567", "abc", 3, &err));
    assert_int_equal(err.code, QS_E_CONFLICT);
    assert_false(qs_files_has(files, short_name));
    assert_false(qs_files_has(files, abc));
    assert_int_equal(count_files(), 0);
    qs_files_close(files);
}

static void leftovers_go_at_opening(void **state)
{
    (void)state;
    struct qs_err err = QS_ERR_INIT;
    struct qs_files *files = qs_files_open(dir, &err);
    snprintf(path, sizeof path, "%s/upload-abcdef", dir);
    fclose(fopen(path, "w"));
    assert_true(put(files, abc, "abc", 3, &err));
    qs_files_close(files);
    files = qs_files_open(dir, &err);
    assert_int_equal(count_files(), 1);
    assert_true(qs_files_has(files, abc));
    qs_files_close(files);
}

static bool is_abc(const char *sha256, void *user)
{
    (void)user;
    return strcmp(sha256, abc) == 0;
}

static void unused_content_goes(void **state)
{
    struct qs_err err = QS_ERR_INIT;
    char other[65];
    (void)state;
    struct qs_files *files = qs_files_open(dir, &err);
    assert_true(put(files, abc, "abc", 3, &err));
    assert_true(qs_files_put(files, "other", 5, other, &err));
    struct qs_swept swept = qs_files_sweep(files, is_abc, NULL, 0); /* it is younger than that */
    assert_int_equal(swept.files, 0);
    swept = qs_files_sweep(files, is_abc, NULL, INT64_MAX);
    assert_int_equal(swept.files, 1);
    assert_int_equal(swept.bytes, 5);
    assert_true(qs_files_has(files, abc));
    assert_false(qs_files_has(files, other));
    qs_files_close(files);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(what_is_put_is_found),
        TEST(wrong_content_leaves_nothing),
        TEST(leftovers_go_at_opening),
        TEST(unused_content_goes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
