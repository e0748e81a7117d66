/* How a document is read, as it is stored with its run: what is written is read back the same. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "config/document/form.h"

static struct qs_form again(const struct qs_form *f, const char *want)
{
    struct qs_buf json;
    struct qs_form ret;
    struct qs_err err = QS_ERR_INIT;
    qs_buf_init(&json);
    qs_form_json(f, &json);
    assert_string_equal(json.data, want);
    if (!qs_form_from_json(json.data, &ret, &err))
        fail_msg("%s", err.text);
    qs_buf_done(&json);
    assert_int_equal(ret.kind, f->kind);
    return ret;
}

static void test_times(void **state)
{
    (void)state;
    struct qs_form f = again(&(struct qs_form){.kind = QS_FORM_NUMBERS, .unit = QS_FORM_MS},
                             "{\"format\":\"numbers\",\"unit\":\"ms\"}");
    assert_int_equal(f.unit, QS_FORM_MS);
    assert_string_equal(qs_form_source(&f), "stdout");
    qs_form_done(&f);
    f = again(
        &(struct qs_form){.kind = QS_FORM_PATTERN,
                          .unit = QS_FORM_S,
                          .pattern = (char *)"\"([0-9]+)\"",
                          .file = (char *)"out/r.txt"},
        "{\"format\":\"pattern\",\"unit\":\"s\",\"pattern\":\"\\\"([0-9]+)\\\"\",\"file\":\"out/r.txt\"}");
    assert_string_equal(f.pattern, "\"([0-9]+)\"");
    assert_string_equal(qs_form_source(&f), "out/r.txt");
    qs_form_done(&f);
    f = again(&(struct qs_form){.kind = QS_FORM_GBENCH, .benchmark = (char *)"BM_sum/8"},
              "{\"format\":\"google-benchmark\",\"benchmark\":\"BM_sum/8\"}");
    assert_string_equal(f.benchmark, "BM_sum/8");
    qs_form_done(&f);
}

static void test_apps(void **state)
{
    (void)state;
    struct qs_form f = again(
        &(struct qs_form){
            .kind = QS_FORM_ANDROIDX, .metric = (char *)"frameDurationCpuMs", .benchmark = (char *)"scroll"},
        "{\"format\":\"androidx\",\"metric\":\"frameDurationCpuMs\",\"benchmark\":\"scroll\"}");
    assert_string_equal(f.metric, "frameDurationCpuMs");
    assert_string_equal(f.benchmark, "scroll");
    assert_string_equal(qs_form_source(&f), "am instrument");
    qs_form_done(&f);
    f = again(&(struct qs_form){.kind = QS_FORM_AM_START, .launch = (char *)"warm"},
              "{\"format\":\"am-start\",\"launch\":\"warm\"}");
    assert_string_equal(f.launch, "warm");
    assert_string_equal(qs_form_source(&f), "am start");
    qs_form_done(&f);
}

static void test_other_units(void **state)
{
    (void)state;
    struct qs_form rate = {.kind = QS_FORM_NUMBERS,
                           .unit = QS_FORM_OTHER,
                           .other = (char *)"MB/s",
                           .metric = (char *)"rate",
                           .higher_is_better = true};
    struct qs_form f =
        again(&rate, "{\"format\":\"numbers\",\"unit\":\"MB/s\",\"metric\":\"rate\",\"better\":\"higher\"}");
    assert_int_equal(f.unit, QS_FORM_OTHER);
    assert_string_equal(f.other, "MB/s");
    assert_string_equal(f.metric, "rate");
    assert_true(f.higher_is_better);
    qs_form_done(&f);
    rate.higher_is_better = false;
    f = again(&rate, "{\"format\":\"numbers\",\"unit\":\"MB/s\",\"metric\":\"rate\",\"better\":\"lower\"}");
    assert_false(f.higher_is_better);
    qs_form_done(&f);
    assert_int_equal(qs_form_unit_of("us"), QS_FORM_US);
    assert_int_equal(qs_form_unit_of("msec"), QS_FORM_OTHER);
}

static void test_what_is_not_known_is_refused(void **state)
{
    static const char *const wrong[] = {
        "",
        "[]",
        "{}",
        "{\"format\":\"xml\"}",
        "{\"format\":\"numbers\"}",
        "{\"format\":\"pattern\",\"unit\":\"ms\"}",
        "{\"format\":\"numbers\",\"unit\":\"MB/s\"}",
        "{\"format\":\"numbers\",\"unit\":\"MB/s\",\"better\":\"lower\"}",
    };
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct qs_err err = QS_ERR_INIT;
        struct qs_form f;
        assert_false(qs_form_from_json(wrong[i], &f, &err));
        assert_int_equal(err.code, QS_E_DATA);
        assert_null(f.pattern);
        assert_null(f.other);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_times),
        cmocka_unit_test(test_apps),
        cmocka_unit_test(test_other_units),
        cmocka_unit_test(test_what_is_not_known_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
