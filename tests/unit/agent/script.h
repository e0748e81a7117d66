/* The core under a scripted port: the test decides what every sensor reads and how every child ends. */
#ifndef QS_TESTS_AGENT_SCRIPT_H
#define QS_TESTS_AGENT_SCRIPT_H

#include "core/agent.h"
#include "peer.h"
#include "script_files.h"
#include "script_knobs.h"

enum { SCRIPT_SENSORS = 4 };

#define MS INT64_C(1000000)
#define S  INT64_C(1000000000)

struct script {
    struct qs_agent *agent;
    struct peer peer;
    uint8_t *ring;
    uint8_t key[32];
    int64_t now_ns;
    bool link_open; /* the port's side of it */
    bool deaf;      /* nothing that is sent arrives */
    bool linger;    /* the child does not end when it is told to */
    struct {
        const char *name;
        struct qs_port_reading reading;
    } sensors[SCRIPT_SENSORS];
    int64_t evidence_ticks;        /* read as "cpu.steal_ticks" */
    const char *third_kind;        /* of evidence; NULL: "another" */
    int64_t third_value, third_hi; /* hi: it is held there */
    uint8_t third_status;
    bool third_steady;
    int64_t evidence_ns; /* that reading it after a window takes */
    uint32_t unread;
    size_t output_bytes;                          /* of a window or a hook; 0: "said" of 40 */
    size_t facts;                                 /* so many, of the greatest length; 0: three short ones */
    int64_t run_begin_ns;                         /* that the next RUN_BEGIN takes */
    bool refuse_run, refuse_start, refuse_window; /* the port's answer to the next ones */
    bool child_runs, asked, forced, abandoned;
    enum qs_port_job job;
    size_t starts[5], run_ends, drains, polls;
    struct qs_port_look look; /* the harness program, as it is looked at */
    struct qs_port_metric metrics[QS_DECLARED_MAX];
    struct qs_port_row rows[8];
    struct qs_port_clock clock; /* what its clock will show */
    struct qs_port_go go;       /* of its last window */
    size_t goes, quits;
    struct {
        bool refuse, runs, file_is_gone;
        size_t asked, forced;
        int64_t ended_ns;
    } tracer;
    struct disk disk;   /* for pushed files */
    struct knobs knobs; /* that are changed */
    struct burden burden;
    struct qs_port_document document; /* what the window's process has written: so many bytes of it */
    size_t documents;
    struct {
        size_t files, value_bytes, error_at; /* so many, of so many bytes; the one that cannot be read */
        char pattern[QS_CONTROL_PATH_MAX_BYTES + 1];
        size_t bound;
        char last_bound[QS_NAME_MAX_BYTES + 1];
    } survey;
};

struct script_options {
    bool no_pull;   /* this port fetches nothing */
    bool no_tracer; /* and starts no tracers */
    bool no_files;  /* nor does it take any files */
    struct disk disk;
    uint64_t cache_most_bytes;
    bool no_stream;  /* it has no stream mode */
    bool no_survey;  /* and looks for no files */
    bool no_control; /* nor does it change any */
    bool no_load;    /* and keeps no processor busy */
    bool key;
    size_t ring_bytes; /* 0: the least */
};

struct script *script_new(const struct script_options *options);
void script_free(struct script *s);
/* The link comes up; nothing is said. */
void script_plug(struct script *s);
/* The link comes up; hello, HELLO_AGENT and HELD are through. Heartbeat 1 s. */
void script_connect(struct script *s);
/* RUN_BEGIN of a new run, state run_open. */
void script_run(struct script *s, const struct run_spec *spec);
/* RUN_BEGIN of a harness run: its program starts. */
void script_program(struct script *s);
/* The program has set itself up: RUN_READY. */
void script_park(struct script *s);
/* OPEN with a true gate, ARM, QUIET: measuring, the first child runs. */
void script_measuring(struct script *s, uint64_t first_seq, uint32_t iterations);
/* Time passes; deadlines are kept on the way. */
void script_pass(struct script *s, int64_t ns);
/* The running child ends with this exit code after ns. */
void script_exit(struct script *s, int64_t ns, int32_t code);
void script_end(struct script *s, const struct qs_port_child *how);
/* The tracer ends. */
void script_tracer_ends(struct script *s);
/* The link is lost, without a word. */
void script_unplug(struct script *s);
void script_sensor(struct script *s, size_t i, const char *name, uint8_t status, int64_t value);

/* The next frame of the agent, which must be of this type. */
const struct letter *script_expect(struct script *s, uint8_t type);
void script_expect_nothing(struct script *s);
void script_expect_closed(struct script *s, struct qs_msg_closed *m);
uint16_t script_expect_error(struct script *s);
/* ERROR with QS_CODE_PROTOCOL, and the link is let go. */
void script_expect_fatal(struct script *s);
void script_expect_state(const struct script *s, enum qs_agent_state state);
/* The same, and this request is worked at. */
void script_expect_work(const struct script *s, enum qs_agent_state state, uint8_t request);

/* Rows of the table that any script has taken so far. */
extern uint8_t script_hits[QS_STATES_ROWS_MAX];

#endif
