/* The run and the window that the job run has in hand. Included by impl.h. */
#ifndef QS_DEVICE_JOB_HAND_H
#define QS_DEVICE_JOB_HAND_H

#include "device/window/assembler.h"
#include "device/job/run.h"
#include "device/activity/harness.h"
#include "device/activity/host.h"
#include "proto/msg.h"
#include "stats/controller.h"
#include "store/rows.h"

struct qs_run_in_hand { /* the run in hand */
    struct qs_uid uid;
    bool open_on_agent;
    uint32_t window, attempt; /* of the window in hand */
    uint64_t next_seq;        /* of the device's next iteration */
    uint64_t stored_n;        /* of its windows: the same but in mode stream */
    uint32_t documents;       /* of them, kept as artifacts */
    uint32_t taint;
    uint32_t tried;   /* windows opened */
    double *clean_ns; /* owned: accepted durations, of one evaluation */
    size_t clean_n;
    double *soft_ns; /* owned: completed, but softly tainted */
    size_t soft_n;
    int64_t last_ns; /* the last iteration's duration */
    int64_t measured_ns;
    int64_t began_ns, windows_ns;    /* when it began; how long its windows were open */
    uint32_t failures;               /* iterations with an unexpected end */
    struct qs_controller *stop_rule; /* owned: the stop rule at work; NULL: none, or nothing counted yet */
    bool after_gap;                  /* the last iteration was not accepted */
    size_t warmup_n;                 /* of clean_ns the first so many do not count */
    char stop_reason[256];
    struct qs_job_run_host_run host;
    char exe_path[QS_PATH_MAX_BYTES + 1], exe_sha256[65]; /* "" until RUN_READY */
    struct qs_job_run_program program;
    struct qs_err err;
};

struct qs_window_in_hand {    /* the window in hand */
    struct qs_assembler made; /* what CLOSED and ITERATIONS told, kept until the commit */
    int64_t held_ns; /* since when somebody else's window or transfer holds it back; 0: nobody's does */
    bool held_told;
    char waits_for[200]; /* what the gate, or who else, keeps it waiting for, as last told; "": nothing was */
};

#endif
