/* The kernel's tracer as a program, over a folder that behaves as tracefs does: a new instance has its files
 * at once, and they go with it. */
#include "linux/ftrace.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static char folder[] = "/tmp/qs-agent-ftrace-XXXXXX";
static const char *const files[] = {"tracing_on", "trace", "current_tracer", "options/stacktrace"};

static size_t first_file; /* what is before it is missing */

int __real_mkdirat(int dir_fd, const char *path, mode_t mode);
int __wrap_mkdirat(int dir_fd, const char *path, mode_t mode);
int __real_unlinkat(int dir_fd, const char *path, int flags);
int __wrap_unlinkat(int dir_fd, const char *path, int flags);

int __wrap_mkdirat(int dir_fd, const char *path, mode_t mode)
{
    int made = __real_mkdirat(dir_fd, path, mode);
    int fd = made == 0 ? openat(dir_fd, path, O_RDONLY | O_DIRECTORY) : -1;
    if (fd >= 0) {
        __real_mkdirat(fd, "options", 0700);
        for (size_t i = first_file; i < sizeof files / sizeof files[0]; i++) {
            int file = openat(fd, files[i], O_WRONLY | O_CREAT, 0600);
            (void)!(strcmp(files[i], "trace") == 0 && write(file, "what happened\n", 14));
            close(file);
        }
        close(fd);
    }
    return made;
}

int __wrap_unlinkat(int dir_fd, const char *path, int flags)
{
    char inner[128];
    for (size_t i = 0; flags == AT_REMOVEDIR && i < sizeof files / sizeof files[0]; i++) {
        snprintf(inner, sizeof inner, "%s/%s", path, files[i]);
        __real_unlinkat(dir_fd, inner, 0);
    }
    snprintf(inner, sizeof inner, "%s/options", path);
    if (flags == AT_REMOVEDIR) {
        __real_unlinkat(dir_fd, inner, AT_REMOVEDIR);
    }
    return __real_unlinkat(dir_fd, path, flags);
}

static int setup(void **state)
{
    (void)state;
    strcpy(strrchr(folder, '-'), "-XXXXXX");
    return mkdtemp(folder) && chdir(folder) == 0 && mkdir("tracefs", 0700) == 0 &&
                   mkdir("tracefs/instances", 0700) == 0
               ? 0
               : -1;
}

static int teardown(void **state)
{
    char command[64];
    (void)state;
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return chdir("/") == 0 ? system(command) : -1;
}

static pid_t start(const char *const *argv)
{
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        char *copy[8] = {NULL};
        for (size_t i = 0; argv[i]; i++) {
            copy[i] = (char *)(uintptr_t)argv[i];
        }
        dup2(open("said", O_WRONLY | O_CREAT | O_TRUNC, 0600), 2);
        _exit(qs_ftrace_main(copy));
    }
    return pid;
}

static int end_of(pid_t pid)
{
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static const char *content(const char *path)
{
    static char text[256];
    int fd = open(path, O_RDONLY);
    ssize_t n = fd >= 0 ? read(fd, text, sizeof text - 1) : -1;
    text[n > 0 ? n : 0] = '\0';
    close(fd);
    return n >= 0 ? text : "(none)";
}

static void await(const char *path, const char *text)
{
    while (strcmp(content(path), text) != 0) {
        usleep(1000);
    }
}

static void records_until_it_is_told_to_end(void **state)
{
    static const int signals[] = {SIGINT, SIGTERM};
    char path[128];
    struct stat st;
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        pid_t pid = start(
            (const char *const[]){"out", "current_tracer=function_graph", "options/stacktrace=1", NULL});
        snprintf(path, sizeof path, "tracefs/instances/quiesce-%d/tracing_on", (int)pid);
        await(path, "01"); /* off, then on: what is written is added here */
        snprintf(path, sizeof path, "tracefs/instances/quiesce-%d/current_tracer", (int)pid);
        assert_string_equal(content(path), "function_graph");
        snprintf(path, sizeof path, "tracefs/instances/quiesce-%d/options/stacktrace", (int)pid);
        assert_string_equal(content(path), "1");
        snprintf(path, sizeof path, "tracefs/instances/quiesce-%d", (int)pid);
        assert_int_equal(stat(path, &st), 0);
        assert_int_equal(st.st_mode & 0777, 0700);
        assert_string_equal(content("out"), "(none)");
        kill(pid, signals[i]);
        assert_int_equal(end_of(pid), 0);
        assert_string_equal(content("out"), "what happened\n");
        assert_int_equal(stat("out", &st), 0);
        assert_int_equal(st.st_mode & 0777, 0600);
        assert_int_equal(stat(path, &st), -1);
        assert_string_equal(content("said"), "");
        unlink("out");
    }
}

static void refuses(const char *setting, const char *why)
{
    char wanted[256];
    assert_int_equal(end_of(start((const char *const[]){"out", "current_tracer=nop", setting, NULL})), 1);
    snprintf(wanted, sizeof wanted, "ftrace: %s: %s\n", setting, why);
    assert_string_equal(content("said"), wanted);
    assert_string_equal(content("out"), "(none)");
    assert_int_equal(rmdir("tracefs/instances"), 0); /* it is empty: no instance stays behind */
    assert_int_equal(mkdir("tracefs/instances", 0700), 0);
}

/* A setting is a file of the instance, or of its options, and leads nowhere else. */
static void takes_settings_of_its_instance_alone(void **state)
{
    static const char none[] = "no setting such as current_tracer=nop";
    static char longest[100];
    (void)state;
    refuses("current_tracer", none);
    refuses("=1", none);
    refuses("Trace=1", none);
    refuses("../trace=1", none);
    refuses("a/b=1", none);
    refuses("optionsx/b=1", none);
    refuses("options/=1", none);
    refuses("options/../trace=1", none);
    refuses("options/options/a=1", strerror(ENOENT));
    refuses("no_such_thing=1", strerror(ENOENT));
    memset(longest, 'a', 63);
    strcpy(longest + 63, "=1");
    refuses(longest, strerror(ENOENT));
    memset(longest, 'a', 64);
    strcpy(longest + 64, "=1");
    refuses(longest, none);
}

static void says_what_is_not_there(void **state)
{
    (void)state;
    assert_int_equal(end_of(start((const char *const[]){NULL})), 1);
    assert_string_equal(content("said"), "ftrace: --ftrace: it needs the file that it is to write\n");
    assert_int_equal(rmdir("tracefs/instances"), 0);
    assert_int_equal(end_of(start((const char *const[]){"out", NULL})), 1);
    assert_non_null(strstr(content("said"), "tracefs is not there"));
    assert_int_equal(mkdir("tracefs/instances", 0700), 0);
    first_file = 1;
    assert_int_equal(end_of(start((const char *const[]){"out", NULL})), 1);
    assert_string_equal(content("said"), "ftrace: tracing_on: No such file or directory\n");
    first_file = 0;
    close(open("out", O_CREAT | O_WRONLY, 0600)); /* somebody's file is not written over */
    char path[128];
    pid_t pid = start((const char *const[]){"out", NULL});
    snprintf(path, sizeof path, "tracefs/instances/quiesce-%d/tracing_on", (int)pid);
    await(path, "01");
    kill(pid, SIGINT);
    assert_int_equal(end_of(pid), 0);
    assert_string_equal(content("out"), "");
    assert_string_equal(content("said"), "ftrace: out: File exists\n");
}

/* A bound on files cuts the output, and is no end of the program. */
static void ends_where_its_file_may_not_grow(void **state)
{
    struct rlimit before, few;
    char path[128];
    (void)state;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    few = before;
    few.rlim_cur = 4;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &few), 0);
    pid_t pid = start((const char *const[]){"out", NULL});
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    snprintf(path, sizeof path, "tracefs/instances/quiesce-%d/tracing_on", (int)pid);
    await(path, "01");
    snprintf(path, sizeof path, "tracefs/instances/quiesce-%d/trace", (int)pid);
    int fd = open(path, O_WRONLY | O_TRUNC);
    assert_int_equal(write(fd, "0123456789", 10), 10);
    close(fd);
    kill(pid, SIGINT);
    assert_int_equal(end_of(pid), 0);
    assert_string_equal(content("out"), "0123");
    assert_int_equal(unlink("out"), 0);
    pid = start((const char *const[]){"out", NULL});
    snprintf(path, sizeof path, "tracefs/instances/quiesce-%d/tracing_on", (int)pid);
    await(path, "01");
    snprintf(path, sizeof path, "tracefs/instances/quiesce-%d/trace", (int)pid);
    assert_int_equal(truncate(path, 1), 0); /* the least that there can be */
    kill(pid, SIGTERM);
    assert_int_equal(end_of(pid), 0);
    assert_string_equal(content("out"), "w");
}

/* Instances of programs that are gone are removed; nobody else's. */
static void sweeps_what_was_left(void **state)
{
    char path[128], own[128];
    (void)state;
    pid_t gone = fork();
    if (gone == 0) {
        _exit(0);
    }
    assert_int_equal(end_of(gone), 0);
    snprintf(path, sizeof path, "tracefs/instances/quiesce-%d", (int)gone);
    snprintf(own, sizeof own, "tracefs/instances/quiesce-%d", (int)getpid());
    assert_int_equal(mkdir(path, 0700) | mkdir(own, 0700) | mkdir("tracefs/instances/somebody", 0700) |
                         mkdir("tracefs/instances/quiesce-0", 0700) |
                         mkdir("tracefs/instances/quiesce-x", 0700) |
                         mkdir("tracefs/instances/quiesce--2147480000", 0700),
                     0);
    qs_ftrace_sweep();
    assert_int_equal(access(path, F_OK), -1);
    assert_int_equal(access(own, F_OK), 0);
    assert_int_equal(access("tracefs/instances/somebody", F_OK), 0);
    assert_int_equal(access("tracefs/instances/quiesce-0", F_OK), 0);
    assert_int_equal(access("tracefs/instances/quiesce-x", F_OK), 0);
    assert_int_equal(access("tracefs/instances/quiesce--2147480000", F_OK), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(records_until_it_is_told_to_end, setup, teardown),
        cmocka_unit_test_setup_teardown(takes_settings_of_its_instance_alone, setup, teardown),
        cmocka_unit_test_setup_teardown(says_what_is_not_there, setup, teardown),
        cmocka_unit_test_setup_teardown(ends_where_its_file_may_not_grow, setup, teardown),
        cmocka_unit_test_setup_teardown(sweeps_what_was_left, setup, teardown),
    };
    return cmocka_run_group_tests_name("agent.ftrace", tests, NULL, NULL);
}
