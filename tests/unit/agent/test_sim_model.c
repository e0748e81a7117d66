/* The model of the simulated device: each word of sim/port.h and sim/trace.c does what it says, in
 * times, bytes and temperatures. */
#include "sim_world.h"
#include "proto/names.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const struct qs_sim_options calm = {.seed = 7,
                                           .clock_offset_ns = 5000 * MS,
                                           .ambient_mc = 30000,
                                           .rise_mc = 20000,
                                           .thermal_tau_ns = 50 * MS};

/* One window of one iteration, with everything that is known of it. */
static struct qs_row run_once(struct world *w, const struct run_spec *spec, struct qs_msg_closed *closed)
{
    struct qs_msg_iterations m;
    struct qs_row row = {.flags = 0};
    peer_run_begin(&w->peer, spec);
    expect(w, QS_MSG_RUN_READY);
    peer_open(&w->peer, &(struct open_spec){.iterations = 1, .phase = QS_PHASE_MEASURE});
    expect(w, QS_MSG_ARM);
    peer_window(&w->peer, QS_MSG_QUIET, 0);
    const struct letter *l = expect(w, QS_MSG_CLOSED);
    assert_int_equal(qs_msg_decode_closed(l->payload, l->n, closed), 0);
    while ((l = peer_pop(&w->peer))->type == QS_MSG_DOCUMENT) {
    }
    assert_int_equal(qs_msg_decode_iterations(l->payload, l->n, &m), 0);
    struct qs_iter it = qs_list_iter(&m.rows);
    assert_true(qs_list_row(&it, m.metrics.count, &row));
    peer_seq(&w->peer, QS_MSG_ACK, 1);
    peer_run_end(&w->peer);
    expect(w, QS_MSG_RUN_ENDED);
    w->peer.run.b[0]++;
    return row;
}

#define WORDS(...) ((const char *const[]){__VA_ARGS__, NULL})

/* Each word of a command does what sim/port.h says. */
static void obeys_its_words(void **state)
{
    const struct {
        struct run_spec spec;
        int64_t duration_ns;
        int32_t status;
        uint32_t flags;
        uint64_t output_bytes, kept_bytes;
    } cases[] = {{{.argv = WORDS("sim", "2000000", "exit=3")}, 2 * MS, 3, QS_ITERATION_UNEXPECTED_EXIT, 0, 0},
                 {{.argv = WORDS("sim", "2000000", "exit=256")}, 2 * MS, 0, 0, 0, 0},
                 {{.argv = WORDS("sim", "5", "bytes=100"), .capture = true, .output_max_bytes = 100},
                  5,
                  0,
                  0,
                  100,
                  100},
                 {{.argv = WORDS("sim", "5", "bytes=101"), .capture = true, .output_max_bytes = 100},
                  5,
                  0,
                  QS_ITERATION_OUTPUT_CUT,
                  101,
                  100},
                 {{.argv = WORDS("sim", "5", "bytes=9000"), .apart = true, .output_max_bytes = 9000},
                  5,
                  0,
                  0,
                  9000,
                  QS_SIM_OUTPUT_BYTES},
                 {{.argv = WORDS("sim", "5", "bytes=101")}, 5, 0, 0, 0, 0},
                 {{.argv = WORDS("sim", "5", "hang"), .limit_ns = 10 * MS},
                  10 * MS,
                  -15,
                  QS_ITERATION_TIMED_OUT,
                  0,
                  0},
                 {{.argv = WORDS("sim", "3000000"),
                   .prepare = WORDS("sim", "7000000"),
                   .conclude = WORDS("sim", "exit=1")},
                  3 * MS,
                  0,
                  QS_ITERATION_CONCLUDE_FAILED,
                  0,
                  0}};
    struct qs_msg_closed m;
    struct world w;
    (void)state;
    world_init(&w, &calm);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct qs_row row = run_once(&w, &cases[i].spec, &m);
        assert_int_equal(row.duration_ns, cases[i].duration_ns);
        assert_int_equal(row.status, cases[i].status);
        assert_int_equal(row.flags, cases[i].flags);
        assert_int_equal(row.values[QS_METRIC_MAX_RSS_BYTES - 1], 1 << 20);
        assert_int_equal(m.output_bytes, cases[i].output_bytes);
        assert_int_equal(m.output.n, cases[i].kept_bytes);
    }
    world_done(&w);
}

/* Any other command takes a time of its own; some are not there. */
static void knows_other_commands(void **state)
{
    struct qs_msg_closed m;
    struct world w;
    (void)state;
    world_init(&w, &calm);
    struct qs_row other[2];
    for (size_t i = 0; i < 2; i++) {
        other[i] = run_once(&w, &(struct run_spec){.argv = i ? WORDS("cc", "-O2") : WORDS("cc", "-O1")}, &m);
        assert_in_range(other[i].duration_ns, 1 * MS, 10 * MS);
        assert_int_equal(other[i].values[QS_METRIC_USER_TIME_US - 1], other[i].duration_ns / 1000);
    }
    assert_int_not_equal(other[0].duration_ns, other[1].duration_ns);
    for (int at = 0; at < 3; at++) { /* what is not there: the command, its prepare, its conclude */
        peer_run_begin(&w.peer, &(struct run_spec){.argv = at == 0 ? WORDS("/missing") : WORDS("sim"),
                                                   .prepare = at == 1 ? WORDS("/missing/x") : NULL,
                                                   .conclude = at == 2 ? WORDS("/missing") : NULL});
        expect(&w, QS_MSG_ERROR);
    }
    world_done(&w);
}

/* Half a standard deviation more or less of 1 % would be seen, and so would a run without its own effect. */
static void is_as_noisy_as_it_says(void **state)
{
    struct qs_sim_options o = calm;
    struct world w;
    int64_t d[400];
    double means[24], spread = 0, all = 0;
    (void)state;
    o.noise_ppm = 10000;
    o.run_effect_ppm = 30000;
    world_init(&w, &o);
    for (size_t r = 0; r < 24; r++) {
        double sum = 0, squares = 0;
        measure(&w, WORDS("sim", "1000000"), 400, d);
        for (size_t i = 0; i < 400; i++) {
            sum += (double)d[i];
        }
        means[r] = sum / 400;
        for (size_t i = 0; i < 400; i++) {
            squares += ((double)d[i] - means[r]) * ((double)d[i] - means[r]);
        }
        assert_in_range((int64_t)(squares / 400), 8000 * INT64_C(8000), 12000 * INT64_C(12000));
        all += means[r] / 24;
    }
    for (size_t r = 0; r < 24; r++) {
        spread += (means[r] - all) * (means[r] - all) / 24;
    }
    assert_in_range((int64_t)spread, 18000 * INT64_C(18000), 45000 * INT64_C(45000));
    assert_in_range((int64_t)all, 980000, 1020000);
    world_done(&w);
}

/* Half of the way in the time constant; at rest back again. Processor time in ticks of 10 ms. */
static void keeps_its_temperature(void **state)
{
    struct qs_msg_closed m;
    struct qs_evidence e;
    struct world w;
    (void)state;
    world_init(&w, &calm);
    run_once(&w, &(struct run_spec){.argv = WORDS("sim", "50000000")}, &m);
    assert_true(peer_has_evidence(&m, "thermal:sim", &e));
    assert_int_equal(e.before, 30000);
    assert_int_equal(e.after, 40000);
    assert_true(peer_has_evidence(&m, "cpu.busy_ticks", &e));
    assert_int_equal(e.after - e.before, 5);
    w.now_ns += 50 * MS;
    qs_sim_on_time(w.sim, w.now_ns);
    run_once(&w, &(struct run_spec){.argv = WORDS("sim", "1")}, &m);
    assert_true(peer_has_evidence(&m, "thermal:sim", &e));
    assert_int_equal(e.before, 35000);
    assert_int_equal(m.evidence.count, 6);
    world_done(&w);
    struct qs_sim_options cold = calm;
    cold.rise_mc = 0;
    world_init(&w, &cold);
    run_once(&w, &(struct run_spec){.argv = WORDS("sim", "50000000")}, &m);
    assert_false(peer_has_evidence(&m, "thermal:sim", &e));
    assert_int_equal(m.evidence.count, 5);
    world_done(&w);
}

/* A process of stream mode writes a line for each value, and takes its time for it. */
static void writes_what_it_measures(void **state)
{
    static const char *const wanted[] = {"2000000\n2000000\n2000000\n",
                                         "run 0: time=2000000 ns\nrun 1: time=2000000 ns\n"};
    struct qs_msg_document m;
    struct world w;
    (void)state;
    world_init(&w, &calm);
    for (size_t i = 0; i < 2; i++) {
        peer_run_begin(&w.peer,
                       &(struct run_spec){.argv = WORDS("sim", "2000000", i ? "times=2" : "values=3"),
                                          .document_max_bytes = 1000});
        expect(&w, QS_MSG_RUN_READY);
        peer_open(&w.peer, &(struct open_spec){.iterations = 1, .phase = QS_PHASE_MEASURE});
        expect(&w, QS_MSG_ARM);
        int64_t began = w.now_ns;
        peer_window(&w.peer, QS_MSG_QUIET, 0);
        expect(&w, QS_MSG_CLOSED);
        assert_int_equal(w.now_ns - began, (i ? 2 : 3) * 2 * MS);
        const struct letter *l = expect(&w, QS_MSG_DOCUMENT);
        assert_int_equal(qs_msg_decode_document(l->payload, l->n, &m), 0);
        assert_int_equal(m.total_bytes, strlen(wanted[i]));
        assert_true(qs_text_is(m.bytes, wanted[i]));
        expect(&w, QS_MSG_ITERATIONS);
        peer_seq(&w.peer, QS_MSG_ACK, 1);
        peer_run_end(&w.peer);
        expect(&w, QS_MSG_RUN_ENDED);
        w.peer.run.b[0]++;
    }
    world_done(&w);
}

/* A harness program that hangs, exits, or has no time left. */
static void ends_a_harness_program_as_it_says(void **state)
{
    static const struct {
        const char *word;
        enum qs_closed_how how;
        uint32_t iterations;
        enum qs_ended_how ended;
        int32_t code;
    } cases[] = {{"exact", QS_CLOSED_TIME_UP, 4, QS_ENDED_EXITED, 0},
                 {"exit=5", QS_CLOSED_FAILED, 0, QS_ENDED_EXITED, 5},
                 {"hang", QS_CLOSED_FAILED, 0, QS_ENDED_SIGNALLED, 15}};
    struct qs_msg_run_ended ended;
    struct qs_msg_closed closed;
    struct world w;
    (void)state;
    world_init(&w, &calm);
    for (size_t i = 0; i < 3; i++) {
        peer_run_begin(&w.peer, &(struct run_spec){.argv = WORDS("sim", "10000000", cases[i].word),
                                                   .benchmark = "b",
                                                   .limit_ns = 50 * MS});
        int64_t began = w.now_ns;
        expect(&w, QS_MSG_RUN_READY);
        assert_int_equal(w.now_ns - began, 1 * MS); /* its setup */
        peer_open(&w.peer, &(struct open_spec){
                               .iterations = 9, .max_ns = 35 * MS, .evals = 1, .phase = QS_PHASE_MEASURE});
        expect(&w, QS_MSG_ARM);
        peer_window(&w.peer, QS_MSG_QUIET, 0);
        const struct letter *l = expect(&w, QS_MSG_CLOSED);
        assert_int_equal(qs_msg_decode_closed(l->payload, l->n, &closed), 0);
        assert_int_equal(closed.how, cases[i].how);
        assert_int_equal(closed.iterations, cases[i].iterations);
        if (closed.iterations > 0) {
            expect(&w, QS_MSG_ITERATIONS);
            peer_seq(&w.peer, QS_MSG_ACK, closed.iterations);
        }
        peer_run_end(&w.peer);
        l = expect(&w, QS_MSG_RUN_ENDED);
        assert_int_equal(qs_msg_decode_run_ended(l->payload, l->n, &ended), 0);
        assert_int_equal(ended.how, cases[i].ended);
        assert_int_equal(ended.code, cases[i].code);
        w.peer.run.b[0]++;
    }
    world_done(&w);
}

static void trace(struct world *w, uint32_t id, const char *const *words, uint64_t max_bytes)
{
    uint8_t mem[128];
    struct qs_build argv;
    qs_build_init(&argv, mem, sizeof mem);
    for (; *words; words++) {
        qs_build_text(&argv, qs_text_of(*words));
    }
    const struct qs_msg_trace m = {.run = w->peer.run,
                                   .id = id,
                                   .argv = qs_build_list(&argv),
                                   .settle_ns = 2 * MS,
                                   .stop_ns = 5 * MS,
                                   .max_bytes = max_bytes};
    size_t at = peer_begin(&w->peer);
    assert_true(qs_msg_encode_trace(&w->peer.w, &m));
    peer_end(&w->peer, at, QS_MSG_TRACE);
}

static struct qs_msg_traced traced(struct world *w, enum qs_trace_status status)
{
    struct qs_msg_traced m;
    const struct letter *l = expect(w, QS_MSG_TRACED);
    assert_int_equal(qs_msg_decode_traced(l->payload, l->n, &m), 0);
    assert_int_equal(m.status, status);
    return m;
}

static void stop_trace(struct world *w, uint32_t id)
{
    const struct qs_msg_trace_stop m = {.run = w->peer.run, .id = id};
    size_t at = peer_begin(&w->peer);
    assert_true(qs_msg_encode_trace_stop(&w->peer.w, &m));
    peer_end(&w->peer, at, QS_MSG_TRACE_STOP);
}

static struct qs_msg_pulled pull_trace(struct world *w, uint64_t offset)
{
    const struct qs_msg_pull ask = {
        .run = w->peer.run, .id = 1, .source = QS_PULL_TRACE, .offset = offset, .max_bytes = 20};
    struct qs_msg_pulled m;
    size_t at = peer_begin(&w->peer);
    assert_true(qs_msg_encode_pull(&w->peer.w, &ask));
    peer_end(&w->peer, at, QS_MSG_PULL);
    const struct letter *l = expect(w, QS_MSG_PULLED);
    assert_int_equal(qs_msg_decode_pulled(l->payload, l->n, &m), 0);
    return m;
}

/* Its tracers: one that ends when it is told to, one that must be killed, one that ends too early, none at
 * all. */
static void has_tracers(void **state)
{
    struct qs_msg_pulled piece;
    struct world w;
    (void)state;
    world_init(&w, &calm);
    peer_run_begin(&w.peer, &(struct run_spec){.argv = WORDS("sim")});
    expect(&w, QS_MSG_RUN_READY);
    assert_int_equal(pull_trace(&w, 0).status, QS_PULL_MISSING);
    trace(&w, 1, WORDS("perf"), 1000);
    assert_true(qs_text_is(traced(&w, QS_TRACE_MISSING).why, "the simulated device has no tracer 'perf'"));
    trace(&w, 2, WORDS("sim"), 1000);
    struct qs_msg_traced m = traced(&w, QS_TRACE_RUNS);
    int64_t began = m.started_ns;
    assert_int_equal(w.now_ns + 5000 * MS - began, 2 * MS);
    stop_trace(&w, 2);
    int64_t told = w.now_ns;
    m = traced(&w, QS_TRACE_STOPPED);
    assert_int_equal(w.now_ns - told, 1 * MS);
    assert_int_equal(m.flags, 0);
    assert_int_equal(m.stopped_ns, told + 5000 * MS);
    piece = pull_trace(&w, 0);
    assert_true(qs_text_is(piece.bytes, "simulated trace\nstar"));
    assert_int_equal(piece.total_bytes, m.total_bytes);
    piece = pull_trace(&w, m.total_bytes - 3);
    assert_int_equal(piece.bytes.n, 3);
    assert_int_equal(piece.bytes.p[2], '\n');
    trace(&w, 3, WORDS("sim", "hang", "bytes=500"), 100);
    traced(&w, QS_TRACE_RUNS);
    stop_trace(&w, 3);
    m = traced(&w, QS_TRACE_STOPPED);
    assert_int_equal(m.flags, QS_TRACE_KILLED | QS_TRACE_CUT);
    assert_int_equal(m.total_bytes, 100);
    assert_true(qs_text_is(pull_trace(&w, 80).bytes, "...................."));
    assert_int_equal(pull_trace(&w, 100).bytes.n, 0);
    trace(&w, 4, WORDS("sim", "early"), 1000);
    told = w.now_ns;
    m = traced(&w, QS_TRACE_MISSING);
    assert_int_equal(w.now_ns - told, 1 * MS);
    assert_int_equal(m.flags, QS_TRACE_ENDED_EARLY);
    world_done(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(obeys_its_words),
        cmocka_unit_test(knows_other_commands),
        cmocka_unit_test(is_as_noisy_as_it_says),
        cmocka_unit_test(keeps_its_temperature),
        cmocka_unit_test(writes_what_it_measures),
        cmocka_unit_test(ends_a_harness_program_as_it_says),
        cmocka_unit_test(has_tracers),
    };
    return cmocka_run_group_tests_name("agent.sim_model", tests, NULL, NULL);
}
