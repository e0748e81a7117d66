/* The meters of a job: what each kind is kept as, and what does not go together. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "config/job/job.h"
#include "golden.h"

static struct qs_job_spec *read_job(const char *meters, struct qs_buf *err)
{
    QS_BUF(text);
    qs_buf_fmt(&text,
               "quiesce: 1\nbenchmarks: [{name: x, argv: [x]}]\nplan: {metrics: [power]}\nmeters: {%s}\n",
               meters);
    return golden_job("job", text.data, text.len, err);
}

static void what_is_kept(void **state)
{
    static const struct {
        const char *meter;
        enum qs_meter_kind kind;
        unsigned take, per, better;
        const char *unit;
    } cases[] = {
        {"{file: a/b, unit: mW}", QS_METER_FILE, QS_METER_END, QS_METER_PER_WINDOW, QS_JOB_BETTER_LOWER,
         "mW"},
        {"{file: a/*, unit: B/s, take: mean, better: higher}", QS_METER_FILE, QS_METER_MEAN,
         QS_METER_PER_WINDOW, QS_JOB_BETTER_HIGHER, "B/s"},
        {"{file: a/b, unit: n, take: rise, wraps_at: 100}", QS_METER_FILE, QS_METER_RISE,
         QS_METER_PER_ITERATION, QS_JOB_BETTER_LOWER, "n"},
        {"{file: a/b, unit: n, take: fall, per: window}", QS_METER_FILE, QS_METER_FALL, QS_METER_PER_WINDOW,
         QS_JOB_BETTER_LOWER, "n"},
        {"{sensor: 'thermal:soc'}", QS_METER_SENSOR, QS_METER_END, QS_METER_PER_WINDOW, QS_JOB_BETTER_LOWER,
         ""},
        {"{energy: auto}", QS_METER_ENERGY, QS_METER_END, QS_METER_PER_ITERATION, QS_JOB_BETTER_LOWER, "uJ"},
        {"{energy: 'energy:*', per: window, required: false}", QS_METER_ENERGY, QS_METER_END,
         QS_METER_PER_WINDOW, QS_JOB_BETTER_LOWER, "uJ"},
        {"{counter: instructions, deterministic: true}", QS_METER_COUNTER, QS_METER_END,
         QS_METER_PER_ITERATION, QS_JOB_BETTER_LOWER, "count"},
        {"{counter: task-clock}", QS_METER_COUNTER, QS_METER_END, QS_METER_PER_ITERATION, QS_JOB_BETTER_LOWER,
         "ns"},
        {"{time: true}", QS_METER_TIME, QS_METER_END, QS_METER_PER_WINDOW, QS_JOB_BETTER_LOWER, ""},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        QS_BUF(err);
        QS_BUF(text);
        qs_buf_fmt(&text, "m: %s", cases[i].meter);
        struct qs_job_spec *spec = read_job(text.data, &err);
        if (spec == NULL)
            fail_msg("%s", err.data);
        const struct qs_job_meter *m = &spec->meters[0];
        assert_int_equal(spec->meter_count, 1);
        assert_string_equal(m->name, "m");
        assert_int_equal(m->kind, cases[i].kind);
        assert_int_equal(m->take, cases[i].take);
        assert_int_equal(m->per, cases[i].per);
        assert_int_equal(m->better, cases[i].better);
        assert_string_equal(qs_meter_unit(m), cases[i].unit);
        assert_int_equal(m->required, strstr(cases[i].meter, "required: false") == NULL);
        assert_int_equal(m->deterministic, strstr(cases[i].meter, "deterministic") != NULL);
        qs_job_free(spec);
    }
}

static void a_share_of_successes(void **state)
{
    QS_BUF(err);
    (void)state;
    struct qs_job_spec *spec = read_job("success: {success: true}", &err);
    assert_non_null(spec);
    assert_int_equal(spec->meters[0].kind, QS_METER_SUCCESS);
    assert_int_equal(spec->meters[0].better, QS_JOB_BETTER_HIGHER);
    assert_string_equal(qs_meter_unit(&spec->meters[0]), "ppm");
    qs_job_free(spec);
}

static void what_is_refused(void **state)
{
    static const struct {
        const char *meters, *says;
    } cases[] = {
        {"m: {}", "a meter has one of `file`, `sensor`, `energy`, `counter`, `success` and `time`"},
        {"m: {success: false}", "a meter has one of"},
        {"m: {energy: auto, counter: cycles}", "a meter has one of"},
        {"m: {counter: wishes}", "instructions, cycles, cache-misses"},
        {"m: {file: a/b}", "a file needs the `unit` of its number"},
        {"m: {file: /sys/a, unit: n}", "is relative to the root of sysfs"},
        {"m: {file: a/../b, unit: n}", "no `..`"},
        {"m: {file: a + b, unit: n}", "one path, without blanks"},
        {"m: {file: a, unit: a_b}", "`a_b` is not a unit"},
        {"m: {file: a, unit: n, wraps_at: 5}", "only a counter that rises begins at 0 again"},
        {"m: {file: a, unit: n, take: rise, wraps_at: 5, wraps_file: b}", "say the same"},
        {"m: {file: a, unit: n, take: rise, wraps_at: 9999999999999999}", "`wraps_at` is at most 9223372036"},
        {"m: {file: a, unit: n, per: iteration}", "a reading is of the window"},
        {"m: {energy: auto, unit: mJ}", "`unit` does not go with `energy`"},
        {"m: {counter: cycles, take: end}", "`take` does not go with `counter`"},
        {"m: {sensor: 'thermal:x', unit: mC}", "`unit` does not go with `sensor`"},
        {"m: {time: true, required: false}", "`required` does not go with `time`"},
        {"ok: {success: true}", "the share of successes is always called `success`"},
        {"'a b': {energy: auto}", "`a b` is not a name for a meter"},
        {"a2345678901234567890123456789012x: {energy: auto}", "is not a name for a meter"},
        {"power: {energy: auto}", "`power` is a metric of the farm, too"},
        {"a: {time: true}, b: {time: true}, c: {time: true}, d: {time: true}, e: {time: true}, f: {time: "
         "true},"
         " g: {time: true}, h: {time: true}, i: {time: true}",
         "8"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        QS_BUF(err);
        struct qs_job_spec *spec = read_job(cases[i].meters, &err);
        assert_null(spec);
        if (strstr(err.data, cases[i].says) == NULL)
            fail_msg("%s: %s", cases[i].meters, err.data);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_kept),
        cmocka_unit_test(a_share_of_successes),
        cmocka_unit_test(what_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
