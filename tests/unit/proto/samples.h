/* One message of every type with telling values, the same as tests/golden/wire/write.py writes, and the bytes
 * of the golden files. */
#ifndef QS_TESTS_PROTO_SAMPLES_H
#define QS_TESTS_PROTO_SAMPLES_H

#include <stdint.h>

#include "proto/frame.h"
#include "proto/msg.h"

struct sample {
    const char *name; /* of the golden file */
    uint8_t type;
    bool (*encode)(struct qs_writer *w); /* the sample's values */
    int (*recode)(const uint8_t *payload, size_t n,
                  struct qs_writer *w); /* decode, then encode what was decoded */
};
/* In the order of the types, without a gap: sample i has type i + 1. */
extern const struct sample samples[QS_MSG_LAST];

struct golden {
    uint8_t bytes[4096]; /* a whole frame */
    size_t n;
};
/* Reads dir/name.hex: hex digits, spaces, and comments from '#'. Fails the test where it cannot. */
void golden_read(const char *dir, const char *name, struct golden *out);

#endif
