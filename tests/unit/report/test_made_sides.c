/* Whole documents of two sides of made jobs: of two arms of one job, by its own report and without it, and of
 * two jobs that share nothing but their machine. */
#include "golden.h"
#include "listener.h"
#include "made.h"
#include "page.h"

#include "base/mem.h"
#include "report/sides/sides.h"

enum { ALL_METRICS = METRICS + 1 };

struct compared {
    const char *name, *of[2]; /* names of made jobs */
    uint32_t arm[2];          /* one of each side, MANY: all of them */
    enum qs_pool pool;
    double margin_ratio; /* 0: theirs */
    bool without_own;    /* the report of the one job is not at hand */
    bool builds;         /* each job has builds of its own, else arms go by their names */
    bool other_machine, other_device, other_points, shared_runs;
    const char *allow;
};

enum { MANY = 9 };

#define SIDES(title, base, candidate, x, y) .name = title, .of = {base, candidate}, .arm = {x, y}

static const struct compared compared[] = {
    {SIDES("arms of one job", "slower", "slower", 0, 1)},
    {SIDES("arms of one job, no report", "slower", "slower", 0, 1), .without_own = true},
    {SIDES("arms of one job, the other way round", "slower", "slower", 1, 0)},
    {SIDES("arms with disturbed blocks", "mostly disturbed and off", "mostly disturbed and off", 0, 1)},
    {SIDES("the same, no report", "mostly disturbed and off", "mostly disturbed and off", 0, 1),
     .without_own = true},
    {SIDES("arms that lost runs", "thrice as fast, and rarely", "thrice as fast, and rarely", 0, 1)},
    {SIDES("the same, no report and a margin", "thrice as fast, and rarely", "thrice as fast, and rarely", 0,
           1),
     .margin_ratio = 0.3, .without_own = true},
    {SIDES("repeated blocks", "faster", "faster", 0, 1), .without_own = true},
    {SIDES("arms of three", "three arms, blocks that lack one", "three arms, blocks that lack one", 0, 2)},
    {SIDES("arms of three, pooled", "three arms, blocks that lack one", "three arms, blocks that lack one", 0,
           MANY),
     .pool = QS_POOL_ALL},
    {SIDES("arms of three on two devices", "three arms on two devices", "three arms on two devices", 0, 1)},
    {SIDES("the same, no report", "three arms on two devices", "three arms on two devices", 0, 2),
     .without_own = true},
    {SIDES("arms that run twice", "each arm twice", "each arm twice", 0, 1), .without_own = true},
    {SIDES("points with metrics", "points with metrics", "points with metrics", 0, 1)},
    {SIDES("the same, no report", "points with metrics", "points with metrics", 0, 1), .without_own = true},
    {SIDES("metrics", "metrics", "metrics", 0, 1)},
    {SIDES("metrics of arms that run twice", "metrics of arms that run twice",
           "metrics of arms that run twice", 0, 1),
     .without_own = true},
    {SIDES("an arm and itself", "equal", "equal", 0, 0), .shared_runs = true},
    {SIDES("two jobs", "equal", "slower", 0, 1)},
    {SIDES("two jobs of one arm", "equal", "a little slower", 1, 1)},
    {SIDES("two jobs, a wide margin", "equal", "slower", 0, 1), .margin_ratio = 0.2},
    {SIDES("two short jobs", "two blocks", "two blocks", 0, 1), .builds = true},
    {SIDES("one run each", "one run", "one run", 0, 0), .builds = true},
    {SIDES("two jobs of several sessions", "slower", "metrics", 0, 0)},
    {SIDES("several arms and several sessions", "slower", "metrics", MANY, MANY), .pool = QS_POOL_NAMES},
    {SIDES("pooled builds", "slower", "metrics", MANY, MANY), .pool = QS_POOL_ALL, .builds = true},
    {SIDES("builds that cannot be pooled", "slower", "metrics", MANY, MANY), .builds = true},
    {SIDES("a build and several", "metrics", "three arms, blocks that lack one", 1, MANY),
     .pool = QS_POOL_ALL, .builds = true},
    {SIDES("quiet and disturbed", "equal", "mostly disturbed and off", 0, 0)},
    {SIDES("disturbed alike", "mostly disturbed and off", "mostly disturbed", 0, 0)},
    {SIDES("disturbed and disturbed", "all disturbed", "as many disturbed", 0, 1)},
    {SIDES("another machine", "equal", "slower", 0, 0), .other_machine = true},
    {SIDES("another machine, allowed", "equal", "slower", 0, 0), .other_machine = true,
     .allow = "x,kernel,host"},
    {SIDES("another device", "equal", "slower", 0, 0), .other_device = true},
    {SIDES("points and one", "points with metrics", "equal", 0, 0)},
    {SIDES("points of other conditions", "points with metrics", "points with metrics", 0, 1),
     .other_points = true},
    {SIDES("nanoseconds, no report", "a nanosecond on two devices", "a nanosecond on two devices", 0, 1),
     .without_own = true},
    {SIDES("nanoseconds of builds", "a nanosecond on two devices", "a nanosecond on two devices", 0, MANY),
     .builds = true, .pool = QS_POOL_ALL},
    {SIDES("one block on two devices", "one block on two devices", "one block on two devices", 0, 1),
     .without_own = true},
    {SIDES("metrics and none", "metrics of arms that run twice", "equal", 0, 1)},
    {SIDES("disturbed blocks and several builds", "mostly disturbed and off",
           "three arms, blocks that lack one", 0, MANY),
     .builds = true, .pool = QS_POOL_ALL},
    {SIDES("gates", "gated", "gated otherwise", 0, 0)},
    {SIDES("gates, allowed", "gated", "gated otherwise", 0, 0), .allow = "all"},
    {SIDES("failed and not", "nine runs that rise", "ten runs that rise", 0, 0)},
};

struct side {
    struct metrics m;
    struct qs_arm_runs runs;
    struct qs_arm_metric metrics[ALL_METRICS];
};

struct texts { /* of a run; borrowed */
    char *benchmark, *params, *controls, *conditions, *build, *device, *env, *host;
};

static char *word(const char *text)
{
    return (char *)(uintptr_t)text;
}

static struct texts texts_of(const struct compared *c, int k, const struct qs_measured_run *s,
                             const char *arm)
{
    static const char *const params[] = {"{\"n\":1}", "{\"n\":2}", "{\"n\":3}"};
    static const char *const builds[2][3] = {{"r1", "r2", "r3"}, {"r3", "r4", "r5"}};
    bool moved = c->other_machine && k == 1;
    return (struct texts){
        .benchmark = word("work"),
        .params = word(params[s->point]),
        .controls = word(c->other_points && k == 1 ? "{\"affinity\":\"0\"}" : "{\"affinity\":\"any\"}"),
        .conditions = word(!c->other_points ? "{\"affinity\":\"any\"}"
                           : k == 1         ? "{\"controls\":{\"affinity\":\"0\"}}"
                                            : "{\"controls\":{\"affinity\":\"any\"}}"),
        .build = c->builds ? word(builds[k][arm[0] - 'a']) : NULL,
        .device = c->other_device && k == 1 && s->block > 3 ? word("other") : s->device,
        .env = word(moved && s->block > 2 ? "{\"agent\":\"1\",\"kernel\":\"6.2\"}"
                                          : "{\"agent\":\"1\",\"kernel\":\"6.1\"}"),
        .host = word(moved ? "{\"host\":{\"cpu\":\"y\"}}" : "{\"host\":{\"cpu\":\"x\"}}")};
}

static void take_values(struct qs_arm_run *run, const struct qs_measured_run *s,
                        const struct qs_run_metrics *of)
{
    run->values = qs_calloc(ALL_METRICS, sizeof *run->values);
    run->values[0] = s->values;
    for (size_t i = 0; of && i < METRICS; i++)
        run->values[i + 1] = of->values[i];
}

static void take_run(struct side *side, const struct compared *c, int k, const struct qs_measured_run *s,
                     int64_t job)
{
    const char *arm = side->m.w.spec->arms[s->arm].name;
    const struct texts t = texts_of(c, k, s, arm);
    struct qs_arm_run *run = &side->runs.at[side->runs.count++];
    *run =
        (struct qs_arm_run){.job = job,
                            .session = 10 * job + s->session,
                            .env = 1 + (c->other_machine && k == 1 && s->block > 2),
                            .host = 1,
                            .arm = s->arm,
                            .point = s->point,
                            .block = s->block,
                            .pos = s->pos,
                            .attempt = s->attempt,
                            .superseded = s->superseded,
                            .taints = s->values.taints | (s->block % 3 == 0 && k == 1 ? QS_TAINT_TIMEOUT : 0),
                            .state = s->state,
                            .simulated = s->simulated,
                            .benchmark = t.benchmark,
                            .params_json = t.params,
                            .controls_json = t.controls,
                            .conditions_json = t.conditions,
                            .label = side->m.w.spec->points[s->point].label,
                            .arm_name = word(arm),
                            .device = t.device,
                            .build = t.build,
                            .build_content = t.build,
                            .exe_sha256 = k == 0 || c->without_own ? NULL : word("ff"),
                            .env_json = t.env,
                            .host_json = t.host};
    memcpy(run->uid, s->run_uid, sizeof run->uid);
    run->uid[15] = (uint8_t)job;
    take_values(run, s, qs_job_metrics_find(&side->m.all, s->run_uid));
}

static void side_init(struct side *side, const struct compared *c, int k, int64_t job)
{
    size_t i = 0;
    while (i < made_count && strcmp(made_jobs[i].name, c->of[k]) != 0)
        i++;
    if (i == made_count)
        fail_msg("no job %s", c->of[k]);
    made_init(&side->m, &made_jobs[i]);
    side->m.w.info.id = job;
    side->metrics[0] = (struct qs_arm_metric){.name = word("duration_ns"), .unit = word("ns")};
    for (i = 0; i < METRICS; i++)
        side->metrics[i + 1] = side->m.list[i];
    side->runs = (struct qs_arm_runs){.at = qs_calloc(side->m.w.measured.count + 1, sizeof *side->runs.at),
                                      .metrics = side->metrics,
                                      .metric_count = ALL_METRICS};
    for (i = 0; i < side->m.w.measured.count; i++)
        if (c->arm[k] == MANY || side->m.w.measured.at[i].arm == c->arm[k])
            take_run(side, c, k, &side->m.w.measured.at[i], job);
}

static void side_done(struct side *side)
{
    for (size_t i = 0; i < side->runs.count; i++)
        free(side->runs.at[i].values);
    free(side->runs.at);
    metrics_done(&side->m);
}

static json_t *document_of(const struct compared *c, struct qs_buf *told)
{
    bool one_job = strcmp(c->of[0], c->of[1]) == 0 && !c->builds && !c->other_points;
    struct side side[2];
    struct listener l = {.told = told};
    struct qs_buf text;
    qs_buf_init(&text);
    for (int k = 0; k < 2; k++)
        side_init(&side[k], c, k, k == 0 || one_job ? 1 : 2);
    const struct qs_sides_job list[2] = {{.id = 1, .spec = side[0].m.w.spec},
                                         {.id = 2, .spec = side[1].m.w.spec}};
    const struct qs_sides_input in = {.selector = {c->of[0], c->of[1]},
                                      .pool = {c->pool, c->pool},
                                      .runs = {&side[0].runs, &side[1].runs},
                                      .jobs = list,
                                      .job_count = one_job ? 1 : 2,
                                      .job = one_job && !c->without_own ? &side[0].m.w.in : NULL,
                                      .margin_ratio = c->margin_ratio > 0 ? c->margin_ratio : NAN,
                                      .alpha = NAN,
                                      .allow = c->allow  ? c->allow
                                               : one_job ? ""
                                                         : "env,standard_input,variables_bytes",
                                      .seed = 1,
                                      .progress = {.go_on = hear, .user = &l}};
    qs_buf_fmt(told, "- %s\n", c->name);
    assert_int_equal(qs_sides_compare(&in, &text), QS_OK);
    assert_true(!l.fell && l.last == 1);
    json_t *doc = page_read(&text);
    qs_buf_done(&text);
    for (int k = 0; k < 2; k++)
        side_done(&side[k]);
    return doc;
}

/* How many of a list are of this word; of NULL, how many have a ratio. */
static json_int_t count_of(const json_t *list, const char *word)
{
    size_t i;
    const json_t *one;
    json_int_t n = 0;
    json_array_foreach(list, i, one) n +=
        word ? strcmp(text_at(one, "verdict"), word) == 0 : json_is_number(at(one, "ratio"));
    return n;
}

static json_int_t count_results(const json_t *doc, const char *word)
{
    size_t i, k;
    const json_t *result, *device;
    json_int_t n = 0;
    json_array_foreach(at(doc, "results"), i, result)
    {
        json_array_foreach(at(result, "devices"), k, device) n += count_of(at(device, "comparisons"), word);
        n += count_of(at(result, "over_devices"), word);
    }
    return n;
}

/* What the tally says is what can be counted in the results. */
static void check_tally(const json_t *doc)
{
    json_int_t ratios = 0;
    size_t i;
    const json_t *one;
    for (enum qs_verdict_kind v = QS_VERDICT_REGRESSION; v <= QS_VERDICT_INCONCLUSIVE; v++) {
        json_int_t n = 0;
        json_array_foreach(at(doc, "tally.verdicts"), i,
                           one) if (strcmp(text_at(one, "verdict"), qs_verdict_name(v)) == 0) n +=
            json_integer_value(at(one, "n"));
        assert_int_equal(n, count_results(doc, qs_verdict_name(v)));
    }
    json_array_foreach(at(doc, "tally.ratios"), i, one) ratios += json_integer_value(at(one, "n"));
    assert_int_equal(ratios, count_results(doc, NULL));
}

static void sides_stay_what_they_are(void **state)
{
    (void)state;
    json_t *all = json_array();
    struct qs_buf told;
    qs_buf_init(&told);
    for (size_t i = 0; i < sizeof compared / sizeof *compared; i++) {
        json_t *doc = document_of(&compared[i], &told);
        check_tally(doc);
        json_array_append_new(all, json_pack("{s:s,s:o}", "of", compared[i].name, "document", doc));
    }
    golden_document("made-sides", all);
    golden_check("made-sides-work.txt", &told);
    qs_buf_done(&told);
    json_decref(all);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sides_stay_what_they_are),
    };
    golden_dir = argc > 1 ? argv[1] : golden_dir;
    return cmocka_run_group_tests_name("made_sides", tests, NULL, NULL);
}
