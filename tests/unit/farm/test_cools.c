/* Gates that wait for a simulated board to cool down, in virtual time. The board's own model is the truth:
 * its processors cool down with a time constant of 15 s (agent/sim/board/heat.c), and nothing tells the
 * daemon so. */
#include "bed.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "device/board/board.h"
#include "report/refits.h"
#include "store/read/shown.h"

#define TAU_S    15.0
#define WAITS    6
#define SENSOR   "thermal:bigcore0-thermal"
#define HEAT(at) ", {window: " at ", at: 10ms, do: heat 84}"

static struct bed *bed;
static struct waited { /* for the window of each gate */
    double cool_s, first_s, last_s;
} waits[64];
static size_t wait_count;
static char said[1 << 16], facts[1 << 16];

static double number_of(const char *json, const char *key)
{
    const char *at = strstr(json, key);
    return at && strncmp(at + strlen(key), "null", 4) != 0 ? strtod(at + strlen(key), NULL) : NAN;
}

static void on_event(const struct qs_farm_event *event, void *user)
{
    (void)user;
    if (strcmp(event->kind, "gate.waiting") == 0) {
        double at_s = number_of(event->body_json, "\"elapsed_ns\":") / 1e9;
        assert_in_range(wait_count, 0, 62);
        if (wait_count == 0 || at_s < waits[wait_count - 1].last_s)
            waits[wait_count++] =
                (struct waited){.cool_s = number_of(event->body_json, "\"cool_s\":"), .first_s = at_s};
        waits[wait_count - 1].last_s = at_s;
    } else if (strcmp(event->kind, "job.warning") == 0 || strcmp(event->kind, "job.state") == 0) {
        snprintf(said + strlen(said), sizeof said - strlen(said), "%s\n", event->body_json);
    }
}

static void on_idle(void *user)
{
    (void)user;
    qs_farm_stop(bed->farm, bed_on_stopped, bed);
}

static void on_submitted(const struct qs_err *err, int64_t id, void *user)
{
    (void)id;
    (void)user;
    assert_null(err);
}

static void live(int64_t start_s, const char *job)
{
    const struct qs_submission sub = {.text = job, .text_bytes = strlen(job), .name = "job"};
    said[0] = '\0';
    wait_count = 0;
    bed_begin(bed, start_s * INT64_C(1000000000), (uint64_t)start_s);
    assert_true(bed_submit(bed, &sub, NULL, on_submitted, NULL, NULL));
    qs_loop_run(bed->loop);
}

static void expect(const char *what)
{
    if (strstr(said, what) == NULL)
        fail_msg("no `%s` in: %.2500s", what, said);
}

static void take_facts(const struct qs_cooling_wait *w, void *user)
{
    (void)user;
    snprintf(facts, sizeof facts, "%s", w->facts_json);
}

static bool check_fit(struct qs_store_reader *r, void *user, struct qs_err *err)
{
    struct qs_refits refits;
    QS_BUF(fingerprint);
    (void)user;
    assert_true(qs_read_cooling_waits(r, "board", take_facts, NULL, err));
    qs_board_fingerprint(facts, &fingerprint);
    assert_true(qs_refits_read(r, "board", fingerprint.data, &refits, err));
    const struct qs_refit *refit = qs_refits_find(&refits, SENSOR);
    assert_non_null(refit);
    assert_int_equal(refit->waits, WAITS);
    assert_int_equal(refit->fit.says, QS_COOLING_FITS);
    print_message("# tau %.2f (%.2f to %.2f)\n", refit->fit.tau, refit->fit.tau_ci.lo, refit->fit.tau_ci.hi);
    assert_true(fabs(refit->fit.tau / TAU_S - 1) < 0.02);
    assert_true(refit->fit.tau_ci.lo < 1.02 * TAU_S && refit->fit.tau_ci.hi > 0.98 * TAU_S);
    qs_refits_done(&refits);
    assert_true(qs_refits_read(r, "board", "another system", &refits, err));
    assert_int_equal(refits.count, 0);
    return true;
}

#define JOB                                                                                                  \
    "quiesce: 1\nbenchmarks: [{name: work, argv: [sim, \"100000000\"]}]\n"                                   \
    "conditions: {gate: [{sensor: '" SENSOR                                                                  \
    "', below: 55C, timeout: 5min, on_timeout: fail}], bounds: none,"                                        \
    " repeat_tainted: 0}\n"                                                                                  \
    "plan: {blocks: 7, window: {iterations: 1}, warmup: {iterations: 0}, until: {interval: 0}}\n"

#define FARM(load)                                                                                           \
    "probe: never\ndevices: {board: {link: sim, sim_seed: 1, sim_board: " QS_TREES                           \
    "/rock5b-rk3588.tree.tsv, sim_events: [{do: load " load "}" HEAT("1") HEAT("2") HEAT("3") HEAT("4")      \
        HEAT("5") HEAT("6") "]}}\n"

static void begin(struct bed *b)
{
    bed = b;
    bed_init(b, FARM("5"));
    b->events = (struct qs_farm_events){.on_event = on_event, .on_idle = on_idle};
}

static void from_waits_alone(void **state)
{
    struct bed b;
    struct qs_err err = QS_ERR_INIT;
    (void)state;
    begin(&b);
    live(1000000, JOB);
    expect("\"state\":\"done\"");
    assert_int_equal(wait_count, WAITS);
    for (size_t i = 0; i < WAITS; i++) {
        double took_s = waits[i].last_s - waits[i].first_s;
        print_message("# wait %zu: told %.1f s, took %.1f s\n", i, waits[i].cool_s, took_s);
        assert_true(took_s > 8);
        if (i < QS_REFIT_LEAST)
            assert_true(isnan(waits[i].cool_s)); /* nobody knows yet */
        else                                     /* the last reading that is told is up to a second old */
            assert_true(waits[i].cool_s >= took_s - 0.1 && waits[i].cool_s <= took_s + 1.3);
    }
    if (!qs_store_read_now(b.store, check_fit, NULL, &err))
        fail_msg("%s", err.text);
    bed_end(&b);
    bed_done(&b);
}

/* Characterized at rest; then something keeps the board warmer. */
static void what_was_characterized(void **state)
{
    static const char measure[] = "quiesce: 1\ncharacterize: {rest: 5s, heat: 60s, cool: 200s, every: 1s}\n";
    struct bed b;
    (void)state;
    begin(&b);
    live(1000000, measure);
    expect("\"state\":\"done\"");
    bed_end(&b);
    live(2000000, JOB);
    assert_int_equal(wait_count, WAITS);
    assert_true(fabs(waits[0].cool_s - 12.6) < 0.1); /* by what was characterized */
    assert_null(strstr(said, "as it"));
    bed_end(&b);
    qs_farm_config_free(b.config);
    b.config = bed_farm_of(FARM("35"));
    live(3000000, JOB);
    expect("how " SENSOR
           " of board cools down, as it was measured, no longer holds since 1970-02-04: its last "
           "3 waits took 42.0 s, where 36.0 s were predicted; `quiesce characterize --again board` finds it");
    assert_int_equal(wait_count, WAITS);
    assert_true(waits[0].cool_s < 13 && waits[0].last_s - waits[0].first_s > 13.9);
    assert_true(waits[WAITS - 1].cool_s > 14 && waits[WAITS - 1].cool_s < 15); /* the waits have told */
    bed_end(&b);
    bed_done(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(from_waits_alone),
                                       cmocka_unit_test(what_was_characterized)};
    return cmocka_run_group_tests_name("farm cools", tests, NULL, NULL);
}
