/* Which agent is for which device, and which device runs which program. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "link/agents.h"

static void an_abi_has_its_file(void **state)
{
    (void)state;
    static const struct {
        const char *abi, *file, *advice;
    } cases[] = {{"arm64-v8a", "quiesce-agent-static-arm64", "`./dev agent arm64` builds it"},
                 {"aarch64", "quiesce-agent-static-arm64", "`./dev agent arm64` builds it"},
                 {"armeabi-v7a", "quiesce-agent-static-armhf", "`./dev agent armhf` builds it"},
                 {"armv7l", "quiesce-agent-static-armhf", "`./dev agent armhf` builds it"},
                 {"armv8l", "quiesce-agent-static-armhf", "`./dev agent armhf` builds it"},
                 {"riscv64", "quiesce-agent-static-riscv64", "`./dev agent riscv64` builds it"},
                 {"x86_64", "quiesce-agent-static", "`./dev agent` builds it"}};
    char folder[] = "/tmp/qs-agents-XXXXXX", path[128];
    assert_non_null(mkdtemp(folder));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct qs_err err = QS_ERR_INIT;
        QS_BUF(found);
        snprintf(path, sizeof path, "%s/%s", folder, cases[i].file);
        assert_false(qs_agents_find(folder, cases[i].abi, &found, &err));
        assert_int_equal(err.code, QS_E_CONFIG);
        assert_non_null(strstr(err.text, path));
        assert_non_null(strstr(err.text, cases[i].advice));
        assert_int_equal(found.len, 0);
        fclose(fopen(path, "w"));
        assert_true(qs_agents_find(folder, cases[i].abi, &found, &err));
        assert_string_equal(found.data, path);
        unlink(path);
    }
    assert_int_equal(rmdir(folder), 0);
}

static void an_unknown_abi_is_named(void **state)
{
    (void)state;
    struct qs_err err = QS_ERR_INIT;
    QS_BUF(found);
    assert_false(qs_agents_find("/", "mips\n64", &found, &err));
    assert_non_null(strstr(err.text, "the ABI `mips\\x0a64`"));
    assert_false(qs_agents_find("/", "", &found, &err));
    assert_false(qs_agents_find("/", "x86", &found, &err)); /* its programs run, but it has no agent */
    assert_non_null(strstr(err.text, "no agent for the ABI `x86`"));
}

static void its_bytes_and_their_sum_are_read(void **state)
{
    (void)state;
    static const uint8_t abc[4] = {0xba, 0x78, 0x16, 0xbf}; /* FIPS 180-2, B.1 */
    char folder[] = "/tmp/qs-agents-XXXXXX", path[128];
    struct qs_err err = QS_ERR_INIT;
    uint8_t sum[QS_SHA256_BYTES];
    QS_BUF(bytes);
    assert_non_null(mkdtemp(folder));
    assert_false(qs_agents_read(folder, "x86_64", &bytes, sum, &err));
    assert_non_null(strstr(err.text, "./dev agent"));
    snprintf(path, sizeof path, "%s/quiesce-agent-static", folder);
    FILE *f = fopen(path, "w");
    assert_false(qs_agents_read(folder, "x86_64", &bytes, sum, &err));
    assert_non_null(strstr(err.text, "quiesce-agent-static is no agent: it is empty, larger than 16 MiB"));
    assert_true(fputs("abc", f) >= 0 && fflush(f) == 0);
    qs_buf_str(&bytes, "kept ");
    assert_true(qs_agents_read(folder, "x86_64", &bytes, sum, &err));
    assert_string_equal(bytes.data, "kept abc");
    assert_memory_equal(sum, abc, sizeof abc);
    assert_int_equal(ftruncate(fileno(f), (16 << 20) + 1), 0);
    assert_false(qs_agents_read(folder, "x86_64", &bytes, sum, &err));
    assert_int_equal(ftruncate(fileno(f), 16 << 20), 0);
    qs_buf_clear(&bytes);
    assert_true(qs_agents_read(folder, "x86_64", &bytes, sum, &err));
    assert_int_equal(bytes.len, 16 << 20);
    fclose(f);
    unlink(path);
    assert_int_equal(mkdir(path, 0700), 0);
    assert_false(qs_agents_read(folder, "x86_64", &bytes, sum, &err));
    assert_int_equal(rmdir(path) | rmdir(folder), 0);
}

static void programs_say_what_they_are_for(void **state)
{
    (void)state;
    uint8_t head[QS_ELF_HEAD_BYTES] = {0x7f, 'E', 'L', 'F', 2, 1, 1, [16] = 2, [18] = 183};
    assert_string_equal(qs_agents_elf(head, sizeof head), "arm64");
    assert_null(qs_agents_elf(head, sizeof head - 1));
    head[4] = 1; /* of 32 bits: no such machine */
    assert_null(qs_agents_elf(head, sizeof head));
    head[18] = 40;
    assert_string_equal(qs_agents_elf(head, sizeof head), "armhf");
    head[18] = 3;
    assert_string_equal(qs_agents_elf(head, sizeof head), "x86");
    head[4] = 2;
    head[18] = 62;
    assert_string_equal(qs_agents_elf(head, sizeof head), "x86-64");
    head[18] = 243;
    assert_string_equal(qs_agents_elf(head, sizeof head), "riscv64");
    head[19] = 1; /* the higher byte counts */
    assert_null(qs_agents_elf(head, sizeof head));
    head[19] = 0;
    head[5] = 2; /* big-endian */
    assert_null(qs_agents_elf(head, sizeof head));
    assert_null(qs_agents_elf((const uint8_t *)"#!/bin/sh\necho 12345678\n", 20));
}

static void devices_run_their_own_and_smaller_ones(void **state)
{
    (void)state;
    assert_true(qs_agents_runs("arm64-v8a", "arm64"));
    assert_true(qs_agents_runs("aarch64", "armhf"));
    assert_false(qs_agents_runs("armv7l", "arm64"));
    assert_true(qs_agents_runs("x86_64", "x86"));
    assert_false(qs_agents_runs("x86_64", "arm64"));
    assert_false(qs_agents_runs("riscv64", "x86-64"));
    assert_true(qs_agents_runs("mips", "arm64")); /* nobody knows */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_abi_has_its_file),
        cmocka_unit_test(an_unknown_abi_is_named),
        cmocka_unit_test(its_bytes_and_their_sum_are_read),
        cmocka_unit_test(programs_say_what_they_are_for),
        cmocka_unit_test(devices_run_their_own_and_smaller_ones),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
