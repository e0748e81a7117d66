/* A command with an amount of work: aa_work ROUNDS. Each round mixes 64 KiB of memory, so that time goes to
 * arithmetic and to the caches, as in a real program. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { WORDS = 8192 };

int main(int argc, char **argv)
{
    static uint64_t memory[WORDS];
    uint64_t state = 0x9e3779b97f4a7c15U;
    long rounds = argc > 1 ? strtol(argv[1], NULL, 10) : 0;
    if (rounds <= 0) {
        fputs("usage: aa_work ROUNDS\n", stderr);
        return 2;
    }
    for (long r = 0; r < rounds; r++) {
        for (size_t i = 0; i < WORDS; i++) {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            memory[state % WORDS] += state;
        }
    }
    printf("%llu\n", (unsigned long long)(state ^ memory[state % WORDS]));
    return 0;
}
