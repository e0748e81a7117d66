/* Builds: where the label of one stands, and the list of those that can be named. */
#include <stdio.h>
#include <string.h>

#include "fixture.h"

/* A job whose second arm measured build v2; three runs. */
static void measure_builds(struct fixture *f)
{
    static const char text[] = "quiesce: 1\nbenchmarks: [{name: nap, argv: [sleep]}]\n"
                               "arms: {a: {argv: [sleep]}, b: {build: {label: v2}}}\n";
    json_t *pack = json_pack("{s:s}", "text", text);
    char *body = json_dumps(pack, 0);
    struct answer made = fetch(f, "POST", "/api/v1/jobs", NULL, body, strlen(body));
    assert_int_equal(made.status, 201);
    int64_t job = int_at(&made, "id");
    answer_done(&made);
    json_decref(pack);
    free(body);
    measure(f, job, 3, 20);
    set_state(f, job, QS_JOB_DONE);
}

static const json_t *item(const struct answer *a, const char *list, size_t i)
{
    return json_array_get(json_object_get(a->json, list), i);
}

static void is_v2(const json_t *arms, size_t count)
{
    assert_int_equal(json_array_size(arms), count);
    assert_true(json_is_null(json_object_get(json_array_get(arms, 0), "build")));
    assert_string_equal(json_string_value(json_object_get(json_array_get(arms, 1), "build")), "v2");
}

/* Its runs, its report and its export say which build an arm has measured. */
static void an_arm_has_its_build(void **state)
{
    struct fixture *f = *state;
    measure_builds(f);
    struct answer a = get(f, "/api/v1/jobs/1/export?format=json");
    is_v2(json_object_get(a.json, "results"), 2);
    answer_done(&a);
    a = get(f, "/api/v1/jobs/1/report");
    is_v2(json_object_get(item(&a, "results", 0), "arms"), 2);
    answer_done(&a);
    a = get(f, "/api/v1/jobs/1/runs");
    is_v2(json_object_get(a.json, "runs"), 3);
    char target[80];
    snprintf(target, sizeof target, "/api/v1/runs/%s/report",
             json_string_value(json_object_get(item(&a, "runs", 1), "uid")));
    answer_done(&a);
    a = get(f, target);
    assert_string_equal(text_at(&a, "build"), "v2");
    answer_done(&a);
    a = get(f, "/api/v1/jobs/1");
    assert_true(json_is_null(json_array_get(json_object_get(a.json, "builds"), 0)));
    assert_string_equal(json_string_value(json_array_get(json_object_get(a.json, "builds"), 1)), "v2");
    answer_done(&a);
}

static void has_lists(struct fixture *f, const char *query, size_t builds, size_t nights)
{
    char target[160];
    snprintf(target, sizeof target, "/api/v1/builds%s", query);
    struct answer a = get(f, target);
    assert_int_equal(a.status, 200);
    assert_int_equal(json_array_size(json_object_get(a.json, "builds")), builds);
    assert_int_equal(json_array_size(json_object_get(a.json, "nights")), nights);
    answer_done(&a);
}

static void builds_and_nights_are_listed(void **state)
{
    struct fixture *f = *state;
    has_lists(f, "", 0, 0);
    measure_builds(f);
    has_lists(f, "", 1, 1);
    has_lists(f, "?text=V2&benchmark=X&device=bench&limit=1", 1, 1);
    has_lists(f, "?text=v3", 0, 0);
    has_lists(f, "?benchmark=blur", 0, 0);
    has_lists(f, "?device=ben", 0, 0);
    has_lists(f, "?since=1000000000", 0, 0); /* the session began before */
    struct answer a = get(f, "/api/v1/builds");
    const json_t *build = item(&a, "builds", 0), *night = item(&a, "nights", 0);
    assert_string_equal(json_string_value(json_object_get(build, "build")), "v2");
    assert_int_equal(json_integer_value(json_object_get(build, "runs")), 1);
    assert_int_equal(json_integer_value(json_object_get(night, "runs")), 3);
    assert_string_equal(json_string_value(json_object_get(night, "night")),
                        json_string_value(json_object_get(build, "last_night")));
    answer_done(&a);
    assert_error(get(f, "/api/v1/builds?limit=0"), 400, "usage");
    assert_error(get(f, "/api/v1/builds?since=x"), 400, "usage");
    a = get(f, "/api/v1/compare?base=build:v2&candidate=build:v3");
    assert_int_equal(a.status, 404);
    assert_non_null(strstr(a.body.data, "did you mean `v2`?"));
    answer_done(&a);
    a = get(f, "/api/v1/compare?base=build:v2&candidate=night:2001-01-01");
    assert_int_equal(a.status, 404);
    assert_non_null(strstr(a.body.data, "the nearest night is night:19"));
    answer_done(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(an_arm_has_its_build, setup, teardown),
        cmocka_unit_test_setup_teardown(builds_and_nights_are_listed, setup, teardown),
    };
    return cmocka_run_group_tests_name("builds", tests, NULL, NULL);
}
