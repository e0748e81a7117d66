/* The generator: the published sequence, streams that differ, bounded draws without bias. */
#include "reference.h"

#include "stats/rng.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <math.h>
#include <cmocka.h>

/* The first outputs of xoshiro256** from the state {1, 2, 3, 4}, as in its authors' C code. */
static void test_published_sequence(void **state)
{
    (void)state;
    struct qs_rng rng = {.s = {1, 2, 3, 4}};
    static const uint64_t want[] = {11520u, 0u, 1509978240u, 1215971899390074240u, 1216172134540287360u};
    for (size_t i = 0; i < sizeof want / sizeof *want; i++)
        assert_int_equal(qs_rng_next(&rng), want[i]);
}

static void test_a_batch_is_the_same_sequence(void **state)
{
    (void)state;
    struct qs_rng one, batch;
    uint64_t got[37];
    qs_rng_seed(&one, 8, 1);
    qs_rng_seed(&batch, 8, 1);
    for (int round = 0; round < 3; round++) {
        qs_rng_fill(&batch, got, 37);
        for (size_t i = 0; i < 37; i++)
            assert_int_equal(got[i], qs_rng_next(&one));
    }
    qs_rng_fill(&batch, got, 0);
    assert_int_equal(qs_rng_next(&batch), qs_rng_next(&one));
}

/* n = 3 * 2^30 has the largest quotients that are one too small; a state whose first numbers are too small to
 * count; 0. */
static void test_bounded_batches_are_the_same_sequence(void **state)
{
    (void)state;
    static const uint32_t bounds[] = {0, 1, 2, 3, 7, 200, 4096, 65537, 3u << 30, UINT32_MAX};
    for (size_t k = 0; k < sizeof bounds / sizeof *bounds; k++) {
        struct qs_rng one = {.s = {1, 0, 0, 3}}, batch = one; /* 0, 0, 11520, ...: 2^64 mod 7 is 2 */
        uint32_t got[501];
        for (int round = 0; round < 20; round++) {
            qs_rng_fill_below(&batch, bounds[k], got, 501);
            for (size_t i = 0; i < 501; i++)
                assert_int_equal(got[i], qs_rng_below(&one, bounds[k]));
        }
        assert_int_equal(qs_rng_next(&batch), qs_rng_next(&one));
    }
}

static void test_equal_keys_give_equal_numbers(void **state)
{
    (void)state;
    struct qs_rng a, b;
    qs_rng_seed(&a, 42, 7);
    qs_rng_seed(&b, 42, 7);
    for (int i = 0; i < 100; i++)
        assert_int_equal(qs_rng_next(&a), qs_rng_next(&b));
}

static void test_streams_and_seeds_differ(void **state)
{
    (void)state;
    struct qs_rng rng[4];
    qs_rng_seed(&rng[0], 1, 1);
    qs_rng_seed(&rng[1], 1, 2);
    qs_rng_seed(&rng[2], 2, 1);
    qs_rng_seed(&rng[3], 0, UINT64_MAX);
    int equal_bits = 0;
    for (int i = 0; i < 1000; i++) {
        uint64_t v[4];
        for (int k = 0; k < 4; k++)
            v[k] = qs_rng_next(&rng[k]);
        for (int k = 1; k < 4; k++) {
            assert_int_not_equal(v[0], v[k]);
            equal_bits += 64 - __builtin_popcountll(v[0] ^ v[k]);
        }
    }
    EXPECT(abs(equal_bits - 96000) < 5 * 155); /* five standard deviations of 192000 coin tosses, halved */
}

static void test_below_is_bounded_and_even(void **state)
{
    (void)state;
    struct qs_rng rng;
    qs_rng_seed(&rng, 3, 0);
    assert_int_equal(qs_rng_below(&rng, 0), 0);
    assert_int_equal(qs_rng_below(&rng, 1), 0);
    int count[6] = {0};
    for (int i = 0; i < 60000; i++)
        count[qs_rng_below(&rng, 6)]++;
    double chi2 = 0;
    for (int k = 0; k < 6; k++)
        chi2 += (count[k] - 10000.0) * (count[k] - 10000.0) / 10000.0;
    EXPECT(chi2 < 20.5); /* 0.1 % point for 5 degrees of freedom; the seed is fixed */
    /* With n = 3 * 2^62 a modulo would double the first quarter of the range: 1/2 instead of 1/3. */
    int low = 0;
    for (int i = 0; i < 30000; i++)
        low += qs_rng_below(&rng, 3ull << 62) < 1ull << 62;
    EXPECT(abs(low - 10000) < 400);
}

static void test_unit_is_uniform(void **state)
{
    (void)state;
    struct qs_rng rng;
    qs_rng_seed(&rng, 5, 9);
    double sum = 0, squares = 0;
    for (int i = 0; i < 100000; i++) {
        double u = qs_rng_unit(&rng);
        EXPECT(u >= 0 && u < 1);
        sum += u;
        squares += u * u;
    }
    check_near("mean", sum / 100000, 0.5, 0, 0.005);
    check_near("mean square", squares / 100000, 1.0 / 3, 0, 0.005);
    rng = (struct qs_rng){.s = {0, UINT64_MAX, 0, 0}};
    EXPECT(qs_rng_unit(&rng) < 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_published_sequence),
        cmocka_unit_test(test_a_batch_is_the_same_sequence),
        cmocka_unit_test(test_bounded_batches_are_the_same_sequence),
        cmocka_unit_test(test_equal_keys_give_equal_numbers),
        cmocka_unit_test(test_streams_and_seeds_differ),
        cmocka_unit_test(test_below_is_bounded_and_even),
        cmocka_unit_test(test_unit_is_uniform),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
