#include "ctl/client/http.h"

#include <curl/curl.h>
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "base/process.h"
#include "base/mem.h"
#include "ctl/client/patience.h"

enum { CONNECT_MS = 5000, BUSY_S = 10, BUSY_PAUSE_MS = 50, IDLE_MS = 3600 * 1000 };

struct qs_http {
    char *socket;
    CURL *curl;
    CURLM *multi;
    struct qs_patience patience;
    int fd;        /* of the newest connection (libcurl's), or -1 */
    int failed;    /* errno of a connection that could not be made; 0: the next one can */
    bool answered; /* something has come */
    bool strange;  /* another user listens at a name that was our daemon's */
};

struct exchange {
    struct qs_http *http;
    struct qs_http_reply *reply;
    const struct qs_http_stream *stream; /* or NULL */
    bool stopped, too_long;
};

struct qs_http *qs_http_new(const char *socket, struct qs_err *err)
{
    if (strlen(socket) >= sizeof(((struct sockaddr_un *)0)->sun_path)) {
        qs_fail(err, QS_E_USAGE, "the socket's path is too long (at most %zu bytes): %s",
                sizeof(((struct sockaddr_un *)0)->sun_path) - 1, socket);
        return NULL;
    }
    struct qs_http *http = qs_calloc(1, sizeof(*http));
    http->socket = qs_strdup(socket);
    http->fd = -1;
    http->curl = curl_easy_init();
    http->multi = curl_multi_init();
    if (http->curl == NULL || http->multi == NULL) {
        qs_fail(err, QS_E_RESOURCE, "libcurl does not start");
        qs_http_free(http);
        return NULL;
    }
    return http;
}

void qs_http_free(struct qs_http *http)
{
    if (http == NULL)
        return;
    curl_easy_cleanup(http->curl);
    curl_multi_cleanup(http->multi);
    free(http->socket);
    free(http);
}

const char *qs_http_socket(const struct qs_http *http)
{
    return http->socket;
}

static size_t on_body(char *bytes, size_t one, size_t n, void *user)
{
    struct exchange *x = user;
    long status = 0;
    n *= one;
    curl_easy_getinfo(x->http->curl, CURLINFO_RESPONSE_CODE, &status);
    x->http->answered = true;
    if (x->stream != NULL && status == 200) {
        x->stopped = !x->stream->on_bytes(bytes, n, x->stream->user);
        return x->stopped ? 0 : n;
    }
    x->too_long = n > QS_HTTP_REPLY_BYTES || x->reply->body.len > QS_HTTP_REPLY_BYTES - n;
    if (x->too_long)
        return 0;
    qs_buf_add(&x->reply->body, bytes, n);
    return n;
}

/* The descriptor, to be asked who is at its other end. */
static curl_socket_t open_socket(void *user, curlsocktype purpose, struct curl_sockaddr *address)
{
    struct qs_http *http = user;
    (void)purpose;
    http->fd = socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
    return http->fd < 0 ? CURL_SOCKET_BAD : http->fd;
}

static int close_socket(void *user, curl_socket_t fd)
{
    struct qs_http *http = user;
    if (http->fd == fd)
        http->fd = -1;
    return close(fd);
}

/* Before anything is sent. A name outside of the file system can be taken by anybody once its listener has
 * ended; a path is guarded by its folder. */
static int check_peer(void *user, char *peer_ip, char *own_ip, int peer_port, int own_port)
{
    struct qs_http *http = user;
    struct ucred peer;
    socklen_t bytes = sizeof peer;
    (void)peer_ip, (void)own_ip, (void)peer_port, (void)own_port;
    bool known = http->socket[0] != '@' ||
                 (getsockopt(http->fd, SOL_SOCKET, SO_PEERCRED, &peer, &bytes) == 0 && peer.uid == geteuid());
    http->strange = !known;
    return known ? CURL_PREREQFUNC_OK : CURL_PREREQFUNC_ABORT;
}

static void set_common(struct qs_http *http, const char *path, struct exchange *x)
{
    CURL *c = http->curl;
    QS_BUF(url);
    qs_buf_fmt(&url, "http://quiesce%s", path);
    curl_easy_reset(c);
    curl_easy_setopt(c, CURLOPT_URL, url.data);
    if (http->socket[0] == '@')
        curl_easy_setopt(c, CURLOPT_ABSTRACT_UNIX_SOCKET, http->socket + 1);
    else
        curl_easy_setopt(c, CURLOPT_UNIX_SOCKET_PATH, http->socket);
    curl_easy_setopt(c, CURLOPT_PROXY, "");
    curl_easy_setopt(c, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(c, CURLOPT_CONNECTTIMEOUT_MS, (long)CONNECT_MS);
    curl_easy_setopt(c, CURLOPT_WRITEFUNCTION, on_body);
    curl_easy_setopt(c, CURLOPT_WRITEDATA, x);
    curl_easy_setopt(c, CURLOPT_OPENSOCKETFUNCTION, open_socket);
    curl_easy_setopt(c, CURLOPT_OPENSOCKETDATA, http);
    curl_easy_setopt(c, CURLOPT_CLOSESOCKETFUNCTION, close_socket);
    curl_easy_setopt(c, CURLOPT_CLOSESOCKETDATA, http);
    curl_easy_setopt(c, CURLOPT_PREREQFUNCTION, check_peer);
    curl_easy_setopt(c, CURLOPT_PREREQDATA, http);
    http->strange = false;
    http->answered = false;
    qs_patience_begin(&http->patience, qs_clock_ns(CLOCK_MONOTONIC));
}

static struct curl_slist *add_header(struct curl_slist *list, const char *name, const char *value)
{
    QS_FREED char *line = qs_asprintf("%s: %s", name, value);
    struct curl_slist *more = curl_slist_append(list, line);
    return more != NULL ? more : list;
}

static void set_request(CURL *c, const struct qs_http_request *request)
{
    if (strcmp(request->method, "HEAD") == 0) {
        curl_easy_setopt(c, CURLOPT_NOBODY, 1L);
    } else if (request->file != NULL) {
        curl_easy_setopt(c, CURLOPT_UPLOAD, 1L);
        curl_easy_setopt(c, CURLOPT_READDATA, request->file);
        curl_easy_setopt(c, CURLOPT_INFILESIZE_LARGE, (curl_off_t)request->file_bytes);
    } else if (strcmp(request->method, "POST") == 0) {
        curl_easy_setopt(c, CURLOPT_POST, 1L);
        curl_easy_setopt(c, CURLOPT_POSTFIELDS, request->body != NULL ? request->body : "");
        curl_easy_setopt(c, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)request->body_bytes);
    }
}

static bool explain(const struct qs_http *http, CURLcode code, const struct exchange *x, struct qs_err *err)
{
    if (x->too_long)
        return qs_fail(err, QS_E_LIMIT, "the answer is longer than %d MiB",
                       QS_HTTP_REPLY_BYTES / 1024 / 1024);
    if (code == CURLE_COULDNT_CONNECT && (http->failed == EACCES || http->failed == EPERM))
        return qs_fail(err, QS_E_DENIED, "you may not open the daemon's socket %s: %s", http->socket,
                       strerror(http->failed));
    if (code == CURLE_COULDNT_CONNECT && (http->failed == EAGAIN || http->failed == 0))
        return qs_fail(err, QS_E_DAEMON, "the daemon at %s is busy: its queue has been full for %d s",
                       http->socket, BUSY_S);
    if (http->strange)
        return qs_fail(err, QS_E_DENIED, "another user's process listens at %s: nothing was sent to it",
                       http->socket);
    if (code == CURLE_COULDNT_CONNECT)
        return qs_fail(err, QS_E_UNREACHABLE, "no daemon answers at %s", http->socket);
    return qs_fail(err, QS_E_DAEMON, "the connection to the daemon at %s broke: %s", http->socket,
                   curl_easy_strerror(code));
}

/* 0, or the errno of why no connection is made: EAGAIN where all places in the daemon's queue are taken. */
static int try_connect(const struct qs_http *http)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    size_t n = strlen(http->socket), name = offsetof(struct sockaddr_un, sun_path);
    bool abstract = http->socket[0] == '@';
    memcpy(address.sun_path, http->socket, n);
    if (abstract)
        address.sun_path[0] = '\0';
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), why = 0;
    if (fd < 0 ||
        connect(fd, (const struct sockaddr *)&address, (socklen_t)(name + n + (abstract ? 0 : 1))) != 0)
        why = errno;
    if (fd >= 0)
        close(fd);
    return why;
}

/* Libcurl takes a full queue for nobody. True, after a pause: it was that, and is worth another try. */
static bool was_busy(struct qs_http *http, CURLcode code)
{
    const struct timespec pause = {.tv_nsec = BUSY_PAUSE_MS * 1000000L};
    if (code != CURLE_COULDNT_CONNECT)
        return false;
    http->failed = try_connect(http);
    if ((http->failed != EAGAIN && http->failed != 0) ||
        qs_clock_ns(CLOCK_MONOTONIC) - http->patience.asked_ns > BUSY_S * INT64_C(1000000000))
        return false;
    nanosleep(&pause, NULL);
    return true;
}

/* No limit is set: on this machine a daemon that lives answers, after the window that it measures. A terminal
 * is told. */
static void say_patience(struct qs_http *http)
{
    int64_t now = qs_clock_ns(CLOCK_MONOTONIC);
    if (http->answered || now < http->patience.due_ns || !isatty(STDERR_FILENO))
        return;
    QS_BUF(line);
    qs_patience_line(&http->patience, now, qs_clock_ns(CLOCK_REALTIME), qs_patience_stopped(http->fd), &line);
    fputs(line.data, stderr);
}

static int on_progress(void *user, curl_off_t to_load, curl_off_t loaded, curl_off_t to_send, curl_off_t sent)
{
    (void)to_load;
    if (loaded == 0 && sent >= to_send)
        say_patience(user);
    return 0;
}

bool qs_http_call(struct qs_http *http, const struct qs_http_request *request, struct qs_http_reply *reply,
                  struct qs_err *err)
{
    struct exchange x = {.http = http, .reply = reply};
    struct curl_slist *headers = NULL;
    qs_buf_clear(&reply->body);
    set_common(http, request->path, &x);
    set_request(http->curl, request);
    if (request->body != NULL || request->file != NULL)
        headers =
            add_header(headers, "Content-Type", request->type != NULL ? request->type : "application/json");
    headers = add_header(headers, "Expect", ""); /* no round trip before an upload */
    if (request->key != NULL)
        headers = add_header(headers, "Idempotency-Key", request->key);
    curl_easy_setopt(http->curl, CURLOPT_HTTPHEADER, headers);
    curl_easy_setopt(http->curl, CURLOPT_NOPROGRESS, 0L);
    curl_easy_setopt(http->curl, CURLOPT_XFERINFOFUNCTION, on_progress);
    curl_easy_setopt(http->curl, CURLOPT_XFERINFODATA, http);
    CURLcode code = CURLE_OK;
    do
        code = curl_easy_perform(http->curl);
    while (was_busy(http, code));
    curl_easy_getinfo(http->curl, CURLINFO_RESPONSE_CODE, &reply->status);
    curl_slist_free_all(headers);
    return code == CURLE_OK || explain(http, code, &x, err);
}

/* Sleeps until the transfer or wake_fd has something; true where wake_fd has, or the time is over. */
static bool wait_for_news(struct qs_http *http, const struct qs_http_stream *stream, int64_t deadline_ns)
{
    struct curl_waitfd wake = {.fd = stream->wake_fd, .events = CURL_WAIT_POLLIN};
    struct pollfd now = {.fd = stream->wake_fd, .events = POLLIN};
    int64_t left_ms = IDLE_MS;
    if (deadline_ns > 0) {
        left_ms = (deadline_ns - qs_clock_ns(CLOCK_MONOTONIC)) / 1000000;
        if (left_ms <= 0)
            return true;
    }
    if (!http->answered && isatty(STDERR_FILENO)) {
        int64_t due_ms = (http->patience.due_ns - qs_clock_ns(CLOCK_MONOTONIC)) / 1000000 + 1;
        left_ms = due_ms < left_ms ? (due_ms > 0 ? due_ms : 0) : left_ms;
    }
    unsigned extra = stream->wake_fd >= 0 ? 1 : 0;
    curl_multi_poll(http->multi, extra > 0 ? &wake : NULL, extra,
                    (int)(left_ms < IDLE_MS ? left_ms : IDLE_MS), NULL);
    return stream->wake_fd >= 0 && poll(&now, 1, 0) == 1;
}

/* True when the transfer is over. */
static bool is_over(struct qs_http *http, CURLcode *code)
{
    int left = 0;
    for (CURLMsg *m = NULL; (m = curl_multi_info_read(http->multi, &left)) != NULL;)
        if (m->msg == CURLMSG_DONE) {
            *code = m->data.result;
            return true;
        }
    return false;
}

enum qs_http_end qs_http_follow(struct qs_http *http, const struct qs_http_stream *stream,
                                struct qs_http_reply *reply, struct qs_err *err)
{
    struct exchange x = {.http = http, .reply = reply, .stream = stream};
    struct curl_slist *headers = add_header(NULL, "Accept", "text/event-stream");
    char id[32];
    int running = 0;
    bool over = false, woken = false;
    CURLcode code = CURLE_OK;
    int64_t deadline_ns = stream->limit_ns > 0 ? qs_clock_ns(CLOCK_MONOTONIC) + stream->limit_ns : 0;
    qs_buf_clear(&reply->body);
    set_common(http, stream->path, &x);
    snprintf(id, sizeof(id), "%" PRId64, stream->last_id);
    if (stream->last_id >= 0)
        headers = add_header(headers, "Last-Event-ID", id);
    if (stream->body != NULL) {
        headers = add_header(headers, "Content-Type", "application/json");
        headers = add_header(headers, "Expect", "");
        curl_easy_setopt(http->curl, CURLOPT_POST, 1L);
        curl_easy_setopt(http->curl, CURLOPT_POSTFIELDS, stream->body);
        curl_easy_setopt(http->curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)stream->body_bytes);
    }
    curl_easy_setopt(http->curl, CURLOPT_HTTPHEADER, headers);
    curl_multi_add_handle(http->multi, http->curl);
    while (!over && !woken) {
        curl_multi_perform(http->multi, &running);
        over = is_over(http, &code);
        if (over && was_busy(http, code)) {
            curl_multi_remove_handle(http->multi, http->curl);
            curl_multi_add_handle(http->multi, http->curl);
            over = false;
        }
        if (!over)
            say_patience(http);
        if (!over)
            woken = wait_for_news(http, stream, deadline_ns);
    }
    curl_easy_getinfo(http->curl, CURLINFO_RESPONSE_CODE, &reply->status);
    curl_multi_remove_handle(http->multi, http->curl);
    curl_easy_setopt(http->curl, CURLOPT_HTTPHEADER, NULL);
    curl_slist_free_all(headers);
    if (!over)
        return QS_HTTP_WOKEN;
    if (x.stopped)
        return QS_HTTP_ENDED;
    if (code != CURLE_OK) {
        explain(http, code, &x, err);
        return QS_HTTP_BROKEN;
    }
    return reply->status == 200 ? QS_HTTP_ENDED : QS_HTTP_REFUSED;
}

void qs_http_escape(struct qs_buf *out, const char *s)
{
    for (; *s != '\0'; s++) {
        bool plain = (*s >= 'a' && *s <= 'z') || (*s >= 'A' && *s <= 'Z') || (*s >= '0' && *s <= '9') ||
                     strchr("-._~/", *s) != NULL;
        if (plain)
            qs_buf_char(out, *s);
        else
            qs_buf_fmt(out, "%%%02X", (unsigned)(unsigned char)*s);
    }
}
