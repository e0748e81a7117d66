/* An agent on a loopback TCP port: of this machine, or forwarded to it. Nothing here encrypts, so no other
 * address is accepted; both sides prove that they know the key (proto/auth.h). */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "config/document/scalar.h"
#include "link/link_impl.h"

struct tcp_own {
    char *address;  /* owned: as configured */
    char *key_file; /* owned, or NULL */
};

static void *tcp_new_own(const struct qs_farm_device *device)
{
    struct tcp_own *own = qs_calloc(1, sizeof *own);
    own->address = qs_strdup(device->address ? device->address : "");
    own->key_file = qs_strdup(device->key_file);
    return own;
}

static void tcp_free_own(void *user)
{
    struct tcp_own *own = user;
    free(own->address);
    free(own->key_file);
    free(own);
}

/* ---- the address ---- */

static bool parse_port(const char *text, uint16_t *ret)
{
    unsigned port = 0;
    size_t n = strspn(text, "0123456789");
    if (n == 0 || n > 5 || text[n] != '\0')
        return false;
    for (size_t i = 0; i < n; i++)
        port = port * 10 + (unsigned)(text[i] - '0');
    *ret = (uint16_t)port;
    return port >= 1 && port <= 65535;
}

static bool loopback_v4(const char *host, uint16_t port, struct sockaddr_storage *ret)
{
    struct sockaddr_in v4 = {.sin_family = AF_INET, .sin_port = htons(port)};
    if (inet_pton(AF_INET, strcmp(host, "localhost") == 0 ? "127.0.0.1" : host, &v4.sin_addr) != 1)
        return false;
    memcpy(ret, &v4, sizeof v4);
    return (ntohl(v4.sin_addr.s_addr) >> 24) == 127;
}

static bool loopback_v6(const char *host, uint16_t port, struct sockaddr_storage *ret)
{
    struct sockaddr_in6 v6 = {
        .sin6_family = AF_INET6, .sin6_port = htons(port), .sin6_addr = IN6ADDR_LOOPBACK_INIT};
    memcpy(ret, &v6, sizeof v6);
    return strcmp(host, "[::1]") == 0;
}

static bool parse_address(const char *text, struct sockaddr_storage *ret, struct qs_err *err)
{
    char host[64];
    uint16_t port = 0;
    const char *colon = strrchr(text, ':');
    size_t n = colon ? (size_t)(colon - text) : 0;
    if (n == 0)
        return qs_fail(err, QS_E_CONFIG, "`%s` is not an address with a port: write 127.0.0.1:PORT",
                       qs_show(text).text);
    if (!parse_port(colon + 1, &port))
        return qs_fail(err, QS_E_CONFIG, "`%s` is not a port (1 to 65535)", qs_show(colon + 1).text);
    memset(ret, 0, sizeof *ret);
    snprintf(host, sizeof host, "%.*s", (int)n, text); /* what is cut is none either */
    return loopback_v4(host, port, ret) || loopback_v6(host, port, ret) ||
           qs_fail(err, QS_E_CONFIG,
                   "`%s` is not a loopback address, and this version encrypts nothing: write 127.0.0.1:PORT "
                   "(a port may be forwarded), or reach another machine by `exec` and ssh",
                   qs_show(text).text);
}

static bool tcp_check_address(const char *address, struct qs_err *err)
{
    struct sockaddr_storage unused;
    return parse_address(address, &unused, err);
}

/* ---- the key ---- */

static bool read_key(int fd, const char *path, struct qs_link *link, struct qs_err *err)
{
    struct stat st;
    if (fstat(fd, &st) != 0)
        return qs_fail(err, QS_E_CONFIG, "cannot read the key file %s: %s", path, strerror(errno));
    if (!S_ISREG(st.st_mode))
        return qs_fail(err, QS_E_CONFIG, "the key file %s is not a regular file", path);
    if (st.st_uid != geteuid() || (st.st_mode & 077) != 0)
        return qs_fail(err, QS_E_DENIED,
                       "the key file %s must be ours and closed to others: chmod 600, owner %ld", path,
                       (long)geteuid());
    if (st.st_size < QS_LINK_KEY_MIN_BYTES || st.st_size > QS_LINK_KEY_MAX_BYTES)
        return qs_fail(err, QS_E_CONFIG, "the key file %s has %lld bytes; it needs %d to %d", path,
                       (long long)st.st_size, QS_LINK_KEY_MIN_BYTES, QS_LINK_KEY_MAX_BYTES);
    ssize_t got = read(fd, link->key, sizeof link->key);
    if (got != st.st_size)
        return qs_fail(err, QS_E_CONFIG, "cannot read all of the key file %s", path);
    link->key_bytes = (size_t)got;
    return true;
}

static bool take_key(struct qs_link *link, const char *path, struct qs_err *err)
{
    link->key_bytes = 0;
    if (!path)
        return qs_fail(err, QS_E_CONFIG,
                       "%s: a tcp link needs a key_file: anybody here could listen on its port", link->name);
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return qs_fail(err, QS_E_CONFIG, "cannot open the key file %s: %s", path, strerror(errno));
    bool ok = read_key(fd, path, link, err);
    close(fd);
    return ok;
}

/* ---- the link ---- */

static bool tcp_open(struct qs_link *link, struct qs_err *err)
{
    const struct tcp_own *own = link->own;
    struct sockaddr_storage address = {0};
    if (!parse_address(own->address, &address, err) || !take_key(link, own->key_file, err))
        return false;
    int fd = socket(address.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return qs_fail(err, QS_E_RESOURCE, "cannot make a socket: %s", strerror(errno));
    int one = 1;
    int zero = 0;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &zero,
               sizeof zero); /* a probe would break the window's silence */
    bool now = connect(fd, (const struct sockaddr *)&address, sizeof address) == 0;
    if (!now && errno != EINPROGRESS) {
        qs_fail(err, QS_E_LINK, "cannot connect to %s: %s", own->address, strerror(errno));
        close(fd);
        return false;
    }
    return qs_link_stream_open(link, fd, !now, err);
}

static void tcp_segments(const struct qs_link *link, struct qs_link_counters *ret)
{
    struct tcp_info info;
    socklen_t size = sizeof info;
    memset(&info, 0, sizeof info);
    if (getsockopt(link->stream.fd, IPPROTO_TCP, TCP_INFO, &info, &size) != 0)
        return;
    /* Linux 4.6 and later have all four. */
    ret->has_segments =
        size >= offsetof(struct tcp_info, tcpi_data_segs_out) + sizeof info.tcpi_data_segs_out;
    ret->segments_in = info.tcpi_segs_in;
    ret->segments_out = info.tcpi_segs_out;
    ret->data_segments_in = info.tcpi_data_segs_in;
    ret->data_segments_out = info.tcpi_data_segs_out;
}

const struct qs_link_ops qs_link_tcp_ops = {
    .traits = {.silent_lead_ns = INT64_C(5000000)}, /* it acknowledges QUIET in time of its own */
    .check_address = tcp_check_address,
    .new_own = tcp_new_own,
    .free_own = tcp_free_own,
    .open = tcp_open,
    .close = qs_link_stream_close,
    .send = qs_link_stream_send,
    .segments = tcp_segments,
};
