#include "linux/heater.h"

#include "linux/io.h"

#include <errno.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { STOP_NAPS = 100 }; /* of a millisecond each */

/* Nothing but work, on this processor. One that may not be used (any more) is left alone. */
static _Noreturn void spin(size_t cpu)
{
    volatile double x = 1.0;
    cpu_set_t own;
    CPU_ZERO(&own);
    CPU_SET(cpu, &own);
    while (sched_setaffinity(0, sizeof own, &own) != 0) {
        pause();
    }
    for (;;) {
        x = x * 1.0000001 + 1e-9;
        x = x > 1e9 ? 1.0 : x;
    }
}

/* True: we die with our parent, which still lives. */
static bool cling(pid_t parent)
{
    return prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) == 0 && getppid() == parent;
}

/* The first of them, which begins the others. */
static _Noreturn void lead(const cpu_set_t *cpus, pid_t agent)
{
    pid_t own = getpid();
    size_t first = QS_CPUS_MAX;
    setpgid(0, 0);
    prctl(PR_SET_NAME, QS_HEATER_NAME, 0, 0, 0);
    qs_io_let_go(-1);
    for (size_t cpu = 0; cling(agent) && cpu < QS_CPUS_MAX; cpu++) {
        if (!CPU_ISSET(cpu, cpus)) {
            continue;
        }
        if (first == QS_CPUS_MAX) {
            first = cpu;
        } else if (fork() == 0) {
            if (cling(own)) {
                spin(cpu);
            }
            _exit(0);
        }
    }
    if (first < QS_CPUS_MAX) {
        spin(first);
    }
    _exit(0);
}

bool qs_heater_start(struct qs_heater *heater, const cpu_set_t *cpus)
{
    pid_t agent = getpid();
    if (!qs_heater_stop(heater)) {
        errno = EBUSY;
        return false;
    }
    pid_t pid = fork();
    if (pid == 0) {
        lead(cpus, agent);
    }
    if (pid > 0) {
        setpgid(pid, pid); /* whoever of us is first */
        heater->group = pid;
    }
    return pid > 0;
}

/* Those that the first one had begun are ours when it has ended. */
static bool is_over(pid_t group)
{
    pid_t ended = 0;
    do {
        ended = waitpid(-group, NULL, WNOHANG);
    } while (ended > 0 || (ended < 0 && errno == EINTR));
    return ended < 0;
}

bool qs_heater_stop(struct qs_heater *heater)
{
    const struct timespec nap = {.tv_nsec = 1000000};
    for (int i = 0; heater->group != 0 && i < STOP_NAPS; i++) {
        kill(-heater->group, SIGKILL);
        if (is_over(heater->group)) {
            heater->group = 0;
        } else {
            nanosleep(&nap, NULL);
        }
    }
    return heater->group == 0;
}
