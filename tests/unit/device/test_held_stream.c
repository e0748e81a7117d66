/* Held windows of mode stream: their documents come with them, are read in their order, and every commit has
 * the values that the program wrote. The store and the session are made for the test. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/loop.h"
#include "base/mem.h"
#include "device/window/held.h"
#include "device/session/session.h"
#include "store/read/read.h"
#include "store/store.h"

static struct {
    struct qs_loop *loop;
    struct qs_held_runs *held;
    struct qs_run_events to;
    struct qs_buf log;
    const char *form;
    uint64_t stored; /* processes of the run that the store has */
    unsigned warnings;
} world;

void qs_store_read(struct qs_store *store, qs_store_read_fn *read, qs_store_after_fn *after, void *user)
{
    struct qs_err err = QS_ERR_INIT;
    (void)store;
    bool ok = read(NULL, user, &err);
    after(ok ? NULL : &err, user);
}

void qs_store_window(struct qs_store *store, const struct qs_window_row *w, qs_store_done_fn *done,
                     void *user)
{
    (void)store;
    assert_true(w->taint & QS_TAINT_INTERRUPTED);
    assert_int_equal(w->silence, QS_SILENCE_NONE);
    assert_int_equal(w->device_n, 1);
    qs_buf_fmt(&world.log, "%u:%u %s", (unsigned)w->ord, (unsigned)w->first_seq, w->how);
    for (size_t i = 0; i < w->n; i++) {
        assert_int_equal(w->iterations[i].start_off_ns, -1);
        assert_true(w->iterations[i].taint & QS_TAINT_INTERRUPTED);
        qs_buf_fmt(&world.log, " %lld", (long long)w->iterations[i].duration_ns);
    }
    assert_true(w->n > 0 || w->failure != NULL);
    for (size_t i = 0; i < w->evidence_count; i++)
        if (strcmp(w->evidence[i].kind, "process.wall_ns") == 0)
            qs_buf_fmt(&world.log, " in %lld", (long long)w->evidence[i].after);
    qs_buf_str(&world.log, "; ");
    done(NULL, 0, user);
}

bool qs_read_run(struct qs_store_reader *r, const uint8_t uid[16], struct qs_runs *ret, struct qs_err *err)
{
    (void)r;
    (void)uid;
    (void)err;
    ret->at = qs_calloc(1, sizeof *ret->at);
    ret->at[0].acked_seq = 9; /* the last of ten values */
    ret->at[0].device_seq = world.stored;
    ret->at[0].stream_json = qs_strdup(world.form);
    ret->count = 1;
    return true;
}

void qs_runs_free(struct qs_runs *runs)
{
    for (size_t i = 0; i < runs->count; i++)
        free(runs->at[i].stream_json);
    free(runs->at);
    *runs = (struct qs_runs){0};
}

bool qs_session_ack(struct qs_session *s, const struct qs_uid *run, uint64_t next_seq, struct qs_err *err)
{
    (void)s;
    (void)run;
    (void)err;
    qs_buf_fmt(&world.log, "ack %u; ", (unsigned)next_seq);
    return true;
}

bool qs_session_call(struct qs_session *s, const struct qs_call *call, struct qs_err *err)
{
    const struct qs_msg_run_seq *m = call->m;
    (void)s;
    (void)err;
    world.to = *call->events;
    qs_buf_fmt(&world.log, "resend %u; ", (unsigned)m->seq);
    return true;
}

static void on_note(bool warning, const char *text, void *user)
{
    (void)user;
    (void)text;
    world.warnings += warning ? 1 : 0;
}

static void on_done(void *user)
{
    (void)user;
    qs_buf_str(&world.log, "done; ");
}

static const struct qs_uid run = {{7}};

/* A run of which the agent holds the processes from `stored` to `held`. */
static void begin(const char *form, uint64_t stored, uint64_t held)
{
    const struct qs_held_events events = {.on_note = on_note, .on_done = on_done};
    memset(&world, 0, sizeof world);
    qs_buf_init(&world.log);
    world.loop = qs_loop_new_virtual(0, 1);
    world.form = form;
    world.stored = stored;
    world.held = qs_held_new(&(struct qs_held_parts){.loop = world.loop}, &events);
    qs_held_add(world.held, &run, stored, held);
    qs_held_start(world.held);
}

static void end(const char *want)
{
    qs_loop_run(world.loop);
    assert_string_equal(world.log.data, want);
    qs_held_free(world.held);
    qs_loop_run(world.loop);
    qs_loop_free(world.loop);
    qs_buf_done(&world.log);
}

static void closed(uint32_t window)
{
    const struct qs_msg_closed m = {
        .run = run, .window = window, .phase = QS_PHASE_MEASURE, .how = QS_CLOSED_DONE, .iterations = 1};
    world.to.on_closed(&m, NULL, world.to.user);
}

/* The document in pieces of two bytes. */
static void document(uint32_t window, const char *text)
{
    uint32_t n = (uint32_t)strlen(text);
    for (uint32_t at = 0; at < n; at += 2) {
        const struct qs_msg_document m = {
            .run = run,
            .window = window,
            .total_bytes = n,
            .kept_bytes = n,
            .offset = at,
            .bytes = {.p = text + at, .n = (uint16_t)(n - at < 2 ? n - at : 2)}};
        world.to.on_document(&m, world.to.user);
    }
}

static void row(uint32_t window, uint64_t seq)
{
    uint8_t rows_mem[256], ids_mem[8];
    struct qs_build list, ids;
    const struct qs_row r = {.start_off_ns = 5, .duration_ns = 1000 + (int64_t)seq};
    qs_build_init(&list, rows_mem, sizeof rows_mem);
    qs_build_init(&ids, ids_mem, sizeof ids_mem);
    assert_true(qs_build_row(&list, 0, &r));
    const struct qs_msg_iterations m = {.run = run,
                                        .window = window,
                                        .first_seq = seq,
                                        .metrics = qs_build_list(&ids),
                                        .rows = qs_build_list(&list)};
    world.to.on_iterations(&m, world.to.user);
}

static void send(uint32_t window, uint64_t seq, const char *text)
{
    closed(window);
    document(window, text);
    row(window, seq);
}

static const char numbers[] = "{\"format\":\"numbers\",\"unit\":\"us\"}";

static void values_follow_those_that_are_stored(void **state)
{
    (void)state;
    begin(numbers, 2, 4);
    send(2, 2, "1\n2\n3\n");
    send(3, 3, "4\n");
    end("resend 2; 2:10 done 1000 2000 3000 in 1002; ack 3; 3:13 done 4000 in 1003; ack 4; done; ");
    assert_int_equal(world.warnings, 0);
}

/* It costs the window its values, and nobody else. */
static void a_document_that_is_wrong_has_no_values(void **state)
{
    (void)state;
    begin(numbers, 2, 4);
    send(2, 2, "one\n");
    send(3, 3, "4\n");
    end("resend 2; 2:10 failed in 1002; ack 3; 3:10 done 4000 in 1003; ack 4; done; ");
    assert_int_equal(world.warnings, 1);
}

static void a_form_that_is_not_known_has_no_values(void **state)
{
    (void)state;
    begin("{\"format\":\"of tomorrow\"}", 2, 3);
    send(2, 2, "1\n");
    qs_loop_run(world.loop);
    assert_true(world.warnings > 0);
    assert_null(strstr(world.log.data, "done 1"));
    qs_held_free(world.held);
    qs_loop_run(world.loop);
    qs_loop_free(world.loop);
    qs_buf_done(&world.log);
}

/* What was begun over the old link is dropped; the new one sends it from its beginning. */
static void a_loss_in_a_document_begins_it_anew(void **state)
{
    (void)state;
    begin(numbers, 2, 3);
    closed(2);
    document(2, "99");
    qs_held_reset(world.held);
    qs_held_add(world.held, &run, 2, 3);
    qs_held_start(world.held);
    send(2, 2, "5\n");
    end("resend 2; resend 2; 2:10 done 5000 in 1002; ack 3; done; ");
}

static void freed_while_it_is_read(void **state)
{
    (void)state;
    begin(numbers, 2, 4);
    send(2, 2, "5\n");
    send(3, 3, "6\n");
    qs_held_free(world.held);
    qs_loop_run(world.loop);
    assert_string_equal(world.log.data, "resend 2; ");
    qs_loop_free(world.loop);
    qs_buf_done(&world.log);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_follow_those_that_are_stored),
        cmocka_unit_test(a_document_that_is_wrong_has_no_values),
        cmocka_unit_test(a_form_that_is_not_known_has_no_values),
        cmocka_unit_test(a_loss_in_a_document_begins_it_anew),
        cmocka_unit_test(freed_while_it_is_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
