/* Four small programs like those of Chen & Revels: reads in random order, an array that grows, a costly
 * branch, and many allocations. --repeat N evaluates N times in a measurement; 0: as often as the number of
 * the iteration in its window, from 1. */
#include "quiesce/bench.h"

enum { SUMMED = 100, PUSHED = 200, BRANCHED = 20, ALLOCATED = 40 };

static int64_t repeat = 1;
static double values[SUMMED];
static uint32_t order[SUMMED];

static uint32_t draw(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*state >> 33);
}

static void shuffle(struct quiesce *q)
{
    uint64_t state = 1;
    (void)q;
    for (uint32_t i = 0; i < SUMMED; i++) {
        uint32_t j = draw(&state) % (i + 1);
        values[i] = i;
        order[i] = order[j];
        order[j] = i;
    }
}

static void sumindex(void)
{
    double sum = 0;
    for (uint32_t i = 0; i < SUMMED; i++) {
        sum += values[order[i]];
    }
    quiesce_keep(sum);
}

static void pushall(void)
{
    uint32_t *to = NULL, room = 0;
    uint64_t state = 1;
    for (uint32_t i = 0; i < PUSHED; i++) {
        if (i == room) {
            room = room ? 2 * room : 4;
            uint32_t *more = realloc(to, room * sizeof *to);
            if (!more) {
                break;
            }
            to = more;
        }
        to[i] = order[i % SUMMED];
        uint32_t drawn = draw(&state);
        quiesce_keep(drawn);
    }
    quiesce_keep(to);
    free(to);
}

static void branchsum(void)
{
    int64_t sum = 0;
    for (int64_t i = 0; i < BRANCHED; i++) {
        if (i % 2 == 0) {
            sum--;
            continue;
        }
        for (int64_t k = 0; k < BRANCHED; k++) {
            sum += k % 2;
            quiesce_keep(sum);
        }
    }
    quiesce_keep(sum);
}

static void manyallocs(void)
{
    char *held[ALLOCATED];
    uint64_t state = 1;
    for (uint32_t i = 0; i < ALLOCATED; i++) {
        held[i] = malloc(1 + 16 * (draw(&state) % ALLOCATED));
    }
    quiesce_clobber();
    for (uint32_t i = 0; i < ALLOCATED; i++) {
        free(held[i]);
    }
}

#define BENCHMARK(name)                                                                                      \
    static void run_##name(struct quiesce *q)                                                                \
    {                                                                                                        \
        int64_t n = repeat ? repeat : (int64_t)quiesce_iteration(q) + 1;                                     \
        while (n-- > 0) {                                                                                    \
            name();                                                                                          \
        }                                                                                                    \
    }
BENCHMARK(sumindex)
BENCHMARK(pushall)
BENCHMARK(branchsum)
BENCHMARK(manyallocs)

int main(int argc, char **argv)
{
    struct quiesce q;
    quiesce_init(&q, "what is measured in robust benchmarking");
    quiesce_param_int(&q, "repeat", &repeat, 0, 1000000, "evaluations of a measurement; 0: 1, 2, 3, ...");
    quiesce_add(&q, "sumindex", "adds 100 numbers in random order", run_sumindex)->setup = shuffle;
    quiesce_add(&q, "pushall", "appends 200 numbers, draws one for each", run_pushall)->setup = shuffle;
    quiesce_add(&q, "branchsum", "counts, with a loop in every other turn", run_branchsum);
    quiesce_add(&q, "manyallocs", "allocates 40 arrays of drawn sizes", run_manyallocs);
    return quiesce_main(&q, argc, argv);
}
