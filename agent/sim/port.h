/* A device in memory: the agent's core over a trivial, deterministic model, in virtual time. The driver gives
 * it time and bytes and takes its bytes; the model reads no clock, no file and no randomness but its seed.
 *
 * Commands. argv ["sim", "1000000", ...] takes 1 ms; any other argument vector takes 1 to 10 ms, by its hash.
 * Further arguments of "sim": "exact" (no noise), "exit=N", "hang" (ends when it is killed), "bytes=N"
 * (writes N bytes). A program whose path begins with "/missing" is not found. The same words describe a
 * harness program: its setup and its teardown take 1 ms each, an evaluation takes the given time, and it
 * declares the metric "evals"; "hang" never ends its first iteration, "exit=N" ends with that code instead of
 * running. A process of stream mode that has "values=N" takes N times as long and writes a line with each
 * value in ns; with "times=N" the lines read "run 0: time=1000123 ns". Tracers: trace.c. A device may have a
 * board: bed.h. */
#ifndef QS_SIM_PORT_H
#define QS_SIM_PORT_H

#include "core/agent.h"
#include "core/shared.h"
#include "sim/bed.h"

enum {
    QS_SIM_RING_BYTES = QS_RING_FLOOR_BYTES + QS_DOCUMENT_MAX_BYTES,
    QS_SIM_OUTPUT_BYTES = 4096,
    QS_SIM_HARNESS_BYTES = 640 * 1024,
    QS_SIM_FILES_MAX = 64
};

struct qs_sim_options {
    uint64_t seed;
    int64_t clock_offset_ns; /* device clock minus the driver's */
    /* An iteration lasts base * (1 + run effect + noise), each normal with this standard deviation. */
    int64_t run_effect_ppm, noise_ppm;
    int64_t busy_ppm; /* what cpu.busy_ratio_ppm reads between windows */
    /* A first-order model: towards ambient at rest and ambient + rise under load, with this time constant.
     * rise_mc = 0: no temperature sensor. */
    int64_t ambient_mc, rise_mc, thermal_tau_ns;
    const uint8_t *key; /* borrowed; NULL: links need no proof */
    size_t key_bytes;
    uint64_t disk_bytes; /* of the file system for pushed files; 0: 1 GiB */
    /* Borrowed, open, for this device alone; NULL: no board. With one, the time of a command is what it takes
     * at the highest frequency of its processors' clock. */
    struct qs_sim_bed *bed;
};

/* What a command is, once it was looked at. */
struct qs_sim_command {
    int64_t base_ns;
    bool exact, hang;
    int32_t exit_code;
    uint64_t output_bytes;
    uint32_t values; /* stream: that it writes */
    bool words;      /* stream: around them */
};

struct qs_sim_trace { /* a tracer, and the file of the last one */
    bool on, hang;
    int64_t started_ns, told_ns, ended_ns;
    int64_t end_ns; /* when it will end; INT64_MAX: not by itself */
    uint64_t bytes, max_bytes, total_bytes;
    char file[128], piece[QS_PULL_MAX_BYTES];
};

struct qs_sim {
    struct qs_agent agent;
    struct qs_sim_options options;
    bool (*on_send)(void *ctx, const uint8_t *bytes, size_t n);
    void (*on_close)(void *ctx);
    void *ctx;      /* borrowed */
    int64_t now_ns; /* the driver's clock */
    uint64_t random;
    struct qs_sim_command run, prepare, conclude, hook;
    int64_t run_effect_ppm;
    bool capture, streams;
    uint32_t output_max_bytes;
    bool child_runs;
    struct qs_port_child child; /* how it will end; end_ns is when, INT64_MAX: not by itself */
    struct qs_shared shared;    /* of a harness run: its memory is harness_memory */
    int64_t wake_ns;            /* when its program wakes the agent; INT64_MAX: never */
    bool busy;                  /* it has a window */
    bool loaded;                /* its processors are kept busy */
    struct qs_sim_trace trace;
    struct qs_port_item files[QS_SIM_FILES_MAX]; /* pushed: their sizes, no content */
    size_t file_count;
    uint64_t coming_bytes; /* of the one being pushed */
    int64_t temp_mc, temp_ns, busy_ticks_ns;
    uint64_t written_bytes;
    char output[QS_SIM_OUTPUT_BYTES];
    char boot_id[40];
    uint8_t ring[QS_SIM_RING_BYTES];
    _Alignas(8) uint8_t harness_memory[QS_SIM_HARNESS_BYTES];
};

/* *sim may lie in fresh, untouched memory: only what is needed is written. on_send takes all n bytes (they
 * are borrowed) or returns false where the link is dead; on_close: the agent let go of the link. Neither may
 * call back into *sim. */
void qs_sim_init(struct qs_sim *sim, const struct qs_sim_options *options, int64_t now_ns,
                 bool (*on_send)(void *ctx, const uint8_t *bytes, size_t n), void (*on_close)(void *ctx),
                 void *ctx);
/* Each tells the driver's present time, which never falls, and catches up with it first. */
void qs_sim_on_time(struct qs_sim *sim, int64_t now_ns);
void qs_sim_link_up(struct qs_sim *sim, int64_t now_ns);
void qs_sim_link_down(struct qs_sim *sim, int64_t now_ns);
void qs_sim_on_bytes(struct qs_sim *sim, int64_t now_ns, const uint8_t *bytes, size_t n);
/* Is it there, and free? */
bool qs_sim_takes_link(const struct qs_sim *sim);
/* When it wants to be told the time next, by the driver's clock; INT64_MAX: never. Ask after each call. */
int64_t qs_sim_next_ns(const struct qs_sim *sim);

#endif
