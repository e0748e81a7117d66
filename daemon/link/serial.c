/* An agent at the other end of a serial line: a terminal device by its path, and its speed. Bytes pass as
 * they are; no modem line is asked. The line is locked (flock): another daemon does not get it meanwhile. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <termios.h>
#include <unistd.h>

#include "base/mem.h"
#include "config/document/scalar.h"
#include "link/link_impl.h"

#define WAKING_NS INT64_C(1000000000)

enum { PATH_ROOM = 108 };

static const struct {
    long baud;
    speed_t code;
} speeds[] = {{9600, B9600},       {19200, B19200},     {38400, B38400},     {57600, B57600},
              {115200, B115200},   {230400, B230400},   {460800, B460800},   {921600, B921600},
              {1000000, B1000000}, {1500000, B1500000}, {2000000, B2000000}, {3000000, B3000000}};

struct serial {
    char *address;           /* owned */
    int fd;                  /* owned: of a line that is being woken, or -1 */
    struct qs_timer *waking; /* owned */
};

static void *serial_new_own(const struct qs_farm_device *device)
{
    struct serial *s = qs_calloc(1, sizeof *s);
    s->address = qs_strdup(device->address ? device->address : "");
    s->fd = -1;
    return s;
}

static void serial_free_own(void *own)
{
    struct serial *s = own;
    free(s->address);
    free(s);
}

static bool no_speed(const char *text, struct qs_err *err)
{
    char all[160] = "";
    size_t n = 0;
    for (size_t i = 0; i < sizeof speeds / sizeof *speeds; i++)
        n += (size_t)snprintf(all + n, sizeof all - n, "%s%ld", i > 0 ? ", " : "", speeds[i].baud);
    return qs_fail(err, QS_E_CONFIG, "`%s` is not a speed of serial lines: write one of %s",
                   qs_show(text).text, all);
}

/* "/dev/ttyUSB0,921600" in two; without a speed it is 115200. */
static bool split(const char *address, char path[static PATH_ROOM], speed_t *speed, struct qs_err *err)
{
    const char *comma = strchr(address, ',');
    size_t n = comma ? (size_t)(comma - address) : strlen(address), i = 0;
    char *end = NULL;
    long baud = comma ? strtol(comma + 1, &end, 10) : 115200;
    if (address[0] != '/')
        return qs_fail(err, QS_E_CONFIG,
                       "`%s` is not the whole path of a serial line: write one such as /dev/ttyUSB0, or "
                       "/dev/serial/by-id/NAME",
                       qs_show(address).text);
    if (n >= PATH_ROOM)
        return qs_fail(err, QS_E_CONFIG, "the path of a serial line has at most %d bytes", PATH_ROOM - 1);
    memcpy(path, address, n);
    path[n] = '\0';
    while (i < sizeof speeds / sizeof *speeds && speeds[i].baud != baud)
        i++;
    if (i == sizeof speeds / sizeof *speeds || (end && *end != '\0'))
        return no_speed(comma + 1, err);
    *speed = speeds[i].code;
    return true;
}

static bool serial_check_address(const char *address, struct qs_err *err)
{
    char path[PATH_ROOM];
    speed_t speed = B115200;
    return split(address, path, &speed, err);
}

/* What waited in the line was for somebody before us. The lock is not TIOCEXCL, which outlives a daemon that
 * is killed where somebody else has the line open. */
static bool make_raw(int fd, speed_t speed)
{
    struct termios line;
    if (flock(fd, LOCK_EX | LOCK_NB) != 0 || tcgetattr(fd, &line) != 0)
        return false;
    cfmakeraw(&line);
    line.c_cflag |= CLOCAL | CREAD;
    line.c_cflag &= ~(tcflag_t)CRTSCTS;
    return cfsetspeed(&line, speed) == 0 && tcsetattr(fd, TCSANOW, &line) == 0 && tcflush(fd, TCIOFLUSH) == 0;
}

static void on_woken(void *user)
{
    struct qs_link *link = user;
    struct serial *s = link->own;
    struct qs_err why = QS_ERR_INIT;
    int fd = s->fd;
    s->waking = NULL;
    s->fd = -1;
    if (tcflush(fd, TCIFLUSH) != 0) /* the last words of the session before */
        qs_fail(&why, QS_E_LINK, "the serial line of %s is gone: %s", link->name, strerror(errno));
    if (why.code != QS_E_NONE)
        close(fd);
    if (why.code != QS_E_NONE || !qs_link_stream_open(link, fd, false, &why))
        qs_link_down(link, &why);
}

/* Nobody hangs up on such a line: an agent may still be in a session with a daemon that died. Text breaks
 * that session, and means nothing to an agent that waits for one; a moment later whoever is there is new. */
static bool serial_open(struct qs_link *link, struct qs_err *err)
{
    static const char wake[] = "\nquiesced asks for a new session on this line, whatever was on it before\n";
    struct serial *s = link->own;
    char path[PATH_ROOM];
    speed_t speed = B115200;
    if (!split(s->address, path, &speed, err))
        return false;
    s->fd = open(path, O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
    if (s->fd < 0)
        return qs_fail(err, QS_E_LINK, "cannot open the serial line %s: %s%s", path, strerror(errno),
                       errno == EACCES ? " (its group, often dialout, may)" : "");
    if (!make_raw(s->fd, speed) || write(s->fd, wake, sizeof wake - 1) != sizeof wake - 1) {
        qs_fail(err, QS_E_LINK, "%s cannot be used as a serial line: %s", path,
                errno == EWOULDBLOCK ? "another program has it" : strerror(errno));
        close(s->fd);
        s->fd = -1;
        return false;
    }
    s->waking = qs_timer_start(link->loop, WAKING_NS, on_woken, link);
    return true;
}

static void serial_close(struct qs_link *link)
{
    struct serial *s = link->own;
    qs_timer_stop(s->waking);
    s->waking = NULL;
    if (s->fd >= 0)
        close(s->fd);
    s->fd = -1;
    qs_link_stream_close(link);
}

const struct qs_link_ops qs_link_serial_ops = {
    .traits = {.silent_lead_ns = INT64_C(20000000)}, /* a slow line has some bytes on their way */
    .check_address = serial_check_address,
    .new_own = serial_new_own,
    .free_own = serial_free_own,
    .open = serial_open,
    .close = serial_close,
    .send = qs_link_stream_send,
};
