/* What memory costs: one load after the other through a random cycle, and a stream. */
#include "quiesce/bench.h"

enum { LINE_BYTES = 64 };

struct line {
    uint32_t next;
    char rest[LINE_BYTES - sizeof(uint32_t)];
};

static int64_t kib = 65536, steps = 100000;
static struct line *lines;
static double *a, *b, *c;
static uint32_t count, at;
static uint32_t m_chase, m_triad;

/* Sattolo's algorithm: one cycle through all lines, drawn with a fixed generator. */
static void setup_chase(struct quiesce *q)
{
    uint64_t state = 88172645463325252u;
    count = (uint32_t)(kib * 1024 / LINE_BYTES);
    lines = calloc(count, sizeof *lines);
    if (!lines) {
        quiesce_fail(q, "no memory for %lld KiB", (long long)kib);
        return;
    }
    for (uint32_t i = 0; i < count; i++) {
        lines[i].next = i;
    }
    for (uint32_t i = count - 1; i > 0; i--) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        uint32_t j = (uint32_t)(state % i), kept = lines[i].next;
        lines[i].next = lines[j].next;
        lines[j].next = kept;
    }
}

static void run_chase(struct quiesce *q)
{
    uint32_t here = 0;
    (void)q;
    for (int64_t i = 0; i < steps; i++) {
        here = lines[here].next;
    }
    at = here;
    quiesce_keep(here);
}

/* A cycle comes back to its beginning after as many steps as it has lines, and not before. */
static void conclude_chase(struct quiesce *q)
{
    if ((at == 0) != (steps % count == 0)) {
        quiesce_fail(q, "after %lld steps in a cycle of %u lines at %u", (long long)steps, count, at);
    }
    quiesce_record(q, m_chase, at);
}

static void teardown_chase(struct quiesce *q)
{
    (void)q;
    free(lines);
}

static void setup_triad(struct quiesce *q)
{
    count = (uint32_t)(kib * 1024 / (int64_t)(3 * sizeof *a));
    a = calloc(count, sizeof *a);
    b = calloc(count, sizeof *b);
    c = calloc(count, sizeof *c);
    if (!a || !b || !c) {
        quiesce_fail(q, "no memory for %lld KiB", (long long)kib);
        return;
    }
    for (uint32_t i = 0; i < count; i++) {
        b[i] = i % 1000;
        c[i] = i % 7;
    }
}

static void run_triad(struct quiesce *q)
{
    (void)q;
    for (uint32_t i = 0; i < count; i++) {
        a[i] = b[i] + 3 * c[i];
    }
    quiesce_keep(a);
}

static void conclude_triad(struct quiesce *q)
{
    int64_t sum = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (a[i] != (double)(i % 1000 + 3 * (i % 7))) {
            quiesce_fail(q, "element %u is %g", i, a[i]);
            return;
        }
        sum += (int64_t)a[i];
    }
    quiesce_record(q, m_triad, sum);
}

static void teardown_triad(struct quiesce *q)
{
    (void)q;
    free(a);
    free(b);
    free(c);
}

int main(int argc, char **argv)
{
    struct quiesce q;
    quiesce_init(&q, "memory: latency and bandwidth");
    quiesce_param_int(&q, "kib", &kib, 1, 1 << 21, "memory in use, KiB");
    quiesce_param_int(&q, "steps", &steps, 1, 1000000000, "loads of a chase");
    struct quiesce_benchmark *chase = quiesce_add(&q, "chase", "each load needs the one before", run_chase);
    chase->setup = setup_chase;
    chase->conclude = conclude_chase;
    chase->teardown = teardown_chase;
    m_chase = quiesce_metric(&q, chase, "checksum", "", QUIESCE_LOWER_IS_BETTER, QUIESCE_DETERMINISTIC);
    struct quiesce_benchmark *triad =
        quiesce_add(&q, "triad", "a = b + 3 c, two streams in and one out", run_triad);
    triad->setup = setup_triad;
    triad->conclude = conclude_triad;
    triad->teardown = teardown_triad;
    m_triad = quiesce_metric(&q, triad, "checksum", "", QUIESCE_LOWER_IS_BETTER, QUIESCE_DETERMINISTIC);
    return quiesce_main(&q, argc, argv);
}
