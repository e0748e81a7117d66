/* A sealed stream: the first byte says how it is cut, four more what is changed in it, the rest are frames of
 * the host, whose key is that of tests/golden/wire/write.py. Whatever arrives, a frame that comes out has the
 * right seal; and of frames that were sealed here, none comes out from the one on that was changed. */
#include <string.h>

#include "fuzz.h"
#include "proto/frame.h"
#include "proto/msg.h"

enum { HEAD = 5, FRAMES_MOST = 16, PAYLOAD_MOST = 64 };

static void keys(struct qs_seal *host, struct qs_seal *agent)
{
    uint8_t key[40], hellos[QS_SHA256_BYTES], nonce[QS_NONCE_BYTES];
    struct qs_uid session, farm;
    for (uint8_t i = 0; i < sizeof key; i++) {
        key[i] = i;
        hellos[i % QS_SHA256_BYTES] = i % QS_SHA256_BYTES;
        nonce[i % QS_NONCE_BYTES] = (uint8_t)(0xd0 + i % QS_NONCE_BYTES);
        session.b[i % QS_UID_BYTES] = (uint8_t)(0xb0 + i % QS_UID_BYTES);
        farm.b[i % QS_UID_BYTES] = (uint8_t)(0xa0 + i % QS_UID_BYTES);
    }
    qs_seal_make(key, sizeof key, &session, nonce, &farm, hellos, host, agent);
}

/* The frame as its owner would send it: the same seal. */
static bool is_sealed(const struct qs_frame *frame, const struct qs_seal *seal)
{
    static uint8_t room[QS_FRAME_BUF_BYTES];
    struct qs_writer w;
    qs_writer_init(&w, room, sizeof room);
    size_t at = qs_frame_begin(&w);
    qs_put_bytes(&w, frame->payload, frame->len);
    return qs_frame_end_sealed(&w, at, frame->type, frame->seq, seal) &&
           memcmp(room + w.len - QS_SEAL_BYTES, frame->payload + frame->len, QS_SEAL_BYTES) == 0;
}

/* How many frames come out. */
static uint32_t run(const struct qs_seal *seal, const uint8_t *p, size_t n, size_t piece, bool *ret_ended)
{
    static uint8_t room[QS_FRAME_BUF_BYTES];
    struct qs_framer f;
    uint32_t frames = 0;
    qs_framer_init(&f, room, sizeof room);
    f.seal = *seal;
    f.synced = true; /* a greeting has none, and precedes it */
    *ret_ended = false;
    while (n > 0) {
        struct qs_frame frame;
        size_t used;
        int got = qs_framer_feed(&f, p, n < piece ? n : piece, &used, &frame);
        *ret_ended = got < 0;
        if (got < 0)
            break;
        fuzz_require(used <= n && (used > 0 || got == 1));
        if (got == 1) {
            fuzz_require(frame.seq == frames && frame.len <= QS_FRAME_MAX_BYTES && is_sealed(&frame, seal));
            (void)qs_msg_decode(frame.type, frame.payload, frame.len, &(union qs_msg){0});
            frames++;
        }
        p += used;
        n -= used;
    }
    return frames;
}

/* Frames whose payloads are pieces of the input; returns their number, and where each ends. */
static size_t seal_frames(const struct qs_seal *seal, const uint8_t *p, size_t n, struct qs_writer *w,
                          size_t ends[FRAMES_MOST])
{
    size_t count = 0;
    for (; count < FRAMES_MOST && n > 0; count++) {
        size_t len = p[0] % PAYLOAD_MOST < n - 1 ? p[0] % PAYLOAD_MOST : n - 1;
        size_t at = qs_frame_begin(w);
        qs_put_bytes(w, p + 1, len);
        fuzz_require(qs_frame_end_sealed(w, at, QS_MSG_PUT_DATA, (uint32_t)count, seal));
        ends[count] = w->len;
        p += 1 + len;
        n -= 1 + len;
    }
    return count;
}

static void meddle(const struct qs_seal *host, const struct qs_seal *agent, const uint8_t *data, size_t size)
{
    static uint8_t room[FRAMES_MOST * (QS_FRAME_HEADER_BYTES + PAYLOAD_MOST + QS_SEAL_BYTES)];
    struct qs_writer w;
    size_t ends[FRAMES_MOST], good = 0, piece = (size_t)data[0] + 1;
    bool ended;
    qs_writer_init(&w, room, sizeof room);
    size_t count = seal_frames(host, data + HEAD, size - HEAD, &w, ends);
    if (count == 0)
        return;
    fuzz_require(run(host, room, w.len, piece, &ended) == count && !ended);
    fuzz_require(run(agent, room, w.len, piece, &ended) == 0 && ended);
    size_t at = ((size_t)data[1] | (size_t)data[2] << 8) % w.len;
    if (data[3] == 0)
        return;
    room[at] ^= data[3];
    while (ends[good] <= at)
        good++;
    fuzz_require(run(host, room, w.len, piece, &ended) == good);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct qs_seal host, agent;
    bool ended[2];
    if (size <= HEAD)
        return 0;
    keys(&host, &agent);
    uint32_t pieces = run(&host, data + HEAD, size - HEAD, (size_t)data[0] + 1, &ended[0]);
    uint32_t bytes = run(&host, data + HEAD, size - HEAD, 1, &ended[1]);
    fuzz_require(pieces == bytes && ended[0] == ended[1]);
    meddle(&host, &agent, data, size);
    return 0;
}
