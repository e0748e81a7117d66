#include "link/usb/poll.h"

#include <poll.h>
#include <stdlib.h>
#include <sys/time.h>

#include "base/mem.h"

enum { FILES_MAX = 16 }; /* of one context: its own three or so, and one for each device that is open */

struct qs_usb_poll {
    struct qs_loop *loop;
    libusb_context *context; /* borrowed */
    qs_loop_fn *on_turn;
    void *user;
    struct {
        int fd;
        struct qs_io *io;
    } files[FILES_MAX];
    struct qs_timer *timer; /* libusb's next time limit, where it keeps no timer itself */
    struct qs_err why;      /* a descriptor cannot be watched */
};

static void turn(struct qs_usb_poll *p)
{
    struct timeval none = {0};
    (void)libusb_handle_events_timeout_completed(p->context, &none, NULL);
    qs_usb_poll_limit(p);
    p->on_turn(p->user);
}

static void on_ready(unsigned events, void *user)
{
    (void)events;
    turn(user);
}

static void on_time(void *user)
{
    struct qs_usb_poll *p = user;
    p->timer = NULL;
    turn(p);
}

void qs_usb_poll_limit(struct qs_usb_poll *p)
{
    struct timeval next = {0};
    if (libusb_pollfds_handle_timeouts(p->context))
        return;
    qs_timer_stop(p->timer);
    p->timer = NULL;
    if (libusb_get_next_timeout(p->context, &next) == 1)
        p->timer = qs_timer_start(p->loop, (int64_t)next.tv_sec * 1000000000 + (int64_t)next.tv_usec * 1000,
                                  on_time, p);
}

static void LIBUSB_CALL on_added(int fd, short events, void *user)
{
    struct qs_usb_poll *p = user;
    unsigned mask = (events & POLLIN ? QS_IO_READ : 0) | (events & POLLOUT ? QS_IO_WRITE : 0);
    size_t i = 0;
    while (i < FILES_MAX && p->files[i].io)
        i++;
    if (i == FILES_MAX) {
        qs_fail(&p->why, QS_E_RESOURCE, "libusb wants more than %d files watched", FILES_MAX);
        return;
    }
    p->files[i].fd = fd;
    p->files[i].io = qs_io_start(p->loop, fd, mask, on_ready, p, &p->why);
}

static void LIBUSB_CALL on_removed(int fd, void *user)
{
    struct qs_usb_poll *p = user;
    for (size_t i = 0; i < FILES_MAX; i++) {
        if (p->files[i].io && p->files[i].fd == fd) {
            qs_io_stop(p->files[i].io);
            p->files[i].io = NULL;
        }
    }
}

struct qs_usb_poll *qs_usb_poll_start(struct qs_loop *loop, libusb_context *context, qs_loop_fn *on_turn,
                                      void *user, struct qs_err *err)
{
    const struct libusb_pollfd **now = libusb_get_pollfds(context);
    struct qs_usb_poll *p = qs_calloc(1, sizeof *p);
    p->loop = loop;
    p->context = context;
    p->on_turn = on_turn;
    p->user = user;
    for (size_t i = 0; now && now[i]; i++)
        on_added(now[i]->fd, now[i]->events, p);
    if (!now)
        qs_fail(&p->why, QS_E_RESOURCE, "libusb tells no files to watch");
    libusb_free_pollfds(now);
    if (p->why.code != QS_E_NONE) {
        *err = p->why;
        qs_usb_poll_stop(p);
        return NULL;
    }
    libusb_set_pollfd_notifiers(context, on_added, on_removed, p);
    return p;
}

void qs_usb_poll_stop(struct qs_usb_poll *p)
{
    if (!p)
        return;
    libusb_set_pollfd_notifiers(p->context, NULL, NULL, NULL);
    qs_timer_stop(p->timer);
    for (size_t i = 0; i < FILES_MAX; i++)
        qs_io_stop(p->files[i].io);
    free(p);
}
