/* A tracer beside the windows of a run: started before a traced window, stopped after it; only where
 * QS_FEATURE_TRACE is agreed. What it wrote is fetched with PULL (QS_PULL_TRACE). */
#ifndef QS_PROTO_MSG_TRACE_H
#define QS_PROTO_MSG_TRACE_H

#include "proto/uid.h"
#include "proto/wire.h"

/* Starts the tracer. In its words {pid} is the process to look at (the program of a harness run; in command
 * mode the agent, whose children the iterations are), {output} the file that it writes, {agent} the agent's
 * own executable. */
struct qs_msg_trace {
    struct qs_uid run;    /* not zero: the open one */
    uint32_t id;          /* chosen by the host, comes back */
    struct qs_list argv;  /* of text: 1 .. QS_ARGV_MAX, within QS_ARGV_MAX_BYTES */
    struct qs_list env;   /* of text "K=V": <= QS_ENV_MAX, within QS_ENV_MAX_BYTES; the whole environment */
    struct qs_text cwd;   /* <= QS_PATH_MAX_BYTES; "": the agent's own */
    struct qs_text input; /* any bytes: its standard input; empty: /dev/null */
    struct qs_text user;  /* whom it runs as, <= QS_NAME_MAX_BYTES; "": the agent's own */
    int64_t settle_ns;    /* span: it stands where it has not ended so long after its start */
    int64_t stop_ns;      /* deadline: from SIGINT to SIGKILL */
    uint64_t max_bytes;   /* of the file, 1 .. QS_TRACE_MAX_BYTES: the kernel lets it write no more */
};
bool qs_msg_encode_trace(struct qs_writer *w, const struct qs_msg_trace *m);
int qs_msg_decode_trace(const uint8_t *p, size_t n, struct qs_msg_trace *m);

struct qs_msg_trace_stop {
    struct qs_uid run; /* not zero: the open one */
    uint32_t id;       /* of the TRACE that it ends */
};
bool qs_msg_encode_trace_stop(struct qs_writer *w, const struct qs_msg_trace_stop *m);
int qs_msg_decode_trace_stop(const uint8_t *p, size_t n, struct qs_msg_trace_stop *m);

enum qs_trace_status {
    QS_TRACE_RUNS = 0,    /* to TRACE: a traced window may be opened */
    QS_TRACE_STOPPED = 1, /* to TRACE_STOP: the file is there */
    QS_TRACE_MISSING = 2  /* to either: there is no trace; why says why */
};

enum qs_trace_flag {
    QS_TRACE_KILLED = 1 << 0,        /* it did not end within stop_ns */
    QS_TRACE_CUT = 1 << 1,           /* the file has max_bytes: there may have been more */
    QS_TRACE_ENDED_EARLY = 1 << 2,   /* it ended before it was told to */
    QS_TRACE_LEFT_CHILDREN = 1 << 3, /* what it left behind was ended */
    QS_TRACE_FLAGS = (1 << 4) - 1
};

/* Times of the agent's clock. */
struct qs_msg_traced {
    uint32_t id;
    enum qs_trace_status status;
    uint32_t flags;       /* enum qs_trace_flag */
    int64_t started_ns;   /* directly before its start; 0 where it was not started */
    int64_t stopped_ns;   /* when it was told to end, or had ended by itself; 0 before */
    uint64_t total_bytes; /* of the file */
    struct qs_text said;  /* any bytes: the end of what it wrote to its outputs, <= QS_TRACE_SAID_MAX_BYTES */
    struct qs_text why;   /* for people, where status is MISSING */
};
bool qs_msg_encode_traced(struct qs_writer *w, const struct qs_msg_traced *m);
int qs_msg_decode_traced(const uint8_t *p, size_t n, struct qs_msg_traced *m);

#endif
