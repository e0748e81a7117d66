/* Requests of commands: JSON in, JSON out, and errors said once with their advice. */
#ifndef QS_CTL_CLIENT_API_H
#define QS_CTL_CLIENT_API_H

#include <jansson.h>

#include "ctl/commands/command.h"
#include "ctl/client/http.h"

/* The connection to the daemon's socket; NULL with the reason said and *ret_code set. */
struct qs_http *qs_api_open(struct qs_ctl *ctl, int *ret_code);
/* The same with a daemon that answers: an embedded one is started where there is none. NULL: *ret_code, all
 * said. */
struct qs_http *qs_api_reach(struct qs_ctl *ctl, int *ret_code);
/* The same, unless a socket was named (--socket, QUIESCE_SOCKET): who names a socket means that daemon. */
struct qs_http *qs_api_reach_own(struct qs_ctl *ctl, int *ret_code);
/* For a command that only reads: the daemon, or where none answers at the usual place one for this command
 * alone, which owns nothing and leaves nothing. */
struct qs_http *qs_api_reach_reading(struct qs_ctl *ctl, int *ret_code);

/* One request. The parsed answer (owned: json_decref), or NULL with the reason said (with --json the
 * daemon's error document on out) and *ret_code set. */
json_t *qs_api_call(struct qs_ctl *ctl, struct qs_http *http, const struct qs_http_request *request,
                    int *ret_code);
/* What such an answer says, of any length; NULL where it is not valid JSON, which is said. */
json_t *qs_api_parse(struct qs_ctl *ctl, const char *path, const struct qs_buf *body, int *ret_code);
json_t *qs_api_get(struct qs_ctl *ctl, struct qs_http *http, const char *path, int *ret_code);
/* The same without parsing; out is appended to. _text ends in a newline, _bytes is what came. */
bool qs_api_bytes(struct qs_ctl *ctl, struct qs_http *http, const char *path, struct qs_buf *out,
                  int *ret_code);
bool qs_api_text(struct qs_ctl *ctl, struct qs_http *http, const char *path, struct qs_buf *out,
                 int *ret_code);

/* Says an error on err (or out, with --json) and returns the exit code by its blame. */
int qs_api_fail(struct qs_ctl *ctl, const struct qs_err *err);
/* The same with advice of its own (NULL: that of the error's kind). */
int qs_api_fail_advised(struct qs_ctl *ctl, const struct qs_err *err, const char *advice);
/* Says the error document of an answer; where the daemon does not know what was asked, that it is of another
 * version and how to end it (asks http once more). */
int qs_api_refused(struct qs_ctl *ctl, struct qs_http *http, const struct qs_http_reply *reply);
/* Pure: the text of an error document. `generated`: the job was not written by a person, so that places in it
 * say nothing. */
void qs_api_error_text(const struct qs_face *face, const char *command, const json_t *error, bool generated,
                       struct qs_buf *out);
int qs_api_exit_of(const char *slug);

/* Fields of objects from the daemon, never NULL; what is missing or of another type reads as the fallback. */
const char *qs_json_get_text(const json_t *object, const char *key, const char *fallback);
int64_t qs_json_get_int(const json_t *object, const char *key, int64_t fallback);
double qs_json_get_number(const json_t *object, const char *key, double fallback);
bool qs_json_get_true(const json_t *object, const char *key);

/* A job's number from an argument ("7", "job 7"); false with a usage error said. */
bool qs_api_job_id(struct qs_ctl *ctl, size_t word, int64_t *ret_id);
/* What an operator should know of the host (`notice`), on standard error; nothing with --json. */
void qs_ctl_notice(struct qs_ctl *ctl, const json_t *doc);
/* Writes text or bytes to out and flushes. */
void qs_ctl_print(FILE *to, const struct qs_buf *text);
/* A document as one line. */
void qs_ctl_print_json(FILE *to, const json_t *doc);

#endif
