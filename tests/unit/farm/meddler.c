#include "meddler.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../proto/samples.h"
#include "base/mem.h"
#include "device/session/impl.h"
#include "link/link_impl.h"
#include "stats/rng.h"

enum { ACTS_MAX = 4, FLOOD = 3000, LASTING = 20, AT_TYPE = 3, AT_LEN = 4, RUN_BYTES = 16 };

struct act {
    enum meddle_kind kind;
    uint8_t type;    /* of the messages that it befalls */
    unsigned nth;    /* of these, from 1 */
    unsigned lasts;  /* so many of them, one after the other */
    unsigned copies; /* REPEAT, INSERT */
    size_t sample;
    unsigned seen, done;
};

static struct {
    const char *device; /* borrowed; NULL: nobody meddles */
    bool as_host, healed;
    struct qs_rng rng;
    struct act acts[ACTS_MAX];
    size_t count;
    struct qs_link *link; /* of the connection */
    uint32_t seq;         /* of the next frame on it */
    uint8_t run[RUN_BYTES], sample_run[RUN_BYTES];
    uint8_t *held; /* SWAP; owned */
    size_t held_n;
    uint8_t held_type;
    size_t began_bytes, most_bytes;
    bool nameless;
    struct qs_buf reasons;
} meddler;

static struct { /* without their numbers, over all plans */
    char **at;
    size_t count;
} shapes;

bool __real_qs_link_open(struct qs_link *link, struct qs_err *err);
bool __wrap_qs_link_open(struct qs_link *link, struct qs_err *err);
bool __real_qs_link_send(struct qs_link *link, const uint8_t *bytes, size_t n, struct qs_err *err);
bool __wrap_qs_link_send(struct qs_link *link, const uint8_t *bytes, size_t n, struct qs_err *err);
void __real_qs_link_bytes(struct qs_link *link, const uint8_t *bytes, size_t n);
void __wrap_qs_link_bytes(struct qs_link *link, const uint8_t *bytes, size_t n);
void __real_qs_session_send_error(struct qs_session *s, const struct qs_err *why);
void __wrap_qs_session_send_error(struct qs_session *s, const struct qs_err *why);

/* ---- the plan ---- */

const char *meddle_name(enum meddle_kind kind)
{
    static const char *const names[MEDDLE_KINDS] = {"omit", "repeat", "swap", "insert", "replace", "alter"};
    return names[kind];
}

/* One of the messages that the side may send. */
static size_t draw_sample(bool as_host)
{
    size_t i;
    do
        i = qs_rng_below(&meddler.rng, SAMPLES_ALL);
    while (qs_msg_accept(sample_at(i)->type, as_host ? QS_SIDE_HOST : QS_SIDE_AGENT) <= 0);
    return i;
}

static unsigned draw_copies(void)
{
    return qs_rng_below(&meddler.rng, 8) == 0 ? FLOOD : 1 + (unsigned)qs_rng_below(&meddler.rng, 3);
}

void meddler_begin(const char *device, uint64_t seed, bool as_host)
{
    static const uint8_t sample_run[RUN_BYTES] = {0xc0, 0xc1, 0xc2, 0xc3, 0xc4, 0xc5, 0xc6, 0xc7,
                                                  0xc8, 0xc9, 0xca, 0xcb, 0xcc, 0xcd, 0xce, 0xcf};
    memset(&meddler, 0, sizeof meddler);
    meddler.device = device;
    meddler.as_host = as_host;
    memcpy(meddler.sample_run, sample_run, sizeof sample_run);
    qs_buf_init(&meddler.reasons);
    qs_rng_seed(&meddler.rng, seed, 2);
    meddler.count = 1 + qs_rng_below(&meddler.rng, ACTS_MAX);
    for (size_t i = 0; i < meddler.count; i++) {
        bool lasts = qs_rng_below(&meddler.rng, 5) == 0;
        meddler.acts[i] = (struct act){.kind = (enum meddle_kind)qs_rng_below(&meddler.rng, MEDDLE_KINDS),
                                       .type = sample_at(draw_sample(as_host))->type,
                                       .nth = 1 + (unsigned)qs_rng_below(&meddler.rng, 6),
                                       .lasts = lasts ? LASTING : 1,
                                       .copies = lasts ? 1 : draw_copies(),
                                       .sample = draw_sample(as_host)};
    }
}

/* A new session finds what the old one was made to forget. */
void meddler_heal(void)
{
    struct qs_err why = QS_ERR_INIT;
    qs_fail(&why, QS_E_LINK, "the plan is over");
    if (!meddler.healed && meddler.link && meddler.link->state == QS_LINK_IS_UP)
        qs_link_down_later(meddler.link, &why);
    meddler.healed = true;
    free(meddler.held);
    meddler.held = NULL;
}

void meddler_end(void)
{
    meddler_heal();
    qs_buf_done(&meddler.reasons);
    meddler.device = NULL;
}

unsigned meddler_done(enum meddle_kind kind)
{
    unsigned n = 0;
    for (size_t i = 0; i < meddler.count; i++)
        n += meddler.acts[i].kind == kind ? meddler.acts[i].done : 0;
    return n;
}

size_t meddler_most_bytes(void)
{
    return meddler.most_bytes;
}

bool meddler_was_named(void)
{
    return !meddler.nameless;
}

size_t meddler_reasons(void)
{
    return shapes.count;
}

void meddler_forget_reasons(void)
{
    for (size_t i = 0; i < shapes.count; i++)
        free(shapes.at[i]);
    free(shapes.at);
    memset(&shapes, 0, sizeof shapes);
}

void meddler_text(struct qs_buf *out)
{
    for (size_t i = 0; i < meddler.count; i++) {
        const struct act *a = &meddler.acts[i];
        qs_buf_fmt(out, "  %s %s %u of the %s, %u times, %u copies, sample %s: done %u times\n",
                   meddle_name(a->kind), qs_msg_name(a->type), a->nth, meddler.as_host ? "host" : "agent",
                   a->lasts, a->copies, sample_at(a->sample)->name, a->done);
    }
    qs_buf_add(out, meddler.reasons.data ? meddler.reasons.data : "", meddler.reasons.len);
}

/* ---- what it says ---- */

static bool is_ours(const struct qs_link *link)
{
    return meddler.device && strcmp(link->name, meddler.device) == 0;
}

size_t __sanitizer_get_current_allocated_bytes(void) __attribute__((weak));

static void look_at_memory(void)
{
    size_t now = __sanitizer_get_current_allocated_bytes ? __sanitizer_get_current_allocated_bytes() : 0;
    if (meddler.began_bytes == 0)
        meddler.began_bytes = now;
    if (now > meddler.began_bytes + meddler.most_bytes)
        meddler.most_bytes = now - meddler.began_bytes;
}

static void emit(uint8_t type, const uint8_t *payload, size_t n)
{
    struct qs_link *link = meddler.link;
    if (link->state != QS_LINK_IS_UP)
        return;
    QS_FREED uint8_t *bytes = qs_malloc(QS_FRAME_HEADER_BYTES + n);
    memcpy(bytes + QS_FRAME_HEADER_BYTES, payload, n);
    qs_frame_header(bytes, type, meddler.seq++, bytes + QS_FRAME_HEADER_BYTES, (uint32_t)n);
    if (meddler.as_host) {
        (void)__real_qs_link_send(link, bytes, QS_FRAME_HEADER_BYTES + n, NULL);
    } else {
        link->counters.bytes_in += QS_FRAME_HEADER_BYTES + n;
        __real_qs_link_bytes(link, bytes, QS_FRAME_HEADER_BYTES + n);
    }
    look_at_memory();
}

/* Every other time it is about the run that is open. */
static void emit_sample(const struct act *a, unsigned copies)
{
    QS_FREED uint8_t *bytes = qs_malloc(QS_FRAME_BUF_BYTES);
    struct qs_writer w;
    qs_writer_init(&w, bytes, QS_FRAME_BUF_BYTES);
    assert_true(sample_at(a->sample)->encode(&w));
    bool ours = qs_rng_below(&meddler.rng, 2) == 0;
    for (size_t i = 0; ours && i + RUN_BYTES <= w.len; i++) {
        if (memcmp(bytes + i, meddler.sample_run, RUN_BYTES) == 0)
            memcpy(bytes + i, meddler.run, RUN_BYTES);
    }
    for (unsigned i = 0; i < copies; i++)
        emit(sample_at(a->sample)->type, bytes, w.len);
}

/* What a row says of its process is data, which nobody can judge: it stays. */
static size_t judged_bytes(uint8_t type, const uint8_t *payload, size_t n)
{
    const size_t metrics_at = 32;
    if (type != QS_MSG_ITERATIONS || n < metrics_at + 4)
        return n;
    return metrics_at + 4 + 2 * (size_t)payload[metrics_at];
}

static void alter(uint8_t type, const uint8_t *payload, size_t n)
{
    size_t judged = judged_bytes(type, payload, n);
    QS_FREED uint8_t *copy = qs_malloc(n + 1);
    memcpy(copy, payload, n);
    uint8_t *at = copy + qs_rng_below(&meddler.rng, judged);
    switch (qs_rng_below(&meddler.rng, 4)) {
    case 0:
        *at ^= (uint8_t)(1U << qs_rng_below(&meddler.rng, 8));
        break;
    case 1:
        *at = 0xff;
        break;
    case 2:
        (*at)++;
        break;
    default:
        n = qs_rng_below(&meddler.rng, n); /* it ends early */
        break;
    }
    emit(type, copy, n);
}

static void hold(uint8_t type, const uint8_t *payload, size_t n)
{
    free(meddler.held);
    meddler.held = qs_malloc(n + 1);
    memcpy(meddler.held, payload, n);
    meddler.held_n = n;
    meddler.held_type = type;
}

static void act_on(struct act *a, uint8_t type, const uint8_t *payload, size_t n)
{
    a->done++;
    switch (a->kind) {
    case MEDDLE_OMIT:
        break;
    case MEDDLE_REPEAT:
        for (unsigned i = 0; i <= a->copies; i++)
            emit(type, payload, n);
        break;
    case MEDDLE_SWAP:
        hold(type, payload, n);
        break;
    case MEDDLE_INSERT:
        emit_sample(a, a->copies);
        emit(type, payload, n);
        break;
    case MEDDLE_REPLACE:
        emit_sample(a, 1);
        break;
    case MEDDLE_ALTER:
        if (n > 0)
            alter(type, payload, n);
        break;
    case MEDDLE_KINDS:
        break;
    }
}

static struct act *act_for(uint8_t type)
{
    struct act *found = NULL;
    for (size_t i = 0; i < meddler.count && !meddler.healed; i++) {
        struct act *a = &meddler.acts[i];
        if (a->type == type && ++a->seen >= a->nth && a->seen < a->nth + a->lasts && !found)
            found = a;
    }
    return found;
}

static void say(uint8_t type, const uint8_t *payload, size_t n)
{
    struct act *a = act_for(type);
    if (a)
        act_on(a, type, payload, n);
    else
        emit(type, payload, n);
    if (meddler.held && !(a && a->kind == MEDDLE_SWAP)) {
        emit(meddler.held_type, meddler.held, meddler.held_n);
        free(meddler.held);
        meddler.held = NULL;
    }
}

/* Whole frames: a simulated link cuts none. */
static void say_all(const uint8_t *bytes, size_t n)
{
    while (n >= QS_FRAME_HEADER_BYTES && meddler.link->state == QS_LINK_IS_UP) {
        uint32_t len = bytes[AT_LEN] | (uint32_t)bytes[AT_LEN + 1] << 8 | (uint32_t)bytes[AT_LEN + 2] << 16;
        assert_true(QS_FRAME_HEADER_BYTES + len <= n);
        say(bytes[AT_TYPE], bytes + QS_FRAME_HEADER_BYTES, len);
        bytes += QS_FRAME_HEADER_BYTES + len;
        n -= QS_FRAME_HEADER_BYTES + len;
    }
}

/* ---- in place of the link's ---- */

bool __wrap_qs_link_open(struct qs_link *link, struct qs_err *err)
{
    if (is_ours(link)) {
        meddler.link = link;
        meddler.seq = 0;
        free(meddler.held);
        meddler.held = NULL;
    }
    return __real_qs_link_open(link, err);
}

bool __wrap_qs_link_send(struct qs_link *link, const uint8_t *bytes, size_t n, struct qs_err *err)
{
    if (is_ours(link) && bytes[AT_TYPE] == QS_MSG_RUN_BEGIN)
        memcpy(meddler.run, bytes + QS_FRAME_HEADER_BYTES, RUN_BYTES);
    if (!is_ours(link) || !meddler.as_host || link->state != QS_LINK_IS_UP)
        return __real_qs_link_send(link, bytes, n, err);
    say_all(bytes, n);
    return true;
}

void __wrap_qs_link_bytes(struct qs_link *link, const uint8_t *bytes, size_t n)
{
    if (!is_ours(link) || meddler.as_host) {
        __real_qs_link_bytes(link, bytes, n);
        return;
    }
    link->counters.bytes_in -= n; /* they count as they are passed on */
    say_all(bytes, n);
}

/* The shape of a reason: without its numbers. */
static void note_shape(const char *text)
{
    QS_BUF(shape);
    for (const char *c = text; *c; c++) {
        if (*c < '0' || *c > '9')
            qs_buf_char(&shape, *c);
    }
    for (size_t i = 0; i < shapes.count; i++) {
        if (strcmp(shapes.at[i], shape.data) == 0)
            return;
    }
    shapes.at = qs_grow(shapes.at, shapes.count, sizeof *shapes.at);
    shapes.at[shapes.count++] = qs_buf_take(&shape);
}

void __wrap_qs_session_send_error(struct qs_session *s, const struct qs_err *why)
{
    if (meddler.device && strcmp(s->name, meddler.device) == 0 && !meddler.healed) {
        qs_buf_fmt(&meddler.reasons, "  lost: %s\n", why->text);
        note_shape(why->text);
        meddler.nameless = meddler.nameless || strncmp(why->text, s->name, strlen(s->name)) != 0;
    }
    __real_qs_session_send_error(s, why);
}
