/* Whole documents of made series: each has a shape of its own, and so do their warnings, verdicts and
 * sentences. */
#include "golden.h"
#include "listener.h"
#include "page.h"
#include "world.h"

#include "base/mem.h"
#include "report/analysis/analysis.h"
#include "report/job/opinion.h"
#include "stats/rng.h"

enum shape {
    FLAT,
    SAME,
    SIGNS,
    TWO,
    FIVE,
    WARM,
    SLOWER,
    WILD,
    LOG_NORMAL,
    RISING,
    STEPS,
    SLUGGISH,
    FAR,
    JUMP
};

struct series {
    const char *name, *unit;
    enum shape shape;
    size_t runs, each;
};

static const struct series described[] = {
    {"one value", "ns", FLAT, 1, 1},
    {"two values", "ns", FLAT, 1, 2},
    {"three runs of one", "s", FLAT, 3, 1},
    {"all the same", "ms", SAME, 2, 6},
    {"both signs", "", SIGNS, 1, 15},
    {"two modes", "ns", TWO, 1, 60},
    {"two modes of few", "mW", TWO, 1, 24},
    {"five modes", "ms", FIVE, 1, 120},
    {"warm-up", "ms", WARM, 3, 40},
    {"slowdown", "ms", SLOWER, 3, 40},
    {"never steady", "ops/s", WILD, 3, 40},
    {"log-normal", "us", LOG_NORMAL, 1, 60},
    {"rising", "ns", RISING, 1, 20},
    {"nineteen that rise", "ns", RISING, 1, 19},
    {"coarse", "ns", STEPS, 1, 20},
    {"two coarse runs", "ns", STEPS, 2, 20},
    {"sluggish", "ns", SLUGGISH, 1, 80},
    {"one far of a hundred", "ns", FAR, 1, 100},
    {"one far of a hundred and one", "ns", FAR, 1, 101},
};

static const struct series histories[] = {
    {"a jump", "ns", JUMP, 1, 30},      {"a jump of runs", "ns", JUMP, 20, 3},
    {"a ramp", "ops/s", RISING, 1, 40}, {"nothing", "ms", FLAT, 1, 25},
    {"three points", "ms", FLAT, 1, 3}, {"one point", "ms", FLAT, 1, 1},
    {"all the same", "", SAME, 1, 12},  {"both signs", "", SIGNS, 1, 30},
};

static double noise(struct qs_rng *rng)
{
    return 2 * qs_rng_unit(rng) - 1;
}

static double value_of(const struct series *s, size_t run, size_t i, double before, struct qs_rng *rng)
{
    double x = noise(rng), at = (double)(run * s->each + i), all = (double)(s->runs * s->each);
    switch (s->shape) {
    case FLAT:
        return 1000 + 10 * x;
    case SAME:
        return 1000;
    case SIGNS:
        return i % 5 == 0 ? 0 : 100 * x;
    case TWO:
        return (i % 3 == 0 ? 1300 : 1000) + 10 * x;
    case FIVE:
        return 1000 + 200 * (double)(i % 5) + 5 * x;
    case WARM:
        return (i < 8 + 2 * run ? 1500 : 1000) + 5 * x;
    case SLOWER:
        return (i < 10 ? 1000 : 1500) + 5 * x;
    case WILD:
        return 1000 + (i / 7 % 2 ? 300 : 0) + 20 * (double)i + 5 * x;
    case LOG_NORMAL:
        return 1000 * exp(0.8 * (x + noise(rng) + noise(rng)));
    case RISING:
        return 1000 + 100 * at / all + 2 * x;
    case STEPS:
        return 1000 + 10 * floor(2.5 * (x + 1));
    case SLUGGISH:
        return at > 0 ? 1000 + 0.9 * (before - 1000) + 5 * x : 1000;
    case FAR:
        return i == 50 ? 5000 : 1000 + 10 * x;
    case JUMP:
        return (at / all < 0.6 ? 1000 : 1080) + 5 * x;
    }
    return NAN;
}

static void write_series(struct qs_buf *text, const struct series *s, double ratio, uint64_t seed)
{
    struct qs_rng rng;
    double v = 0;
    qs_rng_seed(&rng, seed, 7);
    for (size_t run = 0; run < s->runs; run++)
        for (size_t i = 0; i < s->each; i++) {
            v = value_of(s, run, i, v, &rng);
            qs_buf_fmt(text, "%s,%zu,%zu,%.4f,%s\n", s->name, run, i, v * ratio, s->unit);
        }
}

static void read_made(const char *rows, struct qs_import *ret)
{
    struct qs_problems problems;
    struct qs_buf text;
    qs_problems_init(&problems);
    qs_buf_init(&text);
    qs_buf_fmt(&text, "benchmark,run,iteration,value,unit\n%s", rows);
    bool ok = qs_import_read("made", text.data, text.len, QS_FORMAT_CSV, ret, &problems);
    if (!ok)
        fail_msg("%s", problems.at[0].what);
    qs_problems_done(&problems);
    qs_buf_done(&text);
}

static struct qs_analysis_opts options(void)
{
    struct qs_analysis_opts opts = qs_analysis_opts_default();
    opts.resamples = 100;
    return opts;
}

/* The document of these rows, with what a page shows of it alone where `page`. */
static json_t *document_of(const char *rows, const char *other, const struct qs_analysis_opts *opts,
                           enum qs_status (*run)(const struct qs_analysis_file *files, size_t count,
                                                 const struct qs_analysis_opts *opts, struct qs_buf *out))
{
    struct qs_import import[2] = {{0}, {0}};
    struct qs_buf out;
    qs_buf_init(&out);
    read_made(rows, &import[0]);
    if (other)
        read_made(other, &import[1]);
    const struct qs_analysis_file files[2] = {{.name = "/x/a", .bytes = 1, .import = &import[0]},
                                              {.name = "b/", .bytes = 2, .import = &import[1]}};
    assert_int_equal(run(files, other ? 2 : 1, opts, &out), QS_OK);
    json_t *doc = page_read(&out);
    qs_import_done(&import[0]);
    qs_import_done(&import[1]);
    qs_buf_done(&out);
    return doc;
}

static void samples_stay_what_they_are(void **state)
{
    (void)state;
    json_t *all = json_array();
    for (size_t i = 0; i < sizeof described / sizeof *described; i++) {
        struct qs_analysis_opts opts = options();
        struct qs_buf rows;
        qs_buf_init(&rows);
        write_series(&rows, &described[i], 1, i);
        opts.page = described[i].runs * described[i].each > 24;
        opts.resolution = i % 5 == 4 ? 10 : 0;
        json_array_append_new(all, document_of(rows.data, NULL, &opts, qs_analysis_describe));
        qs_buf_done(&rows);
    }
    golden_document("made-samples", all);
    json_decref(all);
}

struct pair {
    const char *unit;
    enum shape shape;
    size_t runs, each;
    double ratio;
    enum qs_unit_of_work per;
    enum qs_direction direction;
    double resolution;
};

static const struct pair pairs[] = {
    {"ns", FLAT, 6, 4, 1.05, QS_PER_RUN, QS_DIRECTION_UNKNOWN, 0},
    {"mW", FLAT, 6, 4, 1.05, QS_PER_RUN, QS_DIRECTION_UNKNOWN, 0},
    {"mW", FLAT, 6, 4, 1.05, QS_PER_RUN, QS_DIRECTION_HIGHER, 0},
    {"s/op", FLAT, 6, 4, 0.9, QS_PER_RUN, QS_DIRECTION_HIGHER, 0},
    {"ops/s", FLAT, 6, 4, 0.9, QS_PER_RUN, QS_DIRECTION_LOWER, 0},
    {"ms", FLAT, 6, 4, 1, QS_PER_ITERATION, QS_DIRECTION_UNKNOWN, 30},
    {"us", FLAT, 1, 12, 1.5, QS_PER_RUN, QS_DIRECTION_UNKNOWN, 0},
    {"second", FLAT, 2, 6, 1.015, QS_PER_ITERATION, QS_DIRECTION_UNKNOWN, 0},
    {"ns", SAME, 6, 2, 1.05, QS_PER_RUN, QS_DIRECTION_UNKNOWN, 0},
    {"", SIGNS, 1, 12, 1.5, QS_PER_RUN, QS_DIRECTION_UNKNOWN, 0},
    {"ns", FLAT, 1, 1, 1.5, QS_PER_RUN, QS_DIRECTION_UNKNOWN, 0},
};

/* Both have one that the other has not. */
static void pairs_stay_what_they_are(void **state)
{
    (void)state;
    json_t *all = json_array();
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        const struct series s = {"made", pairs[i].unit, pairs[i].shape, pairs[i].runs, pairs[i].each};
        const struct series only[2] = {{"only in a", "s", FLAT, 1, 1}, {"only in b", "", FLAT, 1, 1}};
        struct qs_analysis_opts opts = options();
        struct qs_buf rows[2];
        for (size_t k = 0; k < 2; k++) {
            qs_buf_init(&rows[k]);
            write_series(&rows[k], &only[k], 1, 5);
            write_series(&rows[k], &s, k == 0 ? 1 : pairs[i].ratio, 100 + 2 * i + k);
        }
        opts.page = i > 0 && pairs[i].shape == FLAT;
        opts.per = pairs[i].per;
        opts.direction = pairs[i].direction;
        opts.resolution = pairs[i].resolution;
        json_array_append_new(all, document_of(rows[0].data, rows[1].data, &opts, qs_analysis_compare));
        qs_buf_done(&rows[0]);
        qs_buf_done(&rows[1]);
    }
    golden_document("made-pairs", all);
    json_decref(all);
}

static void histories_stay_what_they_are(void **state)
{
    (void)state;
    struct qs_analysis_opts opts = options();
    struct qs_buf rows;
    qs_buf_init(&rows);
    for (size_t i = 0; i < sizeof histories / sizeof *histories; i++)
        write_series(&rows, &histories[i], 1, 200 + i);
    json_t *doc = document_of(rows.data, NULL, &opts, qs_analysis_history);
    golden_document("made-histories", doc);
    json_decref(doc);
    qs_buf_done(&rows);
}

/* The stages of each document, with the share of the work that was done before. */
static void shares_of_work_stay_what_they_are(void **state)
{
    (void)state;
    struct qs_buf told, rows[2];
    qs_buf_init(&told);
    for (int k = 0; k < 2; k++) {
        qs_buf_init(&rows[k]);
        write_series(&rows[k], &(struct series){"a jump of runs", "ns", JUMP, 20, 3}, 1, 300);
        write_series(&rows[k], &(struct series){"one run", "ns", FLAT, 1, 40}, 1, 300);
    }
    for (int kind = 0; kind < 6; kind++) {
        struct listener l = {.told = &told};
        struct qs_analysis_opts opts = options();
        opts.progress = (struct qs_progress){.go_on = hear, .user = &l};
        opts.opinions = QS_OPINIONS_ALL;
        opts.page = kind % 2 == 1;
        qs_buf_fmt(&told, "- %d\n", kind);
        json_decref(document_of(rows[0].data, kind / 2 == 1 ? rows[1].data : NULL, &opts,
                                kind / 2 == 0   ? qs_analysis_describe
                                : kind / 2 == 1 ? qs_analysis_compare
                                                : qs_analysis_history));
        assert_true(!l.fell && l.last == 1);
    }
    golden_check("made-analysis-work.txt", &told);
    qs_buf_done(&told);
    qs_buf_done(&rows[0]);
    qs_buf_done(&rows[1]);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(samples_stay_what_they_are),
        cmocka_unit_test(pairs_stay_what_they_are),
        cmocka_unit_test(histories_stay_what_they_are),
        cmocka_unit_test(shares_of_work_stay_what_they_are),
    };
    golden_dir = argc > 1 ? argv[1] : golden_dir;
    return cmocka_run_group_tests_name("made_analysis", tests, NULL, NULL);
}
