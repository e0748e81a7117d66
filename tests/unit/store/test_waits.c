/* What gates waited for, with what was read meanwhile: of each window, and of a job's longest waits. */
#include "fixture.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "report/shown.h"
#include "store/read/shown.h"

static void put(struct fixture *f, uint8_t run, uint32_t ord, int64_t waited_ns, const char *trace)
{
    const struct qs_reading_row readings[] = {{.sensor = "thermal:cpu", .value = 44000},
                                              {.sensor = "cpu.busy_ratio_ppm", .value = 50000},
                                              {.sensor = "load1_milli", .value = 10}};
    const struct qs_gate_row gate = {.began_ns = 10,
                                     .decided_ns = 10 + waited_ns,
                                     .outcome = "open",
                                     .deciding = readings,
                                     .deciding_count = 3,
                                     .busiest = run == 1 ? "cc1[12]" : NULL,
                                     .trace = trace};
    struct qs_iteration_row rows[2];
    struct qs_window_row w = make_window(run, ord, 2 * ord, 2, rows);
    w.gate = &gate;
    assert_int_equal(put_window(f, &w), QS_E_NONE);
}

static void check(char *json, const char *want)
{
    for (char *c = json; *c; c++)
        *c = *c == '"' ? '\'' : *c;
    assert_string_equal(json, want);
    free(json);
}

static bool read_waits(struct qs_store_reader *r, void *user, struct qs_err *err)
{
    char *json;
    assert_true(qs_shown_waits(r, *(int64_t *)user, 2, &json, err));
    check(json,
          "{'longest':["
          "{'run':'02000000000000000000000000000000','arm_name':'b','device':'bench','block':1,'window':0,"
          "'outcome':'open','waited_ns':900,'busiest':null,'sensors':["
          "{'sensor':'cpu.busy_ratio_ppm','from':'90.0 %','to':'90.0 %','trace':[[3000,900000]]},"
          "{'sensor':'thermal:cpu','from':'70.0 \u00b0C','to':'46.5 \u00b0C',"
          "'trace':[[0,70000],[1000,50000],[2000,46500]]}]},"
          "{'run':'01000000000000000000000000000000','arm_name':'a','device':'bench','block':1,'window':0,"
          "'outcome':'open','waited_ns':50,'busiest':'cc1[12]','sensors':["
          "{'sensor':'thermal:cpu','from':'-0.5 \u00b0C','to':'-0.5 \u00b0C','trace':[[7,-500]]}]}],"
          "'gates':3,'waited_ns':990}");
    assert_true(qs_shown_waits(r, *(int64_t *)user + 1, 2, &json, err));
    assert_null(json);
    return true;
}

static bool read_windows(struct qs_store_reader *r, void *user, struct qs_err *err)
{
    char *json;
    (void)user;
    assert_true(qs_shown_windows(r, (const uint8_t[16]){2}, &json, err));
    assert_non_null(
        strstr(json, "\"value\":44000,\"age_ns\":0,\"trace\":[[0,70000],[1000,50000],[2000,46500]]}"));
    assert_non_null(strstr(json, "\"value\":50000,\"age_ns\":0,\"trace\":[[3000,900000]]}"));
    assert_non_null(strstr(json, "\"value\":10,\"age_ns\":0}"));
    free(json);
    return true;
}

static void the_longest_waits_come_with_their_readings(void **state)
{
    struct fixture *f = *state;
    struct qs_err err = QS_ERR_INIT;
    run_begin(f, 1, 0, 1, 0);
    run_begin(f, 2, 1, 1, 1);
    put(f, 1, 0, 50, "[[7,0,-500]]");
    put(f, 1, 1, 40, "[[0,2,1500]]");
    put(f, 1, 2, 5000, NULL); /* it read nothing */
    put(f, 2, 0, 900, "[[0,0,70000],[1000,0,50000],[2000,0,46500],[3000,1,900000]]");
    if (!qs_store_read_now(f->store, read_waits, &f->job, &err) ||
        !qs_store_read_now(f->store, read_windows, NULL, &err))
        fail_msg("%s", err.text);
}

static void show(const struct qs_cooling_wait *w, void *user)
{
    qs_buf_fmt(user, "%s %s %s %lld\n", w->sensor, w->trace, w->facts_json, (long long)w->wall_ns);
}

static bool read_cooling(struct qs_store_reader *r, void *user, struct qs_err *err)
{
    QS_BUF(out);
    (void)user;
    assert_true(qs_read_cooling_waits(r, "bench", show, &out, err));
    assert_string_equal(out.data, "thermal:cpu [[5,60000],[6,59000]] {\"cpu\":\"x\"} 30\n"
                                  "thermal:cpu [[7,70000]] {\"cpu\":\"x\"} 30\n");
    qs_buf_clear(&out);
    assert_true(qs_read_cooling_waits(r, "another", show, &out, err));
    assert_int_equal(out.len, 0);
    return true;
}

/* The newest first, and temperatures alone. */
static void waits_to_cool_down_are_found(void **state)
{
    struct fixture *f = *state;
    struct qs_err err = QS_ERR_INIT;
    run_begin(f, 1, 0, 1, 0);
    put(f, 1, 0, 50, "[[7,0,70000]]");
    put(f, 1, 1, 40, "[[0,2,1500]]");
    put(f, 1, 2, 5000, NULL);
    put(f, 1, 3, 60, "[[5,0,60000],[5,1,3],[6,0,59000]]");
    if (!qs_store_read_now(f->store, read_cooling, NULL, &err))
        fail_msg("%s", err.text);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {TEST(the_longest_waits_come_with_their_readings),
                                       TEST(waits_to_cool_down_are_found)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
