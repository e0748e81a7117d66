/* Stop rules: what each says on series whose answer is known, how they join, and their caps. */
#include "reference.h"
#include "second.h"

#include "stats/stopping.h"
#include "stats/stopping_impl.h"
#include "stats/describe.h"
#include "stats/rng.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

enum { MANY = 4000 };

struct walk { /* where and how a series was ended, asked after each `step` values */
    size_t n, kept_from, restarts;
    enum qs_stopping_verdict verdict;
    char reason[300];
};

static struct walk walk(const struct qs_rule *rule, const double *x, size_t n, size_t step)
{
    struct qs_stopping_caps caps = qs_stopping_default_caps();
    struct qs_stopping *c = qs_stopping_new(rule, &caps);
    struct qs_stopping_now now = {0};
    struct walk w = {0};
    assert_non_null(c);
    for (size_t i = 0; i < n && w.verdict < QS_STOPPING_STOP; i++) {
        assert_int_equal(qs_stopping_push(c, x[i], false), QS_OK);
        now.measured_ns += x[i];
        if ((i + 1) % step != 0)
            continue;
        w.verdict = qs_stopping_judge(c, &now);
        w.restarts += w.verdict == QS_STOPPING_RESTART ? 1 : 0;
    }
    w.n = qs_stopping_n(c);
    w.kept_from = qs_stopping_kept_from(c);
    (void)snprintf(w.reason, sizeof w.reason, "%s", qs_stopping_reason(c));
    qs_stopping_free(c);
    return w;
}

static void fill(double *x, size_t n, double level, double sd, uint64_t seed)
{
    struct qs_rng rng;
    qs_rng_seed(&rng, seed, 0);
    for (size_t i = 0; i < n; i++)
        x[i] = level * (1 + sd * 3.4641016 * (qs_rng_unit(&rng) - 0.5));
}

static struct qs_rule leaf(enum qs_rule_kind kind, double a, double b, double c, double d)
{
    struct qs_rule rule = qs_rule_default(kind);
    double values[] = {a, b, c, d};
    for (size_t i = 0; i < 4; i++)
        rule.arg[i] = isnan(values[i]) ? rule.arg[i] : values[i];
    return rule;
}

static void check_metrics(const char *name, json_t *want, const struct series *s)
{
    json_t *futhark = ref_at(want, "futhark");
    struct qs_futhark got;
    if (!futhark)
        return;
    assert_int_equal(qs_futhark_metrics(s->v, s->n, NULL, 0, QS_ROOT_SQUARE, &got), QS_OK);
    check_near(name, got.rse, ref_number(futhark, "rse"), 1e-9, 0);
    check_near(name, got.r1, ref_number(futhark, "acor"), 1e-9, 1e-12);
    check_true(name,
               qs_futhark_wants_more(&got, QS_FUTHARK_ORIGINAL, 1) == (ref_number(futhark, "next") > 0));
    check_true(name, qs_futhark_wants_more(&got, QS_FUTHARK_CORRECTED, 1) ==
                         (ref_number(futhark, "next_fixed") > 0));
}

/* An independent implementation's metrics, and whether it went on. */
static void test_futhark_metrics(void **state)
{
    (void)state;
    EXPECT(second_each(check_metrics) >= 20);
}

static void test_futhark_pairs(void **state)
{
    (void)state;
    const struct qs_futhark loose = {.rse = 0.02, .r1 = -0.1}, tight = {.rse = 0.0012, .r1 = 0.7};
    assert_false(qs_futhark_wants_more(&loose, QS_FUTHARK_ORIGINAL, 1)); /* the defect */
    assert_true(qs_futhark_wants_more(&loose, QS_FUTHARK_CORRECTED, 1));
    assert_false(qs_futhark_wants_more(&tight, QS_FUTHARK_CORRECTED, 1));
    assert_false(qs_futhark_wants_more(&tight, QS_FUTHARK_CORRECTED, 2)); /* .0012 <= .0025/2 */
    assert_true(qs_futhark_wants_more(&tight, QS_FUTHARK_CORRECTED, 4));
    double x[] = {1, 2, 3, 4, 5, 6, 7, 8};
    struct qs_futhark square, cube;
    assert_int_equal(qs_futhark_metrics(x, 8, NULL, 0, QS_ROOT_SQUARE, &square), QS_OK);
    assert_int_equal(qs_futhark_metrics(x, 8, NULL, 0, QS_ROOT_CUBE, &cube), QS_OK);
    check_near("square", square.rse, sqrt(5.25) / (sqrt(8) * 4.5), 1e-14, 0);
    check_near("cube", cube.rse, sqrt(5.25) / (2 * 4.5), 1e-14, 0);
    assert_int_equal(qs_futhark_metrics(x, 2, NULL, 0, QS_ROOT_SQUARE, &square), QS_OK);
    assert_true(square.r1 == 1);
    assert_int_equal(qs_futhark_metrics(NULL, 0, NULL, 0, QS_ROOT_SQUARE, &square), QS_ENODATA);
}

/* 100 ms each: the first is a warm-up, ten are 1 s. Warm-up seen then is thrown away, and 10 fresh ones do.
 */
static void test_futhark_phases(void **state)
{
    (void)state;
    static double x[MANY];
    struct qs_rule rule = qs_rule_default(QS_RULE_FUTHARK);
    fill(x, MANY, 1e8, 0, 1);
    struct walk w = walk(&rule, x, MANY, 1);
    assert_int_equal(w.n, 11);
    assert_int_equal(w.kept_from, 1);
    assert_string_equal(w.reason, "futhark");
    for (size_t i = 0; i < 8; i++)
        x[i] = 1e8 * (double)(10 - i);
    w = walk(&rule, x, MANY, 1);
    assert_int_equal(w.n, 21);
    assert_int_equal(w.kept_from, 11);
    assert_int_equal(w.restarts, 2); /* the uncounted first one, and the phase */
    rule.arg[1] = 5e9;               /* initial: 5 s are 50 iterations of the 100 ms */
    for (size_t i = 0; i < 8; i++)
        x[i] = 1e8;
    assert_int_equal(walk(&rule, x, MANY, 1).n, 51);
}

/* statistics.md section 10, `stable`, word for word: every median anew. */
static bool naive_stable(const double *y, size_t len, const double *arg, size_t *drop)
{
    *drop = 0;
    if (len < (size_t)arg[0])
        return false;
    double middle, first, second, m_lo = INFINITY, m_hi = -INFINITY, q_lo = INFINITY, q_hi = -INFINITY;
    assert_int_equal(qs_median(y, len, &middle), QS_OK);
    assert_int_equal(qs_median(y, len / 2, &first), QS_OK);
    assert_int_equal(qs_median(y + len / 2, len - len / 2, &second), QS_OK);
    for (size_t j = len / 2;; j = j + 5 < len || j == len ? j + 5 : len) {
        if (j > len)
            break;
        struct qs_summary s;
        assert_int_equal(qs_describe(y, j, &s), QS_OK);
        m_lo = fmin(m_lo, s.median);
        m_hi = fmax(m_hi, s.median);
        q_lo = fmin(q_lo, s.iqr);
        q_hi = fmax(q_hi, s.iqr);
    }
    double moved = fabs(first - second) / middle;
    if (len >= 2 * (size_t)arg[0] && moved > 2 * arg[1])
        *drop = len / 4;
    return (m_hi - m_lo) / middle <= arg[1] && (q_hi - q_lo) / middle <= arg[2] && moved <= arg[1];
}

static size_t naive_end(const struct qs_rule *rule, const double *x, size_t n, size_t *start)
{
    *start = 0;
    for (size_t i = 5; i <= n; i += 5) {
        size_t drop;
        if (naive_stable(x + *start, i - *start, rule->arg, &drop))
            return i;
        *start += drop;
    }
    return n;
}

static void test_stable_is_the_page(void **state)
{
    (void)state;
    static double x[600];
    struct qs_rule rule = leaf(QS_RULE_STABLE, 30, 0.005, 0.01, QS_STABLE_DROPS_OLDEST);
    size_t ended = 0;
    for (uint64_t seed = 1; seed <= 30; seed++) {
        fill(x, 600, 1e6, 0.01, seed);
        for (size_t i = 0; i < 10 * (size_t)seed; i++)
            x[i] *= 1 + 0.01 * (double)seed;
        size_t start, end = naive_end(&rule, x, 600, &start);
        struct walk w = walk(&rule, x, 600, 5);
        assert_int_equal(w.n, end);
        if (w.verdict != QS_STOPPING_STOP)
            continue;
        assert_int_equal(w.kept_from, start);
        ended++;
    }
    EXPECT(ended >= 20);
}

static void test_constant_series_end_at_once(void **state)
{
    (void)state;
    static double x[MANY];
    fill(x, MANY, 1e6, 0, 1);
    struct qs_rule stable = qs_rule_default(QS_RULE_STABLE), settled = qs_rule_default(QS_RULE_SETTLED);
    assert_int_equal(walk(&stable, x, MANY, 1).n, 30);
    assert_int_equal(walk(&settled, x, MANY, 1).n, 400);
    memset(x, 0, sizeof x);
    assert_int_equal(walk(&stable, x, MANY, 1).n, 30);
    struct qs_rule cov = leaf(QS_RULE_COV_WINDOW, 3, 1, NAN, NAN), rse = qs_rule_default(QS_RULE_RSE);
    assert_int_equal(walk(&cov, x, 100, 1).verdict, QS_STOPPING_GO_ON); /* a mean of 0 has no CoV */
    assert_int_equal(walk(&rse, x, 100, 1).verdict, QS_STOPPING_GO_ON);
}

static void test_settled_waits_for_the_step(void **state)
{
    (void)state;
    static double x[MANY];
    struct qs_rule rule = leaf(QS_RULE_SETTLED, 100, 0.02, 4, NAN);
    fill(x, MANY, 1e6, 0.01, 3);
    for (size_t i = 0; i < 90; i++)
        x[i] *= 2;
    struct walk w = walk(&rule, x, MANY, 5);
    assert_int_equal(w.verdict, QS_STOPPING_STOP);
    EXPECT(w.n >= 150 && w.n <= 180); /* the younger half must hold less than half a part of the old level */
    assert_int_equal(w.kept_from, w.n / 2);
    assert_string_equal(w.reason, "settled(100, 2 %)");
    assert_int_equal(w.restarts, 0);
}

/* Whoever asks tells the answers; without one a rule does not hold. */
static void test_external_rules(void **state)
{
    (void)state;
    char name[] = "enough", other[] = "other";
    struct qs_rule leaves[] = {{.kind = QS_RULE_EXTERNAL, .name = name},
                               {.kind = QS_RULE_EXTERNAL, .name = other}};
    struct qs_rule any = {.kind = QS_RULE_ANY, .child = leaves, .child_count = 2};
    struct qs_stopping_caps caps = qs_stopping_default_caps();
    struct qs_rule_answer answers[] = {{"other", false}, {"enough", false}};
    struct qs_stopping_now now = {.measured_ns = 1};
    struct qs_stopping *c = qs_stopping_new(&any, &caps);
    assert_non_null(c);
    assert_int_equal(qs_stopping_push(c, 1, false), QS_OK);
    assert_int_equal(qs_stopping_judge(c, &now), QS_STOPPING_GO_ON);
    now.answers = answers;
    now.answer_count = 2;
    assert_int_equal(qs_stopping_judge(c, &now), QS_STOPPING_GO_ON);
    answers[0].holds = true;
    assert_int_equal(qs_stopping_judge(c, &now), QS_STOPPING_STOP);
    assert_string_equal(qs_stopping_reason(c), "external(other)");
    qs_stopping_free(c);
    leaves[0].name = NULL;
    assert_null(qs_stopping_new(&any, &caps));
    leaves[0] = (struct qs_rule){.kind = QS_RULE_FIXED, .arg = {5}, .name = name};
    assert_null(qs_stopping_new(&any, &caps));
}

static void test_simple_rules(void **state)
{
    (void)state;
    static double x[MANY];
    fill(x, MANY, 1e8, 0.02, 4);
    const struct {
        struct qs_rule rule;
        size_t least, most;
        const char *reason;
    } cases[] = {
        {leaf(QS_RULE_FIXED, 35, NAN, NAN, NAN), 35, 35, "fixed(35)"},
        {leaf(QS_RULE_TIME, 1.05e9, NAN, NAN, NAN), 10, 12, "time(1.05 s)"},
        {leaf(QS_RULE_BUDGET, 5e9, 7, NAN, NAN), 7, 7, "budget(5 s, 7)"},
        {leaf(QS_RULE_BUDGET, 5e8, 7, NAN, NAN), 5, 6, "budget(500 ms, 7)"},
        {leaf(QS_RULE_COV_WINDOW, 20, 0.05, NAN, NAN), 20, 20, "cov_window(20, 5 %)"},
        /* sd 2 %: rse 0.5 % needs 16, the mean's interval of 0.5 % (2 * 2 % / 0.5 %)^2 = 64 */
        {leaf(QS_RULE_RSE, 0.005, 5, NAN, NAN), 10, 25, "rse(0.5 %, least 5)"},
        {leaf(QS_RULE_RSE, 0.005, 5, QS_ROOT_CUBE, NAN), 50, 90, "rse(0.5 %, least 5, root cube)"},
        {leaf(QS_RULE_CI_WIDTH, QS_CI_MEAN, 0.005, NAN, NAN), 40, 200, "ci_width(mean, 0.5 %)"},
        {leaf(QS_RULE_CI_WIDTH, QS_CI_MEDIAN, 0.005, NAN, NAN), 60, 600, "ci_width(median, 0.5 %)"},
        {leaf(QS_RULE_PLANNER, 12, 20, NAN, NAN), 12, 12, "planner(least 12, most 20)"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct walk w = walk(&cases[i].rule, x, MANY, 1);
        assert_int_equal(w.verdict, QS_STOPPING_STOP);
        check_true(cases[i].reason, w.n >= cases[i].least && w.n <= cases[i].most);
        assert_string_equal(w.reason, cases[i].reason);
    }
}

static enum qs_stopping_verdict judge_n(const struct qs_rule *rule, size_t n,
                                        const struct qs_stopping_now *now, char *reason, size_t bytes)
{
    struct qs_stopping_caps caps = {.time_ns = 9e9, .iterations = 50};
    struct qs_stopping *c = qs_stopping_new(rule, &caps);
    assert_non_null(c);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(qs_stopping_push(c, 1e6, false), QS_OK);
    enum qs_stopping_verdict v = qs_stopping_judge(c, now);
    (void)snprintf(reason, bytes, "%s", qs_stopping_reason(c));
    qs_stopping_free(c);
    return v;
}

static void test_joined(void **state)
{
    (void)state;
    struct qs_rule two[] = {leaf(QS_RULE_FIXED, 3, NAN, NAN, NAN), leaf(QS_RULE_FIXED, 5, NAN, NAN, NAN)};
    const struct {
        enum qs_rule_kind kind;
        size_t children;
        bool at[3]; /* 2, 4 and 6 iterations */
        const char *reason;
    } cases[] = {{QS_RULE_ANY, 2, {false, true, true}, "fixed(3)"},
                 {QS_RULE_ALL, 2, {false, false, true}, "fixed(3) and fixed(5)"},
                 {QS_RULE_NOT, 1, {true, false, false}, "not(fixed(3))"},
                 {QS_RULE_XOR, 2, {false, true, false}, "xor(fixed(3), fixed(5))"}};
    struct qs_stopping_now now = {0};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct qs_rule rule = {.kind = cases[i].kind, .child = two, .child_count = cases[i].children};
        for (size_t k = 0; k < 3; k++) {
            char reason[100];
            bool stops = judge_n(&rule, 2 + 2 * k, &now, reason, sizeof reason) == QS_STOPPING_STOP;
            assert_int_equal(stops, cases[i].at[k]);
            assert_string_equal(reason, stops ? cases[i].reason : "");
        }
    }
}

static void test_caps_and_what_is_told(void **state)
{
    (void)state;
    char reason[100];
    struct qs_rule never = leaf(QS_RULE_FIXED, 1000, NAN, NAN, NAN);
    struct qs_stopping_now now = {.measured_ns = 8.9e9};
    assert_int_equal(judge_n(&never, 49, &now, reason, sizeof reason), QS_STOPPING_GO_ON);
    assert_int_equal(judge_n(&never, 50, &now, reason, sizeof reason), QS_STOPPING_CAPPED);
    assert_string_equal(reason, "cap of 50 iterations");
    now.measured_ns = 9e9;
    assert_int_equal(judge_n(&never, 0, &now, reason, sizeof reason), QS_STOPPING_CAPPED);
    assert_string_equal(reason, "cap of 9 s");
    now = (struct qs_stopping_now){.planned = 30};
    struct qs_rule planner = leaf(QS_RULE_PLANNER, 10, 40, NAN, NAN);
    assert_int_equal(judge_n(&planner, 29, &now, reason, sizeof reason), QS_STOPPING_GO_ON);
    assert_int_equal(judge_n(&planner, 30, &now, reason, sizeof reason), QS_STOPPING_STOP);
    now.planned = SIZE_MAX;
    assert_int_equal(judge_n(&planner, 39, &now, reason, sizeof reason), QS_STOPPING_GO_ON);
    assert_int_equal(judge_n(&planner, 40, &now, reason, sizeof reason), QS_STOPPING_STOP);
}

/* At a cap the values that a rule has set aside already do not count, whichever rule it is. */
static void test_a_cap_keeps_what_was_set_aside(void **state)
{
    (void)state;
    const struct qs_rule settled = leaf(QS_RULE_SETTLED, 100, 1e-4, 4, NAN);
    struct qs_rule rules[] = {settled, qs_rule_default(QS_RULE_FUTHARK), settled,
                              leaf(QS_RULE_FIXED, 1000, NAN, NAN, NAN)};
    const size_t cases[][3] = {{3, 1, 0}, {1, 1, 1}, {1, 3, 150}, {0, 2, 150}}; /* from, count, kept from */
    const struct qs_stopping_caps caps = {.iterations = 300, .time_ns = 1e18};
    double x[300];
    fill(x, 300, 1e6, 0.01, 3);
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        struct qs_rule all = {.kind = QS_RULE_ALL, .child = rules + cases[k][0], .child_count = cases[k][1]};
        struct qs_stopping *c = qs_stopping_new(&all, &caps);
        for (size_t i = 0; i < 300; i++)
            assert_int_equal(qs_stopping_push(c, x[i], false), QS_OK);
        assert_int_equal(qs_stopping_judge(c, &(struct qs_stopping_now){0}), QS_STOPPING_CAPPED);
        assert_int_equal(qs_stopping_kept_from(c), cases[k][2]);
        qs_stopping_free(c);
    }
}

/* A series that creeps is worth few values; where each stood alone it would be worth all. */
static void test_gaps_are_where_they_are_told(void **state)
{
    (void)state;
    struct qs_rule narrow = leaf(QS_RULE_CI_WIDTH, QS_CI_MEAN, 0.01, NAN, NAN);
    const struct qs_stopping_caps caps = {.iterations = 1000, .time_ns = 1e18};
    for (size_t gap = 0; gap < 2; gap++) {
        struct qs_stopping *c = qs_stopping_new(&narrow, &caps);
        for (size_t i = 0; i < 200; i++)
            assert_int_equal(qs_stopping_push(c, 1e6 + 600 * (double)i, i == 0 || gap == 1), QS_OK);
        assert_int_equal(qs_stopping_judge(c, &(struct qs_stopping_now){0}),
                         gap == 1 ? QS_STOPPING_STOP : QS_STOPPING_GO_ON);
        qs_stopping_free(c);
    }
}

static void test_what_is_refused(void **state)
{
    (void)state;
    struct qs_stopping_caps caps = qs_stopping_default_caps();
    struct qs_rule child = qs_rule_default(QS_RULE_FIXED), bad = leaf(QS_RULE_FIXED, 0, NAN, NAN, NAN);
    const struct qs_rule rules[] = {bad,
                                    leaf(QS_RULE_FIXED, -INFINITY, NAN, NAN, NAN),
                                    {.kind = QS_RULE_ANY},
                                    {.kind = QS_RULE_NOT},
                                    {.kind = QS_RULE_ALL, .child = &bad, .child_count = 1},
                                    {.kind = QS_RULE_KINDS},
                                    {.kind = QS_RULE_FIXED, .arg = {3}, .child = &child, .child_count = 1}};
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        assert_null(qs_stopping_new(&rules[i], &caps));
    struct qs_stopping *c = qs_stopping_new(&child, &caps);
    assert_int_equal(qs_stopping_push(c, NAN, false), QS_EDOM);
    assert_int_equal(qs_stopping_push(c, INFINITY, false), QS_EDOM);
    assert_int_equal(qs_stopping_push(c, -1, false), QS_EDOM);
    assert_int_equal(qs_stopping_n(c), 0);
    qs_stopping_free(c);
    qs_stopping_free(NULL);
}

/* Every rule, alone, survives a judge after each of few, tied, huge and zero values. */
static void test_hostile_series(void **state)
{
    (void)state;
    const double values[] = {0, 1, 1, 1e300, 5e-324, 0, 3, 1e300, 1e300, 2};
    struct qs_stopping_caps caps = qs_stopping_default_caps();
    for (int k = 0; k < QS_RULE_LEAVES; k++) {
        char name[] = "x";
        struct qs_rule rule = qs_rule_default((enum qs_rule_kind)k);
        rule.name = k == QS_RULE_EXTERNAL ? name : NULL;
        struct qs_stopping *c = qs_stopping_new(&rule, &caps);
        struct qs_stopping_now now = {0};
        assert_non_null(c);
        for (size_t i = 0; i < 500; i++) {
            assert_int_equal(qs_stopping_push(c, values[i % 10], i % 7 == 3), QS_OK);
            (void)qs_stopping_judge(c, &now);
            assert_true(qs_stopping_kept_from(c) <= i);
        }
        qs_stopping_free(c);
    }
}

/* Rules without memory say the same whenever they are asked. */
static void test_order_of_asking_does_not_matter(void **state)
{
    (void)state;
    static double x[800];
    fill(x, 800, 1e7, 0.03, 9);
    static const enum qs_rule_kind kinds[] = {QS_RULE_COV_WINDOW, QS_RULE_CI_WIDTH, QS_RULE_RSE,
                                              QS_RULE_SETTLED};
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        struct qs_rule rule = qs_rule_default(kinds[k]);
        struct walk often = walk(&rule, x, 800, 1), once = walk(&rule, x, often.n, often.n);
        assert_int_equal(once.verdict, often.verdict);
        assert_string_equal(once.reason, often.reason);
        assert_int_equal(once.kept_from, often.kept_from);
    }
}

static void test_median_by_selection(void **state)
{
    (void)state;
    struct qs_rng rng;
    qs_rng_seed(&rng, 7, 7);
    double x[64], scratch[64], want;
    for (size_t round = 0; round < 2000; round++) {
        size_t n = 1 + (size_t)qs_rng_below(&rng, 64);
        for (size_t i = 0; i < n; i++)
            x[i] = (double)qs_rng_below(&rng, round % 2 ? 4 : 1000000);
        assert_int_equal(qs_median(x, n, &want), QS_OK);
        check_near("median", qs_leaf_median(x, n, scratch), want, 1e-15, 0);
    }
}

static void test_presets_and_texts(void **state)
{
    (void)state;
    static const char *const texts[QS_PRESETS] = {"all(cov_window(20, 5 %), fixed(30))", "settled(400, 2 %)",
                                                  "stable(30, drop none)", "budget(5 s, 10000)", "fixed(35)"};
    struct qs_stopping_caps caps = qs_stopping_default_caps();
    char text[200];
    for (size_t i = 0; i < QS_PRESETS; i++) {
        assert_int_equal(qs_rule_text(&qs_presets[i].rule, text, sizeof text), strlen(texts[i]));
        assert_string_equal(text, texts[i]);
        struct qs_stopping *c = qs_stopping_new(&qs_presets[i].rule, &caps);
        assert_non_null(c);
        qs_stopping_free(c);
    }
    assert_int_equal(qs_rule_text(&qs_presets[0].rule, text, 5), strlen(texts[0]));
    assert_string_equal(text, "all(");
    for (int k = 0; k < QS_RULE_KINDS; k++) {
        enum qs_rule_kind found;
        assert_true(qs_rule_find(qs_rule_row((enum qs_rule_kind)k)->name, &found));
        assert_int_equal(found, k);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_futhark_metrics),
        cmocka_unit_test(test_futhark_pairs),
        cmocka_unit_test(test_futhark_phases),
        cmocka_unit_test(test_stable_is_the_page),
        cmocka_unit_test(test_constant_series_end_at_once),
        cmocka_unit_test(test_settled_waits_for_the_step),
        cmocka_unit_test(test_external_rules),
        cmocka_unit_test(test_simple_rules),
        cmocka_unit_test(test_joined),
        cmocka_unit_test(test_caps_and_what_is_told),
        cmocka_unit_test(test_a_cap_keeps_what_was_set_aside),
        cmocka_unit_test(test_gaps_are_where_they_are_told),
        cmocka_unit_test(test_what_is_refused),
        cmocka_unit_test(test_hostile_series),
        cmocka_unit_test(test_order_of_asking_does_not_matter),
        cmocka_unit_test(test_median_by_selection),
        cmocka_unit_test(test_presets_and_texts),
    };
    return cmocka_run_group_tests_name("stopping", tests, NULL, NULL);
}
