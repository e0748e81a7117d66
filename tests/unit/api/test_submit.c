/* Submissions: each member and header at its bounds, files by content, and what comes back. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/api_impl.h"
#include "base/mem.h"
#include "world.h"

static struct answer post(struct fixture *f, const char *headers, const json_t *body)
{
    char *text = json_dumps(body, 0);
    struct answer a = fetch(f, "POST", "/api/v1/jobs", headers, text, strlen(text));
    free(text);
    return a;
}

static const char *message_of(const struct answer *a)
{
    return json_string_value(json_object_get(json_object_get(a->json, "error"), "message"));
}

/* With one more member (stolen); `says` NULL: it is stored. */
static void with(struct fixture *f, const char *key, json_t *value, const char *says)
{
    json_t *body = json_pack("{s:s}", "text", job_text);
    json_object_set_new(body, key, value);
    struct answer a = post(f, NULL, body);
    json_decref(body);
    if (says && (!message_of(&a) || strncmp(message_of(&a), says, strlen(says)) != 0))
        fail_msg("%s: %s", key, a.body.data);
    if (says) {
        assert_error(a, 400, "usage");
        return;
    }
    assert_int_equal(a.status, 201);
    answer_done(&a);
}

static json_t *letters(size_t n)
{
    char text[600];
    memset(text, 'n', n);
    return json_stringn(text, n);
}

static json_t *many_files(size_t n)
{
    json_t *files = json_object();
    for (size_t i = 0; i < n; i++) {
        char path[24];
        snprintf(path, sizeof path, "%zu", i);
        json_object_set_new(files, path, json_string(SHA_OF_HELLO));
    }
    return files;
}

static void members_are_bounded(void **state)
{
    static const char name[] = "`name` is the name of the file, 1 to 255 bytes",
                      wait[] = "`wait` is true or false",
                      files[] = "`files` is an object of path and SHA-256, at most 1000",
                      sha[] = "files: `a` needs a SHA-256, 64 lower-case hex digits";
    struct fixture *f = *state;
    with(f, "name", letters(0), name);
    with(f, "name", letters(1), NULL);
    with(f, "name", letters(255), NULL);
    with(f, "name", letters(256), name);
    with(f, "name", json_integer(7), name);
    with(f, "wait", json_integer(0), wait);
    with(f, "wait", json_null(), wait);
    with(f, "files", json_array(), files);
    with(f, "files", many_files(1000), NULL);
    with(f, "files", many_files(1001), files);
    with(f, "files", json_pack("{s:s}", "a", SHA_OF_ARM), NULL);
    with(f, "files", json_pack("{s:s}", "a", SHA_OF_ARM "a"), sha);
    with(f, "files", json_pack("{s:s}", "a", &SHA_OF_ARM[1]), sha);
    with(f, "files",
         json_pack("{s:s}", "a", "ABABABABABABABABABABABABABABABABABABABABABABABABABABABABABABABAB"), sha);
    with(f, "files", json_pack("{s:i}", "a", 7), sha);
    with(f, "text", json_integer(7), "the request needs `text`, the job file as it was written");
    with(f, "wiat", json_true(), "the request has an unknown key `wiat`: did you mean `wait`?");
    with(f, "zzzzzzzz", json_true(), "the request has an unknown key `zzzzzzzz`");
}

static void with_key(struct fixture *f, const char *key, int status)
{
    char header[300];
    json_t *body = json_pack("{s:s}", "text", job_text);
    snprintf(header, sizeof header, "Idempotency-Key: %s\r\n", key);
    struct answer a = post(f, header, body);
    if (a.status != status)
        fail_msg("key %s: %d, %s", key, a.status, a.body.data);
    if (status == 400)
        assert_true(strncmp(message_of(&a), "an Idempotency-Key has 1 to 200 printable characters", 50) ==
                        0 ||
                    strcmp(message_of(&a), "the Idempotency-Key is empty") == 0);
    answer_done(&a);
    json_decref(body);
}

static void keys_are_bounded(void **state)
{
    struct fixture *f = *state;
    char key[202];
    memset(key, 'k', sizeof key);
    key[201] = '\0';
    with_key(f, key, 400);
    key[200] = '\0';
    with_key(f, key, 201);
    with_key(f, key, 200);
    with_key(f, "!~", 201);
    with_key(f, "a b", 400);
    with_key(f, "a\xc3\xa9", 400);
    with_key(f, "a\x7f", 400);
    with_key(f, "", 400);
}

/* What the job names is bound to the content that the request says, which has to be here. */
static void files_are_bound(void **state)
{
    static const char text[] = "quiesce: 1\nbenchmarks: [{name: x, argv: [./x], inputs: {in: ../b.txt}}]\n";
    struct fixture *f = *state;
    struct qs_err err;
    char sha[65];
    assert_true(qs_files_put(f->files, "hello", 5, sha, &err));
    json_t *body = json_pack("{s:s,s:s,s:{s:s,s:s}}", "text", text, "name", "j.yaml", "files", "other",
                             SHA_OF_ARM, "../b.txt", sha);
    struct answer a = post(f, NULL, body);
    assert_int_equal(a.status, 201);
    answer_done(&a);
    json_object_set_new(body, "files", json_pack("{s:s}", "../b.txt", SHA_OF_ARM));
    a = post(f, NULL, body);
    assert_string_equal(message_of(&a), "j.yaml has 1 mistake");
    assert_error(a, 400, "job");
    json_object_del(body, "name");
    json_object_del(body, "files");
    a = post(f, NULL, body);
    assert_string_equal(message_of(&a), "request has 1 mistake");
    assert_error(a, 400, "job");
    json_decref(body);
}

/* What the farm refuses without a mistake in the job is told as it says it. */
static void a_full_farm_says_so(void **state)
{
    struct fixture *f = *state;
    json_t *body = json_pack("{s:s}", "text", job_text);
    f->farm.full = true;
    struct answer a = post(f, NULL, body);
    assert_string_equal(message_of(&a), "so many jobs wait");
    assert_error(a, 413, "limit");
    a = fetch(f, "POST", "/api/v1/jobs/1:cancel", NULL, NULL, 0);
    assert_string_equal(message_of(&a), "not now");
    assert_error(a, 503, "resource");
    json_decref(body);
}

/* The request is on its way to the farm; the answer is to be waited for. */
static struct client *begin_post(struct fixture *f, const json_t *body)
{
    char *text = json_dumps(body, 0), head[128];
    struct client *c = client_open(f);
    f->farm.owner[0] = '\0';
    snprintf(head, sizeof head, "POST /api/v1/jobs HTTP/1.1\r\nHost: q\r\nContent-Length: %zu\r\n\r\n",
             strlen(text));
    client_send(c, head, strlen(head));
    client_send(c, text, strlen(text));
    free(text);
    while (!f->farm.owner[0])
        settle(f);
    return c;
}

/* What was begun before a silence ends in it, its commit too: no window opens until the answer is sent. Who
 * comes later waits. */
static void a_silence_waits_for_what_was_begun(void **state)
{
    static const char later[] = "GET /api/v1/jobs/1 HTTP/1.1\r\nHost: q\r\n\r\n";
    struct fixture *f = *state;
    json_t *body = json_pack("{s:s}", "text", job_text);
    assert_false(qs_api_is_answering(f->api));
    qs_store_hold(f->store); /* no commit yet */
    struct client *c = begin_post(f, body), *reader = client_open(f);
    qs_api_on_silence(f->api, true);
    client_send(reader, later, sizeof later - 1);
    settle(f);
    assert_true(qs_api_is_answering(f->api));
    qs_store_release(f->store);
    client_until(c, "{\"id\":1,\"state\":\"queued\",\"position\":0}\n");
    settle(f);
    assert_false(qs_api_is_answering(f->api));
    assert_int_equal(reader->in.len, 0);
    qs_api_on_silence(f->api, false);
    client_until(reader, "\"state\":\"queued\"");
    client_close(reader);
    client_close(c);
    json_decref(body);
}

/* What the client has not taken yet of a long answer rests while a window is open, and follows then. */
static void a_long_answer_rests_in_a_silence(void **state)
{
    enum { LONG = 3 << 20 }; /* more than a socket takes */
    static const char asked[] = "GET /api/v1/jobs/1 HTTP/1.1\r\nHost: q\r\n\r\n";
    struct fixture *f = *state;
    char *text = qs_asprintf("%s# %0*d\n", job_text, LONG, 7);
    json_t *body = json_pack("{s:s}", "text", text);
    struct client *c = begin_post(f, body), *reader = client_open(f);
    client_until(c, "\"id\":1");
    client_send(reader, asked, sizeof asked - 1);
    client_until(reader, "200 OK");
    qs_api_on_silence(f->api, true);
    for (int i = 0; i < 4; i++)
        settle(f);
    assert_false(qs_api_is_answering(f->api));
    assert_true(reader->in.len < LONG);
    qs_api_on_silence(f->api, false);
    client_until(reader, "\"evaluations\":[]}\n");
    assert_true(reader->in.len > LONG);
    client_close(reader);
    client_close(c);
    json_decref(body);
    free(text);
}

/* Who waits is not answered for another job's end, and is for a cancelled one. */
static void who_waits_is_told_the_end(void **state)
{
    static const enum qs_job_state ends[] = {QS_JOB_CANCELLED, QS_JOB_FAILED, QS_JOB_DONE};
    struct fixture *f = *state;
    json_t *body = json_pack("{s:s,s:b}", "text", job_text, "wait", 1);
    char want[64], event[64];
    (void)submit(f);
    for (int64_t i = 0; i < 3; i++) {
        struct client *c = begin_post(f, body);
        while (f->api->newest_job < 2 + i)
            settle(f);
        assert_int_equal(f->farm.prepared, 0); /* what was sent is not kept for as long as its job takes */
        happen(f, 1, "job.state", "{\"state\":\"done\"}");
        qs_api_on_silence(f->api, true); /* a window does not wait for who waits for the end of its job */
        assert_false(qs_api_is_answering(f->api));
        set_state(f, 2 + i, ends[i]);
        snprintf(event, sizeof event, "{\"state\":\"%s\"}", qs_job_state_name(ends[i]));
        happen(f, 2 + i, "job.other", event); /* no news of its state */
        settle(f);
        assert_int_equal(c->in.len, 0);
        happen(f, 2 + i, "job.state", event);
        settle(f);
        assert_false(qs_api_is_answering(f->api));
        assert_int_equal(c->in.len, 0);
        qs_api_on_silence(f->api, false);
        snprintf(want, sizeof want, "{\"id\":%d,\"state\":\"%s\",\"position\":0}\n", (int)(2 + i),
                 qs_job_state_name(ends[i]));
        client_until(c, want);
        client_close(c);
    }
    json_decref(body);
}

static void a_job_is_done_again_once(void **state)
{
    struct fixture *f = *state;
    static const struct {
        const char *headers, *want;
        int status;
    } rows[] = {{NULL, "{\"id\":7,\"reproduces\":1,\"state\":\"queued\"}\n", 201},
                {"Idempotency-Key: k\r\n", "{\"id\":8,\"reproduces\":1,\"state\":\"queued\"}\n", 201},
                {"Idempotency-Key: k\r\n", "{\"id\":8,\"reproduces\":1,\"state\":\"queued\"}\n", 200}};
    world_make(f);
    stop_api(f);
    start_api(f);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct answer a = fetch(f, "POST", "/api/v1/jobs/1:reproduce", rows[i].headers, NULL, 0);
        assert_int_equal(a.status, rows[i].status);
        assert_string_equal(a.body.data, rows[i].want);
        answer_done(&a);
    }
    assert_int_equal(f->farm.reproduces, 1);
    assert_true(f->farm.seed == UINT64_MAX - 1);
    assert_string_equal(f->farm.where, "name == \"bench\" || name == \"sim\"");
    assert_string_equal(f->farm.name, "g.yaml");
    assert_int_equal(f->farm.file_count, 2);
    struct answer a = fetch(f, "POST", "/api/v1/jobs/2:reproduce", NULL, NULL, 0);
    assert_int_equal(a.status, 201);
    answer_done(&a);
    assert_string_equal(f->farm.name, "stored job");
    assert_int_equal(f->farm.file_count, 0);
    a = fetch(f, "POST", "/api/v1/jobs/5:reproduce", NULL, NULL, 0);
    assert_string_equal(message_of(&a), "job 5 ran on no device: there is nothing to reproduce");
    assert_error(a, 409, "conflict");
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(members_are_bounded),
        CASE(keys_are_bounded),
        CASE(files_are_bound),
        CASE(a_full_farm_says_so),
        CASE(a_silence_waits_for_what_was_begun),
        CASE(a_long_answer_rests_in_a_silence),
        CASE(who_waits_is_told_the_end),
        CASE(a_job_is_done_again_once),
    };
    return cmocka_run_group_tests_name("submit", tests, NULL, NULL);
}
