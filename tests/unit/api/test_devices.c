/* What can be asked of a device. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "api/owner.h"
#include "base/loop.h"
#include "fixture.h"
#include "store/control.h"
#include "store/knob.h"

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
    "\"agent "                                                                                               \
    "1\",\"boot_id\":\"b-1\",\"labels\":[\"fast\"],\"held\":null,\"note\":null,\"tags\":{},\"cache\":{"      \
    "\"bytes\":7,\"most_bytes\":8,"                                                                          \
    "\"free_bytes\":9},\"clock_rtt_ns\":100,\"facts\":{\"os\":\"linux\"},\"why\":null,"
#define CHANGES                                                                                              \
    "{\"seq\":0,\"run\":null,\"kind\":\"set\",\"path\":\"cpu/"                                               \
    "max\",\"wanted\":\"18\",\"before\":\"24\",\"now\":"                                                     \
    "\"18\",\"outcome\":\"set\",\"error\":0,\"at_wall_ns\":40},"                                             \
    "{\"seq\":1,\"run\":\"07000000000000000000000000000000\",\"kind\":\"restore\",\"path\":\"cpu/max\","     \
    "\"wanted\":\"24\",\"before\":null,\"now\":null,\"outcome\":\"refused\",\"error\":13,\"at_wall_ns\":50}"

#define SESSION                                                                                              \
    "\"session\":{\"session\":\"62000000000000000000000000000000\",\"job\":1,\"name\":\"sleepers\",\"job_"   \
    "state\":"                                                                                               \
    "\"queued\",\"started_wall_ns\":20,\"ended_wall_ns\":null,\"reason\":null,\"runs\":1,\"windows\":0,"     \
    "\"tainted\":0,\"iterations\":0,\"taints\":[]},"

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
                   "],\"refits\":[],\"knobs\":null,\"session\":null,\"recent\":null,\"notice\":null}\n");
    begin_session(f, job);
    put_found_and_changed(f);
    says(f, FIELDS "\"fingerprint\":\"6.1 x\",\"probed_wall_ns\":9,\"board\":{\"version\":1},\"control\":"
                   "{\"session\":\"62000000000000000000000000000000\",\"job\":1,\"started_wall_ns\":20,"
                   "\"ended_wall_ns\":null,\"changes\":[" CHANGES
                   "]},\"models\":[],\"refits\":[],\"knobs\":null," SESSION
                   "\"recent\":null,\"notice\":null}\n");
    const uint8_t session[16] = {98};
    qs_store_session_end(f->store, session, 60, NULL, on_stored, f->loop);
    qs_loop_run(f->loop);
    struct answer a = get(f, "/api/v1/devices/local");
    assert_int_equal(json_integer_value(json_object_get(json_object_get(a.json, "control"), "ended_wall_ns")),
                     60);
    answer_done(&a);
    assert_error(get(f, "/api/v1/devices/bench"), 404, "not-found");
}

/* A window in each so many seconds, read before it and after it; the last one has a mark. */
static void store_windows(struct fixture *f, uint32_t count, int64_t each_s)
{
    const struct qs_clock_row pair = {
        .device = "local", .boot_uuid = "boot-2", .host_ns = 1, .rtt_ns = 1, .wall_ns = 1000000000000000};
    qs_store_clock_pair(f->store, &pair, NULL, NULL);
    for (uint32_t i = 0; i < count; i++) {
        const struct qs_evidence_row evidence = {
            .kind = "thermal:soc", .present = true, .before = 40000 + i, .after = 50000 + i};
        const struct qs_taint_row mark = {.i = -1, .code = "pin:p.max", .value = 1};
        const bool marked = i + 1 == count;
        const struct qs_window_row w = {.run_uid = {7},
                                        .ord = i,
                                        .phase = QS_PHASE_MEASURE,
                                        .how = "done",
                                        .opened_ns = i * each_s * INT64_C(1000000000),
                                        .closed_ns = i * each_s * INT64_C(1000000000) + 1000000000,
                                        .evals = 1,
                                        .evidence = &evidence,
                                        .evidence_count = 1,
                                        .taints = &mark,
                                        .taint_count = marked,
                                        .taint = marked ? 2 : 0};
        qs_store_window(f->store, &w, on_stored, f->loop);
        qs_loop_run(f->loop);
    }
}

static void check_member(const struct answer *a, const char *name, const char *want)
{
    char *text = json_dumps(json_object_get(a->json, name), JSON_COMPACT);
    assert_string_equal(text, want);
    free(text);
}

/* What is older than a quarter of an hour before the newest reading is left out. */
static void a_device_shows_what_it_did_last(void **state)
{
    struct fixture *f = *state;
    begin_session(f, submit(f));
    store_windows(f, 11, 100);
    struct answer a = get(f, "/api/v1/devices/local");
    check_member(
        &a, "recent",
        "{\"from_wall_ns\":1000101000000000,\"newest_wall_ns\":1001001000000000,\"sensors\":[{\"sensor\":"
        "\"thermal:soc\",\"points\":[[0,50001],[99000,40002],[100000,50002],[199000,40003],[200000,50003],"
        "[299000,40004],[300000,50004],[399000,40005],[400000,50005],[499000,40006],[500000,50006],"
        "[599000,40007],[600000,50007],[699000,40008],[700000,50008],[799000,40009],[800000,50009],"
        "[899000,40010],[900000,50010]]}]}");
    const json_t *session = json_object_get(a.json, "session");
    assert_int_equal(json_integer_value(json_object_get(session, "windows")), 11);
    assert_int_equal(json_integer_value(json_object_get(session, "tainted")), 1);
    char *taints = json_dumps(json_object_get(session, "taints"), JSON_COMPACT);
    assert_string_equal(taints, "[{\"code\":\"pin:p.max\",\"windows\":1}]");
    free(taints);
    answer_done(&a);
}

/* Of more than sixty every second one, and the newest. */
static void many_readings_are_thinned(void **state)
{
    struct fixture *f = *state;
    begin_session(f, submit(f));
    store_windows(f, 50, 10);
    struct answer a = get(f, "/api/v1/devices/local");
    const json_t *sensors = json_object_get(json_object_get(a.json, "recent"), "sensors");
    const json_t *points = json_object_get(json_array_get(sensors, 0), "points");
    assert_int_equal(json_array_size(points), 50);
    assert_int_equal(json_integer_value(json_array_get(json_array_get(points, 0), 1)), 50000);
    assert_int_equal(json_integer_value(json_array_get(json_array_get(points, 49), 1)), 50049);
    assert_int_equal(json_integer_value(json_array_get(json_array_get(points, 49), 0)), 900000);
    answer_done(&a);
}

static void store_board(struct fixture *f, const char *fingerprint)
{
    const struct qs_board_row board = {
        .device = "local",
        .fingerprint = fingerprint,
        .json =
            "{\"version\":1,\"profiles\":[\"generic\"],\"cpus\":null,\"online\":null,\"clusters\":[],"
            "\"domains\":[],\"sensors\":[{\"name\":\"thermal:soc\",\"type\":\"soc\",\"path\":\"t\",\"role\":"
            "\"cpu\",\"unit\":\"mC\",\"mul\":1,\"div\":1,\"lo\":-1,\"hi\":99000,\"bits\":false,\"watch\":"
            "\"never\",\"command\":null,\"mend\":null,\"said\":null,\"value\":5,\"status\":\"ok\",\"why\":"
            "null}],\"switches\":[],\"notes\":[]}",
        .probed_wall_ns = 86400000000000};
    qs_store_board(f->store, &board, on_stored, f->loop);
    qs_loop_run(f->loop);
}

/* Of the system that the device has now; what another one was says nothing. */
static void a_device_gives_a_starter_profile(void **state)
{
    struct fixture *f = *state;
    begin_session(f, submit(f));
    store_board(f, "6.1 x");
    struct answer a = get(f, "/api/v1/devices/local:profile");
    assert_int_equal(a.status, 200);
    assert_string_equal(a.body.data,
                        "{\"device\":\"local\",\"profile\":null,\"tried\":false,\"text\":null}\n");
    answer_done(&a);
    store_board(f, "unknown");
    const struct qs_knob_row knob = {
        .name = "soc", .kind = "cpu", .path = "p", .sticks = "slips", .effect = "no", .why = "5"};
    const struct qs_knob_rows knobs = {
        .device = "local", .fingerprint = "unknown", .job = 1, .rows = &knob, .count = 1};
    qs_store_knobs(f->store, &knobs, on_stored, f->loop);
    qs_loop_run(f->loop);
    a = get(f, "/api/v1/devices/local:profile");
    assert_int_equal(a.status, 200);
    assert_string_equal(text_at(&a, "profile"), "local");
    assert_true(json_is_true(json_object_get(a.json, "tried")));
    const char *text = text_at(&a, "text");
    assert_non_null(strstr(text, "\nprofile: \"local\"\nextends: \"generic\"\n"));
    assert_non_null(strstr(text, "found on it on 1970-01-02."));
    assert_non_null(strstr(text, "\n#   soc cannot be relied on (no effect): 5\n"));
    assert_non_null(strstr(text, "\n  - {role: cpu, unit: mC, types: [\"soc\"]}\n"));
    answer_done(&a);
    assert_error(get(f, "/api/v1/devices/bench:profile"), 404, "not-found");
}

static struct answer declare(struct fixture *f, const char *body)
{
    return fetch(f, "POST", "/api/v1/devices", NULL, body, strlen(body));
}

static void devices_of_a_kind_are_looked_for(void **state)
{
    static const char *const wrong[] = {"",
                                        "[]",
                                        "{",
                                        "{}",
                                        "{\"link\":1}",
                                        "{\"host\":\"board\"}",
                                        "{\"link\":\"adb\",\"link\":\"adb\"}",
                                        "{\"link\":\"adb\",\"more\":1}",
                                        "{\"link\":\"exec\"}",
                                        "{\"link\":\"pigeon\"}",
                                        "{\"link\":\"ssh\",\"host\":1}",
                                        "{\"link\":\"ssh\",\"host\":\"board\",\"argv\":[]}",
                                        "{\"link\":\"exec\",\"host\":\"board\"}"};
    struct fixture *f = *state;
    struct answer a = declare(f, "{\"link\":\"adb\"}");
    assert_int_equal(a.status, 200);
    assert_string_equal(a.body.data, "{\"link\":\"adb\",\"name\":null}\n");
    assert_int_equal(f->farm.looked_for, 1);
    answer_done(&a);
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        assert_error(declare(f, wrong[i]), 400, "usage");
    assert_int_equal(f->farm.looked_for, 2); /* exec is a kind that none can be looked for */
}

static struct answer say(struct fixture *f, const char *word, const char *body)
{
    QS_BUF(path);
    qs_buf_fmt(&path, "/api/v1/devices/%s", word);
    return fetch(f, "POST", path.data, NULL, body, strlen(body));
}

static void people_say_something_of_a_device(void **state)
{
    static const struct {
        const char *word, *body, *said; /* BY: who asks */
    } rows[] = {
        {"local:hold", "{\"text\":\"lunch\"}", "hold =lunch by BY for 0 s\n"},
        {"local:hold", "{}", "hold = by BY for 0 s\n"},
        {"local:hold", "", "hold = by BY for 0 s\n"},
        {"local:release", "", "hold =(back) by BY for 0 s\n"},
        {"local:release", "{}", "hold =(back) by BY for 0 s\n"},
        {"local:note", "{\"text\":\"cracked\"}", "note =cracked by BY for 0 s\n"},
        {"local:note", "{\"text\":\"\"}", "note =(back) by BY for 0 s\n"},
        {"local:tag", "{\"tags\":{\"rack\":\"3\",\"old\":null,\"x\":\"\"}}",
         "tag rack=3 by BY for 0 s\ntag old=(back) by BY for 0 s\ntag x= by BY for 0 s\n"},
    };
    static const char answer[] =
        "{\"device\":\"local\",\"held\":{\"text\":\"lunch\",\"by\":\"ann\",\"since_wall_ns\":5,\"until_wall_"
        "ns\":9},\"note\":{\"text\":\"cracked\",\"by\":\"bob\",\"at_wall_ns\":6},\"tags\":{\"rack\":\"3\","
        "\"rooted\":\"true\"}}\n";
    struct fixture *f = *state;
    char by[64];
    struct answer before = get(f, "/api/v1/devices");
    const json_t *one = json_array_get(json_object_get(before.json, "devices"), 0);
    assert_true(json_is_null(json_object_get(one, "held")));
    assert_true(json_is_null(json_object_get(one, "note")));
    assert_int_equal(json_object_size(json_object_get(one, "tags")), 0);
    answer_done(&before);
    assert_true(qs_owner_look_up(geteuid(), by));
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct answer a = say(f, rows[i].word, rows[i].body);
        QS_BUF(want);
        for (const char *c = rows[i].said; *c; c++) {
            bool is_by = strncmp(c, "BY", 2) == 0;
            qs_buf_fmt(&want, is_by ? "%s" : "%.1s", is_by ? by : c);
            c += is_by ? 1 : 0;
        }
        assert_int_equal(a.status, 200);
        assert_string_equal(f->farm.said, want.data);
        assert_string_equal(a.body.data, answer);
        answer_done(&a);
    }
    struct answer until = say(f, "local:hold", "{\"for_s\":7200}");
    long long end_s = 0;
    assert_int_equal(sscanf(strstr(f->farm.said, " for "), " for %lld s", &end_s), 1);
    assert_in_range(end_s, qs_loop_wall_ns(f->loop) / 1000000000 + 7100,
                    qs_loop_wall_ns(f->loop) / 1000000000 + 7200);
    answer_done(&until);
}

static void what_is_no_word_is_refused(void **state)
{
    static const struct {
        const char *word, *body;
        int status;
        const char *code;
    } rows[] = {
        {"local:hold", "{", 400, "usage"},
        {"local:hold", "[]", 400, "usage"},
        {"local:hold", "{\"text\":1}", 400, "usage"},
        {"local:hold", "{\"for_s\":0}", 400, "usage"},
        {"local:hold", "{\"for_s\":31622401}", 400, "usage"},
        {"local:hold", "{\"for_s\":1.5}", 400, "usage"},
        {"local:hold", "{\"for\":1}", 400, "usage"},
        {"local:release", "{\"text\":\"x\"}", 400, "usage"},
        {"local:note", "", 400, "usage"},
        {"local:note", "{\"text\":null}", 400, "usage"},
        {"local:note", "{\"text\":\"x\",\"by\":\"y\"}", 400, "usage"},
        {"local:tag", "", 400, "usage"},
        {"local:tag", "{\"tags\":{}}", 400, "usage"},
        {"local:tag", "{\"tags\":[\"a\"]}", 400, "usage"},
        {"local:tag", "{\"tags\":{\"a\":1}}", 400, "usage"},
        {"local:tag", "{\"tags\":{\"a\":\"1\"},\"by\":\"y\"}", 400, "usage"},
        {"bench:hold", "{}", 404, "not-found"},
    };
    struct fixture *f = *state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_error(say(f, rows[i].word, rows[i].body), rows[i].status, rows[i].code);
    QS_BUF(many);
    qs_buf_str(&many, "{\"tags\":{");
    for (int i = 0; i < 33; i++)
        qs_buf_fmt(&many, "%s\"k%d\":\"\"", i > 0 ? "," : "", i);
    qs_buf_str(&many, "}}");
    assert_error(say(f, "local:tag", many.data), 413, "limit");
    assert_string_equal(f->farm.said, "");
    f->farm.refuses_words = true;
    assert_error(say(f, "local:note", "{\"text\":\"x\"}"), 500, "store");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(devices_of_a_kind_are_looked_for, setup, teardown),
        cmocka_unit_test_setup_teardown(people_say_something_of_a_device, setup, teardown),
        cmocka_unit_test_setup_teardown(what_is_no_word_is_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(cleaning_reaches_the_farm, setup, teardown),
        cmocka_unit_test_setup_teardown(a_device_shows_what_was_found_and_changed, setup, teardown),
        cmocka_unit_test_setup_teardown(readings_come_from_the_device, setup, teardown),
        cmocka_unit_test_setup_teardown(a_device_gives_a_starter_profile, setup, teardown),
        cmocka_unit_test_setup_teardown(a_device_shows_what_it_did_last, setup, teardown),
        cmocka_unit_test_setup_teardown(many_readings_are_thinned, setup, teardown),
    };
    return cmocka_run_group_tests_name("devices", tests, NULL, NULL);
}
