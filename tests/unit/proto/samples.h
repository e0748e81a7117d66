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
/* The same messages once more, with what other modes than command add to them. */
enum { HARNESS_SAMPLES = 13 };
extern const struct sample harness_samples[HARNESS_SAMPLES];
/* First all samples, then all harness samples. */
enum { SAMPLES_ALL = QS_MSG_LAST + HARNESS_SAMPLES };
const struct sample *sample_at(size_t i);
/* samples_trace.c: of samples[]. */
bool sample_put_trace(struct qs_writer *w);
bool sample_put_trace_stop(struct qs_writer *w);
bool sample_put_traced(struct qs_writer *w);

#define UID(first)                                                                                           \
    {                                                                                                        \
        {                                                                                                    \
            (first), (first) + 1, (first) + 2, (first) + 3, (first) + 4, (first) + 5, (first) + 6,           \
                (first) + 7, (first) + 8, (first) + 9, (first) + 10, (first) + 11, (first) + 12,             \
                (first) + 13, (first) + 14, (first) + 15                                                     \
        }                                                                                                    \
    }

#define RECODE(shape)                                                                                        \
    static int recode_##shape(const uint8_t *payload, size_t n, struct qs_writer *w)                         \
    {                                                                                                        \
        struct qs_msg_##shape m;                                                                             \
        int err = qs_msg_decode_##shape(payload, n, &m);                                                     \
        if (err == QS_WIRE_OK)                                                                               \
            qs_msg_encode_##shape(w, &m);                                                                    \
        return err;                                                                                          \
    }

void sample_count_up(uint8_t *out, size_t n);
/* The list of the texts up to NULL, in mem[512]. */
struct qs_list sample_texts(uint8_t *mem, const char *const *items);

struct golden {
    uint8_t bytes[4096]; /* a whole frame */
    size_t n;
};
/* Reads dir/name.hex: hex digits, spaces, and comments from '#'. Fails the test where it cannot. */
void golden_read(const char *dir, const char *name, struct golden *out);

#endif
