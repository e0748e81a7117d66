#include "sim/impl.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SIGTERM_NUMBER = 15, SIGKILL_NUMBER = 9, TICK_NS = 10000000, VALUES_MAX = 1000000 };

/* SplitMix64 (Steele, Lea, Flood, OOPSLA 2014). */
static uint64_t draw(struct qs_sim *sim)
{
    uint64_t z = sim->random += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

/* Twelve uniform numbers minus six: mean 0, variance 1. Scaled by sd_ppm, in whole ppm. */
static int64_t draw_normal_ppm(struct qs_sim *sim, int64_t sd_ppm)
{
    int64_t sum = 0;
    for (int i = 0; i < 12; i++) {
        sum += (int64_t)(draw(sim) >> 44); /* 20 bits */
    }
    return (sum - 6 * (INT64_C(1) << 20)) * sd_ppm >> 20;
}

int64_t qs_sim_device_ns(const struct qs_sim *sim)
{
    return sim->now_ns + sim->options.clock_offset_ns;
}

static int64_t op_now_ns(void *ctx)
{
    return qs_sim_device_ns(ctx);
}

static bool op_send(void *ctx, const uint8_t *bytes, size_t n)
{
    struct qs_sim *sim = ctx;
    return sim->on_send(sim->ctx, bytes, n);
}

static void op_close_link(void *ctx)
{
    struct qs_sim *sim = ctx;
    sim->on_close(sim->ctx);
}

static void op_random(void *ctx, uint8_t *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        bytes[i] = (uint8_t)(draw(ctx) >> 56);
    }
}

static uint64_t hash_argv(const struct qs_list *argv)
{
    uint64_t h = UINT64_C(0xcbf29ce484222325); /* FNV-1a */
    for (uint32_t i = 0; i < argv->len; i++) {
        h = (h ^ argv->bytes[i]) * UINT64_C(0x100000001b3);
    }
    return h;
}

static void look_at_option(struct qs_sim_command *command, const char *text)
{
    if (strcmp(text, "exact") == 0) {
        command->exact = true;
    } else if (strcmp(text, "hang") == 0) {
        command->hang = true;
    } else if (strncmp(text, "exit=", 5) == 0) {
        command->exit_code = (int32_t)(strtol(text + 5, NULL, 10) & 0xff);
    } else if (strncmp(text, "bytes=", 6) == 0) {
        command->output_bytes = strtoull(text + 6, NULL, 10);
    } else if (strncmp(text, "values=", 7) == 0 || strncmp(text, "times=", 6) == 0) {
        unsigned long n = strtoul(strchr(text, '=') + 1, NULL, 10);
        command->values = n < VALUES_MAX ? (uint32_t)n : VALUES_MAX;
        command->words = text[0] == 't';
    } else if (isdigit((unsigned char)text[0])) {
        long long ns = strtoll(text, NULL, 10);
        command->base_ns = ns < QS_SPAN_MAX_NS ? ns : QS_SPAN_MAX_NS;
    }
}

/* False: there is no such program. */
static bool look_at(struct qs_sim_command *command, const struct qs_list *argv)
{
    struct qs_iter it = qs_list_iter(argv);
    struct qs_text text;
    char word[64];
    *command = (struct qs_sim_command){.base_ns = 1000000 + (int64_t)(hash_argv(argv) % 9000000)};
    if (!qs_list_text(&it, &text)) {
        return true;
    }
    qs_text_copy(text, word, sizeof word);
    bool ours = strcmp(word, "sim") == 0;
    while (ours && qs_list_text(&it, &text)) {
        char option[64];
        qs_text_copy(text, option, sizeof option);
        look_at_option(command, option);
    }
    return strncmp(word, "/missing", 8) != 0;
}

static bool not_found(struct qs_port_fault *fault)
{
    fault->blame = QS_WIRE_BLAME_OPERATOR;
    fault->wire_code = QS_CODE_EXECUTABLE;
    fault->code = 2;
    snprintf(fault->text, sizeof fault->text, "the simulated device has no such program");
    return false;
}

static void say_cpus(struct qs_sim *sim, char *text, size_t cap)
{
    if (!sim->options.bed || qs_sim_file_read(sim, "devices/system/cpu/online", text, cap) < 0) {
        snprintf(text, cap, "0");
    }
}

static bool op_run_begin(void *ctx, const struct qs_msg_run_begin *run, struct qs_port_ready *ready,
                         struct qs_port_fault *fault)
{
    struct qs_sim *sim = ctx;
    if (!look_at(&sim->run, &run->argv) || !look_at(&sim->prepare, &run->prepare) ||
        !look_at(&sim->conclude, &run->conclude)) {
        return not_found(fault);
    }
    if (run->mode == QS_RUN_HARNESS && !qs_sim_harness_open(sim, run, ready)) {
        return not_found(fault);
    }
    uint64_t h = hash_argv(&run->argv);
    sim->streams = run->mode == QS_RUN_STREAM;
    sim->capture = run->output_kind == QS_OUTPUT_KIND_CAPTURE || run->output_kind == QS_OUTPUT_KIND_APART;
    sim->output_max_bytes = run->output_max_bytes;
    sim->run_effect_ppm = draw_normal_ppm(sim, sim->options.run_effect_ppm);
    snprintf(ready->executable, sizeof ready->executable, "/sim/%016llx", (unsigned long long)h);
    qs_sha256(run->argv.bytes, run->argv.len, ready->sha256);
    snprintf(ready->cpus, sizeof ready->cpus, "0");
    if (sim->options.bed) {
        qs_text_copy(run->cpus, ready->cpus, sizeof ready->cpus);
        qs_sim_choose_clock(sim, ready->cpus);
        if (!ready->cpus[0]) {
            say_cpus(sim, ready->cpus, sizeof ready->cpus);
        }
    }
    return true;
}

static void op_run_end(void *ctx)
{
    struct qs_sim *sim = ctx;
    qs_sim_work_stop(sim);
    sim->shared.at = NULL;
    sim->wake_ns = INT64_MAX;
    sim->busy = false;
    sim->trace = (struct qs_sim_trace){.end_ns = INT64_MAX};
}

int64_t qs_sim_lasts_ns(struct qs_sim *sim, const struct qs_sim_command *c, bool timed)
{
    if (c->exact || !timed) {
        return c->base_ns;
    }
    int64_t ppm = 1000000 + sim->run_effect_ppm + draw_normal_ppm(sim, sim->options.noise_ppm);
    ppm = ppm > 1000 ? ppm : 1000;
    return c->base_ns / 1000000 * ppm + c->base_ns % 1000000 * ppm / 1000000;
}

/* Brings temperature and processor time up to now. Implicit Euler on dT/dt = (target - T) / tau: stable for
 * steps of any length. */
void qs_sim_settle(struct qs_sim *sim)
{
    const struct qs_sim_options *o = &sim->options;
    int64_t dt_ns = sim->now_ns - sim->temp_ns;
    bool works = sim->loaded || (sim->child_runs && (sim->shared.at == NULL || sim->busy));
    int64_t target = o->ambient_mc + (works ? o->rise_mc : 0);
    double part = dt_ns > 0 ? (double)dt_ns / ((double)o->thermal_tau_ns + (double)dt_ns) : 0.0;
    sim->temp_mc += (int64_t)((double)(target - sim->temp_mc) * part);
    sim->busy_ticks_ns += works ? dt_ns : 0;
    sim->temp_ns = sim->now_ns;
}

void qs_sim_begin_child(struct qs_sim *sim, const struct qs_sim_command *c, bool timed)
{
    int64_t now = op_now_ns(sim);
    int64_t ns = qs_sim_lasts_ns(sim, c, timed);
    qs_sim_settle(sim);
    sim->child = (struct qs_port_child){.how = QS_PORT_EXITED, .code = c->exit_code, .start_ns = now};
    if (sim->streams && timed && c->values != 0 && ns < QS_SPAN_MAX_NS / c->values) {
        ns *= c->values;
    }
    sim->child.end_ns = c->hang || (timed && qs_sim_work_start(sim, ns)) ? INT64_MAX : now + ns;
    sim->child.metrics[0] = ns / 1000;
    sim->child.metrics[2] = 1 << 20;
    sim->child.output_cut = timed && sim->capture && c->output_bytes > 0 &&
                            sim->written_bytes + c->output_bytes > sim->output_max_bytes;
    sim->written_bytes += sim->capture || !timed ? c->output_bytes : 0;
    sim->child_runs = true;
}

static bool op_start(void *ctx, enum qs_port_job job, struct qs_port_fault *fault)
{
    struct qs_sim *sim = ctx;
    (void)fault;
    qs_sim_begin_child(sim,
                       job == QS_JOB_PREPARE    ? &sim->prepare
                       : job == QS_JOB_CONCLUDE ? &sim->conclude
                                                : &sim->run,
                       job == QS_JOB_ITERATION);
    return true;
}

static bool op_start_hook(void *ctx, const struct qs_msg_hook *hook, struct qs_port_fault *fault)
{
    struct qs_sim *sim = ctx;
    if (!look_at(&sim->hook, &hook->argv)) {
        return not_found(fault);
    }
    sim->written_bytes = 0;
    sim->output_max_bytes = hook->output_max_bytes;
    qs_sim_begin_child(sim, &sim->hook, false);
    return true;
}

static void op_end_child(void *ctx, bool hard)
{
    struct qs_sim *sim = ctx;
    sim->child.how = QS_PORT_SIGNALLED;
    sim->child.code = hard ? SIGKILL_NUMBER : SIGTERM_NUMBER;
    sim->child.end_ns = op_now_ns(sim);
}

static void op_abandon_child(void *ctx)
{
    struct qs_sim *sim = ctx;
    sim->child.how = QS_PORT_LOST;
    sim->child.end_ns = op_now_ns(sim);
}

static bool op_window_open(void *ctx, struct qs_port_fault *fault)
{
    struct qs_sim *sim = ctx;
    (void)fault;
    sim->written_bytes = 0;
    if (sim->options.bed) {
        qs_sim_bed_window(sim);
    }
    return true;
}

static void op_output(void *ctx, struct qs_port_output *out)
{
    struct qs_sim *sim = ctx;
    uint64_t kept = sim->written_bytes < sim->output_max_bytes ? sim->written_bytes : sim->output_max_bytes;
    kept = kept < sizeof sim->output ? kept : sizeof sim->output;
    memset(sim->output, 'x', (size_t)kept);
    *out = (struct qs_port_output){
        .kept = sim->output, .kept_bytes = (size_t)kept, .total_bytes = sim->written_bytes};
}

static void op_read_sensor(void *ctx, const char *name, struct qs_port_reading *reading)
{
    struct qs_sim *sim = ctx;
    qs_sim_settle(sim);
    *reading = (struct qs_port_reading){.status = QS_READING_MISSING};
    if (sim->options.bed && qs_sim_read_bound(sim, name, reading)) {
        return;
    }
    if (strcmp(name, "cpu.busy_ratio_ppm") == 0) {
        *reading = (struct qs_port_reading){.status = QS_READING_OK, .value = sim->options.busy_ppm};
    } else if (strcmp(name, "thermal:sim") == 0 && sim->options.rise_mc > 0) {
        *reading = (struct qs_port_reading){.status = QS_READING_OK, .value = sim->temp_mc};
    }
}

/* Without a board it has one processor. */
static uint8_t op_load(void *ctx, const char *cpus)
{
    struct qs_sim *sim = ctx;
    qs_sim_settle(sim);
    sim->loaded = sim->options.bed ? qs_sim_work_load(sim, cpus) : cpus[0] == '\0' || strcmp(cpus, "0") == 0;
    return sim->loaded ? QS_LOAD_ON : QS_LOAD_NO_CPUS;
}

static bool op_unload(void *ctx)
{
    struct qs_sim *sim = ctx;
    qs_sim_settle(sim);
    if (sim->options.bed) {
        qs_sim_work_unload(sim);
    }
    sim->loaded = false;
    return true;
}

static size_t op_evidence(void *ctx, bool after, struct qs_port_evidence *rows, size_t cap)
{
    struct qs_sim *sim = ctx;
    qs_sim_settle(sim);
    const struct {
        const char *kind;
        int64_t value;
    } kinds[] = {{"agent.involuntary_switches", 0},
                 {"cpu.busy_ticks", sim->busy_ticks_ns / TICK_NS},
                 {"cpu.steal_ticks", 0},
                 {"foreign.busy_ticks", 0},
                 {"psi.cpu.some_us", 0},
                 {"thermal:sim", sim->temp_mc}};
    size_t n = sizeof kinds / sizeof kinds[0] - (sim->options.rise_mc > 0 ? 0 : 1);
    n = n < cap ? n : cap;
    for (size_t i = 0; i < n; i++) {
        snprintf(rows[i].kind, sizeof rows[i].kind, "%s", kinds[i].kind);
        rows[i].status = QS_READING_OK;
        rows[i].after = kinds[i].value;
        rows[i].before = after ? rows[i].before : kinds[i].value;
    }
    return sim->options.bed ? n + qs_sim_bound_evidence(sim, after, rows + n, cap - n) : n;
}

static bool op_fact(void *ctx, size_t index, struct qs_port_fact *fact)
{
    struct qs_sim *sim = ctx;
    const struct qs_sim_bed *bed = sim->options.bed;
    char cpus[QS_PORT_CPUS_BYTES];
    const struct {
        const char *key, *value;
        bool of_board;
    } facts[] = {{"agent", "quiesce-agent " QS_VERSION, false},
                 {"clock", "sim", false},
                 {"control.journal", "in the memory of the simulation", true},
                 {"control.restored", bed ? bed->restored : "", true},
                 {"cpu_model", "simulated", false},
                 {"cpus_allowed", cpus, false},
                 {"kernel", "sim", false},
                 {"machine", "sim", false},
                 {"os", "sim", false},
                 {"simulated", "yes", false}};
    say_cpus(sim, cpus, sizeof cpus);
    for (size_t i = 0; i < sizeof facts / sizeof facts[0]; i++) {
        if ((bed || !facts[i].of_board) && index-- == 0) {
            snprintf(fact->key, sizeof fact->key, "%s", facts[i].key);
            snprintf(fact->value, sizeof fact->value, "%s", facts[i].value);
            return true;
        }
    }
    return false;
}

void qs_sim_start_agent(struct qs_sim *sim)
{
    const struct qs_port port = {
        .ctx = sim,
        .now_ns = op_now_ns,
        .send = op_send,
        .close_link = op_close_link,
        .random = op_random,
        .run_begin = op_run_begin,
        .run_end = op_run_end,
        .start = op_start,
        .start_hook = op_start_hook,
        .end_child = op_end_child,
        .abandon_child = op_abandon_child,
        .window_open = op_window_open,
        .output = op_output,
        .read_sensor = op_read_sensor,
        .evidence = op_evidence,
        .fact = op_fact,
        .document = qs_sim_document,
        .program_start = qs_sim_program_start,
        .program_go = qs_sim_program_go,
        .program_quit = qs_sim_program_quit,
        .program_look = qs_sim_program_look,
        .program_metric = qs_sim_program_metric,
        .program_row = qs_sim_program_row,
        .program_clock = qs_sim_program_clock,
        .pull = qs_sim_pull,
        .files = &qs_sim_files_port,
        .load = {.start = op_load, .stop = op_unload},
        .control = sim->options.bed ? &qs_sim_control_port : NULL,
        .tracer = {.start = qs_sim_trace_start, .end = qs_sim_trace_end, .result = qs_sim_trace_result},
        .survey = {.find = sim->options.bed ? qs_sim_find : NULL,
                   .bind = sim->options.bed ? qs_sim_bind : NULL,
                   .counters = sim->options.bed != NULL}};
    const struct qs_agent_options agent_options = {.software = "quiesce-agent " QS_VERSION " (simulated)",
                                                   .boot_id = sim->boot_id,
                                                   .clock = "sim",
                                                   .clock_resolution_ns = 1,
                                                   .key = sim->options.key,
                                                   .key_bytes = sim->options.key_bytes,
                                                   .ring = sim->ring,
                                                   .ring_bytes = sizeof sim->ring};
    sim->run_effect_ppm = 0;
    sim->capture = sim->streams = sim->child_runs = sim->busy = sim->loaded = false;
    sim->shared.at = NULL;
    sim->wake_ns = INT64_MAX;
    sim->trace = (struct qs_sim_trace){.end_ns = INT64_MAX};
    sim->file_count = 0;
    sim->coming_bytes = 0;
    sim->output_max_bytes = 0;
    sim->written_bytes = 0;
    snprintf(sim->boot_id, sizeof sim->boot_id, "sim-%016llx", (unsigned long long)draw(sim));
    qs_agent_init(&sim->agent, &port, &agent_options);
}

void qs_sim_init(struct qs_sim *sim, const struct qs_sim_options *options, int64_t now_ns,
                 bool (*on_send)(void *ctx, const uint8_t *bytes, size_t n), void (*on_close)(void *ctx),
                 void *ctx)
{
    sim->options = *options;
    sim->on_send = on_send;
    sim->on_close = on_close;
    sim->ctx = ctx;
    sim->now_ns = sim->temp_ns = now_ns;
    sim->random = options->seed;
    sim->busy_ticks_ns = 0;
    sim->temp_mc = options->ambient_mc;
    if (options->bed) {
        qs_sim_bed_begin(sim);
    }
    qs_sim_start_agent(sim);
}

/* The next thing of the model or of the agent, by the device's clock. */
static int64_t next_device_ns(const struct qs_sim *sim)
{
    int64_t agent = qs_agent_next_deadline_ns(&sim->agent);
    agent = sim->child_runs && sim->wake_ns < agent ? sim->wake_ns : agent;
    agent = sim->trace.on && sim->trace.end_ns < agent ? sim->trace.end_ns : agent;
    return sim->child_runs && sim->child.end_ns < agent ? sim->child.end_ns : agent;
}

int64_t qs_sim_next_ns(const struct qs_sim *sim)
{
    int64_t next = next_device_ns(sim);
    int64_t bed = qs_sim_bed_next_ns(sim);
    next = next == INT64_MAX ? INT64_MAX : next - sim->options.clock_offset_ns;
    return bed < next ? bed : next;
}

void qs_sim_on_time(struct qs_sim *sim, int64_t now_ns)
{
    for (int64_t next = qs_sim_next_ns(sim); next <= now_ns; next = qs_sim_next_ns(sim)) {
        sim->now_ns = next > sim->now_ns ? next : sim->now_ns;
        if (qs_sim_bed_on_time(sim)) {
            continue;
        }
        if (sim->child_runs && sim->wake_ns <= op_now_ns(sim)) {
            qs_sim_settle(sim);
            sim->wake_ns = INT64_MAX;
            sim->busy = false;
            qs_agent_on_wake(&sim->agent);
        } else if (sim->child_runs && sim->child.end_ns <= op_now_ns(sim)) {
            struct qs_port_child end = sim->child;
            qs_sim_settle(sim);
            qs_sim_work_stop(sim);
            sim->child_runs = false;
            qs_agent_on_child(&sim->agent, &end);
        } else if (sim->trace.on && sim->trace.end_ns <= op_now_ns(sim)) {
            qs_sim_trace_over(sim);
            qs_agent_on_tracer(&sim->agent);
        } else {
            qs_agent_on_time(&sim->agent);
        }
    }
    sim->now_ns = now_ns > sim->now_ns ? now_ns : sim->now_ns;
}

void qs_sim_link_up(struct qs_sim *sim, int64_t now_ns)
{
    qs_sim_on_time(sim, now_ns);
    qs_agent_on_link_up(&sim->agent);
}

void qs_sim_link_down(struct qs_sim *sim, int64_t now_ns)
{
    qs_sim_on_time(sim, now_ns);
    qs_agent_on_link_down(&sim->agent);
}

void qs_sim_on_bytes(struct qs_sim *sim, int64_t now_ns, const uint8_t *bytes, size_t n)
{
    qs_sim_on_time(sim, now_ns);
    qs_agent_on_bytes(&sim->agent, bytes, n);
}
