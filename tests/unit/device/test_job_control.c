/* Frequencies that a job wants held: what is asked of the device for them, in which order, and what becomes
 * of the job where the device does not do it. */
#include <errno.h>
#include <stdio.h>

#include "stage_control.h"

#define PLAN                                                                                                 \
    "plan: {seed: 1, blocks: {min: 2, max: 2}, until: {interval: 0%}, warmup: {iterations: 1},"              \
    " window: {iterations: 2}}\n"
#define TWO_ARMS                                                                                             \
    "quiesce: 1\n"                                                                                           \
    "benchmarks: [{name: work, argv: [work]}]\n"                                                             \
    "arms: {a: {argv: [a]}, b: {argv: [b]}}\n" PLAN

static const char max_job[] = TWO_ARMS "conditions: {frequency: max}\n";
static const char sets_job[] = "quiesce: 1\n"
                               "benchmarks: [{name: work, argv: [work]}]\n"
                               "arms: {top: {conditions: default}, half: {conditions: half},"
                               " loose: {conditions: loose}}\n" PLAN "conditions: {frequency: max}\n"
                               "condition_sets: {half: {frequency: 50%}, loose: {frequency: free}}\n";

#define SENSORS " thermal:cpu-thermal(class/thermal/thermal_zone0/temp)=-30000..130000/1\n"
#define RUNS    "run 0\nrun 1\nrun 1\nrun 0\nrun 1\nrun 0\n"

static void check_whole_blocks(const struct stage *s, size_t arms)
{
    for (uint32_t b = 1; b <= 2; b++)
        assert_int_equal(stage_counted(s, 0, b), arms);
}

/* What each arm of sets_job is to find, whatever happened before. */
static void check_set(struct stage *s, uint32_t arm)
{
    static const char *const most[] = {"1800000", "600000", "1800000"};
    static const char *const least[] = {"1800000", "600000", "600000"};
    static const char *const governor[] = {"performance", "performance", "schedutil"};
    assert_string_equal(stage_policy_says(s->control, 0, "scaling_max_freq"), most[arm]);
    assert_string_equal(stage_policy_says(s->control, 0, "scaling_min_freq"), least[arm]);
    assert_string_equal(stage_policy_says(s->control, 0, "scaling_governor"), governor[arm]);
}

static void check_top(struct stage *s, uint32_t arm)
{
    (void)arm;
    check_set(s, 0);
}

/* ---- all goes well ---- */

static void test_held_once_for_all_runs(void **state)
{
    (void)state;
    struct stage s;
    struct stage_control c;
    stage_control_begin(&s, &c, max_job);
    c.on_run = check_top;
    stage_go(&s);
    assert_int_equal(s.result.end, QS_END_DONE);
    assert_string_equal(c.log.data,
                        "restore\nsurvey\nbind" SENSORS
                        "tune policy0/scaling_governor=performance policy0/scaling_min_freq=600000!"
                        " policy0/scaling_max_freq=1800000 policy0/scaling_min_freq=1800000\n"
                        "bind pin:policy0.min(policy0/scaling_min_freq)=1800000..1800000/3"
                        " pin:policy0.max(policy0/scaling_max_freq)=1800000..1800000/3" SENSORS RUNS
                        "restore\nend\n");
    assert_true(stage_told(&s, "job.pinned {\"held\":[\"policy0: 1800 MHz (its highest)\"],\"files\":4}"));
    assert_true(stage_told(&s, "job.restored {\"files\":2,\"left\":0}")); /* the most was the most before */
    assert_string_equal(c.stored.data,
                        "policy0/scaling_governor performance: schedutil, performance: set\n"
                        "policy0/scaling_min_freq 600000: 600000, 600000: same\n"
                        "policy0/scaling_max_freq 1800000: 1800000, 1800000: same\n"
                        "policy0/scaling_min_freq 1800000: 600000, 1800000: set\n"
                        "policy0/scaling_min_freq 600000: 600000, 600000: set restored\n"
                        "policy0/scaling_governor schedutil: schedutil, schedutil: set restored\n");
    assert_true(stage_all_put_back(&c));
    check_set(&s, 2);
    stage_control_end(&s);
}

static void test_nothing_is_asked_of_a_job_that_wants_nothing(void **state)
{
    (void)state;
    struct stage s;
    struct stage_control c;
    stage_control_begin(&s, &c, TWO_ARMS);
    stage_go(&s);
    assert_string_equal(c.log.data, "restore\nsurvey\nbind" SENSORS RUNS "end\n");
    assert_false(stage_told(&s, "job.pinned"));
    assert_false(stage_told(&s, "job.restored"));
    stage_control_end(&s);
}

/* What was asked between two runs of sets_job, by the first words of the lines. */
static void check_change(uint32_t from, uint32_t to, const char *asked)
{
    bool was_held = from < 2, is_held = to < 2;
    QS_BUF(want);
    if (from != to && was_held)
        qs_buf_str(&want, "restore ");
    if (from != to && is_held)
        qs_buf_str(&want, "tune ");
    if (from != to)
        qs_buf_str(&want, "bind ");
    assert_string_equal(asked, want.data);
}

static void test_each_set_at_its_runs(void **state)
{
    (void)state;
    struct stage s;
    struct stage_control c;
    uint32_t changes = 0, arm = UINT32_MAX;
    QS_BUF(asked);
    stage_control_begin(&s, &c, sets_job);
    c.on_run = check_set;
    stage_go(&s);
    assert_int_equal(s.result.end, QS_END_DONE);
    check_whole_blocks(&s, 3);
    for (const char *line = c.log.data; *line; line += strcspn(line, "\n") + 1) {
        if (strncmp(line, "run ", 4) != 0) {
            qs_buf_fmt(&asked, "%.*s ", (int)strcspn(line, " \n"), line);
            continue;
        }
        uint32_t next = (uint32_t)(line[4] - '0');
        if (arm != UINT32_MAX)
            check_change(arm, next, asked.data ? asked.data : "");
        changes += next != arm;
        arm = next;
        qs_buf_clear(&asked);
    }
    assert_true(changes > 5);
    assert_true(stage_told(
        &s, "policy0: 600 MHz (50% of 1800 MHz is 900 MHz; the nearest at or below it)\"],\"files\":4}"));
    assert_true(stage_all_put_back(&c));
    stage_control_end(&s);
}

/* Processors that are off come first, and what they can do is known only then. */
static void test_processors_are_switched_on(void **state)
{
    (void)state;
    struct stage s;
    struct stage_control c;
    stage_control_begin(&s, &c, max_job);
    const struct stage_file *on = stage_file_add(&c, "devices/system/cpu/cpu4/online", "0", true);
    size_t before = c.file_count;
    stage_policy_add(&c, 4, "500000 2000000");
    for (size_t i = before; i < c.file_count; i++)
        c.files[i].needs = on;
    stage_go(&s);
    assert_int_equal(s.result.end, QS_END_DONE);
    static const char order[] =
        "restore\nsurvey\nbind" SENSORS "tune devices/system/cpu/cpu4/online=1\nsurvey\nbind" SENSORS
        "tune policy0/scaling_governor=performance policy4/scaling_governor=performance "
        "policy0/scaling_min_freq=600000! policy0/scaling_max_freq=1800000 policy0/scaling_min_freq=1800000 "
        "policy4/scaling_min_freq=500000! policy4/scaling_max_freq=2000000 policy4/scaling_min_freq=2000000\n"
        "bind pin:policy0.min";
    assert_memory_equal(c.log.data, order, sizeof order - 1);
    assert_true(stage_told(&s, "policy4: 2000 MHz"));
    assert_true(stage_all_put_back(&c));
    assert_string_equal(on->value, "0");
    stage_control_end(&s);
}

/* Of a host that ended in between: its changes stand as long as any host is heard. */
static void check_loose(struct stage *s, uint32_t arm)
{
    (void)arm;
    check_set(s, 2);
}

static void test_what_another_session_left_is_put_back_first(void **state)
{
    (void)state;
    struct stage s;
    struct stage_control c;
    stage_control_begin(&s, &c, TWO_ARMS);
    for (size_t i = 0; i < c.file_count; i++) {
        if (!strstr(c.files[i].path, "scaling_governor"))
            continue;
        snprintf(c.files[i].first, STAGE_VALUE, "schedutil");
        snprintf(c.files[i].value, STAGE_VALUE, "performance");
        c.files[i].changed = c.changes = 1;
    }
    c.on_run = check_loose;
    stage_go(&s);
    assert_true(stage_told(&s, "job.restored {\"files\":1,\"left\":0}"));
    stage_control_end(&s);
}

/* ---- the device does not do it ---- */

static void check_nothing_ran(struct stage *s, enum qs_errc code, const char *text)
{
    stage_go(s);
    assert_int_equal(s->result.end, QS_END_FAILED);
    assert_int_equal(s->result.err.code, code);
    if (!strstr(s->result.err.text, text))
        fail_msg("`%s` lacks `%s`", s->result.err.text, text);
    assert_int_equal(s->opens, 0);
    assert_null(strstr(s->control->log.data, "run "));
    assert_true(stage_all_put_back(s->control));
    check_set(s, 2);
}

static void test_a_write_that_fails(void **state)
{
    (void)state;
    static const struct {
        enum qs_tune_outcome how;
        int32_t error;
        const char *now, *text;
    } cases[] = {
        {QS_TUNE_SLIPPED, 0, "powersave",
         "writing `performance` to devices/system/cpu/cpufreq/policy0/scaling_governor failed, it says "
         "`powersave`: it did not stay; the kernel or a service of the device has set it again; "
         "`frequency: free` leaves frequencies alone"},
        {QS_TUNE_REFUSED, EINVAL, "schedutil",
         "local cannot be held as the job's conditions want: writing `performance` to "
         "devices/system/cpu/cpufreq/policy0/scaling_governor failed, it says `schedutil`: the device "
         "refused "
         "it: Invalid argument; "},
        {QS_TUNE_TIMEOUT, 0, NULL, "scaling_governor failed: its driver did not answer in time; "},
        {QS_TUNE_UNREADABLE, EACCES, NULL, "could not be put back: Permission denied; "},
        {QS_TUNE_MISSING, ENOENT, NULL, "disappeared since the device was surveyed: No such file "},
        {QS_TUNE_FORBIDDEN, 0, NULL, "and does not freeze the control group in which it runs itself; "},
        {QS_TUNE_UNJOURNALLED, ENOSPC, NULL, "or closed to it: No space left on device; "},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct stage s;
        struct stage_control c;
        stage_control_begin(&s, &c, max_job);
        c.odd_file = "policy0/scaling_governor";
        c.odd = cases[i].how;
        c.odd_errno = cases[i].error;
        c.odd_text = cases[i].now;
        check_nothing_ran(&s, QS_E_PRECONDITION, cases[i].text);
        assert_int_equal(c.tunes, 1);
        assert_int_equal(c.restores, 2);
        stage_control_end(&s);
    }
}

static void test_an_answer_with_too_few_rows(void **state)
{
    (void)state;
    struct stage s;
    struct stage_control c;
    stage_control_begin(&s, &c, max_job);
    c.short_answer = true;
    check_nothing_ran(&s, QS_E_PROTOCOL,
                      "the agent on local reported on 3 of 4 files that it was to write, the first without a "
                      "word is devices/system/cpu/cpufreq/policy0/scaling_min_freq");
    stage_control_end(&s);
}

static void test_a_device_that_cannot_be_held(void **state)
{
    (void)state;
    struct stage s;
    struct stage_control c;
    stage_control_begin(&s, &c, max_job);
    c.changes_nothing = true;
    check_nothing_ran(
        &s, QS_E_DENIED,
        "the agent on local cannot change what the job's conditions want: it changes nothing on its device, "
        "or has no folder where it could keep what to put back (its --state DIR); `frequency: free` "
        "only records frequencies");
    assert_int_equal(c.tunes + c.restores, 0);
    stage_control_end(&s);
    stage_control_begin(&s, &c, max_job);
    for (size_t i = 0; i < c.file_count; i++)
        c.files[i].writable = false;
    check_nothing_ran(&s, QS_E_DENIED, "may not be written by the agent's user: run the agent as root");
    assert_int_equal(c.tunes, 0);
    stage_control_end(&s);
    stage_control_begin(&s, &c, TWO_ARMS "conditions: {frequency: 1.3GHz}\n");
    check_nothing_ran(&s, QS_E_JOB, "policy0 has no 1300 MHz: the nearest are 1200 MHz and 1800 MHz");
    assert_int_equal(c.tunes, 0);
    stage_control_end(&s);
    stage_init(&s, max_job); /* an agent that knows no files at all */
    stage_go(&s);
    assert_int_equal(s.result.err.code, QS_E_DENIED);
    stage_done(&s);
}

static void test_a_file_that_is_not_put_back(void **state)
{
    (void)state;
    struct stage s;
    struct stage_control c;
    for (int between = 0; between < 2; between++) { /* or what follows is held by another set */
        stage_control_begin(&s, &c, between ? sets_job : max_job);
        c.odd_file = "policy0/scaling_governor";
        c.odd = QS_TUNE_REFUSED;
        c.odd_text = "performance";
        c.odd_restore = true;
        stage_go(&s);
        assert_int_equal(s.result.end, between ? QS_END_FAILED : QS_END_DONE);
        assert_true(stage_told(&s, "policy0/scaling_governor on local was not put back to `schedutil`: "));
        assert_true(stage_told(&s, "refused; it says `performance`. "));
        assert_true(stage_told(&s, "\"left\":1}"));
        assert_true(!between || strstr(s.result.err.text, "1 file of local could not be put back"));
        stage_control_end(&s);
    }
}

/* An agent that always has more is left alone after a while. */
static void test_answers_without_end(void **state)
{
    (void)state;
    struct stage s;
    struct stage_control c;
    stage_control_begin(&s, &c, max_job);
    c.endless_survey = true;
    stage_go(&s);
    assert_int_equal(s.result.end, QS_END_DONE);
    assert_in_range(c.surveys, 1000, 100000);
    stage_control_end(&s);
    stage_control_begin(&s, &c, max_job);
    c.endless_restore = true;
    stage_go(&s);
    assert_int_equal(s.result.end, QS_END_DONE);
    assert_int_equal(c.restores, 1 + 100);
    stage_control_end(&s);
}

enum { STATES = 4 };
static const char *const states[STATES] = {"lock", "run", "window", "unlock"};

/* Before answer number `after` in this state; false: there is none. */
static bool strike(struct stage *s, struct stage_control *c, const char *where, unsigned after,
                   enum stage_strike how)
{
    stage_control_begin(s, c, sets_job);
    c->on_run = check_set; /* none begins under what is another's */
    s->strike = how;
    s->strike_state = where;
    s->strike_after = after;
    stage_go(s);
    return s->struck > 0;
}

static bool down_case(const char *where, unsigned after, enum stage_strike how)
{
    struct stage s;
    struct stage_control c;
    bool at_the_end = strcmp(where, "unlock") == 0;
    bool struck = strike(&s, &c, where, after, how);
    assert_int_equal(s.result.end, QS_END_DONE);
    check_whole_blocks(&s, 3);
    if (struck && !at_the_end) { /* all of it is asked anew */
        assert_int_equal(s.sessions, 2);
        const char *again = strstr(c.log.data, "end\n") + 4;
        assert_memory_equal(again, "restore\nsurvey\nbind thermal", 27);
    }
    assert_true(stage_all_put_back(&c) || (struck && at_the_end));
    stage_control_end(&s);
    return struck;
}

static void test_another_agent_after_a_loss(void **state)
{
    (void)state;
    struct stage s;
    struct stage_control c;
    stage_control_begin(&s, &c, max_job);
    s.strike = STRIKE_DOWN;
    s.strike_state = "window";
    c.changes_nothing_again = true;
    stage_go(&s);
    assert_int_equal(s.result.end, QS_END_FAILED);
    assert_int_equal(s.result.err.code, QS_E_DENIED);
    stage_control_end(&s);
}

static bool cancel_case(const char *where, unsigned after, enum stage_strike how)
{
    struct stage s;
    struct stage_control c;
    bool struck = strike(&s, &c, where, after, how);
    assert_int_equal(s.result.end, struck ? QS_END_CANCELLED : QS_END_DONE);
    assert_true(stage_all_put_back(&c) || (struck && how == STRIKE_ABANDON));
    stage_control_end(&s);
    return struck;
}

/* Of a job without trouble. */
static unsigned count_answers(const char *where)
{
    struct stage s;
    struct stage_control c;
    strike(&s, &c, where, UINT32_MAX, STRIKE_DOWN);
    unsigned answers = s.answers;
    stage_control_end(&s);
    return answers;
}

/* The many questions of a survey are alike, but for the first and the last ones. */
static bool matters(unsigned nth, bool surveys)
{
    return !surveys || nth < 5 || nth > 85 || nth % 9 == 0;
}

static void at_each_answer(bool (*one)(const char *where, unsigned after, enum stage_strike how),
                           enum stage_strike how)
{
    for (size_t i = 0; i < STATES; i++) {
        unsigned answers = count_answers(states[i]);
        for (unsigned after = 0; after < answers; after++)
            if (matters(after, i == 0))
                assert_true(one(states[i], after, how));
        assert_true(answers > 0);
        assert_false(one(states[i], answers, how));
    }
}

static void test_trouble_in_each_state(void **state)
{
    (void)state;
    at_each_answer(down_case, STRIKE_DOWN);
    at_each_answer(cancel_case, STRIKE_CANCEL);
    at_each_answer(cancel_case, STRIKE_ABANDON);
}

/* What cannot be sent fails the job, a link that breaks at it does not. False: so many are not sent at all.
 */
static bool unsent_case(unsigned nth, enum qs_errc code, unsigned *ret_left)
{
    struct stage s;
    struct stage_control c;
    stage_control_begin(&s, &c, sets_job);
    c.on_run = check_set;
    s.unsent_nth = nth;
    s.unsent_code = code;
    stage_go(&s);
    bool struck = s.calls >= nth;
    assert_true(s.result.end == QS_END_DONE ||
                (s.result.end == QS_END_FAILED && s.result.err.code == QS_E_LIMIT));
    assert_int_equal(s.conflicts, s.drops); /* a run that could not be ended: the link is given up */
    s.conflicts = 0;
    *ret_left += !stage_all_put_back(&c) && s.drops == 0;
    stage_control_end(&s);
    return struck;
}

static void test_requests_that_are_not_sent(void **state)
{
    (void)state;
    static const enum qs_errc codes[] = {QS_E_LIMIT, QS_E_LINK};
    for (size_t i = 0; i < 2; i++) {
        unsigned nth = 1, left = 0;
        while (!matters(nth, true) || unsent_case(nth, codes[i], &left))
            nth++;
        assert_true(nth > 100);
        assert_int_equal(left, 1); /* where it was the last one, to put everything back */
    }
}

static void test_every_row_is_taken(void **state)
{
    (void)state;
    static const enum qs_job_run_state at[] = {QS_JS_LOCK, QS_JS_UNLOCK};
    size_t missing = 0;
    for (size_t i = 0; i < 2; i++) {
        for (enum qs_job_run_input e = 0; e < QS_JI_COUNT; e++) {
            bool others = e == QS_JI_CHARACTERIZE || e == QS_JI_PROBE; /* have tests of their own */
            if (stage_taken[at[i]][e] || others || !qs_job_run_find(at[i], e))
                continue;
            print_message("not taken: %s, %s\n", qs_job_run_state_text(at[i]), qs_job_run_input_text(e));
            missing++;
        }
    }
    assert_int_equal(missing, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_held_once_for_all_runs),
        cmocka_unit_test(test_nothing_is_asked_of_a_job_that_wants_nothing),
        cmocka_unit_test(test_each_set_at_its_runs),
        cmocka_unit_test(test_processors_are_switched_on),
        cmocka_unit_test(test_what_another_session_left_is_put_back_first),
        cmocka_unit_test(test_a_write_that_fails),
        cmocka_unit_test(test_an_answer_with_too_few_rows),
        cmocka_unit_test(test_a_device_that_cannot_be_held),
        cmocka_unit_test(test_a_file_that_is_not_put_back),
        cmocka_unit_test(test_answers_without_end),
        cmocka_unit_test(test_trouble_in_each_state),
        cmocka_unit_test(test_another_agent_after_a_loss),
        cmocka_unit_test(test_requests_that_are_not_sent),
        cmocka_unit_test(test_every_row_is_taken),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
