/* What is told of generated histories whose changes are known: README.md. */
#include "studies/history/histories.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct counts {
    int steps, drifts, met, right;
};

static struct counts count(const struct history_kind *kind, size_t number, unsigned long seed, int trials)
{
    static struct made made;
    struct counts c = {0};
    struct qs_rng rng;
    qs_rng_seed(&rng, seed, number);
    for (int i = 0; i < trials; i++) {
        history_make(kind, &rng, &made);
        struct told t = history_tell(kind, &made);
        c.steps += t.steps > 0;
        c.drifts += t.drifts > 0;
        c.met += made.steps > 0 && t.met == made.steps;
        c.right += t.right;
    }
    return c;
}

int main(int argc, char **argv)
{
    unsigned long seed = argc > 1 ? strtoul(argv[1], NULL, 10) : 1;
    long trials = argc > 2 ? strtol(argv[2], NULL, 10) : 1000;
    const char *only = argc > 3 ? argv[3] : "";
    if (trials < 1 || trials > 1000000) {
        fprintf(stderr, "usage: history_study [SEED [HISTORIES_OF_EACH_KIND [NAME]]]\n");
        return 2;
    }
    printf("%-34s %8s %10s %10s %10s\n", "", "right", "all steps", "any step", "any drift");
    for (size_t k = 0; k < history_kind_count; k++) {
        if (!strstr(history_kinds[k].name, only))
            continue;
        struct counts c = count(&history_kinds[k], k, seed, (int)trials);
        double percent = 100 / (double)trials;
        printf("%-34s %6.1f %% %8.1f %% %8.1f %% %8.1f %%\n", history_kinds[k].name, percent * c.right,
               percent * c.met, percent * c.steps, percent * c.drifts);
    }
    return 0;
}
