/* The parts of a session, each for one file of it. Included by session_impl.h. */
#ifndef QS_DEVICE_SESSION_PARTS_H
#define QS_DEVICE_SESSION_PARTS_H

#include "device/session_table.h"
#include "link/link.h"
#include "proto/msg.h"

struct qs_session_clock { /* one PING is out at a time */
    bool asked;
    uint64_t id;
    int64_t sent_ns;
    unsigned left; /* round trips of the burst still to be asked for */
    bool bursting; /* samples are collected */
    bool has_best;
    int64_t host_ns, device_ns, rtt_ns; /* of the least round trip so far */
    int64_t burst_ns;                   /* when the last burst began */
};

struct qs_session_run { /* the open run and its window */
    struct qs_uid uid;
    uint64_t next_seq; /* of the next iteration */
    uint32_t window, asked, rows_due, rows_come;
    uint32_t arming;              /* of the last ARM */
    uint32_t armings;             /* ARMs since OPEN */
    uint32_t evals, expectations; /* that OPEN asked for */
    uint64_t waitings;            /* since OPEN, at opened_ns of our clock */
    int64_t opened_ns;
    enum qs_phase phase;
    int64_t lead_ns, lease_ns, hook_limit_ns;
    int64_t step_limit_ns; /* harness: of the program's setup and teardown */
    uint32_t hook_id, pull_id, trace_id;
    uint64_t pull_offset;
    uint32_t pull_max_bytes;
    int64_t trace_limit_ns; /* of the answer that is awaited: settling, or ending */
    int64_t trace_stop_ns;
    bool cancelled; /* CANCEL was sent since OPEN */
    bool streams;   /* each window has a document */
};

struct qs_session_metrics { /* what the values of the window in hand are, by its first frame of rows */
    uint16_t ids[QS_METRICS_MAX];
    size_t count;
};

struct qs_session_again { /* a window that is sent again: by its CLOSED, and what came of it since */
    bool known;
    uint32_t window, due, come;
    uint64_t first_seq; /* of its first row; counts where come > 0 */
};

struct qs_session_document { /* of the last CLOSED */
    struct qs_uid run;
    uint32_t window, kept_bytes, come_bytes;
    bool begun;
    enum qs_pull_status status;
    uint64_t total_bytes;
};

struct qs_session_files { /* the last request about them; the file that is being sent */
    uint32_t id;
    enum qs_session_event answer; /* the one that counts */
    uint64_t bytes, sent, taken;
};

struct qs_session_silence { /* from QUIET to the first byte of CLOSED */
    bool on;
    uint32_t noise; /* frames that came or went */
    bool heard;     /* the first byte came */
    bool mark_ok;   /* the segments were read before the agent's lead was over */
    int64_t quiet_ns;
    struct qs_link_counters begin, mark, end;
};

#endif
