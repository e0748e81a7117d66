/* What becomes of a job's actions when something fails, when the job is cancelled or given back, when the
 * link is lost, and with older agents. */
#include <stdio.h>

#include "base/mem.h"
#include "stage_actions.h"
#include "store/rows.h"

#define S INT64_C(1000000000)

/* ---- commands that fail ---- */

static void test_failing_commands(void **state)
{
    (void)state;
    struct scene t;
    scene_begin(&t, SCENE_JOB
                "actions: {before_run: [{run: [bad]}, {run: [never]}], after_run: [{run: [ar]}],"
                " after_session: [{run: [as]}], after_job: [{run: [aj]}], before_session: [{run: [bs]}]}\n");
    scene_fails(&t, "before_run[0]: bad exited with code 3; it wrote: no space");
    assert_int_equal(t.s.result.err.code, QS_E_COMMAND);
    assert_string_equal(t.s.hooks.data, "bs bad ar as aj ");
    assert_null(strstr(t.a.log.data, "run_begin"));
    scene_end(&t);
    scene_begin(&t,
                SCENE_JOB "actions: {before_window: [{run: [bad], ignore_failure: true}, {run: [next]}]}\n");
    scene_goes_well(&t);
    assert_string_equal(t.s.hooks.data, "bad next bad next ");
    assert_true(
        stage_told(&t.s, "job.warning {\"text\":\"before_window: bad exited with code 3; it wrote: no space, "
                         "going on (said once)\"}"));
    const char *once = strstr(t.s.news.data, "(said once)");
    assert_null(strstr(once + 1, "(said once)")); /* it failed twice */
    scene_end(&t);
    /* One that comes after something is no reason not to undo the rest. */
    scene_begin(&t, SCENE_JOB
                "actions: {after_window: [{run: [bad]}, {run: [next]}], after_run: [{run: [ar]}]}\n");
    scene_fails(&t, "after_window[0]: bad exited with code 3");
    assert_string_equal(t.s.hooks.data, "bad next ar ");
    assert_int_equal(t.s.runs[0].numbered, 1);
    assert_int_equal(t.s.runs[0].acked, 1); /* the window is on disk, and the agent knows */
    scene_end(&t);
}

static void fail_after_first(struct stage *s, const struct stage_run *run, struct stage_window *w)
{
    (void)s;
    w->how = run->block > 0 ? QS_CLOSED_FAILED : w->how;
    w->iterations = run->block > 0 ? 0 : w->iterations;
    w->failure = "nothing works";
}

/* What comes before something that never began is not undone. */
static void test_only_what_began_is_undone(void **state)
{
    (void)state;
    struct scene t;
    scene_begin(
        &t, SCENE_JOB
        "actions: {before_job: [{run: [bad]}], before_session: [{run: [bs]}], after_session: [{run: [as]}],"
        " after_job: [{run: [aj]}], after_run: [{run: [ar]}]}\n");
    scene_fails(&t, "before_job[0]: bad exited");
    assert_string_equal(t.s.hooks.data, "bad aj ");
    scene_end(&t);
    scene_begin(&t, SCENE_JOB "actions: {after_window: [{run: [aw]}], after_run: [{run: [ar]}]}\n");
    t.s.script = fail_after_first;
    stage_go(&t.s);
    assert_true(strstr(t.s.hooks.data, "aw ar aw ar ") != NULL);
    scene_end(&t);
}

/* ---- a gate that gives the device back ---- */

static void give_back(struct stage *s, const struct stage_run *run, struct stage_window *w)
{
    (void)s;
    (void)run;
    w->how = QS_CLOSED_GATE_TIMEOUT;
    w->gate = QS_GATE_DEFER;
}

static void test_given_back(void **state)
{
    (void)state;
    struct scene t;
    scene_begin(
        &t, SCENE_JOB
        "actions: {before_window: [{run: [bw]}], after_window: [{run: [aw]}], after_session: [{run: [as]}],"
        " after_job: [{run: [aj]}]}\n");
    t.s.script = give_back;
    stage_go(&t.s);
    assert_int_equal(t.s.result.end, QS_END_DEFER);
    assert_string_equal(t.s.hooks.data, "bw aw as ");
    scene_end(&t);
}

/* ---- cancelled, lost ---- */

static void cancel_now(void *user)
{
    qs_job_run_cancel(((struct stage *)user)->job, "not needed any more");
}

static const char waits_job[] = SCENE_JOB
    "actions:\n"
    "  before_session: [%s, {run: [never]}]\n"
    "  after_session: [{sleep: 1h}, {run: [as]}, {cool_down: {sensor: \"thermal:cpu-thermal\", below: 0C}}]\n"
    "  after_job: [{run: [aj]}]\n";

static void test_cancel_ends_a_wait_at_once(void **state)
{
    (void)state;
    static const struct {
        const char *step, *hooks;
    } cases[] = {{"{sleep: 1h}", "as aj "},
                 {"{cool_down: {sensor: \"thermal:cpu-thermal\", below: 0C, timeout: 1h}}", "as aj "},
                 {"{warm_up: {for: 500s}}", "as aj "},
                 {"{warm_up: {sensor: \"thermal:cpu-thermal\", above: 99C, timeout: 500s}}", "as aj "},
                 {"{run: [long]}", "long as aj "}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct scene t;
        char job[1500];
        snprintf(job, sizeof job, waits_job, cases[i].step);
        scene_begin(&t, job);
        qs_timer_start(t.s.loop, 20 * S + S / 2, cancel_now, &t.s);
        int64_t began_ns = qs_loop_now_ns(t.s.loop);
        stage_go(&t.s);
        assert_int_equal(t.s.result.end, QS_END_CANCELLED);
        assert_string_equal(t.s.hooks.data, cases[i].hooks);
        assert_in_range(t.a.ended_ns - began_ns, 20 * S, 21 * S);
        assert_true(stage_told(&t.s, "{\"stage\":\"before_session\",\"outcome\":\"cancelled\""));
        assert_int_equal(t.s.run_count, 0);
        scene_end(&t);
    }
}

/* In what comes after something, too: the rest of it is done. */
static void test_cancelled_afterwards(void **state)
{
    (void)state;
    struct scene t;
    scene_begin(&t, SCENE_JOB "actions: {after_run: [{sleep: 1h}, {run: [ar]}], after_job: [{run: [aj]}]}\n");
    qs_timer_start(t.s.loop, 20 * S, cancel_now, &t.s);
    int64_t began_ns = qs_loop_now_ns(t.s.loop);
    stage_go(&t.s);
    assert_int_equal(t.s.result.end, QS_END_CANCELLED);
    assert_string_equal(t.s.hooks.data, "ar aj ");
    assert_in_range(t.a.ended_ns - began_ns, 20 * S, 21 * S);
    scene_end(&t);
}

static const char all_job[] =
    SCENE_JOB "actions:\n"
              "  before_job: [{run: [bj]}]\n"
              "  before_session: [{run: [bs]}]\n"
              "  before_run: [{run: [br]}]\n"
              "  before_window: [{run: [bw]}, {write: {file: " SCENE_FILE ", value: \"1200000\"}},"
              " {cool_down: {sensor: \"thermal:cpu-thermal\", below: 45C}}]\n"
              "  after_window: [{run: [aw]}]\n"
              "  after_run: [{run: [ar]}]\n"
              "  after_session: [{run: [as]}]\n"
              "  after_job: [{run: [aj]}]\n";

/* Wherever the link is lost: the next session begins with its own stage, the job's is not done again. */
static void test_link_lost_in_each_stage(void **state)
{
    (void)state;
    static const struct {
        const char *at;
        unsigned bj, bs, aj;
    } cases[] = {{"before", 2, 1, 1},        {"turn", 1, 2, 1},         {"before_run", 1, 2, 1},
                 {"before_window", 1, 2, 1}, {"after_window", 1, 2, 1}, {"after_run", 1, 2, 1},
                 {"after", 1, 2, 1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct scene t;
        unsigned n[3] = {0};
        static const char *const words[] = {"bj ", "bs ", "aj "};
        scene_begin(&t, all_job);
        t.s.strike = STRIKE_DOWN;
        t.s.strike_state = cases[i].at;
        stage_go(&t.s);
        assert_int_equal(t.s.struck, 1);
        assert_int_equal(t.s.result.end, QS_END_DONE);
        assert_int_equal(stage_counted(&t.s, 0, 1), 1);
        for (size_t w = 0; w < 3; w++)
            for (const char *at = t.s.hooks.data; (at = strstr(at, words[w])) != NULL; at++)
                n[w]++;
        assert_int_equal(n[0], cases[i].bj);
        assert_int_equal(n[1], cases[i].bs);
        assert_int_equal(n[2], cases[i].aj);
        assert_true(stage_all_put_back(&t.c));
        scene_end(&t);
    }
}

static void test_struck_in_each_stage(void **state)
{
    (void)state;
    static const char *const at[] = {"before",       "before_run", "before_window", "turn",
                                     "after_window", "after_run",  "after"};
    static const enum stage_strike strikes[] = {STRIKE_CANCEL, STRIKE_ABANDON};
    for (size_t i = 0; i < sizeof at / sizeof *at; i++)
        for (size_t k = 0; k < 2; k++)
            for (unsigned after = 0; after < 3; after++) {
                struct scene t;
                scene_begin(&t, all_job);
                t.s.strike = strikes[k];
                t.s.strike_state = at[i];
                t.s.strike_after = after;
                stage_go(&t.s);
                assert_true(t.s.result.end == QS_END_CANCELLED || t.s.result.end == QS_END_DONE);
                assert_true(strikes[k] == STRIKE_ABANDON || stage_all_put_back(&t.c));
                t.a.loaded = false;
                scene_end(&t);
            }
}

static void refuse_from_now_on(struct stage *s, const struct stage_run *run, struct stage_window *w)
{
    (void)run;
    (void)w;
    s->control->odd_file = "class/leds/red/brightness";
    s->control->odd = QS_TUNE_REFUSED;
}

/* Inputs that a stage's state has no row for. */
static void test_other_inputs_in_each_stage(void **state)
{
    (void)state;
    static const enum qs_job_run_state at[] = {QS_JS_BEFORE,       QS_JS_BEFORE_RUN, QS_JS_BEFORE_WINDOW,
                                               QS_JS_AFTER_WINDOW, QS_JS_AFTER_RUN,  QS_JS_AFTER,
                                               QS_JS_TURN};
    size_t cases = 0;
    for (size_t i = 0; i < sizeof at / sizeof *at; i++)
        for (unsigned e = 0; e < QS_JI_COUNT; e++) {
            struct scene t;
            if (qs_job_run_find(at[i], (enum qs_job_run_input)e))
                continue;
            scene_begin(&t, all_job);
            t.s.strike = STRIKE_FEED;
            t.s.strike_state = qs_job_run_state_text(at[i]);
            t.s.feed = (enum qs_job_run_input)e;
            stage_go(&t.s);
            assert_int_equal(t.s.result.end, QS_END_DONE);
            assert_string_equal(t.s.hooks.data, "bj bs br bw aw ar br bw aw ar as aj ");
            scene_end(&t);
            cases++;
        }
    assert_true(cases > 70);
}

/* A daemon that takes a job over looks for the end of before_job. */
static void test_taken_over(void **state)
{
    (void)state;
    static const struct qs_measured_runs earlier;
    static const char job[] =
        SCENE_JOB "actions: {before_job: [{run: [bj]}, {write: {file: " SCENE_FILE
                  ", value: \"1200000\"}}], before_session: [{run: [bs]}], after_job: [{run: [aj]}]}\n";
    struct scene t;
    for (int prepared = 0; prepared < 2; prepared++) {
        scene_begin(&t, job);
        t.a.prepared = prepared;
        stage_earlier(&t.s, &earlier);
        scene_goes_well(&t);
        assert_string_equal(t.s.hooks.data, prepared ? "bs aj " : "bj bs aj ");
        assert_int_equal(stage_told(&t.s, "what each session needs belongs into `before_session`"), prepared);
        scene_end(&t);
    }
    scene_begin(&t, job);
    t.a.look_fails = true;
    stage_earlier(&t.s, &earlier);
    scene_fails(&t, "the disk cannot be read");
    assert_string_equal(t.s.hooks.data, "");
    scene_end(&t);
}

/* The conditions cannot be held, or what was written does not stand again under other ones. */
static void test_turns_that_fail(void **state)
{
    (void)state;
    static const char *const jobs[] = {
        SCENE_JOB
        "conditions: {frequency: max}\nactions: {before_run: [{run: [br]}], after_run: [{run: [ar]}]}\n",
        "quiesce: 1\n"
        "benchmarks: [{name: work, argv: [work]}]\n"
        "arms: {top: {conditions: default}, low: {conditions: low}}\n"
        "plan: {seed: 1, blocks: 2, until: {interval: 0}, warmup: {iterations: 1}, window: {iterations: 2}}\n"
        "conditions: {frequency: max}\ncondition_sets: {low: {frequency: min}}\n"
        "actions: {before_session: [{write: {file: class/leds/red/brightness, value: \"9\"}}]}\n"};
    struct scene t;
    scene_begin(&t, jobs[0]);
    t.c.odd_file = "policy0/scaling_governor";
    t.c.odd = QS_TUNE_REFUSED;
    scene_fails(&t, "the device refused it");
    assert_string_equal(t.s.hooks.data, ""); /* no before_run, and nothing to undo */
    scene_end(&t);
    scene_begin(&t, jobs[1]);
    stage_file_add(&t.c, "class/leds/red/brightness", "0", true);
    t.s.script = refuse_from_now_on;
    scene_fails(&t, "class/leds/red/brightness");
    assert_true(stage_all_put_back(&t.c));
    scene_end(&t);
}

/* ---- an older agent ---- */

static void test_older_agents(void **state)
{
    (void)state;
    static const char cool[] = "[{cool_down: {sensor: \"thermal:cpu-thermal\", below: 45C}}]",
                      warm[] = "[{warm_up: {for: 1s}}]",
                      writes[] = "[{write: {file: " SCENE_FILE ", value: \"1200000\"}}]";
    static const struct {
        const char *stage, *steps, *text; /* NULL: it is done */
        bool reads_nothing, loads_nothing, not_amid, changes_nothing, senses_nothing;
    } cases[] = {
        {"before_run", cool, NULL, false, false, true, false, false},
        {"before_window", cool,
         "is too old for `before_window` of the job's actions: it takes no READ while a run is open", false,
         false, true, false, false},
        {"after_window", warm, "takes no READ while a run is open", false, false, true, false, false},
        {"before_run", cool, "cannot do `before_run` of the job's actions: it reads no sensors on request",
         true, false, false, false, false},
        {"before_run", warm, "it keeps no processors busy", false, true, false, false, false},
        {"before_run", writes, "changes nothing on its device", false, false, false, true, false},
        {"before_run", writes, NULL, false, false, true, false, true},
        {"before_window", writes, "takes no TUNE while a run is open", false, false, false, false, true}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct scene t;
        char job[1000];
        snprintf(job, sizeof job, SCENE_JOB "actions: {%s: %s}\n", cases[i].stage, cases[i].steps);
        scene_begin(&t, job);
        t.a.reads_nothing = cases[i].reads_nothing;
        t.a.loads_nothing = cases[i].loads_nothing;
        t.a.not_amid = cases[i].not_amid;
        t.c.changes_nothing = cases[i].changes_nothing;
        t.c.senses_nothing = cases[i].senses_nothing;
        if (cases[i].text) {
            scene_fails(&t, cases[i].text);
            assert_int_equal(t.s.run_count, 0);
        } else {
            stage_go(&t.s);
            assert_int_equal(t.s.result.end, QS_END_DONE);
        }
        scene_end(&t);
    }
}

/* Of the states that are there for actions, and of the turn in which conditions are held. */
static void test_every_row_is_taken(void **state)
{
    (void)state;
    static const enum qs_job_run_state at[] = {QS_JS_BEFORE,        QS_JS_TURN,         QS_JS_BEFORE_RUN,
                                               QS_JS_BEFORE_WINDOW, QS_JS_AFTER_WINDOW, QS_JS_AFTER_RUN,
                                               QS_JS_AFTER};
    size_t missing = 0;
    for (size_t i = 0; i < sizeof at / sizeof *at; i++)
        for (unsigned e = 0; e < QS_JI_COUNT; e++) {
            if (stage_taken[at[i]][e] || !qs_job_run_find(at[i], (enum qs_job_run_input)e))
                continue;
            print_message("not taken: %s, %s\n", qs_job_run_state_text(at[i]),
                          qs_job_run_input_text((enum qs_job_run_input)e));
            missing++;
        }
    assert_int_equal(missing, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_failing_commands),
        cmocka_unit_test(test_only_what_began_is_undone),
        cmocka_unit_test(test_given_back),
        cmocka_unit_test(test_cancel_ends_a_wait_at_once),
        cmocka_unit_test(test_cancelled_afterwards),
        cmocka_unit_test(test_link_lost_in_each_stage),
        cmocka_unit_test(test_struck_in_each_stage),
        cmocka_unit_test(test_other_inputs_in_each_stage),
        cmocka_unit_test(test_taken_over),
        cmocka_unit_test(test_turns_that_fail),
        cmocka_unit_test(test_older_agents),
        cmocka_unit_test(test_every_row_is_taken), /* by those before it */
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
