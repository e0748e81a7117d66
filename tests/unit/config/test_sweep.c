/* Conditions with several frequencies become arms, one for each. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "config/job/job.h"
#include "golden.h"

#define HEAD "quiesce: 1\nbenchmarks: [{name: x, argv: [\"true\"]}]\n"

static struct qs_job_spec *parse(const char *rest, struct qs_buf *err)
{
    QS_BUF(text);
    qs_buf_fmt(&text, "%s%s\n", HEAD, rest);
    return golden_job("test", text.data, text.len, err);
}

struct row {
    const char *arm, *cpu, *gpu, *governor; /* governor: "": none */
};

static void check(const char *rest, const struct row *rows, size_t count, size_t baseline)
{
    QS_BUF(err);
    struct qs_job_spec *spec = parse(rest, &err);
    if (spec == NULL)
        fail_msg("%s", err.data);
    assert_int_equal(spec->arm_count, count);
    assert_int_equal(spec->baseline, baseline);
    for (size_t a = 0; a < count; a++) {
        const struct qs_wishes *w = &qs_job_conditions(spec, 0, a)->controls.wishes;
        QS_BUF(cpu);
        QS_BUF(gpu);
        qs_wish_print(&w->frequency[QS_DOMAIN_CPU], &cpu);
        qs_wish_print(&w->frequency[QS_DOMAIN_GPU], &gpu);
        assert_string_equal(spec->arms[a].name, rows[a].arm);
        assert_string_equal(cpu.data, rows[a].cpu);
        assert_string_equal(gpu.data, rows[a].gpu);
        assert_string_equal(w->governor[QS_DOMAIN_CPU] != NULL ? w->governor[QS_DOMAIN_CPU] : "",
                            rows[a].governor);
        assert_int_equal(w->sweep_count, 0);
    }
    qs_job_free(spec);
}

static void test_each(void **state)
{
    (void)state;
    static const struct row five[] = {{"1/5", "1/5", "free", "performance"},
                                      {"2/5", "2/5", "free", "performance"},
                                      {"3/5", "3/5", "free", "performance"},
                                      {"4/5", "4/5", "free", "performance"},
                                      {"5/5", "5/5", "free", "performance"}};
    static const struct row gpu[] = {{"1/2", "max", "1/2", ""}, {"2/2", "max", "2/2", ""}};
    static const struct row list[] = {
        {"min", "min", "free", ""}, {"60%", "60%", "free", ""}, {"1800MHz", "1800MHz", "free", ""}};
    check("conditions: {frequency: each, governor: performance}", five, 5, 0);
    check("conditions: {frequency: {cpu: max, gpu: each 2}}", gpu, 2, 0);
    check("conditions: {frequency: [min, 60%, 1.8GHz]}", list, 3, 0);
}

/* Sets are made once, arms that have one frequency stay, and the baseline is the first of its own. */
static void test_of_arms(void **state)
{
    (void)state;
    static const struct row rows[] = {{"a", "free", "free", ""},
                                      {"b min", "min", "free", ""},
                                      {"b max", "max", "free", ""},
                                      {"c min", "min", "free", ""},
                                      {"c max", "max", "free", ""}};
    check("condition_sets: {s: {frequency: [min, max]}}\ncompare: {baseline: c}\n"
          "arms: {a: {argv: [a]}, b: {conditions: s}, c: {argv: [c], conditions: s}}",
          rows, 5, 3);
    QS_BUF(err);
    struct qs_job_spec *spec = parse("condition_sets: {s: {frequency: [min, max]}}\n"
                                     "arms: {b: {conditions: s}, c: {argv: [c], env: {K: v}, conditions: s}}",
                                     &err);
    assert_non_null(spec);
    assert_int_equal(spec->condition_count, 4); /* default, s, s min, s max */
    assert_string_equal(qs_job_conditions(spec, 0, 3)->name, "s max");
    assert_string_equal(spec->arms[3].argv.at[0], "c");
    assert_string_equal(spec->arms[3].env.at[0], "K=v");
    qs_job_free(spec);
}

static void test_refused(void **state)
{
    (void)state;
    static const char *const rows[][2] = {
        {"conditions: {frequency: [max]}", "2 to 32 frequencies"},
        {"conditions: {frequency: each 33}", "`each 33` is not a frequency"},
        {"conditions: {frequency: [max, fast]}", "`fast` is not a frequency"},
        {"conditions: {frequency: 0/3}", "is no place among operating points"},
        {"conditions: {frequency: 4/3}", "is no place among operating points"},
        {"conditions: {frequency: {cpu: each, gpu: each}}",
         "only one of cpu, gpu and memory can have several"},
        {"conditions: {frequency: each}\nablate: true", "`ablate` leaves out parts of one set"},
        {"conditions: {frequency: each 32}\narms: {a: {argv: [a]}, b: {argv: [b]}, c: {argv: [c]}, d: {argv: "
         "[d]}}",
         "with a run at each frequency there are 128 arms, at most 100"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        QS_BUF(err);
        assert_null(parse(rows[i][0], &err));
        if (strstr(err.data, rows[i][1]) == NULL)
            fail_msg("%s", err.data);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_each), cmocka_unit_test(test_of_arms),
                                       cmocka_unit_test(test_refused)};
    return cmocka_run_group_tests_name("config sweep", tests, NULL, NULL);
}
