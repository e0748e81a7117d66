/* What every fuzz target shares. */
#ifndef QS_TESTS_FUZZ_H
#define QS_TESTS_FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

/* One input; always returns 0. libFuzzer calls it, or replay_main.c for each file of a corpus. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A property that no input may break. */
static inline void fuzz_require(bool holds)
{
    if (!holds)
        abort();
}

#endif
