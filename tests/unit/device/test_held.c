/* What an agent kept comes into the store, run by run, and is acknowledged after its commit. The store and
 * the session are made for the test: answers wait until it gives them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "device/window/held.h"
#include "device/session/session.h"
#include "held_told.h"
#include "store/read/read.h"
#include "store/store.h"

enum { CALLS = 16 };

static struct {
    struct {
        qs_store_read_fn *read;
        qs_store_after_fn *after;
        qs_store_done_fn *done;
        void *user;
    } waiting[CALLS];
    size_t first, count;
    int64_t acked_seq;  /* what the store knows of any run; -2: it does not know the run */
    const char *device; /* whose run any is */
    struct qs_buf log;
    bool refuse_resend;
    struct qs_call call; /* the last RESEND */
    struct qs_run_events to;
    unsigned done, warnings;
    char note[256]; /* the last one */
} world;

void qs_store_read(struct qs_store *store, qs_store_read_fn *read, qs_store_after_fn *after, void *user)
{
    (void)store;
    assert_true(world.count < CALLS);
    world.waiting[world.count].read = read;
    world.waiting[world.count].after = after;
    world.waiting[world.count++].user = user;
}

void qs_store_window(struct qs_store *store, const struct qs_window_row *w, qs_store_done_fn *done,
                     void *user)
{
    (void)store;
    assert_true(world.count < CALLS);
    assert_true(w->taint & QS_TAINT_INTERRUPTED);
    if (w->closed_ns)
        tell_window(&world.log, w);
    qs_buf_fmt(&world.log, "store %u %u:%u+%u; ", w->run_uid[0], w->ord, (unsigned)w->first_seq,
               (unsigned)w->n);
    for (size_t i = 0; i < w->n; i++) {
        assert_int_equal(w->iterations[i].duration_ns, 1000 + (int64_t)(w->first_seq + i));
        assert_true(w->iterations[i].taint & QS_TAINT_INTERRUPTED);
    }
    world.waiting[world.count].done = done;
    world.waiting[world.count++].user = user;
}

bool qs_read_run(struct qs_store_reader *r, const uint8_t uid[16], struct qs_runs *ret, struct qs_err *err)
{
    (void)r;
    (void)uid;
    if (world.acked_seq == -2)
        return qs_fail(err, QS_E_NOT_FOUND, "no such run");
    ret->at = qs_calloc(1, sizeof *ret->at);
    ret->at[0].acked_seq = world.acked_seq;
    ret->at[0].device_seq = (uint64_t)(world.acked_seq + 1);
    ret->at[0].device = (char *)(uintptr_t)world.device;
    ret->count = 1;
    return true;
}

void qs_runs_free(struct qs_runs *runs)
{
    free(runs->at);
    *runs = (struct qs_runs){0};
}

bool qs_session_ack(struct qs_session *s, const struct qs_uid *run, uint64_t next_seq, struct qs_err *err)
{
    (void)s;
    (void)err;
    qs_buf_fmt(&world.log, "ack %u:%u; ", run->b[0], (unsigned)next_seq);
    return true;
}

bool qs_session_call(struct qs_session *s, const struct qs_call *call, struct qs_err *err)
{
    const struct qs_msg_run_seq *m = call->m;
    (void)s;
    assert_int_equal(call->type, QS_MSG_RESEND);
    if (world.refuse_resend)
        return qs_fail(err, QS_E_CONFLICT, "not now");
    world.call = *call;
    world.to = *call->events;
    qs_buf_fmt(&world.log, "resend %u:%u; ", m->run.b[0], (unsigned)m->seq);
    return true;
}

/* The oldest question gets its answer. */
static void answer(const struct qs_err *err)
{
    assert_true(world.first < world.count);
    size_t i = world.first++;
    if (world.waiting[i].done) {
        world.waiting[i].done(err, 0, world.waiting[i].user);
        return;
    }
    struct qs_err why = QS_ERR_INIT;
    bool ok = world.waiting[i].read(NULL, world.waiting[i].user, &why);
    world.waiting[i].after(ok ? NULL : &why, world.waiting[i].user);
}

static void on_note(bool warning, const char *text, void *user)
{
    (void)user;
    assert_non_null(strstr(text, "run "));
    world.warnings += warning ? 1 : 0;
    snprintf(world.note, sizeof world.note, "%s", text);
}

static void on_done(void *user)
{
    (void)user;
    world.done++;
    qs_buf_str(&world.log, "done; ");
}

static struct qs_uid uid(uint8_t n)
{
    struct qs_uid u = {{n}};
    return u;
}

static struct qs_held_runs *begin(int64_t acked_seq)
{
    memset(&world, 0, sizeof world);
    world.acked_seq = acked_seq;
    qs_buf_init(&world.log);
    const struct qs_held_events events = {.on_note = on_note, .on_done = on_done};
    return qs_held_new(&(struct qs_held_parts){.device = "board"}, &events);
}

static void end(struct qs_held_runs *h, const char *want)
{
    assert_string_equal(world.log.data, want);
    assert_int_equal(world.first, world.count);
    qs_held_free(h);
    qs_buf_done(&world.log);
}

static void piece(uint8_t run, uint32_t window, uint64_t first_seq, uint32_t index, unsigned n)
{
    uint8_t rows_mem[1024], ids_mem[8];
    struct qs_build list, ids;
    qs_build_init(&list, rows_mem, sizeof rows_mem);
    qs_build_init(&ids, ids_mem, sizeof ids_mem);
    for (unsigned i = 0; i < n; i++) {
        struct qs_row row = {.duration_ns = 1000 + (int64_t)first_seq + i};
        assert_true(qs_build_row(&list, 0, &row));
    }
    struct qs_msg_iterations m = {.run = uid(run),
                                  .window = window,
                                  .first_seq = first_seq,
                                  .first_index = index,
                                  .metrics = qs_build_list(&ids),
                                  .rows = qs_build_list(&list)};
    world.to.on_iterations(&m, world.to.user);
}

static void closed(uint8_t run, uint32_t window, uint32_t iterations)
{
    const struct qs_msg_closed m = {.run = uid(run), .window = window, .iterations = iterations};
    world.to.on_closed(&m, NULL, world.to.user);
}

/* A window of n iterations. */
static void rows(uint8_t run, uint32_t window, uint64_t first_seq, unsigned n)
{
    closed(run, window, n);
    piece(run, window, first_seq, 0, n);
}

static void add(struct qs_held_runs *h, uint8_t run, uint64_t first_seq, uint64_t next_seq)
{
    struct qs_uid u = uid(run);
    qs_held_add(h, &u, first_seq, next_seq);
}

static void test_nothing_held(void **state)
{
    (void)state;
    struct qs_held_runs *h = begin(-1);
    qs_held_start(h);
    end(h, "done; ");
}

/* Committed but not acknowledged: nothing is sent again. */
static void test_stored_already(void **state)
{
    (void)state;
    struct qs_held_runs *h = begin(9);
    add(h, 1, 5, 10);
    qs_held_start(h);
    answer(NULL);
    end(h, "ack 1:10; done; ");
}

/* What lies between is gone (a damaged disk): the session is not broken by what could never be stored. */
static void test_a_hole_is_told_and_passed_over(void **state)
{
    (void)state;
    struct qs_held_runs *h = begin(3);
    add(h, 1, 5, 12);
    add(h, 2, 4, 6);
    qs_held_start(h);
    answer(NULL);
    assert_int_equal(world.warnings, 1);
    assert_non_null(strstr(world.note, "from 5 on, but 4 is the next one here: what lies between is lost"));
    answer(NULL);
    rows(2, 0, 4, 2);
    answer(NULL);
    end(h, "resend 2:4; store 2 0:4+2; ack 2:6; done; ");
}

static void test_missing_windows(void **state)
{
    (void)state;
    struct qs_held_runs *h = begin(4);
    add(h, 1, 5, 12);
    add(h, 2, 0, 0); /* empty: not held at all */
    qs_held_start(h);
    answer(NULL);
    rows(1, 0, 0, 5); /* stored already */
    closed(1, 1, 5);
    piece(1, 1, 5, 0, 3);
    piece(1, 1, 8, 3, 2);
    rows(1, 2, 10, 2);
    assert_int_equal(world.done, 0); /* acknowledged after the commit, never before */
    answer(NULL);
    answer(NULL);
    end(h, "resend 1:5; store 1 1:5+5; store 1 2:10+2; ack 1:10; ack 1:12; done; ");
}

static void ended(uint8_t run, uint32_t window, enum qs_phase phase, enum qs_gate_outcome gate)
{
    const struct qs_msg_closed m = {.run = uid(run),
                                    .window = window,
                                    .iterations = 2,
                                    .phase = phase,
                                    .how = QS_CLOSED_TIME_UP,
                                    .closed_ns = 7,
                                    .output_bytes = window,
                                    .gate = {.outcome = gate}};
    world.to.on_closed(&m, NULL, world.to.user);
}

/* What a window was is told before its rows: a warm-up stays one. */
static void test_windows_keep_what_they_were(void **state)
{
    (void)state;
    struct qs_held_runs *h = begin(-1);
    char want[200];
    add(h, 1, 0, 4);
    qs_held_start(h);
    answer(NULL);
    ended(2, 0, QS_PHASE_WARMUP, QS_GATE_OPEN); /* of another run */
    ended(1, 0, QS_PHASE_WARMUP, QS_GATE_OPEN);
    piece(1, 0, 0, 0, 2);
    ended(1, 1, QS_PHASE_MEASURE, QS_GATE_TAINTED);
    piece(1, 1, 2, 0, 2);
    answer(NULL);
    answer(NULL);
    snprintf(want, sizeof want,
             "resend 1:0; warm-up, time, taint 0, 0 bytes: store 1 0:0+2; "
             "measure, time, taint %u, 1 bytes: store 1 1:2+2; ack 1:2; ack 1:4; done; ",
             (unsigned)QS_TAINT_GATE);
    end(h, want);
}

/* Its gate, its evidence and what tainted it are stored with it, as if the link had never been lost. */
static void test_windows_keep_gate_and_evidence(void **state)
{
    (void)state;
    uint8_t memory[3][256];
    struct qs_build readings, evidence, taints;
    struct qs_held_runs *h = begin(-1);
    qs_build_init(&readings, memory[0], sizeof memory[0]);
    qs_build_init(&evidence, memory[1], sizeof memory[1]);
    qs_build_init(&taints, memory[2], sizeof memory[2]);
    qs_build_reading(&readings, &(struct qs_reading){.sensor = qs_text_of("cpu.busy_ratio"),
                                                     .status = QS_READING_STALE,
                                                     .value = 41,
                                                     .age_ns = 5});
    qs_build_evidence(&evidence,
                      &(struct qs_evidence){.kind = qs_text_of("cpu.steal_ns"), .before = 3, .after = 9});
    qs_build_taint(&taints, &(struct qs_taint){
                                .iteration = -1, .code = qs_text_of("cpu.steal_ns"), .value = 6, .bound = 2});
    const struct qs_msg_closed m = {.run = uid(1),
                                    .iterations = 1,
                                    .how = QS_CLOSED_DONE,
                                    .phase = QS_PHASE_MEASURE,
                                    .closed_ns = 7,
                                    .output_bytes = 5,
                                    .output = qs_text_of("hello"),
                                    .gate = {.began_ns = 1,
                                             .decided_ns = 2,
                                             .polls = 4,
                                             .readings = qs_build_list(&readings),
                                             .busiest = qs_text_of("cc1")},
                                    .evidence = qs_build_list(&evidence),
                                    .taints = qs_build_list(&taints)};
    add(h, 1, 0, 1);
    qs_held_start(h);
    answer(NULL);
    world.to.on_closed(&m, NULL, world.to.user);
    memset(memory, 0, sizeof memory); /* the frame's buffer is the next frame's */
    piece(1, 0, 0, 0, 1);
    answer(NULL);
    end(h, "resend 1:0; measure, done, taint 2, 5 bytes `hello`, gate open 1-2 polls 4 busiest cc1,"
           " cpu.busy_ratio 2 41 5, cpu.steal_ns 1 3 9, -1 cpu.steal_ns 6 2: store 1 0:0+1; ack 1:1; done; ");
}

static void test_one_run_after_the_other(void **state)
{
    (void)state;
    struct qs_held_runs *h = begin(-1);
    add(h, 1, 0, 2);
    add(h, 2, 0, 3);
    qs_held_start(h);
    answer(NULL);
    rows(2, 0, 0, 3); /* not its turn */
    rows(1, 0, 0, 2);
    answer(NULL);
    answer(NULL);
    rows(2, 0, 0, 3);
    answer(NULL);
    end(h, "resend 1:0; store 1 0:0+2; ack 1:2; resend 2:0; store 2 0:0+3; ack 2:3; done; ");
}

static void test_unknown_and_refused_runs_hold_up_nobody(void **state)
{
    (void)state;
    struct qs_held_runs *h = begin(-2);
    add(h, 1, 0, 2);
    qs_held_start(h);
    answer(NULL);
    assert_int_equal(world.warnings, 1);
    end(h, "done; ");

    h = begin(-1);
    world.refuse_resend = true;
    add(h, 1, 0, 2);
    qs_held_start(h);
    answer(NULL);
    end(h, "done; ");

    struct qs_err err = QS_ERR_INIT;
    h = begin(-1);
    add(h, 1, 0, 2);
    qs_held_start(h);
    answer(NULL);
    qs_fail(&err, QS_E_NOT_FOUND, "gone");
    world.call.on_reply(NULL, &err, world.call.user);
    assert_int_equal(world.warnings, 1);
    end(h, "resend 1:0; done; ");
}

/* Where the store refuses one window of a run, the next run keeps its turn. */
static void test_a_failed_commit_drops_one_run_only(void **state)
{
    (void)state;
    struct qs_err err = QS_ERR_INIT;
    struct qs_held_runs *h = begin(-1);
    add(h, 1, 0, 4);
    add(h, 2, 0, 2);
    qs_held_start(h);
    answer(NULL);
    rows(1, 0, 0, 2);
    rows(1, 1, 2, 2); /* both windows are on their way */
    qs_fail(&err, QS_E_CONFLICT, "other content");
    answer(&err);
    answer(&err);
    answer(NULL); /* what is stored of run 2 */
    rows(2, 0, 0, 2);
    answer(NULL);
    assert_int_equal(world.warnings, 2);
    end(h, "resend 1:0; store 1 0:0+2; store 1 1:2+2; resend 2:0; store 2 0:0+2; ack 2:2; done; ");
}

/* An agent that claims to have measured for another device: it is neither asked for it nor acknowledged. */
static void what_another_device_has_measured(void **state)
{
    static const char *const devices[] = {"other", "boar", "board2", "board"};
    (void)state;
    for (size_t i = 0; i < sizeof devices / sizeof *devices; i++) {
        struct qs_held_runs *h = begin(3);
        world.device = devices[i];
        qs_held_add(h, &(struct qs_uid){{1}}, 0, 4); /* all of it is stored */
        qs_held_start(h);
        answer(NULL);
        assert_int_equal(strstr(world.note, "kept by the agent of board, but it is a run of ") != NULL,
                         i != 3);
        end(h, i == 3 ? "ack 1:4; done; " : "done; ");
    }
}

/* What an earlier connection told of a window is not said of another run's. */
static void test_a_loss_forgets_what_was_told(void **state)
{
    (void)state;
    struct qs_held_runs *h = begin(-1);
    add(h, 1, 0, 2);
    qs_held_start(h);
    answer(NULL);
    ended(1, 0, QS_PHASE_WARMUP, QS_GATE_OPEN);
    qs_held_reset(h); /* the link went down before its rows */
    add(h, 2, 0, 2);
    qs_held_start(h);
    answer(NULL);
    rows(2, 0, 0, 2);
    answer(NULL);
    end(h, "resend 1:0; resend 2:0; store 2 0:0+2; ack 2:2; done; ");
}

/* What lies behind a hole is not acknowledged: the agent would drop the hole with it. */
static void test_nothing_is_acknowledged_over_a_hole(void **state)
{
    (void)state;
    struct qs_err err = QS_ERR_INIT;
    struct qs_held_runs *h = begin(-1);
    add(h, 1, 0, 4);
    qs_held_start(h);
    answer(NULL);
    rows(1, 0, 0, 2);
    rows(1, 1, 2, 2);
    qs_fail(&err, QS_E_CONFLICT, "other content");
    answer(&err);
    answer(NULL); /* the second window is stored */
    end(h, "resend 1:0; store 1 0:0+2; store 1 1:2+2; done; ");
}

static void test_late_answers_after_a_loss(void **state)
{
    (void)state;
    struct qs_held_runs *h = begin(-1);
    add(h, 1, 0, 2);
    qs_held_start(h);
    qs_held_reset(h); /* the link went down */
    answer(NULL);
    add(h, 1, 0, 2);
    qs_held_start(h);
    answer(NULL);
    rows(1, 0, 0, 2);
    answer(NULL);
    end(h, "resend 1:0; store 1 0:0+2; ack 1:2; done; ");
}

static void test_freed_while_the_store_works(void **state)
{
    (void)state;
    struct qs_held_runs *h = begin(-1);
    add(h, 1, 0, 2);
    qs_held_start(h);
    qs_held_free(h);
    answer(NULL);
    end(NULL, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_another_device_has_measured),
        cmocka_unit_test(test_nothing_held),
        cmocka_unit_test(test_stored_already),
        cmocka_unit_test(test_a_hole_is_told_and_passed_over),
        cmocka_unit_test(test_missing_windows),
        cmocka_unit_test(test_windows_keep_what_they_were),
        cmocka_unit_test(test_windows_keep_gate_and_evidence),
        cmocka_unit_test(test_one_run_after_the_other),
        cmocka_unit_test(test_unknown_and_refused_runs_hold_up_nobody),
        cmocka_unit_test(test_a_failed_commit_drops_one_run_only),
        cmocka_unit_test(test_a_loss_forgets_what_was_told),
        cmocka_unit_test(test_nothing_is_acknowledged_over_a_hole),
        cmocka_unit_test(test_late_answers_after_a_loss),
        cmocka_unit_test(test_freed_while_the_store_works),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
