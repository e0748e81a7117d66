/* Names of what crosses as a number, and the texts both sides must spell alike. */
#ifndef QS_PROTO_NAMES_H
#define QS_PROTO_NAMES_H

#include <stdint.h>

#include "proto/msg.h"

/* Metrics of an iteration beside its duration (getrusage(2) of the process and what it waited for). */
enum qs_metric {
    QS_METRIC_USER_TIME_US = 1,
    QS_METRIC_SYSTEM_TIME_US,
    QS_METRIC_MAX_RSS_BYTES,
    QS_METRIC_MINOR_FAULTS,
    QS_METRIC_MAJOR_FAULTS,
    QS_METRIC_VOLUNTARY_SWITCHES,
    QS_METRIC_INVOLUNTARY_SWITCHES,
    QS_METRIC_BLOCK_IN,
    QS_METRIC_BLOCK_OUT,
    QS_METRIC_LAST = QS_METRIC_BLOCK_OUT,
    QS_METRIC_DECLARED =
        0x8000 /* the first that the program declares (RUN_READY, CLOSED), then one more each */
};
/* "user_time_us", ...; NULL where the id is not known here (a newer agent): keep the number. */
const char *qs_metric_name(uint16_t id);

/* Sensors of a gate and kinds of evidence, read where the kernel has them. Those with a variable part are
 * prefixes. */
#define QS_SENSOR_CPU_BUSY         "cpu.busy_ratio_ppm" /* of the allowed CPUs, over the last 100 ms */
#define QS_SENSOR_CPU_STEAL        "cpu.steal_ticks"
#define QS_SENSOR_CPU_BUSY_TICKS   "cpu.busy_ticks"
#define QS_SENSOR_CPU_IDLE_TICKS   "cpu.idle_ticks"
#define QS_SENSOR_PSI_CPU_SOME     "psi.cpu.some_us"
#define QS_SENSOR_PSI_CPU_AVG10    "psi.cpu.some_avg10_ppm"
#define QS_SENSOR_PSI_IO_SOME      "psi.io.some_us"
#define QS_SENSOR_PSI_MEMORY_SOME  "psi.memory.some_us"
#define QS_SENSOR_LOAD1            "load1_milli"
#define QS_SENSOR_RUN_DELAY        "sched.run_delay_ns"
#define QS_SENSOR_INVOLUNTARY      "sched.involuntary_switches"
#define QS_SENSOR_FOREIGN_BUSY     "foreign.busy_ticks" /* busy minus what our own children used */
#define QS_SENSOR_THERMAL_PREFIX   "thermal:"           /* + zone type, milli-degrees C */
#define QS_SENSOR_FREQ_PREFIX      "freq:"              /* + policy + "_khz" */
#define QS_SENSOR_COOLING_PREFIX   "cooling:"           /* + device type, current state */
#define QS_SENSOR_THROTTLE_PREFIX  "throttle."          /* + "cpuN.count" */
#define QS_SENSOR_AGENT_PREFIX     "agent."             /* the agent's own disturbance */
#define QS_SENSOR_AGENT_STOPS      "agent.stops"        /* it was stopped (SIGSTOP), and went on */
#define QS_SENSOR_PROCESS_STOPS    "process.stops" /* the same of what it measures: each stop and its end */
#define QS_SENSOR_SUSPENDED        "machine.suspended_ns"
#define QS_SENSOR_RELAY            "link.relay_cpu_us" /* of who relays the link for others, too: adbd */
#define QS_SENSOR_PROGRAM_PREFIX   "program."         /* of a harness program: its switches, run-queue wait */
#define QS_SENSOR_PROGRAM_CHILDREN "program.children" /* of a harness program, alive */
/* Resident, of a harness program; else what the window's last process had at most, against its first one. */
#define QS_SENSOR_PROGRAM_RSS "program.rss_bytes"
/* Of what is measured, where RUN_BEGIN asks for it: before as it was asked for, after as the kernel says. */
#define QS_SENSOR_FIFO            "process.fifo_priority" /* 0: not SCHED_FIFO */
#define QS_SENSOR_NICE            "process.nice"
#define QS_SENSOR_FIXED           "process.fixed_addresses" /* 1: without ASLR */
#define QS_SENSOR_START_DELAY     "window.start_delay_ns"   /* harness: deciding reading to first iteration */
#define QS_SENSOR_CLOCK_PRECISION "clock.precision_ns" /* of the benchmark's clock, around a TUNE window */
#define QS_SENSOR_CLOCK_ACCURACY  "clock.accuracy_ns"

/* Words of the enums, as the API and logs spell them; "unknown" for a value outside. */
const char *qs_phase_name(enum qs_phase v);
const char *qs_gate_outcome_name(enum qs_gate_outcome v);
const char *qs_gate_on_timeout_name(enum qs_gate_on_timeout v);
const char *qs_reading_status_name(enum qs_reading_status v);
const char *qs_tune_outcome_name(enum qs_tune_outcome v);
const char *qs_wire_code_name(uint16_t code);
/* The word of exactly one bit of enum qs_iteration_flag ("timed-out"); "unknown" else. Also the taint's code.
 */
const char *qs_iteration_flag_name(uint32_t bit);

#endif
