/* Loaded into the client before its libraries: time passes as fast as it waits. A poll that nothing comes to
 * ends at once, and the monotonic clock is ahead by what it would have taken. The file that QS_HURRY names is
 * made when ten minutes have passed. */
#include <dlfcn.h>
#include <fcntl.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { ENOUGH_S = 600, LOOK_MS = 1 };
static const int64_t SECOND_NS = 1000000000;

static _Atomic int64_t ahead_ns;

static void pass(int64_t ns)
{
    int64_t before = atomic_fetch_add(&ahead_ns, ns);
    const char *name = getenv("QS_HURRY");
    if (name && before < ENOUGH_S * SECOND_NS && before + ns >= ENOUGH_S * SECOND_NS)
        close(open(name, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
}

/* A function of the next library; void pointers cannot be functions in C11. */
static void find(void *function, const char *name)
{
    *(void **)function = dlsym(RTLD_NEXT, name);
}

int clock_gettime(clockid_t id, struct timespec *ret)
{
    static int (*real)(clockid_t, struct timespec *);
    if (!real)
        find(&real, "clock_gettime");
    int failed = real(id, ret);
    if (failed == 0 && (id == CLOCK_MONOTONIC || id == CLOCK_MONOTONIC_RAW || id == CLOCK_MONOTONIC_COARSE)) {
        int64_t ns = ret->tv_nsec + ahead_ns % SECOND_NS;
        ret->tv_sec += ahead_ns / SECOND_NS + ns / SECOND_NS;
        ret->tv_nsec = ns % SECOND_NS;
    }
    return failed;
}

int poll(struct pollfd *fds, nfds_t n, int timeout_ms)
{
    static int (*real)(struct pollfd *, nfds_t, int);
    if (!real)
        find(&real, "poll");
    int came = real(fds, n, timeout_ms < 0 || timeout_ms > LOOK_MS ? LOOK_MS : timeout_ms);
    if (came == 0 && timeout_ms > LOOK_MS)
        pass(timeout_ms * INT64_C(1000000));
    return came;
}
