/* Streams: resumed, complete however slow their reader is, silent in a window, bounded, and gone when their
 * client is. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/api_impl.h"
#include "api/exchange.h"
#include "fixture.h"

static const char running[] = "{\"state\":\"running\"}", done[] = "{\"state\":\"done\"}";

static struct client *listen_to(struct fixture *f, const char *target, const char *headers)
{
    char request[300];
    struct client *c = client_open(f);
    snprintf(request, sizeof request, "GET %s HTTP/1.1\r\nHost: q\r\nConnection: close\r\n%s\r\n", target,
             headers ? headers : "");
    client_send(c, request, strlen(request));
    return c;
}

/* The stream's text; the client is closed. */
static struct answer finish(struct client *c)
{
    client_until(c, NULL);
    struct answer a = parse(&c->in);
    client_close(c);
    return a;
}

/* Numbers of the events in a stream, checked to grow; returns how many. */
static size_t count_events(const char *text, int64_t *first, int64_t *last)
{
    size_t n = 0;
    *first = *last = 0;
    for (const char *at = strstr(text, "id: "); at; at = strstr(at + 1, "\nid: ")) {
        long long id = strtoll(strstr(at, "id: ") + 4, NULL, 10);
        assert_true(id > *last);
        *first = n == 0 ? id : *first;
        *last = id;
        n++;
    }
    return n;
}

/* Events of a job, committed together. */
static void store_many(struct fixture *f, int64_t job, size_t n)
{
    const struct qs_event_row row = {.wall_ns = 77, .kind = "run.done", .job = job, .body_json = "{}"};
    for (size_t i = 1; i < n; i++)
        qs_store_event(f->store, &row, NULL, NULL);
    store_event(f, job, "run.done", "{}");
}

static void a_stream_follows_a_job_to_its_end(void **state)
{
    struct fixture *f = *state;
    int64_t job = submit(f), other = submit(f);
    happen(f, job, "job.state", running);
    struct client *c = listen_to(f, "/api/v1/jobs/1/events", NULL);
    client_until(c, "running");
    happen(f, other, "job.state", done);
    happen(f, job, "run.done", "{\"run\":\"x\"}");
    client_until(c, "event: run.done\ndata: {");
    set_state(f, job, QS_JOB_DONE);
    happen(f, job, "job.state", done);
    struct answer a = finish(c);
    assert_int_equal(a.status, 200);
    assert_non_null(strstr(a.head.data, "Content-Type: text/event-stream"));
    assert_memory_equal(a.body.data, ": hello\n\nid: ", 13);
    int64_t first, last;
    assert_int_equal(count_events(a.body.data, &first, &last), 3);
    assert_int_equal(last, f->last_event);
    const char *data = strstr(a.body.data, "event: run.done\ndata: ") + strlen("event: run.done\ndata: ");
    json_t *body = json_loadb(data, strcspn(data, "\n"), 0, NULL);
    assert_int_equal(json_integer_value(json_object_get(body, "job")), job);
    assert_int_equal(json_integer_value(json_object_get(body, "wall_ns")), 77);
    assert_string_equal(json_string_value(json_object_get(body, "run")), "x");
    json_decref(body);
    answer_done(&a);
}

static void a_stream_goes_on_where_it_stopped(void **state)
{
    struct fixture *f = *state;
    int64_t first, last, job = submit(f);
    char header[64];
    for (int i = 0; i < 5; i++)
        store_event(f, job, "run.done", "{}");
    int64_t seen = f->last_event - 2;
    set_state(f, job, QS_JOB_DONE);
    store_event(f, job, "job.state", done);
    snprintf(header, sizeof header, "Last-Event-ID: %lld\r\n", (long long)seen);
    struct answer a = finish(listen_to(f, "/api/v1/jobs/1/events?after=0", header));
    assert_int_equal(count_events(a.body.data, &first, &last), 3);
    assert_int_equal(first, seen + 1);
    answer_done(&a);
    snprintf(header, sizeof header, "/api/v1/jobs/1/events?after=%lld", (long long)seen + 1);
    a = finish(listen_to(f, header, NULL));
    assert_int_equal(count_events(a.body.data, &first, &last), 2);
    answer_done(&a);
    /* Who has seen the end already is not kept waiting. */
    snprintf(header, sizeof header, "/api/v1/jobs/1/events?after=%lld", (long long)f->last_event);
    a = finish(listen_to(f, header, NULL));
    assert_string_equal(a.body.data, ": hello\n\n");
    answer_done(&a);
}

/* A daemon that died between the state and its event leaves a job without an end in its events. */
static void a_job_that_ended_in_a_former_life(void **state)
{
    struct fixture *f = *state;
    int64_t job = submit(f);
    store_event(f, job, "job.state", running);
    char target[64];
    snprintf(target, sizeof target, "/api/v1/jobs/1/events?after=%lld", (long long)f->last_event);
    set_state(f, job, QS_JOB_FAILED);
    stop_api(f);
    settle(f);
    start_api(f);
    struct answer a = finish(listen_to(f, target, NULL));
    assert_string_equal(a.body.data, ": hello\n\n");
    answer_done(&a);
}

static void wrong_streams(void **state)
{
    struct fixture *f = *state;
    (void)submit(f);
    assert_error(get(f, "/api/v1/jobs/2/events"), 404, "not-found");
    assert_error(get(f, "/api/v1/jobs/1/events?after=-1"), 400, "usage");
    assert_error(fetch(f, "GET", "/api/v1/events", "Last-Event-ID: x\r\n", NULL, 0), 400, "usage");
    struct answer a = fetch(f, "HEAD", "/api/v1/events", NULL, NULL, 0);
    assert_int_equal(a.status, 405);
    answer_done(&a);
}

/* More than a socket and a queue hold, with a reader that does not read: nothing is lost or doubled. */
static void a_slow_reader_misses_nothing(void **state)
{
    enum { EVENTS = 1500, BYTES = 400 };
    struct fixture *f = *state;
    int64_t first, last, job = submit(f);
    char body[BYTES + 20] = "{\"t\":\"";
    memset(body + 6, 'x', BYTES);
    strcpy(body + 6 + BYTES, "\"}");
    struct client *c = listen_to(f, "/api/v1/jobs/1/events", NULL);
    client_until(c, ": hello");
    assert_true(qs_io_update(c->io, 0, NULL));
    for (int i = 0; i < EVENTS; i++)
        happen(f, job, "run.done", body);
    set_state(f, job, QS_JOB_DONE);
    happen(f, job, "job.state", done);
    assert_true(qs_io_update(c->io, QS_IO_READ, NULL));
    struct answer a = finish(c);
    assert_int_equal(count_events(a.body.data, &first, &last), EVENTS + 1);
    assert_int_equal(last, f->last_event);
    answer_done(&a);
}

/* A long history is read in pages, and what happens meanwhile follows it. */
static void a_late_start_catches_up(void **state)
{
    enum { BEFORE = 700 };
    struct fixture *f = *state;
    int64_t first, last, job = submit(f);
    store_many(f, job, BEFORE);
    struct client *c = listen_to(f, "/api/v1/events?after=0", NULL);
    client_until(c, ": hello");
    happen(f, 0, "device.state", "{\"state\":\"ready\"}");
    client_until(c, "device.state\ndata: {\"state\":\"ready\",\"wall_ns\":77}\n\n");
    settle(f);
    assert_false(c->closed);
    stop_api(f);
    client_until(c, NULL);
    assert_int_equal(count_events(c->in.data, &first, &last), BEFORE + 1);
    client_close(c);
}

/* It was stored and read before it is told. */
static void an_event_is_sent_once(void **state)
{
    struct fixture *f = *state;
    int64_t first, last, job = submit(f);
    store_event(f, job, "run.done", "{}");
    struct client *c = listen_to(f, "/api/v1/jobs/1/events", NULL);
    client_until(c, "run.done");
    const struct qs_farm_event told = {
        .id = f->last_event, .wall_ns = 77, .job = job, .kind = "run.done", .body_json = "{}"};
    qs_api_on_farm_event(f->api, &told);
    qs_api_on_farm_event(f->api, &told);
    set_state(f, job, QS_JOB_DONE);
    happen(f, job, "job.state", done);
    struct answer a = finish(c);
    assert_int_equal(count_events(a.body.data, &first, &last), 2);
    answer_done(&a);
}

static void tell(struct fixture *f, int64_t id, int64_t job, const char *kind, const char *body)
{
    const struct qs_farm_event event = {.id = id, .wall_ns = 7, .job = job, .kind = kind, .body_json = body};
    qs_api_on_farm_event(f->api, &event);
}

/* What is told without a number is of now: who listens to its job, or to all, hears it as it is, and once. */
static void news_of_now_have_no_number(void **state)
{
    static const char news[] = "event: job.waiting\ndata: {\"why\":\"full\",\"wall_ns\":7,\"job\":1}\n\n";
    static const char *const targets[] = {"/api/v1/jobs/1/events", "/api/v1/jobs/2/events", "/api/v1/events"};
    struct fixture *f = *state;
    struct client *c[3];
    (void)submit(f);
    (void)submit(f);
    for (size_t i = 0; i < 3; i++) {
        c[i] = listen_to(f, targets[i], NULL);
        client_until(c[i], ": hello");
    }
    settle(f);
    tell(f, 0, 1, "job.waiting", "{\"why\":\"full\"}");
    tell(f, 0, 1, "job.state", "{\"state\":\"running\"}");
    client_until(c[0], "running");
    client_until(c[2], "running");
    settle(f);
    assert_null(strstr(c[1]->in.data, "event:"));
    for (size_t i = 0; i < 3; i += 2) {
        assert_non_null(strstr(c[i]->in.data, news));
        assert_null(strstr(strstr(c[i]->in.data, news) + strlen(news), "job.waiting"));
        assert_null(strstr(c[i]->in.data, "id: "));
    }
    for (size_t i = 0; i < 3; i++)
        client_close(c[i]);
}

/* An event without a body stands for those that the store has up to its number. */
static void news_are_read_from_the_store(void **state)
{
    struct fixture *f = *state;
    int64_t first, last, job = submit(f);
    struct client *c = listen_to(f, "/api/v1/jobs/1/events", NULL);
    client_until(c, ": hello");
    settle(f);
    store_event(f, job, "run.done", "{\"n\":1}");
    set_state(f, job, QS_JOB_DONE);
    store_event(f, job, "job.state", done);
    tell(f, f->last_event, job, "job.state", NULL);
    struct answer a = finish(c);
    assert_int_equal(count_events(a.body.data, &first, &last), 2);
    assert_non_null(strstr(a.body.data, "event: run.done\ndata: {\"n\":1,\"wall_ns\":77,\"job\":1}\n\n"));
    answer_done(&a);
}

/* What is told while older events are not read yet comes in its turn, once. */
static void news_do_not_overtake(void **state)
{
    enum { MANY = 600 };
    struct fixture *f = *state;
    int64_t first, last, job = submit(f);
    store_many(f, job, MANY);
    struct client *c = listen_to(f, "/api/v1/events", NULL);
    client_until(c, ": hello"); /* a page of them is read */
    tell(f, f->last_event, job, "run.done", "{}");
    tell(f, f->last_event - 1, job, "run.done", "{}");
    happen(f, job, "run.done", "{\"end\":1}");
    client_until(c, "\"end\"");
    settle(f);
    assert_int_equal(count_events(c->in.data, &first, &last), MANY + 1);
    assert_int_equal(last, f->last_event);
    client_close(c);
}

/* The end is looked for among all that its client has seen, however much that is. */
static void an_end_that_was_seen_long_ago(void **state)
{
    enum { MANY = 256 };
    struct fixture *f = *state;
    char target[64];
    int64_t job = submit(f);
    store_many(f, job, MANY);
    set_state(f, job, QS_JOB_DONE);
    store_event(f, job, "job.state", done);
    snprintf(target, sizeof target, "/api/v1/jobs/1/events?after=%lld", (long long)f->last_event);
    struct answer a = finish(listen_to(f, target, NULL));
    assert_string_equal(a.body.data, ": hello\n\n");
    answer_done(&a);
    /* Where it was not among them it is waited for. */
    snprintf(target, sizeof target, "/api/v1/jobs/2/events?after=%lld", (long long)f->last_event);
    (void)submit(f);
    set_state(f, 2, QS_JOB_FAILED);
    struct client *c = listen_to(f, target, NULL);
    client_until(c, ": hello");
    settle(f);
    assert_false(c->closed);
    happen(f, 2, "job.state", "{\"state\":\"failed\"}");
    a = finish(c);
    assert_non_null(strstr(a.body.data, "\"state\":\"failed\""));
    answer_done(&a);
}

static void silence_holds_streams_and_requests(void **state)
{
    struct fixture *f = *state;
    int64_t job = submit(f);
    f->farm.live = job;
    struct client *c = listen_to(f, "/api/v1/jobs/1/events", NULL);
    client_until(c, ": hello");
    qs_api_on_silence(f->api, true);
    size_t before = c->in.len;
    happen(f, job, "run.done", "{}");
    struct client *held = listen_to(f, "/api/v1/jobs/1", NULL);
    struct client *late = listen_to(f, "/api/v1/jobs/1/events", NULL);
    settle(f);
    assert_false(qs_api_is_answering(f->api)); /* a stream is nothing that a window waits for */
    for (struct qs_exchange *ex = f->api->exchanges; ex; ex = ex->next) {
        qs_exchange_wake(ex); /* by news, or by an answer: it does not even look up */
        assert_true(ex->suspended);
    }
    assert_false(f->api->run_posted);
    assert_int_equal(c->in.len, before);
    assert_int_equal(held->in.len, 0);
    assert_int_equal(late->in.len, 0);
    struct answer a = fetch(f, "POST", "/api/v1/jobs/1:cancel", NULL, NULL, 0);
    assert_int_equal(a.status, 200);
    answer_done(&a);
    a = get(f, "/healthz");
    assert_int_equal(a.status, 200);
    answer_done(&a);
    qs_api_on_silence(f->api, false);
    client_until(c, "run.done");
    client_until(late, "run.done");
    a = finish(held);
    assert_int_equal(a.status, 200);
    answer_done(&a);
    client_close(c);
    client_close(late);
}

/* Silence begins while an upload is coming. */
static void silence_holds_an_upload(void **state)
{
    static const char sha[] = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824";
    struct fixture *f = *state;
    char request[300];
    struct client *c = client_open(f);
    snprintf(request, sizeof request,
             "PUT /api/v1/files/%s HTTP/1.1\r\nHost: q\r\nConnection: close\r\nContent-Length: 5\r\n\r\nhel",
             sha);
    client_send(c, request, strlen(request));
    settle(f);
    qs_api_on_silence(f->api, true);
    client_send(c, "lo", 2);
    settle(f);
    assert_int_equal(c->in.len, 0);
    qs_api_on_silence(f->api, false);
    struct answer a = finish(c);
    assert_int_equal(a.status, 201);
    answer_done(&a);
}

static void streams_are_bounded_and_let_go(void **state)
{
    struct fixture *f = *state;
    (void)qs_loop_allow_files(f->loop, 4 * QS_API_CONNECTIONS);
    size_t most = f->api->most_streams, many = most + 20, open = 0;
    struct client **c = calloc(many, sizeof(struct client *));
    for (size_t i = 0; i < many; i++) {
        c[i] = listen_to(f, "/api/v1/events", NULL);
        client_until(c[i], "\r\n\r\n");
        open += strstr(c[i]->in.data, "200 OK") ? 1 : 0;
        assert_true(strstr(c[i]->in.data, "200 OK") || strstr(c[i]->in.data, "503 Service Unavailable"));
    }
    assert_int_equal(open, most);
    assert_int_equal(most, QS_API_STREAMS);
    struct answer a = get(f, "/healthz");
    assert_int_equal(a.status, 200);
    answer_done(&a);
    for (size_t i = 0; i < many; i++)
        client_close(c[i]);
    free(c);
    while (f->clients > 0) /* noticed without anything being written */
        qs_loop_run(f->loop);
    struct client *again = listen_to(f, "/api/v1/events", NULL);
    client_until(again, ": hello");
    client_close(again);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_stream_follows_a_job_to_its_end, setup, teardown),
        cmocka_unit_test_setup_teardown(a_stream_goes_on_where_it_stopped, setup, teardown),
        cmocka_unit_test_setup_teardown(a_job_that_ended_in_a_former_life, setup, teardown),
        cmocka_unit_test_setup_teardown(wrong_streams, setup, teardown),
        cmocka_unit_test_setup_teardown(a_slow_reader_misses_nothing, setup, teardown),
        cmocka_unit_test_setup_teardown(a_late_start_catches_up, setup, teardown),
        cmocka_unit_test_setup_teardown(an_event_is_sent_once, setup, teardown),
        cmocka_unit_test_setup_teardown(news_of_now_have_no_number, setup, teardown),
        cmocka_unit_test_setup_teardown(news_are_read_from_the_store, setup, teardown),
        cmocka_unit_test_setup_teardown(news_do_not_overtake, setup, teardown),
        cmocka_unit_test_setup_teardown(an_end_that_was_seen_long_ago, setup, teardown),
        cmocka_unit_test_setup_teardown(silence_holds_streams_and_requests, setup, teardown),
        cmocka_unit_test_setup_teardown(silence_holds_an_upload, setup, teardown),
        cmocka_unit_test_setup_teardown(streams_are_bounded_and_let_go, setup, teardown),
    };
    return cmocka_run_group_tests_name("events", tests, NULL, NULL);
}
