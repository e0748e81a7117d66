#include "cm.h"

#include "base/prng.h"

/* The state 1, 2, 3, 4 gives these by the reference algorithm: the first few can be followed by hand. */
static void it_is_xoshiro256_starstar(void **state)
{
    (void)state;
    struct qs_prng p = {{1, 2, 3, 4}};
    static const uint64_t want[] = {11520, 0, 1509978240, 1215971899390074240U};
    for (int i = 0; i < 4; i++)
        assert_int_equal(qs_prng_next(&p), want[i]);
}

/* The first outputs of SplitMix64 from 0. */
static void seeds_are_spread_by_splitmix64(void **state)
{
    (void)state;
    struct qs_prng p;
    qs_prng_seed(&p, 0);
    assert_int_equal(p.s[0], 0xe220a8397b1dcdafU);
    assert_int_equal(p.s[1], 0x6e789e6aa1b965f4U);
    assert_int_equal(p.s[2], 0x06c45d188009454fU);
    assert_int_equal(p.s[3], 0xf88bb8a8724c81ecU);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_is_xoshiro256_starstar),
        cmocka_unit_test(seeds_are_spread_by_splitmix64),
    };
    return cmocka_run_group_tests_name("prng", tests, NULL, NULL);
}
