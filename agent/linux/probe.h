/* Sensors and evidence of a Linux machine, from /proc and /sys. Files are found and opened once. */
#ifndef QS_LINUX_PROBE_H
#define QS_LINUX_PROBE_H

#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/port.h"
#include "linux/busy.h"
#include "linux/counter.h"
#include "proto/limits.h"

/* Processes whose work is not a neighbour's, beside the agent and what it has waited for. */
enum qs_kin { QS_KIN_CHILD, QS_KIN_HOST, QS_KIN_COUNT };

enum {
    QS_PROBE_SOURCES = 200, /* of our own */
    QS_PROBE_TEXT_BYTES = 65536,
    QS_PROBE_PROCS = 4096,
    QS_PROBE_PATH_BYTES = 256,
    QS_SLOW_TEXT_BYTES = 32768
};

/* How a source's text becomes a value. The kinds from BUSY on are not a single number of one file. */
enum qs_probe_how {
    QS_PROBE_I64,        /* the file's first number */
    QS_PROBE_LOAD1,      /* /proc/loadavg, in thousandths */
    QS_PROBE_SOME_TOTAL, /* /proc/pressure: total= of the line "some", us */
    QS_PROBE_SOME_AVG10, /* the same line's avg10=, percent as parts per million */
    QS_PROBE_OWN_DELAY,  /* /proc/self/schedstat: run-queue wait, ns */
    QS_PROBE_ALL_DELAY,  /* /proc/schedstat: the same summed over the allowed CPUs */
    QS_PROBE_BUSY,       /* /proc/stat, ticks of the allowed CPUs */
    QS_PROBE_IDLE,
    QS_PROBE_STEAL,
    QS_PROBE_FOREIGN,        /* busy ticks minus our own and our children's processor time */
    QS_PROBE_CHILD_SWITCHES, /* involuntary switches of all children so far */
    QS_PROBE_OWN_SWITCHES,   /* the agent's own, involuntary */
    QS_PROBE_OWN_SLEEPS,     /* the agent's own, voluntary */
    QS_PROBE_OWN_CPU,        /* the agent's own processor time, us */
    QS_PROBE_AGENT_STOPS,    /* what qs_probe_stopped was told */
    QS_PROBE_PROCESS_STOPS,
    QS_PROBE_RELAY,     /* processor time of the process that relays the link, us */
    QS_PROBE_SUSPENDED, /* how long the machine has slept since boot, ns */
    QS_PROBE_BOUND,     /* of the host's making: see struct qs_bound_file */
    QS_PROBE_NOTHING,   /* this kernel has no such file */
};

struct qs_source {
    char kind[QS_NAME_MAX_BYTES + 1];
    enum qs_probe_how how;
    int fd;        /* owned; -1 where no file belongs to it */
    bool evidence; /* it is read around windows */
    bool hidden;   /* the host has made another one of this name */
    bool shunned;  /* its driver does not answer */
};

/* How a sensor of the host's making is read. */
struct qs_bound_file {
    char path[QS_CONTROL_PATH_MAX_BYTES + 1];
    int64_t mul, div, lo, hi;
    const char *words; /* behind the path, a line each; NULL: it says a number */
    struct qs_counter counter;
    uint8_t flags;        /* enum qs_bind_flag of the wire */
    int64_t at_ns, value; /* of a command: when it last had an end, 0: never; what it said then */
    uint8_t status;       /* so */
};

/* A sensor's command that runs; one at a time. */
struct qs_slow {
    pid_t pid; /* and its process group; 0: none runs */
    int fd;    /* what it writes; -1: that has ended */
    bool shut; /* none may begin: a window is near */
    int64_t began_ns, until_ns;
    size_t of, n; /* the bound sensor whose command it is; bytes of text */
    char text[QS_SLOW_TEXT_BYTES];
};

/* Ticks of the allowed CPUs since boot. */
struct qs_ticks {
    bool ok;
    int64_t busy, idle, steal;
};

/* Processor time of one process at the last look. */
struct qs_proc {
    int32_t pid;
    int64_t ticks;
};

struct qs_probe {
    struct qs_source sources[QS_PROBE_SOURCES + QS_BIND_MAX]; /* those of the host last */
    size_t count, own;                                        /* own: without those */
    struct qs_bound_file bound[QS_BIND_MAX];
    struct qs_slow slow;
    int stat_fd;
    const char *sysfs; /* borrowed */
    cpu_set_t allowed;
    int64_t tick_ns;
    struct qs_busy busy;
    int32_t kin[QS_KIN_COUNT]; /* pid; 0: there is none */
    int32_t relay;             /* the process that relays the link; 0: none does */
    int64_t stops[2];          /* by qs_probe_how from QS_PROBE_AGENT_STOPS on */
    struct qs_proc procs[QS_PROBE_PROCS], fresh[QS_PROBE_PROCS];
    size_t proc_count;
    int64_t procs_ns;
    char text[QS_PROBE_TEXT_BYTES];
};

/* Finds and opens what there is. allowed: the CPUs that count. sysfs: "/sys", or a folder that stands for it
 * (borrowed). */
void qs_probe_open(struct qs_probe *probe, const cpu_set_t *allowed, const char *sysfs);
/* A file below the probe's sysfs. False where its name is too long; path is cut then. */
bool qs_probe_path(const struct qs_probe *probe, char *path, size_t cap, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
void qs_probe_close(struct qs_probe *probe);

/* A sensor by name, at now_ns. */
void qs_probe_sensor(struct qs_probe *probe, const char *name, int64_t now_ns,
                     struct qs_port_reading *reading);
/* The process that has this part from now on; 0: nobody. */
void qs_probe_set_kin(struct qs_probe *probe, enum qs_kin kin, int32_t pid);
/* The agent (or else the process that it measures) was stopped, or went on after that. */
void qs_probe_stopped(struct qs_probe *probe, bool agent);
/* See struct qs_port_survey. */
void qs_probe_bind(struct qs_probe *probe, const struct qs_binding *binding);
/* Where its file really is; false: it has none. path: PATH_MAX bytes. */
bool qs_probe_file(const struct qs_source *source, char *path);
/* path, below the probe's sysfs: its driver does not answer. No sensor reads it any more. */
void qs_probe_shun(struct qs_probe *probe, const char *path);
/* How many rows of evidence there are. */
size_t qs_probe_rows(const struct qs_probe *probe);
/* See struct qs_port. */
size_t qs_probe_evidence(struct qs_probe *probe, bool after, struct qs_port_evidence *rows, size_t cap);
/* "name[pid] 97%": who used most processor time since the last call; "" at the first one, or after a pause.
 */
void qs_probe_busiest(struct qs_probe *probe, int64_t now_ns, char *text, size_t cap);
/* "psi,thermal,..." : classes of sources that exist and can be read. */
void qs_probe_capabilities(const struct qs_probe *probe, char *text, size_t cap);

#endif
