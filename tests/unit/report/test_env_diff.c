/* Differences of environment: found by key, told by both values, weighed by what they may do. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "report/env_diff.h"

static const char before[] = "{\"aslr\":\"2\",\"cgroup\":\"0::/"
                             "a\",\"device\":{\"kernel\":\"6.1\",\"cpus\":[0,1]},\"governors\":\"none\"}";
static const char after[] =
    "{\"aslr\":\"2\",\"cgroup\":\"0::/b\",\"device\":{\"kernel\":\"6.2\",\"cpus\":[0,1]},\"agent\":\"1\"}";

static void check(const struct qs_env_change *c, const char *key, const char *base, const char *cand,
                  enum qs_env_class class)
{
    assert_string_equal(c->key, key);
    assert_int_equal(c->class, class);
    for (int i = 0; i < 2; i++) {
        const char *want = i ? cand : base, *got = i ? c->cand : c->base;
        assert_int_equal(got == NULL, want == NULL);
        if (want)
            assert_string_equal(got, want);
    }
}

static void test_keys_that_differ(void **state)
{
    (void)state;
    struct qs_err err;
    struct qs_env_diff d;
    assert_true(qs_env_diff(before, after, &d, &err));
    assert_true(d.known);
    assert_int_equal(d.count, 4);
    check(&d.at[0], "agent", NULL, "1", QS_ENV_INSTRUMENT);
    check(&d.at[1], "cgroup", "0::/a", "0::/b", QS_ENV_NOTED);
    check(&d.at[2], "device.kernel", "6.1", "6.2", QS_ENV_MACHINE);
    check(&d.at[3], "governors", "none", NULL, QS_ENV_MACHINE);
    assert_int_equal(qs_env_diff_matters(&d), 3);
    qs_env_diff_free(&d);
}

static void test_equal_and_unknown(void **state)
{
    (void)state;
    struct qs_err err;
    struct qs_env_diff d;
    assert_true(qs_env_diff(before, before, &d, &err));
    assert_true(d.known);
    assert_int_equal(d.count, 0);
    qs_env_diff_free(&d);
    assert_true(qs_env_diff(before, NULL, &d, &err));
    assert_false(d.known);
    assert_int_equal(d.count, 0);
    qs_env_diff_free(&d);
}

static void test_added_and_written(void **state)
{
    (void)state;
    struct qs_err err;
    struct qs_env_diff d;
    struct qs_buf out;
    struct qs_json j;
    assert_true(qs_env_diff("{}", "{}", &d, &err));
    qs_env_diff_add(&d, "executable", "aa", "bb", QS_ENV_MACHINE);
    qs_env_diff_add(&d, "device", "local", "local", QS_ENV_MACHINE);
    qs_env_diff_add(&d, "harness", NULL, NULL, QS_ENV_MACHINE);
    qs_buf_init(&out);
    qs_json_init(&j, &out);
    qs_env_diff_put(&j, &d);
    assert_string_equal(out.data, "[{\"key\":\"executable\",\"base\":\"aa\",\"candidate\":\"bb\",\"class\":"
                                  "\"machine\",\"matters\":true}]");
    qs_buf_done(&out);
    qs_env_diff_free(&d);
}

static void test_what_is_no_object(void **state)
{
    (void)state;
    static const char *const bad[] = {"", "[1]", "{\"a\":", "7"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct qs_err err = QS_ERR_INIT;
        struct qs_env_diff d;
        assert_false(qs_env_diff("{}", bad[i], &d, &err));
        assert_int_equal(err.code, QS_E_DATA);
        qs_env_diff_free(&d);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_keys_that_differ),
        cmocka_unit_test(test_equal_and_unknown),
        cmocka_unit_test(test_added_and_written),
        cmocka_unit_test(test_what_is_no_object),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
