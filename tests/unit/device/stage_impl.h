/* What the files of the stage share. */
#ifndef QS_TEST_DEVICE_STAGE_IMPL_H
#define QS_TEST_DEVICE_STAGE_IMPL_H

#include <stdio.h>

#include "base/mem.h"
#include "stage.h"

/* Before an answer: does the test want trouble here? */
void stage_strike_now(struct stage *s);
struct stage_run *stage_find(struct stage *s, const struct qs_uid *uid);
/* The answer after a delay, unless the link is lost meanwhile or something else was asked. */
void stage_later(struct stage *s, int64_t delay_ns, void (*tell)(struct stage *s));
struct stage *stage_of(struct qs_session *session);
/* As the real session: refused with the link down, or where the state has no such move. */
bool stage_may(struct stage *s, enum stage_session wanted, const char *what, struct qs_err *err);
/* The link is lost for this reason; it is told in the next turn. */
void stage_lose(struct stage *s, const struct qs_err *why);
/* False where this call on the session is one that the test wants to fail. */
bool stage_sends(struct stage *s, struct qs_err *err);
/* The agent's answer to the last request, or its refusal. */
void stage_reply(struct stage *s, const union qs_msg *m);
void stage_refuse(struct stage *s, const struct qs_err *why);
/* Requests of traces and files. */
bool stage_ask_trace(struct stage *s, const void *message, struct qs_err *err);
bool stage_ask_trace_stop(struct stage *s, const void *message, struct qs_err *err);
bool stage_ask_have(struct stage *s, const void *message, struct qs_err *err);
bool stage_ask_put(struct stage *s, const void *message, struct qs_err *err);
bool stage_ask_stage(struct stage *s, const void *message, struct qs_err *err);
bool stage_ask_clean(struct stage *s, const void *message, struct qs_err *err);
/* stage_trace.c: is this window what it should be? */
void stage_check_phase(struct stage *s, const struct qs_msg_open *m);
/* stage_actions.c: sensors that are read, processors that are kept busy; a line of the log of struct
 * stage_acting, where there is one. */
bool stage_ask_read(struct stage *s, const void *message, struct qs_err *err);
bool stage_ask_load(struct stage *s, const void *message, struct qs_err *err);
void stage_act_note(struct stage *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* The link is there again, nothing is open on the agent. */
void stage_session_reset(struct stage *s);

#endif
