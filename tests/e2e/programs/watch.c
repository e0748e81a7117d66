/* watch FILE PROGRAM ARGUMENT...: runs a program and writes down each system call that it and its children
 * enter, one a line: pid, CLOCK_MONOTONIC_RAW in ns, number. */
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define OPTIONS                                                                                              \
    (PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK |                \
     PTRACE_O_TRACEEXEC)

static long long now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC_RAW, &t);
    return (long long)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* A stop at a system call: is it the entry, and of which one? */
static bool entered(pid_t pid, long long *number)
{
    struct __ptrace_syscall_info info;
    memset(&info, 0, sizeof info);
    long n = ptrace(PTRACE_GET_SYSCALL_INFO, pid, (void *)sizeof info, &info);
    *number = (long long)info.entry.nr;
    return n > 0 && info.op == PTRACE_SYSCALL_INFO_ENTRY;
}

/* The signal that the process goes on with. */
static int stopped(FILE *out, pid_t pid, int status)
{
    int sig = WSTOPSIG(status);
    long long number;
    if (sig == (SIGTRAP | 0x80)) {
        if (entered(pid, &number)) {
            fprintf(out, "%d %lld %lld\n", (int)pid, now_ns(), number);
        }
        return 0;
    }
    return sig == SIGTRAP || sig == SIGSTOP ? 0 : sig;
}

int main(int argc, char **argv)
{
    FILE *out = argc > 2 ? fopen(argv[1], "we") : NULL;
    int status = 0, code = 0;
    pid_t first = out ? fork() : -1, pid;
    if (first < 0) {
        return 125;
    }
    setvbuf(out, NULL, _IOLBF, 0); /* whoever ends us wants what we saw */
    if (first == 0) {
        ptrace(PTRACE_TRACEME, 0, 0, 0);
        raise(SIGSTOP);
        execvp(argv[2], argv + 2);
        _exit(127);
    }
    waitpid(first, &status, 0);
    ptrace(PTRACE_SETOPTIONS, first, 0, OPTIONS);
    ptrace(PTRACE_SYSCALL, first, 0, 0);
    while ((pid = waitpid(-1, &status, __WALL)) > 0 || errno == EINTR) {
        if (pid > 0 && WIFSTOPPED(status)) {
            ptrace(PTRACE_SYSCALL, pid, 0, stopped(out, pid, status));
        } else if (pid == first) {
            code = WIFEXITED(status) ? WEXITSTATUS(status) : 126;
        }
    }
    fclose(out);
    return code;
}
