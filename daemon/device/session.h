/* The host's half of the protocol with one device's agent (proto/PROTOCOL.md): connects, negotiates, authenticates, keeps the heartbeat and the
 * clock mapping, and carries one run's window through OPEN .. ACK as a table of named states. Policy (which run, when) is the controller's. */
#ifndef QS_DEVICE_SESSION_H
#define QS_DEVICE_SESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "config/farm.h"
#include "proto/msg.h"

struct qs_loop;
struct qs_session;

struct qs_session_agent { /* who answered; borrowed for the callback */
    const char *software, *boot_id, *clock;
    uint32_t features, max_iterations;
    bool simulated;
};

/* Callbacks run on the loop; message structs are views into the frame, borrowed for the call. Every one may be NULL except on_ready and on_down. */
struct qs_session_events {
    /* Connected, authenticated, facts read, clock mapped, everything HELD told: runs may begin. facts_json: canonical object. */
    void (*on_ready)(const struct qs_session_agent *agent, const char *facts_json, void *user);
    /* Link lost or protocol broken; runs in flight are over for the host. The session tries again by itself (backoff 100 ms .. 5 s) until stopped. */
    void (*on_down)(const struct qs_err *why, void *user);
    void (*on_held)(const struct qs_uid *run, uint64_t first_seq, uint64_t next_seq, void *user); /* before on_ready */
    void (*on_clock)(int64_t host_ns, int64_t device_ns, int64_t rtt_ns, void *user); /* best of a burst of round trips, outside windows */
    void (*on_run_ready)(const struct qs_msg_run_ready *m, void *user);
    void (*on_hook_done)(const struct qs_msg_hook_done *m, void *user);
    void (*on_waiting)(const struct qs_msg_waiting *m, void *user);
    /* Asked at ARM: may the window begin now? true sends QUIET (on_quiet follows), false sends HOLD with *why. */
    bool (*may_quiet)(const char **why, void *user);
    void (*on_quiet)(void *user);  /* QUIET is on its way: from here to on_closed the host keeps silent */
    void (*on_disarm)(const char *why, void *user);
    void (*on_closed)(const struct qs_msg_closed *m, bool silent, bool segments_proven, void *user); /* silent: no byte either way by our counters */
    void (*on_iterations)(const struct qs_msg_iterations *m, void *user); /* in order of seq; also resent ones */
    void (*on_run_ended)(const struct qs_msg_run_seq *m, void *user);
    void (*on_error)(const struct qs_uid *run, const struct qs_err *err, void *user); /* the agent's ERROR; run zero: the session */
    void *user;
};

struct qs_session *qs_session_new(struct qs_loop *loop, const struct qs_farm_device *device, const uint8_t farm_uid[16], int64_t heartbeat_ns,
                                  const struct qs_session_events *events);
void qs_session_free(struct qs_session *s); /* stops first; NULL is allowed */
void qs_session_start(struct qs_session *s);
void qs_session_stop(struct qs_session *s); /* BYE, close; no callback comes afterwards */
bool qs_session_is_ready(const struct qs_session *s);
const char *qs_session_state_name(const struct qs_session *s);

/* Each fails with QS_E_CONFLICT where the table has no such move now, and with QS_E_LINK where the link is down. */
bool qs_session_run_begin(struct qs_session *s, const struct qs_msg_run_begin *m, struct qs_err *err);
bool qs_session_hook(struct qs_session *s, const struct qs_msg_hook *m, struct qs_err *err);
bool qs_session_open(struct qs_session *s, const struct qs_msg_open *m, struct qs_err *err);
bool qs_session_ack(struct qs_session *s, const struct qs_uid *run, uint64_t next_seq, struct qs_err *err);
bool qs_session_resend(struct qs_session *s, const struct qs_uid *run, uint64_t from_seq, struct qs_err *err);
bool qs_session_run_end(struct qs_session *s, const struct qs_uid *run, struct qs_err *err);
bool qs_session_cancel(struct qs_session *s, const struct qs_uid *run, const char *why, struct qs_err *err);

/* The table as the diagram of daemon/device/README.md. */
void qs_session_dump(struct qs_buf *out);

#endif
