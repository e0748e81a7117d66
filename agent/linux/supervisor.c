/* Whoever kills the agent must not leave its programs to the device: what it has started becomes the
 * supervisor's when it dies, and is ended. Killed itself, its end of a pipe tells the agent to end.
 * What a session changes on the device can be put back from here as well. */
#include "linux/supervisor.h"

#include "linux/spawn.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define STRAYS_BUDGET_NS INT64_C(10000000000)

/* Job control is not for passing on: a stop and its end would look like one of the agent's. */
static const int own_signals[] = {SIGCONT, SIGTSTP, SIGTTIN, SIGTTOU};

static void end_as(int status)
{
    const struct rlimit no_core = {0, 0};
    sigset_t all;
    if (WIFEXITED(status)) {
        _exit(WEXITSTATUS(status));
    }
    setrlimit(RLIMIT_CORE, &no_core);
    signal(WTERMSIG(status), SIG_DFL);
    sigfillset(&all);
    sigprocmask(SIG_UNBLOCK, &all, NULL);
    raise(WTERMSIG(status));
    _exit(128 + WTERMSIG(status));
}

/* Standard input is the agent's alone. Standard output stays open: at the other end of a link a killed agent
 * has ended when nothing of it runs any more. */
static void leave_input(void)
{
    int null_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (null_fd >= 0) {
        dup2(null_fd, STDIN_FILENO);
        close(null_fd);
    }
}

static void supervise(pid_t agent, const sigset_t *waited)
{
    int status = 0;
    pid_t ended = 0;
    prctl(PR_SET_NAME, "qs-supervisor", 0, 0, 0); /* pkill quiesce-agent does not mean us */
    leave_input();
    while (ended != agent) {
        int signum = sigwaitinfo(waited, NULL);
        if (signum > 0 && signum != SIGCHLD) {
            kill(agent, signum);
        }
        do {
            ended = waitpid(-1, &status, WNOHANG);
        } while (ended > 0 && ended != agent);
    }
    qs_spawn_end_strays(0, 0, STRAYS_BUDGET_NS);
    end_as(status);
}

bool qs_supervisor_split(struct qs_supervised *agent)
{
    sigset_t waited;
    sigset_t before;
    int alive[2];
    agent->started_by = getppid();
    if (pipe2(alive, O_CLOEXEC) != 0) {
        return false;
    }
    sigfillset(&waited);
    for (size_t i = 0; i < sizeof own_signals / sizeof own_signals[0]; i++) {
        sigdelset(&waited, own_signals[i]);
    }
    signal(SIGCHLD, SIG_DFL);
    sigprocmask(SIG_BLOCK, &waited, &before);
    prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); /* before 3.4 it does not exist: strays then escape */
    pid_t pid = fork();
    if (pid > 0) {
        supervise(pid, &waited);
    }
    if (pid == 0 && !isatty(STDIN_FILENO)) {
        setpgid(0, 0); /* a signal for a whole group meets one of us */
    }
    sigprocmask(SIG_SETMASK, &before, NULL);
    close(alive[1]);
    agent->alive_fd = alive[0];
    return pid == 0;
}
