/* Each step of SQLite that an answer needs fails once: the client is told so with 500, or where the answer
 * has begun, it does not end; and the same request again is answered as before. */
#include <sqlite3.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "world.h"

static atomic_int fails_at; /* so many calls until one fails; 0: none does */

static bool fails(void)
{
    int before = atomic_load(&fails_at);
    if (before > 0)
        atomic_store(&fails_at, before - 1);
    return before == 1;
}

int __real_sqlite3_step(sqlite3_stmt *s);
int __wrap_sqlite3_step(sqlite3_stmt *s);
int __wrap_sqlite3_step(sqlite3_stmt *s)
{
    return fails() ? SQLITE_ERROR : __real_sqlite3_step(s);
}

static const char *const targets[] = {
    "/api/v1/jobs",
    "/api/v1/jobs/1",
    "/api/v1/jobs/1/runs",
    "/api/v1/runs/01230000000000000000000000000000",
    "/api/v1/runs/01230000000000000000000000000000/iterations?limit=3",
    "/api/v1/jobs/2/compare",
    "/api/v1/compare?base=2:base&candidate=2:v2&metric=frames",
    "/api/v1/jobs/2/report",
    "/api/v1/runs/01230000000000000000000000000000/report",
    "/api/v1/jobs/2/reproduce",
    "/api/v1/jobs/2/reproduction",
    "/api/v1/builds",
    "/api/v1/devices/local",
    "/api/v1/history?limit=2",
    "/api/v1/history?limit=2&build=v2",
    HISTORY_OF_BASE "?metric=frames",
    "/api/v1/jobs/2/export?format=json",
    "/api/v1/jobs/2/export?format=markdown",
    "/api/v1/jobs/2/export?format=csv",
    "/api/v1/jobs/1/events?after=2",
    "/api/v1/jobs/2/events?after=6",
};

/* All that the daemon sends, from behind the date. */
static void ask(struct fixture *f, const char *target, struct qs_buf *out)
{
    char request[300];
    struct client *c = client_open(f);
    snprintf(request, sizeof request, "GET %s HTTP/1.1\r\nHost: q\r\nConnection: close\r\n\r\n", target);
    client_send(c, request, strlen(request));
    client_until(c, NULL);
    const char *date = strstr(c->in.data, "\r\nDate: ");
    assert_non_null(date);
    qs_buf_clear(out);
    qs_buf_add(out, c->in.data, (size_t)(date - c->in.data));
    date = strstr(date + 2, "\r\n");
    qs_buf_add(out, date, c->in.len - (size_t)(date - c->in.data));
    client_close(c);
}

/* Returns how many steps the answer takes. */
static int fail_through(struct fixture *f, const char *target)
{
    struct qs_buf whole, got;
    qs_buf_init(&whole);
    qs_buf_init(&got);
    ask(f, target, &got);
    store_event(f, 0, "kept", "{}"); /* behind what that answer gave the store to keep */
    ask(f, target, &whole);
    assert_non_null(strstr(whole.data, "HTTP/1.1 200 "));
    for (int at = 1;; at += 1 + at / 16) { /* of many rows, ever fewer */
        atomic_store(&fails_at, at);
        ask(f, target, &got);
        if (atomic_exchange(&fails_at, 0) > 0) {
            assert_string_equal(got.data, whole.data);
            qs_buf_done(&whole);
            qs_buf_done(&got);
            return at;
        }
        bool told = strstr(got.data, "HTTP/1.1 500 ") && strstr(got.data, "\"code\":\"internal\"");
        bool cut = strstr(got.data, "Transfer-Encoding: chunked") && !strstr(got.data, "\r\n0\r\n\r\n");
        if (!told && !cut)
            fail_msg("%s, step %d: %s", target, at, got.data);
    }
}

/* What is stored, or is not: a failed step of its commit is told, and the same again succeeds. */
static void each_step_of_a_change_fails(void **state)
{
    static const struct {
        const char *method, *target, *body;
        int status;
    } rows[] = {
        {"PUT", "/api/v1/files/" SHA_OF_HELLO, "hello", 201},
        {"POST", "/api/v1/jobs", "{\"text\":\"quiesce: 1\\nbenchmarks: [{name: x, argv: [x]}]\"}", 201},
        {"POST", "/api/v1/jobs/1:reproduce", NULL, 201},
        {"POST", "/api/v1/jobs/6:cancel", NULL, 200}};
    struct fixture *f = *state;
    char forget[128];
    world_make(f);
    f->farm.live = 6;
    snprintf(forget, sizeof forget, "rm -r '%s/files/%.2s'", f->dir, SHA_OF_HELLO);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        int failed = 0;
        for (int left = 0; left == 0; failed++) {
            if (i == 0) /* it is to be stored anew */
                assert_int_equal(system(forget), 0);
            atomic_store(&fails_at, failed + 1);
            struct answer a = fetch(f, rows[i].method, rows[i].target, NULL, rows[i].body,
                                    rows[i].body ? strlen(rows[i].body) : 0);
            left = atomic_exchange(&fails_at, 0);
            assert_int_equal(a.status, left > 0 ? rows[i].status : 500);
            assert_true(left > 0 || strstr(a.body.data, "\"code\":\"internal\""));
            answer_done(&a);
        }
        assert_true(failed > 1); /* the last one is the success */
    }
}

static void each_step_of_an_answer_fails(void **state)
{
    struct fixture *f = *state;
    world_make(f);
    for (size_t i = 0; i < sizeof targets / sizeof *targets; i++)
        assert_true(fail_through(f, targets[i]) > 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(each_step_of_an_answer_fails, setup, teardown),
        cmocka_unit_test_setup_teardown(each_step_of_a_change_fails, setup, teardown),
    };
    return cmocka_run_group_tests_name("failing", tests, NULL, NULL);
}
