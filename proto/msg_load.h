/* Processors that are kept busy, so that a device becomes warm. Only where QS_FEATURE_LOAD is agreed, and
 * only between runs (between windows, too, where QS_FEATURE_AMID is agreed). */
#ifndef QS_PROTO_MSG_LOAD_H
#define QS_PROTO_MSG_LOAD_H

#include "proto/wire.h"

/* These processors are kept busy by the agent, instead of those of a LOAD before, until for_ms is over, a
 * run, a window, a tracer or a hook begins, or the run or the session ends. */
struct qs_msg_load {
    uint32_t id;
    struct qs_text cpus; /* "0-3,6", <= QS_CPUS_MAX_BYTES; "": all that the agent may use */
    uint32_t for_ms;     /* <= QS_LOAD_MAX_MS; 0: none from now on */
};
bool qs_msg_encode_load(struct qs_writer *w, const struct qs_msg_load *m);
int qs_msg_decode_load(const uint8_t *p, size_t n, struct qs_msg_load *m);

enum qs_load_outcome {
    QS_LOAD_OFF = 1,     /* none is kept busy, as was asked for */
    QS_LOAD_ON = 2,      /* they are */
    QS_LOAD_NO_CPUS = 3, /* the agent may not use all of these, or it is no such list: none is */
    QS_LOAD_FAILED = 4   /* no process could be started: none is */
};
struct qs_msg_loaded {
    uint32_t id;
    enum qs_load_outcome outcome;
};
bool qs_msg_encode_loaded(struct qs_writer *w, const struct qs_msg_loaded *m);
int qs_msg_decode_loaded(const uint8_t *p, size_t n, struct qs_msg_loaded *m);

#endif
