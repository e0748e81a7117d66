/* A daemon that only reads: what it says of the one that owns the database, or that there is none, and what
 * it refuses. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fixture.h"

static void read_only(struct fixture *f)
{
    stop_api(f);
    f->reading = true;
    start_api(f);
}

/* The member of the answer, or of the i-th of a list in it. */
static void member_is(struct fixture *f, const char *target, int i, const char *key, const char *want)
{
    struct answer a = get(f, target);
    const json_t *from = i < 0 ? a.json : json_array_get(json_object_get(a.json, "jobs"), (size_t)i);
    const json_t *value = json_object_get(from, key);
    assert_int_equal(a.status, 200);
    if (want ? !json_is_string(value) || strcmp(json_string_value(value), want) != 0
             : value && !json_is_null(value))
        fail_msg("%s: %s is not %s: %s", target, key, want ? want : "null", a.body.data);
    answer_done(&a);
}

static void end_second(struct fixture *f)
{
    (void)submit(f);
    (void)submit(f);
    set_state(f, 2, QS_JOB_DONE);
}

/* Live jobs are the owner's; nothing is said of those that have ended. */
static void says(struct fixture *f, const char *owner, const char *why, const char *devices)
{
    member_is(f, "/api/v1/jobs", -1, "notice", owner);
    member_is(f, "/api/v1/jobs", 1, "why", why);
    member_is(f, "/api/v1/jobs", 1, "why_code", why ? "daemon" : NULL);
    member_is(f, "/api/v1/jobs", 0, "why", NULL);
    member_is(f, "/api/v1/jobs/1", -1, "notice", owner);
    member_is(f, "/api/v1/jobs/1", -1, "why", why);
    member_is(f, "/api/v1/jobs/1", -1, "why_code", why ? "daemon" : NULL);
    member_is(f, "/api/v1/jobs/2", -1, "notice", NULL);
    member_is(f, "/api/v1/jobs/2", -1, "why", NULL);
    member_is(f, "/api/v1/devices", -1, "notice", devices);
    member_is(f, "/api/v1/devices/local", -1, "notice", devices);
}

static void the_owner_is_named(void **state)
{
    static const char unknown[] = "another daemon has this database";
    static const char known[] = "the daemon at /x/api.sock has this database: --socket /x/api.sock";
    struct fixture *f = *state;
    struct qs_store_events events = {.contact = "/x/api.sock"};
    struct qs_err err;
    end_second(f);
    says(f, NULL, NULL, NULL); /* itself */
    read_only(f);
    says(f, unknown, NULL, unknown);
    stop_api(f);
    char *path = strdup(qs_store_path(f->store));
    qs_store_close(f->store);
    qs_loop_run(f->loop);
    assert_true(qs_store_open(f->loop, path, &events, &f->store, &err));
    start_api(f);
    says(f, known, NULL, known);
    set_state(f, 1, QS_JOB_DONE); /* no live job, nobody to be asked for one */
    member_is(f, "/api/v1/jobs", -1, "notice", NULL);
    free(path);
}

static void without_an_owner_nothing_goes_on(void **state)
{
    struct fixture *f = *state;
    struct qs_err err;
    end_second(f);
    stop_api(f);
    char *path = strdup(qs_store_path(f->store));
    qs_store_close(f->store);
    qs_loop_run(f->loop);
    assert_true(qs_store_open_reading(f->loop, path, &f->store, &err));
    f->farm.store = f->store;
    f->reading = true;
    start_api(f);
    says(f, NULL, "no daemon answers: the job continues as soon as one runs",
         "no daemon answers: the devices are shown as configured, their state is not known");
    free(path);
}

static void refuses(struct fixture *f, const char *method, const char *target, const char *pattern)
{
    char want[160];
    struct answer a = fetch(f, method, target, NULL, "", 0);
    snprintf(want, sizeof want, "this quiesced only reads: %s %s needs one that owns the database", method,
             pattern);
    assert_int_equal(a.status, 409);
    assert_string_equal(json_string_value(json_object_get(json_object_get(a.json, "error"), "message")),
                        want);
    assert_error(a, 409, "conflict");
}

static void what_changes_something_is_refused(void **state)
{
    static const char file[] =
        "/api/v1/files/2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824";
    static const char numbers[] = "{\"files\":[{\"name\":\"a\",\"text\":\"1 2 3\"}]}";
    struct fixture *f = *state;
    (void)submit(f);
    read_only(f);
    refuses(f, "POST", "/api/v1/jobs", "/api/v1/jobs");
    refuses(f, "PUT", file, "/api/v1/files/{sha256}");
    refuses(f, "POST", "/api/v1/jobs/1:cancel", "/api/v1/jobs/{id}:cancel");
    refuses(f, "POST", "/api/v1/jobs/1:reproduce", "/api/v1/jobs/{id}:reproduce");
    refuses(f, "POST", "/api/v1/devices/local:clean", "/api/v1/devices/{device}:clean");
    refuses(f, "POST", "/api/v1/daemon:yield", "/api/v1/daemon:yield");
    struct answer a = fetch(f, "POST", "/api/v1/jobs:validate", NULL, job_text, strlen(job_text));
    assert_int_equal(a.status, 200);
    answer_done(&a);
    a = fetch(f, "POST", "/api/v1/analyze", NULL, numbers, strlen(numbers));
    assert_int_equal(a.status, 200);
    answer_done(&a);
    a = fetch(f, "HEAD", file, NULL, NULL, 0);
    assert_int_equal(a.status, 404);
    answer_done(&a);
    assert_error(get(f, file), 404, "not-found");
}

/* Only an embedded daemon makes room. */
static void who_makes_room(void **state)
{
    struct fixture *f = *state;
    char want[128];
    struct answer a = fetch(f, "POST", "/api/v1/daemon:yield", NULL, "", 0);
    snprintf(want, sizeof want, "this quiesced (process %ld) is not embedded: whoever started it ends it",
             (long)getpid());
    assert_string_equal(json_string_value(json_object_get(json_object_get(a.json, "error"), "message")),
                        want);
    assert_error(a, 409, "conflict");
    assert_int_equal(f->yields, 0);
    stop_api(f);
    f->embedded = true;
    start_api(f);
    a = get(f, "/api/v1/version");
    assert_true(json_is_true(json_object_get(a.json, "embedded")));
    answer_done(&a);
    for (int64_t live = 0; live < 2; live++) {
        f->farm.live = live;
        a = fetch(f, "POST", "/api/v1/daemon:yield", NULL, "", 0);
        snprintf(want, sizeof want, "{\"pid\":%ld,\"working\":%s}\n", (long)getpid(),
                 live ? "true" : "false");
        assert_int_equal(a.status, 202);
        assert_string_equal(a.body.data, want);
        answer_done(&a);
    }
    assert_int_equal(f->yields, 2);
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(the_owner_is_named),
        CASE(without_an_owner_nothing_goes_on),
        CASE(what_changes_something_is_refused),
        CASE(who_makes_room),
    };
    return cmocka_run_group_tests_name("reading", tests, NULL, NULL);
}
