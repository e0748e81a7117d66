#include "linux/link.h"

#include <linux/tcp.h>
#include <netinet/in.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>

bool qs_link_segments(const struct qs_link *link, int64_t *in, int64_t *out)
{
    struct tcp_info info;
    socklen_t size = sizeof info;
    memset(&info, 0, sizeof info);
    if (link->kind != QS_LINK_TCP || link->in_fd < 0 ||
        getsockopt(link->in_fd, IPPROTO_TCP, TCP_INFO, &info, &size) != 0 ||
        size < offsetof(struct tcp_info, tcpi_segs_in) + sizeof info.tcpi_segs_in) {
        return false;
    }
    *in = info.tcpi_segs_in;
    *out = info.tcpi_segs_out;
    return true;
}
