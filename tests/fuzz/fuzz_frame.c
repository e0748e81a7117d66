/* The framer: the first byte says how the rest is cut. Whatever arrives, a frame that comes out is whole and
 * next in sequence, and the framer ends where it would with one byte at a time. */
#include <stdlib.h>

#include "fuzz.h"
#include "proto/frame.h"
#include "proto/msg.h"

enum { ROOM = QS_FRAME_HEADER_BYTES + QS_FRAME_FLOOR_BYTES };

struct outcome {
    uint32_t frames;
    uint64_t payload_bytes;
    int err;
};

static struct outcome run(const uint8_t *p, size_t n, size_t piece)
{
    static uint8_t room[ROOM];
    struct qs_framer f;
    struct outcome o = {0, 0, 0};
    qs_framer_init(&f, room, sizeof room);
    while (n > 0) {
        struct qs_frame frame;
        size_t used;
        o.err = qs_framer_feed(&f, p, n < piece ? n : piece, &used, &frame);
        if (o.err < 0)
            break;
        fuzz_require(used <= n && (used > 0 || o.err == 1));
        if (o.err == 1) {
            fuzz_require(frame.seq == o.frames && frame.len <= QS_FRAME_FLOOR_BYTES);
            (void)qs_msg_decode(frame.type, frame.payload, frame.len, &(union qs_msg){0});
            o.frames++;
            o.payload_bytes += frame.len;
        }
        p += used;
        n -= used;
    }
    fuzz_require(f.noise_bytes <= QS_NOISE_MAX_BYTES || o.err == QS_WIRE_E_NOISE);
    return o;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2)
        return 0;
    struct outcome a = run(data + 1, size - 1, (size_t)data[0] + 1);
    struct outcome b = run(data + 1, size - 1, 1);
    fuzz_require(a.frames == b.frames && a.payload_bytes == b.payload_bytes && (a.err < 0) == (b.err < 0));
    return 0;
}
