/* Elements of lists arrive as they were built, exact integers above all; values and counts outside their
 * range are refused by both sides. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "proto/msg.h"

static uint8_t big[QS_FRAME_MAX_BYTES * 2];
static uint8_t list_mem[QS_FRAME_MAX_BYTES * 2];

static struct qs_uid some_uid(void)
{
    struct qs_uid u;
    memset(&u, 0x5a, sizeof u);
    return u;
}

static struct qs_writer new_writer(void)
{
    struct qs_writer w;
    qs_writer_init(&w, big, sizeof big);
    return w;
}

static struct qs_list text_list(uint8_t *mem, size_t cap, unsigned count, const char *text)
{
    struct qs_build b;
    qs_build_init(&b, mem, cap);
    for (unsigned i = 0; i < count; i++)
        qs_build_text(&b, qs_text_of(text));
    return qs_build_list(&b);
}

static void test_durations_cross_unchanged(void **state)
{
    (void)state;
    static const int64_t marked[] = {
        123456789, INT64_MAX, INT64_MIN, 0, -1, INT64_C(1) << 53, (INT64_C(1) << 53) + 1};
    enum { COUNT = sizeof marked / sizeof marked[0] };
    uint8_t ids_mem[64];
    struct qs_build ids, rows;
    struct qs_msg_iterations m = {.run = some_uid(), .window = 9, .first_seq = 77, .first_index = 4}, got;
    qs_build_init(&ids, ids_mem, sizeof ids_mem);
    for (uint16_t id = 1; id <= 9; id++)
        qs_build_u16(&ids, id);
    qs_build_init(&rows, list_mem, sizeof list_mem);
    for (int i = 0; i < COUNT; i++) {
        struct qs_row row = {
            .start_off_ns = marked[COUNT - 1 - i], .duration_ns = marked[i], .flags = UINT32_MAX};
        row.status = i % 2 ? INT32_MIN : INT32_MAX;
        for (int k = 0; k < 9; k++)
            row.values[k] = marked[(i + k) % COUNT];
        assert_true(qs_build_row(&rows, 9, &row));
    }
    m.metrics = qs_build_list(&ids);
    m.rows = qs_build_list(&rows);
    struct qs_writer w = new_writer();
    assert_true(qs_msg_encode_iterations(&w, &m));
    assert_int_equal(qs_msg_decode_iterations(big, w.len, &got), QS_WIRE_OK);
    assert_int_equal(got.first_seq, 77);
    assert_int_equal(got.metrics.count, 9);
    struct qs_iter it = qs_list_iter(&got.rows);
    struct qs_row row;
    for (int i = 0; i < COUNT; i++) {
        assert_true(qs_list_row(&it, got.metrics.count, &row));
        assert_true(row.duration_ns == marked[i]);
        assert_true(row.start_off_ns == marked[COUNT - 1 - i]);
        assert_true(row.flags == UINT32_MAX && row.status == (i % 2 ? INT32_MIN : INT32_MAX));
        for (int k = 0; k < 9; k++)
            assert_true(row.values[k] == marked[(i + k) % COUNT]);
    }
    assert_false(qs_list_row(&it, got.metrics.count, &row));
}

static void test_elements_of_a_gate(void **state)
{
    (void)state;
    struct qs_build b;
    struct qs_iter it;
    struct qs_expectation e = {.sensor = qs_text_of("thermal:soc"),
                               .flags = QS_GATE_FLAGS & ~(QS_GATE_HEAT | QS_GATE_RETURN),
                               .lo = INT64_MIN,
                               .hi = INT64_MAX,
                               .dwell_ns = 1,
                               .timeout_ns = QS_SPAN_MAX_NS,
                               .on_timeout = QS_GATE_ON_TIMEOUT_REQUEUE},
                          got_e;
    struct qs_bound v = {qs_text_of("cpu.steal_ticks"), -3}, got_v;
    struct qs_reading g = {qs_text_of("load1_milli"), QS_READING_STALE, -7, INT64_MAX}, got_g;
    qs_build_init(&b, list_mem, sizeof list_mem);
    assert_true(qs_build_expectation(&b, &e));
    struct qs_list l = qs_build_list(&b);
    it = qs_list_iter(&l);
    assert_true(qs_list_expectation(&it, &got_e));
    assert_true(qs_text_is(got_e.sensor, "thermal:soc") &&
                got_e.flags == (QS_GATE_FLAGS & ~(QS_GATE_HEAT | QS_GATE_RETURN)));
    assert_true(got_e.lo == INT64_MIN && got_e.hi == INT64_MAX && got_e.dwell_ns == 1);
    assert_true(got_e.timeout_ns == QS_SPAN_MAX_NS && got_e.on_timeout == QS_GATE_ON_TIMEOUT_REQUEUE);
    assert_false(qs_list_expectation(&it, &got_e));
    qs_build_init(&b, list_mem, sizeof list_mem);
    assert_true(qs_build_bound(&b, &v));
    l = qs_build_list(&b);
    it = qs_list_iter(&l);
    assert_true(qs_list_bound(&it, &got_v) && qs_text_is(got_v.kind, "cpu.steal_ticks") && got_v.bound == -3);
    assert_false(qs_list_bound(&it, &got_v));
    qs_build_init(&b, list_mem, sizeof list_mem);
    assert_true(qs_build_reading(&b, &g));
    l = qs_build_list(&b);
    it = qs_list_iter(&l);
    assert_true(qs_list_reading(&it, &got_g) && qs_text_is(got_g.sensor, "load1_milli"));
    assert_true(got_g.status == QS_READING_STALE && got_g.value == -7 && got_g.age_ns == INT64_MAX);
    assert_false(qs_list_reading(&it, &got_g));
}

static void test_elements_of_results_and_facts(void **state)
{
    (void)state;
    struct qs_build b;
    struct qs_iter it;
    struct qs_evidence e = {qs_text_of("cpu.busy_ticks"), QS_READING_MISSING, 5, INT64_MAX}, got_e;
    struct qs_taint t = {-1, qs_text_of("gate-timeout"), INT64_MIN, 12}, got_t;
    struct qs_fact f = {qs_text_of("kernel"), qs_text_of("6.1")}, got_f;
    struct qs_held h = {some_uid(), 3, QS_SEQ_MAX}, got_h;
    qs_build_init(&b, list_mem, sizeof list_mem);
    assert_true(qs_build_evidence(&b, &e));
    struct qs_list l = qs_build_list(&b);
    it = qs_list_iter(&l);
    assert_true(qs_list_evidence(&it, &got_e) && qs_text_is(got_e.kind, "cpu.busy_ticks"));
    assert_true(got_e.status == QS_READING_MISSING && got_e.before == 5 && got_e.after == INT64_MAX);
    assert_false(qs_list_evidence(&it, &got_e));
    qs_build_init(&b, list_mem, sizeof list_mem);
    assert_true(qs_build_taint(&b, &t));
    l = qs_build_list(&b);
    it = qs_list_iter(&l);
    assert_true(qs_list_taint(&it, &got_t) && qs_text_is(got_t.code, "gate-timeout"));
    assert_true(got_t.iteration == -1 && got_t.value == INT64_MIN && got_t.bound == 12);
    assert_false(qs_list_taint(&it, &got_t));
    qs_build_init(&b, list_mem, sizeof list_mem);
    assert_true(qs_build_fact(&b, &f));
    l = qs_build_list(&b);
    it = qs_list_iter(&l);
    assert_true(qs_list_fact(&it, &got_f) && qs_text_is(got_f.key, "kernel") &&
                qs_text_is(got_f.value, "6.1"));
    assert_false(qs_list_fact(&it, &got_f));
    qs_build_init(&b, list_mem, sizeof list_mem);
    assert_true(qs_build_held(&b, &h));
    l = qs_build_list(&b);
    it = qs_list_iter(&l);
    assert_true(qs_list_held(&it, &got_h) && qs_uid_equal(&got_h.run, &h.run));
    assert_true(got_h.first_seq == 3 && got_h.next_seq == QS_SEQ_MAX);
    assert_false(qs_list_held(&it, &got_h));
}

static struct qs_msg_run_begin good_run_begin(void)
{
    return (struct qs_msg_run_begin){
        .run = some_uid(), .argv = text_list(list_mem, 64, 1, "true"), .iteration_limit_ns = 1};
}

static bool run_begin_passes(const struct qs_msg_run_begin *m)
{
    struct qs_writer w = new_writer();
    return qs_msg_encode_run_begin(&w, m);
}

static void test_run_begin_ranges(void **state)
{
    (void)state;
    struct qs_msg_run_begin m = good_run_begin();
    assert_true(run_begin_passes(&m));
    memset(&m.run, 0, sizeof m.run);
    assert_false(run_begin_passes(&m));
    m = good_run_begin();
    m.argv.count = 0;
    m.argv.len = 0;
    assert_false(run_begin_passes(&m));
    m = good_run_begin();
    m.stdin_kind = QS_STDIN_FILE; /* without a path */
    assert_false(run_begin_passes(&m));
    m = good_run_begin();
    m.stdin_path = qs_text_of("/x"); /* without the kind */
    assert_false(run_begin_passes(&m));
    m = good_run_begin();
    m.iteration_limit_ns = 0;
    assert_false(run_begin_passes(&m));
    m.iteration_limit_ns = QS_SPAN_MAX_NS;
    assert_true(run_begin_passes(&m));
    m.iteration_limit_ns = QS_SPAN_MAX_NS + 1;
    assert_false(run_begin_passes(&m));
    m = good_run_begin();
    static const char user[] = "0123456789012345678901234567890123456789012345678901234567890123x";
    m.user = (struct qs_text){.p = user, .n = QS_NAME_MAX_BYTES};
    assert_true(run_begin_passes(&m));
    m.user.n++;
    assert_false(run_begin_passes(&m));
    m = good_run_begin();
    m.output_max_bytes = QS_OUTPUT_MAX_BYTES + 1;
    assert_false(run_begin_passes(&m));
    m = good_run_begin();
    m.output_path = qs_text_of("x"); /* without the kind */
    assert_false(run_begin_passes(&m));
    m.output_kind = QS_OUTPUT_KIND_FILE;
    assert_true(run_begin_passes(&m));
    m.mode = QS_RUN_STREAM; /* reads its documents elsewhere */
    m.stream.document_max_bytes = 1;
    assert_false(run_begin_passes(&m));
    m.output_kind = QS_OUTPUT_KIND_CAPTURE;
    m.output_path = qs_text_of("");
    assert_true(run_begin_passes(&m));
    m = good_run_begin();
    m.output_kind = QS_OUTPUT_KIND_FILE; /* without a path */
    assert_false(run_begin_passes(&m));
    m.output_path = qs_text_of("x");
    m.output_kind = (enum qs_output_kind)(QS_OUTPUT_KIND_FILE + 1);
    assert_false(run_begin_passes(&m));
    m = good_run_begin();
    m.exit_rule = QS_EXIT_RULE_LIST; /* without codes */
    assert_false(run_begin_passes(&m));
    m = good_run_begin();
    m.prepare = m.argv; /* without a limit */
    assert_false(run_begin_passes(&m));
    m.hook_limit_ns = 1;
    assert_true(run_begin_passes(&m));
}

static void test_list_limits(void **state)
{
    (void)state;
    struct qs_msg_run_begin m = good_run_begin();
    m.argv = text_list(list_mem, sizeof list_mem, QS_ARGV_MAX, "x");
    assert_true(run_begin_passes(&m));
    m.argv = text_list(list_mem, sizeof list_mem, QS_ARGV_MAX + 1, "x");
    assert_false(run_begin_passes(&m));
    static char long_text[QS_ARGV_MAX_BYTES / 4 - 1];
    memset(long_text, 'x', sizeof long_text - 1);
    m.argv = text_list(list_mem, sizeof list_mem, 4, long_text); /* with lengths: exactly the limit */
    assert_int_equal(m.argv.len, QS_ARGV_MAX_BYTES);
    assert_true(run_begin_passes(&m));
    m.argv = text_list(list_mem, sizeof list_mem, 5, long_text);
    assert_false(run_begin_passes(&m));
    m.argv = text_list(list_mem, 64, 2, "true");
    m.argv.count = 1; /* bytes left over */
    assert_false(run_begin_passes(&m));
    m.argv.count = 3; /* bytes missing */
    assert_false(run_begin_passes(&m));
}

/* The decoder refuses by itself: counts and bytes as a hostile peer would write them. */
static void test_decoder_refuses_oversized_lists(void **state)
{
    (void)state;
    struct qs_msg_facts facts;
    struct qs_msg_hook hook;
    struct qs_writer w = new_writer();
    qs_put_u16(&w, QS_FACTS_MAX + 1);
    memset(big + w.len, 0, 4096);
    assert_int_equal(qs_msg_decode_facts(big, w.len + 4096, &facts), QS_WIRE_E_LIMIT);
    w = new_writer();
    qs_put_u32(&w, 1);
    qs_put_u16(&w, QS_ARGV_MAX + 1);
    assert_int_equal(qs_msg_decode_hook(big, w.len + 4096, &hook), QS_WIRE_E_LIMIT);
    w = new_writer();
    qs_put_u32(&w, 1);
    qs_put_u16(&w, 3);
    for (int i = 0; i < 3; i++) {
        qs_put_u16(&w, UINT16_MAX);
        memset(big + w.len, 'x', UINT16_MAX);
        w.len += UINT16_MAX;
    }
    assert_int_equal(qs_msg_decode_hook(big, w.len, &hook), QS_WIRE_E_LIMIT);
}

static bool open_passes(const struct qs_msg_open *m)
{
    struct qs_writer w = new_writer();
    return qs_msg_encode_open(&w, m);
}

static void test_open_ranges(void **state)
{
    (void)state;
    const struct qs_msg_open good = {.run = some_uid(), .iterations = 1, .max_ns = 1, .lease_ns = 1};
    struct qs_msg_open m = good;
    assert_true(open_passes(&m));
    m.iterations = 0;
    assert_false(open_passes(&m));
    m.iterations = QS_ITERATIONS_MAX + 1;
    assert_false(open_passes(&m));
    m = good;
    m.first_seq = QS_SEQ_MAX - 1;
    assert_true(open_passes(&m));
    m.first_seq = QS_SEQ_MAX;
    assert_false(open_passes(&m));
    m.first_seq = UINT64_MAX;
    assert_false(open_passes(&m));
    m = good;
    m.lease_ns = INT64_MAX;
    assert_false(open_passes(&m));
    m = good;
    m.quiet_lead_ns = -1;
    assert_false(open_passes(&m));
    m = good;
    m.phase = (enum qs_phase)4;
    assert_false(open_passes(&m));
}

static bool expectation_passes(const struct qs_expectation *e)
{
    struct qs_build b;
    qs_build_init(&b, list_mem, sizeof list_mem);
    qs_build_expectation(&b, e);
    return open_passes(&(struct qs_msg_open){
        .run = some_uid(), .iterations = 1, .max_ns = 1, .lease_ns = 1, .gate = qs_build_list(&b)});
}

static void test_expectation_ranges(void **state)
{
    (void)state;
    const struct qs_expectation good = {.sensor = qs_text_of("s"), .flags = QS_GATE_HAS_HI, .lo = 5, .hi = 4};
    struct qs_expectation e = good;
    assert_true(expectation_passes(&e)); /* lo does not count without its flag */
    e.flags = QS_GATE_HAS_HI | QS_GATE_HAS_LO;
    assert_false(expectation_passes(&e));
    e.lo = e.hi; /* one value is a band */
    assert_true(expectation_passes(&e));
    e = good;
    e.timeout_ns = e.dwell_ns = QS_SPAN_MAX_NS;
    e.on_timeout = QS_GATE_ON_TIMEOUT_FAIL;
    assert_true(expectation_passes(&e));
    e.dwell_ns++;
    assert_false(expectation_passes(&e));
    e = good;
    e.flags = QS_GATE_FLAGS + 1;
    assert_false(expectation_passes(&e));
    e.flags = QS_GATE_HEAT; /* up to nothing */
    assert_false(expectation_passes(&e));
    e.flags = QS_GATE_HEAT | QS_GATE_HAS_LO;
    assert_true(expectation_passes(&e));
    e.flags = QS_GATE_HEAT | QS_GATE_HAS_LO | QS_GATE_HOLD; /* one of them */
    assert_false(expectation_passes(&e));
    e.flags = QS_GATE_HOLD | QS_GATE_UNREADABLE_OK;
    assert_true(expectation_passes(&e));
    e = good;
    e.sensor = qs_text_of("");
    assert_false(expectation_passes(&e));
    e.sensor = qs_text_of("0123456789012345678901234567890123456789012345678901234567890123x");
    assert_false(expectation_passes(&e));
    e = good;
    e.timeout_ns = QS_SPAN_MAX_NS + 1;
    assert_false(expectation_passes(&e));
    e = good;
    e.on_timeout = (enum qs_gate_on_timeout)4;
    assert_false(expectation_passes(&e));
}

static bool iterations_pass(struct qs_msg_iterations *m, unsigned rows, uint16_t metrics, bool same_ids)
{
    static uint8_t ids_mem[256];
    const struct qs_row row = {.duration_ns = 1};
    struct qs_build ids, b;
    qs_build_init(&ids, ids_mem, sizeof ids_mem);
    for (uint16_t i = 0; i < metrics; i++)
        qs_build_u16(&ids, same_ids ? 1 : (uint16_t)(i + 1));
    qs_build_init(&b, list_mem, sizeof list_mem);
    for (unsigned i = 0; i < rows; i++)
        qs_build_row(&b, metrics, &row);
    m->run = some_uid();
    m->metrics = qs_build_list(&ids);
    m->rows = qs_build_list(&b);
    struct qs_writer w = new_writer();
    return qs_msg_encode_iterations(&w, m);
}

static void test_iterations_ranges(void **state)
{
    (void)state;
    struct qs_msg_iterations m = {.window = 0};
    const struct qs_row row = {.duration_ns = 1};
    struct qs_build b;
    qs_build_init(&b, list_mem, sizeof list_mem);
    assert_true(qs_build_row(&b, QS_METRICS_MAX, &row));
    assert_false(qs_build_row(&b, QS_METRICS_MAX + 1, &row));
    assert_true(iterations_pass(&m, QS_ROWS_MAX, QS_METRICS_MAX, false));
    assert_false(iterations_pass(&m, QS_ROWS_MAX + 1, 1, false));
    assert_false(iterations_pass(&m, 1, QS_METRICS_MAX + 1, false));
    assert_false(iterations_pass(&m, 1, 2, true));
    m.first_seq = QS_SEQ_MAX - 1;
    assert_true(iterations_pass(&m, 1, 0, false));
    assert_false(iterations_pass(&m, 2, 0, false));
    m = (struct qs_msg_iterations){.first_index = QS_ITERATIONS_MAX - 2};
    assert_true(iterations_pass(&m, 2, 0, false));
    assert_false(iterations_pass(&m, 3, 0, false));
    m.first_index = UINT32_MAX;
    assert_false(iterations_pass(&m, 2, 0, false));
    /* Rows of another width than the ids say. */
    m = (struct qs_msg_iterations){.window = 0};
    assert_true(iterations_pass(&m, 2, 2, false));
    m.rows.len -= 8;
    struct qs_writer w = new_writer();
    assert_false(qs_msg_encode_iterations(&w, &m));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_durations_cross_unchanged),
        cmocka_unit_test(test_elements_of_a_gate),
        cmocka_unit_test(test_elements_of_results_and_facts),
        cmocka_unit_test(test_run_begin_ranges),
        cmocka_unit_test(test_list_limits),
        cmocka_unit_test(test_decoder_refuses_oversized_lists),
        cmocka_unit_test(test_open_ranges),
        cmocka_unit_test(test_expectation_ranges),
        cmocka_unit_test(test_iterations_ranges),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
