/* Events of jobs: found again, and what follows from one of them. */
#include "fixture.h"
#include "store/read/read.h"

#include <stdlib.h>
#include <string.h>

static bool read_events(struct qs_store_reader *r, void *user, struct qs_err *err)
{
    struct qs_event_list list;
    assert_true(qs_read_events(r, *(int64_t *)user, 0, 100, &list, err));
    assert_int_equal(list.count, 1);
    assert_string_equal(list.at[0].run, "01000000000000000000000000000000");
    assert_null(list.at[0].device);
    qs_events_free(&list);
    assert_true(qs_read_events(r, 0, 1, 1, &list, err));
    assert_int_equal(list.count, 1);
    assert_int_equal(list.at[0].id, 2);
    assert_null(list.at[0].run);
    assert_string_equal(list.at[0].device, "bench");
    qs_events_free(&list);
    return true;
}

static void events_are_found(void **state)
{
    struct fixture *f = *state;
    struct qs_err err = QS_ERR_INIT;
    uint8_t uid[16] = {1};
    struct qs_event_row a = {.wall_ns = 1, .kind = "x", .job = f->job, .run_uid = uid, .body_json = "{}"};
    struct qs_event_row b = {.wall_ns = 2, .kind = "y", .device = "bench", .body_json = "{}"};
    qs_store_event(f->store, &a, on_fine, NULL);
    qs_store_event(f->store, &b, on_fine, NULL);
    qs_loop_run(f->loop);
    assert_true(qs_store_read_now(f->store, read_events, &f->job, &err));
}

struct prepared {
    int64_t job;
    const char *device;
    bool was;
};

static bool read_prepared(struct qs_store_reader *r, void *user, struct qs_err *err)
{
    struct prepared *p = user;
    return qs_read_was_prepared(r, p->job, p->device, &p->was, err);
}

/* Of this job on this device, to its end; nothing else is it. */
static void what_was_prepared(void **state)
{
#define BODY(stage, outcome) "{\"stage\":\"" stage "\",\"outcome\":\"" outcome "\"}"
    static const struct {
        const char *kind, *device, *body;
        bool other_job, is;
    } rows[] = {{QS_EVENT_ACTIONS, "bench", BODY("before_session", "done"), false, false},
                {QS_EVENT_ACTIONS, "bench", BODY("before_job", "failed"), false, false},
                {"action.begin", "bench", BODY("before_job", "done"), false, false},
                {QS_EVENT_ACTIONS, "other", BODY("before_job", "done"), false, false},
                {QS_EVENT_ACTIONS, "bench", BODY("before_job", "done"), true, false},
                {QS_EVENT_ACTIONS, "bench", BODY("before_job", "done"), false, true}};
    struct fixture *f = *state;
    struct qs_err err = QS_ERR_INIT;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct prepared p = {.job = f->job, .device = "bench"};
        const struct qs_event_row row = {.wall_ns = 1,
                                         .kind = rows[i].kind,
                                         .device = rows[i].device,
                                         .job = rows[i].other_job ? 0 : f->job,
                                         .body_json = rows[i].body};
        qs_store_event(f->store, &row, on_fine, NULL);
        qs_loop_run(f->loop);
        assert_true(qs_store_read_now(f->store, read_prepared, &p, &err));
        assert_int_equal(p.was, rows[i].is);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {TEST(events_are_found), TEST(what_was_prepared)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
