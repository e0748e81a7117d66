/* Every word of a job: what its agent is told, what the store is given and what people read, in their order,
 * as in the files of tests/golden/device. */
#include "../config/golden.h"
#include "proto/names.h"
#include "stage.h"

static const char *golden_dir = ".";

static void play(struct stage *s, const char *name)
{
    struct qs_buf out;
    qs_buf_init(&out);
    s->record.out = &out;
    s->parts.quiet_lead_ns = 250000000;
    stage_go(s);
    golden_same(golden_dir, name, &out);
    qs_buf_done(&out);
    stage_done(s);
}

static struct qs_list one_of_two(uint8_t *mem, size_t n, const char *const names[2], const char *unit)
{
    struct qs_build b;
    qs_build_init(&b, mem, n);
    for (uint8_t i = 0; i < 2; i++)
        qs_build_declared(
            &b, &(struct qs_declared){qs_text_of(names[i]), qs_text_of(unit),
                                      i == 0 ? QS_DECLARED_LOWER_IS_BETTER : QS_DECLARED_DETERMINISTIC});
    return qs_build_list(&b);
}

static struct qs_list readings(void)
{
    static uint8_t mem[256];
    struct qs_build b;
    qs_build_init(&b, mem, sizeof mem);
    qs_build_reading(&b, &(struct qs_reading){qs_text_of("cpu.busy_ratio_ppm"), QS_READING_OK, 90000, 11});
    qs_build_reading(&b, &(struct qs_reading){qs_text_of("thermal:cpu"), QS_READING_STALE, 40000, 12});
    qs_build_reading(&b, &(struct qs_reading){qs_text_of("freq:policy0_khz"), QS_READING_OK, 5, 13});
    return qs_build_list(&b);
}

static struct qs_list evidence(int64_t in, int64_t out)
{
    static uint8_t mem[256];
    struct qs_build b;
    qs_build_init(&b, mem, sizeof mem);
    qs_build_evidence(
        &b, &(struct qs_evidence){qs_text_of("sched.involuntary_switches"), QS_READING_UNREADABLE, 3, 4});
    qs_build_evidence(
        &b, &(struct qs_evidence){qs_text_of("agent.tcp.in_segments"), QS_READING_OK, 100, 100 + in});
    qs_build_evidence(
        &b, &(struct qs_evidence){qs_text_of("agent.tcp.out_segments"), QS_READING_OK, 50, 50 + out});
    return qs_build_list(&b);
}

static const struct qs_session_quiet counted = {.silent = true,
                                                .proven = true,
                                                .counted = true,
                                                .from = {100, 200, true, false, 10, 20, 30, 40},
                                                .to = {101, 202, true, false, 13, 24, 35, 46}};

/* Each window is another kind of silence: proven, broken by frames of ours, by bytes, by segments that the
 * agent counts, and behind a gate that opened too late. */
static void closed_in_many_ways(struct stage *s, struct qs_msg_closed *m, struct qs_session_quiet *quiet)
{
    *quiet = counted;
    m->opened_ns = 5000;
    m->closed_ns = 5000 + 1000 * (int64_t)s->opens;
    m->output_bytes = 5;
    m->output = (struct qs_text){.p = "a\0b", .n = 3};
    m->gate.polls = s->opens;
    m->gate.readings = readings();
    m->evidence = evidence(s->opens == 4 ? 2 : 0, s->opens == 4 ? 1 : 0);
    quiet->frames = s->opens == 2 ? 3 : 0;
    quiet->silent = s->opens != 2 && s->opens != 3;
    quiet->from.has_segments = s->opens != 3;
    m->frames_in_window = s->opens == 2 ? 6 : 0;
    m->unread_bytes_at_close = s->opens == 3 ? 7 : 0;
    m->gate.outcome = s->opens == 5 ? QS_GATE_TAINTED : QS_GATE_OPEN;
    if (s->opens == 5)
        m->gate.decided_ns = 4000000000;
}

static void row_in_many_ways(struct stage *s, uint32_t i, struct qs_row *row)
{
    row->start_off_ns = s->opens == 3 && i == 1 ? -5 : 100 * (int64_t)i;
    row->duration_ns = s->opens == 4 && i == 1 ? -1 : 2000000 + (int64_t)(1000 * s->opens + i);
    row->values[0] = 70 + i;
    row->values[1] = 80 + i;
    row->values[2] = 90 + i;
}

/* One message for each expectation that a gate may wait for, before the second window. */
static bool waits(struct stage *s, struct qs_msg_waiting *m)
{
    if (s->opens != 2 || m->elapsed_ns >= 5000000000)
        return false;
    m->expectation = (uint16_t)(m->elapsed_ns / 1000000000);
    m->elapsed_ns += 1000000000;
    m->value = 46700 + m->expectation;
    m->status = m->expectation == 2 ? QS_READING_MISSING : QS_READING_OK;
    m->note = qs_text_of("cc1[4711]");
    return true;
}

static void says_busiest(struct stage *s, const struct stage_run *run, struct stage_window *w)
{
    (void)run;
    w->busiest = s->opens == 5 ? "cc1[4711]" : "";
}

static void test_commands(void **state)
{
    (void)state;
    static const char *const env[] = {"PATH=/bin", "HOME=/root", "NOTHING", "SAME=ours",
                                      "OWN=ours",  "OWNER=ours", NULL};
    struct stage s;
    stage_init(&s, "quiesce: 1\n"
                   "name: words\n"
                   "benchmarks:\n"
                   "  - {name: work, argv: [work, '{n}'], params: {n: [3]}, dir: /tmp, env: {SAME: 's{n}', "
                   "B: b}, env_inherit: true,\n"
                   "     stdin: in.txt, output: capture, exit: [0, 3], setup: [mk, '{n}'], cleanup: [rm, "
                   "'{n}'], prepare: [sync, '{n}'],\n"
                   "     limits: {iteration: 7s, hook: 3s, output: 1000B}}\n"
                   "arms: {a: {env: {OWN: 'o{n}'}}, b: {argv: [other], conclude: [tell, '{n}']}}\n"
                   "plan: {seed: 1, blocks: {min: 2, max: 2}, until: {interval: 0%}, warmup: {iterations: "
                   "1}, window: {iterations: 2, max: 9s}}\n"
                   "conditions:\n"
                   "  affinity: 0-1\n"
                   "  repeat_tainted: 0\n"
                   "  bounds: {sched.involuntary_switches: 3, cpu.steal_ticks: 1}\n"
                   "  gate:\n"
                   "    - {sensor: cpu.busy_ratio_ppm, below: 10%, dwell: 200ms, timeout: 4s}\n"
                   "    - {sensor: 'thermal:cpu', band: [20C, 45C], unreadable_ok: yes}\n"
                   "    - {sensor: 'freq:policy0_khz', above: 1.8GHz, on_timeout: defer}\n");
    s.parts.base_env = env;
    s.record =
        (struct stage_record){.waiting = waits, .closed = closed_in_many_ways, .row = row_in_many_ways};
    s.script = says_busiest;
    play(&s, "command");
}

static void given_evals(struct stage *s, struct qs_msg_run_ready *m)
{
    (void)s;
    m->flags = QS_READY_SHARED_CPU;
    m->sha256[0] = 0xab;
}

static void closed_with_metrics(struct stage *s, struct qs_msg_closed *m, struct qs_session_quiet *quiet)
{
    static uint8_t mem[256];
    static const char *const names[] = {"cycles", "checks"};
    (void)s;
    quiet->counted = false;
    m->declared = one_of_two(mem, sizeof mem, names, "each");
}

static void ends_in_many_ways(struct stage *s, struct qs_msg_run_ended *m)
{
    static const struct qs_msg_run_ended ways[] = {
        {.how = QS_ENDED_EXITED},
        {.how = QS_ENDED_EXITED, .code = 4},
        {.how = QS_ENDED_SIGNALLED, .code = 9, .flags = QS_ENDED_NO_TEARDOWN | QS_ENDED_TIMED_OUT},
        {.how = QS_ENDED_EXITED, .flags = QS_ENDED_NO_TEARDOWN},
        {.how = QS_ENDED_LOST, .code = 9, .flags = QS_ENDED_LEFT_CHILDREN}};
    struct qs_uid run = m->run;
    *m = ways[(s->run_count - 1) % 5];
    m->run = run;
}

static void test_programs(void **state)
{
    (void)state;
    struct stage s;
    stage_init(&s, "quiesce: 1\n"
                   "benchmarks: [{name: work, mode: harness, argv: [work], benchmark: w, evals: 10, params: "
                   "{size: [3]}}]\n"
                   "arms: {a: {argv: [a]}, b: {argv: [b]}}\n"
                   "plan: {seed: 1, blocks: {min: 2, max: 2}, until: {interval: 0%}, warmup: {iterations: "
                   "1}, window: {iterations: 2}}\n"
                   "conditions: {gate: none, bounds: none, repeat_tainted: 0}\n");
    s.harness = (struct stage_harness){.able = true, .cpus = "1-3", .evaluation_ns = {100, 120}};
    s.record =
        (struct stage_record){.metrics = {QS_METRIC_DECLARED, QS_METRIC_DECLARED + 1, QS_METRIC_DECLARED + 2},
                              .ready = given_evals,
                              .closed = closed_with_metrics,
                              .row = row_in_many_ways,
                              .ended = ends_in_many_ways};
    play(&s, "harness");
}

/* In two pieces, and then no more; the fourth run writes nothing, the fifth something else. */
static bool documents(struct stage *s, struct qs_msg_document *m)
{
    static const char good[] = "1.5\n2.5\n", bad[] = "1.5\nfast\n";
    const char *text = s->opens == 5 ? bad : good;
    const uint16_t half = 4;
    if (s->opens == 4) {
        bool first = m->status == QS_PULL_OK;
        m->status = QS_PULL_MISSING;
        m->why = qs_text_of("No such file");
        return first;
    }
    if (m->total_bytes > 0 && m->offset > 0)
        return false;
    m->offset = m->total_bytes > 0 ? half : 0;
    m->total_bytes = m->kept_bytes = (uint32_t)strlen(text);
    m->bytes = (struct qs_text){.p = text + m->offset,
                                .n = (uint16_t)(m->offset > 0 ? m->total_bytes - half : half)};
    return true;
}

static void one_process(struct stage *s, const struct stage_run *run, struct stage_window *w)
{
    (void)s;
    (void)run;
    w->iterations = 1;
}

static void test_documents(void **state)
{
    (void)state;
    static const char *const env[] = {"PATH=/bin", "HOME=/root", "LANG=C", "LC_ALL=C", "LC_ALLY=C", NULL};
    struct stage s;
    stage_init(&s,
               "quiesce: 1\n"
               "benchmarks: [{name: work, mode: stream, format: numbers, unit: ms, argv: [work], output: "
               "{file: out.txt}, user: nobody, env_inherit: true, env: {B: b}}]\n"
               "arms: {a: {argv: [a]}, b: {argv: [b]}}\n"
               "plan: {seed: 1, blocks: {min: 2, max: 2}, until: {interval: 0%}, warmup: {iterations: 1}}\n"
               "conditions: {gate: none, bounds: none, repeat_tainted: 0}\n");
    s.parts.files = (struct qs_files *)(void *)&s;
    s.parts.base_env = env; /* of which another user gets three */
    s.script = one_process;
    s.record =
        (struct stage_record){.piece = documents, .closed = closed_in_many_ways, .row = row_in_many_ways};
    s.record.metrics[0] = 3; /* of the process: the ninth is the last that has a name */
    s.record.metrics[1] = 9;
    s.record.metrics[2] = 10;
    play(&s, "stream");
}

static void second_of_two(struct stage *s, const struct stage_run *run, struct stage_window *w)
{
    (void)s;
    w->taint = run->arm == 1 && run->block == 1 && run->windows == 0 ? "steal" : NULL;
}

/* Each arm of a block has its own processors, gate, bounds, repeats and stop rule. */
static void test_conditions(void **state)
{
    (void)state;
    struct stage s;
    stage_init(&s,
               "quiesce: 1\n"
               "benchmarks: [{name: work, argv: [work]}]\n"
               "arms: {free: {conditions: default}, pinned: {conditions: alone}, loud: {conditions: loud}}\n"
               "plan: {seed: 1, order: AB, blocks: {min: 1, max: 1}, until: {interval: 0%}, warmup: "
               "{iterations: 1}, window: {iterations: 2}}\n"
               "conditions: {affinity: 0-3, repeat_tainted: 0, bounds: {cpu.steal_ticks: 4}}\n"
               "condition_sets:\n"
               "  alone: {affinity: '2', repeat_tainted: 1, gate: [{sensor: load1_milli, below: 1.5, "
               "timeout: 9s}]}\n"
               "  loud: {affinity: any, gate: none, bounds: none, stop: {fixed: 4}}\n");
    s.script = second_of_two;
    play(&s, "conditions");
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_commands),
        cmocka_unit_test(test_programs),
        cmocka_unit_test(test_documents),
        cmocka_unit_test(test_conditions),
    };
    if (argc > 1)
        golden_dir = argv[1];
    return cmocka_run_group_tests(tests, NULL, NULL);
}
