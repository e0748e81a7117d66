/* What a job wants set on its device, as it is kept: what a set says, what it takes from `conditions`, and
 * that what nobody asked for is not in it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/json.h"
#include "config/job/stored.h"
#include "golden.h"

static void check(const char *conditions, const char *const *want, size_t count)
{
    QS_BUF(err);
    QS_BUF(text);
    qs_buf_fmt(&text, "quiesce: 1\nbenchmarks: [{name: x, argv: [x]}]\n%s", conditions);
    struct qs_job_spec *spec = golden_job("job", text.data, text.len, &err);
    if (spec == NULL)
        fail_msg("%s", err.data);
    assert_int_equal(spec->condition_count, count);
    for (size_t i = 0; i < count; i++) {
        QS_BUF(json);
        struct qs_json j = qs_json_to(&json);
        qs_job_put_conditions(&j, &spec->conditions[i]);
        char *controls = strstr(json.data, "\"controls\":"), *end = strstr(json.data, ",\"gate\":");
        assert_true(controls != NULL && end != NULL);
        *end = '\0';
        assert_string_equal(controls + strlen("\"controls\":"), want[i]);
    }
    qs_job_free(spec);
}

static void test_nothing_asked(void **state)
{
    (void)state;
    static const char *const want[] = {"{\"affinity\":\"any\",\"frequency\":\"free\"}"};
    check("", want, 1);
    check("conditions: {governor: {}, switches: {}}\n", want, 1);
}

static void test_sets(void **state)
{
    (void)state;
    static const char *const want[] = {
        "{\"affinity\":\"big\",\"frequency\":\"free\",\"governor\":{\"cpu\":\"performance\",\"memory\":"
        "\"userspace\"},"
        "\"online\":\"0,4-7\",\"boost\":\"off\",\"idle_states\":2,"
        "\"switches\":{\"fan:*\":255,\"charging:*\":\"off\",\"light\":\"on\"}}",
        "{\"affinity\":\"big\",\"frequency\":\"max\",\"governor\":{\"cpu\":\"schedutil\"},\"online\":\"0,4-"
        "7\","
        "\"boost\":\"off\",\"idle_states\":2,\"switches\":{\"fan:*\":255,\"charging:*\":\"off\",\"light\":"
        "\"on\"}}",
        "{\"affinity\":\"one-big\",\"frequency\":\"free\",\"online\":\"all\",\"boost\":\"on\",\"idle_"
        "states\":0}",
        "{\"affinity\":\"big\",\"frequency\":\"free\",\"governor\":{\"cpu\":\"performance\",\"memory\":"
        "\"userspace\"},"
        "\"online\":\"0,4-7\",\"boost\":\"off\",\"idle_states\":2,\"switches\":{\"light\":0}}"};
    check("conditions:\n"
          "  affinity: big\n"
          "  governor: {cpu: performance, memory: userspace}\n"
          "  online: 0,4-7\n"
          "  boost: off\n"
          "  idle_states: 2\n"
          "  switches: {\"fan:*\": 255, \"charging:*\": off, light: on}\n"
          "condition_sets:\n"
          "  a: {governor: schedutil, frequency: max}\n"
          "  b: {affinity: one-big, governor: {}, online: all, boost: on, idle_states: off, switches: {}}\n"
          "  c: {switches: {light: 0}}\n"
          "arms: {a: {conditions: a}, b: {conditions: b}, c: {conditions: c}}\n",
          want, 4);
}

static void test_processes(void **state)
{
    (void)state;
    static const char *const want[] = {
        "{\"affinity\":\"any\",\"frequency\":\"free\",\"priority\":\"fifo 1\",\"aslr\":\"off\"}",
        "{\"affinity\":\"any\",\"frequency\":\"free\",\"aslr\":\"off\"}",
        "{\"affinity\":\"any\",\"frequency\":\"free\",\"priority\":\"fifo 99\"}",
        "{\"affinity\":\"any\",\"frequency\":\"free\",\"priority\":\"nice -20\",\"aslr\":\"off\"}",
        "{\"affinity\":\"any\",\"frequency\":\"free\",\"priority\":\"fifo 1\",\"aslr\":\"off\"}"};
    check("conditions: {priority: fifo, aslr: off}\n"
          "condition_sets:\n"
          "  a: {priority: normal}\n"
          "  b: {priority: fifo 99, aslr: on}\n"
          "  c: {priority: nice -20}\n"
          "  d: {affinity: any}\n"
          "arms: {a: {conditions: a}, b: {conditions: b}, c: {conditions: c}, d: {conditions: d}}\n",
          want, 5);
}

/* Behind the gate: what ends a job is kept with its set, and is none of what makes a series. */
static void test_limits_of_a_set(void **state)
{
    (void)state;
    static const struct {
        const char *yaml, *own, *other;
    } rows[] = {
        {"conditions: {repeat_tainted: 2}\ncondition_sets: {a: {trip: 85.5C}}\n", "", "\"trip_mc\":85500,"},
        {"conditions: {trip: 60C}\ncondition_sets: {a: {repeat_tainted: 2, boost: on}}\n",
         "\"trip_mc\":60000,", "\"trip_mc\":60000,"},
        {"conditions: {app: {package: org.example_1, debuggable: no}}\n"
         "condition_sets: {a: {app: {package: org.b, compiled: speed-profile}}}\n",
         "\"app\":{\"package\":\"org.example_1\",\"debuggable\":false},",
         "\"app\":{\"package\":\"org.b\",\"compiled\":\"speed-profile\"},"},
        {"conditions: {app: {package: o, debuggable: true, compiled: verify}}\ncondition_sets: {a: {boost: "
         "on}}\n",
         "\"app\":{\"package\":\"o\",\"debuggable\":true,\"compiled\":\"verify\"},",
         "\"app\":{\"package\":\"o\",\"debuggable\":true,\"compiled\":\"verify\"},"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        QS_BUF(err);
        QS_BUF(text);
        qs_buf_fmt(&text,
                   "quiesce: 1\nbenchmarks: [{name: x, argv: [x]}]\n%sarms: {o: {conditions: default}, a: "
                   "{conditions: a}}\n",
                   rows[i].yaml);
        struct qs_job_spec *spec = golden_job("job", text.data, text.len, &err);
        if (spec == NULL)
            fail_msg("%s", err.data);
        for (size_t k = 0; k < 2; k++) {
            QS_BUF(json);
            struct qs_json j = qs_json_to(&json);
            qs_job_put_conditions(&j, &spec->conditions[k]);
            char *behind = strstr(json.data, "\"repeat_tainted\":2,"), *end = strstr(json.data, "\"stop\":");
            assert_true(behind != NULL && end != NULL);
            *end = '\0';
            assert_string_equal(behind + strlen("\"repeat_tainted\":2,"),
                                k == 0 ? rows[i].own : rows[i].other);
        }
        qs_job_free(spec);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_nothing_asked), cmocka_unit_test(test_sets),
                                       cmocka_unit_test(test_processes),
                                       cmocka_unit_test(test_limits_of_a_set)};
    return cmocka_run_group_tests_name("config controls", tests, NULL, NULL);
}
