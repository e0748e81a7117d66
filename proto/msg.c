#include "proto/msg.h"

/* One line for each message: its name, who may send it, and its decoder. */
struct row {
    const char *name;
    unsigned from; /* enum qs_side bits */
    int (*check)(const uint8_t *p, size_t n);
};

/* Decodes into a structure that is dropped. */
#define CHECK(shape)                                                                                         \
    static int check_##shape(const uint8_t *p, size_t n)                                                     \
    {                                                                                                        \
        struct qs_msg_##shape m;                                                                             \
        return qs_msg_decode_##shape(p, n, &m);                                                              \
    }
CHECK(hello_host)
CHECK(hello_agent)
CHECK(auth)
CHECK(ping)
CHECK(pong)
CHECK(facts)
CHECK(held)
CHECK(run_begin)
CHECK(run_ready)
CHECK(hook)
CHECK(hook_done)
CHECK(open)
CHECK(waiting)
CHECK(window)
CHECK(window_why)
CHECK(closed)
CHECK(iterations)
CHECK(run)
CHECK(run_seq)
CHECK(run_ended)
CHECK(run_why)
CHECK(error)
CHECK(bye)
CHECK(pull)
CHECK(pulled)
CHECK(trace)
CHECK(trace_stop)
CHECK(traced)
CHECK(have)
CHECK(having)
CHECK(put)
CHECK(put_data)
CHECK(put_at)
CHECK(stage)
CHECK(staged)
CHECK(clean)
CHECK(cleaned)
CHECK(document)
#undef CHECK

static int check_empty(const uint8_t *p, size_t n)
{
    (void)p;
    (void)n;
    return QS_WIRE_OK;
}

enum { HOST = QS_SIDE_HOST, AGENT = QS_SIDE_AGENT, BOTH = QS_SIDE_HOST | QS_SIDE_AGENT };

static const struct row rows[] = {
    [QS_MSG_HELLO_HOST] = {"HELLO_HOST", HOST, check_hello_host},
    [QS_MSG_HELLO_AGENT] = {"HELLO_AGENT", AGENT, check_hello_agent},
    [QS_MSG_AUTH] = {"AUTH", BOTH, check_auth},
    [QS_MSG_PING] = {"PING", BOTH, check_ping},
    [QS_MSG_PONG] = {"PONG", BOTH, check_pong},
    [QS_MSG_FACTS_GET] = {"FACTS_GET", HOST, check_empty},
    [QS_MSG_FACTS] = {"FACTS", AGENT, check_facts},
    [QS_MSG_HELD] = {"HELD", AGENT, check_held},
    [QS_MSG_RESEND] = {"RESEND", HOST, check_run_seq},
    [QS_MSG_RUN_BEGIN] = {"RUN_BEGIN", HOST, check_run_begin},
    [QS_MSG_RUN_READY] = {"RUN_READY", AGENT, check_run_ready},
    [QS_MSG_HOOK] = {"HOOK", HOST, check_hook},
    [QS_MSG_HOOK_DONE] = {"HOOK_DONE", AGENT, check_hook_done},
    [QS_MSG_OPEN] = {"OPEN", HOST, check_open},
    [QS_MSG_WAITING] = {"WAITING", AGENT, check_waiting},
    [QS_MSG_ARM] = {"ARM", AGENT, check_window},
    [QS_MSG_QUIET] = {"QUIET", HOST, check_window},
    [QS_MSG_HOLD] = {"HOLD", HOST, check_window_why},
    [QS_MSG_DISARM] = {"DISARM", AGENT, check_window_why},
    [QS_MSG_CLOSED] = {"CLOSED", AGENT, check_closed},
    [QS_MSG_ITERATIONS] = {"ITERATIONS", AGENT, check_iterations},
    [QS_MSG_ACK] = {"ACK", HOST, check_run_seq},
    [QS_MSG_RUN_END] = {"RUN_END", HOST, check_run},
    [QS_MSG_RUN_ENDED] = {"RUN_ENDED", AGENT, check_run_ended},
    [QS_MSG_CANCEL] = {"CANCEL", HOST, check_run_why},
    [QS_MSG_ERROR] = {"ERROR", BOTH, check_error},
    [QS_MSG_BYE] = {"BYE", BOTH, check_bye},
    [QS_MSG_PULL] = {"PULL", HOST, check_pull},
    [QS_MSG_PULLED] = {"PULLED", AGENT, check_pulled},
    [QS_MSG_TRACE] = {"TRACE", HOST, check_trace},
    [QS_MSG_TRACE_STOP] = {"TRACE_STOP", HOST, check_trace_stop},
    [QS_MSG_TRACED] = {"TRACED", AGENT, check_traced},
    [QS_MSG_HAVE] = {"HAVE", HOST, check_have},
    [QS_MSG_HAVING] = {"HAVING", AGENT, check_having},
    [QS_MSG_PUT] = {"PUT", HOST, check_put},
    [QS_MSG_PUT_DATA] = {"PUT_DATA", HOST, check_put_data},
    [QS_MSG_PUT_AT] = {"PUT_AT", AGENT, check_put_at},
    [QS_MSG_STAGE] = {"STAGE", HOST, check_stage},
    [QS_MSG_STAGED] = {"STAGED", AGENT, check_staged},
    [QS_MSG_CLEAN] = {"CLEAN", HOST, check_clean},
    [QS_MSG_CLEANED] = {"CLEANED", AGENT, check_cleaned},
    [QS_MSG_DOCUMENT] = {"DOCUMENT", AGENT, check_document},
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

int qs_msg_check(uint8_t type, const uint8_t *payload, size_t n)
{
    const struct row *row = find(type);
    return row ? row->check(payload, n) : QS_WIRE_E_TYPE;
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
