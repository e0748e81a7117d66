/* The relay: FunctionFS's endpoints cannot be polled, so each has asynchronous transfers, whose end an
 * eventfd tells: one to the host; from it two, so that the bus need not wait while the bytes of one are
 * passed on. One poll without a deadline: where nothing flows nothing wakes up. */
#include "linux/usb.h"

#include "core/print.h"
#include "linux/io.h"
#include "linux/supervisor.h"

#include <errno.h>
#include <linux/aio_abi.h>
#include <linux/usb/functionfs.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

enum { BACKLOG = 8, DATA_STAGE_S = 1, READS = 2, TRANSFERS = READS + 1 };

struct transfer {
    struct iocb call;
    bool flies;
    uint32_t session; /* in which it took off */
    size_t at, n;     /* what is still to be passed on */
    uint8_t bytes[QS_USB_READ_BYTES];
};

struct relay {
    struct qs_usb usb;
    aio_context_t aio;
    int event_fd, signal_fd;
    int agent_fd; /* the session's connection to the agent; -1: there is no session */
    pid_t agent;
    struct sockaddr_un door;
    socklen_t door_bytes;
    uint32_t session; /* how many there were */
    bool heard, owes; /* the host's nonce has come; ours is to be sent */
    bool gone;        /* FunctionFS has ended */
    uint8_t nonce[QS_USB_NONCE_BYTES];
    unsigned oldest; /* of the reads: they are begun in turn, so it has what came first */
    struct transfer from_host[READS], to_host;
};

static void hang_up(struct relay *r)
{
    qs_io_close(&r->agent_fd);
    for (int i = 0; i < READS; i++) {
        r->from_host[i].n = r->from_host[i].at = 0;
    }
    r->to_host.n = r->to_host.at = 0;
    r->owes = false;
}

static void take_off(struct relay *r, struct transfer *t, int fd, uint16_t what, size_t n)
{
    struct iocb *calls[1] = {&t->call};
    t->call = (struct iocb){.aio_data = (uintptr_t)t,
                            .aio_lio_opcode = what,
                            .aio_fildes = (uint32_t)fd,
                            .aio_buf = (uintptr_t)(t->bytes + t->at),
                            .aio_nbytes = n,
                            .aio_flags = IOCB_FLAG_RESFD,
                            .aio_resfd = (uint32_t)r->event_fd};
    t->session = r->session;
    t->flies = syscall(SYS_io_submit, r->aio, 1L, calls) == 1;
    if (!t->flies) {
        hang_up(r);
    }
}

/* Once the host's nonce has come everything is the session's; before it nothing is. */
static bool is_ours(struct relay *r, const struct transfer *t)
{
    bool ours = r->heard;
    r->heard = ours || (t->n == sizeof r->nonce && memcmp(t->bytes, r->nonce, t->n) == 0);
    return ours;
}

/* What has come goes to the agent, then more is asked for: a host that sends more than the agent takes waits.
 */
static void pump_from_host(struct relay *r)
{
    struct transfer *t;
    while (r->agent_fd >= 0 && !(t = &r->from_host[r->oldest])->flies) {
        ssize_t n = 0;
        if (is_ours(r, t) && t->at < t->n) {
            n = send(r->agent_fd, t->bytes + t->at, t->n - t->at, MSG_NOSIGNAL | MSG_DONTWAIT);
        }
        if (n > 0) {
            t->at += (size_t)n;
        } else if (n == 0) {
            t->at = t->n = 0;
            take_off(r, t, r->usb.out, IOCB_CMD_PREAD, sizeof t->bytes);
            r->oldest = (r->oldest + 1) % READS;
        } else if (errno == EAGAIN) {
            return;
        } else {
            hang_up(r);
        }
    }
}

static void pump_to_host(struct relay *r)
{
    struct transfer *t = &r->to_host;
    if (r->agent_fd < 0 || t->flies) {
        return;
    }
    if (r->owes) {
        r->owes = false;
        memcpy(t->bytes, r->nonce, sizeof r->nonce);
        t->at = 0;
        t->n = sizeof r->nonce;
    }
    if (t->at < t->n) {
        take_off(r, t, r->usb.in, IOCB_CMD_PWRITE, qs_usb_cut(t->n - t->at));
    }
}

/* A transfer of an earlier session says nothing about this one, whatever became of it; except that bytes of
 * the host's may be of this one, which the nonce tells. One of this session that fails ends it. */
static void land(struct relay *r, struct transfer *t, int64_t result)
{
    bool ours = t->session == r->session && r->agent_fd >= 0;
    t->flies = false;
    if (result < 0 || (t == &r->to_host && (uint64_t)result != t->call.aio_nbytes)) {
        if (ours) {
            hang_up(r);
        }
    } else if (t != &r->to_host && r->agent_fd >= 0) {
        t->n = (size_t)result;
    } else if (t == &r->to_host && ours) {
        t->at += (size_t)result;
    }
}

static void hear_ends(struct relay *r)
{
    struct io_event events[TRANSFERS];
    uint64_t count;
    (void)!read(r->event_fd, &count, sizeof count);
    long n = syscall(SYS_io_getevents, r->aio, 0L, (long)TRANSFERS, events, NULL);
    for (long i = 0; i < n; i++) {
        land(r, (struct transfer *)(uintptr_t)events[i].data, events[i].res);
    }
}

static void begin(struct relay *r, const uint8_t nonce[QS_USB_NONCE_BYTES])
{
    hang_up(r);
    r->session++;
    r->heard = false;
    memcpy(r->nonce, nonce, sizeof r->nonce);
    r->agent_fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    r->owes = r->agent_fd >= 0 && connect(r->agent_fd, (struct sockaddr *)&r->door, r->door_bytes) == 0;
    if (!r->owes) { /* in a window many connections may wait already: the host tries again */
        hang_up(r);
    }
}

/* Of a host that announces data and sends none: a signal whose handler does nothing ends the wait. */
static bool read_data(struct relay *r, void *bytes, size_t n)
{
    const struct itimerval on = {{.tv_sec = DATA_STAGE_S}, {.tv_sec = DATA_STAGE_S}}, off = {0};
    setitimer(ITIMER_REAL, &on, NULL);
    bool ok = read(r->usb.ep0, bytes, n) == (ssize_t)n;
    setitimer(ITIMER_REAL, &off, NULL);
    return ok;
}

static void obey(struct relay *r, const uint8_t setup[QS_USB_SETUP_BYTES])
{
    uint8_t nonce[QS_USB_NONCE_BYTES];
    switch (qs_usb_read_setup(setup)) {
    case QS_USB_BEGIN:
        if (read_data(r, nonce, sizeof nonce)) {
            begin(r, nonce);
        }
        break;
    case QS_USB_END:
        hang_up(r);
        (void)!read(r->usb.ep0, nonce, 0); /* acknowledges */
        break;
    case QS_USB_STALL: /* which is what the wrong direction means to FunctionFS */
        (void)!(setup[0] & USB_DIR_IN ? read(r->usb.ep0, nonce, 0) : write(r->usb.ep0, nonce, 0));
        break;
    }
}

static void hear_host(struct relay *r)
{
    struct usb_functionfs_event events[4];
    ssize_t n = read(r->usb.ep0, events, sizeof events);
    r->gone =
        n < 0 && errno != EAGAIN && errno != EINTR && errno != EIDRM; /* EIDRM: a request was taken back */
    for (size_t i = 0; n > 0 && i < (size_t)n / sizeof events[0]; i++) {
        switch (events[i].type) {
        case FUNCTIONFS_ENABLE:
        case FUNCTIONFS_DISABLE:
        case FUNCTIONFS_UNBIND:
            hang_up(r);
            break;
        case FUNCTIONFS_SETUP:
            obey(r, (const uint8_t *)&events[i].u.setup);
            break;
        default: /* a suspended bus wakes up with all that was on its way */
            break;
        }
    }
    if (r->gone) {
        hang_up(r);
        kill(r->agent, SIGTERM);
    }
}

static void hear_agent(struct relay *r)
{
    struct transfer *t = &r->to_host;
    ssize_t n = recv(r->agent_fd, t->bytes, QS_USB_WRITE_BYTES, MSG_DONTWAIT);
    if (n > 0) {
        t->at = 0;
        t->n = (size_t)n;
    } else if (n == 0 || errno != EAGAIN) {
        hang_up(r);
    }
}

/* Passes signals on. True: the agent has ended. */
static bool hear_signals(struct relay *r, int *status)
{
    struct signalfd_siginfo info;
    while (read(r->signal_fd, &info, sizeof info) == (ssize_t)sizeof info) {
        if (info.ssi_signo != SIGCHLD) {
            kill(r->agent, (int)info.ssi_signo);
        }
    }
    return waitpid(r->agent, status, WNOHANG) == r->agent;
}

static int relay(struct relay *r)
{
    int status = 0;
    for (;;) {
        bool idle = !r->to_host.flies && !r->owes && r->to_host.at == r->to_host.n;
        const struct transfer *came = &r->from_host[r->oldest];
        bool full = !came->flies && came->at < came->n;
        struct pollfd fds[4] = {{.fd = r->signal_fd, .events = POLLIN},
                                {.fd = r->event_fd, .events = POLLIN},
                                {.fd = r->gone ? -1 : r->usb.ep0, .events = POLLIN},
                                {.fd = idle || full ? r->agent_fd : -1,
                                 .events = (short)((idle ? POLLIN : 0) | (full ? POLLOUT : 0))}};
        if (poll(fds, 4, -1) < 0) {
            continue;
        }
        if (fds[1].revents) {
            hear_ends(r);
        }
        if (fds[3].revents && idle && r->agent_fd >= 0) {
            hear_agent(r);
        }
        if (fds[2].revents) {
            hear_host(r);
        }
        pump_from_host(r);
        pump_to_host(r);
        if (fds[0].revents && hear_signals(r, &status)) {
            return status;
        }
    }
}

static void on_alarm(int number)
{
    (void)number;
}

/* The door has a name that the kernel gives; only we know it, and only root and our own user may enter. */
static bool open_door(struct relay *r, struct qs_link *link)
{
    r->door = (struct sockaddr_un){.sun_family = AF_UNIX};
    r->door_bytes = sizeof r->door;
    *link = (struct qs_link){.kind = QS_LINK_UNIX, .in_fd = -1, .out_fd = -1, .stop_fd = -1};
    link->listen_fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    return link->listen_fd >= 0 &&
           bind(link->listen_fd, (struct sockaddr *)&r->door, sizeof r->door.sun_family) == 0 &&
           listen(link->listen_fd, BACKLOG) == 0 &&
           getsockname(link->listen_fd, (struct sockaddr *)&r->door, &r->door_bytes) == 0;
}

static bool prepare(struct relay *r, struct qs_link *link, sigset_t *before)
{
    const struct sigaction wake = {.sa_handler = on_alarm};
    sigset_t waited;
    sigemptyset(&waited);
    sigaddset(&waited, SIGCHLD);
    sigaddset(&waited, SIGTERM);
    sigaddset(&waited, SIGINT);
    sigaddset(&waited, SIGHUP);
    sigprocmask(SIG_BLOCK, &waited, before);
    r->agent_fd = -1;
    r->event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    r->signal_fd = signalfd(-1, &waited, SFD_CLOEXEC | SFD_NONBLOCK);
    return open_door(r, link) && sigaction(SIGALRM, &wake, NULL) == 0 && r->event_fd >= 0 &&
           r->signal_fd >= 0 && syscall(SYS_io_setup, (unsigned)TRANSFERS, &r->aio) == 0;
}

bool qs_usb_split(const struct qs_usb_options *options, struct qs_link *link, char said[QS_LINK_ERROR_BYTES])
{
    struct relay r = {.event_fd = -1};
    sigset_t before;
    if (!qs_usb_open(&r.usb, options, said)) {
        return false;
    }
    bool ok = prepare(&r, link, &before);
    r.agent = ok ? fork() : -1;
    if (r.agent > 0) {
        prctl(PR_SET_NAME, "qs-usb", 0, 0, 0); /* pkill quiesce-agent does not mean us */
        qs_io_close(&link->listen_fd);
        int status = relay(&r);
        qs_usb_close(&r.usb);
        qs_supervisor_end_as(status);
    }
    if (r.agent < 0) {
        qs_print(said, QS_LINK_ERROR_BYTES, "cannot relay between USB and the agent: %s", strerror(errno));
        qs_usb_close(&r.usb);
        return false;
    }
    qs_print(said, QS_LINK_ERROR_BYTES, "is the USB device %s on %s", r.usb.serial, r.usb.controller);
    prctl(PR_SET_PDEATHSIG, SIGTERM, 0, 0, 0);
    signal(SIGALRM, SIG_DFL);
    sigprocmask(SIG_SETMASK, &before, NULL);
    qs_io_close(&r.event_fd);
    qs_io_close(&r.signal_fd);
    qs_usb_forget(&r.usb);
    return true;
}
