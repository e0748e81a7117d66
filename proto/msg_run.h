/* Messages of a run, outside its windows: begin, hooks, acknowledgement, end. */
#ifndef QS_PROTO_MSG_RUN_H
#define QS_PROTO_MSG_RUN_H

#include "proto/auth.h"
#include "proto/msg_harness.h"
#include "proto/msg_start.h"
#include "proto/msg_stream.h"
#include "proto/uid.h"
#include "proto/wire.h"

enum qs_stdin_kind { QS_STDIN_NULL = 0, QS_STDIN_FILE = 1 };
enum qs_output_kind {
    QS_OUTPUT_KIND_DISCARD = 0,
    QS_OUTPUT_KIND_CAPTURE = 1,
    QS_OUTPUT_KIND_APART = 2,
    QS_OUTPUT_KIND_FILE = 3 /* standard output to a file, standard error captured */
};
enum qs_exit_rule { QS_EXIT_RULE_ZERO = 0, QS_EXIT_RULE_ANY = 1, QS_EXIT_RULE_LIST = 2 };

struct qs_msg_run_begin {
    struct qs_uid run;   /* not zero */
    struct qs_list argv; /* of text, 1 .. QS_ARGV_MAX */
    struct qs_list env;  /* of text "K=V", <= QS_ENV_MAX: the whole environment */
    struct qs_text cwd;  /* "": the agent's */
    enum qs_stdin_kind stdin_kind;
    struct qs_text stdin_path; /* empty where stdin_kind is NULL, not empty where FILE */
    enum qs_output_kind output_kind;
    struct qs_text output_path; /* not empty where output_kind is FILE, else empty and not sent */
    uint32_t output_max_bytes;  /* kept of a window (APART: of each stream), <= QS_OUTPUT_MAX_BYTES; the rest
                                 * is  counted */
    int64_t iteration_limit_ns; /* 1 .. QS_SPAN_MAX_NS */
    enum qs_exit_rule exit_rule;
    struct qs_list exit_codes; /* of i32, <= QS_EXIT_CODES_MAX; at least one where the rule is LIST */
    struct qs_text cpus;       /* "": any, else "0-3,6"; <= QS_NOTE_MAX_BYTES */
    struct qs_list prepare;    /* of text: argv before each iteration; empty: none */
    struct qs_list conclude;   /* of text: argv after each iteration; empty: none */
    int64_t hook_limit_ns; /* of each prepare and conclude, 0 .. QS_SPAN_MAX_NS; 0 only where there is none.
                            * HARNESS: of the program's setup and of its teardown, a deadline */
    struct qs_text user;   /* whom all of these run as; "": as the agent; <= QS_NAME_MAX_BYTES */
    enum qs_run_mode mode; /* HARNESS: without prepare and conclude, and `harness` follows */
    struct qs_harness harness;
    struct qs_stream stream; /* STREAM: follows */
    struct qs_start start;   /* not sent where nothing of it is given */
};
bool qs_msg_encode_run_begin(struct qs_writer *w, const struct qs_msg_run_begin *m);
int qs_msg_decode_run_begin(const uint8_t *p, size_t n, struct qs_msg_run_begin *m);

struct qs_msg_run_ready {
    struct qs_uid run;
    struct qs_text executable;       /* resolved path */
    uint8_t sha256[QS_SHA256_BYTES]; /* of the executable; zeros where it is not readable */
    struct qs_text cpus;             /* the affinity achieved */
    uint32_t header_version;         /* of the program's bench.h; 0: not harness mode, and nothing follows */
    uint32_t flags;                  /* enum qs_ready_flag; other bits are refused */
    struct qs_list declared;         /* of struct qs_declared, <= QS_DECLARED_MAX */
    uint32_t evals_max;              /* harness: what one iteration may have; 0: any number, and not sent */
};
bool qs_msg_encode_run_ready(struct qs_writer *w, const struct qs_msg_run_ready *m);
int qs_msg_decode_run_ready(const uint8_t *p, size_t n, struct qs_msg_run_ready *m);

/* A command outside any window: setup, cleanup. */
struct qs_msg_hook {
    uint32_t id;         /* chosen by the host, comes back in HOOK_DONE */
    struct qs_list argv; /* of text, 1 .. */
    struct qs_list env;  /* of text */
    struct qs_text cwd;
    int64_t limit_ns;          /* 1 .. QS_SPAN_MAX_NS */
    uint32_t output_max_bytes; /* the tail that is kept, <= QS_OUTPUT_MAX_BYTES */
    struct qs_text user;       /* as in RUN_BEGIN */
};
bool qs_msg_encode_hook(struct qs_writer *w, const struct qs_msg_hook *m);
int qs_msg_decode_hook(const uint8_t *p, size_t n, struct qs_msg_hook *m);

enum qs_hook_how {
    QS_HOOK_EXITED = 0,
    QS_HOOK_SIGNALLED = 1,
    QS_HOOK_TIMED_OUT = 2,
    QS_HOOK_NOT_STARTED = 3
};
struct qs_msg_hook_done {
    uint32_t id;
    enum qs_hook_how how;
    int32_t code; /* exit code, signal, 0 or errno of the device, by `how` */
    int64_t duration_ns;
    struct qs_text output; /* the tail, any bytes (NUL too), <= QS_OUTPUT_MAX_BYTES */
};
bool qs_msg_encode_hook_done(struct qs_writer *w, const struct qs_msg_hook_done *m);
int qs_msg_decode_hook_done(const uint8_t *p, size_t n, struct qs_msg_hook_done *m);

/* RUN_END */
struct qs_msg_run {
    struct qs_uid run; /* not zero */
};
bool qs_msg_encode_run(struct qs_writer *w, const struct qs_msg_run *m);
int qs_msg_decode_run(const uint8_t *p, size_t n, struct qs_msg_run *m);

/* RESEND, ACK: what seq means is said beside their types in msg.h. */
struct qs_msg_run_seq {
    struct qs_uid run; /* not zero */
    uint64_t seq;      /* <= QS_SEQ_MAX */
};
bool qs_msg_encode_run_seq(struct qs_writer *w, const struct qs_msg_run_seq *m);
int qs_msg_decode_run_seq(const uint8_t *p, size_t n, struct qs_msg_run_seq *m);

struct qs_msg_run_ended {
    struct qs_uid run;     /* not zero */
    uint64_t seq;          /* of the next iteration that would have been, <= QS_SEQ_MAX */
    enum qs_ended_how how; /* COMMAND: nothing follows */
    int32_t code;          /* exit code, or signal */
    uint32_t flags;        /* enum qs_ended_flag; other bits are refused */
};
bool qs_msg_encode_run_ended(struct qs_writer *w, const struct qs_msg_run_ended *m);
int qs_msg_decode_run_ended(const uint8_t *p, size_t n, struct qs_msg_run_ended *m);

/* CANCEL */
struct qs_msg_run_why {
    struct qs_uid run;  /* not zero */
    struct qs_text why; /* <= QS_NOTE_MAX_BYTES */
};
bool qs_msg_encode_run_why(struct qs_writer *w, const struct qs_msg_run_why *m);
int qs_msg_decode_run_why(const uint8_t *p, size_t n, struct qs_msg_run_why *m);

#endif
