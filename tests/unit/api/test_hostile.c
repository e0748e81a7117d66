/* Requests that nobody means well: an answer or a cut connection, and a daemon that goes on. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "api/api_impl.h"
#include "fixture.h"

static void is_alive(struct fixture *f)
{
    struct answer a = get(f, "/healthz");
    assert_int_equal(a.status, 200);
    answer_done(&a);
}

static void addresses(void **state)
{
    static const struct {
        const char *method, *target, *code;
        int status;
    } bad[] = {
        {"GET", "/", "not-found", 404},
        {"GET", "/api/v1/nothing", "not-found", 404},
        {"GET", "/api/v1/jobs/", "not-found", 404},
        {"GET", "//healthz", "not-found", 404},
        {"GET", "/api/v1/../v1/jobs", "not-found", 404},
        {"GET", "/a/b/c/d/e/f/g/h/i/j/k", "not-found", 404},
        {"GET", "/api/v1/jobs/%2e%2e", "usage", 400},
        {"GET", "/api/v1/jobs/1%2Fruns", "usage", 400},
        {"GET", "/api/v1/jobs/0", "usage", 400},
        {"GET", "/api/v1/jobs/-1", "usage", 400},
        {"GET", "/api/v1/jobs/9223372036854775808", "usage", 400},
        {"GET", "/api/v1/jobs/1x", "usage", 400},
        {"GET", "/api/v1/jobs/%00", "usage", 400},
        {"GET", "/api/v1/jobs/%ff", "usage", 400},
        {"GET", "/api/v1/jobs/%zz", "usage", 400},
        {"GET", "/api/v1/jobs/%", "usage", 400},
        {"GET", "/api/v1/jobs?limt=1", "usage", 400},
        {"GET", "/api/v1/jobs?limit=1&limit=2", "usage", 400},
        {"GET", "/api/v1/jobs?a&b&c&d&e&f&g&h&i", "usage", 400},
        {"GET", "/healthz?x=%fe", "usage", 400},
        {"GET", "/api/v1/runs/xyz", "usage", 400},
        {"GET", "/api/v1/runs/0101000000000000000000000000000000", "usage", 400},
        {"PUT", "/api/v1/files/..%2f..%2f..%2fetc%2fpasswd", "usage", 400},
        {"PUT", "/api/v1/files/2CF24DBA5FB0A30E26E83B2AC5B9E29E1B161E5C1FA7425E73043362938B9824", "usage",
         400},
        {"POST", "/api/v1/jobs/1:explode", "not-found", 404},
        {"POST", "/api/v1/jobs/1:cancel:cancel", "not-found", 404},
    };
    struct fixture *f = *state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_error(fetch(f, bad[i].method, bad[i].target, NULL, NULL, 0), bad[i].status, bad[i].code);
    char *target = malloc(6001);
    memset(target, 'a', 6000);
    target[0] = '/';
    target[6000] = 0;
    assert_error(get(f, target), 413, "limit");
    free(target);
}

static void methods(void **state)
{
    struct fixture *f = *state;
    struct answer a = fetch(f, "DELETE", "/api/v1/jobs", NULL, NULL, 0);
    assert_non_null(strstr(a.head.data, "Allow: POST, GET, HEAD\r\n"));
    const json_t *routes = json_object_get(json_object_get(a.json, "error"), "routes");
    assert_true(json_array_size(routes) > 10);
    assert_string_equal(json_string_value(json_array_get(routes, 0)), "GET /healthz");
    assert_error(a, 405, "usage");
    assert_error(fetch(f, "BREW", "/healthz", NULL, NULL, 0), 405, "usage");
    assert_error(fetch(f, "GET", "/api/v1/jobs:validate", NULL, NULL, 0), 405, "usage");
    a = get(f, "/nowhere");
    assert_true(json_array_size(json_object_get(json_object_get(a.json, "error"), "routes")) > 10);
    answer_done(&a);
}

static void short_bodies_are_read_and_refused(void **state)
{
    struct fixture *f = *state;
    size_t n = 5 * 1024 * 1024;
    char *body = malloc(n);
    memset(body, ' ', n);
    assert_error(fetch(f, "POST", "/api/v1/jobs:validate", NULL, body, n), 413, "limit");
    assert_error(fetch(f, "POST", "/nothing", NULL, body, n), 404, "not-found");
    assert_error(fetch(f, "GET", "/healthz", NULL, "x", 1), 400, "usage");
    assert_error(fetch(f, "POST", "/api/v1/jobs/1:cancel", NULL, "x", 1), 400, "usage");
    free(body);
    is_alive(f);
}

static void says(struct answer a, int status, const char *code, const char *message)
{
    assert_string_equal(json_string_value(json_object_get(json_object_get(a.json, "error"), "message")),
                        message);
    assert_error(a, status, code);
}

/* As long as may be; one more; and where none may be. */
static void bodies_at_their_bounds(void **state)
{
    enum { MOST = 4 * 1024 * 1024 };
    static const char chunked[] =
        "GET /healthz HTTP/1.1\r\nHost: q\r\nConnection: close\r\nTransfer-Encoding: chunked"
        "\r\n\r\n1\r\nx\r\n0\r\n\r\n";
    static const char no_body[] = "GET /healthz takes no body";
    struct fixture *f = *state;
    char *body = malloc(MOST + 1);
    memset(body, ' ', MOST + 1);
    assert_error(fetch(f, "POST", "/api/v1/jobs:validate", NULL, body, MOST), 400, "job");
    says(fetch(f, "POST", "/api/v1/jobs:validate", NULL, body, MOST + 1), 413, "limit",
         "the body is longer than 4194304 bytes");
    says(fetch(f, "GET", "/healthz", NULL, "x", 1), 400, "usage", no_body);
    struct answer a = fetch(f, "GET", "/healthz", NULL, "", 0);
    assert_int_equal(a.status, 200);
    answer_done(&a);
    struct client *c = client_open(f);
    client_send(c, chunked, sizeof chunked - 1);
    client_until(c, NULL);
    says(parse(&c->in), 400, "usage", no_body);
    client_close(c);
    free(body);
}

/* What is refused is read to its end up to 16 MiB; more is not waited for. */
static void a_refusal_waits_for_so_much(void **state)
{
    enum { DRAINED = 16 * 1024 * 1024 };
    static const int bytes[] = {DRAINED, DRAINED + 1, 1, 0};
    struct fixture *f = *state;
    for (int i = 0; i < 4; i++) {
        char text[160];
        struct client *c = client_open(f);
        snprintf(text, sizeof text, "POST /nothing HTTP/1.1\r\nHost: q\r\nContent-Length: %d\r\n%s\r\n",
                 bytes[i], i == 2 ? "Expect: 100-continue\r\n" : "");
        client_send(c, text, strlen(text));
        if (i > 0)
            client_until(c, "\"code\":\"not-found\"");
        settle(f);
        assert_true(i > 0 || c->in.len == 0);
        client_close(c);
    }
}

/* Announced, never sent: the refusal does not wait for it. */
static void giant_bodies_are_refused_at_once(void **state)
{
    static const char big_upload[] =
        "PUT /api/v1/files/2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824 HTTP/1.1\r\n"
        "Host: q\r\nContent-Length: 1073741825\r\n\r\n";
    static const char *const requests[] = {
        "POST /api/v1/jobs HTTP/1.1\r\nHost: q\r\nContent-Length: 99999999999\r\n\r\n",
        "POST /api/v1/jobs HTTP/1.1\r\nHost: q\r\nContent-Length: 10000000\r\nExpect: 100-continue\r\n\r\n",
        big_upload,
    };
    struct fixture *f = *state;
    for (size_t i = 0; i < sizeof requests / sizeof *requests; i++) {
        struct client *c = client_open(f);
        client_send(c, requests[i], strlen(requests[i]));
        client_until(c, NULL);
        assert_error(parse(&c->in), 413, "limit");
        client_close(c);
    }
}

static void sends_without_end(struct fixture *f, const char *request)
{
    struct client *c = client_open(f);
    char piece[65536 + 9], head[256];
    size_t pieces = 0;
    snprintf(head, sizeof head, "%s HTTP/1.1\r\nHost: q\r\nTransfer-Encoding: chunked\r\n\r\n", request);
    client_send(c, head, strlen(head));
    memset(piece, ' ', sizeof piece);
    memcpy(piece, "10000\r\n", 7);
    memcpy(piece + 7 + 65536, "\r\n", 2);
    for (; !c->closed; pieces++) {
        assert_true(pieces < 1000);
        client_send(c, piece, sizeof piece);
        while (!c->closed && c->out.len > 0)
            qs_loop_run(f->loop);
    }
    client_close(c);
    is_alive(f);
}

/* A body in pieces has no length to look at: it is read up to a bound, then the connection is cut. */
static void a_body_without_end(void **state)
{
    struct fixture *f = *state;
    struct qs_err err;
    char sha[65], request[128];
    sends_without_end(f, "POST /api/v1/jobs:validate");
    assert_true(qs_files_put(f->files, "hello", 5, sha, &err)); /* what is here needs none */
    snprintf(request, sizeof request, "PUT /api/v1/files/%s", sha);
    sends_without_end(f, request);
}

static void a_continued_body(void **state)
{
    struct fixture *f = *state;
    struct client *c = client_open(f);
    char request[300];
    snprintf(request, sizeof request,
             "POST /api/v1/jobs:validate HTTP/1.1\r\nHost: q\r\nConnection: close\r\nContent-Length: %zu\r\n"
             "Expect: 100-continue\r\n\r\n",
             strlen(job_text));
    client_send(c, request, strlen(request));
    client_until(c, "100 Continue\r\n\r\n");
    qs_buf_clear(&c->in);
    client_send(c, job_text, strlen(job_text));
    client_until(c, NULL);
    struct answer a = parse(&c->in);
    assert_int_equal(a.status, 200);
    answer_done(&a);
    client_close(c);
}

/* Cut off anywhere, the daemon forgets them; what no HTTP is gets no answer that could be taken for one of
 * ours. */
static void truncated_requests(void **state)
{
    static const char upload[] =
        "PUT /api/v1/files/2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824 HTTP/1.1\r\n"
        "Host: q\r\nContent-Length: 5\r\n\r\nhel";
    static const char noise[] = "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n";
    struct fixture *f = *state;
    for (size_t n = 0; n < sizeof upload; n += 7) {
        struct client *c = client_open(f);
        client_send(c, upload, n);
        while (c->out.len > 0)
            qs_loop_run(f->loop);
        client_close(c);
    }
    struct client *c = client_open(f);
    client_send(c, noise, sizeof noise - 1);
    client_until(c, NULL);
    assert_null(strstr(c->in.data, " 200 "));
    client_close(c);
    is_alive(f);
    settle(f);
    assert_false(qs_files_has(f->files, "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"));
}

/* Clients that leave while their answer is being read, and a daemon that is stopped under others. */
static void nobody_waits(void **state)
{
    static const char ask[] = "GET /api/v1/jobs HTTP/1.1\r\nHost: q\r\n\r\n";
    struct fixture *f = *state;
    for (int i = 0; i < 30; i++) {
        struct client *c = client_open(f);
        client_send(c, ask, sizeof ask - 1);
        while (c->out.len > 0)
            qs_loop_run(f->loop);
        client_close(c);
    }
    is_alive(f);
    struct client *c[10];
    for (size_t i = 0; i < 10; i++) {
        c[i] = client_open(f);
        client_send(c[i], ask, sizeof ask - 1);
        while (c[i]->out.len > 0)
            qs_loop_run(f->loop);
    }
    qs_api_on_silence(f->api, true);
    struct client *held = client_open(f);
    client_send(held, ask, sizeof ask - 1);
    settle(f);
    stop_api(f);
    for (size_t i = 0; i < 10; i++)
        client_close(c[i]);
    client_until(held, NULL);
    client_close(held);
}

static void several_requests_on_one_connection(void **state)
{
    static const char ask[] = "GET /healthz HTTP/1.1\r\nHost: q\r\n\r\n"
                              "GET /api/v1/jobs HTTP/1.1\r\nHost: q\r\n\r\n"
                              "GET /nothing HTTP/1.1\r\nHost: q\r\n\r\n"
                              "GET /healthz HTTP/1.1\r\nHost: q\r\nConnection: close\r\n\r\n";
    struct fixture *f = *state;
    struct client *c = client_open(f);
    client_send(c, ask, sizeof ask - 1);
    client_until(c, NULL);
    size_t answers = 0;
    for (const char *at = c->in.data; (at = strstr(at, "HTTP/1.1 ")); at++)
        answers++;
    assert_int_equal(answers, 4);
    assert_non_null(strstr(c->in.data, "{\"jobs\":[],\"notice\":null}\n"));
    client_close(c);
}

/* One user leaves some to the others. */
static void connections_are_shared(void **state)
{
    static const char ask[] = "GET /healthz HTTP/1.1\r\nHost: q\r\nConnection: close\r\n\r\n";
    struct fixture *f = *state;
    (void)qs_loop_allow_files(f->loop, 4 * QS_API_CONNECTIONS);
    size_t share = f->api->most_connections - 64;
    struct client **c = calloc(share + 1, sizeof(struct client *));
    for (size_t i = 0; i <= share; i++) {
        c[i] = client_open(f);
        while (f->clients < i + 1)
            qs_loop_run(f->loop);
    }
    client_send(c[share], ask, sizeof ask - 1);
    client_until(c[share], "\"code\":\"resource\"");
    assert_non_null(strstr(c[share]->in.data, "503 Service Unavailable"));
    client_close(c[share]);
    client_close(c[0]);
    while (f->clients > share - 1)
        qs_loop_run(f->loop);
    is_alive(f);
    for (size_t i = 1; i < share; i++)
        client_close(c[i]);
    free(c);
}

/* Who takes for ever to say what he wants keeps no place; who waits for us does. */
static void slow_requests_are_cut(void **state)
{
    static const char *const begun[] = {
        "", "G", "GET /healthz HTTP/1.1\r\nHost: q\r\n",
        "POST /api/v1/jobs:validate HTTP/1.1\r\nHost: q\r\nContent-Length: 9\r\n\r\nquie",
        "GET /healthz HTTP/1.1\r\nHost: q\r\nContent-Length: 9\r\n\r\nrefu"};
    enum { MANY = sizeof begun / sizeof *begun };
    static const char stream[] = "GET /api/v1/events HTTP/1.1\r\nHost: q\r\n\r\n";
    struct fixture *f = *state;
    f->api->tick_ns = 1000000;
    struct client *listener = client_open(f), *c[MANY];
    client_send(listener, stream, sizeof stream - 1);
    client_until(listener, ": hello");
    qs_api_on_silence(f->api, true);
    for (size_t i = 0; i < MANY; i++) {
        c[i] = client_open(f);
        client_send(c[i], begun[i], strlen(begun[i]));
    }
    settle(f); /* no time passes in a silence */
    assert_int_equal(f->clients, MANY + 1);
    qs_api_on_silence(f->api, false);
    for (size_t i = 0; i < MANY; i++) {
        client_until(c[i], NULL);
        client_close(c[i]);
    }
    settle(f);
    assert_false(listener->closed);
    client_close(listener);
    f->api->tick_ns = INT64_C(5000000000);
    is_alive(f);
}

/* Bodies of all requests together are bounded; small ones still come through. */
static void bodies_share_their_memory(void **state)
{
    enum { LARGE = 48 * 1024 * 1024, MOST = QS_API_LARGE_BYTES / LARGE };
    struct fixture *f = *state;
    struct client *c[MOST + 1];
    char head[200];
    snprintf(head, sizeof head, "POST /api/v1/analyze HTTP/1.1\r\nHost: q\r\nContent-Length: %d\r\n\r\n{",
             LARGE);
    for (size_t i = 0; i <= MOST; i++) {
        c[i] = client_open(f);
        client_send(c[i], head, strlen(head));
        settle(f);
    }
    for (size_t i = 0; i < MOST; i++)
        assert_int_equal(c[i]->in.len, 0);
    client_until(c[MOST], "the bodies of requests under way use all of their 192 MiB");
    assert_non_null(strstr(c[MOST]->in.data, "503 Service Unavailable"));
    (void)submit(f); /* a small one */
    client_close(c[0]);
    while (f->clients > MOST) /* the refused one waits for the rest of what it sends */
        qs_loop_run(f->loop);
    client_close(c[MOST]);
    c[0] = client_open(f);
    client_send(c[0], head, strlen(head));
    settle(f);
    assert_int_equal(c[0]->in.len, 0);
    for (size_t i = 0; i < MOST; i++)
        client_close(c[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(addresses, setup, teardown),
        cmocka_unit_test_setup_teardown(methods, setup, teardown),
        cmocka_unit_test_setup_teardown(short_bodies_are_read_and_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(bodies_at_their_bounds, setup, teardown),
        cmocka_unit_test_setup_teardown(a_refusal_waits_for_so_much, setup, teardown),
        cmocka_unit_test_setup_teardown(giant_bodies_are_refused_at_once, setup, teardown),
        cmocka_unit_test_setup_teardown(a_body_without_end, setup, teardown),
        cmocka_unit_test_setup_teardown(a_continued_body, setup, teardown),
        cmocka_unit_test_setup_teardown(truncated_requests, setup, teardown),
        cmocka_unit_test_setup_teardown(nobody_waits, setup, teardown),
        cmocka_unit_test_setup_teardown(several_requests_on_one_connection, setup, teardown),
        cmocka_unit_test_setup_teardown(connections_are_shared, setup, teardown),
        cmocka_unit_test_setup_teardown(slow_requests_are_cut, setup, teardown),
        cmocka_unit_test_setup_teardown(bodies_share_their_memory, setup, teardown),
    };
    return cmocka_run_group_tests_name("hostile", tests, NULL, NULL);
}
