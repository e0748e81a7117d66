#include "proto/msg.h"

/* One line for each message: its name, who may send it, and its codec. */
struct row {
    const char *name;
    unsigned from; /* enum qs_side bits */
    int (*decode)(const uint8_t *p, size_t n, union qs_msg *m);
    bool (*encode)(struct qs_writer *w, const void *m);
};

static int qs_msg_decode_none(const uint8_t *p, size_t n, struct qs_msg_none *m)
{
    (void)p;
    (void)n;
    (void)m;
    return QS_WIRE_OK;
}

static bool qs_msg_encode_none(struct qs_writer *w, const struct qs_msg_none *m)
{
    (void)m;
    return w->ok;
}

#define M(number, symbol, side, shape)                                                                       \
    static int decode_##symbol(const uint8_t *p, size_t n, union qs_msg *m)                                  \
    {                                                                                                        \
        return qs_msg_decode_##shape(p, n, &m->shape);                                                       \
    }                                                                                                        \
    static bool encode_##symbol(struct qs_writer *w, const void *m)                                          \
    {                                                                                                        \
        return qs_msg_encode_##shape(w, m);                                                                  \
    }
QS_MESSAGES(M, M)
#undef M

static const struct row rows[] = {
#define M(number, symbol, side, shape) [number] = {#symbol, QS_SIDE_##side, decode_##symbol, encode_##symbol},
    QS_MESSAGES(M, M)
#undef M
};
_Static_assert(sizeof rows / sizeof rows[0] == QS_MSG_LAST + 1, "their numbers have no gap");

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
