/* What a harness program declares, and how the ends that it comes to are told. */
#include "cases.h"
#include "script.h"

#include "proto/names.h"

#include <stdio.h>
#include <string.h>

static const struct script_options plain;

static struct script *started(void)
{
    struct script *s = script_new(&plain);
    script_connect(s);
    script_program(s);
    return s;
}

static struct script *measuring(uint32_t iterations)
{
    struct script *s = started();
    script_park(s);
    script_measuring(s, 0, iterations);
    return s;
}

static void declare(struct script *s, size_t i, const char *name, const char *unit, bool lower,
                    bool deterministic)
{
    struct qs_port_metric *m = &s->metrics[i];
    snprintf(m->name, sizeof m->name, "%s", name);
    snprintf(m->unit, sizeof m->unit, "%s", unit);
    m->lower_is_better = lower;
    m->deterministic = deterministic;
    s->look = (struct qs_port_look){.state = QS_PROGRAM_PARKED,
                                    .done = true,
                                    .layout = 7,
                                    .metrics = (uint32_t)i + 1,
                                    .phase = "outside"};
}

/* The run's answer names its metrics; each window's rows have their values and say which these are. */
static void declares_its_metrics(void **state)
{
    static const struct {
        const char *name, *unit;
        uint8_t flags;
    } wanted[] = {{"pixels", "count", 0},
                  {"cache_misses", "1", QS_DECLARED_LOWER_IS_BETTER},
                  {"error", "dB", QS_DECLARED_LOWER_IS_BETTER | QS_DECLARED_DETERMINISTIC}};
    struct qs_msg_run_ready ready;
    struct qs_msg_iterations rows;
    struct qs_declared d;
    struct qs_row row;
    uint16_t id;
    struct script *s = started();
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        declare(s, i, wanted[i].name, wanted[i].unit, i > 0, i > 1);
    }
    qs_agent_on_wake(s->agent);
    const struct letter *l = script_expect(s, QS_MSG_RUN_READY);
    assert_int_equal(qs_msg_decode_run_ready(l->payload, l->n, &ready), 0);
    assert_int_equal(ready.header_version, 7);
    assert_int_equal(ready.declared.count, 3);
    struct qs_iter it = qs_list_iter(&ready.declared);
    for (size_t i = 0; i < 3; i++) {
        assert_true(qs_list_declared(&it, &d));
        assert_true(qs_text_is(d.name, wanted[i].name));
        assert_true(qs_text_is(d.unit, wanted[i].unit));
        assert_int_equal(d.flags, wanted[i].flags);
    }
    s->clock = (struct qs_port_clock){.precision_ns = 52, .accuracy_ns = 104}; /* for a tuning window alone */
    script_measuring(s, 0, 1);
    s->rows[0] = (struct qs_port_row){.start_ns = s->now_ns, .duration_ns = 5, .values = {11, 12, 13}};
    s->now_ns += 1 * MS;
    s->look.done = true;
    s->look.count = 1;
    qs_agent_on_wake(s->agent);
    struct qs_msg_closed closed;
    struct qs_evidence e;
    script_expect_closed(s, &closed);
    assert_false(peer_has_evidence(&closed, QS_SENSOR_CLOCK_PRECISION, &e));
    assert_int_equal(closed.declared.count, 3);
    l = script_expect(s, QS_MSG_ITERATIONS);
    assert_int_equal(qs_msg_decode_iterations(l->payload, l->n, &rows), 0);
    assert_int_equal(rows.metrics.count, 3);
    it = qs_list_iter(&rows.metrics);
    for (uint16_t i = 0; i < 3; i++) {
        assert_true(qs_list_u16(&it, &id));
        assert_int_equal(id, QS_METRIC_DECLARED + i);
    }
    it = qs_list_iter(&rows.rows);
    assert_true(qs_list_row(&it, 3, &row));
    assert_int_equal(row.values[0], 11);
    assert_int_equal(row.values[2], 13);
    script_free(s);
}

static void expect_words(struct qs_text text, const char *words)
{
    if (!memmem(text.p, text.n, words, strlen(words))) {
        fail_msg("'%.*s' does not say '%s'", (int)text.n, text.p, words);
    }
}

/* RUN_BEGIN is refused when the program has ended, with the reason for which it had to. */
static void expect_stillborn(struct script *s, const struct qs_port_child *end, const char *words)
{
    struct qs_msg_error m;
    script_end(s, end);
    const struct letter *l = script_expect(s, QS_MSG_ERROR);
    assert_int_equal(qs_msg_decode_error(l->payload, l->n, &m), 0);
    assert_int_equal(m.code, QS_CODE_EXECUTABLE);
    assert_int_equal(m.blame, QS_WIRE_BLAME_OPERATOR);
    expect_words(m.text, words);
    script_expect_state(s, QS_STATE_READY);
    assert_int_equal(s->run_ends, 1);
    script_free(s);
}

static void says_why_a_program_is_none(void **state)
{
    const struct qs_port_child killed = {.how = QS_PORT_SIGNALLED, .code = 9}, exits = {.code = 4};
    (void)state;
    struct script *s = started();
    declare(s, 0, "a", "", false, false);
    declare(s, 1, "b", "", false, false);
    declare(s, 2, "a", "", false, false);
    qs_agent_on_wake(s->agent);
    assert_true(s->forced);
    s->linger = true;
    s->agent->heartbeat_ns = 1000 * S;
    script_pass(s, 5 * S - 1);
    assert_false(s->abandoned);
    expect_stillborn(s, &killed, "the same one twice");
    s = started();
    s->look =
        (struct qs_port_look){.state = QS_PROGRAM_CORRUPT, .layout = 1, .text = "it wrote where it may not"};
    qs_agent_on_wake(s->agent);
    assert_true(s->forced);
    expect_stillborn(s, &killed, "it wrote where it may not");
    s = started();
    declare(s, 0, "a", "", false, false);
    s->look.layout = 0;
    qs_agent_on_wake(s->agent);
    expect_stillborn(s, &killed, "declares a metric without a name");
    expect_stillborn(started(), &exits, "ended with code 4 before it was a benchmark");
    expect_stillborn(started(), &killed, "ended with signal 9 before it was a benchmark");
    s = started();
    s->look.layout = 3;
    expect_stillborn(s, &(struct qs_port_child){.code = 120}, "bench.h has layout 3, this agent has another");
    s = started();
    s->look = (struct qs_port_look){
        .state = QS_PROGRAM_FAILED, .layout = 1, .in_step = true, .phase = "setup", .text = "no file"};
    qs_agent_on_wake(s->agent); /* it will exit */
    assert_false(s->forced);
    expect_stillborn(s, &exits, "setup: no file");
    s = started();
    s->look.layout = 1;
    s->agent->heartbeat_ns = 1000 * S;
    s->linger = true;
    script_pass(s, 60 * S);
    assert_true(s->asked);
    expect_stillborn(s, &(struct qs_port_child){.how = QS_PORT_SIGNALLED, .code = 15},
                     "was ended by signal 15 (setup): it had reached its limit");
}

/* How a window fails: in what words, with how many rows. */
static void fails_a_window_in_its_own_words(void **state)
{
    static const struct {
        struct qs_port_look look;
        uint32_t rows;
        const char *words; /* "": it does not fail */
    } cases[] = {{{.done = true, .count = 5}, 0, "the program claims 5 iterations, 4 were asked for"},
                 {{.done = true, .count = 3}, 3, "the program ended its window after 3 of 4 iterations"},
                 {{.done = true, .count = 4, .broke = true},
                  4,
                  "the program ended its window after 4 of 4 iterations"},
                 {{.state = QS_PROGRAM_CORRUPT, .count = 2, .text = "spoilt"}, 0, "spoilt"},
                 {{.state = QS_PROGRAM_FAILED, .count = 2, .phase = "run", .in_step = true, .text = "no"},
                  2,
                  "run: no"},
                 {{.state = QS_PROGRAM_FAILED, .count = 1, .phase = "run", .text = "outside"}, 1, "outside"},
                 {{.done = true, .count = 2, .time_up = true}, 2, ""},
                 {{.done = true, .count = 4, .time_up = true}, 4, ""}};
    struct qs_msg_closed m;
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct script *s = measuring(4);
        for (size_t k = 0; k < 4; k++) {
            s->rows[k] = (struct qs_port_row){.start_ns = s->now_ns};
        }
        s->look = cases[i].look;
        s->look.state = s->look.state ? s->look.state : QS_PROGRAM_PARKED;
        s->now_ns += 1 * MS;
        qs_agent_on_wake(s->agent);
        script_expect_closed(s, &m);
        assert_int_equal(m.iterations, cases[i].rows);
        if (cases[i].words[0]) {
            assert_int_equal(m.how, QS_CLOSED_FAILED);
            expect_words(m.failure, cases[i].words);
            assert_int_equal(m.failure.n, strlen(cases[i].words));
        } else {
            assert_int_equal(m.how, cases[i].rows < 4 ? QS_CLOSED_TIME_UP : QS_CLOSED_DONE);
            assert_int_equal(m.failure.n, 0);
            assert_int_equal(m.taints.count, 0); /* no time at all is possible, and so is no pause */
        }
        script_free(s);
    }
}

/* Whoever is being ended has nothing more to say; what it had done counts. */
static void does_not_hear_who_is_being_ended(void **state)
{
    struct qs_msg_closed m;
    struct script *s = measuring(2);
    (void)state;
    s->rows[0] = (struct qs_port_row){.start_ns = s->now_ns};
    peer_cancel(&s->peer);
    assert_true(s->asked);
    s->look = (struct qs_port_look){.state = QS_PROGRAM_PARKED, .done = true, .count = 2, .phase = "outside"};
    qs_agent_on_wake(s->agent);
    script_expect_nothing(s);
    s->look.count = 1;
    s->look.done = false;
    script_end(s, &(struct qs_port_child){.how = QS_PORT_SIGNALLED, .code = 15});
    script_expect_closed(s, &m);
    assert_int_equal(m.how, QS_CLOSED_CANCELLED);
    assert_int_equal(m.failure.n, 0);
    assert_int_equal(m.iterations, 1);
    script_free(s);
    s = measuring(2); /* the kernel does not let it go */
    s->agent->heartbeat_ns = 1000 * S;
    s->linger = true;
    script_pass(s, 200 * S);
    script_expect_closed(s, &m);
    assert_int_equal(m.how, QS_CLOSED_FAILED);
    expect_words(m.failure, "an iteration did not end within its limit");
    peer_run_end(&s->peer);
    struct qs_msg_run_ended ended;
    const struct letter *l = script_expect(s, QS_MSG_RUN_ENDED);
    assert_int_equal(qs_msg_decode_run_ended(l->payload, l->n, &ended), 0);
    assert_int_equal(ended.how, QS_ENDED_LOST);
    assert_int_equal(ended.code, 0);
    assert_int_equal(ended.flags, QS_ENDED_NO_TEARDOWN | QS_ENDED_TIMED_OUT);
    script_free(s);
}

/* Nobody is ended who has ended himself. */
static void loses_the_link_after_the_program(void **state)
{
    struct script *s = started();
    (void)state;
    script_park(s);
    script_exit(s, 1 * MS, 0);
    script_unplug(s);
    script_expect_state(s, QS_STATE_DOWN);
    assert_int_equal(s->run_ends, 1);
    script_free(s);
}

const struct CMUnitTest cases_program[] = {
    cmocka_unit_test(loses_the_link_after_the_program), cmocka_unit_test(declares_its_metrics),
    cmocka_unit_test(says_why_a_program_is_none),       cmocka_unit_test(fails_a_window_in_its_own_words),
    cmocka_unit_test(does_not_hear_who_is_being_ended),
};
const size_t cases_program_count = sizeof cases_program / sizeof cases_program[0];
