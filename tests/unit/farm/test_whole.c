/* Whole jobs on simulated devices: each frame either way, each event, and each row that is stored, in virtual
 * time, as in the files of tests/golden/farm. What draws or hashes its value is left out. */
#include "bed.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <sqlite3.h>

#include "../config/golden.h"
#include "base/mem.h"
#include "farm/simulate.h"
#include "link/link_impl.h"
#include "proto/frame.h"
#include "proto/names.h"

#define START_NS (INT64_C(1577836800) * 1000000000)

enum { AT_TYPE = 3, AT_LEN = 4 };

static const char *golden_dir = ".";
static char dir[] = "/tmp/quiesce-test-XXXXXX";
static struct qs_buf wire;
static struct {
    const char *at;
    unsigned left; /* of these messages; 0: it broke, or never will */
} breaks;

bool __real_qs_link_send(struct qs_link *link, const uint8_t *bytes, size_t n, struct qs_err *err);
bool __wrap_qs_link_send(struct qs_link *link, const uint8_t *bytes, size_t n, struct qs_err *err);
void __real_qs_link_bytes(struct qs_link *link, const uint8_t *bytes, size_t n);
void __wrap_qs_link_bytes(struct qs_link *link, const uint8_t *bytes, size_t n);

/* The frames of one delivery: whole ones, because a simulated link cuts none. */
static void note(const struct qs_link *link, const char *way, const uint8_t *bytes, size_t n)
{
    int64_t us = (qs_loop_now_ns(link->loop) - START_NS) / 1000;
    while (n >= QS_FRAME_HEADER_BYTES) {
        uint32_t len = bytes[AT_LEN] | (uint32_t)bytes[AT_LEN + 1] << 8 | (uint32_t)bytes[AT_LEN + 2] << 16;
        qs_buf_fmt(&wire, "%lld us %s %s %s %u\n", (long long)us, link->name, way,
                   qs_msg_name(bytes[AT_TYPE]), len);
        size_t whole = QS_FRAME_HEADER_BYTES + len;
        assert_true(whole <= n);
        bytes += whole;
        n -= whole;
    }
    assert_int_equal(n, 0);
}

static bool breaks_now(struct qs_link *link, const uint8_t *bytes)
{
    struct qs_err why = QS_ERR_INIT;
    if (breaks.left == 0 || strcmp(qs_msg_name(bytes[AT_TYPE]), breaks.at) != 0 || --breaks.left > 0)
        return false;
    qs_fail(&why, QS_E_LINK, "broken pipe");
    qs_link_down_later(link, &why);
    return true;
}

bool __wrap_qs_link_send(struct qs_link *link, const uint8_t *bytes, size_t n, struct qs_err *err)
{
    note(link, "<", bytes, n);
    if (breaks_now(link, bytes))
        return qs_fail(err, QS_E_LINK, "broken pipe");
    return __real_qs_link_send(link, bytes, n, err);
}

void __wrap_qs_link_bytes(struct qs_link *link, const uint8_t *bytes, size_t n)
{
    note(link, ">", bytes, n);
    if (!breaks_now(link, bytes))
        __real_qs_link_bytes(link, bytes, n);
}

/* ---- what is stored ---- */

static bool is_drawn(const char *column)
{
    static const char *const names[] = {"software", "spec", "depends"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strcmp(column, names[i]) == 0)
            return true;
    }
    return false;
}

/* The text with nine decimals of each number: the last ones are the compiler's. */
static void add_rounded(const char *text, struct qs_buf *out)
{
    size_t decimals = 0;
    for (; *text; text++) {
        decimals = *text == '.' ? 1 : decimals > 0 && *text >= '0' && *text <= '9' ? decimals + 1 : 0;
        if (decimals <= 10)
            qs_buf_char(out, *text);
    }
}

static void dump_value(sqlite3_stmt *row, int c, struct qs_buf *out)
{
    const char *name = sqlite3_column_name(row, c);
    int type = sqlite3_column_type(row, c);
    if (type == SQLITE_NULL || is_drawn(name))
        return;
    qs_buf_fmt(out, " %s=", name);
    if (type == SQLITE_BLOB) {
        qs_buf_fmt(out, "(%d bytes)", sqlite3_column_bytes(row, c));
        return;
    }
    int64_t v = sqlite3_column_int64(row, c);
    if (type == SQLITE_INTEGER && v >= START_NS)
        qs_buf_fmt(out, "start+%lld", (long long)(v - START_NS));
    else
        add_rounded((const char *)sqlite3_column_text(row, c), out);
}

static void dump_table(sqlite3 *sqlite, const char *table, struct qs_buf *out)
{
    sqlite3_stmt *row;
    bool many = strcmp(table, "evidence") == 0 || strcmp(table, "iteration_rusage") == 0;
    char *sql = qs_asprintf("SELECT * FROM %s%s", table, many ? " WHERE window_id <= 2" : "");
    assert_int_equal(sqlite3_prepare_v2(sqlite, sql, -1, &row, NULL), SQLITE_OK);
    while (sqlite3_step(row) == SQLITE_ROW) {
        qs_buf_str(out, table);
        for (int c = 0; c < sqlite3_column_count(row); c++)
            dump_value(row, c, out);
        qs_buf_char(out, '\n');
    }
    sqlite3_finalize(row);
    free(sql);
}

static void dump_database(const char *db, struct qs_buf *out)
{
    sqlite3 *sqlite;
    sqlite3_stmt *name;
    assert_int_equal(sqlite3_open_v2(db, &sqlite, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(sqlite,
                                        "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT IN "
                                        "('env', 'farm') AND name NOT LIKE 'sqlite%' ORDER BY name",
                                        -1, &name, NULL),
                     SQLITE_OK);
    while (sqlite3_step(name) == SQLITE_ROW)
        dump_table(sqlite, (const char *)sqlite3_column_text(name, 0), out);
    sqlite3_finalize(name);
    sqlite3_close(sqlite);
}

#define ONE "devices: {board: {link: sim, sim_seed: 3, labels: {soc: one}}}\n"
#define TWO                                                                                                  \
    "devices:\n  left: {link: sim, sim_seed: 4, hub: desk}\n  right: {link: sim, sim_seed: 5, hub: desk}\n"
#define SHORT "plan: {seed: 1, blocks: {min: 2, max: 2}, window: {iterations: 2}}\n"
#define OPEN  "conditions: {gate: none}\n"

struct whole {
    const char *name, *farm, *job;
    const char *breaks_at; /* the message with which the link breaks; NULL: it does not */
    unsigned nth;          /* of these messages, from 1 */
};

static const struct whole wholes[] = {
    {"command", ONE,
     "name: words\n"
     "benchmarks:\n"
     "  - {name: work, argv: [sim, \"{ns}\"], params: {ns: [1000000, 30000000]}, prepare: [sim, \"20000\"],\n"
     "     conclude: [sim, \"10000\", exact], setup: [sim, \"4000000\"], cleanup: [sim, \"5000000\"]}\n"
     "arms: {a: {env: {A: x}}, b: {env: {A: y}, argv: [sim, \"{ns}\", bytes=9]}}\n"
     "plan: {seed: 5, blocks: {min: 2, max: 2}, warmup: {iterations: 2}, window: {iterations: 3}}\n"
     "conditions: {gate: [{sensor: \"thermal:sim\", below: 27C, timeout: 20s, on_timeout: taint}]}\n",
     NULL, 0},
    {"hang", ONE,
     "benchmarks: [{name: work, argv: [sim, \"1000000\"], limits: {iteration: 2s}}]\n"
     "arms: {good: {env: {A: x}}, slow: {argv: [sim, \"1000000\", hang]}}\n" SHORT OPEN,
     NULL, 0},
    {"exit", ONE,
     "benchmarks: [{name: work, argv: [sim, \"1000000\", bytes=30], output: capture}]\n"
     "arms: {good: {env: {A: x}}, bad: {argv: [sim, \"1000000\", exit=3, bytes=30]}}\n" SHORT OPEN,
     NULL, 0},
    {"exit_any", ONE,
     "benchmarks: [{name: work, argv: [sim, \"1000000\", bytes=30], output: capture, exit: any}]\n"
     "arms: {good: {env: {A: x}}, bad: {argv: [sim, \"1000000\", exit=3, bytes=30]}}\n" SHORT OPEN,
     NULL, 0},
    {"missing", ONE, "benchmarks: [{name: work, argv: [/missing/work]}]\n" SHORT OPEN, NULL, 0},
    {"setup_fails", ONE,
     "benchmarks: [{name: work, argv: [sim, \"1000000\"], setup: [sim, \"1000\", exit=4, bytes=20]}]\n" SHORT
         OPEN,
     NULL, 0},
    {"harness", ONE,
     "benchmarks: [{name: work, mode: harness, argv: [sim, \"200000\"], benchmark: w}]\n"
     "arms: {a: {env: {A: x}}, b: {argv: [sim, \"260000\"]}}\n" SHORT OPEN,
     NULL, 0},
    {"harness_exit", ONE,
     "benchmarks: [{name: work, mode: harness, argv: [sim, \"200000\", exit=3], benchmark: w}]\n" SHORT OPEN,
     NULL, 0},
    {"stream", ONE,
     "benchmarks: [{name: work, mode: stream, format: numbers, unit: ns, argv: [sim, \"1000000\", "
     "values=3]}]\n"
     "arms: {a: {env: {A: x}}, b: {argv: [sim, \"1000000\", values=5]}}\n"
     "plan: {seed: 1, blocks: {min: 2, max: 2}}\n" OPEN,
     NULL, 0},
    {"stream_units", ONE,
     "benchmarks: [{name: work, mode: stream, format: numbers, unit: MB, better: higher, argv: [sim, "
     "\"1000000\", values=4]}]\n"
     "plan: {seed: 1, blocks: {min: 2, max: 2}}\n" OPEN,
     NULL, 0},
    {"trace", ONE,
     "benchmarks: [{name: work, argv: [sim, \"1000000\"]}]\n"
     "plan: {seed: 1, blocks: {min: 4, max: 4}, window: {iterations: 2}}\n"
     "trace: {tool: command, argv: [sim, bytes=100, \"{output}\"], every: 2}\n" OPEN,
     NULL, 0},
    {"trace_missing", ONE,
     "benchmarks: [{name: work, argv: [sim, \"1000000\"]}]\n" SHORT
     "trace: {tool: command, argv: [none, \"{output}\"], required: true}\n" OPEN,
     NULL, 0},
    {"two", TWO,
     "benchmarks: [{name: work, argv: [sim, \"1000000\"]}]\n"
     "arms: {a: {env: {A: x}}, b: {argv: [sim, \"1100000\"]}}\n"
     "devices: {take: all}\n" SHORT OPEN,
     NULL, 0},
    {"stops", ONE,
     "benchmarks: [{name: work, argv: [sim, \"1000000\"]}]\n"
     "plan: {seed: 1, blocks: 2, window: {iterations: 4}, stop: {fixed: 6}}\n" OPEN,
     NULL, 0},
    {"slow", ONE, /* clocks are compared again, hearts beat between windows */
     "benchmarks: [{name: work, argv: [sim, \"4000000000\"], cleanup: [sim, \"15000000000\"]}]\n"
     "arms: {a: {env: {A: x}}, b: {argv: [sim, \"4100000000\"]}}\n" SHORT OPEN,
     NULL, 0},
    {"gate_late", ONE, /* what the first windows warm up keeps the gate shut */
     "benchmarks: [{name: work, argv: [sim, \"4000000000\"]}]\n" SHORT
     "conditions: {gate: [{sensor: \"thermal:sim\", below: 26C, timeout: 3s, on_timeout: taint}], "
     "repeat_tainted: 1}\n",
     NULL, 0},
    {"lost_window", ONE,
     "benchmarks: [{name: work, argv: [sim, \"1000000\"]}]\n"
     "arms: {a: {env: {A: x}}, b: {argv: [sim, \"1100000\"]}}\n" SHORT OPEN,
     "QUIET", 4},
    {"lost_ack", ONE,
     "benchmarks: [{name: work, argv: [sim, \"1000000\"]}]\n"
     "arms: {a: {env: {A: x}}, b: {argv: [sim, \"1100000\"]}}\n" SHORT OPEN,
     "ACK", 3},
    {"lost_stream", ONE,
     "benchmarks: [{name: work, mode: stream, format: numbers, unit: ns, argv: [sim, \"1000000\", "
     "values=3]}]\n"
     "plan: {seed: 1, blocks: {min: 2, max: 2}}\n" OPEN,
     "CLOSED", 3},
    {"lost_closed", ONE,
     "benchmarks: [{name: work, argv: [sim, \"1000000\"]}]\n"
     "arms: {a: {env: {A: x}}, b: {argv: [sim, \"1100000\"]}}\n" SHORT OPEN,
     "CLOSED", 3},
};

static void test_whole(void **state)
{
    const struct whole *w = *state;
    struct qs_err err = QS_ERR_INIT;
    struct qs_buf out;
    char *db = qs_asprintf("%s/%s.db", dir, w->name), *job = qs_asprintf("quiesce: 1\n%s", w->job);
    struct qs_farm_config *config = bed_farm_of(w->farm);
    const struct qs_simulation sim = {.config = config,
                                      .job_text = job,
                                      .job_bytes = strlen(job),
                                      .job_name = w->name,
                                      .db = db,
                                      .seed = 7};
    qs_buf_init(&out);
    qs_buf_clear(&wire);
    breaks.at = w->breaks_at;
    breaks.left = w->nth;
    if (!qs_simulate(&sim, &out, &err))
        fail_msg("%s", err.text);
    assert_int_equal(breaks.left, 0);
    qs_buf_add(&out, wire.data, wire.len);
    dump_database(db, &out);
    golden_same(golden_dir, w->name, &out);
    qs_farm_config_free(config);
    qs_buf_done(&out);
    free(db);
    free(job);
}

static int make_dir(void **state)
{
    (void)state;
    qs_buf_init(&wire);
    return mkdtemp(dir) ? 0 : -1;
}

static int remove_dir(void **state)
{
    (void)state;
    char *command = qs_asprintf("rm -r -- '%s'", dir);
    int status = system(command);
    free(command);
    qs_buf_done(&wire);
    return status;
}

int main(int argc, char **argv)
{
    enum { COUNT = sizeof wholes / sizeof *wholes };
    struct CMUnitTest tests[COUNT];
    for (size_t i = 0; i < COUNT; i++)
        tests[i] = (struct CMUnitTest){
            .name = wholes[i].name, .test_func = test_whole, .initial_state = (void *)(uintptr_t)&wholes[i]};
    if (argc > 1)
        golden_dir = argv[1];
    return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
