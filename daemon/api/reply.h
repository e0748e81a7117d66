/* Answers. Each is given once; JSON ends in a newline, so that curl is pleasant. */
#ifndef QS_API_REPLY_H
#define QS_API_REPLY_H

#include "api/exchange.h"
#include "config/document/doc.h"

/* Takes the bytes of json and leaves it empty. */
void qs_reply_json(struct qs_exchange *ex, unsigned status, struct qs_buf *json);
/* {"error":{"code","blame","message","advice"}} with the status that fits the code. */
void qs_reply_error(struct qs_exchange *ex, const struct qs_err *err);
/* The same with the problems of a file (QS_E_JOB, QS_E_DATA) and their rendered text; 400. */
void qs_reply_problems(struct qs_exchange *ex, enum qs_errc code, const struct qs_problems *problems,
                       const char *file);
/* The same with the list of what exists; status 404 or 405. */
void qs_reply_routes(struct qs_exchange *ex, unsigned status, const struct qs_err *err);
/* Bytes of a type (static text); takes them and leaves text empty. */
void qs_reply_text(struct qs_exchange *ex, unsigned status, const char *content_type, struct qs_buf *text);
/* A reply without an end that is known: `more` makes it, appending to ex->reply. */
void qs_reply_flow(struct qs_exchange *ex, const char *content_type, qs_exchange_fn *more);
/* ex->reply has grown, or flow.ended or flow.failed was set. */
void qs_flow_wake(struct qs_exchange *ex);

unsigned qs_reply_status(enum qs_errc code);

/* Gives the reply to libmicrohttpd, from its access handler. */
bool qs_reply_queue(struct qs_exchange *ex);

/* Of a daemon that reads: where the one that owns the database listens; owned by the caller, NULL where there
 * is none, or this one owns it. (about.c) */
char *qs_about_owner(const struct qs_exchange *ex);

#endif
