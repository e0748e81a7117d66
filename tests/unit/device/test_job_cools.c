/* How long a gate waits for a device to cool down, and what is told where it does so otherwise than it did.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "stage_control.h"

#include "device/window/wait.h"
#include "store/model.h"

#define JOB                                                                                                  \
    "quiesce: 1\nbenchmarks: [{name: work, argv: [work]}]\narms: {a: {argv: [a]}}\n"                         \
    "plan: {seed: 1, blocks: {min: 2, max: 2}, until: {interval: 0%}, warmup: {iterations: 1},"              \
    " window: {iterations: 2}}\n"                                                                            \
    "conditions: {gate: [{sensor: 'thermal:cpu', below: 45C, timeout: 1h}]}\n"

/* Two loads: the slower curve counts; what does not fit, or warms up, does not. */
static const struct qs_model_row models[] = {
    {.kind = "cools",
     .domain = "big",
     .sensor = "thermal:cpu",
     .says = "fits",
     .tau_s = 20,
     .tau_lo_s = 19,
     .tau_hi_s = 21,
     .end_mc = 30000,
     .end_lo_mc = 29800,
     .end_hi_mc = 30200,
     .sd_mc = 100},
    {.kind = "cools",
     .domain = "all",
     .sensor = "thermal:cpu",
     .says = "fits",
     .tau_s = 50,
     .tau_lo_s = 49,
     .tau_hi_s = 51,
     .end_mc = 30000,
     .end_lo_mc = 29800,
     .end_hi_mc = 30200,
     .sd_mc = 100},
    {.kind = "cools", .domain = "little", .sensor = "thermal:cpu", .says = "short", .tau_s = 900},
    {.kind = "warms",
     .domain = "all",
     .sensor = "thermal:cpu",
     .says = "fits",
     .tau_s = 400,
     .end_mc = 90000},
    {.kind = "cools",
     .domain = "all",
     .sensor = "thermal:gpu",
     .says = "fits",
     .tau_s = 700,
     .end_mc = 1000}};

static int64_t tau_s, seconds;

/* From 70 degrees towards 30, with another time constant than the model's, or the same. */
static bool waits(struct stage *s, struct qs_msg_waiting *m)
{
    if (s->opens != 2 || m->elapsed_ns >= seconds * 1000000000)
        return false;
    m->value = 30000 + (int64_t)(40000 * exp(-(double)m->elapsed_ns / 1e9 / (double)tau_s));
    m->elapsed_ns += 1000000000;
    return true;
}

static void play(struct stage *s, struct stage_control *c, size_t count, int64_t tau, int64_t until_s)
{
    stage_control_begin(s, c, JOB);
    s->record = (struct stage_record){.models = models, .model_count = count, .waiting = waits};
    tau_s = tau;
    seconds = until_s;
    stage_go(s);
}

static void test_how_long(void **state)
{
    (void)state;
    struct stage s;
    struct stage_control c;
    play(&s, &c, sizeof models / sizeof *models, 50, 40);
    /* 50 s ln((70 - 30) / (45 - 30)) = 49.04 s */
    assert_true(stage_told(
        &s, "thermal:cpu is 70.0 \u00b0C, wanted at most 45.0 \u00b0C; cool enough in about 50 s"));
    assert_true(stage_told(&s, "\"cool_s\":49.04"));
    assert_false(stage_told(&s, "does not cool down as it did"));
    stage_control_end(&s);
    play(&s, &c, 0, 50, 40);
    assert_false(stage_told(&s, "cool enough"));
    assert_true(stage_told(&s, "\"cool_s\":null"));
    stage_control_end(&s);
}

/* Three waits that took longer: their curve counts, and what was measured is said to be over. */
static void test_as_the_last_waits_were(void **state)
{
    static char trace[2048];
    struct stage s;
    struct stage_control c;
    size_t n = 0;
    (void)state;
    for (int t = 0; t < 60; t++)
        n += (size_t)snprintf(trace + n, sizeof trace - n, "%s[%d,%.0f]", t > 0 ? "," : "[", 1000 * t,
                              30000 + 40000 * exp(-t / 100.0));
    struct qs_cooling_wait all[3];
    for (size_t i = 0; i < 3; i++)
        all[i] = (struct qs_cooling_wait){.wall_ns = 4000000000 - (int64_t)i,
                                          .facts_id = 1,
                                          .facts_json = "{}",
                                          .sensor = "thermal:cpu",
                                          .trace = trace};
    for (size_t count = 2; count < 4; count++) {
        stage_control_begin(&s, &c, JOB);
        s.record = (struct stage_record){
            .models = models, .model_count = 2, .waits = all, .wait_count = count, .waiting = waits};
        tau_s = 100;
        seconds = 20;
        stage_go(&s);
        /* 100 s ln(40 / 15) = 98.08 s; with the measured time constant the half */
        assert_true(stage_told(&s, count == 3 ? "cool enough in about 99 s" : "cool enough in about 50 s"));
        assert_int_equal(stage_told(&s, "no longer holds since 1970-01-01: its last 3 waits took 2 min 57 s, "
                                        "where 1 min 29 s were predicted"),
                         count == 3);
        assert_int_equal(stage_told(&s, "does not cool down as it did"), count == 2); /* once is enough */
        stage_control_end(&s);
    }
}

static void test_where_it_no_longer_holds(void **state)
{
    (void)state;
    struct stage s;
    struct stage_control c;
    play(&s, &c, 2, 200, 15); /* too few to say */
    assert_false(stage_told(&s, "does not cool down as it did"));
    stage_control_end(&s);
    play(&s, &c, 2, 200, 200);
    const char *said = strstr(s.news.data, "thermal:cpu of local does not cool down as it did");
    assert_non_null(said);
    assert_null(strstr(said + 1, "thermal:cpu of local does not cool")); /* once */
    stage_control_end(&s);
}

/* However long a wait was, the readings that are kept of it are few, and no two of them close. */
static void test_what_is_kept_of_a_wait(void **state)
{
    (void)state;
    struct qs_wait w = {.count = 0};
    struct qs_buf text;
    qs_buf_init(&text);
    qs_wait_json(&w, &text);
    assert_string_equal(text.data, "");
    for (int64_t s = 0; s < 3; s++)
        qs_wait_add(&w, &(struct qs_msg_waiting){.elapsed_ns = s * 1000000000,
                                                 .expectation = (uint16_t)s,
                                                 .status = s == 1 ? QS_READING_STALE : QS_READING_OK,
                                                 .value = 70 - s});
    qs_wait_json(&w, &text);
    assert_string_equal(text.data, "[[0,0,70],[2000,2,68]]");
    w = (struct qs_wait){.count = 0};
    for (int64_t s = 0; s < 4000; s++)
        qs_wait_add(&w, &(struct qs_msg_waiting){.elapsed_ns = s * 1000000000, .value = s});
    assert_in_range(w.count, QS_WAIT_READINGS_MAX / 4, QS_WAIT_READINGS_MAX);
    assert_int_equal(w.at[0].at_ms, 0);
    assert_in_range(w.at[w.count - 1].at_ms, 3800000, 3999000);
    for (size_t i = 1; i < w.count; i++) {
        assert_int_equal(w.at[i].value * 1000, w.at[i].at_ms);
        assert_in_range(w.at[i].at_ms - w.at[i - 1].at_ms, w.apart_ms, 2 * w.apart_ms);
    }
    qs_buf_done(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_how_long), cmocka_unit_test(test_as_the_last_waits_were),
        cmocka_unit_test(test_where_it_no_longer_holds), cmocka_unit_test(test_what_is_kept_of_a_wait)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
