/* Pushed files on a file system: how they are kept, where they lie for the runs of a session, and what goes;
 * and sums of executables, remembered as long as they are right. */
#include "folder.h"
#include "linux/command.h"
#include "linux/files.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

enum { PLACES = 8, NAME_DIGITS = 64 };

static struct qs_linux_files files;

static void shell(const char *command)
{
    assert_int_equal(system(command), 0);
}

static bool opens(struct qs_linux_files *f, const char *root, const char *why)
{
    char error[QS_FILES_ERROR_BYTES];
    bool ok = qs_files_open(f, root, error);
    if (!ok && !strstr(error, why)) {
        fail_msg("'%s' does not say '%s'", error, why);
    }
    return ok;
}

static struct qs_port_key key_of(const char *text, bool executable)
{
    struct qs_port_key key = {.executable = executable};
    struct qs_sha256 sum;
    qs_sha256_init(&sum);
    qs_sha256_add(&sum, text, strlen(text));
    qs_sha256_final(&sum, key.sha256);
    return key;
}

static void keep(const char *text, bool executable)
{
    const struct qs_port_key key = key_of(text, executable);
    struct qs_port_fault fault;
    assert_true(qs_files_create(&files, &fault));
    assert_true(qs_files_write(&files, text, strlen(text), &fault));
    assert_true(qs_files_keep(&files, &key, &fault));
    assert_int_equal(files.part_fd, -1);
}

static mode_t mode_of(const char *path)
{
    struct stat st;
    assert_int_equal(lstat(path, &st), 0);
    return st.st_mode & 07777;
}

static size_t listed(uint64_t *bytes)
{
    struct qs_port_item item;
    size_t n = 0;
    for (*bytes = 0; qs_files_next(&files, &item); n++) {
        *bytes += item.bytes;
        assert_true(item.used_ns > INT64_C(1000000000000000000));
    }
    return n;
}

static void keeps_files_by_their_content(void **state)
{
    static const char hello[] = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824";
    const struct qs_port_key key = key_of("hello", false), run = key_of("hello", true),
                             none = key_of("x", false);
    struct stat before, after;
    char path[128];
    uint8_t sum[32];
    uint64_t bytes = 0;
    int64_t stamp = 0;
    (void)state;
    assert_true(opens(&files, "cache", ""));
    keep("hello", false);
    keep("hello", true);
    snprintf(path, sizeof path, "cache/1/files/%s", hello);
    assert_int_equal(mode_of(path), 0444);
    assert_int_equal(stat(path, &before), 0);
    assert_true(qs_files_look(&files, &key, &bytes, &stamp));
    assert_int_equal(bytes, 5);
    assert_int_equal(stamp, (int64_t)before.st_mtim.tv_sec * 1000000000 + before.st_mtim.tv_nsec);
    assert_true(qs_files_sum(&files, &key, sum));
    assert_memory_equal(sum, key.sha256, sizeof sum);
    assert_false(qs_files_sum(&files, &none, sum));
    assert_false(qs_files_look(&files, &none, &bytes, &stamp));
    const struct timespec old[2] = {{.tv_sec = 1500000000}, {.tv_nsec = UTIME_OMIT}};
    assert_int_equal(utimensat(AT_FDCWD, path, old, 0), 0);
    qs_files_used(&files, &key);
    assert_int_equal(stat(path, &after), 0);
    assert_true(after.st_atim.tv_sec > 1500000000);
    assert_int_equal(after.st_mtim.tv_nsec, before.st_mtim.tv_nsec);
    strcat(path, ".x");
    assert_int_equal(mode_of(path), 0555);
    /* What is none of ours by its name, or no file, is not listed. */
    shell("cd cache/1/files; touch junk $(printf %064d 0)x $(printf %063d 0)A $(printf %063d 0)g; mkdir "
          "$(printf %064d 1)");
    assert_int_equal(listed(&bytes), 2);
    assert_int_equal(bytes, 10);
    assert_int_equal(listed(&bytes), 2); /* from the start again */
    qs_files_remove(&files, &run);
    assert_int_equal(listed(&bytes), 1);
    assert_false(qs_files_look(&files, &run, &bytes, &stamp));
    uint64_t free_bytes = 0, total_bytes = 0;
    assert_true(qs_files_space(&files, &free_bytes, &total_bytes));
    assert_true(free_bytes > 0 && free_bytes <= total_bytes);
    qs_files_close(&files);
}

static void takes_a_place_of_its_own(void **state)
{
    static struct qs_linux_files others[PLACES];
    char path[300];
    (void)state;
    for (int i = 0; i < PLACES; i++) {
        assert_true(opens(&others[i], "shared", ""));
        snprintf(path, sizeof path, "%s/shared/%d", folder, i + 1);
        assert_string_equal(others[i].root, path);
        assert_int_equal(mode_of(path), 0700);
    }
    assert_false(opens(&files, "shared", "no cache for files in 'shared': other agents use it"));
    qs_files_close(&others[4]);
    assert_true(opens(&files, "shared", ""));
    assert_string_equal(strrchr(files.root, '/'), "/5");
    qs_files_close(&files);
    for (int i = 0; i < PLACES; i++) {
        qs_files_close(&others[i]);
    }
    shell("touch file; mkdir -p links elsewhere; ln -s ../elsewhere links/1");
    assert_false(opens(&files, "file", strerror(ENOTDIR)));
    assert_int_equal(files.lock_fd, -1);
    assert_false(opens(&files, "links", strerror(ENOTDIR)));
    memset(path, 'x', sizeof path - 1);
    path[sizeof path - 1] = '\0';
    assert_false(opens(&files, path, strerror(ENAMETOOLONG)));
    if (geteuid() == 0) {
        shell("mkdir -p theirs/1; chown 54321 theirs/1");
        assert_false(opens(&files, "theirs", strerror(EPERM)));
    }
}

/* Where nothing is said: the user's own state directory, made with its parents. */
static void has_a_usual_place(void **state)
{
    char home[256], state_home[256], error[QS_FILES_ERROR_BYTES], path[320];
    (void)state;
    snprintf(home, sizeof home, "%s/home", folder);
    snprintf(state_home, sizeof state_home, "%s/state", folder);
    setenv("HOME", home, 1);
    setenv("XDG_STATE_HOME", state_home, 1);
    assert_true(qs_files_open(&files, NULL, error));
    snprintf(path, sizeof path, "%s/quiesce-agent/cache/1", state_home);
    assert_string_equal(files.root, path);
    qs_files_close(&files);
    for (int relative = 0; relative < 2; relative++) {
        relative ? setenv("XDG_STATE_HOME", "state", 1) : unsetenv("XDG_STATE_HOME");
        assert_true(qs_files_open(&files, NULL, error));
        snprintf(path, sizeof path, "%s/.local/state/quiesce-agent/cache/1", home);
        assert_string_equal(files.root, path);
        qs_files_close(&files);
    }
    enum { ROOM_BYTES = QS_PORT_PATH_BYTES - 64 };
    static const char *const ends[] = {"/quiesce-agent/cache", "/.local/state/quiesce-agent/cache"};
    char longest[ROOM_BYTES];
    for (size_t i = 0; i < 4; i++) { /* what just fits with its end, and one byte more, which is no place */
        size_t n = ROOM_BYTES - 1 - strlen(ends[i / 2]) + i % 2, given = strlen(home);
        memcpy(longest, home, given);
        for (size_t k = given; k < n; k++) {
            longest[k] = (k - given) % 2 ? '.' : '/';
        }
        longest[n - 1] = '/';
        longest[n] = '\0';
        setenv("HOME", i / 2 ? longest : "", 1);
        setenv("XDG_STATE_HOME", i / 2 ? "" : longest, 1);
        assert_int_equal(qs_files_open(&files, NULL, error), i % 2 == 0);
        qs_files_close(&files);
    }
}

/* What an earlier life had not finished is gone, what it had kept is not. */
static void begins_tidily(void **state)
{
    uint64_t bytes;
    struct qs_port_fault fault;
    (void)state;
    assert_true(opens(&files, "life", ""));
    keep("kept", false);
    assert_true(qs_files_create(&files, &fault));
    assert_true(qs_files_write(&files, "half", 4, &fault));
    const struct qs_port_key key = key_of("kept", false);
    assert_true(qs_files_place(&files, 1, "laid/out", &key, &fault));
    qs_files_close(&files);
    assert_int_equal(access("life/1/files/part", F_OK), 0);
    assert_true(opens(&files, "life", ""));
    assert_int_equal(access("life/1/files/part", F_OK), -1);
    assert_int_equal(access("life/1/dirs/0001", F_OK), -1);
    assert_int_equal(listed(&bytes), 1);
    assert_true(qs_files_create(&files, &fault));
    assert_true(qs_files_create(&files, &fault)); /* in place of what has not come to its end */
    qs_files_discard(&files);
    assert_int_equal(access("life/1/files/part", F_OK), -1);
    qs_files_close(&files);
}

/* A disk that takes no more; the quota of a user is a full disk too. */
static void says_what_the_disk_refuses(void **state)
{
    const struct qs_port_key key = key_of("12345", false);
    struct qs_port_fault fault = {.code = 0};
    struct rlimit before, few;
    (void)state;
    errno = EDQUOT;
    assert_false(qs_files_fault(&fault, "it"));
    assert_int_equal(fault.code, ENOSPC);
    assert_int_equal(fault.blame, QS_WIRE_BLAME_DEVICE);
    assert_int_equal(fault.wire_code, QS_CODE_RESOURCE);
    assert_true(opens(&files, "small", ""));
    assert_false(qs_files_keep(&files, &key, &fault)); /* there is none */
    assert_int_equal(fault.code, EBADF);
    assert_true(qs_files_create(&files, &fault));
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    few = before;
    few.rlim_cur = 3;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &few), 0);
    bool ok = qs_files_write(&files, "12345", 5, &fault);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_false(ok);
    assert_int_equal(fault.code, EFBIG);
    qs_files_close(&files);
    shell("rm -rf small/1/files");
    assert_false(qs_files_create(&files, &fault));
    assert_int_equal(fault.code, EBADF);
}

static void content(const char *path, const char *text)
{
    char read_back[64] = "";
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    assert_int_equal(fread(read_back, 1, sizeof read_back - 1, f), strlen(text));
    assert_string_equal(read_back, text);
    fclose(f);
}

static void lays_files_out(void **state)
{
    const struct qs_port_key one = key_of("one", false), two = key_of("two", true), none = key_of("x", false);
    struct qs_port_fault fault;
    struct stat st;
    char path[300], own[300];
    (void)state;
    assert_true(opens(&files, "out", ""));
    keep("one", false);
    keep("two", true);
    qs_files_path(&files, 0x2a, path, sizeof path);
    snprintf(own, sizeof own, "%s/out/1/dirs/002a", folder);
    assert_string_equal(path, own);
    assert_int_equal(mode_of(path), 0777);
    assert_int_equal(mode_of("out/1/dirs"), 0700);
    assert_true(qs_files_place(&files, 0x2a, "a/b/c", &one, &fault));
    assert_true(qs_files_place(&files, 0x2a, "top", &one, &fault));
    assert_int_equal(mode_of("out/1/dirs/002a/a/b"), 0777);
    assert_int_equal(stat("out/1/dirs/002a/a/b/c", &st), 0);
    assert_int_equal(st.st_nlink, 3);
    content("out/1/dirs/002a/a/b/c", "one");
    assert_true(qs_files_place(&files, 0x2a, "a/b/c", &two, &fault)); /* another in its place */
    content("out/1/dirs/002a/a/b/c", "two");
    assert_false(qs_files_place(&files, 0x2a, "a/b", &one, &fault)); /* a directory stays one */
    assert_false(qs_files_place(&files, 0x2a, "top/below", &one, &fault));
    assert_int_equal(fault.code, ENOTDIR);
    assert_false(qs_files_place(&files, 0x2a, "no", &none, &fault));
    assert_int_equal(fault.code, ENOENT);
    assert_non_null(strstr(fault.text, "no: "));
    shell("mkdir elsewhere2; ln -s ../../../../elsewhere2 out/1/dirs/002a/link");
    assert_false(qs_files_place(&files, 0x2a, "link/x", &one, &fault)); /* no link is followed */
    assert_int_equal(access("elsewhere2/x", F_OK), -1);
    shell(
        "dd if=/dev/zero of=out/1/dirs/002a/made bs=4096 count=3 2>/dev/null; ln out/1/dirs/002a/made twice");
    shell("cd out/1/dirs/002a; dd if=/dev/zero of=other bs=4096 count=5 2>/dev/null; cp other a/again; chmod "
          "0 a");
    shell("d=out/1/dirs/002a/deep; for i in $(seq 40); do mkdir $d; d=$d/d; done");
    assert_int_equal(stat("out/1/dirs/002a/other", &st), 0);
    assert_int_equal(qs_files_clear(&files),
                     2 * 512 * (uint64_t)st.st_blocks); /* what has another name is not freed */
    assert_int_equal(access("out/1/dirs/002a", F_OK), -1);
    shell("test -z \"$(ls -A out/1/dirs)\"; test -d elsewhere2");
    assert_int_equal(qs_files_clear(&files), 0);
    qs_files_close(&files);
}

/* Where a file cannot have a second name it is copied, with its mode. */
static void copies_where_it_must(void **state)
{
    static char much[200001];
    char elsewhere[] = "/dev/shm/qs-agent-cache-XXXXXX", command[200];
    struct qs_port_fault fault;
    struct stat here, there;
    (void)state;
    if (!mkdtemp(elsewhere) || stat(elsewhere, &there) != 0 || stat(folder, &here) != 0 ||
        here.st_dev == there.st_dev) {
        puts("# why: this machine has one file system for both");
        skip();
    }
    assert_true(opens(&files, "copied", ""));
    close(files.files_fd);
    files.files_fd = open(elsewhere, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    memset(much, 'm', sizeof much - 1);
    const struct qs_port_key key = key_of(much, true), small = key_of("s", false), none = key_of("x", false);
    keep(much, true);
    keep("s", false);
    assert_true(qs_files_place(&files, 1, "much", &key, &fault));
    assert_true(qs_files_place(&files, 1, "small", &small, &fault));
    assert_int_equal(mode_of("copied/1/dirs/0001/much"), 0555);
    assert_int_equal(mode_of("copied/1/dirs/0001/small"), 0444);
    snprintf(command, sizeof command, "cmp copied/1/dirs/0001/much %s/*.x", elsewhere);
    shell(command);
    content("copied/1/dirs/0001/small", "s");
    assert_false(qs_files_place(&files, 1, "none", &none, &fault));
    assert_int_equal(fault.code, ENOENT);
    struct rlimit before, few;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    few = before;
    few.rlim_cur = 100000;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &few), 0);
    bool ok = qs_files_place(&files, 1, "again", &key, &fault);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_false(ok);
    assert_int_equal(fault.code, EFBIG);
    assert_int_equal(access("copied/1/dirs/0001/again", F_OK), -1); /* half a file is none */
    qs_files_close(&files);
    snprintf(command, sizeof command, "rm -rf %s", elsewhere);
    shell(command);
}

static void sums(struct qs_sums *all, const char *path, const char *text)
{
    static const uint8_t nothing[32];
    static struct qs_commands commands = {.cwd_fd = AT_FDCWD};
    static struct qs_command command;
    uint8_t sum[32];
    snprintf(command.path, sizeof command.path, "%s", path);
    qs_sums_of(all, &commands, &command, sum);
    assert_memory_equal(sum, text ? key_of(text, false).sha256 : nothing, 32);
}

/* The same size and the same time of change, as a file system with coarse clocks would have it, are told
 * apart by the time that the kernel sets; what the table has no room for is summed up anew. */
static void sums_up_what_has_changed(void **state)
{
    static struct qs_sums all;
    char path[64], command[200];
    (void)state;
    shell("printf one >exe; printf two >other");
    sums(&all, "exe", "one");
    sums(&all, "exe", "one");
    assert_int_equal(all.count, 1);
    memset(all.items[0].sha256, 0, 32); /* it is remembered, not read */
    sums(&all, "exe", NULL);
    shell("sleep 0.02; printf TWO >exe; touch -r other exe");
    sums(&all, "exe", "TWO");
    shell("sleep 0.02; printf ONE >exe; touch -r other exe");
    sums(&all, "exe", "ONE");
    sums(&all, "nowhere", NULL);
    sums(&all, ".", NULL); /* opened, not read */
    for (int i = 0; i <= QS_SUMS_MAX; i++) {
        snprintf(path, sizeof path, "exe%d", i);
        snprintf(command, sizeof command, "printf %s >%s", path, path);
        shell(command);
        sums(&all, path, path);
        assert_true(all.count <= QS_SUMS_MAX);
    }
    sums(&all, "exe0", "exe0");
    sums(&all, "exe16", "exe16");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keeps_files_by_their_content),
        cmocka_unit_test(takes_a_place_of_its_own),
        cmocka_unit_test(has_a_usual_place),
        cmocka_unit_test(begins_tidily),
        cmocka_unit_test(says_what_the_disk_refuses),
        cmocka_unit_test(lays_files_out),
        cmocka_unit_test(copies_where_it_must),
        cmocka_unit_test(sums_up_what_has_changed),
    };
    return cmocka_run_group_tests_name("agent.cache", tests, enter_folder, leave_folder);
}
