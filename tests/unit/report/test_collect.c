/* Which blocks count, and with what. */
#include "report/job/metrics.h"
#include "world.h"

#include "base/mem.h"
#include "page.h"
#include "stats/twosample.h"

static struct qs_report_group *only_group(struct world *w)
{
    struct qs_report_group *g;
    size_t count;
    assert_int_equal(qs_report_groups(&w->in, NULL, &g, &count), QS_OK);
    assert_int_equal(count, 1);
    return g;
}

static void two_arms(struct world *w, uint32_t blocks, double ratio)
{
    for (uint32_t b = 1; b <= blocks; b++) {
        world_one(w, b, 0, 1000000 + 1000 * (int64_t)b);
        world_one(w, b, 1, (int64_t)(ratio * 1000000) + 1100 * (int64_t)b);
    }
}

static void test_the_last_attempt_counts(void **state)
{
    (void)state;
    struct world w;
    world_init(&w, 2, NULL);
    world_one(&w, 1, 0, 111)->superseded = true;
    struct qs_measured_run *given_up = world_one(&w, 1, 1, 112);
    world_lose(given_up, QS_RUN_INTERRUPTED);
    given_up->superseded = true;
    world_one(&w, 1, 0, 500)->attempt = 2;
    world_one(&w, 1, 1, 600)->attempt = 2;
    world_one(&w, 2, 0, 501);
    world_one(&w, 2, 1, 601);
    struct qs_report_group *g = only_group(&w);
    assert_int_equal(g->block_count, 2);
    assert_int_equal(g->used, 2);
    assert_int_equal(g->run_count, 4);
    assert_true(g->block_medians_ns[0] > 499.9 && g->block_medians_ns[0] < 500.1);
    assert_int_equal(g->arms[0].runs_seen, 2); /* runs of given-up attempts are nobody's failure */
    assert_int_equal(g->arms[1].runs_failed, 0);
    qs_report_groups_free(g, 1);
    world_done(&w);
}

static void test_incomplete_blocks(void **state)
{
    (void)state;
    struct world w;
    world_init(&w, 2, NULL);
    two_arms(&w, 3, 1.1);
    world_one(&w, 4, 0, 5); /* the other arm never ran */
    world_one(&w, 5, 0, 5); /* ... was interrupted */
    world_lose(world_one(&w, 5, 1, 5), QS_RUN_INTERRUPTED);
    world_one(&w, 6, 0, 5); /* ... measured nothing */
    world_run(&w, 6, 1, NULL, 0)->state = QS_RUN_FAILED;
    struct qs_report_group *g = only_group(&w);
    assert_int_equal(g->block_count, 6);
    assert_int_equal(g->used, 3);
    assert_int_equal(g->incomplete, 3);
    assert_int_equal(g->arms[0].runs, 3);
    assert_int_equal(g->arms[1].runs_failed, 2);
    assert_int_equal(g->metrics[0].pairs[0].v.n_used[0], 3);
    assert_int_equal(g->metrics[0].pairs[0].v.n_dropped[0], 3);
    qs_report_groups_free(g, 1);
    world_done(&w);
}

static void test_two_turns_are_a_mean_of_logs(void **state)
{
    (void)state;
    struct world w;
    world_init(&w, 2, "plan: {order: ABBA}\n");
    static const int64_t ns[] = {100, 300, 900, 400};
    static const uint32_t arm[] = {0, 1, 1, 0};
    for (uint32_t b = 1; b <= 2; b++) {
        for (uint32_t i = 0; i < (b == 1 ? 4 : 2); i++)
            world_one(&w, b, arm[i], ns[i])->pos = i;
    }
    struct qs_report_group *g = only_group(&w);
    assert_true(fabs(g->block_medians_ns[0] - 200) < 1e-9); /* sqrt(100 * 400) */
    assert_true(fabs(g->block_medians_ns[1] - sqrt(300.0 * 900)) < 1e-9);
    assert_int_equal(g->incomplete, 1); /* each arm once is half a block */
    assert_int_equal(g->arms[0].runs, 2);
    qs_report_groups_free(g, 1);
    world_done(&w);
}

/* Softly tainted blocks count only where too few are clean. */
static void disturbed_case(uint32_t blocks, uint32_t disturbed, size_t want_used, bool want_tainted)
{
    struct world w;
    world_init(&w, 2, "plan: {blocks: {min: 6, max: 30}}\n");
    for (uint32_t b = 1; b <= blocks; b++) {
        world_one(&w, b, 0, 1000 + b);
        struct qs_measured_run *s = world_one(&w, b, 1, 1100 + b);
        if (b <= disturbed)
            world_disturb(s);
    }
    struct qs_report_group *g = only_group(&w);
    assert_int_equal(g->used, want_used);
    assert_int_equal(g->uses_tainted, want_tainted);
    assert_int_equal(g->blocks_tainted, disturbed);
    assert_int_equal(g->arms[1].runs_tainted, disturbed);
    qs_report_groups_free(g, 1);
    world_done(&w);
}

static void test_disturbed_data(void **state)
{
    (void)state;
    disturbed_case(10, 0, 10, false);
    disturbed_case(10, 4, 6, false); /* six clean ones are enough */
    disturbed_case(10, 5, 10, true); /* five are not: all count */
    disturbed_case(10, 10, 10, true);
}

/* 36 noisy blocks, of which so many are clean, in any order: half-width of the log ratio, and the interval of
 * the median of the one arm. */
static double half_of(uint32_t clean, size_t want_used, double *ret_width_ns)
{
    struct world w;
    uint32_t noise[2] = {19, 77};
    world_init(&w, 2, "plan: {blocks: {min: 6, max: 99}}\n");
    for (uint32_t b = 0; b < 36; b++) {
        noise[0] = noise[0] * 1103515245 + 12345; /* a disturbed one is no other, only marked */
        noise[1] = noise[1] * 1103515245 + 12345;
        world_one(&w, b + 1, 0, 100000 + (int64_t)(noise[0] >> 20));
        struct qs_measured_run *s = world_one(&w, b + 1, 1, 100000 + (int64_t)(noise[1] >> 20));
        if ((b * 5) % 36 >= clean)
            world_disturb(s);
    }
    struct qs_report_group *g = only_group(&w);
    const struct qs_verdict *v = &g->metrics[0].pairs[0].v;
    double half = log(v->l95.hi / v->l95.lo) / 2;
    assert_int_equal(g->used, want_used);
    assert_int_equal(v->n_used[0], 36);
    assert_int_equal(g->metrics[0].pairs[0].mixed.alone[QS_CLEAN].n[0], clean);
    const struct qs_mixed_median *m = &g->metrics[0].arms[1].median;
    assert_int_equal(m->alone[QS_CLEAN].n, clean);
    assert_int_equal(m->alone[QS_DISTURBED].n, 36 - clean);
    assert_true(isnan(g->metrics[0].arms[0].median.worth)); /* none of its runs was disturbed */
    *ret_width_ns = m->ci.hi - m->ci.lo;
    qs_report_groups_free(g, 1);
    world_done(&w);
    return half;
}

/* Six clean blocks are no reason to throw thirty others away. */
static void test_good_blocks_cost_nothing(void **state)
{
    (void)state;
    double all_ns, width_ns, before = half_of(0, 36, &all_ns);
    for (uint32_t clean = 1; clean <= 36; clean++) {
        double half = half_of(clean, clean < 18 ? 36 : clean, &width_ns);
        assert_true(half < 1.1 * before);
        if (width_ns > 1.05 * all_ns) /* the six clean ones alone: four times as wide */
            fail_msg("%u clean: %g ns, all of them %g", clean, width_ns, all_ns);
        before = half;
    }
}

/* 30 of 36 times are 30 % longer: the clean ones decide, and what each kind says is told. */
static void test_times_of_one_arm_say_what_counts(void **state)
{
    (void)state;
    struct world w;
    struct qs_buf text;
    struct qs_err err = QS_ERR_INIT;
    qs_buf_init(&text);
    world_init(&w, 1, "plan: {blocks: {min: 6, max: 99}}\n");
    for (uint32_t b = 0; b < 36; b++) {
        struct qs_measured_run *s =
            world_one(&w, b + 1, 0, (b % 6 == 0 ? 1000000 : 1300000) + 1000 * (int64_t)b);
        if (b % 6 != 0)
            world_disturb(s);
    }
    assert_true(qs_report_compare(&w.in, &text, &err));
    json_t *doc = page_read(&text);
    assert_true(number(doc, "results.0.metrics.0.arms.0.median") == 1015000);
    assert_true(number(doc, "results.0.metrics.0.arms.0.median_lo") == 1000000);
    assert_true(number(doc, "results.0.metrics.0.arms.0.median_hi") == 1030000);
    assert_true(number(doc, "results.0.metrics.0.arms.0.median_runs") == 6);
    assert_true(number(doc, "results.0.metrics.0.arms.0.clean.hi") == 1030000);
    assert_true(number(doc, "results.0.metrics.0.arms.0.disturbed.runs") == 30);
    assert_true(number(doc, "results.0.metrics.0.arms.0.disturbed.median") == 1318000);
    assert_true(number(doc, "results.0.metrics.0.arms.0.disturbed_worth") == 0);
    assert_string_equal(text_at(doc, "results.0.arms.0.warnings.0.code"), "both-count");
    assert_string_equal(text_at(doc, "results.0.arms.0.warnings.0.text"),
                        "1.00 ms to 1.03 ms in the 6 clean runs alone, 1.31 ms to 1.32 ms in the 30 "
                        "disturbed ones; the clean ones count");
    json_decref(doc);
    qs_buf_done(&text);
    world_done(&w);
}

static void test_clean_iterations_before_disturbed_ones(void **state)
{
    (void)state;
    struct world w;
    world_init(&w, 1, NULL);
    static const int64_t ns[] = {10, 20, 30};
    struct qs_measured_run *s = world_run(&w, 1, 0, ns, 3);
    s->values.tainted = 1; /* a fourth */
    s->values.seen = 4;
    struct qs_report_group *g = only_group(&w);
    assert_int_equal(g->blocks_tainted, 0);
    assert_int_equal(g->arms[0].iterations, 3);
    assert_int_equal(g->arms[0].iterations_tainted, 1);
    assert_int_equal(g->arms[0].iterations_seen, 4); /* the page's head counts all, whatever stands on them */
    assert_int_equal(g->arms[0].runs_tainted, 0);
    assert_int_equal(g->iterations_per_run, 3); /* not 4: a window that was repeated does not double r */
    qs_report_groups_free(g, 1);
    world_done(&w);
}

/* An interrupted run with disturbed data is one lost run, not two. */
static void test_a_lost_run_counts_once(void **state)
{
    (void)state;
    struct world w;
    world_init(&w, 2, NULL);
    for (uint32_t b = 1; b <= 8; b++) {
        world_one(&w, b, 0, 1000 + b);
        struct qs_measured_run *s = world_one(&w, b, 1, 1100 + b);
        world_disturb(s);
        world_lose(s, QS_RUN_INTERRUPTED);
    }
    struct qs_report_group *g = only_group(&w);
    assert_int_equal(g->arms[1].runs_tainted, 0);
    assert_int_equal(g->arms[1].runs_failed, 8);
    assert_true(g->metrics[0].pairs[0].lost_p < 0.001);
    assert_true(g->metrics[0].pairs[0].lost_p < g->in->spec->alpha);
    qs_report_groups_free(g, 1);
    world_done(&w);
}

static void assert_p(size_t a, size_t n1, size_t b, size_t n2, double want)
{
    double p = qs_fisher_exact(a, n1, b, n2);
    if (!(fabs(p - want) < 1e-7))
        fail_msg("%zu/%zu against %zu/%zu: %.9g, want %.9g", a, n1, b, n2, p, want);
}

/* R: fisher.test(matrix(c(3,1,1,3),2)), fisher.test(matrix(c(8,2,1,5),2)), and by counting:
 * 0/6 against 6/6 is 2 of the 924 tables. */
static void test_fisher(void **state)
{
    (void)state;
    assert_p(3, 4, 1, 4, 0.4857142857);
    assert_p(8, 10, 1, 6, 0.03496503497);
    assert_p(0, 6, 6, 6, 2.0 / 924);
    assert_p(0, 10, 0, 10, 1);
    assert_p(10, 10, 10, 10, 1);
    assert_p(0, 0, 3, 5, 1);
    assert_true(isnan(qs_fisher_exact(3, 2, 0, 2)));
}

/* The same blocks, once with equal and once with unequal losses of runs. */
static enum qs_verdict_kind kind_with_losses(double ratio, uint32_t lost, bool *ret_forbidden)
{
    struct world w;
    world_init(&w, 2, NULL);
    two_arms(&w, 10, ratio);
    for (uint32_t b = 11; b <= 10 + lost; b++) {
        world_one(&w, b, 0, 1000000);
        world_disturb(world_one(&w, b, 1, 1000000));
    }
    struct qs_report_group *g = only_group(&w);
    enum qs_verdict_kind kind = g->metrics[0].pairs[0].v.kind;
    *ret_forbidden = strcmp(g->metrics[0].pairs[0].reason, "taint-rates-differ") == 0;
    assert_int_equal(g->metrics[0].pairs[0].lost_p<g->in->spec->alpha, lost> 0);
    qs_report_groups_free(g, 1);
    world_done(&w);
    return kind;
}

static void test_losses_forbid_good_news(void **state)
{
    (void)state;
    bool forbidden;
    assert_int_equal(kind_with_losses(1.0, 0, &forbidden), QS_VERDICT_NEGLIGIBLE);
    assert_int_equal(kind_with_losses(0.9, 0, &forbidden), QS_VERDICT_IMPROVEMENT);
    assert_false(forbidden);
    assert_int_equal(kind_with_losses(0.9, 10, &forbidden), QS_VERDICT_INCONCLUSIVE);
    assert_true(forbidden);
    assert_int_equal(kind_with_losses(1.1, 10, &forbidden), QS_VERDICT_REGRESSION); /* bad news stands */
    assert_false(forbidden);
}

static void test_groups_by_point_and_device(void **state)
{
    (void)state;
    struct world w;
    world_init(&w, 1, NULL);
    world_one(&w, 1, 0, 5);
    struct qs_measured_run *s = world_one(&w, 1, 0, 6);
    s->device[0] = 'm';
    world_one(&w, 1, 0, 7)->point = 99; /* no such point in the job */
    struct qs_report_group *g;
    size_t count;
    assert_int_equal(qs_report_groups(&w.in, NULL, &g, &count), QS_OK);
    assert_int_equal(count, 2);
    assert_string_equal(g[0].device, "local");
    assert_string_equal(g[1].device, "mocal");
    assert_true(g[1].block_medians_ns[0] > 5.9);
    qs_report_groups_free(g, 2);
    world_done(&w);
}

static void test_bins_sum_to_n(void **state)
{
    (void)state;
    struct world w;
    world_init(&w, 2, NULL);
    int64_t ns[40];
    for (int64_t i = 0; i < 40; i++)
        ns[i] = 1000 + 7 * i;
    ns[39] = 100000; /* far out */
    world_run(&w, 1, 0, ns, 40);
    world_run(&w, 1, 1, ns, 39);
    struct qs_report_group *g = only_group(&w);
    for (size_t a = 0; a < 2; a++) {
        size_t sum = g->metrics[0].arms[a].above;
        for (size_t i = 0; i < QS_REPORT_BINS; i++)
            sum += g->metrics[0].arms[a].bins[i];
        assert_int_equal(sum, g->arms[a].iterations);
    }
    assert_int_equal(g->metrics[0].arms[0].above, 1);
    assert_int_equal(g->metrics[0].arms[1].above, 0);
    assert_true(g->metrics[0].bin_lo > 999.9 && g->metrics[0].bin_lo < 1000.1); /* one axis for both */
    qs_report_groups_free(g, 1);
    world_done(&w);
}

static void test_equal_values_fill_one_bin(void **state)
{
    (void)state;
    struct world w;
    world_init(&w, 1, NULL);
    for (uint32_t b = 1; b <= 6; b++)
        world_one(&w, b, 0, 5000);
    struct qs_report_group *g = only_group(&w);
    assert_int_equal(g->metrics[0].arms[0].bins[0], 6);
    assert_int_equal(g->metrics[0].arms[0].above, 0);
    qs_report_groups_free(g, 1);
    world_done(&w);
}

static void test_seconds_per_block(void **state)
{
    (void)state;
    struct world w;
    world_init(&w, 2, NULL);
    two_arms(&w, 4, 1);
    struct qs_report_group *g = only_group(&w);
    assert_true(fabs(g->seconds_per_block - 1) < 1e-6);
    assert_int_equal(g->waited_ns, 0);
    qs_report_groups_free(g, 1);
    world_done(&w);
}

/* A run whose windows never opened ends no block, and begins none. */
static void test_blocks_without_a_start_take_no_time(void **state)
{
    (void)state;
    for (size_t lost = 0; lost < 4; lost += 3) { /* the first, the last */
        struct world w;
        world_init(&w, 2, NULL);
        two_arms(&w, 4, 1);
        w.measured.at[2 * lost].opened_ns = 0;
        struct qs_report_group *g = only_group(&w);
        assert_true(fabs(g->seconds_per_block - 1) < 1e-6);
        qs_report_groups_free(g, 1);
        world_done(&w);
    }
}

/* 2 s before the first window, which opened afterwards, and 300 ms before every other: a block takes 400 ms.
 */
static void test_waits_are_told_apart(void **state)
{
    (void)state;
    struct world w;
    world_init(&w, 2, NULL);
    two_arms(&w, 4, 1);
    for (size_t i = 0; i < w.measured.count; i++) {
        struct qs_measured_run *s = &w.measured.at[i];
        s->waited_ns = i == 0 ? 2000000000 : 300000000;
        s->busiest = qs_strdup(i == 0 ? "cc1" : "ld");
    }
    struct qs_report_group *g = only_group(&w);
    assert_true(fabs(g->seconds_per_block - 0.4) < 1e-6);
    assert_int_equal(g->waited_ns, 2000000000 + 7 * INT64_C(300000000));
    assert_string_equal(g->busiest, "cc1");
    qs_report_groups_free(g, 1);
    world_done(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_last_attempt_counts),
        cmocka_unit_test(test_incomplete_blocks),
        cmocka_unit_test(test_two_turns_are_a_mean_of_logs),
        cmocka_unit_test(test_disturbed_data),
        cmocka_unit_test(test_good_blocks_cost_nothing),
        cmocka_unit_test(test_times_of_one_arm_say_what_counts),
        cmocka_unit_test(test_clean_iterations_before_disturbed_ones),
        cmocka_unit_test(test_a_lost_run_counts_once),
        cmocka_unit_test(test_fisher),
        cmocka_unit_test(test_losses_forbid_good_news),
        cmocka_unit_test(test_groups_by_point_and_device),
        cmocka_unit_test(test_bins_sum_to_n),
        cmocka_unit_test(test_equal_values_fill_one_bin),
        cmocka_unit_test(test_seconds_per_block),
        cmocka_unit_test(test_blocks_without_a_start_take_no_time),
        cmocka_unit_test(test_waits_are_told_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
