#include "base/input.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
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
