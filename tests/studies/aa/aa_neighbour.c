/* A noisy neighbour: aa_neighbour SEED BUSY_MS IDLE_MS. Spins and sleeps in turn, for times that are drawn
 * from exponential distributions with these means, until it is ended or its parent dies. */
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <time.h>

#include "stats/rng.h"

static int64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* An exponential draw with this mean by the comparison method of von Neumann: no logarithm is needed. */
static int64_t draw_ns(struct qs_rng *rng, int64_t mean_ns)
{
    for (int64_t whole = 0;; whole++) {
        double first = qs_rng_unit(rng);
        double last = first;
        int n = 1;
        for (double next = qs_rng_unit(rng); next < last; next = qs_rng_unit(rng)) {
            last = next;
            n++;
        }
        if (n % 2 == 1)
            return (int64_t)(((double)whole + first) * (double)mean_ns);
    }
}

int main(int argc, char **argv)
{
    struct qs_rng rng;
    volatile uint64_t sink = 0;
    if (argc != 4) {
        fputs("usage: aa_neighbour SEED BUSY_MS IDLE_MS\n", stderr);
        return 2;
    }
    prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    qs_rng_seed(&rng, strtoull(argv[1], NULL, 10), 0);
    int64_t busy_ns = 1000000 * strtoll(argv[2], NULL, 10);
    int64_t idle_ns = 1000000 * strtoll(argv[3], NULL, 10);
    for (;;) {
        int64_t end = now_ns() + draw_ns(&rng, busy_ns);
        while (now_ns() < end)
            sink = sink + 1;
        int64_t rest = draw_ns(&rng, idle_ns);
        const struct timespec t = {.tv_sec = (time_t)(rest / 1000000000),
                                   .tv_nsec = (long)(rest % 1000000000)};
        nanosleep(&t, NULL);
    }
}
