#include "linux/port.h"

#include "core/print.h"
#include "linux/clock.h"
#include "linux/io.h"
#include "linux/slow.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef CLOCK_MONOTONIC_RAW
#define CLOCK_MONOTONIC_RAW 4
#endif

enum { COST_READS = 1000, CAPTURE_ROUNDS = 64 };

static int64_t op_now_ns(void *ctx)
{
    const struct qs_linux *os = ctx;
    return qs_io_now_ns(os->clock);
}

static bool op_send(void *ctx, const uint8_t *bytes, size_t n)
{
    struct qs_linux *os = ctx;
    if (os->broken || !qs_link_send(&os->link, bytes, n)) { /* after half a frame nothing can follow */
        os->broken = true;
        return false;
    }
    return true;
}

static void op_close_link(void *ctx)
{
    struct qs_linux *os = ctx;
    qs_link_drop(&os->link);
    os->broken = false;
    os->stop = os->stop || os->link.kind == QS_LINK_STDIO;
}

static void op_random(void *ctx, uint8_t *bytes, size_t n)
{
    (void)ctx;
    qs_io_random(bytes, n);
}

static bool op_run_begin(void *ctx, const struct qs_msg_run_begin *run, struct qs_port_ready *ready,
                         struct qs_port_fault *fault)
{
    struct qs_linux *os = ctx;
    if (!qs_commands_of_run(&os->run, run, &os->probe.allowed, fault)) {
        return false;
    }
    if ((run->mode == QS_RUN_HARNESS && !qs_harness_open(&os->harness, run, os->clock, &os->run, fault)) ||
        !qs_aside_begin(&os->aside, run, &os->run, &os->probe.allowed, ready, fault) ||
        !qs_priority_try(&os->run, fault)) {
        qs_harness_close(&os->harness);
        qs_aside_back(&os->aside);
        qs_commands_close(&os->run);
        return false;
    }
    qs_commands_executable(&os->run, &os->run.iteration, ready->executable, sizeof ready->executable);
    qs_sums_of(&os->sums, &os->run, &os->run.iteration, ready->sha256);
    qs_pull_begin(&os->pull);
    qs_stream_begin(&os->stream, run, os->run.cwd_fd, os->run.has_identity ? &os->run.identity : NULL);
    qs_cpus_print(os->run.pinned ? &os->run.cpus : &os->probe.allowed, ready->cpus, sizeof ready->cpus);
    return true;
}

static void op_run_end(void *ctx)
{
    struct qs_linux *os = ctx;
    qs_tracer_close(&os->tracer, os->child.runs ? os->child.process.pid : 0);
    os->child.spare = 0;
    qs_harness_close(&os->harness);
    qs_aside_back(&os->aside);
    qs_stream_end(&os->stream);
    qs_commands_close(&os->run);
}

static bool op_start(void *ctx, enum qs_port_job job, struct qs_port_fault *fault)
{
    struct qs_linux *os = ctx;
    bool streams = os->stream.on && job == QS_JOB_ITERATION;
    os->child.document_fd = streams ? os->stream.spool_fd : -1;
    return (!streams || qs_stream_start(&os->stream, fault)) &&
           qs_child_start(&os->child, job, &os->run, fault);
}

static bool out_of_pipes(struct qs_port_fault *fault)
{
    fault->blame = QS_WIRE_BLAME_DEVICE;
    fault->wire_code = QS_CODE_RESOURCE;
    fault->code = errno;
    qs_print(fault->text, sizeof fault->text, "no pipe for the output: %s", strerror(errno));
    return false;
}

static bool op_start_hook(void *ctx, const struct qs_msg_hook *hook, struct qs_port_fault *fault)
{
    struct qs_linux *os = ctx;
    qs_commands_close(&os->hook);
    if (!qs_commands_of_hook(&os->hook, hook, fault)) {
        return false;
    }
    if (!qs_capture_open(&os->child.capture, true, true, hook->output_max_bytes)) {
        return out_of_pipes(fault);
    }
    return qs_child_start(&os->child, QS_JOB_HOOK, &os->hook, fault);
}

static void op_end_child(void *ctx, bool hard)
{
    struct qs_linux *os = ctx;
    qs_child_end(&os->child, hard);
}

static void op_abandon_child(void *ctx)
{
    struct qs_linux *os = ctx;
    os->child.lost = true;
}

static bool op_window_open(void *ctx, struct qs_port_fault *fault)
{
    struct qs_linux *os = ctx;
    if (os->harness.open) {
        qs_capture_restart(&os->child.capture);
        qs_capture_restart(&os->child.errors);
        return true;
    }
    if (os->stream.on && !qs_stream_window(&os->stream, fault)) {
        return false;
    }
    return qs_child_hear(&os->child, os->run.capture, os->run.apart, os->run.output_max_bytes) ||
           out_of_pipes(fault);
}

static void op_document(void *ctx, uint8_t *memory, size_t cap, struct qs_port_document *document)
{
    struct qs_linux *os = ctx;
    qs_stream_take(&os->stream, memory, cap, document);
}

static void op_output(void *ctx, struct qs_port_output *out)
{
    struct qs_linux *os = ctx;
    qs_child_output(&os->child, os->harness.open ? CAPTURE_ROUNDS : 0, out);
}

static void op_read_sensor(void *ctx, const char *name, struct qs_port_reading *reading)
{
    struct qs_linux *os = ctx;
    qs_probe_set_kin(&os->probe, QS_KIN_CHILD, os->child.runs ? os->child.process.pid : 0);
    qs_probe_set_kin(&os->probe, QS_KIN_HOST, os->link.peer_pid);
    qs_linux_read_sensor(os, name, reading);
}

/* Read next to the window, on its inner side of the sensors: nothing of ours may be between the two readings.
 */
static size_t add_segments(const struct qs_linux *os, bool after, struct qs_port_evidence *rows, size_t cap)
{
    static const char *const kinds[2] = {"agent.tcp.in_segments", "agent.tcp.out_segments"};
    int64_t values[2] = {0, 0};
    if (os->link.kind != QS_LINK_TCP || cap < 2) {
        return 0;
    }
    bool ok = qs_link_segments(&os->link, &values[0], &values[1]);
    for (size_t i = 0; i < 2; i++) {
        struct qs_port_evidence *row = &rows[i];
        if (!after) {
            qs_print(row->kind, sizeof row->kind, "%s", kinds[i]);
            row->status = ok ? QS_READING_OK : QS_READING_MISSING;
            row->before = values[i];
        }
        row->status = ok ? row->status : QS_READING_MISSING;
        row->after = values[i];
    }
    return 2;
}

/* Of what is measured itself. */
static size_t own_rows(const struct qs_linux *os)
{
    return (os->harness.open ? QS_HARNESS_EVIDENCE : 0) + qs_priority_rows(&os->run.start);
}

static void add_own(const struct qs_linux *os, bool after, struct qs_port_evidence *rows)
{
    bool program = os->harness.open;
    if (program) {
        qs_harness_evidence(&os->harness, after, rows);
        rows += QS_HARNESS_EVIDENCE;
    }
    qs_priority_evidence(&os->run.start, &os->child.process.got, program ? os->harness.pid : 0, after, rows);
}

static size_t op_evidence(void *ctx, bool after, struct qs_port_evidence *rows, size_t cap)
{
    struct qs_linux *os = ctx;
    size_t n = qs_probe_rows(&os->probe) < cap ? qs_probe_rows(&os->probe) : cap;
    qs_probe_set_kin(&os->probe, QS_KIN_CHILD, os->child.runs ? os->child.process.pid : 0);
    os->probe.relay = os->link.relayed ? os->link.peer_pid : 0;
    size_t own = cap - n >= own_rows(os) ? own_rows(os) : 0;
    if (after) {
        qs_linux_hear_signals(os);
    }
    if (own > 0 && after) {
        add_own(os, true, rows + cap - own);
    }
    size_t segments = after ? add_segments(os, true, rows + n, cap - own - n) : 0;
    n = qs_probe_evidence(&os->probe, after, rows, cap - own);
    if (after && !os->tracer.runs) { /* beside a tracer nothing begins */
        qs_slow_evidence(&os->probe, os->clock, rows, n);
    }
    segments = after ? segments : add_segments(os, false, rows + n, cap - own - n);
    if (own > 0 && !after) {
        add_own(os, false, rows + n + segments);
    }
    return n + segments + own;
}

static bool op_settled(void *ctx)
{
    struct qs_linux *os = ctx;
    return qs_linux_is_settled(os);
}

static bool op_fact(void *ctx, size_t index, struct qs_port_fact *fact)
{
    struct qs_linux *os = ctx;
    return qs_facts_get(&os->facts, index, fact);
}

static void op_drain(void *ctx)
{
    struct qs_linux *os = ctx;
    qs_linux_end_slow(os);
    qs_link_drain(&os->link);
}

static uint32_t op_unread(void *ctx)
{
    struct qs_linux *os = ctx;
    return qs_link_unread(&os->link);
}

static void op_busiest(void *ctx, char *text, size_t cap)
{
    struct qs_linux *os = ctx;
    qs_probe_busiest(&os->probe, op_now_ns(os), text, cap);
}

static bool op_program_start(void *ctx, struct qs_port_fault *fault)
{
    struct qs_linux *os = ctx;
    return (qs_child_hear(&os->child, os->run.capture, os->run.apart, os->run.output_max_bytes) ||
            out_of_pipes(fault)) &&
           qs_harness_start(&os->harness, &os->child, &os->run, fault);
}

static void op_program_go(void *ctx, const struct qs_port_go *go)
{
    struct qs_linux *os = ctx;
    qs_shared_go(&os->harness.shared, go);
    qs_harness_wake(&os->harness);
}

static void op_program_quit(void *ctx)
{
    struct qs_linux *os = ctx;
    qs_shared_quit(&os->harness.shared);
    qs_harness_wake(&os->harness);
}

static void op_program_look(void *ctx, struct qs_port_look *look)
{
    struct qs_linux *os = ctx;
    qs_shared_look(&os->harness.shared, look);
}

static bool op_program_metric(void *ctx, uint32_t i, struct qs_port_metric *metric)
{
    struct qs_linux *os = ctx;
    return qs_shared_metric(&os->harness.shared, i, metric);
}

static void op_program_clock(void *ctx, struct qs_port_clock *out)
{
    struct qs_linux *os = ctx;
    qs_linux_clock_read(os->clock, &os->run.cpus, out);
}

static void op_program_row(void *ctx, uint32_t i, uint32_t metrics, struct qs_port_row *row)
{
    struct qs_linux *os = ctx;
    qs_shared_row(&os->harness.shared, i, metrics, row);
}

static void op_pull(void *ctx, const struct qs_msg_pull *pull, struct qs_port_piece *piece)
{
    struct qs_linux *os = ctx;
    if (pull->source == QS_PULL_TRACE) {
        qs_trace_file_piece(&os->tracer.file, pull, piece);
        return;
    }
    qs_pull_piece(&os->pull, os->run.cwd_fd, os->run.has_identity ? &os->run.identity : NULL, pull, piece);
}

static bool op_trace_start(void *ctx, const struct qs_msg_trace *trace, struct qs_port_fault *fault)
{
    struct qs_linux *os = ctx;
    qs_linux_end_slow(os);
    pid_t target = os->harness.open ? os->child.process.pid : getpid();
    bool ok = qs_tracer_start(&os->tracer, trace, &os->hook, target, fault);
    os->child.spare = ok ? os->tracer.process.pid : 0;
    return ok;
}

static bool op_trace_end(void *ctx, bool hard)
{
    struct qs_linux *os = ctx;
    return qs_tracer_end(&os->tracer, hard);
}

static void op_trace_result(void *ctx, struct qs_port_traced *traced)
{
    struct qs_linux *os = ctx;
    qs_tracer_result(&os->tracer, os->child.runs ? os->child.process.pid : 0, traced);
    os->child.spare = os->tracer.runs ? os->tracer.process.pid : 0;
}

const char *qs_linux_clock_name(const struct qs_linux *os)
{
    return os->clock == CLOCK_MONOTONIC_RAW ? "monotonic-raw" : "monotonic";
}

void qs_linux_init(struct qs_linux *os, const char *sysfs)
{
    qs_guests_init(&os->guests);
    struct timespec t;
    cpu_set_t allowed;
    CPU_ZERO(&allowed);
    sched_getaffinity(0, sizeof allowed, &allowed);
    os->clock = clock_gettime(CLOCK_MONOTONIC_RAW, &t) == 0 ? CLOCK_MONOTONIC_RAW : CLOCK_MONOTONIC;
    os->signal_fd = -1;
    os->stop = os->heard = os->broken = false;
    os->sums.count = os->sums.next = 0;
    os->heater.group = 0;
    os->aside.on = false;
    os->run.cwd_fd = os->hook.cwd_fd = AT_FDCWD;
    os->link.in_fd = os->link.out_fd = os->link.listen_fd = -1;
    qs_spool_init(&os->spool);
    qs_probe_open(&os->probe, &allowed, sysfs);
    qs_facts_init(&os->facts, &os->probe, qs_linux_clock_name(os), &os->control.notes, os->spool.note);
    qs_child_init(&os->child, os->clock);
    qs_harness_init(&os->harness);
    qs_pull_init(&os->pull);
    qs_tracer_init(&os->tracer, os->clock);
    qs_stream_init(&os->stream);
    if (!qs_io_line("/proc/sys/kernel/random/boot_id", os->boot_id, sizeof os->boot_id)) {
        qs_print(os->boot_id, sizeof os->boot_id, "unknown");
    }
}

/* What we ignore, children would ignore too: a program's defaults are part of its conditions. SIGPIPE is
 * blocked, not ignored, for the same reason; a child begins with nothing blocked. */
static bool take_signals(struct qs_linux *os)
{
    sigset_t blocked;
    sigset_t ends;
    sigset_t read;
    for (int i = 1; i < NSIG; i++) {
        struct sigaction action;
        if (sigaction(i, NULL, &action) == 0 && action.sa_handler == SIG_IGN) {
            signal(i, SIG_DFL);
        }
    }
    sigemptyset(&ends);
    sigaddset(&ends, SIGTERM);
    sigaddset(&ends, SIGINT);
    sigaddset(&ends, SIGHUP);
    read = ends;
    sigaddset(&read, SIGCONT);
    sigaddset(&read, SIGCHLD);
    blocked = read;
    sigaddset(&blocked, SIGPIPE);
    sigprocmask(SIG_BLOCK, &blocked, NULL);
    os->signal_fd = signalfd(-1, &read, SFD_CLOEXEC | SFD_NONBLOCK);
    os->link.stop_fd = signalfd(-1, &ends, SFD_CLOEXEC | SFD_NONBLOCK); /* never read: what it shows stays */
    return os->signal_fd >= 0 && os->link.stop_fd >= 0;
}

static void fill_options(struct qs_linux *os, struct qs_agent_options *options)
{
    struct timespec resolution = {0};
    int64_t began = op_now_ns(os);
    for (int i = 0; i < COST_READS; i++) {
        op_now_ns(os);
    }
    clock_getres(os->clock, &resolution);
    *options = (struct qs_agent_options){.software = "quiesce-agent " QS_VERSION,
                                         .boot_id = os->boot_id,
                                         .clock = qs_linux_clock_name(os),
                                         .clock_resolution_ns = resolution.tv_nsec,
                                         .key = os->key_bytes ? os->key : NULL,
                                         .key_bytes = os->key_bytes,
                                         .ring = os->ring,
                                         .ring_bytes = sizeof os->ring,
                                         .cache_most_bytes = os->cache_most_bytes};
    options->clock_cost_ps = (uint32_t)((op_now_ns(os) - began) * 1000 / COST_READS);
}

bool qs_linux_open_cache(struct qs_linux *os, const char *root, char error[QS_LINK_ERROR_BYTES])
{
    os->has_cache = qs_files_open(&os->files, root, error);
    return os->has_cache || !root;
}

bool qs_linux_start(struct qs_linux *os, char error[QS_LINK_ERROR_BYTES])
{
    const struct qs_port port = {
        .ctx = os,
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
        .settled = op_settled,
        .drain = op_drain,
        .unread = op_unread,
        .busiest = op_busiest,
        .program_start = op_program_start,
        .program_go = op_program_go,
        .program_quit = op_program_quit,
        .program_look = op_program_look,
        .program_metric = op_program_metric,
        .program_row = op_program_row,
        .program_clock = op_program_clock,
        .pull = op_pull,
        .document = op_document,
        .files = os->has_cache ? &qs_linux_files_port : NULL,
        .control = os->control.on ? &qs_linux_control_port : NULL,
        .tracer = {.start = op_trace_start, .end = op_trace_end, .result = op_trace_result},
        .survey = qs_linux_survey_port,
        .load = qs_linux_load_port,
        .gives_priority = true};
    struct qs_agent_options options;
    if (!take_signals(os) || os->child.null_fd < 0 || os->child.null_in_fd < 0) {
        qs_print(error, QS_LINK_ERROR_BYTES, "cannot set up: %s", strerror(errno));
        return false;
    }
    prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); /* before 3.4 it does not exist: strays then escape */
    fill_options(os, &options);
    qs_agent_init(&os->agent, &port, &options);
    qs_linux_open_spool(os);
    if (os->link.kind == QS_LINK_STDIO) {
        qs_agent_on_link_up(&os->agent);
    }
    return true;
}
