/* How long a job waits for its gates: one budget for all windows, told, and apart from measuring. Virtual
 * time. */
#include <stdio.h>

#include "stage.h"

#define MS INT64_C(1000000)

static const char busy_job[] =
    "quiesce: 1\n"
    "name: busy\n"
    "benchmarks: [{name: x, argv: [x]}]\n"
    "plan: {blocks: %s, seed: 7, window: {iterations: 1}, warmup: {iterations: 1}}\n"
    "conditions: {repeat_tainted: 0%s}\n";

static void begin(struct stage *s, const char *blocks, const char *conditions,
                  void (*script)(struct stage *s, const struct stage_run *run, struct stage_window *w))
{
    char job[800];
    snprintf(job, sizeof job, busy_job, blocks, conditions);
    stage_init(s, job);
    s->script = script;
}

static int64_t waited_ns, vain_ns, last_timeout_ns;

static void wait_in_vain(struct stage *s, struct stage_window *w)
{
    w->gate = QS_GATE_TAINTED;
    w->waited_ns = s->gate_timeout_ns;
    vain_ns += w->waited_ns;
}

static void count(struct stage *s, struct stage_window *w)
{
    w->busiest = "cc1[4711]";
    waited_ns += w->waited_ns;
    last_timeout_ns = s->gate_timeout_ns;
}

/* A neighbour that stays. */
static void always_busy(struct stage *s, const struct stage_run *run, struct stage_window *w)
{
    (void)run;
    wait_in_vain(s, w);
    count(s, w);
}

/* One that comes and goes: every second gate opens after 200 ms. */
static void now_and_then(struct stage *s, const struct stage_run *run, struct stage_window *w)
{
    (void)run;
    if (s->opens % 2 == 1)
        wait_in_vain(s, w);
    else
        w->waited_ns = s->gate_timeout_ns > 200 * MS ? 200 * MS : s->gate_timeout_ns;
    count(s, w);
}

static void go(struct stage *s)
{
    waited_ns = vain_ns = 0;
    stage_go(s);
    assert_int_equal(s->result.end, QS_END_DONE);
}

static unsigned told_times(const struct stage *s, const char *text)
{
    unsigned n = 0;
    for (const char *at = strstr(s->news.data, text); at; at = strstr(at + 1, text))
        n++;
    return n;
}

/* Hundreds of windows under the gate that every job has: 5 s, then less and less; 10 s in all. */
static void a_neighbour_that_stays_costs_two_waits(void **state)
{
    (void)state;
    struct stage s;
    begin(&s, "200", "", always_busy);
    go(&s);
    assert_int_equal(s.opens, 201);
    assert_in_range(waited_ns, 9900 * MS, 10000 * MS);
    assert_false(stage_told(&s, "job.warning"));
    assert_true(stage_told(&s, "\"busiest\":\"cc1\""));
    stage_done(&s);
}

/* The full wait is back whenever a gate opens, four times in all; then windows begin at once, which is said
 * once. */
static void one_that_comes_and_goes_uses_the_patience_up(void **state)
{
    (void)state;
    struct stage s;
    begin(&s, "100", "", now_and_then);
    go(&s);
    assert_int_equal(s.opens, 101);
    assert_int_equal(vain_ns, 20000 * MS);
    assert_int_equal(waited_ns, 20000 * MS + 3 * 200 * MS); /* gates that opened in between */
    assert_int_equal(last_timeout_ns, 0);
    assert_int_equal(told_times(&s, "job.warning"), 1);
    assert_true(
        stage_told(&s, "waited 20.0 s in vain for quiet, busiest: cc1: from now on windows begin at once"));
    assert_true(
        stage_told(&s, "\"waited_ns\":20600000000,\"waited_in_vain_ns\":20000000000,\"busiest\":\"cc1\""));
    stage_done(&s);
}

static void the_patience_is_what_a_job_says(void **state)
{
    (void)state;
    struct stage s;
    begin(&s, "50", ", patience: 7s", now_and_then);
    go(&s);
    assert_int_equal(vain_ns, 7000 * MS);
    stage_done(&s);
    begin(&s, "50",
          ", patience: 7s, gate: [{sensor: cpu.busy_ratio_ppm, below: 10%, timeout: 2s, backoff: false}]",
          always_busy);
    go(&s);
    assert_int_equal(vain_ns, 7000 * MS); /* 2, 2, 2, 1 */
    stage_done(&s);
}

/* What opens in the end is what the gate is for, however often. */
static void always_opens(struct stage *s, const struct stage_run *run, struct stage_window *w)
{
    (void)run;
    w->waited_ns = 3000 * MS;
    count(s, w);
}

static void waits_that_end_well_are_not_counted_against_it(void **state)
{
    (void)state;
    struct stage s;
    begin(&s, "50", "", always_opens);
    go(&s);
    assert_int_equal(waited_ns, 51 * 3000 * MS);
    assert_int_equal(last_timeout_ns, 5000 * MS);
    assert_false(stage_told(&s, "job.warning"));
    stage_done(&s);
}

/* A gate that gives the device back has its own timeout, in each window. */
static void gates_that_do_not_mark_keep_theirs(void **state)
{
    (void)state;
    struct stage s;
    begin(&s, "20",
          ", patience: 1s, gate: [{sensor: cpu.busy_ratio_ppm, below: 10%, timeout: 9s, on_timeout: defer}]",
          always_opens);
    go(&s);
    assert_int_equal(last_timeout_ns, 9000 * MS);
    stage_done(&s);
}

/* As many blocks for a point on a busy machine as on a quiet one. */
static void waits_eat_no_measuring_time(void **state)
{
    (void)state;
    unsigned opens[2];
    for (int busy = 0; busy < 2; busy++) {
        struct stage s;
        begin(&s, "{min: 4, max: 90}, until: {interval: 0, time: 500ms}", "", busy ? always_opens : NULL);
        go(&s);
        opens[busy] = s.opens;
        assert_true(stage_told(&s, "\"blocks_max\":90"));
        stage_done(&s);
    }
    assert_in_range(opens[0], 20, 60);
    assert_int_equal(opens[0], opens[1]);
}

/* Two arms of one block: the gate of one stays shut, the other has none. Each has its own patience, and a
 * window without a gate between does not give the full wait back. */
static void loud_arm_waits(struct stage *s, const struct stage_run *run, struct stage_window *w)
{
    (void)run;
    if (s->gate_timeout_ns < 0)
        return;
    wait_in_vain(s, w);
    count(s, w);
}

static void each_set_of_conditions_has_its_own(void **state)
{
    (void)state;
    struct stage s;
    stage_init(&s, "quiesce: 1\n"
                   "benchmarks: [{name: x, argv: [x]}]\n"
                   "arms: {a: {conditions: default}, b: {conditions: open}, c: {conditions: short}}\n"
                   "plan: {blocks: 60, seed: 7, window: {iterations: 1}, warmup: {iterations: 1}}\n"
                   "conditions: {repeat_tainted: 0}\n"
                   "condition_sets: {open: {gate: none}, short: {patience: 2s, gate: [{sensor: "
                   "cpu.busy_ratio_ppm, below: 10%, timeout: 500ms, backoff: false}]}}\n");
    s.script = loud_arm_waits;
    go(&s);
    assert_int_equal(s.opens, 3 * 61);
    assert_in_range(vain_ns, 11900 * MS, 12000 * MS);   /* 5, 2.5, 1.25, ... and four times half a second */
    assert_int_equal(told_times(&s, "job.warning"), 1); /* of the one that was used up */
    assert_true(stage_told(&s, "waited 2.00 s in vain for quiet, busiest: cc1"));
    stage_done(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_neighbour_that_stays_costs_two_waits),
        cmocka_unit_test(one_that_comes_and_goes_uses_the_patience_up),
        cmocka_unit_test(the_patience_is_what_a_job_says),
        cmocka_unit_test(waits_that_end_well_are_not_counted_against_it),
        cmocka_unit_test(gates_that_do_not_mark_keep_theirs),
        cmocka_unit_test(waits_eat_no_measuring_time),
        cmocka_unit_test(each_set_of_conditions_has_its_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
