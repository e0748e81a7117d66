/* The operations of the simulated port, each called by itself: what it answers to the value, at both sides of
 * each bound, in memory that was never cleared. */
#include "sim_device.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define MS           INT64_C(1000000)
#define WORDS(...)   ((const char *const[]){__VA_ARGS__, NULL})
#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static struct qs_list list_of(const char *const *words, uint8_t *mem, size_t cap)
{
    struct qs_build b;
    qs_build_init(&b, mem, cap);
    for (; words && *words; words++) {
        assert_true(qs_build_text(&b, qs_text_of(*words)));
    }
    return qs_build_list(&b);
}

struct order {
    const char *const *argv, *const *prepare, *const *conclude;
    enum qs_run_mode mode;
    enum qs_output_kind output;
    uint32_t output_max_bytes, capacity;
};

static bool begin(struct device *d, const struct order *o, struct qs_port_ready *ready,
                  struct qs_port_fault *fault)
{
    uint8_t mem[3][512];
    const struct qs_msg_run_begin m = {.argv = list_of(o->argv, mem[0], sizeof mem[0]),
                                       .prepare = list_of(o->prepare, mem[1], sizeof mem[1]),
                                       .conclude = list_of(o->conclude, mem[2], sizeof mem[2]),
                                       .mode = o->mode,
                                       .output_kind = o->output,
                                       .output_max_bytes = o->output_max_bytes,
                                       .harness = {.capacity = o->capacity}};
    return d->port->run_begin(d->sim, &m, ready, fault);
}

static void must_begin(struct device *d, const struct order *o)
{
    struct qs_port_ready ready;
    struct qs_port_fault fault;
    assert_true(begin(d, o, &ready, &fault));
}

static const struct qs_port_child *start(struct device *d, enum qs_port_job job)
{
    struct qs_port_fault fault;
    assert_true(d->port->start(d->sim, job, &fault));
    assert_true(d->sim->child_runs);
    return &d->sim->child;
}

static void begins_in_any_memory(void **state)
{
    uint8_t random[4] = {0, 0, 0, 9};
    struct device d;
    (void)state;
    device_init(&d, &cold);
    assert_string_equal(d.sim->boot_id, "sim-599ed017fb08fc85");
    d.port->random(d.sim, random, 3);
    assert_memory_equal(random, ((const uint8_t[]){0x2c, 0x88, 0x3f, 9}), 4);
    d.port->random(d.sim, random, 1); /* the next one: none was drawn beyond what was asked for */
    assert_int_equal(random[0], 0xe3);
    assert_int_equal(d.port->now_ns(d.sim), BEGAN_NS + 5000);
    assert_int_equal(qs_sim_next_ns(d.sim), INT64_MAX);
    assert_int_equal(d.sim->temp_mc, 30000);
    assert_true(d.port->send(d.sim, random, 3));
    d.alive = false;
    assert_false(d.port->send(d.sim, random, 4));
    assert_int_equal(d.sent_bytes, 7);
    d.port->close_link(d.sim);
    assert_int_equal(d.closed, 1);
    device_done(&d);
}

static void states_its_facts(void **state)
{
    static const char *const wanted[][2] = {{"agent", "quiesce-agent " QS_VERSION},
                                            {"clock", "sim"},
                                            {"cpu_model", "simulated"},
                                            {"cpus_allowed", "0"},
                                            {"kernel", "sim"},
                                            {"machine", "sim"},
                                            {"os", "sim"},
                                            {"simulated", "yes"}};
    struct qs_port_fact fact;
    struct device d;
    (void)state;
    device_init(&d, &cold);
    for (size_t i = 0; i < COUNT(wanted); i++) {
        memset(&fact, 'x', sizeof fact);
        assert_true(d.port->fact(d.sim, i, &fact));
        assert_string_equal(fact.key, wanted[i][0]);
        assert_string_equal(fact.value, wanted[i][1]);
    }
    assert_false(d.port->fact(d.sim, COUNT(wanted), &fact));
    device_done(&d);
}

/* Each word of a command, and what it is not. The time of any other command is 1 ms and FNV-1a of its encoded
 * words modulo 9,000,000: of "sim" alone 9ee03f05270ed69d, of nothing cbf29ce484222325. */
static void reads_commands(void **state)
{
    static const struct {
        const char *const argv[3];
        struct qs_sim_command wanted;
    } cases[] = {{{NULL}, {.base_ns = 6656037}},
                 {{"sim"}, {.base_ns = 2471069}},
                 {{"cc", "-O2"}, {.base_ns = 7414072}},
                 {{"sim", "word"}, {.base_ns = 2718689}},
                 {{"sim", ":5"}, {.base_ns = 6431558}},
                 {{"sim", "/5"}, {.base_ns = 3714215}},
                 {{"sim", "0"}, {.base_ns = 0}},
                 {{"sim", "9"}, {.base_ns = 9}},
                 {{"sim", "2592000000000000"}, {.base_ns = QS_SPAN_MAX_NS}},
                 {{"sim", "2592000000000001"}, {.base_ns = QS_SPAN_MAX_NS}}};
    static const struct {
        const char *word;
        struct qs_sim_command wanted;
    } words[] = {{"exact", {.exact = true}},
                 {"hang", {.hang = true}},
                 {"exit=255", {.exit_code = 255}},
                 {"exit=257", {.exit_code = 1}},
                 {"bytes=7", {.output_bytes = 7}},
                 {"values=999999", {.values = 999999}},
                 {"values=1000001", {.values = 1000000}},
                 {"times=12", {.values = 12, .words = true}}};
    struct device d;
    (void)state;
    device_init(&d, &cold);
    for (size_t i = 0; i < COUNT(cases); i++) {
        must_begin(&d, &(struct order){.argv = cases[i].argv});
        assert_int_equal(d.sim->run.base_ns, cases[i].wanted.base_ns);
    }
    for (size_t i = 0; i < COUNT(words); i++) {
        const struct qs_sim_command *w = &words[i].wanted;
        for (size_t ours = 0; ours < 2; ours++) { /* nobody else's words mean anything */
            must_begin(&d, &(struct order){.argv = WORDS(ours ? "sim" : "sin", "5", words[i].word)});
            const struct qs_sim_command *c = &d.sim->run;
            assert_int_equal(c->base_ns == 5, ours);
            assert_int_equal(c->exact, ours && w->exact);
            assert_int_equal(c->hang, ours && w->hang);
            assert_int_equal(c->exit_code, ours ? w->exit_code : 0);
            assert_int_equal(c->output_bytes, ours ? w->output_bytes : 0);
            assert_int_equal(c->values, ours ? w->values : 0);
            assert_int_equal(c->words, ours && w->words);
        }
    }
    device_done(&d);
}

static void is_ready_or_says_why(void **state)
{
    /* SHA-256 of 03 00 's' 'i' 'm' */
    static const char sum[] = "9516a002642a497b167de3d176e077720fb537d7c6cc53eb9bc911ac4432039e";
    const struct order missing[] = {{.argv = WORDS("/missing")},
                                    {.argv = WORDS("sim"), .prepare = WORDS("/missing/x")},
                                    {.argv = WORDS("sim"), .conclude = WORDS("/missing")}};
    struct qs_port_ready ready;
    struct qs_port_fault fault;
    struct device d;
    char hex[65];
    (void)state;
    device_init(&d, &cold);
    memset(&ready, 'x', sizeof ready);
    assert_true(begin(&d, &(struct order){.argv = WORDS("sim")}, &ready, &fault));
    assert_string_equal(ready.executable, "/sim/9ee03f05270ed69d");
    assert_string_equal(ready.cpus, "0");
    for (size_t i = 0; i < 32; i++) {
        snprintf(hex + 2 * i, 3, "%02x", ready.sha256[i]);
    }
    assert_string_equal(hex, sum);
    for (size_t i = 0; i <= COUNT(missing); i++) {
        uint8_t mem[64];
        const struct qs_msg_hook hook = {.argv = list_of(WORDS("/missing"), mem, sizeof mem)};
        memset(&fault, 'x', sizeof fault);
        assert_false(i < COUNT(missing) ? begin(&d, &missing[i], &ready, &fault)
                                        : d.port->start_hook(d.sim, &hook, &fault));
        assert_int_equal(fault.blame, QS_WIRE_BLAME_OPERATOR);
        assert_int_equal(fault.wire_code, QS_CODE_EXECUTABLE);
        assert_int_equal(fault.code, ENOENT);
        assert_string_equal(fault.text, "the simulated device has no such program");
    }
    device_done(&d);
}

/* The normal numbers are twelve 20-bit ones of the seed's less their mean: 2834 ppm less for the run, then
 * -18580, 17295 and -12622 ppm for three iterations. */
static void lasts_as_long_as_its_seed_says(void **state)
{
    static const struct {
        const char *base;
        int64_t wanted_ns[3];
    } cases[] = {{"1000000", {978586, 1014461, 984544}}, {"123456789", {120813085, 125242097, 121548640}}};
    struct qs_sim_options o = cold;
    struct device d;
    (void)state;
    o.run_effect_ppm = 20000;
    o.noise_ppm = 10000;
    for (size_t i = 0; i < COUNT(cases); i++) {
        device_init(&d, &o);
        must_begin(&d, &(struct order){.argv = WORDS("sim", cases[i].base), .prepare = WORDS("sim", "77")});
        for (size_t k = 0; k < 3; k++) {
            const struct qs_port_child *c = start(&d, QS_JOB_ITERATION);
            assert_int_equal(c->end_ns - c->start_ns, cases[i].wanted_ns[k]);
            c = start(&d, QS_JOB_PREPARE); /* has no noise, and draws none */
            assert_int_equal(c->end_ns - c->start_ns, 77);
        }
        device_done(&d);
    }
    o.noise_ppm = INT64_C(1000000000); /* -1.858 times that is no duration: it is at least a thousandth */
    device_init(&d, &o);
    must_begin(&d, &(struct order){.argv = WORDS("sim", "1000000")});
    const struct qs_port_child *c = start(&d, QS_JOB_ITERATION);
    assert_int_equal(c->end_ns - c->start_ns, 1000);
    device_done(&d);
}

static void starts_the_job_that_was_asked_for(void **state)
{
    uint8_t mem[64];
    const struct qs_msg_hook hook = {.argv = list_of(WORDS("sim", "4", "exit=4"), mem, sizeof mem),
                                     .output_max_bytes = 9};
    const struct order order = {.argv = WORDS("sim", "1", "exit=1"),
                                .prepare = WORDS("sim", "2", "exit=2"),
                                .conclude = WORDS("sim", "3", "exit=3")};
    static const enum qs_port_job jobs[] = {QS_JOB_ITERATION, QS_JOB_PREPARE, QS_JOB_CONCLUDE};
    struct qs_port_fault fault;
    struct device d;
    (void)state;
    device_init(&d, &cold);
    must_begin(&d, &order);
    for (int i = 0; i < 3; i++) {
        const struct qs_port_child *c = start(&d, jobs[i]);
        assert_int_equal(c->how, QS_PORT_EXITED);
        assert_int_equal(c->code, i + 1);
        assert_int_equal(c->start_ns, BEGAN_NS + 5000);
        assert_int_equal(c->end_ns, BEGAN_NS + 5000 + i + 1);
        assert_int_equal(qs_sim_next_ns(d.sim), BEGAN_NS + i + 1);
    }
    d.sim->child_runs = false;
    assert_true(d.port->start_hook(d.sim, &hook, &fault));
    assert_true(d.sim->child_runs);
    assert_int_equal(d.sim->child.code, 4);
    assert_int_equal(d.sim->output_max_bytes, 9);
    d.sim->now_ns += 3;
    d.port->end_child(d.sim, false);
    assert_int_equal(d.sim->child.how, QS_PORT_SIGNALLED);
    assert_int_equal(d.sim->child.code, 15);
    assert_int_equal(d.sim->child.end_ns, BEGAN_NS + 5000 + 3);
    d.port->end_child(d.sim, true);
    assert_int_equal(d.sim->child.code, 9);
    d.sim->now_ns += 1;
    d.port->abandon_child(d.sim);
    assert_int_equal(d.sim->child.how, QS_PORT_LOST);
    assert_int_equal(d.sim->child.end_ns, BEGAN_NS + 5000 + 4);
    must_begin(&d, &(struct order){.argv = WORDS("sim", "hang")});
    assert_int_equal(start(&d, QS_JOB_ITERATION)->end_ns, INT64_MAX);
    device_done(&d);
}

/* A process of stream mode takes its time for each value, no longer than there is time. */
static void takes_its_time_for_each_value(void **state)
{
    static const struct {
        enum qs_run_mode mode;
        enum qs_port_job job;
        const char *base, *values;
        int64_t lasts_ns;
    } cases[] = {
        {QS_RUN_STREAM, QS_JOB_ITERATION, "1000", "values=3", 3000},
        {QS_RUN_STREAM, QS_JOB_ITERATION, "1000", "values=1", 1000},
        {QS_RUN_STREAM, QS_JOB_ITERATION, "1000", "values=0", 1000},
        {QS_RUN_STREAM, QS_JOB_PREPARE, "1000", "values=3", 1000},
        {QS_RUN_COMMAND, QS_JOB_ITERATION, "1000", "values=3", 1000},
        {QS_RUN_STREAM, QS_JOB_ITERATION, "863999999999999", "values=3", 3 * INT64_C(863999999999999)},
        {QS_RUN_STREAM, QS_JOB_ITERATION, "864000000000000", "values=3", INT64_C(864000000000000)}};
    struct device d;
    (void)state;
    device_init(&d, &cold);
    for (size_t i = 0; i < COUNT(cases); i++) {
        const char *const *argv = WORDS("sim", cases[i].base, cases[i].values);
        must_begin(&d, &(struct order){.argv = argv, .prepare = argv, .mode = cases[i].mode});
        const struct qs_port_child *c = start(&d, cases[i].job);
        assert_int_equal(c->end_ns - c->start_ns, cases[i].lasts_ns);
        assert_int_equal(c->metrics[0], cases[i].lasts_ns / 1000);
        assert_int_equal(c->metrics[2], 1 << 20);
    }
    device_done(&d);
}

/* One start of prepare, then iterations: what is kept of what they write. The output of a hook counts always,
 * that of an iteration where it is wanted. */
static void keeps_output_as_it_is_told_to(void **state)
{
    static const struct {
        enum qs_output_kind kind;
        const char *prepare, *run; /* bytes that they write */
        uint32_t max_bytes;
        int iterations;
        bool cut;
        uint64_t total_bytes, kept_bytes;
    } cases[] = {{QS_OUTPUT_KIND_DISCARD, "bytes=0", "bytes=5", 4, 1, false, 0, 0},
                 {QS_OUTPUT_KIND_DISCARD, "bytes=2", "bytes=5", 9, 1, false, 2, 2},
                 {QS_OUTPUT_KIND_CAPTURE, "bytes=0", "bytes=5", 5, 1, false, 5, 5},
                 {QS_OUTPUT_KIND_CAPTURE, "bytes=0", "bytes=5", 4, 1, true, 5, 4},
                 {QS_OUTPUT_KIND_APART, "bytes=0", "bytes=1", 1, 2, true, 2, 1},
                 {QS_OUTPUT_KIND_APART, "bytes=0", "bytes=5", 10, 2, false, 10, 10},
                 {QS_OUTPUT_KIND_FILE, "bytes=0", "bytes=5", 4, 1, false, 0, 0},
                 {QS_OUTPUT_KIND_CAPTURE, "bytes=9", "bytes=0", 8, 1, false, 9, 8},
                 {QS_OUTPUT_KIND_CAPTURE, "bytes=8", "bytes=1", 8, 1, true, 9, 8},
                 {QS_OUTPUT_KIND_CAPTURE, "bytes=0", "bytes=4097", 9000, 1, false, 4097, 4096}};
    struct qs_port_fault fault;
    struct qs_port_output out;
    struct device d;
    (void)state;
    device_init(&d, &cold);
    for (size_t i = 0; i < COUNT(cases); i++) {
        must_begin(&d, &(struct order){.argv = WORDS("sim", cases[i].run),
                                       .prepare = WORDS("sim", cases[i].prepare),
                                       .output = cases[i].kind,
                                       .output_max_bytes = cases[i].max_bytes});
        assert_true(d.port->window_open(d.sim, &fault));
        assert_false(start(&d, QS_JOB_PREPARE)->output_cut); /* that is for iterations to say */
        for (int k = 0; k < cases[i].iterations; k++) {
            start(&d, QS_JOB_ITERATION);
        }
        assert_int_equal(d.sim->child.output_cut, cases[i].cut);
        memset(d.sim->output, '-', sizeof d.sim->output);
        d.port->output(d.sim, &out);
        assert_int_equal(out.total_bytes, cases[i].total_bytes);
        assert_int_equal(out.kept_bytes, cases[i].kept_bytes);
        for (size_t k = 0; k < out.kept_bytes; k++) {
            assert_int_equal(out.kept[k], 'x');
        }
    }
    device_done(&d);
}

static int64_t sensor(struct device *d, const char *name)
{
    struct qs_port_reading r;
    memset(&r, 'x', sizeof r);
    d->port->read_sensor(d->sim, name, &r);
    assert_in_range(r.status, QS_READING_OK, QS_READING_MISSING);
    return r.status == QS_READING_OK ? r.value : -1;
}

/* Half of the way to its target in the time constant, also where that is one ns; none at all without one. */
static void reads_its_sensors(void **state)
{
    struct qs_sim_options warm = cold;
    struct device d;
    (void)state;
    device_init(&d, &cold);
    assert_int_equal(sensor(&d, "cpu.busy_ratio_ppm"), 123);
    assert_int_equal(sensor(&d, "thermal:sim"), -1);
    assert_int_equal(sensor(&d, "thermal:other"), -1);
    device_done(&d);
    for (int64_t tau = 0; tau < 2; tau++) {
        warm.rise_mc = tau ? 1000 : 1;
        warm.thermal_tau_ns = tau;
        device_init(&d, &warm);
        must_begin(&d, &(struct order){.argv = WORDS("sim", "hang")});
        start(&d, QS_JOB_ITERATION);
        assert_int_equal(sensor(&d, "thermal:sim"), 30000);
        assert_int_equal(sensor(&d, "thermal:other"), -1);
        d.sim->now_ns++;
        assert_int_equal(sensor(&d, "thermal:sim"), tau ? 30500 : 30001);
        device_done(&d);
    }
    warm.rise_mc = 1000;
    warm.thermal_tau_ns = MS;
    device_init(&d, &warm);
    must_begin(&d, &(struct order){.argv = WORDS("sim", "hang")});
    d.sim->now_ns += MS;
    start(&d, QS_JOB_ITERATION); /* what was before was rest */
    assert_int_equal(sensor(&d, "thermal:sim"), 30000);
    assert_int_equal(d.sim->busy_ticks_ns, 0);
    device_done(&d);
}

static void gives_its_evidence(void **state)
{
    static const char *const kinds[] = {"agent.involuntary_switches", "cpu.busy_ticks",  "cpu.steal_ticks",
                                        "foreign.busy_ticks",         "psi.cpu.some_us", "thermal:sim"};
    struct qs_sim_options warm = cold;
    struct qs_port_evidence rows[7];
    struct device d;
    (void)state;
    warm.rise_mc = 1;
    warm.thermal_tau_ns = 0;
    device_init(&d, &warm);
    must_begin(&d, &(struct order){.argv = WORDS("sim", "hang")});
    memset(rows, 'x', sizeof rows);
    assert_int_equal(d.port->evidence(d.sim, false, rows, 7), 6);
    start(&d, QS_JOB_ITERATION);
    d.sim->now_ns += 25 * MS;
    assert_int_equal(d.port->evidence(d.sim, true, rows, 7), 6);
    for (size_t i = 0; i < COUNT(kinds); i++) {
        assert_string_equal(rows[i].kind, kinds[i]);
        assert_int_equal(rows[i].status, QS_READING_OK);
        assert_int_equal(rows[i].before, i == 5 ? 30000 : 0);
        assert_int_equal(rows[i].after, i == 1 ? 2 : i == 5 ? 30001 : 0);
    }
    assert_int_equal(rows[6].kind[0], 'x');
    memset(rows, 'x', sizeof rows);
    assert_int_equal(d.port->evidence(d.sim, false, rows, 2), 2);
    assert_int_equal(rows[1].before, 2);
    assert_int_equal(rows[2].kind[0], 'x');
    d.sim->options.rise_mc = 0;
    assert_int_equal(d.port->evidence(d.sim, false, rows, 7), 5);
    device_done(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(begins_in_any_memory),
        cmocka_unit_test(states_its_facts),
        cmocka_unit_test(reads_commands),
        cmocka_unit_test(is_ready_or_says_why),
        cmocka_unit_test(lasts_as_long_as_its_seed_says),
        cmocka_unit_test(starts_the_job_that_was_asked_for),
        cmocka_unit_test(takes_its_time_for_each_value),
        cmocka_unit_test(keeps_output_as_it_is_told_to),
        cmocka_unit_test(reads_its_sensors),
        cmocka_unit_test(gives_its_evidence),
    };
    return cmocka_run_group_tests_name("agent.sim_port", tests, NULL, NULL);
}
