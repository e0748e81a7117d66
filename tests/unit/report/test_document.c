/* The comparison document: golden for a fixed sample, valid JSON in every corner, and described field by
 * field in schema/comparison.md. */
#include "metrics.h"

#include <stdio.h>

#include "listener.h"
#include "page.h"
#include "base/mem.h"
#include "report/job/opinion.h"

static json_t *document(struct world *w, struct qs_buf *text)
{
    struct qs_err err = QS_ERR_INIT;
    qs_buf_clear(text);
    assert_true(qs_report_compare(&w->in, text, &err));
    return page_read(text);
}

/* A small sample with everything in it: two arms, ten clean blocks, a disturbed one and an incomplete one. */
static void fill(struct world *w)
{
    static const int64_t wobble[] = {0, 900, -700, 300, -200, 1500, -1100, 400, 100, -600};
    for (uint32_t b = 1; b <= 10; b++) {
        for (uint32_t a = 0; a < 2; a++) {
            int64_t base = 2000000 + 160000 * a + wobble[(b + 3 * a) % 10];
            const int64_t ns[] = {base + 4000, base, base + 2000, base - 1000, base + 1000};
            world_run(w, b, a, ns, 5);
        }
    }
    world_one(w, 11, 0, 2000000);
    world_disturb(world_one(w, 11, 1, 9000000));
    world_one(w, 12, 0, 2000000);
    world_run(w, 12, 1, NULL, 0)->state = QS_RUN_FAILED;
    w->in.taints_json =
        "[{\"arm\":1,\"code\":\"cpu.steal_ticks\",\"windows\":1,\"iterations\":1,\"example\":\"x\"}]";
    w->in.environment_json = "{\"agent\":\"1\"}";
    w->info.reason = w->in.spec->name; /* any text */
}

static void test_golden(void **state)
{
    (void)state;
    struct world w;
    struct qs_buf text;
    qs_buf_init(&text);
    world_init(&w, 2, NULL);
    fill(&w);
    json_t *doc = document(&w, &text);
    char *pretty = json_dumps(doc, JSON_INDENT(1) | JSON_REAL_PRECISION(9));
    qs_buf_clear(&text);
    qs_buf_fmt(&text, "%s\n", pretty);
    free(pretty);
    golden_check("comparison.json", &text);
    json_decref(doc);
    qs_buf_done(&text);
    world_done(&w);
}

static void test_what_it_says(void **state)
{
    (void)state;
    struct world w;
    struct qs_buf text;
    qs_buf_init(&text);
    world_init(&w, 2, NULL);
    w.spec->arms[1].build_label = qs_strdup("v2");
    fill(&w);
    json_t *doc = document(&w, &text);
    assert_true(json_is_null(at(doc, "results.0.arms.0.build")));
    assert_string_equal(text_at(doc, "results.0.arms.1.build"), "v2");
    assert_string_equal(text_at(doc, "seed"), "18446744073709551615");
    assert_string_equal(text_at(doc, "results.0.arms.1.command"), "b 'it'\\''s' x");
    assert_string_equal(text_at(doc, "results.0.comparisons.0.verdict"), "regression");
    assert_int_equal(json_integer_value(at(doc, "results.0.blocks")), 12);
    assert_int_equal(json_integer_value(at(doc, "results.0.blocks_used")), 10);
    assert_int_equal(json_integer_value(at(doc, "results.0.blocks_tainted")), 1);
    assert_int_equal(json_integer_value(at(doc, "results.0.blocks_incomplete")), 1);
    assert_int_equal(json_integer_value(at(doc, "results.0.iterations_per_run")), 5);
    assert_int_equal(json_integer_value(at(doc, "results.0.arms.0.iterations")), 50);
    assert_int_equal(json_integer_value(at(doc, "elapsed_ns")), 4999999000);
    double ratio = json_real_value(at(doc, "results.0.comparisons.0.ratio"));
    assert_true(ratio > 1.079 && ratio < 1.081);
    assert_true(has_warning(doc, "results.0.warnings", "left-out"));
    assert_true(has_warning(doc, "results.0.warnings", "incomplete"));
    assert_true(has_warning(doc, "results.0.arms.1.warnings", "failed"));
    assert_true(has_warning(doc, "results.0.arms.1.warnings", "tainted"));
    assert_false(has_warning(doc, "results.0.arms.0.warnings", "failed"));
    json_decref(doc);
    qs_buf_done(&text);
    world_done(&w);
}

static void test_corners(void **state)
{
    (void)state;
    struct world w;
    struct qs_buf text;
    qs_buf_init(&text);
    world_init(&w, 3, NULL);
    json_decref(document(&w, &text)); /* nothing at all */
    assert_non_null(strstr(text.data, "\"results\":[]"));
    world_one(&w, 1, 0, 5);
    json_decref(document(&w, &text)); /* one run of one arm of three */
    world_run(&w, 1, 1, NULL, 0)->state = QS_RUN_FAILED;
    world_run(&w, 1, 2, NULL, 0)->state = QS_RUN_RUNNING;
    struct qs_measured_run *s = world_one(&w, 2, 0, 0); /* a duration of 0 has no logarithm */
    s->user_us_mean = s->system_us_mean = s->rss_max_bytes = NAN;
    world_one(&w, 2, 1, INT64_MAX);
    world_one(&w, 2, 2, 1);
    w.info.started_wall_ns = 0;
    json_t *doc = document(&w, &text);
    assert_true(json_is_null(at(doc, "elapsed_ns")));
    assert_string_equal(text_at(doc, "results.0.comparisons.0.verdict"), "inconclusive");
    assert_string_equal(text_at(doc, "results.0.comparisons.0.reason"), "too-few-runs");
    assert_true(json_is_null(at(doc, "results.0.comparisons.0.lo")));
    assert_true(json_is_null(at(doc, "results.0.metrics.0.arms.0.median")));
    json_decref(doc);
    qs_buf_done(&text);
    world_done(&w);
}

static void test_one_arm(void **state)
{
    (void)state;
    struct world w;
    struct qs_buf text;
    qs_buf_init(&text);
    world_init(&w, 1, NULL);
    for (uint32_t b = 1; b <= 12; b++)
        world_one(&w, b, 0, 300000 + 1000 * (int64_t)b)->simulated = true;
    world_run(&w, 13, 0, NULL, 0)->state = QS_RUN_FAILED;
    json_t *doc = document(&w, &text);
    assert_int_equal(json_array_size(at(doc, "results.0.comparisons")), 0);
    assert_non_null(strstr(text.data, "left out, because nothing of them was accepted: 1 of 13 blocks"));
    assert_true(has_warning(doc, "results.0.arms.0.warnings", "dependence")); /* they only ever rise */
    assert_true(has_warning(doc, "results.0.arms.0.warnings", "short"));
    assert_true(has_warning(doc, "results.0.warnings", "simulated"));
    assert_true(json_is_true(at(doc, "simulated")));
    assert_non_null(strstr(text_at(doc, "results.0.metrics.0.arms.0.sentence"), "a takes 303"));
    /* n = 12: the third and the tenth order statistic */
    assert_true(json_real_value(at(doc, "results.0.metrics.0.arms.0.median_lo")) == 303000 ||
                json_integer_value(at(doc, "results.0.metrics.0.arms.0.median_lo")) == 303000);
    json_decref(doc);
    qs_buf_done(&text);
    world_done(&w);
}

/* a is the baseline, c the fastest: b and a are paired with c by block, as the noise of whole blocks asks
 * for. */
static void test_ranking(void **state)
{
    (void)state;
    struct world w;
    struct qs_buf text;
    qs_buf_init(&text);
    world_init(&w, 3, NULL);
    for (uint32_t b = 1; b <= 12; b++) {
        int64_t noise = 1000 * (int64_t)(100 + b * 37 % 50), own = b % 2 ? 100 : -100;
        world_one(&w, b, 0, 2 * noise + own);
        world_one(&w, b, 1, 3 * noise - own);
        world_one(&w, b, 2, noise);
    }
    json_t *doc = document(&w, &text);
    assert_int_equal(json_array_size(at(doc, "results.0.ranking")), 3);
    assert_string_equal(text_at(doc, "results.0.ranking.0.arm"), "c");
    assert_true(json_number_value(at(doc, "results.0.ranking.0.ratio")) == 1);
    assert_true(json_is_null(at(doc, "results.0.ranking.0.lo")));
    assert_string_equal(text_at(doc, "results.0.ranking.1.arm"), "a");
    assert_string_equal(text_at(doc, "results.0.ranking.2.arm"), "b");
    double lo = json_number_value(at(doc, "results.0.ranking.2.lo"));
    double hi = json_number_value(at(doc, "results.0.ranking.2.hi"));
    assert_true(lo > 2.99 && lo < 3 && hi > 3 && hi < 3.01);
    assert_string_equal(text_at(doc, "results.0.ranking.1.sentence"), "a takes 99.95–100.06 % longer than c");
    json_decref(doc);
    qs_buf_done(&text);
    world_done(&w);
}

static void test_noise_is_told(void **state)
{
    (void)state;
    struct world w;
    struct qs_buf text;
    qs_buf_init(&text);
    world_init(&w, 2, NULL);
    for (uint32_t b = 1; b <= 8; b++) {
        const int64_t ns[] = {1300000, 1000000, 1000001, 1000002};
        world_run(&w, b, 0, ns, 4);
        world_disturb(world_run(&w, b, 1, ns, 4));
    }
    json_t *doc = document(&w, &text);
    assert_true(json_is_true(at(doc, "results.0.uses_tainted")));
    assert_true(has_warning(doc, "results.0.warnings", "noisy"));
    assert_true(has_warning(doc, "results.0.warnings", "taint-rates"));
    assert_true(has_warning(doc, "results.0.arms.0.warnings", "first"));
    assert_string_equal(text_at(doc, "results.0.comparisons.0.verdict"), "inconclusive");
    assert_string_equal(text_at(doc, "results.0.comparisons.0.reason"), "taint-rates-differ");
    json_decref(doc);
    qs_buf_done(&text);
    world_done(&w);
}

/* In mode harness an iteration is no process: what is said of those is not said of it. */
static void test_words_of_mode_harness(void **state)
{
    (void)state;
    struct world w;
    struct qs_buf text;
    qs_buf_init(&text);
    world_init(&w, 1, NULL);
    w.spec->benchmarks[0].mode = QS_MODE_HARNESS;
    for (uint32_t b = 1; b <= 6; b++) {
        const int64_t ns[] = {130000, 100000, 100001, 100002};
        world_run(&w, b, 0, ns, 4);
    }
    json_t *doc = document(&w, &text);
    assert_true(has_warning(doc, "results.0.arms.0.warnings", "first"));
    assert_non_null(strstr(text.data, "the first iteration of a run takes 30 % longer"));
    assert_null(strstr(text.data, "process of a run"));
    assert_false(has_warning(doc, "results.0.arms.0.warnings", "short"));
    json_decref(doc);
    qs_buf_done(&text);
    world_done(&w);
}

static void test_outliers_are_told(void **state)
{
    (void)state;
    struct world w;
    struct qs_buf text;
    qs_buf_init(&text);
    world_init(&w, 1, NULL);
    int64_t ns[20];
    for (int64_t i = 0; i < 20; i++)
        ns[i] = 1000000 + 100 * i;
    ns[10] = 9000000;
    world_run(&w, 1, 0, ns, 20);
    json_t *doc = document(&w, &text);
    assert_true(has_warning(doc, "results.0.arms.0.warnings", "outliers"));
    json_decref(doc);
    qs_buf_done(&text);
    world_done(&w);
}

static void test_verdicts(void **state)
{
    (void)state;
    struct world w;
    struct qs_buf text, brief;
    struct qs_err err = QS_ERR_INIT;
    int exit_code;
    qs_buf_init(&text);
    qs_buf_init(&brief);
    world_init(&w, 2, NULL);
    assert_true(qs_report_verdicts(&w.in, &text, &brief, &exit_code, &err));
    assert_string_equal(text.data, "[]");
    assert_string_equal(brief.data, "");
    assert_int_equal(exit_code, 0);
    fill(&w);
    qs_buf_clear(&text);
    assert_true(qs_report_verdicts(&w.in, &text, &brief, &exit_code, &err));
    assert_string_equal(text.data, "[{\"point\":0,\"device\":\"local\",\"arm\":\"b\",\"metric\":\"duration_"
                                   "ns\",\"verdict\":\"regression\"}]");
    assert_int_equal(exit_code, 5);
    qs_buf_done(&brief);
    qs_buf_done(&text);
    world_done(&w);
}

enum form { DOCUMENT, VERDICTS };

static bool make(struct world *w, enum form form, struct listener *l, struct qs_buf *text)
{
    struct qs_err err = QS_ERR_INIT;
    struct qs_buf brief;
    int code;
    qs_buf_init(&brief);
    w->in.progress = (struct qs_progress){.go_on = hear, .user = l};
    qs_buf_clear(text);
    bool ok = form == DOCUMENT ? qs_report_compare(&w->in, text, &err)
                               : qs_report_verdicts(&w->in, text, &brief, &code, &err);
    qs_buf_done(&brief);
    assert_int_equal(err.code, ok ? QS_E_NONE : QS_E_STOPPED);
    return ok;
}

/* Every question may be the last: nothing is computed after it. Two devices, two arms, three metrics: a
 * question for the runs and each arm in each metric of each device, and one at the end. */
static void test_they_end_where_they_are_told_to(void **state)
{
    (void)state;
    struct metrics m;
    struct qs_buf text;
    qs_buf_init(&text);
    metrics_init(&m, 2, NULL);
    metrics_fill(&m, 1, 0);
    for (size_t i = 0; i < m.w.measured.count / 2; i++)
        m.w.measured.at[i].device[0] = 'k';
    for (enum form form = DOCUMENT; form <= VERDICTS; form++) {
        struct listener all = {.asked = 0};
        m.w.in.opinions = form == DOCUMENT ? QS_OPINIONS_ALL : QS_OPINIONS_NONE;
        assert_true(make(&m.w, form, &all, &text));
        assert_true(!all.fell && all.last >= 1);
        if (form == VERDICTS)
            assert_int_equal(all.asked, 2 * (1 + 2 * (1 + METRICS)) + 1);
        else
            assert_true(all.stages >= 3); /* the verdicts, the opinions, the ranking */
        for (size_t k = 1; k <= all.asked; k++) {
            struct listener l = {.refuse_at = k};
            assert_false(make(&m.w, form, &l, &text));
            assert_int_equal(l.asked, k);
        }
    }
    qs_buf_done(&text);
    metrics_done(&m);
}

static void test_lines(void **state)
{
    (void)state;
    struct world w;
    struct qs_buf text;
    qs_buf_init(&text);
    world_init(&w, 2, NULL);
    fill(&w);
    qs_report_lines(&w.in, &text);
    assert_string_equal(text.data, "local work: b takes 7.95–8.04 % longer than a: regression (11 blocks)\n");
    qs_buf_done(&text);
    world_done(&w);
}

/* Paths of all keys, lists as []: "results[].arms[].name". What the caller hands through is one key. */
/* Six arms, of which one differs a little: p is below the level that calls, but not among five comparisons.
 */
static void test_many_comparisons(void **state)
{
    (void)state;
    static const int64_t wobble[] = {0, 900, -700, 300, -200, 1500, -1100, 400};
    struct world w;
    struct qs_buf text;
    qs_buf_init(&text);
    world_init(&w, 6, NULL);
    for (uint32_t b = 1; b <= 8; b++)
        for (uint32_t a = 0; a < 6; a++)
            world_one(&w, b, a, 20000 + wobble[(b * (a + 3) + a) % 8] + (a == 3 ? 2200 : 0));
    json_t *doc = document(&w, &text);
    const json_t *pairs = at(doc, "results.0.comparisons");
    assert_int_equal(json_array_size(pairs), 5);
    assert_int_equal(json_integer_value(at(doc, "family.comparisons")), 5);
    int selected = 0;
    double least = 1;
    for (size_t i = 0; i < 5; i++) {
        double p = json_number_value(at(json_array_get(pairs, i), "p"));
        double p_bh = json_number_value(at(json_array_get(pairs, i), "p_bh"));
        assert_true(p_bh >= p && p_bh <= 1 && p_bh <= 5 * p * (1 + 1e-12));
        least = p < least ? p : least;
        selected += p_bh <= 0.05;
    }
    assert_int_equal(json_integer_value(at(doc, "family.selected")), selected);
    assert_true(selected >= 1 && selected < 5 && least < 0.001);
    assert_true(fabs(json_number_value(at(doc, "family.fcr_level")) - (1 - 0.05 * selected / 5)) < 1e-12);
    json_decref(doc);
    qs_buf_done(&text);
    world_done(&w);
}

static const json_t *opinion(const json_t *doc, const char *rule)
{
    size_t i;
    const json_t *one, *all = at(doc, "results.0.comparisons.0.opinions");
    json_array_foreach(all, i, one)
    {
        if (strcmp(text_at(one, "rule"), rule) == 0)
            return one;
    }
    fail_msg("no opinion of %s", rule);
    return NULL;
}

static double number_of(const json_t *opinion, const char *name)
{
    size_t i;
    const json_t *one;
    json_array_foreach(at(opinion, "numbers"), i, one)
    {
        if (strcmp(text_at(one, "name"), name) == 0)
            return json_number_value(at(one, "value"));
    }
    fail_msg("no number %s", name);
    return NAN;
}

/* The iterations of the ten clean blocks: the eleventh's 9 ms and the twelfth's lonely run are not among
 * them. */
static void test_opinions(void **state)
{
    (void)state;
    struct world w;
    struct qs_buf text;
    qs_buf_init(&text);
    world_init(&w, 2, NULL);
    fill(&w);
    json_t *doc = document(&w, &text);
    assert_int_equal(json_array_size(at(doc, "results.0.comparisons.0.opinions")), 0);
    json_decref(doc);
    w.in.opinions = QS_OPINIONS_ALL;
    doc = document(&w, &text);
    assert_int_equal(json_array_size(at(doc, "results.0.comparisons.0.opinions")), QS_OPINION_RULES);
    const json_t *judge = opinion(doc, "judge"), *android = opinion(doc, "android");
    assert_string_equal(text_at(judge, "answer"), "regression");
    assert_true(number_of(judge, "baseline_best") == 2000000 - 1100 - 1000);
    assert_true(number_of(judge, "candidate_best") == 2160000 - 1100 - 1000);
    assert_string_equal(text_at(opinion(doc, "rancid"), "answer"), "no-change"); /* 8 %, but 0.16 ms */
    assert_string_equal(text_at(opinion(doc, "futhark"), "answer"), "regression");
    assert_string_equal(text_at(opinion(doc, "kalibera2005"), "answer"), "regression");
    assert_string_equal(text_at(judge, "numbers.0.unit"), "ns");
    assert_string_equal(text_at(judge, "thresholds.0.unit"), "ratio");
    assert_int_equal(json_array_size(at(android, "checks")), 7);
    assert_true(json_number_value(at(android, "checks.0.value")) == 50);
    json_decref(doc);
    w.in.opinions = 1u << QS_OPINION_SKIA;
    doc = document(&w, &text);
    assert_int_equal(json_array_size(at(doc, "results.0.comparisons.0.opinions")), 1);
    assert_true(number_of(opinion(doc, "skia"), "step") < 0);
    json_decref(doc);
    qs_buf_done(&text);
    world_done(&w);
}

static void test_opinions_by_name(void **state)
{
    (void)state;
    unsigned rules = 0;
    struct qs_err err = QS_ERR_INIT;
    assert_true(qs_opinions_parse("skia,judge", &rules, &err));
    assert_int_equal(rules, 1u << QS_OPINION_SKIA | 1u << QS_OPINION_JUDGE);
    assert_true(qs_opinions_parse("all", &rules, &err));
    assert_int_equal(rules, QS_OPINIONS_ALL);
    static const char *const bad[] = {"", "judge,", "judges", "judge;skia",
                                      "judgejudgejudgejudgejudgejudgejudgejudgejudge"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_false(qs_opinions_parse(bad[i], &rules, &err));
        assert_int_equal(err.code, QS_E_USAGE);
        assert_non_null(strstr(err.text, "is not a rule: judge, android"));
    }
}

static void test_every_field_is_described(void **state)
{
    (void)state;
    struct metrics m;
    struct qs_buf text;
    qs_buf_init(&text);
    metrics_init(&m, 2, NULL);
    metrics_fill(&m, 1.1, 1);
    m.w.in.taints_json =
        "[{\"arm\":1,\"code\":\"cpu.steal_ticks\",\"windows\":1,\"iterations\":1,\"example\":\"x\"}]";
    m.w.in.environment_json = "{\"agent\":\"1\"}";
    m.all.at[0].values[POWER].n = 0;     /* a warning */
    world_disturb(&m.w.measured.at[15]); /* there are both kinds of runs */
    for (size_t i = 0; i < METRICS; i++)
        m.all.at[15].values[i].disturbed = true;
    metrics_run(&m, 9, 0, 1); /* and a block that lacks an arm */
    world_disturb(&m.w.measured.at[m.w.measured.count - 1]);
    m.w.in.opinions = QS_OPINIONS_ALL;
    m.w.in.views = (struct qs_views){.at = {{QS_VIEWS_FENCED, 0}}, .count = 1};
    json_t *doc = document(&m.w, &text);
    page_check(doc, "comparison.md", 100);
    json_decref(doc);
    qs_buf_done(&text);
    metrics_done(&m);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_golden),
        cmocka_unit_test(test_what_it_says),
        cmocka_unit_test(test_corners),
        cmocka_unit_test(test_one_arm),
        cmocka_unit_test(test_ranking),
        cmocka_unit_test(test_noise_is_told),
        cmocka_unit_test(test_words_of_mode_harness),
        cmocka_unit_test(test_outliers_are_told),
        cmocka_unit_test(test_verdicts),
        cmocka_unit_test(test_lines),
        cmocka_unit_test(test_they_end_where_they_are_told_to),
        cmocka_unit_test(test_many_comparisons),
        cmocka_unit_test(test_opinions),
        cmocka_unit_test(test_opinions_by_name),
        cmocka_unit_test(test_every_field_is_described),
    };
    golden_dir = argc > 1 ? argv[1] : golden_dir;
    schema_dir = argc > 2 ? argv[2] : ".";
    return cmocka_run_group_tests(tests, NULL, NULL);
}
