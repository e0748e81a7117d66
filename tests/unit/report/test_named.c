/* What sides of a comparison can be called, from rows of the store. */
#include "page.h"
#include "world.h"

#include <time.h>

#include "report/named.h"

#define HOUR_NS INT64_C(3600000000000)

/* Made in this order: v2 came before v1. Sessions 5 and 6 are of one local night in CET, of two in UTC. */
#define ROW(b, j, s, hour, l, m, d, n)                                                                       \
    {                                                                                                        \
        .build = b, .job = j, .session = s, .started_wall_ns = hour * HOUR_NS, .label = (char *)l,           \
        .benchmark = (char *)m, .device = (char *)d, .runs = n                                               \
    }
static struct qs_named rows[] = {
    ROW(0, 1, 4, 24, NULL, "sort", "x", 2), ROW(1, 2, 5, 47, "v2", "sort", "x", 3),
    ROW(1, 2, 5, 47, "v2", "blur", "x", 4), ROW(1, 3, 6, 49, "v2", "sort", "w", 5),
    ROW(2, 3, 6, 49, "v1", "sort", "w", 5)};
static const struct qs_named_list list = {.at = rows, .count = sizeof rows / sizeof *rows};

static json_t *named(const char *zone, size_t limit)
{
    struct qs_buf text;
    qs_buf_init(&text);
    setenv("TZ", zone, 1);
    tzset();
    qs_named_put(&list, limit, &text);
    json_t *doc = page_read(&text);
    qs_buf_done(&text);
    return doc;
}

static void says(const json_t *doc, const char *path, const char *expected)
{
    char *text = json_dumps(at(doc, path), JSON_COMPACT | JSON_ENCODE_ANY);
    if (strcmp(text, expected) != 0)
        fail_msg("%s is %s, not %s", path, text, expected);
    free(text);
}

static void builds_in_the_order_in_which_they_came(void **state)
{
    (void)state;
    json_t *doc = named("UTC0", 10);
    assert_int_equal(json_array_size(at(doc, "builds")), 2);
    says(doc, "builds.0.build", "\"v1\"");
    says(doc, "builds.1.build", "\"v2\"");
    says(doc, "builds.1.jobs", "[2,3]");
    says(doc, "builds.1.runs", "12");
    says(doc, "builds.1.sessions", "2");
    says(doc, "builds.1.devices", "[\"w\",\"x\"]");
    says(doc, "builds.1.benchmarks", "[\"blur\",\"sort\"]");
    says(doc, "builds.1.first_wall_ns", "169200000000000");
    says(doc, "builds.1.last_wall_ns", "176400000000000");
    says(doc, "builds.1.first_night", "\"1970-01-02\"");
    says(doc, "builds.1.last_night", "\"1970-01-03\"");
    json_decref(doc);
    doc = named("UTC0", 1);
    assert_int_equal(json_array_size(at(doc, "builds")), 1);
    assert_int_equal(json_array_size(at(doc, "nights")), 1);
    says(doc, "builds.0.build", "\"v1\"");
    json_decref(doc);
}

static void nights_from_midnight_to_midnight_here(void **state)
{
    (void)state;
    json_t *doc = named("UTC0", 10);
    assert_int_equal(json_array_size(at(doc, "nights")), 2);
    says(doc, "nights.0.night", "\"1970-01-03\"");
    says(doc, "nights.0.builds", "[\"v1\",\"v2\"]");
    says(doc, "nights.0.runs", "10");
    says(doc, "nights.1.night", "\"1970-01-02\"");
    says(doc, "nights.1.builds", "[\"v2\"]");
    says(doc, "nights.1.jobs", "[1,2]");
    says(doc, "nights.1.runs", "9");
    json_decref(doc);
    doc = named("CET-1", 10);
    assert_int_equal(json_array_size(at(doc, "nights")), 2);
    says(doc, "nights.0.night", "\"1970-01-03\"");
    says(doc, "nights.0.runs", "17");
    says(doc, "nights.0.sessions", "2");
    says(doc, "nights.1.builds", "[]");
    says(doc, "builds.1.first_night", "\"1970-01-03\"");
    json_decref(doc);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(builds_in_the_order_in_which_they_came),
        cmocka_unit_test(nights_from_midnight_to_midnight_here),
    };
    return cmocka_run_group_tests_name("named", tests, NULL, NULL);
}
