#include "proto/msg.h"

/* One line for each message: its name, who may send it, and its codec. */
struct row {
    const char *name;
    unsigned from; /* enum qs_side bits */
    int (*decode)(const uint8_t *p, size_t n, union qs_msg *m);
    bool (*encode)(struct qs_writer *w, const void *m);
};

#define CODEC(shape)                                                                                         \
    static int decode_##shape(const uint8_t *p, size_t n, union qs_msg *m)                                   \
    {                                                                                                        \
        return qs_msg_decode_##shape(p, n, &m->shape);                                                       \
    }                                                                                                        \
    static bool encode_##shape(struct qs_writer *w, const void *m)                                           \
    {                                                                                                        \
        return qs_msg_encode_##shape(w, m);                                                                  \
    }
CODEC(hello_host)
CODEC(hello_agent)
CODEC(auth)
CODEC(ping)
CODEC(pong)
CODEC(facts)
CODEC(held)
CODEC(run_begin)
CODEC(run_ready)
CODEC(hook)
CODEC(hook_done)
CODEC(open)
CODEC(waiting)
CODEC(window)
CODEC(window_why)
CODEC(closed)
CODEC(iterations)
CODEC(run)
CODEC(run_seq)
CODEC(run_ended)
CODEC(run_why)
CODEC(error)
CODEC(bye)
CODEC(pull)
CODEC(pulled)
CODEC(trace)
CODEC(trace_stop)
CODEC(traced)
CODEC(have)
CODEC(having)
CODEC(put)
CODEC(put_data)
CODEC(put_at)
CODEC(stage)
CODEC(staged)
CODEC(clean)
CODEC(cleaned)
CODEC(document)
#undef CODEC

static int decode_empty(const uint8_t *p, size_t n, union qs_msg *m)
{
    (void)p;
    (void)n;
    (void)m;
    return QS_WIRE_OK;
}

static bool encode_empty(struct qs_writer *w, const void *m)
{
    (void)m;
    return w->ok;
}

enum { HOST = QS_SIDE_HOST, AGENT = QS_SIDE_AGENT, BOTH = QS_SIDE_HOST | QS_SIDE_AGENT };

static const struct row rows[] = {
    [QS_MSG_HELLO_HOST] = {"HELLO_HOST", HOST, decode_hello_host, encode_hello_host},
    [QS_MSG_HELLO_AGENT] = {"HELLO_AGENT", AGENT, decode_hello_agent, encode_hello_agent},
    [QS_MSG_AUTH] = {"AUTH", BOTH, decode_auth, encode_auth},
    [QS_MSG_PING] = {"PING", BOTH, decode_ping, encode_ping},
    [QS_MSG_PONG] = {"PONG", BOTH, decode_pong, encode_pong},
    [QS_MSG_FACTS_GET] = {"FACTS_GET", HOST, decode_empty, encode_empty},
    [QS_MSG_FACTS] = {"FACTS", AGENT, decode_facts, encode_facts},
    [QS_MSG_HELD] = {"HELD", AGENT, decode_held, encode_held},
    [QS_MSG_RESEND] = {"RESEND", HOST, decode_run_seq, encode_run_seq},
    [QS_MSG_RUN_BEGIN] = {"RUN_BEGIN", HOST, decode_run_begin, encode_run_begin},
    [QS_MSG_RUN_READY] = {"RUN_READY", AGENT, decode_run_ready, encode_run_ready},
    [QS_MSG_HOOK] = {"HOOK", HOST, decode_hook, encode_hook},
    [QS_MSG_HOOK_DONE] = {"HOOK_DONE", AGENT, decode_hook_done, encode_hook_done},
    [QS_MSG_OPEN] = {"OPEN", HOST, decode_open, encode_open},
    [QS_MSG_WAITING] = {"WAITING", AGENT, decode_waiting, encode_waiting},
    [QS_MSG_ARM] = {"ARM", AGENT, decode_window, encode_window},
    [QS_MSG_QUIET] = {"QUIET", HOST, decode_window, encode_window},
    [QS_MSG_HOLD] = {"HOLD", HOST, decode_window_why, encode_window_why},
    [QS_MSG_DISARM] = {"DISARM", AGENT, decode_window_why, encode_window_why},
    [QS_MSG_CLOSED] = {"CLOSED", AGENT, decode_closed, encode_closed},
    [QS_MSG_ITERATIONS] = {"ITERATIONS", AGENT, decode_iterations, encode_iterations},
    [QS_MSG_ACK] = {"ACK", HOST, decode_run_seq, encode_run_seq},
    [QS_MSG_RUN_END] = {"RUN_END", HOST, decode_run, encode_run},
    [QS_MSG_RUN_ENDED] = {"RUN_ENDED", AGENT, decode_run_ended, encode_run_ended},
    [QS_MSG_CANCEL] = {"CANCEL", HOST, decode_run_why, encode_run_why},
    [QS_MSG_ERROR] = {"ERROR", BOTH, decode_error, encode_error},
    [QS_MSG_BYE] = {"BYE", BOTH, decode_bye, encode_bye},
    [QS_MSG_PULL] = {"PULL", HOST, decode_pull, encode_pull},
    [QS_MSG_PULLED] = {"PULLED", AGENT, decode_pulled, encode_pulled},
    [QS_MSG_TRACE] = {"TRACE", HOST, decode_trace, encode_trace},
    [QS_MSG_TRACE_STOP] = {"TRACE_STOP", HOST, decode_trace_stop, encode_trace_stop},
    [QS_MSG_TRACED] = {"TRACED", AGENT, decode_traced, encode_traced},
    [QS_MSG_HAVE] = {"HAVE", HOST, decode_have, encode_have},
    [QS_MSG_HAVING] = {"HAVING", AGENT, decode_having, encode_having},
    [QS_MSG_PUT] = {"PUT", HOST, decode_put, encode_put},
    [QS_MSG_PUT_DATA] = {"PUT_DATA", HOST, decode_put_data, encode_put_data},
    [QS_MSG_PUT_AT] = {"PUT_AT", AGENT, decode_put_at, encode_put_at},
    [QS_MSG_STAGE] = {"STAGE", HOST, decode_stage, encode_stage},
    [QS_MSG_STAGED] = {"STAGED", AGENT, decode_staged, encode_staged},
    [QS_MSG_CLEAN] = {"CLEAN", HOST, decode_clean, encode_clean},
    [QS_MSG_CLEANED] = {"CLEANED", AGENT, decode_cleaned, encode_cleaned},
    [QS_MSG_DOCUMENT] = {"DOCUMENT", AGENT, decode_document, encode_document},
};
_Static_assert(sizeof rows / sizeof rows[0] == QS_MSG_LAST + 1, "each message has a row");

static const struct row *find(uint8_t type)
{
    return type >= 1 && type <= QS_MSG_LAST ? &rows[type] : NULL;
}

const char *qs_msg_name(uint8_t type)
{
    const struct row *row = find(type);
    return row ? row->name : "unknown";
}

int qs_msg_accept(uint8_t type, enum qs_side from)
{
    const struct row *row = find(type);
    if (row == NULL)
        return (type & QS_MSG_OPTIONAL) != 0 ? 0 : QS_WIRE_E_TYPE;
    return (row->from & (unsigned)from) != 0 ? 1 : QS_WIRE_E_TYPE;
}

int qs_msg_decode(uint8_t type, const uint8_t *payload, size_t n, union qs_msg *m)
{
    const struct row *row = find(type);
    return row ? row->decode(payload, n, m) : QS_WIRE_E_TYPE;
}

bool qs_msg_encode(uint8_t type, struct qs_writer *w, const void *m)
{
    const struct row *row = find(type);
    return row && row->encode(w, m);
}

static uint32_t smaller(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

int qs_msg_agree(const struct qs_msg_hello_host *host, const struct qs_msg_hello_agent *agent,
                 struct qs_agreed *out)
{
    if (!qs_uid_equal(&host->session, &agent->session))
        return QS_WIRE_E_SESSION;
    uint8_t newest = host->proto_max < agent->proto_max ? host->proto_max : agent->proto_max;
    if (newest < host->proto_min || newest < agent->proto_min)
        return QS_WIRE_E_VERSION;
    uint32_t longest = smaller(smaller(host->max_frame_bytes, agent->max_frame_bytes), QS_FRAME_MAX_BYTES);
    *out = (struct qs_agreed){.proto = newest,
                              .features = host->features & agent->features,
                              .max_frame_bytes = longest,
                              .auth = agent->auth};
    return QS_WIRE_OK;
}
