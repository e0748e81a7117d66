/* A disk that takes nothing: every address that shows a job or the daemon says what is waited for. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fixture.h"

static const char waits[] = "waiting for the disk: \"full\"";

static void wait_for_the_disk(struct fixture *f, int64_t job)
{
    set_state(f, job, QS_JOB_RUNNING);
    f->farm.live = job;
    f->farm.disk = waits;
}

static json_t *ask(struct fixture *f, const char *target)
{
    struct answer a = get(f, target);
    assert_int_equal(a.status, 200);
    json_t *json = json_incref(a.json);
    answer_done(&a);
    return json;
}

/* The text of a member, NULL for null; it has to be there. */
static const char *member(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    assert_non_null(value);
    assert_true(json_is_null(value) || json_is_string(value));
    return json_string_value(value);
}

static void the_job_that_waits_says_so_in_the_list(void **state)
{
    struct fixture *f = *state;
    int64_t waiting = submit(f);
    (void)submit(f);
    json_t *jobs = ask(f, "/api/v1/jobs");
    for (size_t i = 0; i < 2; i++) {
        assert_null(member(json_array_get(json_object_get(jobs, "jobs"), i), "why"));
        assert_null(member(json_array_get(json_object_get(jobs, "jobs"), i), "why_code"));
    }
    json_decref(jobs);
    wait_for_the_disk(f, waiting);
    jobs = ask(f, "/api/v1/jobs"); /* newest first */
    assert_null(member(json_array_get(json_object_get(jobs, "jobs"), 0), "why"));
    assert_string_equal(member(json_array_get(json_object_get(jobs, "jobs"), 1), "why"), waits);
    assert_string_equal(member(json_array_get(json_object_get(jobs, "jobs"), 1), "why_code"), "disk");
    json_decref(jobs);
}

static void a_job_tells_its_reason(void **state)
{
    struct fixture *f = *state;
    (void)submit(f);
    f->farm.why = waits;
    f->farm.why_code = "gate";
    f->farm.position = 3;
    json_t *job = ask(f, "/api/v1/jobs/1");
    assert_string_equal(member(job, "why"), waits);
    assert_string_equal(member(job, "why_code"), "gate"); /* the farm's word */
    assert_int_equal(json_integer_value(json_object_get(job, "position")), 3);
    json_decref(job);
    f->farm.why = NULL;
    f->farm.position = 0;
    job = ask(f, "/api/v1/jobs/1");
    assert_null(member(job, "why"));
    assert_null(member(job, "why_code"));
    assert_true(json_is_integer(json_object_get(job, "position")));
    json_decref(job);
}

static void the_daemon_says_so(void **state)
{
    struct fixture *f = *state;
    int64_t job = submit(f);
    json_t *health = ask(f, "/healthz"), *devices = ask(f, "/api/v1/devices");
    assert_true(json_is_true(json_object_get(health, "ok")));
    assert_null(json_object_get(health, "why"));
    assert_null(member(devices, "disk"));
    json_decref(health);
    json_decref(devices);
    wait_for_the_disk(f, job);
    health = ask(f, "/healthz");
    devices = ask(f, "/api/v1/devices");
    assert_true(json_is_false(json_object_get(health, "ok")));
    assert_string_equal(member(health, "why"), waits);
    assert_string_equal(member(devices, "disk"), waits);
    assert_null(member(devices, "notice"));
    json_decref(health);
    json_decref(devices);
}

/* Who comes while it waits hears it at once: it is stored nowhere. Who follows another job, or all, does not.
 */
static void who_begins_to_follow_is_told(void **state)
{
    static const char request[] = "GET %s HTTP/1.1\r\nHost: q\r\n\r\n";
    static const char *const targets[] = {"/api/v1/jobs/1/events", "/api/v1/jobs/2/events", "/api/v1/events"};
    struct fixture *f = *state;
    int64_t waiting = submit(f);
    (void)submit(f);
    wait_for_the_disk(f, waiting);
    for (size_t i = 0; i < 3; i++) {
        char text[128];
        struct client *c = client_open(f);
        snprintf(text, sizeof text, request, targets[i]);
        client_send(c, text, strlen(text));
        client_until(c, ": hello");
        settle(f);
        const char *event = strstr(c->in.data, "event: job.waiting\n");
        assert_int_equal(event != NULL, i == 0);
        if (event) {
            assert_non_null(strstr(event, "\ndata: {\"why\":\"waiting for the disk: "
                                          "\\\"full\\\"\",\"why_code\":\"disk\",\"wall_ns\":"));
            assert_null(strstr(c->in.data, "id: ")); /* a client that resumes skips nothing for it */
        }
        client_close(c);
    }
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(the_job_that_waits_says_so_in_the_list),
        CASE(a_job_tells_its_reason),
        CASE(the_daemon_says_so),
        CASE(who_begins_to_follow_is_told),
    };
    return cmocka_run_group_tests_name("disk", tests, NULL, NULL);
}
