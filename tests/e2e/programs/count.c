/* A benchmark for the end-to-end tests whose evaluations are of a few nanoseconds, or of a millisecond. */
#include "quiesce/bench.h"

static int64_t steps = 10, work_ns = 1000000;

/* Each step needs the one before: a few cycles. */
static void count(struct quiesce *q)
{
    uint64_t x = 1;
    (void)q;
    for (int64_t i = 0; i < steps; i++) {
        x = x * 3 + (uint64_t)i;
        quiesce_keep(x);
    }
}

static void spin(struct quiesce *q)
{
    int64_t end_ns = quiesce_i_now_ns(q) + work_ns;
    while (quiesce_i_now_ns(q) < end_ns) {
    }
}

static void once(struct quiesce *q)
{
    count(q);
}

int main(int argc, char **argv)
{
    struct quiesce q;
    quiesce_init(&q, "short and long evaluations");
    quiesce_param_int(&q, "steps", &steps, 1, 1000000, "steps of an evaluation");
    quiesce_param_int(&q, "work_ns", &work_ns, 0, 1000000000, "length of an evaluation that spins");
    quiesce_add(&q, "count", "a chain of multiplications", count);
    quiesce_add(&q, "spin", "looks at the clock until its time is over", spin);
    quiesce_add(&q, "once", "needs a prepare of its own", once)->once = true;
    return quiesce_main(&q, argc, argv);
}
