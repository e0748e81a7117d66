/* What the core of the agent asks of an operating system. The core has no clock, no descriptors and no
 * globals: everything goes through these operations, which are handed over once, at creation.
 *
 * Rules for a port
 * - One thread. The core calls an operation from inside a qs_agent_on_*() call that the port itself made;
 *   an operation must never call back into the core. What happens later (bytes, the end of a child, the
 *   passing of time) is told by a fresh call of qs_agent_on_*().
 * - Pointers handed to an operation are borrowed for that call, unless the operation says otherwise.
 * - All times are ns of one monotonic clock, the one that HELLO_AGENT names.
 * - Mandatory operations may not be NULL; optional ones may, the core then behaves as described. */
#ifndef QS_AGENT_CORE_PORT_H
#define QS_AGENT_CORE_PORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/port_artifacts.h"
#include "core/port_control.h"
#include "core/port_files.h"
#include "core/port_load.h"
#include "core/port_program.h"
#include "core/port_spool.h"
#include "core/port_state.h"
#include "core/port_survey.h"
#include "core/port_trace.h"

struct qs_msg_run_begin;
struct qs_msg_hook;

enum {
    QS_PORT_METRICS = 9,       /* metric ids 1..9 of the wire, in this order */
    QS_PORT_PATH_BYTES = 4096, /* a resolved path, with its NUL */
    QS_PORT_CPUS_BYTES = 256   /* a list of CPUs such as "0-3,6", with its NUL */
};

/* What a child is for. Prepare and conclude belong to the run; a hook stands alone. */
enum qs_port_job { QS_JOB_ITERATION, QS_JOB_PREPARE, QS_JOB_CONCLUDE, QS_JOB_HOOK, QS_JOB_PROGRAM };

/* LOST: it did not die from SIGKILL (an uninterruptible wait in a driver); the port has let go of it. */
enum qs_port_how { QS_PORT_EXITED, QS_PORT_SIGNALLED, QS_PORT_LOST };

/* How one child ended. */
struct qs_port_child {
    enum qs_port_how how;
    int32_t code;                     /* exit code, or signal number */
    int64_t start_ns;                 /* read directly before the spawn */
    int64_t end_ns;                   /* read directly after the wait */
    int64_t metrics[QS_PORT_METRICS]; /* metrics[id - 1] */
    bool left_children;               /* something it had started was still alive: found and ended */
    bool output_cut;                  /* it wrote more than was kept */
    bool core_dumped;                 /* SIGNALLED: and left a core dump */
};

/* What RUN_BEGIN led to. */
struct qs_port_ready {
    char executable[QS_PORT_PATH_BYTES];
    uint8_t sha256[32]; /* zeros where the file is not readable */
    char cpus[QS_PORT_CPUS_BYTES];
    bool shared_cpu; /* harness: no processor is left for the agent alone */
};

struct qs_port {
    void *ctx; /* borrowed: handed to every operation */

    /* Mandatory: clock and link. send takes all of the bytes or returns false, which means that the link is
     * dead; the port then reports qs_agent_on_link_down(). close_link lets go of the link; the core has
     * already accounted for it and must not be told. random fills in bytes nobody can guess. */
    int64_t (*now_ns)(void *ctx);
    bool (*send)(void *ctx, const uint8_t *bytes, size_t n);
    void (*close_link)(void *ctx);
    void (*random)(void *ctx, uint8_t *bytes, size_t n);

    /* Mandatory: a run. run_begin copies what it needs of *run (it lives for the call alone), resolves the
     * executable and keeps both until run_end. */
    bool (*run_begin)(void *ctx, const struct qs_msg_run_begin *run, struct qs_port_ready *ready,
                      struct qs_port_fault *fault);
    void (*run_end)(void *ctx);

    /* Mandatory: children, one at a time. start begins a job of the current run; start_hook one that stands
     * alone. true: qs_agent_on_child() will follow exactly once. false: nothing was started, *fault says why.
     * end_child asks (hard = false, SIGTERM) or forces (hard = true, SIGKILL) the child's whole process group
     * to end. abandon_child gives it up: the port reports it as QS_PORT_LOST, at the next turn. */
    bool (*start)(void *ctx, enum qs_port_job job, struct qs_port_fault *fault);
    bool (*start_hook)(void *ctx, const struct qs_msg_hook *hook, struct qs_port_fault *fault);
    void (*end_child)(void *ctx, bool hard);
    void (*abandon_child)(void *ctx);

    /* Mandatory: the output of all iterations of a window. window_open empties it; output reads what a window
     * or a hook has written so far. */
    bool (*window_open)(void *ctx, struct qs_port_fault *fault);
    void (*output)(void *ctx, struct qs_port_output *out);

    /* Mandatory: the state of the machine. evidence(after = false) fills in kind, status and before of up to
     * cap rows, returns their number; with after = true it fills in after. fact: false beyond the last. */
    void (*read_sensor)(void *ctx, const char *name, struct qs_port_reading *reading);
    size_t (*evidence)(void *ctx, bool after, struct qs_port_evidence *rows, size_t cap);
    bool (*fact)(void *ctx, size_t index, struct qs_port_fact *fact);

    /* Optional. settled: false while evidence that takes its time is being read, or is too old and begins to
     * be: for that a gate waits; never where none may begin. drain: the link falls silent now (TCP quick
     * acknowledgements, own queue empty). unread: bytes that wait on the link unread; without it 0 is
     * reported. busiest: "name[pid] 98%" of the process that used most processor time since the last call;
     * without it the note stays empty. */
    bool (*settled)(void *ctx);
    void (*drain)(void *ctx);
    uint32_t (*unread)(void *ctx);
    void (*busiest)(void *ctx, char *text, size_t cap);
    /* Optional: without them no stream mode and no PULL is offered, or no file taken (port_artifacts.h). */
    void (*document)(void *ctx, uint8_t *memory, size_t cap, struct qs_port_document *document);
    void (*pull)(void *ctx, const struct qs_msg_pull *pull, struct qs_port_piece *piece);
    const struct qs_port_files *files;     /* borrowed */
    const struct qs_port_control *control; /* borrowed; without it nothing of the device is changed */
    const struct qs_port_spool *spool;     /* borrowed; without it windows are kept in memory alone */

    /* Optional, all or none: runs of harness mode. program_start begins the program of a run that run_begin
     * took in that mode; it is a child like the others (end_child, qs_agent_on_child), and qs_agent_on_wake()
     * is called whenever it says that something has changed. program_go begins a window: the port publishes
     * the start, wakes the program, and sleeps. program_quit asks for its teardown. program_look,
     * program_metric (i < look.metrics) and program_row (i < look.count; the first `metrics` values) copy
     * what it wrote, each word once, until run_end. program_clock reads the clock as the parked one would. */
    bool (*program_start)(void *ctx, struct qs_port_fault *fault);
    void (*program_go)(void *ctx, const struct qs_port_go *go);
    void (*program_quit)(void *ctx);
    void (*program_look)(void *ctx, struct qs_port_look *look);
    bool (*program_metric)(void *ctx, uint32_t i, struct qs_port_metric *metric);
    void (*program_row)(void *ctx, uint32_t i, uint32_t metrics, struct qs_port_row *row);
    void (*program_clock)(void *ctx, struct qs_port_clock *out);
    struct qs_port_tracer tracer; /* optional: its start may be NULL */
    struct qs_port_survey survey; /* optional: all NULL */
    struct qs_port_load load;     /* so */
    bool gives_priority;          /* run_begin and start do what RUN_BEGIN says of it (proto/msg_start.h) */
};

#endif
