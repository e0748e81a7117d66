/* What an earlier life of the daemon stored is taken over: closed blocks count, the one that was cut short
 * comes again. */
#include "stage.h"

#include "base/mem.h"

static const char auto_job[] = "quiesce: 1\n"
                               "benchmarks: [{name: work, argv: [work, \"{n}\"], params: {n: [1, 2]}}]\n"
                               "arms: {a: {argv: [a]}, b: {argv: [b]}}\n"
                               "plan: {seed: 1, blocks: {min: 3, max: 5}, until: {interval: 0%}}\n";

static struct qs_measured_run *add(struct qs_measured_runs *all, const char *device, uint32_t point,
                                   uint32_t block, uint32_t arm, uint32_t n)
{
    all->at = qs_grow(all->at, all->count, sizeof *all->at);
    struct qs_measured_run *s = &all->at[all->count];
    *s = (struct qs_measured_run){.point = point,
                                  .block = block,
                                  .arm = arm,
                                  .pos = arm,
                                  .state = QS_RUN_DONE,
                                  .device = qs_strdup(device),
                                  .values = {.at = qs_calloc(n + 1, sizeof(double)), .n = n},
                                  .window_n = n};
    s->run_uid[0] = (uint8_t)++all->count;
    s->run_uid[15] = 0xee;
    for (uint32_t i = 0; i < n; i++)
        s->values.at[i] = 10000000;
    return s;
}

static void add_block(struct qs_measured_runs *all, const char *device, uint32_t point, uint32_t block)
{
    add(all, device, point, block, 0, 4);
    add(all, device, point, block, 1, 4);
}

static uint32_t first_block(const struct stage *s, uint32_t point)
{
    for (size_t i = 0; i < s->run_count; i++) {
        if (s->runs[i].point == point && s->runs[i].block > 0)
            return s->runs[i].block;
    }
    return 0;
}

static void check_counted(const struct stage *s, uint32_t point, uint32_t from)
{
    for (uint32_t b = from; b <= 5; b++) {
        assert_int_equal(stage_counted(s, point, b), 2);
    }
}

static void go(struct stage *s, const struct qs_measured_runs *earlier)
{
    stage_init(s, auto_job);
    stage_earlier(s, earlier);
    stage_go(s);
    assert_int_equal(s->result.end, QS_END_DONE);
    assert_int_equal(s->conflicts, 0);
}

/* Two blocks closed, the third cut short in its second run; another device is further, and is not us. */
static void test_cut_block_is_repeated(void **state)
{
    (void)state;
    struct qs_measured_runs earlier = {0};
    for (uint32_t b = 1; b <= 5; b++)
        add_block(&earlier, "another", 0, b);
    add_block(&earlier, "local", 0, 1);
    add_block(&earlier, "local", 0, 2);
    add(&earlier, "local", 0, 3, 0, 4);
    add(&earlier, "local", 0, 3, 1, 0)->state = QS_RUN_INTERRUPTED;
    struct stage s;
    go(&s, &earlier);
    assert_int_equal(first_block(&s, 0), 3);
    check_counted(&s, 0, 3);
    check_counted(&s, 1, 1);
    for (size_t i = 0; i < s.run_count; i++) {
        const struct stage_run *r = &s.runs[i];
        if (r->point == 0 && r->block > 0) {
            assert_int_equal(r->attempt, r->block == 3 ? 1 : 0);
            assert_int_equal(r->iterations, 4); /* r is what it was, not what a pilot would say now */
        }
    }
    stage_done(&s);
    qs_measured_runs_free(&earlier);
}

/* Between two runs nothing is open, but the block is not complete. */
static void test_block_without_its_last_run(void **state)
{
    (void)state;
    struct qs_measured_runs earlier = {0};
    add_block(&earlier, "local", 0, 1);
    struct qs_measured_run *given_up = add(&earlier, "local", 0, 2, 1, 4); /* and marked */
    given_up->attempt = 1;
    given_up->superseded = true;
    add(&earlier, "local", 0, 2, 1, 4)->attempt = 2;
    struct stage s;
    struct qs_buf record;
    qs_buf_init(&record);
    stage_init(&s, auto_job);
    stage_earlier(&s, &earlier);
    s.record.out = &record;
    stage_go(&s);
    assert_int_equal(s.result.end, QS_END_DONE);
    const char *marked = strstr(record.data, "run_end interrupted");
    assert_non_null(marked);
    assert_null(strstr(marked + 1, "run_end interrupted"));
    qs_buf_done(&record);
    assert_int_equal(first_block(&s, 0), 2);
    for (size_t i = 0; i < s.run_count; i++) {
        if (s.runs[i].point == 0 && s.runs[i].block == 2)
            assert_int_equal(s.runs[i].attempt, 3);
    }
    stage_done(&s);
    qs_measured_runs_free(&earlier);
}

/* A block of disturbed runs alone was closed, too. */
static void test_a_disturbed_block_counts(void **state)
{
    (void)state;
    struct qs_measured_runs earlier = {0};
    for (uint32_t arm = 0; arm < 2; arm++) {
        struct qs_measured_run *s = add(&earlier, "local", 0, 1, arm, 4);
        s->values.disturbed = true;
    }
    struct stage s;
    go(&s, &earlier);
    assert_int_equal(first_block(&s, 0), 2);
    assert_true(stage_told(&s, "\"block\":2,"));
    stage_done(&s);
    qs_measured_runs_free(&earlier);
}

/* The very first block was cut before anything was stored: r is not known, the pilot comes first. */
static void test_nothing_but_a_begun_run(void **state)
{
    (void)state;
    struct qs_measured_runs earlier = {0};
    add(&earlier, "local", 0, 1, 0, 0)->state = QS_RUN_INTERRUPTED;
    struct stage s;
    go(&s, &earlier);
    assert_int_equal(s.runs[0].block, 0);
    check_counted(&s, 0, 1);
    for (size_t i = 0; i < s.run_count; i++) {
        if (s.runs[i].point == 0 && s.runs[i].block == 1)
            assert_int_equal(s.runs[i].attempt, 1);
        if (s.runs[i].block > 0)
            assert_int_equal(s.runs[i].iterations, 5); /* 50 ms of 10 ms each */
    }
    stage_done(&s);
    qs_measured_runs_free(&earlier);
}

/* A block that was closed with a failed run had its chances; those after it count all the same. */
static void test_hole_in_the_middle(void **state)
{
    (void)state;
    struct qs_measured_runs earlier = {0};
    add_block(&earlier, "local", 0, 1);
    add(&earlier, "local", 0, 2, 0, 4);
    add(&earlier, "local", 0, 2, 1, 0)->state = QS_RUN_FAILED;
    add_block(&earlier, "local", 0, 3);
    add_block(&earlier, "local", 0, 4);
    struct stage s;
    go(&s, &earlier);
    assert_int_equal(first_block(&s, 0), 5);
    stage_done(&s);
    qs_measured_runs_free(&earlier);
}

static void test_finished_points_stay_finished(void **state)
{
    (void)state;
    struct qs_measured_runs earlier = {0};
    for (uint32_t b = 1; b <= 5; b++)
        add_block(&earlier, "local", 0, b);
    add_block(&earlier, "local", 1, 1);
    struct stage s;
    go(&s, &earlier);
    assert_int_equal(first_block(&s, 0), 0);
    assert_int_equal(first_block(&s, 1), 2);
    stage_done(&s);
    qs_measured_runs_free(&earlier);
}

/* Three blocks were enough for point 0 then (its time was over): point 1 has begun, so they are enough now.
 */
static void test_a_later_point_ends_an_earlier_one(void **state)
{
    (void)state;
    struct qs_measured_runs earlier = {0};
    for (uint32_t b = 1; b <= 3; b++)
        add_block(&earlier, "local", 0, b);
    struct qs_measured_run *cut = add(&earlier, "local", 1, 1, 0, 4);
    cut->state = QS_RUN_INTERRUPTED;
    cut->values.n = 0; /* as the store gives it */
    struct stage s;
    go(&s, &earlier);
    assert_int_equal(first_block(&s, 0), 0);
    assert_int_equal(first_block(&s, 1), 1);
    check_counted(&s, 1, 1);
    stage_done(&s);
    qs_measured_runs_free(&earlier);
}

static void test_all_done_already(void **state)
{
    (void)state;
    struct qs_measured_runs earlier = {0};
    for (uint32_t p = 0; p < 2; p++) {
        for (uint32_t b = 1; b <= 5; b++)
            add_block(&earlier, "local", p, b);
    }
    struct stage s;
    go(&s, &earlier);
    assert_int_equal(s.run_count, 0);
    assert_string_equal(s.result.stopped, "blocks");
    stage_done(&s);
    qs_measured_runs_free(&earlier);
}

/* A window that was repeated does not double r. */
static void test_r_is_read_from_windows(void **state)
{
    (void)state;
    struct qs_measured_runs earlier = {0};
    struct qs_measured_run *s0 = add(&earlier, "local", 0, 1, 0, 8);
    s0->window_n = 4;
    add(&earlier, "local", 0, 1, 1, 4);
    struct stage s;
    go(&s, &earlier);
    for (size_t i = 0; i < s.run_count; i++) {
        if (s.runs[i].point == 0 && s.runs[i].block > 0)
            assert_int_equal(s.runs[i].iterations, 4);
    }
    stage_done(&s);
    qs_measured_runs_free(&earlier);
}

static void only_the_ruled_arm_has_a_gate(struct stage *s, const struct stage_run *run,
                                          struct stage_window *w)
{
    (void)w;
    assert_int_equal(s->gate_timeout_ns >= 0, run->arm == 0);
}

/* One arm's runs end by the rule of its set, in windows as long as before, the other's are as long as they
 * were; each has its own gate again. */
static void test_each_arm_keeps_its_set(void **state)
{
    (void)state;
    struct qs_measured_runs earlier = {0};
    add(&earlier, "local", 0, 1, 0, 15)->window_n = 5;
    add(&earlier, "local", 0, 1, 1, 7);
    add(&earlier, "local", 0, 2, 0, 15)->window_n = 5;
    struct stage s;
    stage_init(&s, "quiesce: 1\nbenchmarks: [{name: work, argv: [work]}]\nconditions: {gate: none}\n"
                   "condition_sets: {ruled: {stop: {fixed: 12}, gate: [{sensor: load1_milli, below: 9}]}}\n"
                   "arms: {a: {conditions: ruled}, b: {argv: [b]}}\n"
                   "plan: {seed: 1, blocks: {min: 3, max: 4}, until: {interval: 0%}}\n");
    s.script = only_the_ruled_arm_has_a_gate;
    stage_earlier(&s, &earlier);
    stage_go(&s);
    assert_int_equal(first_block(&s, 0), 2);
    for (size_t i = 0; i < s.run_count; i++) {
        const struct stage_run *r = &s.runs[i];
        if (r->block == 0)
            continue;
        assert_int_equal(r->attempt, r->block == 2 ? 1 : 0);
        assert_int_equal(r->windows, r->arm == 0 ? 3 : 1);
        assert_int_equal(r->iterations, r->arm == 0 ? 15 : 7);
        assert_string_equal(r->stop_reason, r->arm == 0 ? "fixed(12)" : "");
    }
    for (uint32_t b = 2; b <= 4; b++)
        assert_int_equal(stage_counted(&s, 0, b), 2);
    stage_done(&s);
    qs_measured_runs_free(&earlier);
}

/* Runs of arms that the job does not have, as a damaged database may give them, are none of its own: they say
 * nothing of r, nor of a block and its attempts. */
static void test_arms_that_there_are_not(void **state)
{
    (void)state;
    struct qs_measured_runs earlier = {0};
    add_block(&earlier, "local", 0, 1);
    add(&earlier, "local", 0, 1, 2, 50);
    add(&earlier, "local", 0, 2, 0, 4);
    add(&earlier, "local", 0, 2, UINT32_MAX, 50)->attempt = 8;
    struct stage s;
    go(&s, &earlier);
    assert_int_equal(first_block(&s, 0), 2);
    for (size_t i = 0; i < s.run_count; i++) {
        const struct stage_run *r = &s.runs[i];
        if (r->point == 0 && r->block > 0) {
            assert_int_equal(r->attempt, r->block == 2 ? 1 : 0);
            assert_int_equal(r->iterations, 4);
        }
    }
    stage_done(&s);
    qs_measured_runs_free(&earlier);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cut_block_is_repeated),
        cmocka_unit_test(test_block_without_its_last_run),
        cmocka_unit_test(test_a_disturbed_block_counts),
        cmocka_unit_test(test_nothing_but_a_begun_run),
        cmocka_unit_test(test_hole_in_the_middle),
        cmocka_unit_test(test_finished_points_stay_finished),
        cmocka_unit_test(test_a_later_point_ends_an_earlier_one),
        cmocka_unit_test(test_all_done_already),
        cmocka_unit_test(test_r_is_read_from_windows),
        cmocka_unit_test(test_each_arm_keeps_its_set),
        cmocka_unit_test(test_arms_that_there_are_not),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
