/* Two sides of several builds, jobs and nights: what is one sample, counts once, and which blocks pair. */
#include "base/mem.h"
#include "page.h"
#include "sides.h"
#define RESULT "results.0."
#define FIRST  RESULT "devices.0.comparisons.0."

/* So many blocks of a job in one arm with a build. */
static void add_build(struct sides *s, int side, int64_t job, const char *build, size_t blocks, double ns)
{
    size_t from = s->runs[side].count;
    sides_add_job(s, side, job, (uint32_t)side, blocks, ns);
    for (size_t i = from; i < s->runs[side].count; i++) {
        sides_name(&s->runs[side].at[i].build, build);
        sides_name(&s->runs[side].at[i].build_content, build);
    }
}

static void check(const json_t *doc, const char *verdict, const char *level, const char *method)
{
    assert_string_equal(text_at(doc, FIRST "verdict"), verdict);
    assert_string_equal(text_at(doc, FIRST "units_of"), level);
    assert_string_equal(text_at(doc, FIRST "method"), method);
}

/* build:a,build:b against build:c,build:d: what builds differ by has to be passed too. */
static void builds_are_one_sample(void **state)
{
    (void)state;
    struct sides s;
    sides_init(&s, NULL);
    s.in.pool[0] = s.in.pool[1] = QS_POOL_ALL;
    add_build(&s, 0, 1, "a", 10, 1e6);
    add_build(&s, 0, 2, "b", 10, 1.03e6);
    add_build(&s, 1, 3, "c", 10, 1.05e6);
    add_build(&s, 1, 4, "d", 10, 1.08e6);
    json_t *doc = sides_compared(&s);
    check(doc, "inconclusive", "builds", "log-welch"); /* runs alone would call it */
    assert_int_equal(json_array_size(at(doc, "results")), 1);
    assert_int_equal(json_array_size(at(doc, "only_in_base")), 0);
    assert_string_equal(text_at(doc, RESULT "base_arm"), "a and b");
    assert_string_equal(text_at(doc, RESULT "base_pools.1"), "b");
    assert_string_equal(text_at(doc, RESULT "candidate_pools.0"), "c");
    assert_int_equal(json_integer_value(at(doc, FIRST "base.units")), 2);
    assert_string_equal(text_at(doc, FIRST "base.units_of"), "builds");
    assert_int_equal(json_integer_value(at(doc, FIRST "base.builds")), 2);
    assert_int_equal(json_integer_value(at(doc, FIRST "base.runs")), 20);
    /* of geometric means: sqrt(1.05 * 1.08 / 1.03) */
    assert_true(fabs(number(doc, FIRST "ratio") - 1.0492715) < 1e-3);
    json_decref(doc);
    sides_done(&s);
    sides_init(&s, NULL);
    s.in.pool[0] = s.in.pool[1] = QS_POOL_ALL;
    for (int64_t job = 1; job <= 4; job++)
        add_build(&s, job > 2, job, job % 2 ? "x" : "y", 10, job > 2 ? 1.5e6 : 1e6);
    doc = sides_compared(&s);
    assert_int_equal(json_array_size(at(doc, "results")), 2); /* the same builds: one by one */
    assert_int_equal(json_array_size(at(doc, RESULT "base_pools")), 0);
    json_decref(doc);
    sides_done(&s);
}

/* A build that comes again after another one is one unit, not two. */
static void builds_come_in_any_order(void **state)
{
    (void)state;
    struct sides s;
    sides_init(&s, NULL);
    s.in.pool[0] = s.in.pool[1] = QS_POOL_ALL;
    add_build(&s, 0, 1, "a", 10, 1e6);
    add_build(&s, 0, 2, "b", 10, 1.03e6);
    add_build(&s, 0, 3, "a", 10, 1.01e6);
    add_build(&s, 1, 4, "c", 10, 1.08e6);
    json_t *doc = sides_compared(&s);
    assert_int_equal(json_integer_value(at(doc, FIRST "base.units")), 2);
    assert_int_equal(json_integer_value(at(doc, FIRST "base.builds")), 2);
    assert_int_equal(json_integer_value(at(doc, FIRST "base.sessions")), 3);
    json_decref(doc);
    sides_done(&s);
}

/* One build against several: the one counts its sessions. */
static void one_build_against_several(void **state)
{
    (void)state;
    struct sides s;
    sides_init(&s, NULL);
    s.in.pool[0] = s.in.pool[1] = QS_POOL_ALL;
    add_build(&s, 0, 1, "ref", 8, 1e6);
    add_build(&s, 0, 2, "ref", 8, 1.001e6);
    add_build(&s, 1, 3, "c", 8, 1.2e6);
    add_build(&s, 1, 4, "d", 8, 1.201e6);
    json_t *doc = sides_compared(&s);
    check(doc, "regression", "builds", "log-welch");
    assert_string_equal(text_at(doc, FIRST "base.units_of"), "sessions");
    assert_string_equal(text_at(doc, FIRST "candidate.units_of"), "builds");
    assert_int_equal(json_integer_value(at(doc, FIRST "base.units")), 2);
    assert_false(has_warning(doc, RESULT "devices.0.warnings", "one-session"));
    json_decref(doc);
    sides_done(&s);
}

/* 1,2 against 3,4: jobs of one arm are one sample whatever they measured; arms that a job compares are not.
 */
static void jobs_are_one_sample(void **state)
{
    (void)state;
    struct sides s;
    sides_init(&s, NULL);
    add_build(&s, 0, 1, "r1", 8, 1e6);
    add_build(&s, 0, 2, "r2", 8, 1e6);
    add_build(&s, 1, 3, "r2", 8, 1.3e6); /* one of them is on both sides */
    add_build(&s, 1, 4, "r4", 8, 1.3e6);
    json_t *doc = sides_compared(&s);
    assert_int_equal(json_array_size(at(doc, "results")), 1);
    assert_string_equal(text_at(doc, RESULT "candidate_arm"), "r2 and r4");
    check(doc, "regression", "builds", "log-welch");
    json_decref(doc);
    add_build(&s, 0, 1, "other", 8, 1e6);
    doc = sides_compared(&s);
    assert_int_equal(json_array_size(at(doc, "results")), 1); /* r2 with r2 */
    assert_string_equal(text_at(doc, RESULT "base_arm"), "r2");
    assert_int_equal(json_array_size(at(doc, "only_in_base")), 2);
    json_decref(doc);
    sides_done(&s);
}

/* Two nights of ref and head, where head is another build each night. */
static void what_is_left_is_matched_by_name(void **state)
{
    (void)state;
    static const char *const heads[2] = {"r1", "r2"};
    struct sides s;
    sides_init(&s, NULL);
    for (int side = 0; side < 2; side++) {
        s.in.pool[side] = QS_POOL_NAMES;
        sides_add_job(&s, side, side + 1, 0, 8, 1e6);
        sides_add_job(&s, side, side + 1, 1, 8, side ? 1.2e6 : 1e6);
        for (size_t i = 0; i < 16; i++)
            sides_name(&s.runs[side].at[i].build, i < 8 ? "ref" : heads[side]);
    }
    json_t *doc = sides_compared(&s);
    assert_int_equal(json_array_size(at(doc, "results")), 2);
    assert_string_equal(text_at(doc, "results.0.base_arm"), "ref");
    assert_string_equal(text_at(doc, "results.1.base_arm"), "r1");
    assert_string_equal(text_at(doc, "results.1.candidate_arm"), "r2");
    assert_string_equal(text_at(doc, "results.1.devices.0.comparisons.0.verdict"), "regression");
    json_decref(doc);
    sides_done(&s);
}

/* ref ran in many nights, each of another speed, new in one of them: there the blocks that both share say it.
 */
static void shared_blocks_are_used(void **state)
{
    (void)state;
    static const double nights[] = {1.18e6, 1e6, 1.1e6, 1.05e6};
    struct sides s;
    sides_init(&s, NULL);
    for (int64_t job = 1; job <= 4; job++)
        add_build(&s, 0, job, "ref", 8, nights[job - 1]);
    add_build(&s, 1, 1, "new", 8, nights[0]);
    for (size_t i = 0; i < 8; i++)
        s.runs[1].at[i].session = 1;
    json_t *doc = sides_compared(&s);
    check(doc, "equivalent", "blocks", "paired-log-t");
    assert_int_equal(json_integer_value(at(doc, FIRST "base.units")), 8);
    assert_int_equal(json_integer_value(at(doc, FIRST "base.units_dropped")), 24);
    assert_true(has_warning(doc, RESULT "devices.0.warnings", "left-out"));
    assert_true(fabs(number(doc, FIRST "ratio") - 1) < 0.003);
    json_decref(doc);
    sides_done(&s);
}

/* A night against one job of it: its runs are on both sides, and are no pairs. */
static void a_run_is_no_pair_of_itself(void **state)
{
    (void)state;
    struct sides s;
    sides_init(&s, NULL);
    for (int64_t job = 1; job <= 3; job++)
        sides_add_job(&s, 0, job, 0, 6, job < 3 ? 1e6 : 4e6);
    sides_add_job(&s, 1, 3, 0, 6, 4e6);
    for (size_t i = 0; i < 6; i++)
        memcpy(s.runs[1].at[i].uid, s.runs[0].at[12 + i].uid, 16);
    json_t *doc = sides_compared(&s);
    assert_string_equal(text_at(doc, FIRST "units_of"), "runs");
    assert_true(number(doc, FIRST "ratio") > 2);
    json_decref(doc);
    sides_done(&s);
}

/* Each night ref and another head in shared blocks: a pair of builds counts once. */
static void builds_that_met_are_paired(void **state)
{
    (void)state;
    static const char *const heads[] = {"r1", "r2", "r3", "r4"};
    static const double nights[] = {1.5e6, 1e6, 2e6, 1.2e6}, change[] = {1.1, 1.105, 1.095, 1.1};
    struct sides s;
    sides_init(&s, NULL);
    s.in.pool[0] = s.in.pool[1] = QS_POOL_ALL;
    for (int64_t job = 1; job <= 4; job++) {
        add_build(&s, 0, job, "ref", 6, nights[job - 1]);
        add_build(&s, 1, job, heads[job - 1], 6, nights[job - 1] * change[job - 1]);
    }
    json_t *doc = sides_compared(&s);
    check(doc, "regression", "builds", "paired-log-t");
    assert_int_equal(json_integer_value(at(doc, FIRST "base.units")), 4);
    assert_int_equal(json_integer_value(at(doc, FIRST "candidate.builds")), 4);
    assert_true(fabs(number(doc, FIRST "ratio") - 1.1) < 0.002);
    assert_true(number(doc, FIRST "df") == 3);
    json_decref(doc);
    sides_done(&s);
}

/* Two jobs of 40 blocks, all but so many of each disturbed: 30 % longer, on both sides. */
static json_t *busy_sides(size_t clean, size_t clean_of_candidate)
{
    struct sides s;
    sides_init(&s, NULL);
    sides_add_job(&s, 0, 1, 0, 40, 1e6);
    sides_add_job(&s, 1, 2, 0, 40, 1.05e6);
    for (size_t i = 0; i < 40 - clean; i++)
        sides_disturb(&s, 0, i, 1.3);
    for (size_t i = 0; i < 40 - clean_of_candidate; i++)
        sides_disturb(&s, 1, i, 1.3);
    json_t *doc = sides_compared(&s);
    sides_done(&s);
    return doc;
}

static void good_blocks_never_make_data_fewer(void **state)
{
    (void)state;
    double before = INFINITY;
    for (size_t clean = 3; clean <= 37; clean++) {
        json_t *doc = busy_sides(clean, clean);
        double width = number(doc, FIRST "hi") - number(doc, FIRST "lo");
        if (width > 1.1 * before || width > 0.002)
            fail_msg("%zu clean: width %g, before %g", clean, width, before);
        assert_true(fabs(number(doc, FIRST "ratio") - 1.05) < 0.001);
        assert_string_equal(text_at(doc, FIRST "method"), "log-welch-by-kind");
        assert_int_equal(json_integer_value(at(doc, FIRST "base.units")), 40);
        assert_int_equal(json_integer_value(at(doc, FIRST "clean.base")), clean);
        assert_int_equal(json_integer_value(at(doc, FIRST "disturbed.candidate")), 40 - clean);
        assert_true(number(doc, FIRST "clean.lo") < 1.05 && number(doc, FIRST "clean.hi") > 1.05);
        assert_true(json_is_true(at(doc, FIRST "uses_tainted")));
        assert_true(has_warning(doc, "results.0.devices.0.warnings", "both-count"));
        before = width;
        json_decref(doc);
    }
}

/* A quiet base, and a candidate with few clean blocks: what disturbed those would be told as a change. */
static void unlike_sides_rest_on_their_clean_blocks(void **state)
{
    (void)state;
    json_t *doc = busy_sides(40, 6);
    assert_true(fabs(number(doc, FIRST "ratio") - 1.05) < 0.002);
    assert_string_equal(text_at(doc, FIRST "method"), "log-welch");
    assert_int_equal(json_integer_value(at(doc, FIRST "candidate.units")), 6);
    assert_int_equal(json_integer_value(at(doc, FIRST "candidate.units_dropped")), 34);
    assert_false(json_is_true(at(doc, FIRST "uses_tainted")));
    assert_true(json_is_null(at(doc, FIRST "clean")));
    json_decref(doc);
    doc = busy_sides(40, 5); /* few, and yet the others are seen to be off */
    assert_true(fabs(number(doc, FIRST "ratio") - 1.05) < 0.002);
    assert_true(has_warning(doc, "results.0.devices.0.warnings", "contradict"));
    assert_int_equal(json_integer_value(at(doc, FIRST "clean.candidate")), 5); /* what they say is there */
    assert_true(fabs(number(doc, FIRST "clean.ratio") - 1.05) < 0.002);
    assert_true(json_is_null(at(doc, FIRST "disturbed.ratio")));
    json_decref(doc);
    doc = busy_sides(40, 2); /* too few to see it */
    assert_true(number(doc, FIRST "ratio") > 1.25);
    assert_int_equal(json_integer_value(at(doc, FIRST "candidate.units")), 40);
    assert_int_equal(json_integer_value(at(doc, FIRST "clean.candidate")), 2);
    assert_true(has_warning(doc, "results.0.devices.0.warnings", "noisy"));
    json_decref(doc);
}

/* Four sessions a side, of different speed, with 10 blocks each; so many of the 40 blocks of a side are
 * clean, the others 30 % longer. */
static json_t *busy_sessions(size_t clean_of_base, size_t clean_of_candidate)
{
    static const double speed[2][4] = {{1e6, 1.002e6, 0.998e6, 1.001e6}, {1.051e6, 1.049e6, 1.05e6, 1.053e6}};
    const size_t clean[2] = {clean_of_base, clean_of_candidate};
    struct sides s;
    sides_init(&s, NULL);
    for (int side = 0; side < 2; side++) {
        for (int64_t session = 0; session < 4; session++) {
            sides_add_job(&s, side, side + 1, 0, 10, speed[side][session]);
            for (size_t i = 10 * (size_t)session; i < 10 * (size_t)session + 10; i++) {
                s.runs[side].at[i].block += 10 * (uint32_t)session;
                s.runs[side].at[i].session = 10 * side + session + 1;
            }
        }
        for (size_t i = 0; i < 40; i++)
            if ((i * 7 + 3) % 40 >= clean[side])
                sides_disturb(&s, side, i, 1.3);
    }
    json_t *doc = sides_compared(&s);
    sides_done(&s);
    return doc;
}

/* Both sides alike, or one of them quiet: clean blocks are no reason to throw others away, and what
 * disturbed those is told as no change. */
static void good_blocks_cost_nothing_in_sessions(void **state)
{
    (void)state;
    for (size_t clean = 2; clean <= 40; clean++) {
        for (int quiet = 0; quiet < 2; quiet++) {
            json_t *doc = busy_sessions(quiet ? 40 : clean, clean);
            double ratio = number(doc, FIRST "ratio");
            double width = number(doc, FIRST "hi") - number(doc, FIRST "lo");
            if (fabs(ratio - 1.0505) > 0.002 || width > 0.02)
                fail_msg("%zu clean, base %s: ratio %g, width %g", clean, quiet ? "quiet" : "busy", ratio,
                         width);
            assert_string_equal(text_at(doc, FIRST "base.units_of"), "sessions");
            assert_int_equal(json_integer_value(at(doc, FIRST "base.units_dropped")), 0);
            if (clean < 40) {
                assert_string_equal(text_at(doc, FIRST "method"), "log-welch-shifted");
                assert_true(fabs(number(doc, FIRST "shift.ratio") - 1.3) < 0.003);
                assert_true(number(doc, FIRST "shift.lo") < 1.3 && number(doc, FIRST "shift.hi") > 1.3);
                assert_true(fabs(number(doc, FIRST "shift.base_share") -
                                 (quiet ? 0 : number(doc, FIRST "shift.candidate_share"))) < 0.001);
                assert_true(json_is_true(at(doc, FIRST "uses_tainted")));
                assert_true(has_warning(doc, "results.0.devices.0.warnings", "both-count"));
            } else {
                assert_true(json_is_null(at(doc, FIRST "shift")));
                assert_string_equal(text_at(doc, FIRST "method"), "log-welch");
            }
            json_decref(doc);
        }
    }
}

/* A job of three arms: the third fails in two blocks, five of eight are disturbed, the margin and the level
 * are the job's own. */
static void fill_job(struct sides *s, struct world *w)
{
    static const double wobble[] = {0, 0.03, -0.02, 0.04, -0.03, 0.01, 0.02, -0.01};
    for (uint32_t b = 1; b <= 8; b++) {
        for (uint32_t arm = 0; arm < 3; arm++) {
            int64_t ns = (int64_t)(1e6 * (1 + wobble[(b + 3 * arm) % 8] + 0.05 * arm));
            struct qs_measured_run *measured = world_one(w, b, arm, ns);
            struct qs_arm_run *run = arm < 2 ? sides_add(s, (int)arm, 1, arm, b, (double)ns) : NULL;
            if (run)
                run->values[0].n = 1;
            if (arm == 2 && b <= 2)
                world_lose(measured, QS_RUN_FAILED);
            if (b >= 6)
                world_disturb(measured);
            if (b >= 6 && run)
                run->values[0].disturbed = true;
        }
    }
}

static void arms_of_a_job_have_one_answer(void **state)
{
    (void)state;
    static const char *const fields[] = {"ratio",     "lo", "hi", "judged_lo",
                                         "judged_hi", "p",  "df", "mde_ratio"};
    struct world w;
    struct sides s;
    world_init(&w, 3, "plan: {blocks: {min: 3, max: 8}}\ncompare: {margin: 7%, alpha: 0.1}\n");
    sides_init(&s, NULL);
    w.info.id = 1;
    s.list[0].spec = w.spec;
    s.in.views = w.in.views = (struct qs_views){.count = 0};
    s.in.alpha = NAN;
    s.in.job = &w.in;
    fill_job(&s, &w);
    json_t *sides = sides_compared(&s);
    struct qs_buf text;
    struct qs_err err = QS_ERR_INIT;
    qs_buf_init(&text);
    assert_true(qs_report_compare(&w.in, &text, &err));
    json_t *job = page_read(&text);
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        char *here = qs_asprintf(FIRST "%s", fields[i]),
             *there = qs_asprintf("results.0.comparisons.0.%s", fields[i]);
        if (number(sides, here) != number(job, there))
            fail_msg("%s: %g of the sides, %g of the job", fields[i], number(sides, here),
                     number(job, there));
        free(here);
        free(there);
    }
    assert_string_equal(text_at(sides, FIRST "verdict"), text_at(job, "results.0.comparisons.0.verdict"));
    assert_true(number(sides, FIRST "margin_ratio") == 0.07);
    assert_true(fabs(number(sides, "alpha") - 0.1) < 1e-12);
    assert_int_equal(json_integer_value(at(sides, FIRST "base.units")),
                     json_integer_value(at(job, "results.0.comparisons.0.base.units")));
    json_decref(sides);
    json_decref(job);
    qs_buf_done(&text);
    sides_done(&s);
    world_done(&w);
}

/* What is called equivalent is told with the interval that lies within the margin, not with the wider one. */
static void the_sentence_never_contradicts(void **state)
{
    (void)state;
    static const double noise[] = {-0.031, 0.028, -0.012, 0.024, 0.011, -0.022, 0.019, -0.017};
    struct sides s;
    sides_init(&s, NULL);
    for (uint32_t b = 1; b <= 8; b++) {
        sides_add(&s, 0, 1, 0, b, 1e6);
        sides_add(&s, 1, 1, 1, b, 1e6 * (1 + noise[b - 1]));
    }
    s.in.margin_ratio = 0.0185; /* between the ends of both intervals */
    json_t *doc = sides_compared(&s);
    check(doc, "equivalent", "blocks", "paired-log-t");
    assert_true(number(doc, FIRST "hi") > 1.0185 || number(doc, FIRST "lo") < 1 / 1.0185);
    assert_true(number(doc, FIRST "judged_hi") <= 1.0185 && number(doc, FIRST "judged_lo") >= 1 / 1.0185);
    assert_true(number(doc, FIRST "judged_level") == 0.9);
    struct qs_buf told;
    qs_buf_init(&told);
    qs_report_sentence(&told, "a", "b", number(doc, FIRST "lo90"), number(doc, FIRST "hi90"));
    assert_string_equal(text_at(doc, FIRST "sentence"), told.data);
    qs_buf_done(&told);
    json_decref(doc);
    sides_done(&s);
}

/* A p at the level is none below it. */
static void losses_at_the_level_do_not_differ(void **state)
{
    (void)state;
    struct sides s;
    sides_init(&s, NULL);
    sides_add_job(&s, 0, 1, 0, 12, 1e6);
    sides_add_job(&s, 1, 2, 0, 12, 1e6);
    for (size_t i = 0; i < 6; i++)
        s.runs[0].at[i].taints = QS_TAINT_TIMEOUT;
    json_t *doc = sides_compared(&s);
    double p = number(doc, RESULT "devices.0.comparisons.0.timed_out_p");
    json_decref(doc);
    for (int step = 0; step < 4; step++) { /* timed out, then failed; at p, then above it */
        bool above = step % 2 == 1, lost = step > 1;
        for (size_t i = 0; lost && i < 6; i++) {
            s.runs[0].at[i].taints = 0;
            s.runs[0].at[i].values[0].n = 0;
        }
        s.in.alpha = above ? nextafter(p, 1) : p;
        doc = sides_compared(&s);
        assert_true(!lost || number(doc, RESULT "devices.0.comparisons.0.lost_p") == p);
        assert_int_equal(json_is_true(at(doc, RESULT "devices.0.comparisons.0.losses_differ")), above);
        assert_int_equal(
            has_warning(doc, RESULT "devices.0.warnings", lost ? "taint-rates" : "timeout-rates"), above);
        json_decref(doc);
    }
    sides_done(&s);
}

/* Of an arm or a point that its job does not have nothing is known, and nothing is made up. */
static void what_a_job_has_not_is_not_known(void **state)
{
    (void)state;
    for (int of_point = 0; of_point < 2; of_point++) {
        struct sides s;
        sides_init(&s, NULL);
        sides_add_job(&s, 0, 1, 0, 8, 1e6);
        sides_add_job(&s, 1, 2, 0, 8, 1e6);
        for (size_t i = 0; i < 8; i++) {
            s.runs[1].at[i].arm = of_point ? 0 : 2;
            s.runs[1].at[i].point = (uint32_t)of_point;
        }
        json_t *doc = sides_compared(&s);
        check(doc, "equivalent", "runs", "log-welch");
        assert_int_equal(json_array_size(at(doc, "arm")), 0);
        json_decref(doc);
        sides_done(&s);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(builds_are_one_sample),
                                       cmocka_unit_test(builds_come_in_any_order),
                                       cmocka_unit_test(one_build_against_several),
                                       cmocka_unit_test(jobs_are_one_sample),
                                       cmocka_unit_test(what_is_left_is_matched_by_name),
                                       cmocka_unit_test(shared_blocks_are_used),
                                       cmocka_unit_test(a_run_is_no_pair_of_itself),
                                       cmocka_unit_test(builds_that_met_are_paired),
                                       cmocka_unit_test(good_blocks_never_make_data_fewer),
                                       cmocka_unit_test(good_blocks_cost_nothing_in_sessions),
                                       cmocka_unit_test(unlike_sides_rest_on_their_clean_blocks),
                                       cmocka_unit_test(arms_of_a_job_have_one_answer),
                                       cmocka_unit_test(the_sentence_never_contradicts),
                                       cmocka_unit_test(losses_at_the_level_do_not_differ),
                                       cmocka_unit_test(what_a_job_has_not_is_not_known)};
    schema_dir = argc > 2 ? argv[2] : schema_dir;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
