#include "tls_bytes.h"

#include <sys/random.h>
#include <time.h>

const struct qs_enrolled tls_bytes_key = {.name = "board", .secret = {1, 2, 3}};

static uint64_t drawn[2];
static bool of_peer;

void tls_bytes_begin(void)
{
    drawn[0] = 0;
    drawn[1] = 1;
    of_peer = false;
}

void tls_bytes_draw(bool peer)
{
    of_peer = peer;
}

ssize_t __wrap_getrandom(void *bytes, size_t n, unsigned flags);

/* splitmix64 */
ssize_t __wrap_getrandom(void *bytes, size_t n, unsigned flags)
{
    uint8_t *to = bytes;
    (void)flags;
    for (size_t i = 0; i < n; i++) {
        uint64_t z = drawn[of_peer] += UINT64_C(0x9e3779b97f4a7c15);
        z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
        z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
        to[i] = (uint8_t)(z >> 56);
    }
    return (ssize_t)n;
}

/* A greeting has the time in it. */
time_t time(time_t *ret)
{
    if (ret)
        *ret = 1;
    return 1;
}

enum { FLIP, DROP, ADD, AGAIN, END, KINDS };

/* Returns how many of the bytes that follow are gone. */
static size_t step(struct tls_bytes_steps *steps, struct qs_buf *out)
{
    uint8_t what = steps->at[2] % KINDS, much = steps->at[3];
    char last = out->len > 0 ? out->data[out->len - 1] : 0;
    steps->at += 4;
    steps->n -= 4;
    steps->passed = 0;
    if (what == FLIP && out->len > 0)
        out->data[out->len - 1] = (char)(last ^ much);
    for (size_t i = 0; what == ADD && i < much; i++)
        qs_buf_char(out, (char)(last + (char)i));
    for (size_t i = out->len > much ? out->len - much : 0, end = out->len; what == AGAIN && i < end; i++)
        qs_buf_char(out, out->data[i]);
    steps->ended = what == END;
    return what == DROP ? (size_t)much + 1 : 0;
}

void tls_bytes_pass(struct tls_bytes_steps *steps, const void *bytes, size_t n, struct qs_buf *out)
{
    size_t gone = 0;
    for (size_t i = 0; i < n && !steps->ended; i++) {
        if (gone == 0)
            qs_buf_char(out, ((const char *)bytes)[i]);
        gone -= gone > 0;
        steps->passed++;
        while (!steps->ended && steps->n >= 4 &&
               steps->passed > ((size_t)steps->at[0] | (size_t)steps->at[1] << 8))
            gone += step(steps, out);
    }
}
