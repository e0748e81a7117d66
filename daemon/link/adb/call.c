#include "link/adb/call.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/loop.h"
#include "base/mem.h"
#include "base/text.h"
#include "config/document/scalar.h"
#include "link/adb/text.h"

enum { READ_BYTES = 32 * 1024, REFUSAL_BYTES = 400 };

enum stage { CONNECTING, STATUS, REFUSAL_LENGTH, REFUSAL, OPEN };

struct qs_adb_call {
    struct qs_loop *loop; /* borrowed */
    struct qs_adb_events events;
    int fd; /* owned */
    struct qs_io *io;
    enum stage stage;
    char *requests[2]; /* owned; made one after the other */
    size_t request_count, asked;
    struct qs_buf out; /* unsent */
    char in[REFUSAL_BYTES + 1];
    size_t have, need; /* bytes of `in`: nothing beyond an answer is read before it is open */
};

/* ---- where the server is: as adb's own clients find it ---- */

static bool parse_server(const char *text, struct sockaddr_in *ret)
{
    char host[INET_ADDRSTRLEN] = "127.0.0.1";
    const char *colon = strrchr(text, ':');
    char *end;
    if (colon && strncmp(text, "localhost", (size_t)(colon - text)) != 0)
        snprintf(host, sizeof host, "%.*s", (int)(colon - text), text);
    long port = strtol(colon ? colon + 1 : text, &end, 10);
    ret->sin_family = AF_INET;
    ret->sin_port = htons((uint16_t)port);
    return *end == '\0' && port > 0 && port < 65536 && inet_pton(AF_INET, host, &ret->sin_addr) == 1;
}

static bool find_server(struct sockaddr_in *ret, struct qs_err *err)
{
    const char *socket_text = getenv("ADB_SERVER_SOCKET"), *port = getenv("ANDROID_ADB_SERVER_PORT");
    const char *text = port ? port : "5037";
    memset(ret, 0, sizeof *ret);
    if (socket_text && strncmp(socket_text, "tcp:", 4) == 0)
        text = socket_text + 4;
    else if (socket_text)
        return qs_fail(err, QS_E_CONFIG,
                       "ADB_SERVER_SOCKET is `%s`; tcp:PORT or tcp:ADDRESS:PORT is expected",
                       qs_show(socket_text).text);
    return parse_server(text, ret) ||
           qs_fail(err, QS_E_CONFIG,
                   "`%s` is not where an adb server can be: a port, or ADDRESS:PORT with a "
                   "numeric address, is expected in %s",
                   qs_show(text).text, socket_text ? "ADB_SERVER_SOCKET" : "ANDROID_ADB_SERVER_PORT");
}

/* ---- the end ---- */

static void release(struct qs_adb_call *call)
{
    qs_io_stop(call->io);
    if (call->fd >= 0)
        close(call->fd);
    for (size_t i = 0; i < call->request_count; i++)
        free(call->requests[i]);
    qs_buf_done(&call->out);
    free(call);
}

void qs_adb_close(struct qs_adb_call *call)
{
    if (call)
        release(call);
}

int qs_adb_take(struct qs_adb_call *call)
{
    int fd = call->fd;
    call->fd = -1;
    qs_io_stop(call->io);
    call->io = NULL;
    release(call);
    return fd;
}

/* The last thing that its caller does. */
static void end(struct qs_adb_call *call, const struct qs_err *why)
{
    struct qs_adb_events events = call->events;
    release(call);
    events.on_end(why, events.user);
}

static bool why_broken(const struct qs_adb_call *call, int error, struct qs_err *err)
{
    if (call->stage == CONNECTING && error == ECONNREFUSED)
        return qs_fail(err, QS_E_LINK,
                       "no adb server is running on this machine: `adb start-server` starts one");
    return qs_fail(err, QS_E_LINK, "the connection to the adb server broke: %s",
                   error ? strerror(error) : "it was closed");
}

static void broken(struct qs_adb_call *call, int error)
{
    struct qs_err why = QS_ERR_INIT;
    why_broken(call, error, &why);
    end(call, &why);
}

/* ---- requests ---- */

static bool watch(struct qs_adb_call *call)
{
    bool writes = call->stage == CONNECTING || call->out.len > 0;
    return qs_io_update(call->io, QS_IO_READ | (writes ? (unsigned)QS_IO_WRITE : 0u), NULL);
}

static bool flush(struct qs_adb_call *call)
{
    while (call->out.len > 0) {
        ssize_t sent = send(call->fd, call->out.data, call->out.len, MSG_NOSIGNAL);
        if (sent < 0 && (errno == EAGAIN || errno == EINTR))
            break;
        if (sent < 0)
            return false;
        qs_buf_drop_front(&call->out, (size_t)sent);
    }
    return watch(call);
}

static void expect(struct qs_adb_call *call, enum stage stage, size_t bytes)
{
    call->stage = stage;
    call->have = 0;
    call->need = bytes;
}

static bool ask(struct qs_adb_call *call)
{
    qs_adb_request(&call->out, call->requests[call->asked++]);
    expect(call, STATUS, 4);
    return flush(call);
}

void qs_adb_send(struct qs_adb_call *call, const void *bytes, size_t n)
{
    qs_buf_add(&call->out, bytes, n);
    (void)flush(call); /* what is wrong with the socket is read from it */
}

/* ---- answers ---- */

/* What people do about a refusal, or NULL. How they begin is the same in all versions of adb's server
 * (transport.cpp: acquire_one_transport). */
static const char *advice_of(const char *refusal)
{
    static const struct {
        const char *begin, *advice;
    } known[] = {
        {"device unauthorized", "unlock it, and allow USB debugging from this computer in the dialog that it "
                                "shows; where there is none, plug it in again"},
        {"device still authorizing", "unlock it, and allow USB debugging from this computer"},
        {"device still connecting", "it will answer in a moment"},
        {"device offline",
         "plug it in again, or `adb reconnect offline`; where that does not help, switch USB "
         "debugging off and on"},
        {"insufficient permissions", "this user may not open its USB device: install the package "
                                     "android-sdk-platform-tools-common (udev rules), and plug it in again"},
        {"no permissions", "this user may not open its USB device: install the package "
                           "android-sdk-platform-tools-common (udev rules), and plug it in again"},
        {"device '", "`adb devices` does not show it: check its cable, and that USB debugging is on"},
        {"closed", "it is in recovery or about to restart, or it has no such service"},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (strncmp(refusal, known[i].begin, strlen(known[i].begin)) == 0)
            return known[i].advice;
    }
    return NULL;
}

static void refused(struct qs_adb_call *call)
{
    struct qs_err why = QS_ERR_INIT;
    const char *advice = advice_of(call->in);
    QS_BUF(text);
    qs_text_escape(&text, call->in, strcspn(call->in, "\n"));
    const char *what = call->requests[call->asked - 1];
    if (advice)
        qs_fail(&why, QS_E_LINK, "adb: %s: %s", text.data, advice);
    else
        qs_fail(&why, QS_E_LINK, "adb refuses `%.60s`: %s", qs_show(what).text, text.data);
    end(call, &why);
}

static void nonsense(struct qs_adb_call *call)
{
    struct qs_err why = QS_ERR_INIT;
    QS_BUF(text);
    qs_text_escape(&text, call->in, call->have);
    qs_fail(&why, QS_E_LINK, "what listens where the adb server should is none: it answered \"%s\"",
            text.data);
    end(call, &why);
}

/* A part of an answer is whole. The last thing that its caller does. */
static void take_answer(struct qs_adb_call *call)
{
    uint32_t length = 0;
    call->in[call->have] = '\0';
    if (call->stage == STATUS && memcmp(call->in, "OKAY", 4) == 0) {
        if (call->asked < call->request_count) {
            if (!ask(call))
                broken(call, errno);
            return;
        }
        call->stage = OPEN;
        if (call->events.on_open)
            call->events.on_open(call->events.user);
    } else if (call->stage == STATUS && memcmp(call->in, "FAIL", 4) == 0) {
        expect(call, REFUSAL_LENGTH, 4);
    } else if (call->stage == REFUSAL_LENGTH && qs_adb_length(call->in, &length)) {
        expect(call, REFUSAL, length < REFUSAL_BYTES ? length : REFUSAL_BYTES);
        if (length == 0)
            refused(call);
    } else if (call->stage == REFUSAL) {
        refused(call);
    } else {
        nonsense(call);
    }
}

static void read_answer(struct qs_adb_call *call)
{
    ssize_t got = read(call->fd, call->in + call->have, call->need - call->have);
    if (got < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (got <= 0) {
        broken(call, got < 0 ? errno : 0);
        return;
    }
    call->have += (size_t)got;
    if (call->have == call->need)
        take_answer(call);
}

static void read_open(struct qs_adb_call *call)
{
    uint8_t bytes[READ_BYTES];
    ssize_t got = read(call->fd, bytes, sizeof bytes);
    if (got > 0)
        call->events.on_bytes(bytes, (size_t)got, call->events.user);
    else if (got == 0)
        end(call, NULL);
    else if (errno != EAGAIN && errno != EINTR)
        broken(call, errno);
}

static void connected(struct qs_adb_call *call)
{
    int error = 0;
    socklen_t size = sizeof error;
    if (getsockopt(call->fd, SOL_SOCKET, SO_ERROR, &error, &size) != 0)
        error = errno;
    if (error != 0)
        broken(call, error);
    else if (!ask(call))
        broken(call, errno);
}

static void on_ready(unsigned events, void *user)
{
    struct qs_adb_call *call = user;
    if (call->stage == CONNECTING)
        connected(call);
    else if ((events & QS_IO_WRITE) && !flush(call))
        broken(call, errno);
    else if ((events & QS_IO_READ) && call->stage == OPEN)
        read_open(call);
    else if (events & QS_IO_READ)
        read_answer(call);
}

/* ---- the begin ---- */

static bool begin(struct qs_adb_call *call, struct qs_err *err)
{
    struct sockaddr_in server;
    const int one = 1;
    if (qs_loop_is_virtual(call->loop))
        return qs_fail(err, QS_E_INTERNAL, "an adb server has no place in virtual time");
    if (!find_server(&server, err))
        return false;
    call->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (call->fd < 0)
        return qs_fail(err, QS_E_RESOURCE, "cannot make a socket: %s", strerror(errno));
    setsockopt(call->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    if (connect(call->fd, (const struct sockaddr *)&server, sizeof server) != 0 && errno != EINPROGRESS)
        return why_broken(call, errno, err);
    call->io = qs_io_start(call->loop, call->fd, QS_IO_WRITE, on_ready, call, err);
    return call->io != NULL;
}

struct qs_adb_call *qs_adb_open(struct qs_loop *loop, const char *serial, const char *service,
                                const struct qs_adb_events *events, struct qs_err *err)
{
    struct qs_adb_call *call = qs_calloc(1, sizeof *call);
    call->loop = loop;
    call->events = *events;
    call->fd = -1;
    qs_buf_init(&call->out);
    if (serial)
        call->requests[call->request_count++] = qs_asprintf("host:transport:%s", serial);
    call->requests[call->request_count++] = qs_strdup(service);
    if (begin(call, err))
        return call;
    release(call);
    return NULL;
}
