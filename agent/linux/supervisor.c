/* Whoever kills the agent must not leave its programs to the device: what it has started becomes the
 * supervisor's when it dies, and is ended; what it has changed on the device is put back. Killed itself, its
 * end of a socket tells the agent to end. */
#include "linux/supervisor.h"

#include "linux/io.h"
#include "linux/keeper.h"
#include "linux/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define STRAYS_BUDGET_NS INT64_C(10000000000)
#define DEATH_NS                                                                                             \
    INT64_C(3000000000) /* an agent that was killed has ended by then, unless a driver holds it */

/* Job control is not for passing on: a stop and its end would look like one of the agent's. */
static const int own_signals[] = {SIGCONT, SIGTSTP, SIGTTIN, SIGTTOU};

void qs_supervisor_end_as(int status)
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

/* Passes on what has come. True: the agent has ended, as status says. */
static bool hear_signals(pid_t agent, int signal_fd, int *status)
{
    struct signalfd_siginfo info;
    pid_t ended = 0;
    while (read(signal_fd, &info, sizeof info) == (ssize_t)sizeof info) {
        if (info.ssi_signo != SIGCHLD) {
            kill(agent, (int)info.ssi_signo);
        }
    }
    do {
        ended = waitpid(-1, status, WNOHANG);
    } while (ended > 0 && ended != agent);
    return ended == agent;
}

static void wait_for_news(int signal_fd, const struct qs_keeper *keeper, int64_t give_up_ns)
{
    struct pollfd fds[2] = {{.fd = signal_fd, .events = POLLIN}, {.fd = keeper->agent_fd, .events = POLLIN}};
    struct timespec left = {0};
    int64_t deadline_ns = qs_keeper_deadline_ns(keeper);
    deadline_ns = give_up_ns < deadline_ns ? give_up_ns : deadline_ns;
    int64_t left_ns = deadline_ns - qs_io_now_ns(CLOCK_MONOTONIC);
    if (left_ns > 0) {
        left.tv_sec = (time_t)(left_ns / 1000000000);
        left.tv_nsec = (long)(left_ns % 1000000000);
    }
    (void)!ppoll(fds, 2, deadline_ns == INT64_MAX ? NULL : &left, NULL); /* where it fails, no news */
}

/* What could not be put back is tried again some times, when the agent, its link and whoever waited for us
 * are gone. The next agent ends it: that one puts back what is left. */
static void stay_behind(struct qs_keeper *keeper)
{
    sigset_t none;
    keeper->answer_by_ns = 0; /* it has ended: nobody answers */
    if (!keeper->on || qs_keeper_deadline_ns(keeper) == INT64_MAX || fork() != 0) {
        return;
    }
    prctl(PR_SET_NAME, QS_JOURNAL_LINGERER, 0, 0, 0);
    setsid();
    dup2(STDIN_FILENO, STDOUT_FILENO);
    dup2(STDIN_FILENO, STDERR_FILENO);
    qs_io_close(&keeper->agent_fd);
    qs_journal_say_holder(&keeper->journal);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    int64_t at_ns;
    while ((at_ns = qs_keeper_deadline_ns(keeper)) != INT64_MAX) {
        const struct timespec at = {.tv_sec = (time_t)(at_ns / 1000000000),
                                    .tv_nsec = (long)(at_ns % 1000000000)};
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL);
        qs_keeper_on_time(keeper);
        while (waitpid(-1, NULL, WNOHANG) > 0) {
        }
    }
    _exit(0);
}

static void supervise(pid_t agent, int signal_fd, struct qs_keeper *keeper)
{
    int64_t give_up_ns = INT64_MAX;
    int status = 0;
    prctl(PR_SET_NAME, "qs-supervisor", 0, 0, 0); /* pkill quiesce-agent does not mean us */
    leave_input();
    while (!hear_signals(agent, signal_fd, &status)) { /* its end goes before what it had asked for */
        qs_keeper_hear(keeper);
        if (!qs_keeper_on_time(keeper)) {
            kill(agent, SIGKILL);
            give_up_ns = qs_io_now_ns(CLOCK_MONOTONIC) + DEATH_NS;
        }
        if (qs_io_now_ns(CLOCK_MONOTONIC) >= give_up_ns) {
            status = SIGKILL; /* as if it had ended by it */
            break;
        }
        wait_for_news(signal_fd, keeper, give_up_ns);
    }
    qs_hand_close(&keeper->hand);
    qs_spawn_end_strays(0, 0, STRAYS_BUDGET_NS);
    qs_keeper_restore(keeper, "the agent has ended");
    stay_behind(keeper);
    qs_supervisor_end_as(status);
}

/* The agent's part of a split. */
static void become_agent(struct qs_supervised *agent, int fd, const sigset_t *signals,
                         struct qs_keeper *keeper)
{
    if (!isatty(STDIN_FILENO)) {
        setpgid(0, 0); /* a signal for a whole group meets one of us */
    }
    sigprocmask(SIG_SETMASK, signals, NULL);
    agent->fd = fd;
    agent->state_fd = agent->lock_fd = -1;
    if (keeper->on && keeper->shared) { /* the lock is free when both have ended */
        agent->state_fd = keeper->journal.dir_fd;
        agent->lock_fd = keeper->journal.lock_fd;
        keeper->journal.dir_fd = keeper->journal.lock_fd = -1;
    }
    qs_keeper_close(keeper);
}

bool qs_supervisor_split(struct qs_supervised *agent, struct qs_keeper *keeper)
{
    sigset_t waited;
    sigset_t before;
    int fds[2];
    agent->started_by = getppid();
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds) != 0) {
        return false;
    }
    sigfillset(&waited);
    for (size_t i = 0; i < sizeof own_signals / sizeof own_signals[0]; i++) {
        sigdelset(&waited, own_signals[i]);
    }
    signal(SIGCHLD, SIG_DFL);
    sigprocmask(SIG_BLOCK, &waited, &before);
    prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); /* before 3.4 it does not exist: strays then escape */
    int signal_fd = signalfd(-1, &waited, SFD_CLOEXEC | SFD_NONBLOCK);
    pid_t pid = signal_fd < 0 ? -1 : fork();
    if (pid > 0) {
        close(fds[1]);
        keeper->agent_fd = fds[0];
        supervise(pid, signal_fd, keeper);
    }
    int error = errno;
    close(fds[0]);
    qs_io_close(&signal_fd);
    if (pid == 0) {
        become_agent(agent, fds[1], &before, keeper);
        return true;
    }
    close(fds[1]);
    sigprocmask(SIG_SETMASK, &before, NULL);
    errno = error;
    return false;
}
