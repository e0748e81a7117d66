/* Somebody who speaks in a device's place, or in the host's: frames that are whole and in their number, with
 * what they must not say. The real messages of one simulated device, one way, are left out, repeated,
 * swapped, replaced, changed and mixed with others by a seeded plan. In place of qs_link_open, _send, _bytes
 * and qs_session_send_error (--wrap). */
#ifndef QS_TESTS_UNIT_FARM_MEDDLER_H
#define QS_TESTS_UNIT_FARM_MEDDLER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

enum meddle_kind {
    MEDDLE_OMIT,
    MEDDLE_REPEAT,  /* it comes again and again */
    MEDDLE_SWAP,    /* it comes behind the next one */
    MEDDLE_INSERT,  /* a sample of any message comes before it */
    MEDDLE_REPLACE, /* or in its place */
    MEDDLE_ALTER,   /* a byte of it is another: a number, a count, an identity */
    MEDDLE_KINDS
};

/* The plan of this seed for the device of this name: as its agent, or as the host. */
void meddler_begin(const char *device, uint64_t seed, bool as_host);
/* From now on all is passed on as it is. */
void meddler_heal(void);
void meddler_end(void);

const char *meddle_name(enum meddle_kind kind);
/* Of the plan: how often a kind was done. */
unsigned meddler_done(enum meddle_kind kind);
/* Bytes of memory that were in use at most while it spoke, beyond those at its begin. */
size_t meddler_most_bytes(void);
/* Each act, and each reason for which the device lost its link, a line. */
void meddler_text(struct qs_buf *out);
/* Each of them names the device. */
bool meddler_was_named(void);
/* How many reasons there were that differ in more than their numbers, over all plans. */
size_t meddler_reasons(void);
void meddler_forget_reasons(void);

#endif
