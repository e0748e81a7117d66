/* The requests of the host: what is asked, what answers it, when it may be asked, how long the answer may
 * take and what the agent must be able to. One table, which both sides read: the host sends by it (one
 * request is outstanding at a time), the agent accepts by it. */
#ifndef QS_PROTO_REQUEST_H
#define QS_PROTO_REQUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/msg.h"

enum qs_request_phase {
    QS_REQUEST_IDLE = 1, /* no run is open */
    QS_REQUEST_RUN = 2   /* between the windows of the open run */
};

enum { QS_REQUEST_KEY_BYTES = QS_UID_BYTES };

struct qs_request {
    uint8_t type, reply; /* enum qs_msg_type */
    uint8_t phases;      /* enum qs_request_phase bits: when it may be asked */
    uint8_t next;        /* the phase behind the answer; 0: the same */
    uint8_t within;      /* may also be asked while that one is outstanding, which it ends; 0: none */
    bool in_run;  /* its structure begins with the run; the agent's ERROR about that run answers it, too */
    bool windows; /* the answer is windows, as they came before: CLOSED to the last ITERATIONS */
    bool deaf;    /* until it answers, the agent may answer nothing else, not even a heartbeat */
    /* What is the same in both: a run or an id, of key_bytes at these places of the two structures. */
    uint8_t key_bytes;
    size_t key_at, reply_key_at;
    uint32_t feature;  /* enum qs_feature bit; 0: every agent knows it */
    const char *lacks; /* what an agent without it cannot do, for people: "fetches no files" */
    uint32_t amid;     /* the same where a run is open; 0: nothing beside `feature` */
    int64_t reply_ns;  /* the longest wait for the answer or its next part, beside what the request allows */
};

/* NULL where the type is no request. */
const struct qs_request *qs_request_of(uint8_t type);
/* Does a message of this type answer some request, as its one reply? */
bool qs_request_is_reply(uint8_t type);
/* The key of a request's (or, with `reply`, an answer's) structure, zeros behind it. */
void qs_request_key(const struct qs_request *r, bool reply, const void *m, uint8_t ret[QS_REQUEST_KEY_BYTES]);

#endif
