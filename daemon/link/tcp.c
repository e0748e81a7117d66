/* An agent on a TCP port, of this machine or of another: with TLS, by the key of the device's enrolment
 * (tls/), which both sides prove before anything is said. */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/mem.h"
#include "config/document/scalar.h"
#include "link/link_impl.h"
#include "link/tls/tls.h"

struct tcp_own {
    char *address;       /* owned: as configured */
    char *key_file;      /* owned, or NULL */
    struct qs_tls *tls;  /* owned; from open to close */
    uint64_t said, told; /* bytes of the session: of the peer, and ours, those in the queue included */
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

static bool parse_v4(const char *host, uint16_t port, struct sockaddr_storage *ret)
{
    struct sockaddr_in v4 = {.sin_family = AF_INET, .sin_port = htons(port)};
    if (inet_pton(AF_INET, strcmp(host, "localhost") == 0 ? "127.0.0.1" : host, &v4.sin_addr) != 1)
        return false;
    memcpy(ret, &v4, sizeof v4);
    return v4.sin_addr.s_addr != htonl(INADDR_ANY);
}

static bool parse_v6(char *host, uint16_t port, struct sockaddr_storage *ret)
{
    struct sockaddr_in6 v6 = {.sin6_family = AF_INET6, .sin6_port = htons(port)};
    size_t n = strlen(host);
    if (n < 3 || host[0] != '[' || host[n - 1] != ']')
        return false;
    host[n - 1] = '\0';
    if (inet_pton(AF_INET6, host + 1, &v6.sin6_addr) != 1)
        return false;
    memcpy(ret, &v6, sizeof v6);
    return !IN6_IS_ADDR_UNSPECIFIED(&v6.sin6_addr);
}

static bool parse_address(const char *text, struct sockaddr_storage *ret, struct qs_err *err)
{
    char host[64];
    uint16_t port = 0;
    const char *colon = strrchr(text, ':');
    size_t n = colon ? (size_t)(colon - text) : 0;
    if (n == 0)
        return qs_fail(err, QS_E_CONFIG, "`%s` is not an address with a port: write 192.168.1.7:7151",
                       qs_show(text).text);
    if (!parse_port(colon + 1, &port))
        return qs_fail(err, QS_E_CONFIG, "`%s` is not a port (1 to 65535)", qs_show(colon + 1).text);
    memset(ret, 0, sizeof *ret);
    snprintf(host, sizeof host, "%.*s", (int)n, text); /* what is cut is none either */
    return parse_v4(host, port, ret) || parse_v6(host, port, ret) ||
           qs_fail(err, QS_E_CONFIG,
                   "`%s` is not a numeric address of a device; names are not looked up: write "
                   "192.168.1.7:7151 or [fd00::7]:7151",
                   qs_show(text).text);
}

static bool tcp_check_address(const char *address, struct qs_err *err)
{
    struct sockaddr_storage unused;
    return parse_address(address, &unused, err);
}

/* ---- the key ---- */

/* The key is of this device and no other: its name is what the agent knows its host by. */
static bool judge_key(const struct qs_link *link, const char *path, const struct qs_enrolled *key,
                      struct qs_err *err)
{
    return strcmp(key->name, link->name) == 0 ||
           qs_fail(
               err, QS_E_CONFIG,
               "%s: the key file %s is that of the device `%s`: each device has a key of its own, quiesce "
               "devices enroll %s makes it",
               link->name, path, key->name, link->name);
}

static bool take_key(struct qs_link *link, struct tcp_own *own, struct qs_err *err)
{
    struct qs_enrolled key = {0};
    if (!own->key_file)
        return qs_fail(err, QS_E_CONFIG,
                       "%s: a tcp link needs a key_file: quiesce devices enroll %s makes one", link->name,
                       link->name);
    bool ok = qs_link_read_key(link, own->key_file, err);
    if (ok && !qs_enrolled_parse(link->key, link->key_bytes, &key))
        ok = qs_fail(err, QS_E_CONFIG,
                     "%s: the key file %s is no key of a device: quiesce devices enroll %s makes one",
                     link->name, own->key_file, link->name);
    qs_link_forget_key(link); /* there is nothing to prove but in the handshake */
    ok = ok && judge_key(link, own->key_file, &key, err);
    own->tls = ok ? qs_tls_new(link->name, &key, err) : NULL;
    explicit_bzero(&key, sizeof key);
    return own->tls != NULL;
}

/* ---- the link ---- */

/* Takes in what the peer has sent, and sends what is to be answered; the last thing its caller does. */
static void step(struct qs_link *link, const uint8_t *bytes, size_t n)
{
    struct tcp_own *own = link->own;
    struct qs_err why = QS_ERR_INIT;
    QS_BUF(said);
    QS_BUF(wire);
    bool was_up = qs_tls_is_up(own->tls);
    bool ok = qs_tls_take(own->tls, bytes, n, &said, &wire, &why);
    if (wire.len > 0 && !qs_link_stream_send(link, (const uint8_t *)wire.data, wire.len, ok ? &why : NULL))
        ok = false;
    own->said += said.len;
    if (!ok && said.len > 0)
        qs_link_down_later(link, &why); /* its last words come first */
    if (ok && !was_up && qs_tls_is_up(own->tls))
        qs_link_up(link); /* an agent says nothing before it is greeted */
    else if (said.len > 0)
        qs_link_bytes(link, (const uint8_t *)said.data, said.len);
    else if (!ok)
        qs_link_down(link, &why);
}

/* Another program, as a rule: an agent says why. */
static void tcp_ended(struct qs_link *link, const struct qs_err *why)
{
    const struct tcp_own *own = link->own;
    struct qs_err told = *why;
    if (!qs_tls_is_up(own->tls))
        qs_fail(&told, why->code, "%.300s, before TLS stood: is it a quiesce-agent that listens there?",
                why->text);
    qs_link_down(link, &told);
}

static void tcp_stands(struct qs_link *link)
{
    step(link, NULL, 0);
}

static bool start(struct qs_link *link, const struct sockaddr_storage *address, const char *shown,
                  struct qs_err *err)
{
    int fd = socket(address->ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return qs_fail(err, QS_E_RESOURCE, "cannot make a socket: %s", strerror(errno));
    int one = 1;
    int zero = 0;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &zero,
               sizeof zero); /* a probe would break the window's silence */
    if (connect(fd, (const struct sockaddr *)address, sizeof *address) != 0 && errno != EINPROGRESS) {
        qs_fail(err, QS_E_LINK, "cannot connect to %s: %s", shown, strerror(errno));
        close(fd);
        return false;
    }
    return qs_link_stream_open(link, fd, true, err); /* one that stands at once is told as well */
}

static void end_tls(struct tcp_own *own)
{
    qs_tls_free(own->tls);
    own->tls = NULL;
}

static bool tcp_open(struct qs_link *link, struct qs_err *err)
{
    struct tcp_own *own = link->own;
    struct sockaddr_storage address = {0};
    if (!parse_address(own->address, &address, err) || !take_key(link, own, err))
        return false;
    own->said = own->told = 0;
    if (start(link, &address, own->address, err))
        return true;
    end_tls(own);
    return false;
}

static void tcp_close(struct qs_link *link)
{
    qs_link_stream_close(link);
    end_tls(link->own);
}

static bool tcp_send(struct qs_link *link, const uint8_t *bytes, size_t n, struct qs_err *err)
{
    struct tcp_own *own = link->own;
    QS_BUF(wire);
    if (n > QS_LINK_QUEUE_BYTES || qs_tls_sealed_bytes(n) > QS_LINK_QUEUE_BYTES - link->stream.queue.len)
        return qs_fail(err, QS_E_AGENT, "%s does not read: %zu bytes are waiting", link->name,
                       link->stream.queue.len);
    bool ok = qs_tls_seal(own->tls, bytes, n, &wire, err) &&
              qs_link_stream_send(link, (const uint8_t *)wire.data, wire.len, err);
    own->told += ok ? n : 0;
    return ok;
}

static void tcp_counters(const struct qs_link *link, struct qs_link_counters *ret)
{
    const struct tcp_own *own = link->own;
    struct tcp_info info;
    socklen_t size = sizeof info;
    memset(&info, 0, sizeof info);
    ret->bytes_in = own->said;
    ret->bytes_out = own->told > link->stream.queue.len ? own->told - link->stream.queue.len : 0;
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
    .close = tcp_close,
    .send = tcp_send,
    .counters = tcp_counters,
    .stream_stands = tcp_stands,
    .take = step,
    .stream_ended = tcp_ended,
};
