#include "linux/memory.h"

#include "core/print.h"
#include "linux/io.h"

#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { FD_FLOOR = 16 };

/* Kernels before 3.17 have no memfd: a file that nobody can find serves as well. */
static int open_memory(const char *name)
{
    int fd = -1;
#ifdef SYS_memfd_create
    fd = (int)syscall(SYS_memfd_create, name, 3U /* MFD_CLOEXEC | MFD_ALLOW_SEALING */);
#else
    (void)name;
#endif
    static const char *const folders[] = {"/dev/shm", "/tmp", "/data/local/tmp"};
    for (size_t i = 0; fd < 0 && i < sizeof folders / sizeof folders[0]; i++) {
        char path[64];
        qs_print(path, sizeof path, "%s/quiesce-XXXXXX", folders[i]);
        fd = mkostemp(path, O_CLOEXEC);
        if (fd >= 0) {
            unlink(path);
        }
    }
    return fd;
}

/* A program that cut mapped memory would end the agent with a signal at its next look. What is no memfd
 * cannot be sealed: qs_memory_map guards it. */
static void seal_size(int fd)
{
#ifdef F_ADD_SEALS
    (void)fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL);
#else
    (void)fd;
#endif
}

int qs_memory_move_up(int fd)
{
    int high = fd >= 0 ? fcntl(fd, F_DUPFD_CLOEXEC, FD_FLOOR) : -1;
    qs_io_close(&fd);
    return high;
}

int qs_memory_open(const char *name, size_t bytes)
{
    int fd = qs_memory_move_up(open_memory(name));
    if (fd >= 0 && ftruncate(fd, (off_t)bytes) != 0) {
        close(fd);
        return -1;
    }
    if (fd >= 0) {
        seal_size(fd);
    }
    return fd;
}

static bool is_sealed(int fd)
{
#ifdef F_GET_SEALS
    int seals = fcntl(fd, F_GET_SEALS);
    return seals >= 0 && (seals & F_SEAL_SHRINK) != 0;
#else
    (void)fd;
    return false;
#endif
}

/* What a handler of a signal can know: the mapping that may be cut. */
static struct {
    unsigned char *at;
    size_t bytes;
} unsealed;

/* Zeros come in place of what was cut: whoever looks finds that they are not what he has written. */
static void on_cut(int signum, siginfo_t *info, void *context)
{
    const unsigned char *at = info->si_addr;
    (void)context;
    if (!unsealed.at || at < unsealed.at || at >= unsealed.at + unsealed.bytes ||
        mmap(unsealed.at, unsealed.bytes, PROT_READ | PROT_WRITE, MAP_FIXED | MAP_PRIVATE | MAP_ANONYMOUS, -1,
             0) == MAP_FAILED) {
        signal(signum, SIG_DFL); /* it comes again, and ends us */
    }
}

void *qs_memory_map(int fd, size_t bytes)
{
    const struct sigaction action = {.sa_sigaction = on_cut, .sa_flags = SA_SIGINFO};
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (memory == MAP_FAILED) {
        return NULL;
    }
    if (!is_sealed(fd)) {
        unsealed.at = memory;
        unsealed.bytes = bytes;
        sigaction(SIGBUS, &action, NULL);
    }
    return memory;
}

void qs_memory_unmap(void *memory, size_t bytes)
{
    if (memory == unsealed.at) {
        unsealed.at = NULL;
    }
    munmap(memory, bytes);
}
