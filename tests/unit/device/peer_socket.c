/* The socket of the scripted agent: Unix, or TCP with TLS. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/mem.h"
#include "peer.h"
#include "proto/names.h"

static void send_all(struct peer *p, const void *bytes, size_t n)
{
    const uint8_t *at = bytes;
    while (n > 0 && p->fd >= 0) {
        ssize_t sent = send(p->fd, at, n, MSG_NOSIGNAL);
        if (sent <= 0)
            return; /* the session hung up: what it says is checked there */
        at += sent;
        n -= (size_t)sent;
    }
}

static void send_tls(struct peer *p)
{
    send_all(p, p->tls->out.data, p->tls->out.len);
    qs_buf_clear(&p->tls->out);
}

void peer_raw(struct peer *p, const void *bytes, size_t n)
{
    if (!p->tls) {
        send_all(p, bytes, n);
        return;
    }
    tls_peer_say(p->tls, bytes, n);
    send_tls(p);
}

void peer_hang_up(struct peer *p)
{
    qs_io_stop(p->io);
    p->io = NULL;
    if (p->fd >= 0)
        close(p->fd);
    p->fd = -1;
}

static void take(struct peer *p, const uint8_t *at, size_t n)
{
    size_t used = 0;
    struct qs_frame frame;
    while (n > 0 && p->fd >= 0 && qs_framer_feed(&p->framer, at, n, &used, &frame) > 0) {
        peer_answer(p, &frame);
        at += used;
        n -= used;
    }
    if (p->framer.err != 0)
        abort();
}

static void take_tls(struct peer *p, const uint8_t *bytes, size_t n)
{
    QS_BUF(said);
    tls_peer_take(p->tls, bytes, n);
    send_tls(p);
    qs_buf_add(&said, p->tls->said.data, p->tls->said.len);
    qs_buf_clear(&p->tls->said);
    take(p, (const uint8_t *)said.data, said.len);
}

static void on_readable(unsigned events, void *user)
{
    (void)events;
    struct peer *p = user;
    uint8_t bytes[4096];
    ssize_t got = recv(p->fd, bytes, sizeof bytes, 0);
    if (got <= 0) {
        if (got == 0 || errno != EAGAIN)
            peer_hang_up(p);
        return;
    }
    (p->tls ? take_tls : take)(p, bytes, (size_t)got);
}

static const struct qs_enrolled enrolled = {.name = "board", .secret = {1, 2, 3}};

static void on_connection(unsigned events, void *user)
{
    (void)events;
    struct peer *p = user;
    peer_hang_up(p);
    p->fd = accept4(p->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (p->fd < 0)
        return;
    p->connections++;
    p->tx_seq = 0;
    p->tx_seal.on = false;
    if (p->tls) {
        tls_peer_done(p->tls);
        tls_peer_init(p->tls, &enrolled, NULL);
    }
    qs_framer_init(&p->framer, p->rx, sizeof p->rx);
    p->io = qs_io_start(p->loop, p->fd, QS_IO_READ, on_readable, p, NULL);
}

static void listen_unix(struct peer *p)
{
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    snprintf(p->address, sizeof p->address, "%s/agent.sock", p->dir);
    memcpy(a.sun_path, p->address, sizeof p->address);
    p->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (bind(p->listener, (struct sockaddr *)&a, sizeof a) != 0)
        abort();
}

static void listen_tcp(struct peer *p)
{
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof a;
    p->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (bind(p->listener, (struct sockaddr *)&a, sizeof a) != 0 ||
        getsockname(p->listener, (struct sockaddr *)&a, &size) != 0)
        abort();
    snprintf(p->address, sizeof p->address, "127.0.0.1:%d", ntohs(a.sin_port));
    p->tls = qs_calloc(1, sizeof *p->tls);
    tls_peer_init(p->tls, &enrolled, NULL);
}

static void write_key(const struct peer *p, const void *bytes, size_t n)
{
    int fd = open(p->key_file, O_WRONLY | O_CREAT | O_EXCL, 0600);
    if (write(fd, bytes, n) != (ssize_t)n)
        abort();
    close(fd);
}

static void make_key(struct peer *p)
{
    char text[QS_ENROLLED_FILE_MAX_BYTES];
    memset(p->key, 'k', sizeof p->key);
    p->asks_proof = !p->tls;
    if (p->tls)
        write_key(p, text, qs_enrolled_write(&enrolled, text));
    else
        write_key(p, p->key, sizeof p->key);
}

struct peer *peer_new(struct qs_loop *loop, enum peer_kind kind)
{
    struct peer *p = qs_calloc(1, sizeof *p);
    p->auth = QS_AUTH_SEALED;
    p->loop = loop;
    p->fd = -1;
    p->proto_min = QS_PROTO_MIN;
    p->proto_max = QS_PROTO_MAX;
    p->features = QS_FEATURE_COMMAND | QS_FEATURE_PULL | QS_FEATURE_TRACE;
    p->rows = 5;
    p->rows_a_message = 2;
    p->metric = QS_METRIC_USER_TIME_US;
    memset(p->nonce, 9, sizeof p->nonce);
    snprintf(p->dir, sizeof p->dir, "/tmp/qs-peer-XXXXXX");
    if (!mkdtemp(p->dir))
        abort();
    snprintf(p->key_file, sizeof p->key_file, "%s/key", p->dir);
    (kind == PEER_TLS ? listen_tcp : listen_unix)(p);
    if (kind != PEER_UNIX)
        make_key(p);
    if (listen(p->listener, 4) != 0)
        abort();
    p->listen_io = qs_io_start(loop, p->listener, QS_IO_READ, on_connection, p, NULL);
    return p;
}

void peer_free(struct peer *p)
{
    peer_hang_up(p);
    qs_io_stop(p->listen_io);
    close(p->listener);
    unlink(p->address);
    unlink(p->key_file);
    rmdir(p->dir);
    if (p->tls)
        tls_peer_done(p->tls);
    free(p->tls);
    free(p);
}
