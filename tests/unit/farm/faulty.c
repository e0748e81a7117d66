#include "faulty.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "link/link_impl.h"
#include "stats/rng.h"

enum { PIECES_MAX = 4096, PIECE_MAX_BYTES = 3000, LAST_BYTES = 64, BITS_MAX = 24 };

struct piece { /* on its way */
    int64_t due_ns;
    size_t n;
    uint8_t *bytes; /* owned */
};

struct way {
    struct piece pieces[PIECES_MAX]; /* in the order in which they were sent */
    size_t count;
    int64_t held_until_ns; /* of all that follows */
    bool stalled;
    uint64_t sent;
    uint8_t last[LAST_BYTES]; /* that were sent */
    size_t last_n;
    struct qs_timer *timer;
};

static struct {
    const char *device; /* borrowed; NULL: every link is as it is */
    struct qs_rng rng;
    struct fault faults[FAULTS_MAX];
    size_t fault_count;
    bool healed;
    struct qs_loop *loop; /* borrowed; NULL: before the first connection */
    int64_t began_ns;
    struct qs_timer *clock; /* the next fault that has a time */
    struct qs_link *link;   /* NULL: it is not open */
    struct way ways[FAULT_WAYS];
    bool broken; /* nothing more is taken: the connection has ended */
    int64_t away_until_ns;
    bool ends; /* once all has come, with this: */
    struct qs_err end_why;
} wire;

bool __real_qs_link_open(struct qs_link *link, struct qs_err *err);
bool __wrap_qs_link_open(struct qs_link *link, struct qs_err *err);
bool __real_qs_link_send(struct qs_link *link, const uint8_t *bytes, size_t n, struct qs_err *err);
bool __wrap_qs_link_send(struct qs_link *link, const uint8_t *bytes, size_t n, struct qs_err *err);
void __real_qs_link_bytes(struct qs_link *link, const uint8_t *bytes, size_t n);
void __wrap_qs_link_bytes(struct qs_link *link, const uint8_t *bytes, size_t n);
void __real_qs_link_down(struct qs_link *link, const struct qs_err *why);
void __wrap_qs_link_down(struct qs_link *link, const struct qs_err *why);
void __real_qs_link_close(struct qs_link *link);
void __wrap_qs_link_close(struct qs_link *link);
void __real_qs_link_free(struct qs_link *link);
void __wrap_qs_link_free(struct qs_link *link);

/* ---- the plan ---- */

static const char *const names[FAULT_KINDS] = {"cut",     "delay",    "stall",  "duplicate",
                                               "reorder", "truncate", "corrupt"};

const char *fault_name(enum fault_kind kind)
{
    return names[kind];
}

/* A millisecond to two minutes: each order of magnitude as often. */
static int64_t some_ns(void)
{
    static const int64_t most_ms[] = {10, 100, 1000, 5000, 20000, 120000};
    int64_t ms = most_ms[qs_rng_below(&wire.rng, sizeof most_ms / sizeof *most_ms)];
    return 1000000 * (int64_t)(1 + qs_rng_below(&wire.rng, (uint64_t)ms));
}

/* Every other fault follows closely on the one before: in the greeting after it, or while kept windows come
 * again. */
static void plan(const struct faulty_usual *usual)
{
    /* What can happen between two bytes, or in a window. */
    static const enum fault_kind at_a_time[] = {FAULT_CUT, FAULT_CUT, FAULT_DUPLICATE, FAULT_DELAY,
                                                FAULT_STALL};
    uint64_t before[FAULT_WAYS] = {0, 0};
    wire.fault_count = 1 + qs_rng_below(&wire.rng, FAULTS_MAX);
    for (size_t i = 0; i < wire.fault_count; i++) {
        enum fault_way way = (enum fault_way)qs_rng_below(&wire.rng, FAULT_WAYS);
        bool close = before[way] > 0 && qs_rng_below(&wire.rng, 2) == 0;
        uint64_t at =
            close ? before[way] + qs_rng_below(&wire.rng, 2000) : qs_rng_below(&wire.rng, usual->bytes[way]);
        wire.faults[i] = (struct fault){.kind = (enum fault_kind)qs_rng_below(&wire.rng, FAULT_KINDS),
                                        .way = way,
                                        .at_byte = at,
                                        .bytes = 1 + (uint32_t)qs_rng_below(&wire.rng, PIECE_MAX_BYTES),
                                        .ns = some_ns()};
        if (qs_rng_below(&wire.rng, 3) == 0) {
            wire.faults[i].at_ns = 1 + (int64_t)qs_rng_below(&wire.rng, (uint64_t)usual->ns);
            wire.faults[i].bytes = 1 + (uint32_t)qs_rng_below(&wire.rng, LAST_BYTES);
            wire.faults[i].kind = at_a_time[qs_rng_below(&wire.rng, sizeof at_a_time / sizeof *at_a_time)];
            continue;
        }
        before[way] = at;
    }
}

void faulty_begin(const char *device, uint64_t seed, const struct faulty_usual *usual)
{
    memset(&wire, 0, sizeof wire);
    wire.device = device;
    qs_rng_seed(&wire.rng, seed, 0);
    if (usual)
        plan(usual);
}

unsigned faulty_struck(enum fault_kind kind)
{
    unsigned n = 0;
    for (size_t i = 0; i < wire.fault_count; i++)
        n += wire.faults[i].struck && wire.faults[i].kind == kind;
    return n;
}

struct faulty_usual faulty_taken(void)
{
    return (struct faulty_usual){.bytes = {wire.ways[TO_AGENT].sent, wire.ways[TO_HOST].sent},
                                 .ns = qs_loop_now_ns(wire.loop) - wire.began_ns};
}

void faulty_text(struct qs_buf *out)
{
    for (size_t i = 0; i < wire.fault_count; i++) {
        const struct fault *f = &wire.faults[i];
        qs_buf_fmt(out, "  %s %s at ", names[f->kind], f->way == TO_AGENT ? "to the agent" : "to the host");
        if (f->at_ns > 0)
            qs_buf_fmt(out, "%.9f s", (double)f->at_ns / 1e9);
        else
            qs_buf_fmt(out, "byte %llu", (unsigned long long)f->at_byte);
        qs_buf_fmt(out, ", %u bytes, %.3f s%s\n", (unsigned)f->bytes, (double)f->ns / 1e9,
                   f->struck ? "" : " (not reached)");
    }
}

/* ---- pieces on their way ---- */

static bool is_ours(const struct qs_link *link)
{
    return wire.device && strcmp(link->name, wire.device) == 0;
}

static void forget(struct way *w)
{
    qs_timer_stop(w->timer);
    w->timer = NULL;
    for (size_t i = 0; i < w->count; i++)
        free(w->pieces[i].bytes);
    w->count = 0;
    w->held_until_ns = 0;
    w->stalled = false;
}

static void disconnect(void)
{
    forget(&wire.ways[TO_AGENT]);
    forget(&wire.ways[TO_HOST]);
    wire.link = NULL;
    wire.broken = wire.ends = false;
}

/* The link may be gone afterwards. Our counters are those of a socket: what was written, what was read. */
static void deliver(enum fault_way way, const uint8_t *bytes, size_t n)
{
    struct qs_link *link = wire.link;
    if (way == TO_HOST) {
        link->counters.bytes_in += n;
        __real_qs_link_bytes(link, bytes, n);
        return;
    }
    if (__real_qs_link_send(link, bytes, n, NULL))
        link->counters.bytes_out -= n;
}

static void on_due(enum fault_way way);

static void on_due_agent(void *user)
{
    (void)user;
    on_due(TO_AGENT);
}

static void on_due_host(void *user)
{
    (void)user;
    on_due(TO_HOST);
}

static size_t next_due(const struct way *w)
{
    size_t next = 0;
    for (size_t i = 1; i < w->count; i++) {
        if (w->pieces[i].due_ns < w->pieces[next].due_ns)
            next = i;
    }
    return next;
}

static void set_timer(enum fault_way way)
{
    struct way *w = &wire.ways[way];
    qs_timer_stop(w->timer);
    w->timer = NULL;
    if (w->count == 0 || !wire.link)
        return;
    int64_t now = qs_loop_now_ns(wire.link->loop), due = w->pieces[next_due(w)].due_ns;
    w->timer = qs_timer_start(wire.link->loop, due > now ? due - now : 0,
                              way == TO_AGENT ? on_due_agent : on_due_host, NULL);
}

static void end_if_over(void)
{
    if (!wire.link || !wire.ends || wire.ways[TO_HOST].count > 0)
        return;
    struct qs_link *link = wire.link;
    disconnect();
    __real_qs_link_down(link, &wire.end_why);
}

/* One at a time: each may end the connection. */
static void on_due(enum fault_way way)
{
    struct way *w = &wire.ways[way];
    w->timer = NULL;
    size_t i = next_due(w);
    struct piece piece = w->pieces[i];
    w->count--;
    memmove(&w->pieces[i], &w->pieces[i + 1], (w->count - i) * sizeof *w->pieces);
    set_timer(way);
    deliver(way, piece.bytes, piece.n);
    free(piece.bytes);
    end_if_over();
}

/* In its place behind all others, or (late) by itself so much later. Where nothing holds it back it comes at
 * once. */
static void pass(enum fault_way way, const uint8_t *bytes, size_t n, int64_t late_ns)
{
    struct way *w = &wire.ways[way];
    if (n == 0 || w->stalled || !wire.link)
        return;
    int64_t now = qs_loop_now_ns(wire.link->loop);
    if (late_ns == 0 && now >= w->held_until_ns) {
        deliver(way, bytes, n);
        return;
    }
    assert_true(w->count < PIECES_MAX);
    struct piece *piece = &w->pieces[w->count++];
    int64_t due = now > w->held_until_ns ? now : w->held_until_ns;
    *piece = (struct piece){.due_ns = due + late_ns, .n = n, .bytes = qs_malloc(n)};
    memcpy(piece->bytes, bytes, n);
    set_timer(way);
}

/* ---- what befalls them ---- */

static void cut(const struct fault *f)
{
    struct qs_err why = QS_ERR_INIT;
    qs_fail(&why, QS_E_LINK, "cable pulled");
    wire.broken = true;
    wire.away_until_ns = qs_loop_now_ns(wire.link->loop) + f->ns;
    qs_link_down_later(wire.link, &why);
}

static void corrupt(enum fault_way way, const uint8_t *bytes, size_t n)
{
    QS_FREED uint8_t *copy = qs_malloc(n);
    memcpy(copy, bytes, n);
    for (uint64_t bits = 1 + qs_rng_below(&wire.rng, BITS_MAX); bits > 0; bits--)
        copy[qs_rng_below(&wire.rng, n)] ^= (uint8_t)(1U << qs_rng_below(&wire.rng, 8));
    pass(way, copy, n, 0);
}

/* Returns how many of the n bytes from the fault on are dealt with. */
static size_t strike(struct fault *f, const uint8_t *bytes, size_t n)
{
    struct way *w = &wire.ways[f->way];
    size_t piece = f->bytes < n ? f->bytes : n;
    f->struck = true;
    switch (f->kind) {
    case FAULT_CUT:
        cut(f);
        return 0;
    case FAULT_DELAY:
        w->held_until_ns = qs_loop_now_ns(wire.link->loop) + f->ns;
        return 0;
    case FAULT_STALL:
        w->stalled = true;
        return 0;
    case FAULT_DUPLICATE:
        pass(f->way, bytes, piece, 0);
        pass(f->way, bytes, piece, 0);
        return piece;
    case FAULT_REORDER:
        pass(f->way, bytes, piece, f->ns % 100000000 + 1);
        return piece;
    case FAULT_CORRUPT:
        corrupt(f->way, bytes, piece);
        return piece;
    case FAULT_TRUNCATE:
    case FAULT_KINDS:
        break;
    }
    return piece;
}

/* The first fault among these bytes; NULL: there is none. */
static struct fault *next_fault(enum fault_way way, size_t n)
{
    struct fault *next = NULL;
    for (size_t i = 0; i < wire.fault_count && !wire.healed; i++) {
        struct fault *f = &wire.faults[i];
        if (!f->struck && f->at_ns == 0 && f->way == way && f->at_byte < wire.ways[way].sent + n &&
            (!next || f->at_byte < next->at_byte))
            next = f;
    }
    return next;
}

static void remember(struct way *w, const uint8_t *bytes, size_t n)
{
    w->last_n = n < LAST_BYTES ? n : LAST_BYTES;
    memcpy(w->last, bytes + n - w->last_n, w->last_n);
}

static void take(enum fault_way way, const uint8_t *bytes, size_t n)
{
    struct way *w = &wire.ways[way];
    struct fault *f;
    remember(w, bytes, n);
    while (n > 0 && wire.link && !wire.broken && (f = next_fault(way, n))) {
        size_t before = f->at_byte > w->sent ? (size_t)(f->at_byte - w->sent) : 0;
        pass(way, bytes, before, 0);
        if (!wire.link)
            return;
        size_t done = before + strike(f, bytes + before, n - before);
        w->sent += done;
        bytes += done;
        n -= done;
    }
    w->sent += n;
    if (!wire.broken)
        pass(way, bytes, n, 0);
}

/* ---- at a time ---- */

static void set_clock(void);

static void on_clock(void *user)
{
    struct fault *f = user;
    struct way *w = &wire.ways[f->way];
    uint8_t bytes[LAST_BYTES];
    size_t n = f->bytes < w->last_n ? f->bytes : w->last_n;
    wire.clock = NULL;
    f->struck = true;
    memcpy(bytes, w->last + w->last_n - n, n);
    if (wire.link && wire.link->state == QS_LINK_IS_UP && !wire.broken) {
        if (f->kind == FAULT_DUPLICATE)
            pass(f->way, bytes, n, 0); /* once more: they were there before */
        else
            strike(f, NULL, 0);
    }
    set_clock();
}

static void set_clock(void)
{
    struct fault *next = NULL;
    for (size_t i = 0; i < wire.fault_count; i++) {
        struct fault *f = &wire.faults[i];
        if (!f->struck && f->at_ns > 0 && (!next || f->at_ns < next->at_ns))
            next = f;
    }
    int64_t in_ns = next ? wire.began_ns + next->at_ns - qs_loop_now_ns(wire.loop) : 0;
    if (next)
        wire.clock = qs_timer_start(wire.loop, in_ns > 0 ? in_ns : 0, on_clock, next);
}

void faulty_heal(void)
{
    qs_timer_stop(wire.clock);
    wire.clock = NULL;
    wire.healed = true;
    wire.away_until_ns = 0;
}

void faulty_end(void)
{
    disconnect();
    wire.device = NULL;
}

/* ---- in place of the link's ---- */

bool __wrap_qs_link_open(struct qs_link *link, struct qs_err *err)
{
    if (!is_ours(link))
        return __real_qs_link_open(link, err);
    disconnect();
    if (!wire.loop) {
        wire.loop = link->loop;
        wire.began_ns = qs_loop_now_ns(link->loop);
        set_clock();
    }
    if (qs_loop_now_ns(link->loop) < wire.away_until_ns)
        return qs_fail(err, QS_E_LINK, "no cable");
    wire.link = link;
    return __real_qs_link_open(link, err);
}

bool __wrap_qs_link_send(struct qs_link *link, const uint8_t *bytes, size_t n, struct qs_err *err)
{
    if (!is_ours(link) || link->state != QS_LINK_IS_UP)
        return __real_qs_link_send(link, bytes, n, err);
    link->counters.bytes_out += n;
    take(TO_AGENT, bytes, n);
    return true;
}

void __wrap_qs_link_bytes(struct qs_link *link, const uint8_t *bytes, size_t n)
{
    if (!is_ours(link)) {
        __real_qs_link_bytes(link, bytes, n);
        return;
    }
    link->counters.bytes_in -= n;
    take(TO_HOST, bytes, n);
}

/* The agent's end comes behind its last bytes. */
void __wrap_qs_link_down(struct qs_link *link, const struct qs_err *why)
{
    if (!is_ours(link)) {
        __real_qs_link_down(link, why);
        return;
    }
    wire.ends = !wire.ways[TO_HOST].stalled;
    wire.end_why = *why;
    end_if_over();
}

void __wrap_qs_link_close(struct qs_link *link)
{
    if (is_ours(link))
        disconnect();
    __real_qs_link_close(link);
}

void __wrap_qs_link_free(struct qs_link *link)
{
    if (link && is_ours(link))
        disconnect();
    __real_qs_link_free(link);
}
