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

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_nothing_asked), cmocka_unit_test(test_sets)};
    return cmocka_run_group_tests_name("config controls", tests, NULL, NULL);
}
