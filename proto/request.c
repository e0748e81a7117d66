#include "proto/request.h"

#include <string.h>

#define BY(name, what, reply_name)                                                                           \
    .key_bytes = sizeof(((struct qs_msg_##name *)0)->what), .key_at = offsetof(struct qs_msg_##name, what),  \
    .reply_key_at = offsetof(struct qs_msg_##reply_name, what)
#define S(seconds) (INT64_C(1000000000) * (seconds))

enum { ANY = QS_REQUEST_IDLE | QS_REQUEST_RUN };
static const char no_tracers[] = "starts no tracers";
static const char no_survey[] = "does not look for what the device has";
static const char no_control[] =
    "changes nothing on its device, or has no folder where it could keep what to put back (its --state DIR)";
static const char no_load[] = "keeps no processors busy";
static const char no_files[] = "takes no files, or has no place for them (its --cache DIR)";

static const struct qs_request rows[] = {
    {.type = QS_MSG_RESEND,
     .reply = QS_MSG_ITERATIONS,
     .phases = ANY,
     .in_run = true,
     .windows = true,
     BY(run_seq, run, iterations),
     .reply_ns = S(60)},
    {.type = QS_MSG_RUN_BEGIN,
     .reply = QS_MSG_RUN_READY,
     .phases = QS_REQUEST_IDLE,
     .next = QS_REQUEST_RUN,
     .in_run = true,
     .deaf = true, /* it sums up the executable */
     BY(run_begin, run, run_ready),
     .reply_ns = S(60)},
    {.type = QS_MSG_RUN_END,
     .reply = QS_MSG_RUN_ENDED,
     .phases = QS_REQUEST_RUN,
     .next = QS_REQUEST_IDLE,
     .in_run = true,
     BY(run, run, run_ended),
     .reply_ns = S(60)},
    {.type = QS_MSG_HOOK,
     .reply = QS_MSG_HOOK_DONE,
     .phases = ANY,
     BY(hook, id, hook_done),
     .reply_ns = S(60)},
    {.type = QS_MSG_PULL,
     .reply = QS_MSG_PULLED,
     .phases = QS_REQUEST_RUN,
     .in_run = true,
     BY(pull, id, pulled),
     .feature = QS_FEATURE_PULL,
     .lacks = "fetches no files",
     .reply_ns = S(60)},
    {.type = QS_MSG_TRACE,
     .reply = QS_MSG_TRACED,
     .phases = QS_REQUEST_RUN,
     .in_run = true,
     BY(trace, id, traced),
     .feature = QS_FEATURE_TRACE,
     .lacks = no_tracers,
     .reply_ns = S(60)},
    {.type = QS_MSG_TRACE_STOP,
     .reply = QS_MSG_TRACED,
     .phases = QS_REQUEST_RUN,
     .in_run = true,
     BY(trace_stop, id, traced),
     .feature = QS_FEATURE_TRACE,
     .lacks = no_tracers,
     .reply_ns = S(60)},
    {.type = QS_MSG_HAVE,
     .reply = QS_MSG_HAVING,
     .phases = QS_REQUEST_IDLE,
     .deaf = true, /* it may sum up gigabytes */
     BY(have, id, having),
     .feature = QS_FEATURE_FILES,
     .lacks = no_files,
     .reply_ns = S(300)},
    {.type = QS_MSG_PUT,
     .reply = QS_MSG_PUT_AT,
     .phases = QS_REQUEST_IDLE,
     .deaf = true, /* it waits for its disk */
     BY(put, id, put_at),
     .feature = QS_FEATURE_FILES,
     .lacks = no_files,
     .reply_ns = S(60)},
    {.type = QS_MSG_STAGE,
     .reply = QS_MSG_STAGED,
     .phases = QS_REQUEST_IDLE,
     .deaf = true,
     BY(stage, id, staged),
     .feature = QS_FEATURE_FILES,
     .lacks = no_files,
     .reply_ns = S(300)},
    {.type = QS_MSG_CLEAN,
     .reply = QS_MSG_CLEANED,
     .phases = QS_REQUEST_IDLE,
     .within = QS_MSG_PUT,
     .deaf = true,
     BY(clean, id, cleaned),
     .feature = QS_FEATURE_FILES,
     .lacks = no_files,
     .reply_ns = S(300)},
    {.type = QS_MSG_READ,
     .reply = QS_MSG_READINGS,
     .phases = ANY,
     BY(read, id, readings),
     .feature = QS_FEATURE_READ,
     .lacks = "reads no sensors on request",
     .amid = QS_FEATURE_AMID,
     .reply_ns = S(60)},
    {.type = QS_MSG_SURVEY,
     .reply = QS_MSG_SURVEYED,
     .phases = QS_REQUEST_IDLE,
     .deaf = true, /* a driver may take its time */
     BY(survey, id, surveyed),
     .feature = QS_FEATURE_SURVEY,
     .lacks = no_survey,
     .reply_ns = S(120)},
    {.type = QS_MSG_BIND,
     .reply = QS_MSG_BOUND,
     .phases = QS_REQUEST_IDLE,
     .deaf = true,
     BY(bind, id, readings),
     .feature = QS_FEATURE_SURVEY,
     .lacks = no_survey,
     .reply_ns = S(120)},
    {.type = QS_MSG_TUNE,
     .reply = QS_MSG_TUNED,
     .phases = ANY,
     BY(tune, id, tuned),
     .feature = QS_FEATURE_CONTROL,
     .lacks = no_control,
     .amid = QS_FEATURE_SENSE,
     .reply_ns = S(300)},
    {.type = QS_MSG_RESTORE,
     .reply = QS_MSG_RESTORED,
     .phases = QS_REQUEST_IDLE,
     BY(restore, id, restored),
     .feature = QS_FEATURE_CONTROL,
     .lacks = no_control,
     .reply_ns = S(300)},
    {.type = QS_MSG_LOAD,
     .reply = QS_MSG_LOADED,
     .phases = ANY,
     BY(load, id, loaded),
     .feature = QS_FEATURE_LOAD,
     .lacks = no_load,
     .amid = QS_FEATURE_AMID,
     .reply_ns = S(60)},
};

enum { ROWS = sizeof rows / sizeof rows[0] };

/* Which structures begin with their run. */
_Static_assert(offsetof(struct qs_msg_run_begin, run) == 0 && offsetof(struct qs_msg_run, run) == 0 &&
                   offsetof(struct qs_msg_run_seq, run) == 0 && offsetof(struct qs_msg_pull, run) == 0 &&
                   offsetof(struct qs_msg_trace, run) == 0 && offsetof(struct qs_msg_trace_stop, run) == 0,
               "in_run");

const struct qs_request *qs_request_of(uint8_t type)
{
    for (size_t i = 0; i < ROWS; i++) {
        if (rows[i].type == type) {
            return &rows[i];
        }
    }
    return NULL;
}

bool qs_request_is_reply(uint8_t type)
{
    for (size_t i = 0; i < ROWS; i++) {
        if (rows[i].reply == type && !rows[i].windows) {
            return true;
        }
    }
    return false;
}

void qs_request_key(const struct qs_request *r, bool reply, const void *m, uint8_t ret[QS_REQUEST_KEY_BYTES])
{
    memset(ret, 0, QS_REQUEST_KEY_BYTES);
    memcpy(ret, (const uint8_t *)m + (reply ? r->reply_key_at : r->key_at), r->key_bytes);
}
