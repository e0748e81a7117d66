#include "harness_side.h"

uint64_t spin_rounds = 100;
static volatile uint64_t result;

void spin(struct quiesce *q)
{
    uint64_t x = 1;
    (void)q;
    for (uint64_t i = 0; i < spin_rounds; i++) {
        x = x * 6364136223846793005u + 1442695040888963407u;
    }
    result = x;
}
