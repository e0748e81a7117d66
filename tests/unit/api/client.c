#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "fixture.h"

static void on_io(unsigned events, void *user)
{
    struct client *c = user;
    char bytes[16384];
    if (events & QS_IO_READ) {
        ssize_t n = recv(c->fd, bytes, sizeof bytes, 0);
        if (n > 0)
            qs_buf_add(&c->in, bytes, (size_t)n);
        c->closed = n == 0 || (n < 0 && errno != EAGAIN);
    }
    if (events & QS_IO_WRITE && c->out.len > 0) {
        ssize_t n = send(c->fd, c->out.data, c->out.len, MSG_NOSIGNAL);
        if (n > 0)
            qs_buf_drop_front(&c->out, (size_t)n);
        else if (errno != EAGAIN)
            qs_buf_clear(&c->out); /* the other side reads no more: what it says counts */
    }
    unsigned wanted = (c->closed ? 0 : QS_IO_READ) | (c->out.len > 0 && !c->closed ? QS_IO_WRITE : 0);
    assert_true(qs_io_update(c->io, wanted, NULL));
    qs_loop_stop(c->f->loop);
}

struct client *client_open(struct fixture *f)
{
    struct client *c = calloc(1, sizeof *c);
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof address.sun_path, "%s", f->socket);
    c->f = f;
    c->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    assert_int_equal(connect(c->fd, (struct sockaddr *)&address, sizeof address), 0);
    qs_buf_init(&c->in);
    qs_buf_init(&c->out);
    c->io = qs_io_start(f->loop, c->fd, QS_IO_READ, on_io, c, NULL);
    assert_non_null(c->io);
    return c;
}

void client_send(struct client *c, const void *bytes, size_t n)
{
    qs_buf_add(&c->out, bytes, n);
    assert_true(qs_io_update(c->io, QS_IO_READ | QS_IO_WRITE, NULL));
}

void client_close(struct client *c)
{
    qs_io_stop(c->io);
    close(c->fd);
    qs_buf_done(&c->in);
    qs_buf_done(&c->out);
    free(c);
}

void client_until(struct client *c, const char *text)
{
    while (text ? strstr(c->in.data, text) == NULL : !c->closed) {
        if (c->closed)
            fail_msg("closed before `%s`; got: %s", text, c->in.data);
        qs_loop_run(c->f->loop);
    }
}

static void on_settled(void *user)
{
    struct fixture *f = user;
    f->stopped = true;
    qs_loop_stop(f->loop);
}

void settle(struct fixture *f)
{
    f->stopped = false;
    (void)qs_timer_start(f->loop, 50 * 1000000, on_settled, f);
    while (!f->stopped)
        qs_loop_run(f->loop);
}

static void take_chunks(struct answer *a, const char *raw, size_t n)
{
    for (size_t at = 0; at < n;) {
        char *end;
        unsigned long size = strtoul(raw + at, &end, 16);
        at = (size_t)(end - raw) + 2;
        if (size == 0)
            return;
        assert_true(at + size + 2 <= n);
        qs_buf_add(&a->body, raw + at, size);
        at += size + 2;
    }
}

struct answer parse(const struct qs_buf *raw)
{
    struct answer a = {0};
    const char *end = strstr(raw->data, "\r\n\r\n");
    if (!end || sscanf(raw->data, "HTTP/1.1 %d", &a.status) != 1)
        fail_msg("no answer: `%s`", raw->data);
    qs_buf_init(&a.head);
    qs_buf_init(&a.body);
    qs_buf_add(&a.head, raw->data, (size_t)(end + 2 - raw->data));
    size_t at = (size_t)(end + 4 - raw->data);
    if (strstr(a.head.data, "Transfer-Encoding: chunked"))
        take_chunks(&a, raw->data + at, raw->len - at);
    else
        qs_buf_add(&a.body, raw->data + at, raw->len - at);
    if (strstr(a.head.data, "application/json") && a.body.len > 0) {
        a.json = json_loadb(a.body.data, a.body.len, JSON_REJECT_DUPLICATES, NULL);
        if (!a.json)
            fail_msg("no JSON: %s", a.body.data);
        assert_int_equal(a.body.data[a.body.len - 1], '\n');
    }
    return a;
}

struct answer fetch(struct fixture *f, const char *method, const char *target, const char *headers,
                    const void *body, size_t n)
{
    struct client *c = client_open(f);
    struct qs_buf request;
    qs_buf_init(&request);
    qs_buf_fmt(&request, "%s %s HTTP/1.1\r\nHost: q\r\nConnection: close\r\n%s", method, target,
               headers ? headers : "");
    if (body)
        qs_buf_fmt(&request, "Content-Length: %zu\r\n", n);
    qs_buf_str(&request, "\r\n");
    qs_buf_add(&request, body ? body : "", n);
    client_send(c, request.data, request.len);
    qs_buf_done(&request);
    client_until(c, NULL);
    struct answer a = parse(&c->in);
    client_close(c);
    return a;
}

struct answer get(struct fixture *f, const char *target)
{
    return fetch(f, "GET", target, NULL, NULL, 0);
}

void answer_done(struct answer *a)
{
    qs_buf_done(&a->head);
    qs_buf_done(&a->body);
    json_decref(a->json);
}

void assert_error(struct answer a, int status, const char *code)
{
    const json_t *error = json_object_get(a.json, "error");
    if (a.status != status || !error)
        fail_msg("%d instead of %d: %s", a.status, status, a.body.data);
    assert_string_equal(json_string_value(json_object_get(error, "code")), code);
    assert_true(json_string_length(json_object_get(error, "message")) > 0);
    assert_true(json_string_length(json_object_get(error, "advice")) > 0);
    assert_true(json_is_string(json_object_get(error, "blame")));
    answer_done(&a);
}

const char *text_at(const struct answer *a, const char *key)
{
    return json_string_value(json_object_get(a->json, key));
}

long long int_at(const struct answer *a, const char *key)
{
    return json_integer_value(json_object_get(a->json, key));
}
