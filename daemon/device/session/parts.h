/* The parts of a session, each for one file of it. Included by impl.h. */
#ifndef QS_DEVICE_SESSION_PARTS_H
#define QS_DEVICE_SESSION_PARTS_H

#include "device/session/session.h"
#include "device/session/table.h"
#include "link/link.h"
#include "proto/msg.h"
#include "proto/request.h"

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

struct qs_session_call {          /* the request that is outstanding */
    const struct qs_request *row; /* NULL: none */
    uint8_t key[QS_REQUEST_KEY_BYTES];
    struct qs_uid run;          /* whose ERROR refuses it; zero: nobody's */
    int64_t limit_ns;           /* for its answer, and again for each further part */
    qs_session_reply *on_reply; /* NULL: nobody waits */
    void *user;
};

struct qs_session_run { /* the open run and its window */
    struct qs_uid uid;
    uint64_t next_seq; /* of the next iteration */
    uint32_t window, asked, rows_due, rows_come;
    uint32_t arming;              /* of the last ARM */
    uint32_t armings, disarms;    /* ARMs and DISARMs since OPEN */
    uint32_t evals, expectations; /* that OPEN asked for */
    uint64_t waitings;            /* since OPEN, at opened_ns of our clock */
    int64_t opened_ns;
    enum qs_phase phase;
    int64_t lead_ns, lease_ns;
    int64_t gate_ns;  /* after which the gate has opened or timed out, */
    int64_t since_ns; /* from here: OPEN, or our last HOLD; or after which a wait has ended, from CANCEL */
    uint64_t pull_offset;
    uint32_t pull_max_bytes;
    bool cancelled; /* CANCEL was sent since OPEN */
    bool streams;   /* each window has a document */
    struct qs_run_events to;
};

struct qs_session_metrics { /* what the values of the window in hand are, by its first frame of rows */
    uint16_t ids[QS_METRICS_MAX];
    size_t count;
};

struct qs_session_again { /* a window that is sent again: by its CLOSED, and what came of it since */
    bool known;
    uint32_t window, due, come;
    uint64_t first_seq; /* of its first row; counts where come > 0 */
    struct qs_run_events to;
};

struct qs_session_document { /* of the last CLOSED */
    struct qs_uid run;
    uint32_t window, kept_bytes, come_bytes;
    bool begun;
    enum qs_pull_status status;
    uint64_t total_bytes;
};

struct qs_session_files { /* the id of the last request about them; the file that is being sent */
    uint32_t id;
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
