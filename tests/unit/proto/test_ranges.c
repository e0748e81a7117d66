/* The ends of the ranges of the remaining messages: the last value that passes and the first that does not.
 * Encoder and decoder share the check; here it is reached through the encoder. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "range.h"

static struct qs_uid some_uid(void)
{
    struct qs_uid u;
    memset(&u, 0x5a, sizeof u);
    return u;
}

static void test_hello_host(void **state)
{
    (void)state;
    struct qs_writer w;
    const struct qs_uid none = {{0}};
    const struct qs_msg_hello_host m = {.proto_min = 2,
                                        .proto_max = 2,
                                        .farm = some_uid(),
                                        .session = some_uid(),
                                        .heartbeat_ms = QS_HEARTBEAT_MIN_MS,
                                        .max_frame_bytes = QS_FRAME_FLOOR_BYTES};
    assert_true(PASSES(hello_host, &m));
    RANGE(hello_host, &m, proto_min, 1, 0);
    RANGE(hello_host, &m, proto_min, 2, 3);
    RANGE(hello_host, &m, farm, some_uid(), none);
    RANGE(hello_host, &m, session, some_uid(), none);
    RANGE(hello_host, &m, heartbeat_ms, QS_HEARTBEAT_MIN_MS, QS_HEARTBEAT_MIN_MS - 1);
    RANGE(hello_host, &m, heartbeat_ms, QS_HEARTBEAT_MAX_MS, QS_HEARTBEAT_MAX_MS + 1);
    RANGE(hello_host, &m, max_frame_bytes, UINT32_MAX, QS_FRAME_FLOOR_BYTES - 1);
    RANGE(hello_host, &m, software, letters(QS_NOTE_MAX_BYTES), letters(QS_NOTE_MAX_BYTES + 1));
}

static void test_hello_agent(void **state)
{
    (void)state;
    struct qs_writer w;
    const struct qs_uid none = {{0}};
    const struct qs_msg_hello_agent m = {.proto_min = 1,
                                         .proto_max = 1,
                                         .session = some_uid(),
                                         .boot_id = qs_text_of("b"),
                                         .clock = qs_text_of("c"),
                                         .max_frame_bytes = QS_FRAME_FLOOR_BYTES,
                                         .max_iterations = 1};
    assert_true(PASSES(hello_agent, &m));
    RANGE(hello_agent, &m, proto_max, 255, 0);
    RANGE(hello_agent, &m, session, some_uid(), none);
    RANGE(hello_agent, &m, auth, QS_AUTH_SEALED, (enum qs_auth_kind)3);
    RANGE(hello_agent, &m, software, letters(QS_NOTE_MAX_BYTES), letters(QS_NOTE_MAX_BYTES + 1));
    RANGE(hello_agent, &m, boot_id, letters(QS_NAME_MAX_BYTES), letters(QS_NAME_MAX_BYTES + 1));
    RANGE(hello_agent, &m, boot_id, letters(1), letters(0));
    RANGE(hello_agent, &m, clock, letters(QS_NAME_MAX_BYTES), letters(QS_NAME_MAX_BYTES + 1));
    RANGE(hello_agent, &m, clock, letters(1), letters(0));
    RANGE(hello_agent, &m, max_frame_bytes, UINT32_MAX, QS_FRAME_FLOOR_BYTES - 1);
    RANGE(hello_agent, &m, max_iterations, 1, 0);
    RANGE(hello_agent, &m, max_iterations, QS_ITERATIONS_MAX, QS_ITERATIONS_MAX + 1);
    RANGE(hello_agent, &m, clock_resolution_ns, 0, -1);
}

static void test_error_and_bye(void **state)
{
    (void)state;
    struct qs_writer w;
    const struct qs_msg_error m = {.code = 999, .blame = QS_WIRE_BLAME_HOST};
    assert_true(PASSES(error, &m));
    RANGE(error, &m, blame, QS_WIRE_BLAME_OPERATOR, (enum qs_wire_blame)0);
    RANGE(error, &m, blame, QS_WIRE_BLAME_QUIESCE, (enum qs_wire_blame)5);
    RANGE(error, &m, text, letters(QS_NOTE_MAX_BYTES), letters(QS_NOTE_MAX_BYTES + 1));
    const struct qs_msg_bye bye = {.why = qs_text_of("")};
    RANGE(bye, &bye, why, letters(QS_NOTE_MAX_BYTES), letters(QS_NOTE_MAX_BYTES + 1));
}

static bool fact_passes(struct qs_text key, struct qs_text value)
{
    static uint8_t mem[8192];
    struct qs_writer w;
    struct qs_build b;
    qs_build_init(&b, mem, sizeof mem);
    qs_build_fact(&b, &(struct qs_fact){key, value});
    return PASSES(facts, &(struct qs_msg_facts){.facts = qs_build_list(&b)});
}

static bool held_passes(struct qs_uid run, uint64_t first_seq, uint64_t next_seq)
{
    uint8_t mem[64];
    struct qs_writer w;
    struct qs_build b;
    qs_build_init(&b, mem, sizeof mem);
    qs_build_held(&b, &(struct qs_held){run, first_seq, next_seq});
    return PASSES(held, &(struct qs_msg_held){.held = qs_build_list(&b)});
}

static void test_facts_and_held(void **state)
{
    (void)state;
    const struct qs_uid none = {{0}};
    assert_true(fact_passes(letters(QS_NAME_MAX_BYTES), letters(QS_FACT_VALUE_MAX_BYTES)));
    assert_false(fact_passes(letters(QS_NAME_MAX_BYTES + 1), letters(0)));
    assert_false(fact_passes(letters(0), letters(1)));
    assert_false(fact_passes(letters(1), letters(QS_FACT_VALUE_MAX_BYTES + 1)));
    assert_true(held_passes(some_uid(), QS_SEQ_MAX, QS_SEQ_MAX));
    assert_false(held_passes(some_uid(), 5, 4));
    assert_false(held_passes(some_uid(), 5, QS_SEQ_MAX + 1));
    assert_false(held_passes(none, 4, 5));
}

static void test_run_messages(void **state)
{
    (void)state;
    struct qs_writer w;
    const struct qs_uid none = {{0}};
    const struct qs_msg_run run = {.run = some_uid()};
    RANGE(run, &run, run, some_uid(), none);
    const struct qs_msg_run_seq seq = {.run = some_uid()};
    RANGE(run_seq, &seq, run, some_uid(), none);
    RANGE(run_seq, &seq, seq, QS_SEQ_MAX, QS_SEQ_MAX + 1);
    const struct qs_msg_run_why why = {.run = some_uid()};
    RANGE(run_why, &why, run, some_uid(), none);
    RANGE(run_why, &why, why, letters(QS_NOTE_MAX_BYTES), letters(QS_NOTE_MAX_BYTES + 1));
    const struct qs_msg_run_ready ready = {.run = some_uid()};
    RANGE(run_ready, &ready, run, some_uid(), none);
    RANGE(run_ready, &ready, executable, letters(QS_PATH_MAX_BYTES), letters(QS_PATH_MAX_BYTES + 1));
    RANGE(run_ready, &ready, cpus, letters(QS_NOTE_MAX_BYTES), letters(QS_NOTE_MAX_BYTES + 1));
}

static void test_hooks(void **state)
{
    (void)state;
    struct qs_writer w;
    uint8_t mem[64];
    struct qs_build b;
    const struct qs_list none = {.count = 0};
    qs_build_init(&b, mem, sizeof mem);
    qs_build_text(&b, qs_text_of("true"));
    const struct qs_msg_hook hook = {.argv = qs_build_list(&b), .limit_ns = 1};
    RANGE(hook, &hook, argv, qs_build_list(&b), none);
    RANGE(hook, &hook, cwd, letters(QS_PATH_MAX_BYTES), letters(QS_PATH_MAX_BYTES + 1));
    RANGE(hook, &hook, limit_ns, 1, 0);
    RANGE(hook, &hook, limit_ns, QS_SPAN_MAX_NS, QS_SPAN_MAX_NS + 1);
    RANGE(hook, &hook, output_max_bytes, QS_OUTPUT_MAX_BYTES, QS_OUTPUT_MAX_BYTES + 1);
    RANGE(hook, &hook, user, letters(QS_NAME_MAX_BYTES), letters(QS_NAME_MAX_BYTES + 1));
    const struct qs_msg_hook_done done = {.id = 1};
    RANGE(hook_done, &done, how, QS_HOOK_NOT_STARTED, (enum qs_hook_how)4);
    RANGE(hook_done, &done, duration_ns, 0, -1);
}

static void test_window_messages(void **state)
{
    (void)state;
    struct qs_writer w;
    const struct qs_uid none = {{0}};
    const struct qs_msg_window window = {.run = some_uid()};
    RANGE(window, &window, run, some_uid(), none);
    const struct qs_msg_window_why why = {.run = some_uid()};
    RANGE(window_why, &why, run, some_uid(), none);
    RANGE(window_why, &why, why, letters(QS_NOTE_MAX_BYTES), letters(QS_NOTE_MAX_BYTES + 1));
    const struct qs_msg_waiting m = {.run = some_uid()};
    RANGE(waiting, &m, run, some_uid(), none);
    RANGE(waiting, &m, elapsed_ns, 0, -1);
    RANGE(waiting, &m, expectation, QS_GATE_MAX - 1, QS_GATE_MAX);
    RANGE(waiting, &m, status, QS_READING_SPOILT, (enum qs_reading_status)5);
    RANGE(waiting, &m, eta_ns, -1, -2);
    RANGE(waiting, &m, note, letters(QS_NOTE_MAX_BYTES), letters(QS_NOTE_MAX_BYTES + 1));
}

static void test_closed(void **state)
{
    (void)state;
    struct qs_writer w;
    const struct qs_uid none = {{0}};
    const struct qs_msg_closed m = {.run = some_uid()};
    RANGE(closed, &m, run, some_uid(), none);
    RANGE(closed, &m, phase, QS_PHASE_TRACED, (enum qs_phase)4);
    RANGE(closed, &m, how, QS_CLOSED_GATE_TIMEOUT, (enum qs_closed_how)5);
    RANGE(closed, &m, iterations, QS_ITERATIONS_MAX, QS_ITERATIONS_MAX + 1);
    RANGE(closed, &m, gate.outcome, QS_GATE_FAIL, (enum qs_gate_outcome)5);
    RANGE(closed, &m, gate.busiest, letters(QS_NOTE_MAX_BYTES), letters(QS_NOTE_MAX_BYTES + 1));
    RANGE(closed, &m, failure, letters(QS_NOTE_MAX_BYTES), letters(QS_NOTE_MAX_BYTES + 1));
}

/* One element of each list of CLOSED. */
static bool closed_passes(const struct qs_reading *r, const struct qs_evidence *e, const struct qs_taint *t)
{
    uint8_t mem[3][128];
    struct qs_writer w;
    struct qs_build b[3];
    struct qs_msg_closed m = {.run = some_uid()};
    for (int i = 0; i < 3; i++)
        qs_build_init(&b[i], mem[i], sizeof mem[i]);
    qs_build_reading(&b[0], r);
    qs_build_evidence(&b[1], e);
    qs_build_taint(&b[2], t);
    m.gate.readings = qs_build_list(&b[0]);
    m.evidence = qs_build_list(&b[1]);
    m.taints = qs_build_list(&b[2]);
    return PASSES(closed, &m);
}

static void test_elements_of_closed(void **state)
{
    (void)state;
    const struct qs_text name = qs_text_of("n");
    const enum qs_reading_status bad = (enum qs_reading_status)5;
    struct qs_reading r = {name, QS_READING_SPOILT, 0, 0};
    struct qs_evidence e = {name, QS_READING_SPOILT, 0, 0};
    struct qs_taint t = {-1, name, 0, 0};
    assert_true(closed_passes(&r, &e, &t));
    t.iteration = QS_ITERATIONS_MAX - 1;
    assert_true(closed_passes(&r, &e, &t));
    assert_false(closed_passes(&(struct qs_reading){letters(0), QS_READING_OK, 0, 0}, &e, &t));
    assert_false(closed_passes(&(struct qs_reading){name, bad, 0, 0}, &e, &t));
    assert_false(closed_passes(&(struct qs_reading){name, QS_READING_OK, 0, -1}, &e, &t));
    assert_false(closed_passes(&r, &(struct qs_evidence){letters(0), QS_READING_OK, 0, 0}, &t));
    assert_false(closed_passes(&r, &(struct qs_evidence){name, bad, 0, 0}, &t));
    assert_false(closed_passes(&r, &e, &(struct qs_taint){-2, name, 0, 0}));
    assert_false(closed_passes(&r, &e, &(struct qs_taint){QS_ITERATIONS_MAX, name, 0, 0}));
    assert_false(closed_passes(&r, &e, &(struct qs_taint){0, letters(QS_NAME_MAX_BYTES + 1), 0, 0}));
}

static bool declared_passes(struct qs_text name, struct qs_text unit, uint8_t flags)
{
    uint8_t mem[256];
    struct qs_writer w;
    struct qs_build b;
    qs_build_init(&b, mem, sizeof mem);
    qs_build_declared(&b, &(struct qs_declared){name, unit, flags});
    return PASSES(run_ready, &((struct qs_msg_run_ready){
                                 .run = some_uid(), .header_version = 1, .declared = qs_build_list(&b)}));
}

static void test_harness_run(void **state)
{
    (void)state;
    struct qs_writer w;
    uint8_t mem[64];
    struct qs_build b;
    const struct qs_list none = {.count = 0};
    qs_build_init(&b, mem, sizeof mem);
    qs_build_text(&b, qs_text_of("./blur"));
    const struct qs_msg_run_begin m = {.run = some_uid(),
                                       .argv = qs_build_list(&b),
                                       .iteration_limit_ns = 1,
                                       .hook_limit_ns = 1,
                                       .mode = QS_RUN_HARNESS,
                                       .harness = {.capacity = 1}};
    RANGE(run_begin, &m, mode, QS_RUN_COMMAND, (enum qs_run_mode)3);
    RANGE(run_begin, &m, prepare, none, qs_build_list(&b));
    RANGE(run_begin, &m, conclude, none, qs_build_list(&b));
    RANGE(run_begin, &m, hook_limit_ns, 1, 0);
    RANGE(run_begin, &m, harness.benchmark, letters(QS_NAME_MAX_BYTES), letters(QS_NAME_MAX_BYTES + 1));
    RANGE(run_begin, &m, harness.capacity, 1, 0);
    RANGE(run_begin, &m, harness.capacity, QS_ITERATIONS_MAX, QS_ITERATIONS_MAX + 1);
    RANGE(run_begin, &m, harness.environment_bytes, QS_LAYOUT_ENVIRONMENT_MAX_BYTES,
          QS_LAYOUT_ENVIRONMENT_MAX_BYTES + 1);
    RANGE(run_begin, &m, harness.stack_bytes, QS_LAYOUT_STACK_MAX_BYTES, QS_LAYOUT_STACK_MAX_BYTES + 1);
    RANGE(run_begin, &m, harness.heap_bytes, QS_LAYOUT_HEAP_MAX_BYTES, QS_LAYOUT_HEAP_MAX_BYTES + 1);
    assert_true(declared_passes(letters(QS_NAME_MAX_BYTES), letters(1), QS_DECLARED_FLAGS));
    assert_false(declared_passes(letters(0), letters(1), 0));
    assert_false(declared_passes(letters(1), letters(QS_NAME_MAX_BYTES + 1), 0));
    assert_false(declared_passes(letters(1), letters(1), QS_DECLARED_FLAGS + 1));
}

static void test_stream_run(void **state)
{
    (void)state;
    struct qs_writer w;
    uint8_t mem[64];
    struct qs_build b;
    qs_build_init(&b, mem, sizeof mem);
    qs_build_text(&b, qs_text_of("./suite"));
    struct qs_msg_run_begin m = {.run = some_uid(),
                                 .argv = qs_build_list(&b),
                                 .iteration_limit_ns = 1,
                                 .mode = QS_RUN_STREAM,
                                 .stream = {.document_max_bytes = 1}};
    RANGE(run_begin, &m, stream.document_max_bytes, 1, 0);
    RANGE(run_begin, &m, stream.document_max_bytes, QS_DOCUMENT_MAX_BYTES, QS_DOCUMENT_MAX_BYTES + 1);
    RANGE(run_begin, &m, stream.path, letters(0), letters(1));
    RANGE(run_begin, &m, stream.source, QS_STREAM_STDOUT, (enum qs_stream_source)2);
    m.stream.source = QS_STREAM_FILE;
    RANGE(run_begin, &m, stream.path, letters(QS_PATH_MAX_BYTES), letters(QS_PATH_MAX_BYTES + 1));
    RANGE(run_begin, &m, stream.path, letters(1), letters(0));
}

/* A piece never says that it reaches beyond what comes, and none says nothing where something comes. */
static void test_document(void **state)
{
    (void)state;
    struct qs_writer w;
    const struct qs_msg_document m = {
        .run = some_uid(), .total_bytes = 10, .kept_bytes = 10, .offset = 7, .bytes = letters(3)};
    RANGE(document, &m, offset, 7, 8);
    RANGE(document, &m, offset, 0, 11);
    RANGE(document, &m, bytes, letters(1), letters(0));
    RANGE(document, &m, bytes, letters(3), letters(4));
    RANGE(document, &m, total_bytes, QS_SEQ_MAX, QS_SEQ_MAX + 1);
    RANGE(document, &m, total_bytes, 10, 9);
    RANGE(document, &m, status, QS_PULL_OK, QS_PULL_MISSING);
    RANGE(document, &m, why, letters(QS_NOTE_MAX_BYTES), letters(QS_NOTE_MAX_BYTES + 1));
    const struct qs_msg_document large = {.run = some_uid(),
                                          .total_bytes = QS_SEQ_MAX,
                                          .kept_bytes = QS_DOCUMENT_MAX_BYTES,
                                          .bytes = letters(1)};
    RANGE(document, &large, kept_bytes, QS_DOCUMENT_MAX_BYTES, QS_DOCUMENT_MAX_BYTES + 1);
    const struct qs_msg_document none = {.run = some_uid(), .status = QS_PULL_MISSING};
    RANGE(document, &none, status, QS_PULL_NO_FILE, (enum qs_pull_status)4);
    RANGE(document, &none, bytes, letters(0), letters(1));
}

static void test_harness_window(void **state)
{
    (void)state;
    struct qs_writer w;
    const struct qs_list one = {.bytes = (const uint8_t *)"\1\0n\1\0u\0", .len = 7, .count = 1};
    const struct qs_list none = {.count = 0};
    const struct qs_msg_open open = {.run = some_uid(), .iterations = 1, .max_ns = 1, .lease_ns = 1};
    RANGE(open, &open, evals, QS_EVALS_MAX, QS_EVALS_MAX + 1);
    RANGE(open, &open, phase, QS_PHASE_MEASURE, QS_PHASE_TUNE); /* without evaluations there is none */
    const struct qs_msg_open tune = {
        .run = some_uid(), .iterations = 1, .max_ns = 1, .lease_ns = 1, .evals = 1};
    RANGE(open, &tune, phase, QS_PHASE_TUNE, (enum qs_phase)4);
    const struct qs_msg_closed tuned = {.run = some_uid(), .evals = 1};
    RANGE(closed, &tuned, phase, QS_PHASE_TUNE, (enum qs_phase)4);
    const struct qs_msg_closed closed = {.run = some_uid()};
    RANGE(closed, &closed, evals, QS_EVALS_MAX, QS_EVALS_MAX + 1);
    RANGE(closed, &closed, declared, none, one);
    RANGE(closed, &closed, phase, QS_PHASE_MEASURE, QS_PHASE_TUNE);
    RANGE(closed, &closed, errors_bytes, 0, 1); /* where they are not apart there are none */
    RANGE(closed, &closed, errors, letters(0), letters(1));
    RANGE(closed, &tuned, declared, one, (struct qs_list){.count = 1});
    const struct qs_msg_run_ready ready = {.run = some_uid(), .header_version = 1};
    RANGE(run_ready, &ready, declared, one, (struct qs_list){.count = 1});
    RANGE(run_ready, &ready, flags, QS_READY_FLAGS, QS_READY_FLAGS + 1);
    const struct qs_msg_run_ready command_ready = {.run = some_uid()};
    RANGE(run_ready, &command_ready, evals_max, 0, 1);
    const struct qs_msg_run_ended ended = {.run = some_uid(), .how = QS_ENDED_EXITED};
    RANGE(run_ended, &ended, how, QS_ENDED_LOST, (enum qs_ended_how)4);
    RANGE(run_ended, &ended, flags, QS_ENDED_FLAGS, QS_ENDED_FLAGS + 1);
    RANGE(run_ended, &ended, seq, QS_SEQ_MAX, QS_SEQ_MAX + 1);
    const struct qs_msg_run_ended command = {.run = some_uid()};
    RANGE(run_ended, &command, code, 0, 1);
}

/* A harness part that says what its absence says is no second spelling of it. */
static void test_harness_parts_are_there_or_not(void **state)
{
    (void)state;
    struct qs_writer w;
    struct qs_msg_open again;
    struct qs_msg_run_ended ended;
    const struct qs_msg_open open = {
        .run = some_uid(), .iterations = 1, .max_ns = 1, .lease_ns = 1, .evals = 7};
    assert_true(PASSES(open, &open));
    assert_int_equal(qs_msg_decode_open(payload, w.len - 4, &again), QS_WIRE_OK);
    assert_int_equal(again.evals, 0);
    payload[w.len - 4] = 0;
    assert_int_equal(qs_msg_decode_open(payload, w.len, &again), QS_WIRE_E_VALUE);
    assert_int_equal(qs_msg_decode_open(payload, w.len - 1, &again), QS_WIRE_E_SHORT);
    const struct qs_msg_run_ended said = {.run = some_uid(), .how = QS_ENDED_EXITED};
    assert_true(PASSES(run_ended, &said));
    payload[w.len - 9] = 0;
    assert_int_equal(qs_msg_decode_run_ended(payload, w.len, &ended), QS_WIRE_E_VALUE);
    assert_int_equal(qs_msg_decode_run_ended(payload, w.len - 9, &ended), QS_WIRE_OK);
    assert_int_equal(ended.how, QS_ENDED_COMMAND);
}

/* The parts that were added to messages: one evaluation, one letter and one code are there; one byte of a
 * part is too short for it, and not too much for what stands before. */
static void test_parts_that_may_be_missing(void **state)
{
    (void)state;
    struct qs_writer w;
    uint8_t mem[2][64];
    struct qs_build argv, codes;
    qs_build_init(&argv, mem[0], sizeof mem[0]);
    qs_build_text(&argv, qs_text_of("true"));
    qs_build_init(&codes, mem[1], sizeof mem[1]);
    qs_build_i32(&codes, 3);
    const struct qs_list none = {.count = 0};
    struct qs_msg_run_begin run = {.run = some_uid(), .argv = qs_build_list(&argv), .iteration_limit_ns = 1},
                            run_again;
    run.stdin_kind = QS_STDIN_FILE;
    RANGE(run_begin, &run, stdin_path, letters(1), letters(0));
    run.stdin_kind = (enum qs_stdin_kind)0;
    RANGE(run_begin, &run, stdin_path, letters(0), letters(1));
    RANGE(run_begin, &run, argv, run.argv, none);
    run.exit_rule = QS_EXIT_RULE_LIST;
    RANGE(run_begin, &run, exit_codes, qs_build_list(&codes), none);
    run.exit_rule = (enum qs_exit_rule)0;
    assert_true(PASSES(run_begin, &run));
    payload[w.len] = QS_RUN_HARNESS;
    assert_int_equal(qs_msg_decode_run_begin(payload, w.len, &run_again), QS_WIRE_OK);
    assert_int_equal(qs_msg_decode_run_begin(payload, w.len + 1, &run_again), QS_WIRE_E_SHORT);
    payload[w.len] = QS_RUN_COMMAND;
    assert_int_equal(qs_msg_decode_run_begin(payload, w.len + 1, &run_again), QS_WIRE_E_VALUE);

    const struct qs_msg_run_ready ready = {.run = some_uid()};
    struct qs_msg_run_ready ready_again;
    assert_true(PASSES(run_ready, &ready));
    payload[w.len] = 1;
    assert_int_equal(qs_msg_decode_run_ready(payload, w.len, &ready_again), QS_WIRE_OK);
    assert_int_equal(qs_msg_decode_run_ready(payload, w.len + 1, &ready_again), QS_WIRE_E_SHORT);
    const struct qs_msg_run_ended ended = {.run = some_uid()};
    struct qs_msg_run_ended ended_again;
    assert_true(PASSES(run_ended, &ended));
    payload[w.len] = QS_ENDED_EXITED;
    assert_int_equal(qs_msg_decode_run_ended(payload, w.len + 1, &ended_again), QS_WIRE_E_SHORT);

    struct qs_msg_closed closed = {.run = some_uid()}, closed_again;
    assert_true(PASSES(closed, &closed));
    payload[w.len] = 1;
    assert_int_equal(qs_msg_decode_closed(payload, w.len, &closed_again), QS_WIRE_OK);
    assert_int_equal(qs_msg_decode_closed(payload, w.len + 1, &closed_again), QS_WIRE_E_SHORT);
    closed.evals = 1;
    assert_true(PASSES(closed, &closed));
    payload[w.len] = 1;
    assert_int_equal(qs_msg_decode_closed(payload, w.len, &closed_again), QS_WIRE_OK);
    assert_int_equal(closed_again.evals, 1);
    assert_int_equal(qs_msg_decode_closed(payload, w.len + 1, &closed_again), QS_WIRE_E_SHORT);
    closed.evals = 0;
    closed.apart = true;
    assert_true(PASSES(closed, &closed));
    assert_int_equal(qs_msg_decode_closed(payload, w.len, &closed_again), QS_WIRE_OK);
    assert_true(closed_again.apart && closed_again.evals == 0);
}

static void test_traces(void **state)
{
    (void)state;
    struct qs_writer w;
    uint8_t mem[64];
    struct qs_build b;
    const struct qs_uid none = {{0}};
    const struct qs_list no_words = {.count = 0};
    qs_build_init(&b, mem, sizeof mem);
    qs_build_text(&b, qs_text_of("perf"));
    const struct qs_msg_trace m = {
        .run = some_uid(), .argv = qs_build_list(&b), .stop_ns = 1, .max_bytes = 1};
    RANGE(trace, &m, run, some_uid(), none);
    RANGE(trace, &m, argv, m.argv, no_words);
    RANGE(trace, &m, cwd, letters(QS_PATH_MAX_BYTES), letters(QS_PATH_MAX_BYTES + 1));
    RANGE(trace, &m, user, letters(QS_NAME_MAX_BYTES), letters(QS_NAME_MAX_BYTES + 1));
    RANGE(trace, &m, settle_ns, QS_SPAN_MAX_NS, QS_SPAN_MAX_NS + 1);
    RANGE(trace, &m, settle_ns, 0, -1);
    RANGE(trace, &m, stop_ns, QS_SPAN_MAX_NS, 0);
    RANGE(trace, &m, max_bytes, QS_TRACE_MAX_BYTES, QS_TRACE_MAX_BYTES + 1);
    RANGE(trace, &m, max_bytes, 1, 0);
    const struct qs_msg_trace_stop stop = {.run = some_uid()};
    RANGE(trace_stop, &stop, run, some_uid(), none);
    const struct qs_msg_traced said = {.status = QS_TRACE_RUNS};
    RANGE(traced, &said, status, QS_TRACE_MISSING, (enum qs_trace_status)3);
    RANGE(traced, &said, flags, QS_TRACE_FLAGS, QS_TRACE_FLAGS + 1);
    RANGE(traced, &said, total_bytes, QS_SEQ_MAX, QS_SEQ_MAX + 1);
    RANGE(traced, &said, said, letters(QS_TRACE_SAID_MAX_BYTES), letters(QS_TRACE_SAID_MAX_BYTES + 1));
    RANGE(traced, &said, why, letters(QS_NOTE_MAX_BYTES), letters(QS_NOTE_MAX_BYTES + 1));
    const struct qs_msg_pull pull = {.run = some_uid(), .source = QS_PULL_TRACE, .max_bytes = 1};
    RANGE(pull, &pull, source, QS_PULL_TRACE, (enum qs_pull_source)3);
    RANGE(pull, &pull, path, letters(0), letters(1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hello_host),
        cmocka_unit_test(test_hello_agent),
        cmocka_unit_test(test_error_and_bye),
        cmocka_unit_test(test_facts_and_held),
        cmocka_unit_test(test_run_messages),
        cmocka_unit_test(test_hooks),
        cmocka_unit_test(test_window_messages),
        cmocka_unit_test(test_closed),
        cmocka_unit_test(test_elements_of_closed),
        cmocka_unit_test(test_harness_run),
        cmocka_unit_test(test_harness_window),
        cmocka_unit_test(test_harness_parts_are_there_or_not),
        cmocka_unit_test(test_parts_that_may_be_missing),
        cmocka_unit_test(test_stream_run),
        cmocka_unit_test(test_document),
        cmocka_unit_test(test_traces),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
