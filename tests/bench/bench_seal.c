/* What the seal of a keyed session costs: frames of three sizes, framed and taken apart again, with seals on
 * both sides and without; CPU time, rounds in turn. 4 KiB are about what 50 iterations with rusage take. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "proto/frame.h"
#include "proto/msg.h"
#include "scale.h"
#include "stats/describe.h"
#include "stats/interval.h"

enum { ROUNDS = 9, BYTES = QS_FULL_OR_SMOKE(1 << 24, 1 << 16), FRAMES_MOST = 1 << 16 };

static _Noreturn void die(const char *what)
{
    fprintf(stderr, "bench_seal: %s\n", what);
    exit(1);
}

static double cpu_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void make_seal(struct qs_seal *host)
{
    static const uint8_t key[32] = {1}, nonce[QS_NONCE_BYTES] = {2}, hellos[QS_SHA256_BYTES] = {3};
    static const struct qs_uid session = {{4}}, farm = {{5}};
    struct qs_seal agent;
    qs_seal_make(key, sizeof key, &session, nonce, &farm, hellos, host, &agent);
}

/* Seconds for each of so many frames. */
static double frames_s(const struct qs_seal *seal, size_t size, size_t count)
{
    static uint8_t sent[QS_FRAME_BUF_BYTES], room[QS_FRAME_BUF_BYTES], payload[QS_FRAME_MAX_BYTES];
    struct qs_framer f;
    double began_s = cpu_s();
    qs_framer_init(&f, room, sizeof room);
    f.synced = true;
    f.seal = *seal;
    for (size_t i = 0; i < count; i++) {
        struct qs_writer w;
        struct qs_frame frame;
        size_t used;
        payload[0] = (uint8_t)i;
        qs_writer_init(&w, sent, sizeof sent);
        size_t at = qs_frame_begin(&w);
        qs_put_bytes(&w, payload, size);
        if (!qs_frame_end_sealed(&w, at, QS_MSG_PUT_DATA, (uint32_t)i, seal) ||
            qs_framer_feed(&f, sent, w.len, &used, &frame) != 1 || frame.len != size ||
            frame.payload[0] != payload[0])
            die("a frame is refused");
    }
    return (cpu_s() - began_s) / (double)count;
}

static double median(const double *x)
{
    double m = 0;
    if (qs_median(x, ROUNDS, &m) != QS_OK)
        die("no median");
    return m;
}

static void measure(size_t size)
{
    static const struct qs_seal none;
    struct qs_seal seal;
    double plain_s[ROUNDS], sealed_s[ROUNDS], ratio[ROUNDS];
    struct qs_median_ci ci;
    size_t count = BYTES / size < FRAMES_MOST ? BYTES / size : FRAMES_MOST;
    make_seal(&seal);
    for (int r = 0; r < ROUNDS; r++) {
        plain_s[r] = r % 2 == 0 ? frames_s(&none, size, count) : 0;
        sealed_s[r] = frames_s(&seal, size, count);
        plain_s[r] = r % 2 == 0 ? plain_s[r] : frames_s(&none, size, count);
        ratio[r] = sealed_s[r] / plain_s[r];
    }
    if (qs_median_ci(ratio, ROUNDS, 0.95, &ci) != QS_OK)
        die("no interval");
    printf("%7zu bytes: %8.2f us a frame without seals, %8.2f us with, ratio %.2f (%.0f %% interval %.2f to "
           "%.2f)\n",
           size, median(plain_s) * 1e6, median(sealed_s) * 1e6, median(ratio), 100 * ci.ci.level, ci.ci.lo,
           ci.ci.hi);
}

int main(void)
{
    static const size_t sizes[] = {16, 4096, 65536};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        measure(sizes[i]);
    return 0;
}
