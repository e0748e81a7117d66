#include "base/std_fds.h"

#include <fcntl.h>
#include <unistd.h>

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
