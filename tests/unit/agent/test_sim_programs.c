/* What runs on the simulated device, operation by operation: a harness program, a process that writes values,
 * a tracer; and the order in which it takes in what happens. */
#include "sim_device.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { STEP_NS = 1000000, DEVICE_NS = BEGAN_NS + 5000 };

static struct qs_list list_of(const char *const *words)
{
    static uint8_t mem[256];
    struct qs_build b;
    qs_build_init(&b, mem, sizeof mem);
    for (; *words; words++) {
        assert_true(qs_build_text(&b, qs_text_of(*words)));
    }
    return qs_build_list(&b);
}

#define WORDS(...) list_of((const char *const[]){__VA_ARGS__, NULL})

static bool begin(struct device *d, struct qs_list argv, enum qs_run_mode mode, uint32_t capacity)
{
    const struct qs_msg_run_begin m = {.argv = argv, .mode = mode, .harness = {.capacity = capacity}};
    struct qs_port_ready ready;
    struct qs_port_fault fault;
    return d->port->run_begin(d->sim, &m, &ready, &fault);
}

static void has_room_for_so_many_rows(void **state)
{
    struct device d;
    uint32_t most = 1;
    (void)state;
    while (qs_shared_bytes(most + 1) <= QS_SIM_HARNESS_BYTES) {
        most++;
    }
    device_init(&d, &cold);
    assert_true(begin(&d, WORDS("sim"), QS_RUN_HARNESS, most));
    assert_false(begin(&d, WORDS("sim"), QS_RUN_HARNESS, most + 1));
    device_done(&d);
}

/* None starts later than max_ns, one may start just then; while it is parked the device is at rest. */
static void a_window_ends_by_time(void **state)
{
    static const struct {
        int64_t max_ns;
        uint32_t count;
    } cases[] = {{199, 2}, {200, 3}, {1000, 5}};
    struct qs_sim_options warm = cold;
    struct qs_port_fault fault;
    struct qs_port_look look;
    struct qs_port_row row;
    struct device d;
    (void)state;
    warm.rise_mc = 1000;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        device_init(&d, &warm);
        assert_true(begin(&d, WORDS("sim", "100", "exact"), QS_RUN_HARNESS, 16));
        assert_true(d.port->program_start(d.sim, &fault));
        assert_int_equal(qs_sim_next_ns(d.sim), BEGAN_NS + STEP_NS);
        d.sim->now_ns += 50;
        const struct qs_port_go go = {
            .iterations = 5, .evals = 1, .start_at_ns = DEVICE_NS + 70, .max_ns = cases[i].max_ns};
        d.port->program_go(d.sim, &go);
        assert_int_equal(d.sim->busy_ticks_ns, 0); /* until now it was parked */
        assert_int_equal(d.sim->wake_ns, DEVICE_NS + 70 + 100 * cases[i].count);
        d.port->program_look(d.sim, &look);
        assert_int_equal(look.count, cases[i].count);
        assert_int_equal(look.time_up, cases[i].count < 5);
        d.port->program_row(d.sim, 1, 1, &row);
        assert_int_equal(row.start_ns, DEVICE_NS + 70 + 100);
        assert_int_equal(row.duration_ns, 100);
        d.sim->now_ns = d.sim->wake_ns - 5000;
        qs_sim_on_time(d.sim, d.sim->now_ns); /* it is parked again: what it worked is known */
        assert_int_equal(d.sim->busy_ticks_ns, 20 + 100 * cases[i].count);
        assert_false(d.sim->busy);
        d.port->program_quit(d.sim);
        assert_int_equal(d.sim->shared.seq, 2); /* it was told: its second command */
        assert_int_equal(d.sim->child.end_ns, d.sim->now_ns + 5000 + STEP_NS);
        device_done(&d);
    }
}

static void writes_as_much_as_there_is_room_for(void **state)
{
    static const char wanted[] = "run 0: time=50 ns\nrun 1: time=50 ns\nrun 2: time=50 ns\n";
    uint8_t memory[80];
    struct qs_port_document document;
    struct device d;
    (void)state;
    device_init(&d, &cold);
    assert_true(begin(&d, WORDS("sim", "50", "times=3"), QS_RUN_STREAM, 0));
    for (size_t cap = 0; cap < sizeof memory; cap++) {
        size_t n = cap < strlen(wanted) ? cap : strlen(wanted);
        memset(memory, '-', sizeof memory);
        d.port->document(d.sim, memory, cap, &document);
        assert_int_equal(document.n, n);
        assert_int_equal(document.total_bytes, strlen(wanted));
        assert_memory_equal(memory, wanted, n);
        assert_int_equal(memory[n], '-');
    }
    device_done(&d);
}

static void start_tracer(struct device *d, const char *word, uint64_t max_bytes)
{
    const struct qs_msg_trace m = {.argv = WORDS("sim", word), .max_bytes = max_bytes};
    struct qs_port_fault fault;
    assert_true(d->port->tracer.start(d->sim, &m, &fault));
}

static struct qs_port_traced result(struct device *d)
{
    struct qs_port_traced t;
    memset(&t, 'x', sizeof t);
    d->port->tracer.result(d->sim, &t);
    assert_true(t.there);
    assert_string_equal(t.why, "the simulated tracer ended");
    return t;
}

static struct qs_port_piece piece_of(struct device *d, enum qs_pull_source source, uint64_t offset,
                                     uint32_t max)
{
    const struct qs_msg_pull m = {.source = source, .offset = offset, .max_bytes = max};
    struct qs_port_piece piece;
    d->port->pull(d->sim, &m, &piece);
    return piece;
}

static void ends_a_tracer(void **state)
{
    struct device d;
    (void)state;
    device_init(&d, &cold);
    assert_false(d.port->tracer.end(d.sim, false)); /* none runs */
    start_tracer(&d, "hang", 100);
    d.sim->now_ns += 7;
    assert_true(d.port->tracer.end(d.sim, false));
    assert_int_equal(qs_sim_next_ns(d.sim), INT64_MAX);
    d.sim->now_ns += 2;
    assert_true(d.port->tracer.end(d.sim, true));
    assert_int_equal(qs_sim_next_ns(d.sim), BEGAN_NS + 9);
    qs_sim_on_time(d.sim, BEGAN_NS + 9);
    assert_false(d.port->tracer.end(d.sim, true)); /* it has ended already */
    d.sim->now_ns += 1000;
    struct qs_port_traced t = result(&d);
    assert_int_equal(t.ended_ns, DEVICE_NS + 9); /* not when it was asked for */
    const char text[] = "simulated trace\nstarted_ns 12000\nstopped_ns 12007\n"; /* first told to, not last */
    assert_int_equal(t.total_bytes, strlen(text));
    struct qs_port_piece piece = piece_of(&d, QS_PULL_TRACE, 0, 1000);
    assert_int_equal(piece.n, strlen(text));
    assert_memory_equal(piece.bytes, text, piece.n);
    start_tracer(&d, "x", 100);
    t = result(&d); /* one that still runs is ended by it */
    assert_int_equal(t.ended_ns, DEVICE_NS + 1009);
    assert_int_equal(qs_sim_next_ns(d.sim), INT64_MAX);
    device_done(&d);
}

static void bounds_a_trace(void **state)
{
    static const struct {
        const char *word;
        uint64_t max_bytes, total_bytes;
        uint32_t flags;
    } cases[] = {{"bytes=1", 9, 1, 0},
                 {"bytes=8", 9, 8, 0},
                 {"bytes=9", 9, 9, QS_TRACE_CUT}, /* it might have been more */
                 {"bytes=10", 9, 9, QS_TRACE_CUT},
                 {"bytes=60", 99, 60, 0}};
    struct qs_port_piece piece;
    struct device d;
    (void)state;
    device_init(&d, &cold);
    piece = piece_of(&d, QS_PULL_TRACE, 0, 10);
    assert_int_equal(piece.status, QS_PULL_MISSING);
    assert_string_equal(piece.why, "the simulated device has no files");
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        start_tracer(&d, cases[i].word, cases[i].max_bytes);
        struct qs_port_traced t = result(&d);
        assert_int_equal(t.total_bytes, cases[i].total_bytes);
        assert_int_equal(t.flags, cases[i].flags);
        piece = piece_of(&d, QS_PULL_TRACE, cases[i].total_bytes - 1, 5);
        assert_int_equal(piece.n, 1);
        assert_int_equal(piece.total_bytes, cases[i].total_bytes);
        piece = piece_of(&d, QS_PULL_TRACE, cases[i].total_bytes, 5);
        assert_int_equal(piece.n, 0);
        assert_int_equal(piece.total_bytes, 0);
    }
    /* "stopped_ns 0\n" ends behind 46 bytes; what is more are points. */
    piece = piece_of(&d, QS_PULL_TRACE, 44, 4);
    assert_int_equal(piece.n, 4);
    assert_memory_equal(piece.bytes, "0\n..", 4);
    piece = piece_of(&d, QS_PULL_FILE, 0, 4);
    assert_int_equal(piece.status, QS_PULL_MISSING);
    assert_int_equal(piece.n, 0);
    piece = piece_of(&d, QS_PULL_KERNEL_LOG, 0, 4); /* it has nothing to say */
    assert_int_equal(piece.status, QS_PULL_OK);
    assert_int_equal(piece.n, 0);
    device_done(&d);
}

/* Whatever is told is told at a time: the device catches up with it first. */
static void catches_up_first(void **state)
{
    static const uint8_t byte;
    struct device d;
    (void)state;
    device_init(&d, &cold);
    assert_true(begin(&d, WORDS("sim", "100"), QS_RUN_COMMAND, 0));
    qs_sim_link_up(d.sim, BEGAN_NS + 10);
    assert_int_equal(d.sim->now_ns, BEGAN_NS + 10);
    assert_true(d.sim->agent.link_up);
    qs_sim_on_bytes(d.sim, BEGAN_NS + 20, &byte, 1);
    assert_int_equal(d.sim->now_ns, BEGAN_NS + 20);
    qs_sim_link_down(d.sim, BEGAN_NS + 30);
    assert_int_equal(d.sim->now_ns, BEGAN_NS + 30);
    assert_false(d.sim->agent.link_up);
    device_done(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(has_room_for_so_many_rows),
        cmocka_unit_test(a_window_ends_by_time),
        cmocka_unit_test(writes_as_much_as_there_is_room_for),
        cmocka_unit_test(ends_a_tracer),
        cmocka_unit_test(bounds_a_trace),
        cmocka_unit_test(catches_up_first),
    };
    return cmocka_run_group_tests_name("agent.sim_programs", tests, NULL, NULL);
}
