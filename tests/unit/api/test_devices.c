/* What can be asked of a device. */
#include <stdio.h>

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(cleaning_reaches_the_farm, setup, teardown),
    };
    return cmocka_run_group_tests_name("devices", tests, NULL, NULL);
}
