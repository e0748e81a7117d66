#include "fixture.h"

#include <errno.h>
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

/* What was synced, in order, and what fails of it. */
static struct {
    struct {
        ino_t ino;
        bool is_dir, named; /* when it was synced, the content had its name */
        int64_t bytes;
    } seen[16];
    size_t count, fail_at; /* fail_at: 0 none, else the number of the sync, from 1 */
} disk;
static bool other_user, read_only; /* read_only: nothing can be removed */

int __wrap_fsync(int fd);
int __wrap_unlink(const char *name);
int __real_unlink(const char *name);
uid_t __wrap_geteuid(void);
uid_t __real_geteuid(void);

uid_t __wrap_geteuid(void)
{
    return __real_geteuid() + (other_user ? 1 : 0);
}

int __wrap_unlink(const char *name)
{
    errno = EROFS;
    return read_only ? -1 : __real_unlink(name);
}

int __wrap_fsync(int fd)
{
    struct stat st;
    assert_int_equal(fstat(fd, &st), 0);
    assert_true(disk.count < sizeof disk.seen / sizeof *disk.seen);
    snprintf(path, sizeof path, "%s/ba/%s", dir, abc);
    disk.seen[disk.count].ino = st.st_ino;
    disk.seen[disk.count].is_dir = S_ISDIR(st.st_mode);
    disk.seen[disk.count].named = access(path, F_OK) == 0;
    disk.seen[disk.count++].bytes = st.st_size;
    if (disk.count != disk.fail_at)
        return 0;
    errno = EIO;
    return -1;
}

/* The next call of this name fails so, or takes a byte alone where error is 0. */
static struct {
    const char *name;
    int error;
} next;

static bool is_next(const char *name)
{
    if (!next.name || strcmp(next.name, name) != 0)
        return false;
    next.name = NULL;
    errno = next.error;
    return true;
}

int __wrap_mkostemp64(char *name, int flags);
int __real_mkostemp64(char *name, int flags);
int __wrap_rename(const char *from, const char *to);
int __real_rename(const char *from, const char *to);
int __wrap_fstat64(int fd, struct stat *st);
int __real_fstat64(int fd, struct stat *st);
ssize_t __wrap_write(int fd, const void *bytes, size_t n);
ssize_t __real_write(int fd, const void *bytes, size_t n);

int __wrap_mkostemp64(char *name, int flags)
{
    return is_next("mkostemp") ? -1 : __real_mkostemp64(name, flags);
}

int __wrap_rename(const char *from, const char *to)
{
    return is_next("rename") ? -1 : __real_rename(from, to);
}

int __wrap_fstat64(int fd, struct stat *st)
{
    return is_next("fstat") ? -1 : __real_fstat64(fd, st);
}

ssize_t __wrap_write(int fd, const void *bytes, size_t n)
{
    bool now = is_next("write");
    return now && errno != 0 ? -1 : __real_write(fd, bytes, now ? 1 : n);
}

static int setup(void **state)
{
    struct fixture *f = malloc(sizeof *f);
    fixture_init(f);
    memset(&disk, 0, sizeof disk);
    other_user = read_only = false;
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
    static const char *const others[] = {"ba/notes", "b/x", "bax/x", "zz/x"}; /* names of nobody's content */
    char command[700];
    snprintf(command, sizeof command,
             "cd '%s' && mkdir b bax zz && for d in b bax zz; do cp ba/%s $d/%.63s0; done; "
             "touch ba/notes b/x bax/x zz/x && cp ba/%s ba/%sa",
             dir, abc, abc, abc, abc);
    assert_int_equal(system(command), 0);
    struct qs_swept swept = qs_files_sweep(files, is_abc, NULL, 0); /* it is younger than that */
    assert_int_equal(swept.files, 0);
    swept = qs_files_sweep(files, is_abc, NULL, INT64_MAX);
    assert_int_equal(swept.files, 1);
    assert_int_equal(swept.bytes, 5);
    assert_true(qs_files_has(files, abc));
    assert_false(qs_files_has(files, other));
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        snprintf(path, sizeof path, "%s/%s", dir, others[i]);
        assert_int_equal(access(path, F_OK), 0);
    }
    assert_int_equal(count_files(), 1 + 4 + 3 + 1);
    qs_files_close(files);
}

static bool was_synced(const char *what, bool named)
{
    struct stat st;
    assert_int_equal(stat(what, &st), 0);
    for (size_t i = 0; i < disk.count; i++)
        if (disk.seen[i].ino == st.st_ino && disk.seen[i].named == named)
            return true;
    return false;
}

/* The name of each folder that was made, the content before it is named, the name afterwards. */
static void everything_is_synced(void **state)
{
    struct fixture *f = *state;
    struct qs_err err = QS_ERR_INIT;
    struct qs_files *files = qs_files_open(dir, &err);
    assert_non_null(files);
    assert_int_equal(disk.count, 2);
    assert_true(was_synced(f->dir, false)); /* in which "deep" is new */
    snprintf(path, sizeof path, "%s/deep", f->dir);
    assert_true(was_synced(path, false));
    disk.count = 0;
    assert_true(put(files, abc, "abc", 3, &err));
    assert_true(disk.count >= 3);
    assert_false(disk.seen[0].is_dir);
    assert_false(disk.seen[0].named);
    assert_int_equal(disk.seen[0].bytes, 3);
    snprintf(path, sizeof path, "%s/ba/%s", dir, abc);
    assert_true(was_synced(path, false));
    snprintf(path, sizeof path, "%s/ba", dir);
    assert_true(was_synced(path, true));
    assert_true(was_synced(dir, true));
    qs_files_close(files);
}

/* Whichever sync of an upload fails, the content is not here, now and after it was tried again, until one
 * went well. */
static void a_failed_sync_is_never_here(void **state)
{
    (void)state;
    for (size_t nth = 1; nth <= 4; nth++) {
        struct qs_err err = QS_ERR_INIT;
        struct qs_files *files = qs_files_open(dir, &err);
        assert_non_null(files);
        memset(&disk, 0, sizeof disk);
        disk.fail_at = nth;
        assert_false(put(files, abc, "abc", 3, &err));
        assert_int_equal(err.code, QS_E_IO);
        assert_int_equal(disk.count, nth);
        assert_false(qs_files_has(files, abc));
        qs_files_close(files);
        files = qs_files_open(dir, &err);
        assert_false(qs_files_has(files, abc));
        assert_true(put(files, abc, "abc", 3, &err));
        assert_true(qs_files_has(files, abc));
        qs_files_close(files);
        char command[256];
        snprintf(command, sizeof command, "rm -rf '%s'", dir);
        assert_int_equal(system(command), 0);
    }
}

/* Where it cannot even be removed, its file is there and counts as missing all the same. */
static void a_doubtful_name_is_not_here(void **state)
{
    (void)state;
    struct qs_err err = QS_ERR_INIT;
    char sum[65];
    struct stat st;
    struct qs_files *files = qs_files_open(dir, &err);
    memset(&disk, 0, sizeof disk);
    disk.fail_at = 3;
    read_only = true;
    assert_false(put(files, abc, "abc", 3, &err));
    snprintf(path, sizeof path, "%s/ba/%s", dir, abc);
    assert_int_equal(stat(path, &st), 0);
    assert_false(qs_files_has(files, abc));
    read_only = false;
    assert_true(qs_files_put(files, "abc", 3, sum, &err)); /* written again, not found */
    assert_true(qs_files_has(files, abc));
    qs_files_close(files);
}

/* Two in doubt: one is brought again, the other stays missing. */
static void each_doubt_is_of_one_name(void **state)
{
    static const char *const contents[] = {"abc", "abd", "abe"};
    char sums[3][65];
    struct qs_err err = QS_ERR_INIT;
    (void)state;
    struct qs_files *files = qs_files_open(dir, &err);
    read_only = true;
    for (int i = 0; i < 3; i++) {
        memset(&disk, 0, sizeof disk);
        disk.fail_at = 3;
        assert_false(qs_files_put(files, contents[i], 3, sums[i], &err));
    }
    read_only = false;
    memset(&disk, 0, sizeof disk);
    assert_true(qs_files_put(files, "abd", 3, sums[1], &err));
    for (int i = 0; i < 3; i++)
        assert_int_equal(qs_files_has(files, sums[i]), i == 1);
    qs_files_close(files);
}

static void calls_that_fail(void **state)
{
    static const struct {
        const char *name;
        int error;
        enum qs_errc code; /* of the upload */
    } cases[] = {{"mkostemp", EMFILE, QS_E_IO}, {"mkostemp", ENOSPC, QS_E_STORE}, {"write", EINTR, QS_E_NONE},
                 {"write", 0, QS_E_NONE},       {"write", EDQUOT, QS_E_STORE},    {"write", EIO, QS_E_IO},
                 {"rename", EROFS, QS_E_IO}};
    char sum[65];
    int64_t bytes = 0;
    struct qs_err err = QS_ERR_INIT;
    (void)state;
    struct qs_files *files = qs_files_open(dir, &err);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char content[4];
        snprintf(content, sizeof content, "c%02zu", i % 100);
        err = QS_ERR_INIT;
        memset(&disk, 0, sizeof disk);
        next.name = cases[i].name;
        next.error = cases[i].error;
        assert_int_equal(qs_files_put(files, content, 3, sum, &err), cases[i].code == QS_E_NONE);
        assert_null(next.name);
        assert_int_equal(err.code, cases[i].code);
        assert_int_equal(qs_files_has(files, sum), cases[i].code == QS_E_NONE);
    }
    assert_int_equal(count_files(), 2); /* nothing is left of the others */
    memset(&disk, 0, sizeof disk);
    assert_true(qs_files_put(files, "abc", 3, sum, &err));
    next.name = "fstat";
    next.error = EIO;
    assert_int_equal(qs_files_get(files, abc, &bytes, &err), -1);
    assert_int_equal(err.code, QS_E_NOT_FOUND);
    assert_int_equal(qs_files_get(files, short_name, &bytes, &err), -1);
    qs_files_close(files);
}

static void folders_of_others_are_refused(void **state)
{
    (void)state;
    struct qs_err err = QS_ERR_INIT;
    qs_files_close(qs_files_open(dir, &err));
    assert_int_equal(chmod(dir, 0777), 0);
    assert_null(qs_files_open(dir, &err));
    assert_int_equal(err.code, QS_E_DENIED);
    assert_non_null(strstr(err.text, "may be written by others"));
    assert_int_equal(chmod(dir, 0700), 0);
    other_user = true;
    assert_null(qs_files_open(dir, &err));
    assert_int_equal(err.code, QS_E_STORE_PLACE);
    assert_non_null(strstr(err.text, "another user"));
    other_user = false;
    struct qs_files *files = qs_files_open(dir, &err);
    assert_non_null(files);
    qs_files_close(files);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(what_is_put_is_found),        TEST(wrong_content_leaves_nothing),
        TEST(leftovers_go_at_opening),     TEST(unused_content_goes),
        TEST(everything_is_synced),        TEST(a_failed_sync_is_never_here),
        TEST(a_doubtful_name_is_not_here), TEST(folders_of_others_are_refused),
        TEST(each_doubt_is_of_one_name),   TEST(calls_that_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
