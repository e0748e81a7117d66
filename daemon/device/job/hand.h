/* What the job run has in hand: a point, a block, a run, a window. Included by impl.h. */
#ifndef QS_DEVICE_JOB_HAND_H
#define QS_DEVICE_JOB_HAND_H

#include "config/job/harness.h"
#include "device/job/run.h"
#include "device/window/assembler.h"
#include "device/window/wait.h"
#include "proto/msg.h"
#include "stats/stopping.h"

struct qs_quiet_in_hand {          /* quiet.c */
    bool silent, holds, has_token; /* holds: the store and the pool, too */
    struct qs_timer *again;        /* owned: asks for the token again */
    void (*go_on)(struct qs_job_run *job);
};

struct qs_planning {            /* ask_planner.c */
    struct qs_planner *planner; /* owned: of the point in hand; NULL: nobody asks, or it has answered */
    size_t points;              /* points whose planner was begun */
    size_t iterations;          /* 0: not known */
};

struct qs_point_in_hand {
    bool over;       /* it is done: only its clean-up is left */
    size_t restored; /* points whose earlier blocks have been taken over */
};

struct qs_block_in_hand {
    struct qs_uid *uids; /* owned: its runs, 2 * arms */
    bool *spoiled;       /* owned: which of them gave nothing */
    size_t runs;
    int64_t began_ns;
    uint32_t failed; /* blocks, in a row */
};

struct qs_program { /* of a run in harness mode */
    struct qs_job_layout layout;
    uint32_t header_version, ready_flags; /* RUN_READY; 0: not yet */
    uint32_t evals_max;                   /* 0: any number */
    char cpus[QS_NOTE_MAX_BYTES + 1];     /* that it runs on */
    enum qs_ended_how how;                /* RUN_ENDED */
    int32_t code;
    uint32_t ended_flags;
};

struct qs_run_in_hand {
    struct qs_uid uid;
    bool open_on_agent;
    uint32_t window, attempt; /* of the window in hand */
    uint64_t next_seq;        /* of the device's next iteration */
    uint64_t stored_n;        /* of its windows: the same but in mode stream */
    uint64_t traced_n;        /* of them, of traced windows */
    uint32_t documents;       /* of them, kept as artifacts */
    uint32_t taint;
    uint32_t tried;   /* windows opened */
    double *clean_ns; /* owned: accepted durations, of one evaluation */
    size_t clean_n;
    double *disturbed_ns; /* owned: completed, but softly tainted */
    size_t disturbed_n;
    int64_t last_ns; /* the last iteration's duration */
    int64_t measured_ns;
    int64_t began_ns, windows_ns;  /* when it began; how long its windows were open */
    uint32_t failures;             /* iterations with an unexpected end */
    struct qs_stopping *stop_rule; /* owned: the stop rule at work; NULL: none, or nothing counted yet */
    bool after_gap;                /* the last iteration was not accepted */
    size_t warmup_n;               /* of clean_ns the first so many do not count */
    char stop_reason[256];
    char exe_path[QS_PATH_MAX_BYTES + 1], exe_sha256[65]; /* "" until RUN_READY */
    struct qs_program program;
    struct qs_err err;
};

struct qs_bound_in_hand { /* of an expectation, as OPEN has it */
    int64_t lo, hi;
    bool missing;   /* it is relative to an ambient temperature that nobody knows */
    int64_t age_ns; /* of that; 0 where it is not relative */
};

struct qs_window_in_hand {
    struct qs_assembler made; /* what CLOSED and ITERATIONS told, kept until the commit */
    bool stored;              /* it is on disk */
    bool judged;              /* what it holds is in the run; only the stop rule has not decided yet */
    int64_t held_ns; /* since when somebody else's window or transfer holds it back; 0: nobody's does */
    bool held_told;
    struct qs_wait wait;
    struct qs_bound_in_hand bounds[QS_GATE_MAX];
    bool ambient_known; /* when it began */
    int64_t ambient_mc;
    char waits_for[200]; /* what the gate, or who else, keeps it waiting for, as last told; "": nothing was */
};

#endif
