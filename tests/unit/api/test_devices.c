/* What can be asked of a device. */
#include <stdio.h>
#include <stdlib.h>

#include "fixture.h"

static struct answer clean(struct fixture *f, const char *device)
{
    char target[96];
    snprintf(target, sizeof target, "/api/v1/devices/%s:clean", device);
    return fetch(f, "POST", target, NULL, "", 0);
}

static void cleaning_reaches_the_farm(void **state)
{
    struct fixture *f = *state;
    struct answer a = clean(f, "local");
    assert_int_equal(a.status, 200);
    assert_string_equal(text_at(&a, "device"), "local");
    assert_int_equal(json_integer_value(json_object_get(a.json, "freed_bytes")), 12345);
    answer_done(&a);
    assert_error(clean(f, "local"), 503, "link");
    assert_error(clean(f, "nobody"), 404, "not-found");
    assert_error(clean(f, ""), 400, "usage");
}

static void readings_come_from_the_device(void **state)
{
    struct answer a = fetch(*state, "GET", "/api/v1/devices/local:read", NULL, "", 0);
    assert_int_equal(a.status, 200);
    char *text = json_dumps(a.json, JSON_COMPACT);
    assert_string_equal(
        text,
        "{\"device\":\"local\",\"readings\":["
        "{\"sensor\":\"thermal:soc\",\"status\":\"ok\",\"gauge\":true,\"value\":46700,\"text\":\"46.7 "
        "\xc2\xb0"
        "C\"},"
        "{\"sensor\":\"freq:policy0\",\"status\":\"unreadable\",\"gauge\":true},"
        "{\"sensor\":\"cpu.steal_ticks\",\"status\":\"ok\",\"gauge\":false,\"value\":7,\"text\":\"7\"},"
        "{\"sensor\":\"of.tomorrow\",\"status\":\"ok\",\"gauge\":false,\"value\":-1,\"text\":\"-1\"}]}");
    free(text);
    answer_done(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(cleaning_reaches_the_farm, setup, teardown),
        cmocka_unit_test_setup_teardown(readings_come_from_the_device, setup, teardown),
    };
    return cmocka_run_group_tests_name("devices", tests, NULL, NULL);
}
