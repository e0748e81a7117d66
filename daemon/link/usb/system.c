#include "link/usb/system.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"

bool qs_usb_has_udev(void)
{
    return access("/run/udev/control", F_OK) == 0;
}

void qs_usb_text(const char *place, const char *what, char *ret, size_t room)
{
    QS_BUF(path);
    qs_buf_fmt(&path, "/sys/bus/usb/devices/%s/%s", place, what);
    int fd = open(path.data, O_RDONLY | O_CLOEXEC);
    ssize_t got = fd >= 0 ? read(fd, ret, room - 1) : 0;
    if (fd >= 0)
        close(fd);
    ret[got > 0 ? got : 0] = '\0';
    ret[strcspn(ret, "\n")] = '\0';
}
