/* The agent on Linux: one process, one thread, one poll. */
#ifndef QS_LINUX_PORT_H
#define QS_LINUX_PORT_H

#include "core/agent.h"
#include "linux/aside.h"
#include "linux/child.h"
#include "linux/command.h"
#include "linux/control.h"
#include "linux/facts.h"
#include "linux/files.h"
#include "linux/guests.h"
#include "linux/harness.h"
#include "linux/heater.h"
#include "linux/link.h"
#include "linux/probe.h"
#include "linux/pull.h"
#include "linux/spool.h"
#include "linux/stream.h"
#include "linux/supervisor.h"
#include "linux/trace.h"

enum { QS_LINUX_RING_BYTES = 8 * 1024 * 1024 };

/* Everything the agent ever uses; static in main.c, so that nothing is allocated later. */
struct qs_linux {
    struct qs_agent agent;
    struct qs_link link;
    struct qs_linux_child child;
    struct qs_commands run, hook;
    struct qs_linux_harness harness;
    struct qs_aside aside;
    struct qs_linux_stream stream;
    struct qs_sums sums;
    struct qs_probe probe;
    struct qs_facts facts;
    struct qs_pull pull;
    struct qs_tracer tracer;
    struct qs_heater heater;
    struct qs_linux_files files;
    struct qs_spool spool;
    const char *spool_dir;     /* borrowed: its folder, whose descriptors `supervised` has; NULL: none */
    uint64_t cache_most_bytes; /* 0: the core's own bound */
    bool has_cache;
    clockid_t clock;
    int signal_fd;
    struct qs_guests guests; /* at the door */
    struct qs_supervised supervised;
    struct qs_control control;
    bool stop;   /* the loop ends */
    bool heard;  /* signals were taken in since the last wait */
    bool broken; /* the link failed while sending */
    char boot_id[QS_NAME_MAX_BYTES];
    uint8_t key[QS_AUTH_KEY_MAX_BYTES];
    size_t key_bytes;
    uint8_t ring[QS_LINUX_RING_BYTES];
    uint8_t bytes[65536];
};

/* Clock, sensors, facts: what --facts needs. sysfs: "/sys", or a folder that stands for it (borrowed).
 * os->control is set already. */
void qs_linux_init(struct qs_linux *os, const char *sysfs);
/* Signals, subreaper, and the agent over os->link, which is open; os->key is set where it needs one. */
bool qs_linux_start(struct qs_linux *os, char error[QS_LINK_ERROR_BYTES]);
/* Where pushed files lie; NULL: where this user keeps such things. False, with a root: `error` says why.
 * Without one the agent takes no files then. */
bool qs_linux_open_cache(struct qs_linux *os, const char *root, char error[QS_LINK_ERROR_BYTES]);
extern const struct qs_port_files qs_linux_files_port;     /* port_files.c */
extern const struct qs_port_control qs_linux_control_port; /* port_control.c */
extern const struct qs_port_survey qs_linux_survey_port;   /* port_survey.c */
/* The agent's own sensors of sysfs, once: one whose driver does not answer is read no more. */
void qs_linux_try_sensors(struct qs_linux *os);
extern const struct qs_port_load qs_linux_load_port; /* port_load.c */
/* Part of it: what an earlier agent has kept in os->spool_dir is this one's, and it keeps there what it
 * measures (port_spool.c). */
void qs_linux_open_spool(struct qs_linux *os);
/* Until the host is gone (stdio) or a signal ends it; then no child is left. */
void qs_linux_run(struct qs_linux *os);
/* A sensor, whose command may begin now; takes in what that has done; and ends it: nothing of it may reach
 * into a window (port_slow.c). */
void qs_linux_read_sensor(struct qs_linux *os, const char *name, struct qs_port_reading *reading);
bool qs_linux_is_settled(struct qs_linux *os);
void qs_linux_look_after_slow(struct qs_linux *os);
void qs_linux_end_slow(struct qs_linux *os);
/* Takes in the signals that have come: to end, and who was stopped. */
void qs_linux_hear_signals(struct qs_linux *os);
const char *qs_linux_clock_name(const struct qs_linux *os);

#endif
