#include "base/process.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/loop.h"
#include "base/mem.h"

struct qs_input {
    struct qs_io *io;
    int fd, own_fd; /* own_fd: owned, or -1 where fd (a socket) cannot be opened anew */
    int flags;      /* of fd, as they were */
    void (*on_end)(void *user);
    void *user;
};

static void on_bytes(unsigned events, void *user)
{
    struct qs_input *input = user;
    char nothing[512];
    (void)events;
    ssize_t n = read(input->own_fd >= 0 ? input->own_fd : input->fd, nothing, sizeof nothing);
    if (n > 0 || (n < 0 && (errno == EAGAIN || errno == EINTR))) /* somebody else has read it */
        return;
    qs_io_stop(input->io);
    input->io = NULL;
    input->on_end(input->user);
}

struct qs_input *qs_input_watch(struct qs_loop *loop, int fd, void (*on_end)(void *user), void *user,
                                struct qs_err *err)
{
    struct qs_input *input = qs_malloc(sizeof *input);
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    *input = (struct qs_input){.fd = fd, .flags = fcntl(fd, F_GETFL), .on_end = on_end, .user = user};
    input->own_fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    input->io = qs_io_start(loop, input->own_fd >= 0 ? input->own_fd : fd, QS_IO_READ, on_bytes, input, err);
    if (input->io)
        return input;
    if (err && err->code == QS_E_IO)
        qs_fail(err, QS_E_USAGE,
                "descriptor %d is not a pipe, socket or terminal: its end cannot be waited for", fd);
    qs_input_stop(input);
    return NULL;
}

void qs_input_stop(struct qs_input *input)
{
    if (!input)
        return;
    qs_io_stop(input->io);
    if (input->own_fd >= 0)
        close(input->own_fd);
    else if (input->flags >= 0)
        (void)fcntl(input->fd, F_SETFL, input->flags);
    free(input);
}

int64_t qs_clock_ns(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

bool qs_std_fds_fill(void)
{
    int fd;
    do
        fd = open("/dev/null", O_RDWR); /* the lowest number that is free; children inherit 0, 1 and 2 */
    while (fd >= STDIN_FILENO && fd <= STDERR_FILENO);
    if (fd < 0)
        return false;
    (void)close(fd);
    return true;
}

bool qs_program_is(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0;
}

char *qs_program_beside(const char *const *places, const char *otherwise)
{
    char self[4096];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self);
    const char *slash = n > 0 ? memrchr(self, '/', (size_t)n) : NULL;
    for (; slash && *places; places++) {
        char *path = qs_asprintf("%.*s/%s", (int)(slash - self), self, *places);
        if (qs_program_is(path))
            return path;
        free(path);
    }
    return qs_strdup(otherwise);
}
