/* A link that misbehaves by a seeded plan: the bytes of one simulated device, either way, are cut, held back,
 * swallowed, repeated, overtaken, lost and changed at places that the seed chooses. In virtual time, in place
 * of qs_link_open, _send, _bytes, _down, _close and _free (--wrap). */
#ifndef QS_TESTS_UNIT_FARM_FAULTY_H
#define QS_TESTS_UNIT_FARM_FAULTY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

enum fault_kind {
    FAULT_CUT,       /* the connection ends there, and for a while there is none */
    FAULT_DELAY,     /* all that follows comes later, in its order */
    FAULT_STALL,     /* nothing more comes, and nobody is told */
    FAULT_DUPLICATE, /* a piece comes twice */
    FAULT_REORDER,   /* a piece is overtaken by what follows */
    FAULT_TRUNCATE,  /* a piece is missing */
    FAULT_CORRUPT,   /* bits of a piece are others */
    FAULT_KINDS
};

enum fault_way { TO_AGENT, TO_HOST, FAULT_WAYS };

enum { FAULTS_MAX = 8 };

struct fault {
    enum fault_kind kind;
    enum fault_way way;
    int64_t at_ns;    /* since the first connection; 0: at that byte */
    uint64_t at_byte; /* of all that was sent this way, over all connections */
    uint32_t bytes;   /* of the piece; at a time: of those that were sent last, which come again */
    int64_t ns;       /* CUT: until it can connect again; DELAY, REORDER: so much later */
    bool struck;
};

/* What a job takes on a good link. */
struct faulty_usual {
    uint64_t bytes[FAULT_WAYS];
    int64_t ns;
};

/* The plan of this seed for the device of this name; NULL: nothing happens to it. */
void faulty_begin(const char *device, uint64_t seed, const struct faulty_usual *usual);
/* From now on nothing more happens; what is held back comes. */
void faulty_heal(void);
void faulty_end(void);

const char *fault_name(enum fault_kind kind);
/* Of the plan: how many of this kind have struck; all that was sent until now, and the time it took. */
unsigned faulty_struck(enum fault_kind kind);
struct faulty_usual faulty_taken(void);
/* A line for each fault. */
void faulty_text(struct qs_buf *out);

#endif
