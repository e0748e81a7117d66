/* One process per database, by whatever name; and nothing is written through names that others have laid. */
#include "fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "store/lock.h"

static bool other_user; /* who asks is told to be another one */

uid_t __wrap_geteuid(void);
uid_t __real_geteuid(void);

uid_t __wrap_geteuid(void)
{
    return __real_geteuid() + (other_user ? 1 : 0);
}

static int setup(void **state)
{
    struct fixture *f = malloc(sizeof *f);
    fixture_init(f);
    *state = f;
    other_user = false;
    return 0;
}

static const char *beside(const struct fixture *f, const char *name)
{
    static char path[8][192];
    static unsigned next;
    char *out = path[next++ % 8];
    snprintf(out, sizeof path[0], "%s/%s", f->dir, name);
    return out;
}

static void refused(struct fixture *f, const char *path, enum qs_errc code, const char *part_of_text)
{
    struct qs_err err = QS_ERR_INIT;
    struct qs_store *store = NULL;
    if (qs_store_open(f->loop, path, NULL, &store, &err))
        fail_msg("%s was opened", path);
    if (err.code != code || !strstr(err.text, part_of_text))
        fail_msg("code %d, \"%s\" is not in \"%s\"", (int)err.code, part_of_text, err.text);
}

static void write_file(const char *path, const char *text)
{
    FILE *out = fopen(path, "w");
    assert_non_null(out);
    fputs(text, out);
    assert_int_equal(fclose(out), 0);
}

static void links_lead_to_one_lock(void **state)
{
    struct fixture *f = *state;
    char owner[40];
    snprintf(owner, sizeof owner, "(process %ld)", (long)getpid());
    fixture_open(f);
    assert_int_equal(symlink(f->path, beside(f, "soft.db")), 0);
    assert_int_equal(symlink(f->dir, beside(f, "dir")), 0);
    refused(f, beside(f, "soft.db"), QS_E_STORE_TAKEN, owner);
    refused(f, beside(f, "dir/q.db"), QS_E_STORE_TAKEN, owner);
    refused(f, beside(f, "dir/./soft.db"), QS_E_STORE_TAKEN, owner);
    assert_int_equal(chdir(f->dir), 0);
    refused(f, "q.db", QS_E_STORE_TAKEN, owner);
    assert_int_equal(chdir("/"), 0);
    assert_int_not_equal(access(beside(f, "soft.db-lock"), F_OK), 0);
    fixture_close(f);
    /* Free, it opens by the link, and its log and its lock lie beside the file itself. */
    struct qs_err err = QS_ERR_INIT;
    assert_true(qs_store_open(f->loop, beside(f, "soft.db"), NULL, &f->store, &err));
    assert_string_equal(qs_store_path(f->store), f->path);
    assert_int_equal(access(beside(f, "q.db-lock"), F_OK), 0);
    assert_int_not_equal(access(beside(f, "soft.db-wal"), F_OK), 0);
}

static void a_second_name_is_refused(void **state)
{
    struct fixture *f = *state;
    fixture_open(f);
    assert_int_equal(link(f->path, beside(f, "hard.db")), 0);
    refused(f, beside(f, "hard.db"), QS_E_STORE_PLACE, "2 names");
    fixture_close(f);
    refused(f, f->path, QS_E_STORE_PLACE, "2 names");
    assert_int_equal(unlink(beside(f, "hard.db")), 0);
    fixture_open(f);
}

static void nothing_is_made_through_a_link(void **state)
{
    static const char precious[] = "precious\n";
    struct fixture *f = *state;
    write_file(beside(f, "victim"), precious);
    uint64_t before = file_sum(beside(f, "victim"));
    static const char *const laid[] = {"q.db-lock", "q.db-wal", "q.db-shm", "q.db-journal"};
    for (size_t i = 0; i < sizeof laid / sizeof *laid; i++) {
        assert_int_equal(symlink(beside(f, "victim"), beside(f, laid[i])), 0);
        refused(f, f->path, QS_E_STORE_PLACE, "symbolic link");
        assert_int_equal(unlink(beside(f, laid[i])), 0);
        assert_int_equal(link(beside(f, "victim"), beside(f, laid[i])), 0);
        refused(f, f->path, QS_E_STORE_PLACE, "2 names");
        assert_int_equal(unlink(beside(f, laid[i])), 0);
        assert_int_not_equal(access(f->path, F_OK), 0);
    }
    assert_true(file_sum(beside(f, "victim")) == before);
    assert_int_equal(symlink(beside(f, "nowhere"), f->path), 0);
    refused(f, f->path, QS_E_STORE_PLACE, "not there");
    assert_int_not_equal(access(beside(f, "nowhere"), F_OK), 0);
    assert_int_equal(unlink(f->path), 0);
    assert_int_equal(mkfifo(f->path, 0600), 0);
    refused(f, f->path, QS_E_STORE_PLACE, "not a regular file");
    assert_int_equal(unlink(f->path), 0);
}

static void places_of_others_are_refused(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(chmod(f->dir, 0777), 0);
    refused(f, f->path, QS_E_STORE_PLACE, "anybody may write");
    assert_int_equal(chmod(f->dir, 01777), 0); /* as /tmp */
    fixture_open(f);
    fixture_close(f);
    uint64_t before = file_sum(f->path);
    other_user = true;
    refused(f, f->path, QS_E_STORE_PLACE, "another user");
    assert_true(file_sum(f->path) == before);
    assert_int_equal(rename(f->path, beside(f, "away")), 0);
    write_file(beside(f, "q.db-lock"), "1\n");
    refused(f, f->path, QS_E_STORE_PLACE, "another user");
    other_user = false;
}

/* A child that does what it is told and then waits until the pipe is closed. Returns once it has said so. */
static pid_t child(void (*work)(const char *path), const char *path, int *ret_hold)
{
    int said[2], hold[2];
    assert_int_equal(pipe2(said, O_CLOEXEC) | pipe2(hold, O_CLOEXEC), 0);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        char c;
        close(hold[1]);
        work(path);
        if (write(said[1], "x", 1) != 1)
            _exit(1);
        while (read(hold[0], &c, 1) < 0 && errno == EINTR)
            ;
        _exit(0);
    }
    char c;
    assert_int_equal(close(said[1]) | close(hold[0]), 0);
    assert_int_equal(read(said[0], &c, 1), 1);
    close(said[0]);
    *ret_hold = hold[1];
    return pid;
}

static void end_child(pid_t pid, int hold)
{
    int status;
    close(hold);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
}

static void lock_inode(const char *path)
{
    struct flock byte = {.l_type = F_WRLCK, .l_start = (off_t)1 << 60, .l_len = 1};
    int fd = open(path, O_RDWR | O_CLOEXEC);
    if (fd < 0 || fcntl(fd, F_OFD_SETLK, &byte) != 0)
        _exit(2);
}

/* As a file that is mounted in two places has: no lock file is shared. */
static void a_name_that_no_link_tells_of(void **state)
{
    struct fixture *f = *state;
    int hold;
    fixture_open(f);
    fixture_close(f);
    pid_t pid = child(lock_inode, f->path, &hold);
    refused(f, f->path, QS_E_STORE_TAKEN, "by another name");
    end_child(pid, hold);
    fixture_open(f);
}

/* SQLite's own locks stand beside ours: another process sees that a commit is under way. */
static void the_owner_locks_its_inode(void **state)
{
    struct fixture *f = *state;
    struct flock byte = {.l_type = F_WRLCK, .l_start = (off_t)1 << 60, .l_len = 1};
    fixture_open(f);
    int hold;
    pid_t pid = child(lock_inode, "/dev/null", &hold); /* another file: no conflict */
    end_child(pid, hold);
    pid = fork();
    if (pid == 0) {
        int fd = open(f->path, O_RDWR | O_CLOEXEC);
        _exit(fd >= 0 && fcntl(fd, F_OFD_SETLK, &byte) != 0 ? 7 : 8);
    }
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(WEXITSTATUS(status), 7);
}

/* The lock of a daemon that was killed, held by a child of it that has not come to its exec. */
static pid_t orphan(const char *path, int64_t wait_ms, int *ret_hold)
{
    int hold[2], held[2], status;
    char c;
    assert_int_equal(pipe2(hold, O_CLOEXEC) | pipe2(held, O_CLOEXEC), 0);
    pid_t daemon = fork();
    if (daemon == 0) {
        struct qs_lock lock;
        close(hold[1]);
        if (!qs_lock_take(path, NULL, 0, &lock, NULL))
            _exit(1);
        if (fork() == 0) {
            if (write(held[1], "x", 1) != 1)
                _exit(1);
            nanosleep(&(struct timespec){.tv_nsec = wait_ms * 1000000}, NULL);
            while (wait_ms == 0 && read(hold[0], &c, 1) < 0 && errno == EINTR)
                ;
            _exit(0);
        }
        raise(SIGKILL);
    }
    assert_int_equal(read(held[0], &c, 1), 1);
    assert_int_equal(waitpid(daemon, &status, 0), daemon);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(close(hold[0]) | close(held[0]) | close(held[1]), 0);
    *ret_hold = hold[1];
    return daemon;
}

static void a_dead_owners_child_is_waited_for(void **state)
{
    struct fixture *f = *state;
    int hold;
    orphan(f->path, 200, &hold);
    fixture_open(f);
    fixture_close(f);
    close(hold);
}

static void a_child_that_stays_is_named(void **state)
{
    struct fixture *f = *state;
    int hold;
    struct qs_lock lock;
    struct qs_err err = QS_ERR_INIT;
    char text[64];
    snprintf(text, sizeof text, "process %ld owned this database and has ended",
             (long)orphan(f->path, 0, &hold));
    assert_false(qs_lock_take(f->path, NULL, 30, &lock, &err));
    assert_int_equal(err.code, QS_E_STORE);
    if (!strstr(err.text, text))
        fail_msg("%s", err.text);
    close(hold);
    fixture_open(f); /* it has gone, or goes within the patience */
}

/* As in a daemon that was started without standard input: the lock has descriptor 0. */
static void descriptor_0_is_one_like_others(void **state)
{
    struct fixture *f = *state;
    int kept = dup(STDIN_FILENO);
    close(STDIN_FILENO);
    fixture_open(f);
    assert_true(qs_store_is_owned(f->path));
    fixture_close(f);
    assert_int_equal(fcntl(STDIN_FILENO, F_GETFD), -1);
    assert_int_not_equal(access(beside(f, "q.db-lock"), F_OK), 0);
    for (int made = 1; made >= 0; made--) { /* and the database itself */
        struct qs_lock lock;
        if (made)
            assert_int_equal(unlink(f->path), 0);
        assert_int_equal(open("/dev/null", O_RDONLY | O_CLOEXEC), 0);
        assert_true(qs_lock_take(f->path, NULL, 0, &lock, NULL));
        close(STDIN_FILENO);
        assert_true(qs_lock_database(&lock, NULL));
        assert_int_equal(lock.db_fd, 0);
        assert_int_equal(lock.made, made);
        qs_lock_drop(&lock);
        assert_int_equal(fcntl(STDIN_FILENO, F_GETFD), -1);
    }
    if (kept >= 0)
        assert_int_equal(dup2(kept, STDIN_FILENO) | close(kept), 0);
}

/* Where a folder has come since the lock was taken, say. */
static void what_cannot_be_opened_is_not_owned(void **state)
{
    struct fixture *f = *state;
    struct qs_lock lock;
    struct qs_err err = QS_ERR_INIT;
    assert_true(qs_lock_take(f->path, NULL, 0, &lock, NULL));
    (void)unlink(f->path);
    assert_int_equal(mkdir(f->path, 0700), 0);
    assert_false(qs_lock_database(&lock, &err));
    assert_non_null(strstr(err.text, strerror(EISDIR)));
    assert_int_equal(lock.db_fd, -1);
    assert_int_equal(rmdir(f->path), 0);
    qs_lock_drop(&lock);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(links_lead_to_one_lock),
        TEST(a_second_name_is_refused),
        TEST(nothing_is_made_through_a_link),
        TEST(places_of_others_are_refused),
        TEST(a_name_that_no_link_tells_of),
        TEST(the_owner_locks_its_inode),
        TEST(a_dead_owners_child_is_waited_for),
        TEST(a_child_that_stays_is_named),
        TEST(descriptor_0_is_one_like_others),
        TEST(what_cannot_be_opened_is_not_owned),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
