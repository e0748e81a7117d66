/* The simulated device: equal seeds give equal bytes, marked durations cross unchanged. */
#include "sim_world.h"
#include "proto/names.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const struct qs_sim_options noisy = {.seed = 42,
                                            .clock_offset_ns = 5000 * MS,
                                            .run_effect_ppm = 20000,
                                            .noise_ppm = 10000,
                                            .ambient_mc = 30000,
                                            .rise_mc = 20000,
                                            .thermal_tau_ns = 50 * MS};

static void carries_a_marked_duration(void **state)
{
    struct world w;
    int64_t durations[3];
    (void)state;
    world_init(&w, &noisy);
    measure(&w, (const char *const[]){"sim", "123456789", "exact", NULL}, 3, durations);
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(durations[i], 123456789);
    }
    world_done(&w);
}

static void repeats_itself_by_seed(void **state)
{
    struct world w[3];
    int64_t durations[3][20];
    struct qs_sim_options other = noisy;
    (void)state;
    other.seed++;
    for (size_t i = 0; i < 3; i++) {
        world_init(&w[i], i == 2 ? &other : &noisy);
        measure(&w[i], (const char *const[]){"sim", "1000000", NULL}, 20, durations[i]);
        measure(&w[i], (const char *const[]){"any", "tool", NULL}, 20, durations[i]);
    }
    assert_int_equal(w[0].logged, w[1].logged);
    assert_memory_equal(w[0].log, w[1].log, w[0].logged);
    assert_memory_equal(durations[0], durations[1], sizeof durations[0]);
    assert_memory_not_equal(durations[0], durations[2], sizeof durations[0]);
    for (size_t i = 0; i < 3; i++) {
        world_done(&w[i]);
    }
}

static void grows_warm_under_load(void **state)
{
    struct world w;
    int64_t durations[20];
    (void)state;
    world_init(&w, &noisy);
    assert_int_equal(w.sim->temp_mc, 30000);
    measure(&w, (const char *const[]){"sim", "10000000", NULL}, 20, durations);
    assert_true(w.sim->temp_mc > 40000);
    assert_true(w.sim->temp_mc <= 50000);
    world_done(&w);
}

static void runs_a_harness_program(void **state)
{
    static const char *const argv[] = {"sim", "1000000", "exact", NULL};
    struct world w;
    struct qs_msg_closed closed;
    struct qs_msg_iterations m;
    struct qs_row row;
    (void)state;
    world_init(&w, &noisy);
    peer_run_begin(&w.peer, &(struct run_spec){.argv = argv, .benchmark = "b", .capacity = 4096});
    expect(&w, QS_MSG_RUN_READY);
    for (uint32_t window = 0; window < 2; window++) {
        peer_open(&w.peer, &(struct open_spec){
                               .window = window, .first_seq = window * 10, .iterations = 10, .evals = 7});
        expect(&w, QS_MSG_ARM);
        peer_window(&w.peer, QS_MSG_QUIET, window);
        const struct letter *l = expect(&w, QS_MSG_CLOSED);
        assert_int_equal(qs_msg_decode_closed(l->payload, l->n, &closed), 0);
        assert_int_equal(closed.how, QS_CLOSED_DONE);
        assert_int_equal(closed.evals, 7);
        assert_int_equal(closed.taints.count, 0);
        l = expect(&w, QS_MSG_ITERATIONS);
        assert_int_equal(qs_msg_decode_iterations(l->payload, l->n, &m), 0);
        assert_int_equal(m.rows.count, 10);
        struct qs_iter it = qs_list_iter(&m.rows);
        assert_true(qs_list_row(&it, 1, &row));
        assert_int_equal(row.duration_ns, 7 * MS);
        assert_int_equal(row.start_off_ns, 200000);
        assert_int_equal(row.values[0], 7);
    }
    peer_seq(&w.peer, QS_MSG_ACK, 20);
    peer_run_end(&w.peer);
    expect(&w, QS_MSG_RUN_ENDED);
    world_done(&w);
}

static void tunes_a_harness_program(void **state)
{
    static const char *const argv[] = {"sim", "20", "exact", NULL};
    struct world w;
    struct qs_msg_closed closed;
    struct qs_msg_iterations m;
    struct qs_evidence e;
    struct qs_row row;
    (void)state;
    world_init(&w, &noisy);
    peer_run_begin(&w.peer, &(struct run_spec){.argv = argv, .benchmark = "b", .capacity = 4096});
    expect(&w, QS_MSG_RUN_READY);
    peer_open(&w.peer, &(struct open_spec){.iterations = 100, .evals = 1, .phase = QS_PHASE_TUNE});
    expect(&w, QS_MSG_ARM);
    peer_window(&w.peer, QS_MSG_QUIET, 0);
    const struct letter *l = expect(&w, QS_MSG_CLOSED);
    assert_int_equal(qs_msg_decode_closed(l->payload, l->n, &closed), 0);
    assert_true(peer_has_evidence(&closed, QS_SENSOR_CLOCK_ACCURACY, &e));
    assert_int_equal(e.before, 1000);
    l = expect(&w, QS_MSG_ITERATIONS);
    assert_int_equal(qs_msg_decode_iterations(l->payload, l->n, &m), 0);
    struct qs_iter it = qs_list_iter(&m.rows);
    for (int i = 1; i <= 100; i++) {
        assert_true(qs_list_row(&it, 1, &row));
        assert_int_equal(row.duration_ns, 20 * i);
        assert_int_equal(row.values[0], i);
    }
    world_done(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(carries_a_marked_duration), cmocka_unit_test(repeats_itself_by_seed),
        cmocka_unit_test(grows_warm_under_load),     cmocka_unit_test(runs_a_harness_program),
        cmocka_unit_test(tunes_a_harness_program),
    };
    return cmocka_run_group_tests_name("agent.sim", tests, NULL, NULL);
}
