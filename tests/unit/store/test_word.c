/* What people have said of devices: it is replaced, taken back, and told with its event in one commit. */
#include "fixture.h"

#include "base/buf.h"
#include "store/word.h"

static const struct qs_word hold = {.device = "bench",
                                    .kind = QS_WORD_HOLD,
                                    .key = "",
                                    .value = "battery",
                                    .by = "ann",
                                    .at_wall_ns = 100,
                                    .until_wall_ns = 900};
static const struct qs_word note = {
    .device = "bench", .kind = QS_WORD_NOTE, .key = "", .value = "cracked", .by = "bob", .at_wall_ns = 200};
static const struct qs_word rack = {
    .device = "bench", .kind = QS_WORD_TAG, .key = "rack", .value = "3", .by = "bob", .at_wall_ns = 300};
static const struct qs_word other = {
    .device = "absent", .kind = QS_WORD_TAG, .key = "rack", .value = "", .by = "bob", .at_wall_ns = 400};

static int64_t put(struct fixture *f, const struct qs_word *words, size_t count, const char *kind)
{
    struct told told = {.code = QS_E_INTERNAL};
    const struct qs_event_row event = {
        .wall_ns = 7, .kind = kind, .device = words[0].device, .body_json = "{\"by\":\"x\"}"};
    qs_store_words(f->store, words, count, &event, on_told, &told);
    qs_loop_run(f->loop);
    assert_int_equal(told.code, QS_E_NONE);
    return told.id;
}

static void show(const struct qs_word *w, void *user)
{
    qs_buf_fmt(user, "%s %s '%s' '%s' %s %lld %lld\n", w->device, qs_word_kind_name(w->kind), w->key,
               w->value, w->by, (long long)w->at_wall_ns, (long long)w->until_wall_ns);
}

static bool read_words(struct qs_store_reader *r, void *user, struct qs_err *err)
{
    return qs_read_words(r, show, user, err);
}

static void says(struct fixture *f, const char *expected)
{
    struct qs_err err = QS_ERR_INIT;
    QS_BUF(out);
    assert_true(qs_store_read_now(f->store, read_words, &out, &err));
    assert_string_equal(out.len > 0 ? out.data : "", expected);
}

static bool last_event(struct qs_store_reader *r, void *user, struct qs_err *err)
{
    return qs_read_events(r, 0, 0, 1000, user, err);
}

static void they_stand_until_they_are_replaced_or_taken_back(void **state)
{
    struct fixture *f = *state;
    says(f, "");
    const struct qs_word all[] = {rack, note, hold};
    put(f, all, 3, "device.tags");
    put(f, &other, 1, "device.tags");
    says(f, "absent tag 'rack' '' bob 400 0\n"
            "bench hold '' 'battery' ann 100 900\n"
            "bench note '' 'cracked' bob 200 0\n"
            "bench tag 'rack' '3' bob 300 0\n");
    struct qs_word longer = hold, gone = note;
    longer.value = "both batteries";
    longer.until_wall_ns = 0;
    gone.value = NULL;
    put(f, &longer, 1, "device.hold");
    put(f, &gone, 1, "device.note");
    says(f, "absent tag 'rack' '' bob 400 0\n"
            "bench hold '' 'both batteries' ann 100 0\n"
            "bench tag 'rack' '3' bob 300 0\n");
}

static void each_comes_with_its_event(void **state)
{
    struct fixture *f = *state;
    struct qs_err err = QS_ERR_INIT;
    struct qs_event_list events = {.count = 0};
    int64_t id = put(f, &hold, 1, "device.hold");
    assert_true(qs_store_read_now(f->store, last_event, &events, &err));
    assert_true(events.count > 0);
    const struct qs_event_info *last = &events.at[events.count - 1];
    assert_int_equal(last->id, id);
    assert_int_equal(last->wall_ns, 7);
    assert_string_equal(last->kind, "device.hold");
    assert_string_equal(last->device, "bench");
    assert_string_equal(last->body_json, "{\"by\":\"x\"}");
    qs_events_free(&events);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(they_stand_until_they_are_replaced_or_taken_back, fixture_setup,
                                        fixture_teardown),
        cmocka_unit_test_setup_teardown(each_comes_with_its_event, fixture_setup, fixture_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
