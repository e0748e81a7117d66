/* What the device has: files that are found, page by page, and sensors of the host's making. */
#include "cases.h"
#include "peer_files.h"
#include "script.h"

#include <stdio.h>
#include <string.h>

#include "proto/names.h"

static const struct script_options plain = {.no_pull = false};

#define ASK(s, symbol, shape, ...)                                                                           \
    do {                                                                                                     \
        size_t at = peer_begin(&(s)->peer);                                                                  \
        assert_true(qs_msg_encode_##shape(&(s)->peer.w, &(struct qs_msg_##shape){__VA_ARGS__}));             \
        peer_end(&(s)->peer, at, QS_MSG_##symbol);                                                           \
    } while (0)

static void ask_bind(struct script *s, uint32_t id, const char *const *names, size_t n)
{
    uint8_t memory[512];
    struct qs_build list;
    qs_build_init(&list, memory, sizeof memory);
    for (size_t i = 0; i < n; i++) {
        const struct qs_binding b = {
            .name = qs_text_of(names[i]), .path = qs_text_of("a/temp"), .mul = 1000, .div = 1};
        qs_build_binding(&list, &b);
    }
    ASK(s, BIND, bind, .id = id, .sensors = qs_build_list(&list));
}

static void take_page(struct script *s, uint32_t id, struct qs_msg_surveyed *m)
{
    const struct letter *l = script_expect(s, QS_MSG_SURVEYED);
    assert_int_equal(qs_msg_decode_surveyed(l->payload, l->n, m), 0);
    assert_int_equal(m->id, id);
}

/* The script's port has so many files, "f/0000" to "f/....", whose values have value_bytes each. */
static void tells_what_it_finds(void **state)
{
    struct script *s = script_new(&plain);
    struct qs_msg_surveyed m;
    struct qs_found f;
    (void)state;
    script_connect(s);
    s->survey.files = 2;
    s->survey.value_bytes = 3;
    s->survey.error_at = 1;
    ASK(s, SURVEY, survey, .id = 7, .pattern = qs_text_of("f/*"));
    take_page(s, 7, &m);
    assert_string_equal(s->survey.pattern, "f/*");
    assert_false(m.more);
    assert_int_equal(m.files.count, 2);
    struct qs_iter it = qs_list_iter(&m.files);
    assert_true(qs_list_found(&it, &f));
    assert_true(qs_text_is(f.path, "f/0000"));
    assert_int_equal(f.access, QS_FILE_READABLE);
    assert_int_equal(f.error, 0);
    assert_int_equal(f.value.n, 3);
    assert_memory_equal(f.value.p, "vvv", 3);
    assert_true(qs_list_found(&it, &f));
    assert_true(qs_text_is(f.path, "f/0001"));
    assert_int_equal(f.error, 13);
    assert_int_equal(f.value.n, 0);
    script_expect_state(s, QS_STATE_READY);
    s->survey.files = 0;
    ASK(s, SURVEY, survey, .id = 8, .pattern = qs_text_of("none"));
    take_page(s, 8, &m);
    assert_int_equal(m.files.count, 0);
    assert_false(m.more);
    script_free(s);
}

/* Whatever bounds a page, its number of files or its bytes: asked again, each file comes once. */
static void tells_it_page_by_page(void **state)
{
    static const struct {
        size_t files, value_bytes, first_page;
    } cases[] = {{600, 1, QS_FOUND_MAX},
                 {40, QS_FOUND_MAX_BYTES, QS_CONTROL_MAX_BYTES / (15 + QS_FOUND_MAX_BYTES)}};
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct script *s = script_new(&plain);
        struct qs_msg_surveyed m = {.more = true};
        struct qs_found f = {.path = qs_text_of("")};
        char after[16] = "";
        size_t seen = 0;
        script_connect(s);
        s->survey.files = cases[i].files;
        s->survey.value_bytes = cases[i].value_bytes;
        s->survey.error_at = SIZE_MAX;
        while (m.more) {
            ASK(s, SURVEY, survey, .id = 1, .pattern = qs_text_of("f/*"), .after = qs_text_of(after));
            take_page(s, 1, &m);
            assert_true(seen > 0 || m.files.count == cases[i].first_page);
            struct qs_iter it = qs_list_iter(&m.files);
            while (qs_list_found(&it, &f)) {
                char path[16];
                snprintf(path, sizeof path, "f/%04zu", seen++);
                assert_true(qs_text_is(f.path, path));
                qs_text_copy(f.path, after, sizeof after);
            }
        }
        assert_int_equal(seen, cases[i].files);
        script_free(s);
    }
}

static void makes_sensors_of_files(void **state)
{
    const char *const names[] = {"thermal:soc", "nowhere"};
    struct script *s = script_new(&plain);
    struct qs_msg_readings m;
    struct qs_reading r;
    (void)state;
    script_connect(s);
    script_sensor(s, 0, "thermal:soc", QS_READING_OK, 41000);
    ask_bind(s, 3, names, 2);
    const struct letter *l = script_expect(s, QS_MSG_BOUND);
    assert_int_equal(qs_msg_decode_readings(l->payload, l->n, &m), 0);
    assert_int_equal(m.id, 3);
    assert_int_equal(m.readings.count, 2);
    struct qs_iter it = qs_list_iter(&m.readings);
    assert_true(qs_list_reading(&it, &r));
    assert_true(qs_text_is(r.sensor, "thermal:soc"));
    assert_int_equal(r.value, 41000);
    assert_true(qs_list_reading(&it, &r));
    assert_int_equal(r.status, QS_READING_MISSING);
    assert_int_equal(s->survey.bound, 2);
    assert_string_equal(s->survey.last_bound, "nowhere");
    ask_bind(s, 4, names, 1); /* instead of those of before */
    script_expect(s, QS_MSG_BOUND);
    assert_int_equal(s->survey.bound, 1);
    script_free(s);
}

/* A command's first reading is waited for, but not for ever. */
static void waits_for_what_is_on_its_way(void **state)
{
    const char *const names[] = {"thermal:soc"};
    struct script *s = script_new(&plain);
    struct qs_msg_readings m;
    struct qs_reading r;
    (void)state;
    script_connect(s);
    for (int ends = 0; ends < 2; ends++) {
        script_sensor(s, 0, "thermal:soc", QS_READING_STALE, 0);
        s->sensors[0].reading.pending = true;
        ask_bind(s, 3, names, 1);
        for (int i = 0; i < (ends ? 1 : 299); i++) {
            script_pass(s, 100 * MS);
            peer_ping(&s->peer, 5);
            script_expect(s, QS_MSG_PONG);
        }
        script_expect_work(s, QS_STATE_READY, QS_MSG_BIND);
        if (ends)
            script_sensor(s, 0, "thermal:soc", QS_READING_OK, 41000);
        script_pass(s, 120 * MS);
        const struct letter *l = script_expect(s, QS_MSG_BOUND);
        assert_int_equal(qs_msg_decode_readings(l->payload, l->n, &m), 0);
        struct qs_iter it = qs_list_iter(&m.readings);
        assert_true(qs_list_reading(&it, &r));
        assert_int_equal(r.status, ends ? QS_READING_OK : QS_READING_STALE);
        assert_int_equal(r.value, ends ? 41000 : 0);
        script_expect_state(s, QS_STATE_READY);
    }
    script_free(s);
}

/* Another host's sensors are not the next one's. */
static void forgets_them_with_the_session(void **state)
{
    const char *const names[] = {"thermal:soc"};
    struct script *s = script_new(&plain);
    (void)state;
    script_connect(s);
    ask_bind(s, 3, names, 1);
    script_expect(s, QS_MSG_BOUND);
    assert_int_equal(s->survey.bound, 1);
    script_unplug(s);
    script_connect(s);
    assert_int_equal(s->survey.bound, 0);
    script_free(s);
}

static void refuses_what_is_not_agreed(void **state)
{
    const char *const names[] = {"thermal:soc"};
    uint8_t memory[64];
    struct qs_build list;
    const struct qs_tune t = {.path = qs_text_of("a"), .value = qs_text_of("1")};
    (void)state;
    qs_build_init(&list, memory, sizeof memory);
    qs_build_tune(&list, &t);
    for (int i = 0; i < 4; i++) {
        struct script *s = script_new(&(struct script_options){.no_survey = true, .no_control = true});
        script_connect(s);
        assert_int_equal(s->peer.agent.features & (QS_FEATURE_SURVEY | QS_FEATURE_CONTROL), 0);
        if (i == 0) {
            ASK(s, SURVEY, survey, .id = 1, .pattern = qs_text_of("f/*"));
        } else if (i == 1) {
            ask_bind(s, 1, names, 1);
        } else if (i == 2) {
            ASK(s, TUNE, tune, .id = 1, .lease_ms = QS_LEASE_MIN_MS, .writes = qs_build_list(&list));
        } else {
            ASK(s, RESTORE, restore, .id = 1);
        }
        script_expect_fatal(s);
        script_free(s);
    }
}

/* What takes two looks, then what evidence has, as it is before a window. */
static void reads_its_sensors_on_request(void **state)
{
    static const struct {
        const char *sensor;
        uint8_t status;
        int64_t value;
    } all[] = {{QS_SENSOR_CPU_BUSY, QS_READING_OK, 31250},
               {"cpu.steal_ticks", QS_READING_OK, 7},
               {"throttle", QS_READING_MISSING, 0},
               {"another", QS_READING_OK, 46700}};
    struct script *s = script_new(&plain);
    struct qs_msg_readings m;
    struct qs_reading got;
    (void)state;
    script_connect(s);
    assert_int_not_equal(s->peer.agent.features & QS_FEATURE_READ, 0);
    s->evidence_ticks = 7;
    s->third_value = 46700;
    script_sensor(s, 0, QS_SENSOR_CPU_BUSY, QS_READING_STALE, 0);
    peer_read(&s->peer, 15);
    script_expect_work(s, QS_STATE_READY, QS_MSG_READ);
    script_expect_nothing(s); /* one look is not enough */
    script_sensor(s, 0, QS_SENSOR_CPU_BUSY, QS_READING_OK, 31250);
    script_pass(s, 200 * MS);
    letter_readings(script_expect(s, QS_MSG_READINGS), 15, &m);
    assert_int_equal(m.readings.count, 4);
    struct qs_iter it = qs_list_iter(&m.readings);
    for (size_t i = 0; i < 4; i++) {
        assert_true(qs_list_reading(&it, &got));
        assert_int_equal(got.sensor.n, strlen(all[i].sensor));
        assert_memory_equal(got.sensor.p, all[i].sensor, got.sensor.n);
        assert_int_equal(got.status, all[i].status);
        assert_int_equal(got.value, all[i].value);
    }
    script_free(s);
}

/* Where that was agreed; an older host never asks. */
static void reads_them_between_windows(void **state)
{
    struct qs_msg_readings m;
    (void)state;
    for (int amid = 0; amid < 2; amid++) {
        struct script *s = script_new(&plain);
        s->peer.features = amid ? UINT32_MAX : ~(uint32_t)QS_FEATURE_AMID;
        script_connect(s);
        script_run(s, &(struct run_spec){.capture = false});
        script_sensor(s, 0, QS_SENSOR_CPU_BUSY, QS_READING_OK, 31250);
        peer_read(&s->peer, 16);
        if (amid) {
            script_expect_work(s, QS_STATE_RUN_OPEN, QS_MSG_READ);
            script_pass(s, 200 * MS);
            letter_readings(script_expect(s, QS_MSG_READINGS), 16, &m);
            script_expect_state(s, QS_STATE_RUN_OPEN);
        } else {
            script_expect_fatal(s);
        }
        script_free(s);
    }
}

const struct CMUnitTest cases_control[] = {
    cmocka_unit_test(tells_what_it_finds),           cmocka_unit_test(tells_it_page_by_page),
    cmocka_unit_test(makes_sensors_of_files),        cmocka_unit_test(waits_for_what_is_on_its_way),
    cmocka_unit_test(forgets_them_with_the_session), cmocka_unit_test(refuses_what_is_not_agreed),
    cmocka_unit_test(reads_its_sensors_on_request),  cmocka_unit_test(reads_them_between_windows),
};
const size_t cases_control_count = sizeof cases_control / sizeof cases_control[0];
