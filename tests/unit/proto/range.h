/* The ends of the ranges of messages: the last value that passes and the first that does not. Encoder and
 * decoder share the check; here it is reached through the encoder. */
#ifndef QS_TESTS_PROTO_RANGE_H
#define QS_TESTS_PROTO_RANGE_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "proto/msg.h"

static uint8_t payload[QS_FRAME_MAX_BYTES];

/* n letters; n <= QS_PATH_MAX_BYTES + 1 */
static inline struct qs_text letters(uint16_t n)
{
    static char longest[QS_PATH_MAX_BYTES + 2];
    memset(longest, 'x', sizeof longest);
    return (struct qs_text){.p = longest, .n = n};
}

/* PASSES(bye, &m): does the encoder take it? */
#define PASSES(shape, m) (qs_writer_init(&w, payload, sizeof payload), qs_msg_encode_##shape(&w, m))
/* With m.field set to a good and to a bad value; *m is as before afterwards. */
#define RANGE(shape, m, field, good, bad)                                                                    \
    do {                                                                                                     \
        struct qs_msg_##shape changed = *(m);                                                                \
        changed.field = (good);                                                                              \
        assert_true(PASSES(shape, &changed));                                                                \
        changed.field = (bad);                                                                               \
        assert_false(PASSES(shape, &changed));                                                               \
    } while (0)

#endif
