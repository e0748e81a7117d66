/* Clients that leave: what they asked for ends with them, whatever they sent before, and in a silence too. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "api/exchange.h"
#include "fixture.h"

static struct client *ask(struct fixture *f, const char *request)
{
    struct client *c = client_open(f);
    client_send(c, request, strlen(request));
    while (c->out.len > 0)
        qs_loop_run(f->loop);
    return c;
}

/* Nothing is sent meanwhile: the daemon has to notice by itself. */
static void until_alone(struct fixture *f)
{
    while (f->clients > 0)
        qs_loop_run(f->loop);
}

static const char stream[] = "GET /api/v1/events HTTP/1.1\r\nHost: q\r\n\r\n";
static const char list[] = "GET /api/v1/jobs HTTP/1.1\r\nHost: q\r\n\r\n";

static void a_stream_ends_behind_the_beginning_of_another_request(void **state)
{
    enum { MANY = 5 };
    struct fixture *f = *state;
    struct client *c[MANY];
    for (size_t i = 0; i < MANY; i++) {
        c[i] = ask(f, stream);
        client_until(c[i], ": hello");
        client_send(c[i], "G", 1);
        while (c[i]->out.len > 0)
            qs_loop_run(f->loop);
    }
    settle(f);
    assert_int_equal(f->clients, MANY);
    assert_int_equal(f->api->streams, MANY);
    for (size_t i = 0; i < MANY; i++)
        client_close(c[i]);
    until_alone(f);
    assert_int_equal(f->api->streams, 0);
}

static void a_silence_lets_go_whom_it_held(void **state)
{
    struct fixture *f = *state;
    struct client *listener = ask(f, stream);
    client_until(listener, ": hello");
    qs_api_on_silence(f->api, true);
    struct client *held = ask(f, list), *late = ask(f, stream);
    settle(f);
    assert_int_equal(f->clients, 3);
    client_close(held);
    client_close(late);
    client_close(listener);
    until_alone(f);
    assert_null(f->api->exchanges);
    qs_api_on_silence(f->api, false);
}

/* Who has said all he wants to say is still answered. */
static void a_client_that_will_send_no_more_is_answered(void **state)
{
    struct fixture *f = *state;
    qs_api_on_silence(f->api, true);
    struct client *c = ask(f, list);
    settle(f);
    assert_int_equal(shutdown(c->fd, SHUT_WR), 0);
    settle(f);
    assert_int_equal(f->clients, 1);
    qs_api_on_silence(f->api, false);
    client_until(c, "{\"jobs\":[],\"notice\":null}\n");
    client_close(c);
}

static struct client *analyse_many(struct fixture *f, const char *headers, int resamples, int per_series)
{
    struct qs_buf values, request;
    qs_buf_init(&values);
    qs_buf_init(&request);
    qs_buf_fmt(&values,
               "{\"options\":{\"resamples\":%d},\"files\":[{\"name\":\"a.csv\",\"text\":\"name,run,value",
               resamples);
    for (int series = 0; series < 50; series++)
        for (int i = 0; i < per_series; i++)
            qs_buf_fmt(&values, "\\ns%d,%d,%d", series, i / 10, 1000 + i * 7919 % 97);
    qs_buf_str(&values, "\"}]}");
    qs_buf_fmt(
        &request,
        "POST /api/v1/analyze HTTP/1.1\r\nHost: q\r\nContent-Type: application/json\r\n%sContent-Length: %zu"
        "\r\n\r\n%s",
        headers, values.len, values.data);
    struct client *c = ask(f, request.data);
    qs_buf_done(&values);
    qs_buf_done(&request);
    return c;
}

/* An analysis that would take minutes. */
static struct client *analyse_with(struct fixture *f, const char *headers)
{
    return analyse_many(f, headers, 100000, 1000);
}

static struct client *analyse(struct fixture *f)
{
    return analyse_with(f, "");
}

/* Who leaves while it is computed ends it; who has its beginning and will send no more gets the rest. */
static void a_long_answer_goes_on_to_who_will_send_no_more(void **state)
{
    struct fixture *f = *state;
    struct client *c = analyse_many(f, "", 100, 20);
    client_until(c, "200 OK");
    assert_int_equal(shutdown(c->fd, SHUT_WR), 0);
    settle(f);
    client_until(c, NULL);
    struct answer a = parse(&c->in);
    assert_true(a.body.len > 500000); /* more than a socket took at once */
    assert_non_null(a.json);
    answer_done(&a);
    client_close(c);
}

static void tick(void *user)
{
    qs_loop_stop(user);
}

static void run_a_moment(struct fixture *f)
{
    (void)qs_timer_start(f->loop, 1000000, tick, f->loop);
    qs_loop_run(f->loop);
}

/* Until so many requests have works on their way. */
static void until_busy(struct fixture *f, size_t count)
{
    for (size_t busy = 0; busy < count; run_a_moment(f)) {
        busy = 0;
        for (const struct qs_exchange *ex = f->api->exchanges; ex; ex = ex->next)
            busy += ex->busy > 0 ? 1 : 0;
    }
}

static void an_analysis_ends_with_its_client(void **state)
{
    struct fixture *f = *state;
    struct client *c = analyse(f);
    until_busy(f, 1);
    client_close(c);
    while (f->api->outstanding > 0)
        run_a_moment(f);
    assert_null(f->api->exchanges);
}

/* Who follows a long one hears of it again and again. */
static void progress_goes_on(void **state)
{
    struct fixture *f = *state;
    struct client *c = analyse_with(f, "Accept: text/event-stream\r\n");
    for (int heard = 0; heard < 3; heard++) {
        client_until(c, "event: progress\n");
        client_until(c, "}\n\n");
        qs_buf_clear(&c->in);
    }
    client_close(c);
    while (f->api->outstanding > 0)
        run_a_moment(f);
}

/* A window is to open on this machine: the work rests, and its client's leaving is noticed at once. */
static void an_analysis_rests_in_a_silence_and_ends_after_it(void **state)
{
    struct fixture *f = *state;
    struct client *c = analyse(f);
    until_busy(f, 1);
    assert_true(qs_loop_is_working(f->loop));
    qs_api_on_silence(f->api, true);
    qs_loop_hold_works(f->loop);
    while (qs_loop_is_working(f->loop))
        run_a_moment(f);
    assert_int_equal(f->api->outstanding, 1);
    client_close(c);
    until_alone(f);
    qs_loop_release_works(f->loop);
    qs_api_on_silence(f->api, false);
    while (f->api->outstanding > 0)
        run_a_moment(f);
}

/* Two are computed; the third waits, says so, and hinders no short read. */
static void a_third_computation_waits_and_says_so(void **state)
{
    static const char followed[] =
        "GET /api/v1/compare?base=1:a&candidate=1:b HTTP/1.1\r\nHost: q\r\nAccept: text/event-stream\r\n\r\n";
    struct fixture *f = *state;
    struct client *c[2] = {analyse(f), analyse(f)};
    until_busy(f, 2);
    struct client *third = ask(f, followed);
    client_until(third, "\"stage\":\"waiting_for_other_computations\"");
    struct answer a = get(f, "/api/v1/jobs");
    assert_int_equal(a.status, 200);
    answer_done(&a);
    client_close(c[0]);
    client_close(c[1]);
    client_until(third, "event: error"); /* its turn has come: there is no job 1 */
    client_close(third);
}

/* What was committed is known: the job's first window may hold every reader before the answer is out. */
static void a_submission_waits_for_no_reader(void **state)
{
    static const char one[] = "GET /api/v1/jobs/1 HTTP/1.1\r\nHost: q\r\n\r\n";
    struct fixture *f = *state;
    f->farm.holds = f->loop; /* from when the job is handed over, which it is after works of its own */
    (void)submit(f);
    f->farm.holds = NULL;
    struct client *reader = ask(f, one);
    until_busy(f, 1);
    assert_int_equal(f->api->outstanding, 1); /* a reader would wait still */
    qs_loop_release_works(f->loop);
    client_until(reader, "\"state\":\"queued\"");
    client_close(reader);
}

/* What is as long as a job's document is read and written by works: while none begins, nothing is answered.
 */
static void documents_of_jobs_are_read_by_works(void **state)
{
    static const struct {
        const char *target, *body, *answer;
    } rows[] = {{"/api/v1/jobs:validate", "{", "\"what\":\"not JSON: "},
                {"/api/v1/jobs", "{\"text\":\"{\"}", "\"what\":\"not JSON: "},
                {"/api/v1/jobs", "{", "the request is not valid JSON"}};
    struct fixture *f = *state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char request[200];
        snprintf(request, sizeof request, "POST %s HTTP/1.1\r\nHost: q\r\nContent-Length: %zu\r\n\r\n%s",
                 rows[i].target, strlen(rows[i].body), rows[i].body);
        qs_loop_hold_works(f->loop);
        struct client *c = ask(f, request);
        while (!f->api->exchanges || f->api->exchanges->busy == 0) {
            if (c->in.len > 0)
                fail_msg("%s was answered without a work: %s", rows[i].target, c->in.data);
            run_a_moment(f);
        }
        qs_loop_release_works(f->loop);
        client_until(c, rows[i].answer);
        client_close(c);
    }
}

/* The only request waits with its computation not begun. */
static const struct qs_exchange *begin_held(struct fixture *f, const char *target, struct client **ret)
{
    char request[160];
    snprintf(request, sizeof request, "GET %s HTTP/1.1\r\nHost: q\r\n\r\n", target);
    qs_loop_hold_works(f->loop);
    *ret = ask(f, request);
    until_busy(f, 1);
    return f->api->exchanges;
}

/* What is made of a job's runs asks whether to go on from its beginning to its end, in whatever form it is
 * told: so it rests and ends as an analysis does. The silence keeps the answer until it was looked at. */
static void documents_of_a_job_ask_whether_to_go_on(void **state)
{
    static const char *const targets[] = {
        "/api/v1/jobs/1/compare?rule=all", "/api/v1/jobs/1/export?format=json",
        "/api/v1/jobs/1/export?format=markdown", "/api/v1/jobs/1/report", "/api/v1/jobs/2/reproduction"};
    struct fixture *f = *state;
    int64_t job = submit(f);
    measure(f, job, 8, 5);
    set_state(f, job, QS_JOB_DONE);
    struct answer again = fetch(f, "POST", "/api/v1/jobs/1:reproduce", NULL, "", 0);
    set_state(f, int_at(&again, "id"), QS_JOB_DONE);
    answer_done(&again);
    for (size_t i = 0; i < sizeof targets / sizeof *targets; i++) {
        struct client *c;
        const struct qs_exchange *ex = begin_held(f, targets[i], &c);
        assert_int_equal(atomic_load(&ex->steps.done), 0);
        qs_api_on_silence(f->api, true);
        qs_loop_release_works(f->loop);
        while (!ex->replied)
            run_a_moment(f);
        assert_int_equal(ex->status, 200);
        assert_non_null(atomic_load(&ex->steps.stage));
        assert_int_equal(atomic_load(&ex->steps.done), 1000000000);
        qs_api_on_silence(f->api, false);
        client_close(c);
        until_alone(f);
    }
}

/* Who follows hears how far it is, and at the end the document of the plain answer, or the refusal. */
static void who_follows_hears_progress_and_the_document(void **state)
{
    static const struct {
        const char *target, *end;
    } rows[] = {{"/api/v1/jobs/1/compare", "event: result\ndata: "},
                {"/api/v1/jobs/1/report", "event: result\ndata: "},
                {"/api/v1/compare?base=1:a&candidate=1:b", "event: result\ndata: "},
                {"/api/v1/history", "event: result\ndata: "},
                {"/api/v1/jobs/2/report", "event: error\ndata: {\"status\":404,"}};
    struct fixture *f = *state;
    int64_t job = submit(f);
    measure(f, job, 8, 5);
    set_state(f, job, QS_JOB_DONE);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct answer plain = get(f, rows[i].target);
        struct answer deaf = fetch(f, "GET", rows[i].target, "Accept: application/json\r\n", NULL, 0);
        struct answer a = fetch(f, "GET", rows[i].target, "Accept: text/event-stream, */*\r\n", NULL, 0);
        assert_string_equal(deaf.body.data, plain.body.data);
        assert_int_equal(a.status, 200);
        assert_non_null(strstr(a.head.data, "Content-Type: text/event-stream\r\n"));
        const char *end = strstr(a.body.data, rows[i].end);
        assert_non_null(end);
        end += strlen(rows[i].end);
        const char *whole = plain.body.data + (i == 4 ? 1 : 0);
        assert_memory_equal(end, whole, strlen(whole) - 1);
        assert_string_equal(end + strlen(whole) - 1, "\n\n");
        for (const char *at = a.body.data; at + strlen(rows[i].end) != end; at = strstr(at, "\n\n") + 2) {
            char stage[64];
            double share;
            assert_int_equal(sscanf(at,
                                    "event: progress\ndata: {\"stage\":\"%63[a-z_ ]\",\"done_ratio\":%lf}",
                                    stage, &share),
                             2);
            assert_true(share >= 0 && share <= 1);
        }
        assert_true(i > 2 || strstr(a.body.data, "\"done_ratio\":1}\n\nevent: result"));
        answer_done(&plain);
        answer_done(&deaf);
        answer_done(&a);
    }
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(a_stream_ends_behind_the_beginning_of_another_request),
        CASE(a_silence_lets_go_whom_it_held),
        CASE(a_client_that_will_send_no_more_is_answered),
        CASE(a_long_answer_goes_on_to_who_will_send_no_more),
        CASE(an_analysis_ends_with_its_client),
        CASE(progress_goes_on),
        CASE(an_analysis_rests_in_a_silence_and_ends_after_it),
        CASE(a_third_computation_waits_and_says_so),
        CASE(a_submission_waits_for_no_reader),
        CASE(documents_of_jobs_are_read_by_works),
        CASE(documents_of_a_job_ask_whether_to_go_on),
        CASE(who_follows_hears_progress_and_the_document),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
