/* The host's half of the protocol with one device's agent (proto/PROTOCOL.md): connects, negotiates,
 * authenticates, keeps the heartbeat and the clock mapping, and carries one run's window through OPEN .. ACK
 * as a table of named states (README.md). Policy (which run, when) is the controller's. */
#ifndef QS_DEVICE_SESSION_H
#define QS_DEVICE_SESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "config/farm.h"
#include "link/link.h"
#include "proto/msg.h"

struct qs_loop;
struct qs_session;

/* What the host's side of the link counted around a window: at QUIET (TCP's segments: in the middle of the
 * lead, when the segment that acknowledges QUIET is over), and when the first byte of what ended it came,
 * without that byte's own chunk but with the segments that carried it. */
struct qs_session_quiet {
    bool silent;     /* no byte either way between them by our own socket */
    bool proven;     /* and no TCP segment but those that carried CLOSED and acknowledged it */
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
    void (*on_run_ready)(const struct qs_msg_run_ready *m, void *user);
    void (*on_hook_done)(const struct qs_msg_hook_done *m, void *user);
    void (*on_waiting)(const struct qs_msg_waiting *m, void *user);
    /* Asked at ARM: may the window begin now? true sends QUIET (on_quiet follows), false sends HOLD with
     * *why. */
    bool (*may_quiet)(const char **why, void *user);
    void (*on_quiet)(void *user); /* QUIET is on its way: from here to on_closed the host keeps silent */
    void (*on_disarm)(const char *why, void *user);
    /* The window's end; m->iterations rows follow in on_iterations, and with the last of them (or here, where
     * there are none) the next window may be opened. */
    void (*on_closed)(const struct qs_msg_closed *m, const struct qs_session_quiet *quiet, void *user);
    /* A piece of the window's document, in order, between the two: of runs of mode stream. */
    void (*on_document)(const struct qs_msg_document *m, void *user);
    void (*on_iterations)(const struct qs_msg_iterations *m,
                          void *user); /* in order of seq; also resent ones */
    void (*on_run_ended)(const struct qs_msg_run_ended *m, void *user); /* seq: as many iterations came */
    void (*on_pulled)(const struct qs_msg_pulled *m, void *user);
    void (*on_traced)(const struct qs_msg_traced *m, void *user);
    void (*on_having)(const struct qs_msg_having *m, void *user);
    void (*on_put_at)(const struct qs_msg_put_at *m, void *user);
    void (*on_staged)(const struct qs_msg_staged *m, void *user);
    void (*on_cleaned)(const struct qs_msg_cleaned *m, void *user);
    /* The agent's ERROR about a run (one about the session ends the link: on_down). For a run that is about
     * to open it means that it will not, for a window that waits that it will not open. */
    void (*on_error)(const struct qs_uid *run, const struct qs_err *err, void *user);
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

/* Each fails with QS_E_CONFLICT where the table has no such move now, with QS_E_LINK where the link is down,
 * and with QS_E_LIMIT where the wire or the agent has no room for it; nothing was sent then. */
bool qs_session_run_begin(struct qs_session *s, const struct qs_msg_run_begin *m, struct qs_err *err);
bool qs_session_hook(struct qs_session *s, const struct qs_msg_hook *m, struct qs_err *err);
/* first_seq must continue the run; lease_ns must exceed quiet_lead_ns + max_ns: when no CLOSED came so long
 * after QUIET, the link is given up. */
bool qs_session_open(struct qs_session *s, const struct qs_msg_open *m, struct qs_err *err);
/* For what was committed, of any run. In a silent window it is kept and sent after its end. */
bool qs_session_ack(struct qs_session *s, const struct qs_uid *run, uint64_t next_seq, struct qs_err *err);
/* From from_seq to the last one known, of a run that on_held told or that ran in this session: on_closed and
 * on_iterations of whole windows follow, the first of which may begin below from_seq. */
bool qs_session_resend(struct qs_session *s, const struct qs_uid *run, uint64_t from_seq, struct qs_err *err);
/* Between windows: one piece; on_pulled follows, or on_error about the run. QS_E_LIMIT where the agent has no
 * such feature (qs_session_can_pull). */
bool qs_session_pull(struct qs_session *s, const struct qs_msg_pull *m, struct qs_err *err);
bool qs_session_can_pull(const struct qs_session *s);
/* Does the agent keep standard output and standard error apart? */
bool qs_session_can_part(const struct qs_session *s);
/* Between windows: a tracer is started, or told to end; on_traced follows, or on_error about the run.
 * QS_E_LIMIT where the agent has no such feature (qs_session_can_trace). */
bool qs_session_trace(struct qs_session *s, const struct qs_msg_trace *m, struct qs_err *err);
bool qs_session_trace_stop(struct qs_session *s, const struct qs_uid *run, struct qs_err *err);
bool qs_session_can_trace(const struct qs_session *s);
/* Files, between runs; each is answered by the event of its name before the next may be asked for. QS_E_AGENT
 * where the agent takes none. have: which are there, and how full is it; files: of struct qs_content. */
bool qs_session_can_take_files(const struct qs_session *s);
bool qs_session_have(struct qs_session *s, const struct qs_list *files, struct qs_err *err);
/* A file, then its bytes in order: at most so many at a time as there is room for (0: not before the next
 * on_put_at). The last on_put_at has another status than MORE. */
bool qs_session_push(struct qs_session *s, const struct qs_content *file, struct qs_err *err);
size_t qs_session_push_room(const struct qs_session *s);
bool qs_session_push_data(struct qs_session *s, const void *bytes, size_t n, struct qs_err *err);
bool qs_session_stage(struct qs_session *s, uint16_t dir, const struct qs_list *places, struct qs_err *err);
/* Also gives up a file that is being sent. */
bool qs_session_clean(struct qs_session *s, enum qs_clean_what what, struct qs_err *err);
/* True where the agent has windows of QS_PHASE_TUNE. *ret is what a number that they find depends on of the
 * device; facts of clock, frequencies and processors. Borrowed until the link is lost. */
struct qs_session_place {
    const char *software, *clock, *operating_json;
};
bool qs_session_can_tune(const struct qs_session *s, struct qs_session_place *ret);
bool qs_session_run_end(struct qs_session *s, const struct qs_uid *run, struct qs_err *err);
/* Ends a wait, a hook or a window: its CLOSED or HOOK_DONE follows. Does nothing between them. */
bool qs_session_cancel(struct qs_session *s, const struct qs_uid *run, const char *why, struct qs_err *err);

/* The table as the diagram of daemon/device/README.md. */
void qs_session_dump(struct qs_buf *out);

#endif
