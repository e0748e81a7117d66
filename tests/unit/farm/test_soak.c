/* What a device sustains is found on simulated boards, in virtual time, and a job is held at it. The model's
 * trip points decide: which frequency they leave alone follows from its heat (agent/sim/board/heat.c). */
#include "bed.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

enum { TEXT_BYTES = 1 << 18 };

static struct bed *bed;
static char said[TEXT_BYTES]; /* every event of this life */

static void on_event(const struct qs_farm_event *event, void *user)
{
    (void)user;
    size_t n = strlen(said);
    snprintf(said + n, sizeof said - n, "%s %s\n", event->kind, event->body_json);
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

/* One life of the daemon with one job; it is stopped after so long, or (0) when the job is over. */
static void live(int64_t start_s, const char *job, int64_t for_s)
{
    const struct qs_submission sub = {.text = job, .text_bytes = strlen(job), .name = "job"};
    said[0] = '\0';
    bed_begin(bed, start_s * INT64_C(1000000000), (uint64_t)start_s);
    if (job[0] != '\0')
        assert_true(bed_submit(bed, &sub, NULL, on_submitted, NULL, NULL));
    struct qs_timer *timer =
        for_s > 0 ? qs_timer_start(bed->loop, for_s * INT64_C(1000000000), on_idle, NULL) : NULL;
    qs_loop_run(bed->loop);
    (void)timer; /* it has fired */
    bed_end(bed);
}

#define SOAK "quiesce: 1\ncharacterize: {rest: 2s, heat: 20s, cool: 200s, every: 1s, soak: 3min}\n"
#define JOB                                                                                                  \
    "quiesce: 1\nbenchmarks: [{name: work, argv: [sim, \"100000000\"]}]\n"                                   \
    "conditions: {frequency: sustained, gate: none, bounds: none}\n"                                         \
    "plan: {blocks: 1, window: {iterations: 1}, warmup: {iterations: 0}}\n"

static void begin(struct bed *b, const char *tree)
{
    QS_FREED char *farm = qs_asprintf(
        "probe: never\ndevices: {board: {link: sim, sim_seed: 1, sim_board: %s/%s.tree.tsv, sim_events: "
        "[{do: load 5}]}}\n",
        QS_TREES, tree);
    bed = b;
    bed_init(b, farm);
    b->events = (struct qs_farm_events){.on_event = on_event, .on_idle = on_idle};
}

static void expect(const char *what)
{
    if (strstr(said, what) == NULL)
        fail_msg("no `%s` in: %.2500s", what, said);
}

static void found_and_held(void **state)
{
    static const struct {
        const char *tree, *fails, *found, *held;
    } rows[] = {
        {"rock5b-rk3588", "2400 MHz was throttled", "\"says\":\"ok\",\"khz\":2208000", "policy4: 2208 MHz"},
        {"odroid-xu3", "1800 MHz was throttled", "\"says\":\"ok\",\"khz\":1700000", "policy4: 1700 MHz"}};
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct bed b;
        begin(&b, rows[i].tree);
        live(1000000, JOB, 0);
        expect("what board sustains is not known: `quiesce characterize board` first");
        live(1001000, SOAK, 0);
        expect(rows[i].fails);
        expect(rows[i].found);
        live(1010000, JOB, 0);
        expect(rows[i].held);
        expect("\"state\":\"done\"");
        assert_null(strstr(said, "days ago"));
        live(1010000 + 100 * 86400, JOB, 0);
        expect("was found 100 days ago; `quiesce characterize --again board` finds it anew");
        expect(rows[i].held);
        bed_done(&b);
    }
}

/* A search that is cut short goes on with the next point, and a finished one is not done again. */
static void cut_short(void **state)
{
    struct bed b;
    (void)state;
    begin(&b, "odroid-xu3");
    live(1000000, SOAK, 1100);
    expect("2000 MHz was throttled");
    assert_null(strstr(said, "\"says\":\"ok\""));
    live(1003000, "", 0);
    assert_null(strstr(said, "policy4 at 2000 MHz"));
    expect("\"says\":\"ok\",\"khz\":1700000");
    live(1010000, SOAK, 0);
    assert_null(strstr(said, "MHz"));
    expect("what board is like was found before");
    bed_done(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(found_and_held), cmocka_unit_test(cut_short)};
    return cmocka_run_group_tests_name("farm soak", tests, NULL, NULL);
}
