#include "made.h"

#include "base/mem.h"
#include "report/job/opinion.h"
#include "stats/rng.h"

#define ONE      "quiesce: 1\nname: made\nbenchmarks: [{name: work, argv: [work]}]\n"
#define ARM_A    ONE "arms: {a: {argv: [a]}}\n"
#define ARMS_AB  ONE "arms: {a: {argv: [a, \"\"]}, b: {argv: [b, \"it's\"], build: {label: v2}}}\n"
#define ARMS_ABC ONE "arms: {a: {argv: [a]}, b: {argv: [b]}, c: {argv: [c]}}\n"
#define GATE                                                                                                 \
    "conditions: {gate: [{sensor: \"thermal:cpu\", above: 1C, dwell: 2s}, {sensor: \"thermal:soc\", band: "  \
    "[34C, "                                                                                                 \
    "38.5C]}]}\n"
#define GATE_TOO "conditions: {gate: [{sensor: \"thermal:soc\", below: 38.5C, dwell: 3s}]}\n"
#define POINTS                                                                                               \
    "quiesce: 1\nname: many\nbenchmarks: [{name: w, argv: [w, \"{n}\"], params: {n: [1, 2, 3]}, metrics: "   \
    "{time: {margin: 5%}}}]\n"                                                                               \
    "arms: {a: {argv: [a, \"{n}\"]}, b: {argv: [b]}}\n"

#define JOB(title, document, d, b, i, base, b_to_a, spread)                                                  \
    .name = title, .text = document, .devices = d, .blocks = b, .iterations = i, .ns = base,                 \
    .ratio = b_to_a, .noise = spread

const struct made made_jobs[] = {
    {JOB("one run", ARM_A, 1, 1, 1, 1e6, 1, 0)},
    {JOB("ten runs that rise", ARM_A, 1, 10, 1, 4e5, 1, 0.001), .trend = 0.01},
    {JOB("nine runs that rise", ARM_A, 1, 9, 2, 5e5, 1, 0.001), .trend = 0.01, .fail_each = 4},
    {JOB("half a millisecond", ARM_A, 1, 6, 4, 5e5, 1, 0), .first = 1.05},
    {JOB("a hundred with one far", ARM_A, 1, 5, 20, 1e6, 1, 0.002), .far = 9},
    {JOB("equal", ARMS_AB, 1, 8, 3, 1e6, 1, 0.002), .waits = true},
    {JOB("slower", ARMS_AB, 1, 12, 5, 1e6, 1.1, 0.004), .far = 3, .first = 1.2, .sessions = true},
    {JOB("a little slower", ARMS_AB, 1, 9, 3, 1e6, 1.012, 0.004)},
    {JOB("faster", ARMS_AB, 1, 7, 3, 1e6, 0.9, 0.01), .again_each = 3},
    {JOB("thrice as fast, and rarely", ARMS_AB, 1, 12, 2, 1e6, 0.3, 0.01), .fail_each = 2,
     .disturbed_from = 20},
    {JOB("times as long", ARMS_AB, 1, 6, 2, 1e6, 11, 0.05)},
    {JOB("two blocks", ARMS_AB, 1, 2, 2, 1e6, 2, 0.01)},
    {JOB("few blocks, some disturbed", ARMS_AB, 1, 7, 3, 1e6, 1.05, 0.01), .disturbed_from = 5,
     .disturbed_ratio = 1.3},
    {JOB("as many disturbed", ARMS_AB, 1, 12, 3, 1e6, 1.05, 0.01), .disturbed_from = 7,
     .disturbed_ratio = 1.02},
    {JOB("mostly disturbed", ARMS_AB, 1, 18, 3, 1e6, 1.05, 0.01), .disturbed_from = 7,
     .disturbed_ratio = 1.01},
    {JOB("mostly disturbed and off", ARMS_AB, 1, 18, 3, 1e6, 1.05, 0.01), .disturbed_from = 7,
     .disturbed_ratio = 1.5},
    {JOB("all disturbed", ARMS_AB, 1, 8, 3, 1e6, 1, 0.01), .disturbed_from = 1, .disturbed_ratio = 1.1},
    {JOB("one side disturbed", ARMS_AB, 1, 16, 2, 1e6, 1.001, 0.002), .disturbed_from = 3,
     .disturbed_ratio = 1, .disturbed_arm = 2},
    {JOB("one side disturbed, and better", ARMS_AB, 1, 16, 2, 1e6, 0.9, 0.002), .disturbed_from = 7,
     .disturbed_ratio = 1.1, .disturbed_arm = 2},
    {JOB("both kinds contradict", ARMS_AB, 1, 20, 2, 1e6, 1.05, 0.002), .disturbed_from = 11,
     .disturbed_ratio = 1.2, .disturbed_arm = 2},
    {JOB("three arms, blocks that lack one", ARMS_ABC "compare: {baseline: b, margin: 1%, alpha: 0.1}\n", 1,
         10, 2, 1e6, 1.03, 0.01),
     .miss_each = 4, .waits = true},
    {JOB("three arms on two devices", ARMS_ABC, 2, 6, 2, 1e6, 1.02, 0.01), .simulated = true},
    {JOB("each arm twice", ARMS_AB "plan: {order: ABBA, blocks: {min: 3}}\n", 1, 5, 2, 1e6, 1.04, 0.01),
     .abba = true, .miss_each = 5},
    {JOB("points with metrics", POINTS, 2, 6, 2, 1e6, 1.03, 0.01), .points = 3, .metrics = true,
     .disturbed_from = 5, .disturbed_ratio = 1.1},
    {JOB("metrics", ARMS_AB, 1, 10, 3, 1e6, 1.2, 0.01), .metrics = true, .disturbed_from = 8,
     .disturbed_ratio = 1.01, .fail_each = 7, .sessions = true},
    {JOB("metrics of arms that run twice", ARMS_AB "plan: {order: ABBA, blocks: {min: 3}}\n", 1, 6, 2, 1e6,
         0.8, 0.01),
     .abba = true, .metrics = true, .views = "discard-first:1"},
    {JOB("a view", ARMS_AB, 1, 6, 12, 1e6, 1.03, 0.01), .views = "discard-first:2,fenced,last:4", .far = 3,
     .first = 2},
    {JOB("a view that leaves nothing", ARMS_AB, 1, 4, 2, 1e6, 1.03, 0.01), .views = "discard-first:2"},
    {JOB("a view of metrics", ARMS_AB, 1, 6, 4, 1e6, 1.03, 0.01), .views = "last:3", .metrics = true},
    {JOB("a nanosecond on two devices", ARMS_AB, 2, 6, 1, 1, 1, 0)},
    {JOB("gated", ARMS_AB GATE, 1, 6, 2, 1e6, 1.05, 0.01)},
    {JOB("gated otherwise", ARMS_AB GATE_TOO, 1, 6, 2, 1e6, 1.05, 0.01)},
    {JOB("one block on two devices", ARMS_AB, 2, 1, 1, 1e6, 1.5, 0.01)},
    {JOB("mode stream", ONE "arms: {a: {argv: [a]}, b: {argv: [b]}}\n", 1, 5, 3, 3e5, 0.97, 0.01),
     .first = 1.3},
};

const size_t made_count = sizeof made_jobs / sizeof *made_jobs;

struct maker {
    const struct made *of;
    struct metrics *m;
    struct qs_rng rng;
    double block; /* of the block's noise */
};

static double noise(struct maker *k)
{
    return 1 + k->of->noise * (2 * qs_rng_unit(&k->rng) - 1);
}

/* Values that are the run's own; some runs lack some. */
static void add_metrics(struct maker *k, const struct qs_measured_run *s)
{
    for (uint32_t i = 0; i < k->of->iterations; i++) {
        double rate = floor(5000 * noise(k) / (s->arm > 0 ? k->of->ratio : 1));
        metrics_put(metrics_of(k->m, RATE), rate);
        metrics_put(metrics_of(k->m, CALLS),
                    (k->of->abba ? s->block % 3 : 100) + (s->point == 1) * s->arm + (s->point == 2) * i % 2);
    }
    if (s->block % 4 != 3)
        metrics_put(metrics_of(k->m, POWER), floor(800 * noise(k)));
    for (size_t i = 0; i < METRICS; i++) {
        struct qs_values *values = metrics_of(k->m, i);
        values->disturbed = s->values.disturbed;
        values->tainted = values->disturbed ? values->n : 0;
    }
    metrics_of(k->m, RATE)->tainted += s->block % 2;
    metrics_of(k->m, RATE)->warm = s->values.disturbed ? 0 : s->block % 3;
}

static void dress(struct maker *k, struct qs_measured_run *s, uint32_t device)
{
    const struct made *of = k->of;
    s->device[0] = (char)('l' + device);
    s->simulated = of->simulated && device == 1;
    s->session = of->sessions ? s->block / 4 + 1 : 1;
    s->boot = of->sessions ? s->block / 8 + 1 : 1;
    s->windows[QS_SILENCE_PROVEN] = s->block % 2;
    s->evals = s->block % 3 == 2 ? 10 : 0;
    s->evals_json = s->evals > 0 ? qs_strdup("{\"target\":1}") : NULL;
    s->values.warm = s->values.disturbed ? 0 : s->block % 3;
    s->values.tainted += s->block % 4 == 1;
    s->values.seen += s->block % 4 == 1;
    s->opened_ns += (int64_t)s->block * s->block * 1000000;
    if (of->waits) {
        s->waited_ns = s->block % 3 * 100000000 + s->pos;
        s->busiest = s->block % 2 ? qs_strdup(s->block == 5 ? "make" : "cc1") : NULL;
    }
    if (s->block == 2)
        s->rss_max_bytes = s->user_us_mean = NAN;
}

static void add_run(struct maker *k, uint32_t point, uint32_t device, uint32_t block, uint32_t arm,
                    uint32_t pos)
{
    const struct made *of = k->of;
    bool disturbed = of->disturbed_from > 0 && block >= of->disturbed_from &&
                     (of->disturbed_arm == 0 || of->disturbed_arm == arm + 1);
    bool fails = of->fail_each > 0 && block % of->fail_each == 0 && arm + 1 == k->m->w.spec->arm_count;
    double run = of->ns * k->block * noise(k) * pow(of->ratio, arm) * (1 + of->trend * block);
    int64_t ns[32];
    for (uint32_t i = 0; i < of->iterations; i++)
        ns[i] = (int64_t)(run * noise(k) * (disturbed ? of->disturbed_ratio : 1) *
                          (i == 0 && of->first > 0 ? of->first : 1) *
                          (i + 1 == of->iterations && of->far > 0 && block % 5 == 0 ? of->far : 1));
    metrics_run(k->m, block, arm, 0);
    k->m->w.measured.count--; /* its name is kept */
    uint8_t uid[16];
    memcpy(uid, k->m->w.measured.at[k->m->w.measured.count].run_uid, sizeof uid);
    free(k->m->w.measured.at[k->m->w.measured.count].device);
    free(k->m->w.measured.at[k->m->w.measured.count].values.at);
    struct qs_measured_run *s = world_run(&k->m->w, block, arm, ns, fails ? 0 : of->iterations);
    memcpy(s->run_uid, uid, sizeof uid);
    s->point = point;
    s->pos = pos;
    if (disturbed && !fails)
        world_disturb(s);
    if (fails) {
        s->state = QS_RUN_FAILED;
        s->taint = s->values.taints = QS_TAINT_EXIT;
    }
    dress(k, s, device);
    if (of->metrics && !fails)
        add_metrics(k, s);
}

static void add_block(struct maker *k, uint32_t point, uint32_t device, uint32_t block)
{
    const struct made *of = k->of;
    uint32_t arms = (uint32_t)k->m->w.spec->arm_count;
    bool misses = of->miss_each > 0 && block % of->miss_each == 0;
    k->block = noise(k);
    for (uint32_t pos = 0; pos < arms * (of->abba ? 2 : 1) - misses; pos++)
        add_run(k, point, device, block, pos < arms ? pos : 2 * arms - 1 - pos, pos);
}

static bool is_begun_again(const struct qs_measured_runs *all, const struct qs_measured_run *s)
{
    for (size_t i = 0; i < all->count; i++)
        if (all->at[i].point == s->point && all->at[i].block == s->block && all->at[i].attempt > s->attempt &&
            strcmp(all->at[i].device, s->device) == 0)
            return true;
    return false;
}

/* Attempts of a block stand side by side, as in the store, which says which of them count. */
static void repeat_blocks(struct maker *k)
{
    struct qs_measured_runs *all = &k->m->w.measured;
    for (size_t i = 0; k->of->again_each > 0 && i < all->count; i++)
        if (all->at[i].block % k->of->again_each == 0)
            all->at[i].attempt = all->at[i].arm == 0 ? 1 : all->at[i].block == k->of->again_each;
    for (size_t i = 0; i < all->count; i++)
        all->at[i].superseded = is_begun_again(all, &all->at[i]);
}

void made_init(struct metrics *m, const struct made *of)
{
    struct maker k = {.of = of, .m = m};
    struct qs_err err = QS_ERR_INIT;
    metrics_init(m, 1, NULL);
    world_done(&m->w);
    world_read(&m->w, of->text);
    m->w.in.metrics = of->metrics ? &m->all : NULL;
    m->w.in.opinions = of->blocks == 7 ? QS_OPINIONS_ALL : QS_OPINIONS_NONE;
    if (strcmp(of->name, "mode stream") == 0)
        m->w.spec->benchmarks[0].mode = QS_MODE_STREAM;
    assert_true(!of->views || qs_views_parse(of->views, &m->w.in.views, &err));
    qs_rng_seed(&k.rng, (uint64_t)(of - made_jobs), 1);
    for (uint32_t point = 0; point < (of->points ? of->points : 1); point++)
        for (uint32_t device = 0; device < of->devices; device++)
            for (uint32_t b = 1; b <= of->blocks; b++)
                add_block(&k, point, device, b);
    repeat_blocks(&k);
}
