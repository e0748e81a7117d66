/* Routes that look beyond one job: series over time, and a job that is done again. */
#include <stdio.h>
#include <string.h>

#include "fixture.h"

static const json_t *item(const struct answer *a, const char *list, size_t i)
{
    return json_array_get(json_object_get(a->json, list), i);
}

/* The number of series that a query leaves, and of sessions in the first. */
static void narrowed(struct fixture *f, const char *query, size_t series, int64_t sessions)
{
    char target[160];
    snprintf(target, sizeof target, "/api/v1/history%s", query);
    struct answer a = get(f, target);
    assert_int_equal(a.status, 200);
    assert_int_equal(json_array_size(json_object_get(a.json, "series")), series);
    if (series > 0)
        assert_int_equal(json_integer_value(json_object_get(item(&a, "series", 0), "sessions")), sessions);
    answer_done(&a);
}

static void many_are_narrowed(struct fixture *f)
{
    struct answer a = get(f, "/api/v1/history");
    size_t all = json_array_size(json_object_get(a.json, "series"));
    int64_t last_wall_ns = json_integer_value(json_object_get(item(&a, "series", 0), "last_wall_ns"));
    char query[80];
    answer_done(&a);
    assert_true(all > 1);
    narrowed(f, "?build=", all, 1);
    narrowed(f, "?build=no-such", 0, 0);
    narrowed(f, "?limit=1&level=0.9", 1, 1);
    snprintf(query, sizeof query, "?since=%lld&until=%lld", (long long)last_wall_ns, (long long)last_wall_ns);
    narrowed(f, query, all, 1);
    snprintf(query, sizeof query, "?since=%lld", (long long)last_wall_ns + 1);
    narrowed(f, query, 0, 0);
    assert_error(get(f, "/api/v1/history?level=7"), 400, "usage");
}

static void history_of_ended_jobs(void **state)
{
    struct fixture *f = *state;
    char target[160];
    int64_t job = submit(f);
    measure(f, job, 24, 5);
    struct answer a = get(f, "/api/v1/history");
    assert_int_equal(json_array_size(json_object_get(a.json, "series")), 0); /* its job goes on */
    answer_done(&a);
    set_state(f, job, QS_JOB_DONE);
    a = get(f, "/api/v1/history?device=bench&arm=b");
    assert_int_equal(json_array_size(json_object_get(a.json, "series")), 1);
    const char *id = json_string_value(json_object_get(item(&a, "series", 0), "id"));
    assert_int_equal(strlen(id), 64);
    snprintf(target, sizeof target, "/api/v1/history/%s?window=20&margin_ratio=0.1", id);
    answer_done(&a);
    a = get(f, target);
    assert_string_equal(text_at(&a, "arm"), "b");
    assert_int_equal(json_array_size(json_object_get(a.json, "points")), 1);
    assert_int_equal(json_integer_value(json_object_get(item(&a, "points", 0), "job")), job);
    answer_done(&a);
    many_are_narrowed(f);
    memcpy(strchr(target, '?'), "?metric=joy", 12);
    assert_error(get(f, target), 404, "not-found");
    memcpy(strchr(target, '?'), "?window=1", 10);
    assert_error(get(f, target), 400, "usage");
    memset(target + strlen("/api/v1/history/"), '0', 64);
    *strchr(target, '?') = '\0';
    assert_error(get(f, target), 404, "not-found");
}

/* The small farm of these tests keeps no seed: what is drawn again is shown end to end. */
static void a_job_is_submitted_again(void **state)
{
    struct fixture *f = *state;
    int64_t job = submit(f);
    measure(f, job, 4, 5);
    assert_error(get(f, "/api/v1/jobs/1/reproduce"), 409, "conflict");
    assert_error(fetch(f, "POST", "/api/v1/jobs/1:reproduce", NULL, "", 0), 409, "conflict");
    set_state(f, job, QS_JOB_DONE);
    struct answer a = get(f, "/api/v1/jobs/1/reproduce");
    assert_string_equal(text_at(&a, "where"), "name == \"bench\"");
    assert_string_equal(text_at(&a, "seed"), "18446744073709551615");
    assert_int_equal(json_array_size(json_object_get(a.json, "executables")), 0); /* none was named */
    answer_done(&a);
    a = fetch(f, "POST", "/api/v1/jobs/1:reproduce", "Idempotency-Key: again\r\n", "", 0);
    assert_int_equal(a.status, 201);
    assert_int_equal(int_at(&a, "reproduces"), 1);
    assert_int_equal(int_at(&a, "id"), 2);
    answer_done(&a);
    a = fetch(f, "POST", "/api/v1/jobs/1:reproduce", "Idempotency-Key: again\r\n", "", 0);
    assert_int_equal(a.status, 200);
    answer_done(&a);
    static const char *const no_keys[] = {"Idempotency-Key: \r\n", "Idempotency-Key: two words\r\n"};
    for (size_t i = 0; i < 2; i++)
        assert_error(fetch(f, "POST", "/api/v1/jobs/1:reproduce", no_keys[i], "", 0), 400, "usage");
    assert_error(get(f, "/api/v1/jobs/1/reproduction"), 409, "conflict");
    assert_error(get(f, "/api/v1/jobs/1/reproduction?run=x"), 400, "usage");
    assert_error(get(f, "/api/v1/jobs/3/reproduce"), 404, "not-found");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(history_of_ended_jobs, setup, teardown),
        cmocka_unit_test_setup_teardown(a_job_is_submitted_again, setup, teardown),
    };
    return cmocka_run_group_tests_name("series", tests, NULL, NULL);
}
