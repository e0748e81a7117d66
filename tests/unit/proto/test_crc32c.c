#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "proto/crc32c.h"

/* The check value of the CRC catalogue, and the vectors of RFC 3720 B.4. */
static void test_known_answers(void **state)
{
    (void)state;
    uint8_t block[32];
    assert_int_equal(qs_crc32c(0, "123456789", 9), 0xE3069283U);
    assert_int_equal(qs_crc32c(0, "", 0), 0);
    memset(block, 0, sizeof block);
    assert_int_equal(qs_crc32c(0, block, sizeof block), 0x8A9136AAU);
    memset(block, 0xff, sizeof block);
    assert_int_equal(qs_crc32c(0, block, sizeof block), 0x62A8AB43U);
    for (size_t i = 0; i < sizeof block; i++)
        block[i] = (uint8_t)i;
    assert_int_equal(qs_crc32c(0, block, sizeof block), 0x46DD794EU);
    assert_int_equal(qs_crc32c_by_table(0, block, sizeof block), 0x46DD794EU);
}

static void test_pieces_give_the_whole(void **state)
{
    (void)state;
    const char text[] = "frames are cut anywhere";
    size_t n = sizeof text - 1;
    for (size_t cut = 0; cut <= n; cut++)
        assert_int_equal(qs_crc32c(qs_crc32c(0, text, cut), text + cut, n - cut), qs_crc32c(0, text, n));
}

static void test_table_is_the_polynomial(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 256; i++) {
        uint8_t byte = (uint8_t)i;
        uint32_t crc = ~UINT32_C(0) ^ byte;
        for (int bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ ((crc & 1U) != 0 ? 0x82F63B78U : 0U);
        assert_int_equal(qs_crc32c_by_table(0, &byte, 1), ~crc);
    }
}

/* What the processor computes is what the table does, for every length about its eight bytes and every place.
 */
static void test_instruction_and_table_agree(void **state)
{
    (void)state;
    uint8_t block[64];
    for (size_t i = 0; i < sizeof block; i++)
        block[i] = (uint8_t)(i * 37 + 11);
    for (size_t from = 0; from < 16; from++)
        for (size_t n = 0; n <= sizeof block - from; n++)
            assert_int_equal(qs_crc32c(0x12345678, block + from, n),
                             qs_crc32c_by_table(0x12345678, block + from, n));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_known_answers),
        cmocka_unit_test(test_pieces_give_the_whole),
        cmocka_unit_test(test_table_is_the_polynomial),
        cmocka_unit_test(test_instruction_and_table_agree),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
