/* What can be asked of a device. */
#include <stdio.h>
#include <stdlib.h>

#include "fixture.h"
#include "store/control.h"

static struct answer clean(struct fixture *f, const char *device)
{
    char target[96];
    snprintf(target, sizeof target, "/api/v1/devices/%s:clean", device);
    return fetch(f, "POST", target, NULL, "", 0);
}

static void cleaning_reaches_the_farm(void **state)
{
    struct fixture *f = *state;
    struct answer a = clean(f, "local");
    assert_int_equal(a.status, 200);
    assert_string_equal(text_at(&a, "device"), "local");
    assert_int_equal(json_integer_value(json_object_get(a.json, "freed_bytes")), 12345);
    answer_done(&a);
    assert_error(clean(f, "local"), 503, "link");
    assert_error(clean(f, "nobody"), 404, "not-found");
    assert_error(clean(f, ""), 400, "usage");
}

static void readings_come_from_the_device(void **state)
{
    struct answer a = fetch(*state, "GET", "/api/v1/devices/local:read", NULL, "", 0);
    assert_int_equal(a.status, 200);
    char *text = json_dumps(a.json, JSON_COMPACT);
    assert_string_equal(
        text,
        "{\"device\":\"local\",\"readings\":["
        "{\"sensor\":\"thermal:soc\",\"status\":\"ok\",\"gauge\":true,\"value\":46700,\"text\":\"46.7 "
        "\xc2\xb0"
        "C\"},"
        "{\"sensor\":\"freq:policy0\",\"status\":\"unreadable\",\"gauge\":true},"
        "{\"sensor\":\"cpu.steal_ticks\",\"status\":\"ok\",\"gauge\":false,\"value\":7,\"text\":\"7\"},"
        "{\"sensor\":\"of.tomorrow\",\"status\":\"ok\",\"gauge\":false,\"value\":-1,\"text\":\"-1\"}]}");
    free(text);
    answer_done(&a);
}

static void on_stored(const struct qs_err *err, int64_t id, void *user)
{
    (void)id;
    assert_null(err);
    qs_loop_stop(user);
}

/* The one device, and a session on it: {98}. */
static void begin_session(struct fixture *f, int64_t job)
{
    const struct qs_device_row device = {.name = "local", .serial = "S2", .port_path = ""};
    const struct qs_boot_row boot = {
        .device = "local", .boot_uuid = "boot-2", .fingerprint_json = "{}", .clock = "m", .seen_wall_ns = 5};
    const struct qs_session_row session = {.uid = {98},
                                           .job = job,
                                           .device = "local",
                                           .boot_uuid = "boot-2",
                                           .env_json = "{}",
                                           .started_wall_ns = 20};
    const struct qs_run_row run = {.uid = {7}, .session_uid = {98}, .job = job, .block = 1};
    qs_store_device(f->store, &device, NULL, NULL);
    qs_store_boot(f->store, &boot, NULL, NULL);
    qs_store_session_begin(f->store, &session, NULL, NULL);
    qs_store_run_begin(f->store, &run, on_stored, f->loop);
    qs_loop_run(f->loop);
}

static void put_found_and_changed(struct fixture *f)
{
    static const uint8_t session[16] = {98}, run[16] = {7};
    static const struct qs_control_row set = {.path = "cpu/max",
                                              .wanted = "18",
                                              .before = "24",
                                              .after = "18",
                                              .outcome = "set",
                                              .at_wall_ns = 40},
                                       back = {.restore = true,
                                               .path = "cpu/max",
                                               .wanted = "24",
                                               .outcome = "refused",
                                               .error = 13,
                                               .at_wall_ns = 50};
    const struct qs_board_row board = {
        .device = "local", .fingerprint = "6.1 x", .json = "{\"version\":1}", .probed_wall_ns = 9};
    struct qs_control_rows rows = {.session_uid = session, .rows = &set, .count = 1};
    qs_store_board(f->store, &board, NULL, NULL);
    qs_store_control(f->store, &rows, NULL, NULL);
    rows.run_uid = run;
    rows.rows = &back;
    qs_store_control(f->store, &rows, on_stored, f->loop);
    qs_loop_run(f->loop);
}

#define FIELDS                                                                                               \
    "{\"name\":\"local\",\"link\":\"unix\",\"state\":\"ready\",\"local\":true,\"simulated\":false,"          \
    "\"agent\":"                                                                                             \
    "\"agent 1\",\"boot_id\":\"b-1\",\"labels\":[\"fast\"],\"cache\":{\"bytes\":7,\"most_bytes\":8,"         \
    "\"free_bytes\":9},\"clock_rtt_ns\":100,\"facts\":{\"os\":\"linux\"},\"why\":null,"
#define CHANGES                                                                                              \
    "{\"seq\":0,\"run\":null,\"kind\":\"set\",\"path\":\"cpu/"                                               \
    "max\",\"wanted\":\"18\",\"before\":\"24\",\"now\":"                                                     \
    "\"18\",\"outcome\":\"set\",\"error\":0,\"at_wall_ns\":40},"                                             \
    "{\"seq\":1,\"run\":\"07000000000000000000000000000000\",\"kind\":\"restore\",\"path\":\"cpu/max\","     \
    "\"wanted\":\"24\",\"before\":null,\"now\":null,\"outcome\":\"refused\",\"error\":13,\"at_wall_ns\":50}"

static void says(struct fixture *f, const char *expected)
{
    struct answer a = get(f, "/api/v1/devices/local");
    assert_int_equal(a.status, 200);
    assert_string_equal(a.body.data, expected);
    answer_done(&a);
}

static void a_device_shows_what_was_found_and_changed(void **state)
{
    struct fixture *f = *state;
    int64_t job = submit(f);
    says(f, FIELDS "\"fingerprint\":null,\"probed_wall_ns\":null,\"board\":null,\"control\":null,\"models\":["
                   "],\"refits\":[],\"knobs\":null,\"notice\":null}\n");
    begin_session(f, job);
    put_found_and_changed(f);
    says(f, FIELDS "\"fingerprint\":\"6.1 x\",\"probed_wall_ns\":9,\"board\":{\"version\":1},\"control\":"
                   "{\"session\":\"62000000000000000000000000000000\",\"job\":1,\"started_wall_ns\":20,"
                   "\"ended_wall_ns\":null,\"changes\":[" CHANGES
                   "]},\"models\":[],\"refits\":[],\"knobs\":null,\"notice\":null}\n");
    const uint8_t session[16] = {98};
    qs_store_session_end(f->store, session, 60, NULL, on_stored, f->loop);
    qs_loop_run(f->loop);
    struct answer a = get(f, "/api/v1/devices/local");
    assert_int_equal(json_integer_value(json_object_get(json_object_get(a.json, "control"), "ended_wall_ns")),
                     60);
    answer_done(&a);
    assert_error(get(f, "/api/v1/devices/bench"), 404, "not-found");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(cleaning_reaches_the_farm, setup, teardown),
        cmocka_unit_test_setup_teardown(a_device_shows_what_was_found_and_changed, setup, teardown),
        cmocka_unit_test_setup_teardown(readings_come_from_the_device, setup, teardown),
    };
    return cmocka_run_group_tests_name("devices", tests, NULL, NULL);
}
