/* What of a device was found, and what a session changed and put back. */
#include "fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "store/control.h"

static const uint8_t first[16] = {99}, second[16] = {98}, third[16] = {97}, run[16] = {1};

static void put_board(struct fixture *f, const char *fingerprint, const char *json, int64_t probed_wall_ns)
{
    const struct qs_board_row row = {
        .device = "bench", .fingerprint = fingerprint, .json = json, .probed_wall_ns = probed_wall_ns};
    qs_store_board(f->store, &row, on_fine, NULL);
    qs_loop_run(f->loop);
}

static bool read_board(struct qs_store_reader *r, void *user, struct qs_err *err)
{
    return qs_read_board(r, "bench", user, err);
}

static void says_board(struct fixture *f, const char *fingerprint, const char *json, int64_t probed_wall_ns)
{
    struct qs_board_info board;
    struct qs_err err = QS_ERR_INIT;
    assert_true(qs_store_read_now(f->store, read_board, &board, &err));
    assert_string_equal(board.fingerprint, fingerprint);
    assert_string_equal(board.json, json);
    assert_int_equal(board.probed_wall_ns, probed_wall_ns);
    qs_board_info_free(&board);
    assert_null(board.json);
}

static bool nobody_has_another(struct qs_store_reader *r, void *user, struct qs_err *err)
{
    struct qs_board_info other;
    (void)user;
    assert_true(qs_read_board(r, "another", &other, err));
    assert_null(other.json);
    return true;
}

static void the_last_board_of_a_system_stands(void **state)
{
    struct fixture *f = *state;
    struct qs_board_info none;
    struct qs_err err = QS_ERR_INIT;
    assert_true(qs_store_read_now(f->store, read_board, &none, &err));
    assert_null(none.json);
    put_board(f, "6.1", "{\"a\":1}", 100);
    put_board(f, "6.6", "{\"b\":1}", 200);
    says_board(f, "6.6", "{\"b\":1}", 200);
    put_board(f, "6.1", "{\"a\":2}", 300);
    says_board(f, "6.1", "{\"a\":2}", 300);
    put_board(f, "6.6", "{\"b\":2}", 300); /* of one moment: the last that was stored */
    says_board(f, "6.6", "{\"b\":2}", 300);
    put_board(f, "6.6", "{\"b\":3}", 250);
    says_board(f, "6.1", "{\"a\":2}", 300); /* {"b":2} was replaced */
    assert_true(qs_store_read_now(f->store, nobody_has_another, NULL, &err));
}

static void begin_session(struct fixture *f, const uint8_t uid[16], int64_t at_ns)
{
    struct qs_session_row session = {
        .job = f->job, .device = "bench", .boot_uuid = "boot-1", .env_json = "{}", .started_wall_ns = at_ns};
    memcpy(session.uid, uid, sizeof session.uid);
    qs_store_session_begin(f->store, &session, on_fine, NULL);
    qs_loop_run(f->loop);
}

static void put(struct fixture *f, const uint8_t session[16], const uint8_t *of_run,
                const struct qs_control_row *rows, size_t count)
{
    const struct qs_control_rows request = {
        .session_uid = session, .run_uid = of_run, .rows = rows, .count = count};
    qs_store_control(f->store, &request, on_fine, NULL);
    qs_loop_run(f->loop);
}

static const char *or_none(const char *text)
{
    return text ? text : "-";
}

static void show(const struct qs_control_info *c, void *user)
{
    qs_buf_fmt(user, "%u %d %s %s %s %s %s %s %d %lld\n", c->seq, c->of_run ? c->run_uid[0] : -1,
               c->row.restore ? "restore" : "set", c->row.path, or_none(c->row.wanted),
               or_none(c->row.before), or_none(c->row.after), c->row.outcome, c->row.error,
               (long long)c->row.at_wall_ns);
}

struct asked {
    const uint8_t *session;
    struct qs_buf out;
};

static bool read_control(struct qs_store_reader *r, void *user, struct qs_err *err)
{
    struct asked *asked = user;
    return qs_read_control(r, asked->session, show, &asked->out, err);
}

static void says_control(struct fixture *f, const uint8_t session[16], const char *expected)
{
    struct asked asked = {.session = session};
    struct qs_err err = QS_ERR_INIT;
    qs_buf_init(&asked.out);
    assert_true(qs_store_read_now(f->store, read_control, &asked, &err));
    assert_string_equal(asked.out.data, expected);
    qs_buf_done(&asked.out);
}

static void changes_are_kept_in_order(void **state)
{
    static const struct qs_control_row set[] = {
        {.path = "cpu/max",
         .wanted = "1800000",
         .before = "2400000",
         .after = "1800000",
         .outcome = "set",
         .at_wall_ns = 40},
        {.path = "gpu/max", .wanted = "1", .outcome = "refused", .error = 13, .at_wall_ns = 41}};
    static const struct qs_control_row back = {.restore = true,
                                               .path = "cpu/max",
                                               .wanted = "2400000",
                                               .after = "2400000",
                                               .outcome = "set",
                                               .at_wall_ns = 50};
    struct fixture *f = *state;
    run_begin(f, 1, 0, 1, 0);
    says_control(f, first, "");
    put(f, first, NULL, set, 2);
    put(f, first, run, &back, 1);
    put(f, first, NULL, NULL, 0);
    begin_session(f, second, 60);
    put(f, second, NULL, &back, 1);
    says_control(f, first,
                 "0 -1 set cpu/max 1800000 2400000 1800000 set 0 40\n"
                 "1 -1 set gpu/max 1 - - refused 13 41\n"
                 "2 1 restore cpu/max 2400000 - 2400000 set 0 50\n");
    says_control(f, second, "0 -1 restore cpu/max 2400000 - 2400000 set 0 50\n");
}

struct last {
    const char *device;
    struct qs_control_session session;
    bool found;
};

static bool read_last(struct qs_store_reader *r, void *user, struct qs_err *err)
{
    struct last *last = user;
    return qs_read_control_session(r, last->device, &last->session, &last->found, err);
}

static struct last last_of(struct fixture *f, const char *device)
{
    struct last last = {.device = device, .found = true};
    struct qs_err err = QS_ERR_INIT;
    assert_true(qs_store_read_now(f->store, read_last, &last, &err));
    return last;
}

static void the_last_session_is_the_one_that_changed_something(void **state)
{
    static const struct qs_control_row row = {.path = "p", .outcome = "set"};
    struct fixture *f = *state;
    assert_false(last_of(f, "bench").found);
    put(f, first, NULL, &row, 1);
    begin_session(f, second, 60);
    put(f, second, NULL, &row, 1);
    begin_session(f, third, 70); /* changes nothing */
    struct last last = last_of(f, "bench");
    assert_true(last.found);
    assert_memory_equal(last.session.uid, second, 16);
    assert_int_equal(last.session.job, f->job);
    assert_int_equal(last.session.started_wall_ns, 60);
    assert_int_equal(last.session.ended_wall_ns, 0);
    qs_store_session_end(f->store, second, 65, NULL, on_fine, NULL);
    qs_loop_run(f->loop);
    assert_int_equal(last_of(f, "bench").session.ended_wall_ns, 65);
    assert_false(last_of(f, "another").found);
}

static void is_told(struct fixture *f, const struct told *told, const char *text)
{
    qs_loop_run(f->loop);
    assert_int_equal(told->count, 1);
    assert_int_equal(told->code, QS_E_NOT_FOUND);
    assert_string_equal(told->text, text);
}

/* All of them or none. */
static void what_nobody_knows_is_refused(void **state)
{
    static const struct qs_control_row rows[2] = {{.path = "p", .outcome = "set"}, {.path = "q"}};
    struct fixture *f = *state;
    struct told told[4] = {{0}};
    const struct qs_board_row board = {.device = "another", .fingerprint = "f", .json = "{}"};
    struct qs_control_rows request = {.session_uid = second, .rows = rows, .count = 1};
    qs_store_board(f->store, &board, on_told, &told[0]);
    is_told(f, &told[0], "no device \"another\" is stored");
    qs_store_control(f->store, &request, on_told, &told[1]);
    is_told(f, &told[1], "no session 62000000000000000000000000000000 is stored");
    request = (struct qs_control_rows){.session_uid = first, .run_uid = run, .rows = rows, .count = 1};
    qs_store_control(f->store, &request, on_told, &told[2]);
    is_told(f, &told[2], "no run 01000000000000000000000000000000 is stored");
    request = (struct qs_control_rows){.session_uid = first, .rows = rows, .count = 2};
    qs_store_control(f->store, &request, on_told, &told[3]); /* the second has no outcome */
    qs_loop_run(f->loop);
    assert_int_equal(told[3].code, QS_E_CONFLICT);
    says_control(f, first, "");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(the_last_board_of_a_system_stands),
        TEST(changes_are_kept_in_order),
        TEST(the_last_session_is_the_one_that_changed_something),
        TEST(what_nobody_knows_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
