/* A fixed loop for silence.py: its time varies by what happens beside it, and by nothing else. */
#include "quiesce/bench.h"

#include "harness_side.h"

static int64_t rounds = 1000000;

static void fix_rounds(struct quiesce *q)
{
    (void)q;
    spin_rounds = (uint64_t)rounds;
}

int main(int argc, char **argv)
{
    struct quiesce q;
    quiesce_init(&q, "a fixed loop");
    quiesce_param_int(&q, "rounds", &rounds, 1, INT64_C(1000000000), "multiplications of an iteration");
    quiesce_add(&q, "loop", "a chain of multiplications", spin)->setup = fix_rounds;
    return quiesce_main(&q, argc, argv);
}
