/* The host's half of the protocol with one device's agent (proto/PROTOCOL.md): connects, negotiates,
 * authenticates, keeps the heartbeat and the clock mapping, and carries one run's window through OPEN .. ACK
 * as a table of named states (README.md). Policy (which run, when) is the job run's. */
#ifndef QS_DEVICE_SESSION_SESSION_H
#define QS_DEVICE_SESSION_SESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "config/farm/farm.h"
#include "link/link.h"
#include "proto/msg.h"

struct qs_loop;
struct qs_session;

/* What the host's side of the link counted around a window: at QUIET (TCP's segments: in the middle of the
 * lead, when the segment that acknowledges QUIET is over), and when the first byte of what ended it came,
 * without that byte's own chunk but with the segments that carried it. */
struct qs_session_quiet {
    bool silent; /* no byte either way between them by our own socket */
    bool proven; /* and no TCP segment but those that carried CLOSED and acknowledged it; or no transfer of
                    USB but those that carried it */
    uint32_t frames; /* that came or went before CLOSED, CANCEL among them */
    bool counted;    /* the readings below are there: not for a window that is sent again */
    struct qs_link_counters from, to;
};

struct qs_session_agent { /* who answered; borrowed for the callback; texts are escaped for a terminal */
    const char *software, *boot_id, *clock;
    uint32_t features, max_iterations;
    bool simulated;
};

/* Callbacks run on the loop, never from inside a call on the session; inside one the session may be stopped
 * or freed. Message structs are views into the frame, borrowed for the call. Every one may be NULL except
 * on_ready and on_down. */
struct qs_session_events {
    /* Connected, authenticated, facts read, clock mapped, everything HELD told: runs may begin. facts_json:
     * canonical object of texts, sorted by key. */
    void (*on_ready)(const struct qs_session_agent *agent, const char *facts_json, void *user);
    /* Link lost, refused or protocol broken, ready or not; runs in flight are over for the host. The session
     * tries again by itself (100 ms .. 5 s, jittered by the loop's randomness) until stopped: a device that
     * is away is told with each try. */
    void (*on_down)(const struct qs_err *why, void *user);
    void (*on_held)(const struct qs_uid *run, uint64_t first_seq, uint64_t next_seq,
                    void *user); /* before ready */
    /* Best of a burst of round trips: 8 before on_ready, 4 between windows when 10 s have passed. Both
     * instants are the same one, on the loop's monotonic and on the device's clock, within rtt_ns / 2. */
    void (*on_clock)(int64_t host_ns, int64_t device_ns, int64_t rtt_ns, void *user);
    /* The agent's ERROR about a run of which nobody is told any more (one about the session ends the link:
     * on_down). */
    void (*on_error)(const struct qs_uid *run, const struct qs_err *err, void *user);
    /* Something about the connection that a person should change, once; the session is left alone inside. */
    void (*on_note)(bool warning, const char *text, void *user);
    void *user;
};

/* What the agent tells of a run and its windows, to who asked: it is handed in with the request (RUN_BEGIN,
 * RESEND). Like the callbacks above; every one may be NULL. */
struct qs_run_events {
    void (*on_waiting)(const struct qs_msg_waiting *m, void *user);
    /* Asked at ARM: may the window begin now? true sends QUIET (on_quiet follows), false sends HOLD with
     * *why. Where nobody is asked, it may not. */
    bool (*may_quiet)(const char **why, void *user);
    void (*on_quiet)(void *user); /* QUIET is on its way: from here to on_closed the host keeps silent */
    void (*on_disarm)(const char *why, void *user);
    /* The window's end; m->iterations rows follow in on_iterations, and with the last of them (or here, where
     * there are none) the next window may be opened. quiet is NULL where it is sent again. */
    void (*on_closed)(const struct qs_msg_closed *m, const struct qs_session_quiet *quiet, void *user);
    /* A piece of the window's document, in order, between the two: of runs of mode stream. */
    void (*on_document)(const struct qs_msg_document *m, void *user);
    void (*on_iterations)(const struct qs_msg_iterations *m, void *user); /* in order of seq */
    /* The agent's ERROR about the run, where it answers no request: a window that waits will not open. */
    void (*on_error)(const struct qs_err *err, void *user);
    void *user;
};

/* heartbeat_ns is clamped to what the wire allows (10 ms .. 60 s). farm_uid must not be zero. */
struct qs_session *qs_session_new(struct qs_loop *loop, const struct qs_farm_device *device,
                                  const uint8_t farm_uid[16], int64_t heartbeat_ns,
                                  const struct qs_session_events *events);
void qs_session_free(struct qs_session *s); /* stops first; NULL is allowed */
void qs_session_start(struct qs_session *s);
void qs_session_stop(struct qs_session *s); /* BYE, close; no callback comes afterwards */
/* The owner has no use for this link as it stands: it is given up, on_down(why) follows, and the next one
 * begins with an agent that has nothing open. Without a link it does nothing. */
void qs_session_drop(struct qs_session *s, const struct qs_err *why);
bool qs_session_is_ready(const struct qs_session *s);
const char *qs_session_state_name(const struct qs_session *s);

/* The answer to a request: m of its reply's type, borrowed for the call; or m NULL where the agent refused
 * it, for this reason. A file's PUT_AT comes more than once. Where the link is lost first, nothing comes but
 * on_down. */
typedef void qs_session_reply(const union qs_msg *m, const struct qs_err *refused, void *user);

struct qs_call {
    enum qs_msg_type type; /* a request of proto/request.h */
    const void *m;         /* its structure */
    int64_t allow_ns;      /* what the work itself may take (a hook's limit), beside the answer's deadline */
    qs_session_reply *on_reply; /* may be NULL */
    void *user;
    /* RUN_BEGIN: told of the run's windows until it is over. RESEND: told of whole windows from the number
     * that m asks for (the first may begin below it) to the last one known, of a run that on_held told or
     * that ran in this session; on_reply is told of a refusal alone. Copied; NULL: nobody is told. */
    const struct qs_run_events *events;
};

/* All that follow fail with QS_E_CONFLICT where there is no place for it now (one request is outstanding at a
 * time, and no window opens meanwhile), with QS_E_LINK where the link is down, with QS_E_LIMIT where the wire
 * or the agent has no room for it, and with QS_E_AGENT where the agent lacks what it needs; nothing was sent
 * then. */
bool qs_session_call(struct qs_session *s, const struct qs_call *call, struct qs_err *err);
/* Who asked is gone: what it has asked is answered to nobody, and nobody is told of its run. */
void qs_session_disown(struct qs_session *s, const void *user);
/* Connected to an agent that has this enum qs_feature bit? */
bool qs_session_has(const struct qs_session *s, uint32_t feature);
/* first_seq must continue the run; lease_ns must exceed quiet_lead_ns + max_ns: when no CLOSED came so long
 * after QUIET, the link is given up. */
bool qs_session_open(struct qs_session *s, const struct qs_msg_open *m, struct qs_err *err);
/* For what was committed, of any run. In a silent window it is kept and sent after its end. */
bool qs_session_ack(struct qs_session *s, const struct qs_uid *run, uint64_t next_seq, struct qs_err *err);
/* Requests about files are numbered in their order: the number of the next one. */
uint32_t qs_session_next_file_id(const struct qs_session *s);
/* The bytes of the file that PUT has announced, in order: at most so many at a time as there is room for (0:
 * not before the next PUT_AT). */
size_t qs_session_push_room(const struct qs_session *s);
bool qs_session_push_data(struct qs_session *s, const void *bytes, size_t n, struct qs_err *err);
/* What the agent's cache for files last said; false before it said anything. */
struct qs_session_cache {
    uint64_t bytes, most_bytes, free_bytes;
};
bool qs_session_cache(const struct qs_session *s, struct qs_session_cache *ret);
/* True where the agent has windows of QS_PHASE_TUNE. *ret is what a number that they find depends on of the
 * device; facts of clock, frequencies and processors. Borrowed until the link is lost. */
struct qs_session_place {
    const char *software, *clock, *operating_json;
};
bool qs_session_can_tune(const struct qs_session *s, struct qs_session_place *ret);
/* Ends a wait, a hook or a window: its CLOSED or HOOK_DONE follows. Does nothing between them. */
bool qs_session_cancel(struct qs_session *s, const struct qs_uid *run, const char *why, struct qs_err *err);

/* The table as the diagram of daemon/device/README.md. */
void qs_session_dump(struct qs_buf *out);

#endif
