#include "linux/ftrace.h"

#include "core/print.h"
#include "linux/io.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PREFIX "quiesce-"

/* Where tracefs may lie; a test has a place of its own. */
#ifndef QS_TRACEFS
#define QS_TRACEFS "/sys/kernel/tracing", "/sys/kernel/debug/tracing"
#endif

enum { COPY_BYTES = 65536, INSTANCE_MODE = 0700, OUTPUT_MODE = 0600, EXIT_TROUBLE = 1 };

static const char *const roots[] = {QS_TRACEFS};

/* The folder of instances; -1: tracefs is not mounted. */
static int open_instances(void)
{
    int fd = -1;
    for (size_t i = 0; fd < 0 && i < sizeof roots / sizeof roots[0]; i++) {
        char path[64];
        qs_print(path, sizeof path, "%s/instances", roots[i]);
        fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    }
    return fd;
}

static int complain(const char *what, const char *detail)
{
    char text[512];
    qs_print(text, sizeof text, "ftrace: %s: %s\n", what, detail);
    fputs(text, stderr);
    return EXIT_TROUBLE;
}

/* One write: tracefs takes a value whole or not at all. */
static bool put(int dir_fd, const char *file, const char *value)
{
    int fd = openat(dir_fd, file, O_WRONLY | O_APPEND | O_NOFOLLOW | O_CLOEXEC);
    bool ok = fd >= 0 && write(fd, value, strlen(value)) == (ssize_t)strlen(value);
    qs_io_close(&fd);
    return ok;
}

/* A name of a file in the instance itself, or of one below its options. */
static bool is_setting(const char *name)
{
    size_t n = strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_-");
    return n > 0 &&
           (name[n] == '\0' || (n == 7 && strncmp(name, "options/", 8) == 0 && is_setting(name + 8)));
}

static bool set_up(int dir_fd, char **settings)
{
    if (!put(dir_fd, "tracing_on", "0")) {
        complain("tracing_on", strerror(errno));
        return false;
    }
    for (; *settings; settings++) {
        char name[64];
        size_t n = strcspn(*settings, "=");
        bool usable = n < sizeof name && (*settings)[n] == '=';
        qs_print(name, sizeof name, "%.*s", (int)n, *settings);
        if (!usable || !is_setting(name) || !put(dir_fd, name, *settings + n + 1)) {
            complain(*settings,
                     usable && is_setting(name) ? strerror(errno) : "no setting such as current_tracer=nop");
            return false;
        }
    }
    return true;
}

/* SIGXFSZ is ignored: the output ends where it may not grow. */
static void copy(int dir_fd, const char *output)
{
    static char bytes[COPY_BYTES];
    int from = openat(dir_fd, "trace", O_RDONLY | O_CLOEXEC);
    int to = open(output, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, OUTPUT_MODE);
    if (from < 0 || to < 0) {
        complain(from < 0 ? "trace" : output, strerror(errno));
    }
    while (from >= 0 && to >= 0) {
        ssize_t n = read(from, bytes, sizeof bytes);
        if (n <= 0 || write(to, bytes, (size_t)n) != n) {
            break;
        }
    }
    qs_io_close(&from);
    qs_io_close(&to);
}

static int record(int dir_fd, char **argv, const sigset_t *ends)
{
    int got;
    if (!set_up(dir_fd, argv + 1)) {
        return EXIT_TROUBLE;
    }
    if (!put(dir_fd, "tracing_on", "1")) {
        return complain("tracing_on", strerror(errno));
    }
    sigwait(ends, &got);
    put(dir_fd, "tracing_on", "0");
    copy(dir_fd, argv[0]);
    return 0;
}

int qs_ftrace_main(char **argv)
{
    char name[64];
    sigset_t ends;
    sigemptyset(&ends);
    sigaddset(&ends, SIGINT);
    sigaddset(&ends, SIGTERM);
    sigprocmask(SIG_BLOCK, &ends, NULL);
    signal(SIGINT, SIG_DFL); /* a shell's background has it ignored, and then it never comes */
    signal(SIGXFSZ, SIG_IGN);
    if (!argv[0]) {
        return complain("--ftrace", "it needs the file that it is to write");
    }
    qs_ftrace_sweep();
    int instances = open_instances();
    if (instances < 0) {
        return complain("tracefs is not there", "mount -t tracefs nodev /sys/kernel/tracing");
    }
    qs_print(name, sizeof name, PREFIX "%d", (int)getpid());
    if (mkdirat(instances, name, INSTANCE_MODE) != 0) {
        qs_io_close(&instances);
        return complain("no instance can be made", strerror(errno));
    }
    int dir_fd = openat(instances, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int status = dir_fd >= 0 ? record(dir_fd, argv, &ends) : complain(name, strerror(errno));
    qs_io_close(&dir_fd);
    if (unlinkat(instances, name, AT_REMOVEDIR) != 0) {
        complain(name, strerror(errno));
    }
    close(instances);
    return status;
}

void qs_ftrace_sweep(void)
{
    struct qs_dir dir;
    int instances = open_instances();
    if (qs_dir_open_at(&dir, instances, ".")) {
        for (const char *name = qs_dir_next(&dir); name; name = qs_dir_next(&dir)) {
            long pid = strncmp(name, PREFIX, sizeof PREFIX - 1) == 0
                           ? strtol(name + sizeof PREFIX - 1, NULL, 10)
                           : 0;
            if (pid > 0 && kill((pid_t)pid, 0) != 0 && errno == ESRCH) {
                unlinkat(instances, name, AT_REMOVEDIR);
            }
        }
        qs_dir_close(&dir);
    }
    qs_io_close(&instances);
}
