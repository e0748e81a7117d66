/* What a program needs, by the first bytes of its file. The headers are written here as System V gABI has
 * them; those of the compiler are looked at as well. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "device/board/program.h"

enum { SIZE = 256 };

struct elf {
    uint8_t bytes[SIZE];
    bool wide;
};

static void put(struct elf *e, size_t at, uint64_t value, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        e->bytes[at + i] = (uint8_t)(value >> 8 * i);
}

static struct elf make(unsigned machine, bool wide, unsigned type)
{
    struct elf e = {.wide = wide};
    memcpy(e.bytes, "\177ELF", 4);
    e.bytes[4] = wide ? 2 : 1;
    e.bytes[5] = 1;
    e.bytes[6] = 1;
    put(&e, 16, type, 2);
    put(&e, 18, machine, 2);
    return e;
}

/* A second segment, which names what loads it, and its text at 200. */
static struct elf with_interpreter(bool wide, const char *path)
{
    struct elf e = make(wide ? 183 : 40, wide, 3);
    size_t row = wide ? 56 : 32, header = wide ? 64 : 52, second = header + row;
    put(&e, wide ? 32 : 28, header, wide ? 8 : 4);
    put(&e, wide ? 54 : 42, row, 2);
    put(&e, wide ? 56 : 44, 2, 2);
    put(&e, header, 6, 4); /* PT_PHDR */
    put(&e, second, 3, 4);
    put(&e, second + (wide ? 8 : 4), 200, wide ? 8 : 4);
    put(&e, second + (wide ? 32 : 16), strlen(path) + 1, wide ? 8 : 4);
    memcpy(e.bytes + 200, path, strlen(path) + 1);
    return e;
}

static void the_processor_is_told(void **state)
{
    static const struct {
        unsigned machine;
        bool wide;
        const char *arch;
    } cases[] = {{62, true, "x86-64"},
                 {3, false, "x86"},
                 {183, true, "arm64"},
                 {40, false, "armhf"},
                 {243, true, "riscv64"},
                 {8, false, "another kind of processor"},
                 {62, false, "another kind of processor"},
                 {183, false, "another kind of processor"}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        for (unsigned type = 2; type <= 3; type++) {
            struct elf e = make(cases[i].machine, cases[i].wide, type);
            assert_string_equal(qs_program_arch(e.bytes, SIZE), cases[i].arch);
        }
    struct elf swapped = make(183, true, 2);
    swapped.bytes[5] = 2;
    assert_null(qs_program_arch(swapped.bytes, SIZE)); /* type 0x0200 */
    swapped.bytes[16] = 0;
    swapped.bytes[17] = 3;
    assert_string_equal(qs_program_arch(swapped.bytes, SIZE), "another kind of processor");
}

static void other_files_are_no_programs(void **state)
{
    (void)state;
    struct elf object = make(62, true, 1), core = make(62, true, 4), whole = make(62, true, 2);
    assert_null(qs_program_arch(object.bytes, SIZE));
    assert_null(qs_program_arch(core.bytes, SIZE));
    assert_null(qs_program_arch((const uint8_t *)"#!/bin/sh\nexit 0\n      ", 22));
    assert_null(qs_program_arch(whole.bytes, 19));
    assert_non_null(qs_program_arch(whole.bytes, 20));
    assert_null(qs_program_arch(whole.bytes, 0));
}

static void fits(const char *arch, const char *machine, const char *needs)
{
    QS_BUF(said);
    bool fit = qs_program_fits(arch, machine, &said);
    assert_string_equal(said.data, needs);
    assert_int_equal(fit, needs[0] == '\0');
}

static void each_machine_runs_its_own_and_what_is_narrower(void **state)
{
    static const char arm64[] = "arm64 (aarch64): build it with aarch64-linux-gnu-gcc -static, or the NDK";
    (void)state;
    fits("arm64", "aarch64", "");
    fits("armhf", "aarch64", "");
    fits("x86-64", "aarch64", arm64);
    fits("another kind of processor", "aarch64", arm64);
    fits("x86-64", "x86_64", "");
    fits("x86", "x86_64", "");
    fits("arm64", "x86_64", "x86-64 (x86_64): build it with x86_64-linux-gnu-gcc -static");
    fits("x86", "i686", "");
    fits("x86-64", "i686", "x86 (i686): build it with gcc -m32 -static");
    fits("armhf", "armv7l", "");
    fits("arm64", "armv7l", "armhf (armv7l): build it with arm-linux-gnueabihf-gcc -static, or the NDK");
    fits("riscv64", "riscv64", "");
    fits("armhf", "riscv64", "riscv64 (riscv64): build it with riscv64-linux-gnu-gcc -static");
    fits("x86-64", "sparc64", ""); /* nobody knows */
    fits("x86-64", "", "");
}

static void asks_for(const uint8_t *head, size_t n, const char *path)
{
    QS_BUF(found);
    bool any = qs_program_interpreter(head, n, &found);
    assert_string_equal(found.data, path);
    assert_int_equal(any, path[0] != '\0');
}

static void what_loads_it_is_told(void **state)
{
    static const char *const scripts[][2] = {{"#!/bin/sh\nexit\n", "/bin/sh"},
                                             {"#! /usr/bin/env python3\n", "/usr/bin/env"},
                                             {"#!\t/bin/a", "/bin/a"},
                                             {"#!/bin/sh\r\n", "/bin/sh"},
                                             {"#!\n", ""},
                                             {"#!", ""},
                                             {"plain text", ""}};
    (void)state;
    for (size_t i = 0; i < sizeof scripts / sizeof scripts[0]; i++)
        asks_for((const uint8_t *)scripts[i][0], strlen(scripts[i][0]), scripts[i][1]);
    struct elf wide = with_interpreter(true, "/lib/ld-linux-aarch64.so.1");
    struct elf narrow = with_interpreter(false, "/lib/ld-linux-armhf.so.3");
    asks_for(wide.bytes, SIZE, "/lib/ld-linux-aarch64.so.1");
    asks_for(narrow.bytes, SIZE, "/lib/ld-linux-armhf.so.3");
    for (size_t n = 0; n < SIZE; n++) { /* cut short anywhere */
        asks_for(wide.bytes, n, n >= 200 + 27 ? "/lib/ld-linux-aarch64.so.1" : "");
        asks_for(narrow.bytes, n, n >= 200 + 25 ? "/lib/ld-linux-armhf.so.3" : "");
    }
    struct elf none = make(183, true, 2);
    asks_for(none.bytes, SIZE, "");
}

/* Each byte of the header may be anything: nothing beyond the head is read, nothing takes for ever. */
static void hostile_headers_are_survived(void **state)
{
    (void)state;
    for (size_t at = 4; at < 200; at++)
        for (unsigned value = 0; value < 256; value += 51) {
            struct elf e = with_interpreter(at % 2 == 0, "/lib/x");
            QS_BUF(found);
            memset(e.bytes + at, (int)value, at + 8 <= 200 ? 8 : 1);
            (void)qs_program_arch(e.bytes, SIZE);
            (void)qs_program_interpreter(e.bytes, SIZE, &found);
            assert_true(found.len <= 255);
        }
}

/* The test itself is a program of the compiler's. */
static void a_real_program_is_read(void **state)
{
    uint8_t head[QS_PROGRAM_HEAD_BYTES];
    (void)state;
    FILE *self = fopen("/proc/self/exe", "rbe");
    assert_non_null(self);
    size_t n = fread(head, 1, sizeof head, self);
    fclose(self);
    QS_BUF(loader);
    assert_non_null(qs_program_arch(head, n));
    assert_string_not_equal(qs_program_arch(head, n), "another kind of processor");
    if (qs_program_interpreter(head, n, &loader))
        assert_int_equal(loader.data[0], '/');
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_processor_is_told),
        cmocka_unit_test(other_files_are_no_programs),
        cmocka_unit_test(each_machine_runs_its_own_and_what_is_narrower),
        cmocka_unit_test(what_loads_it_is_told),
        cmocka_unit_test(hostile_headers_are_survived),
        cmocka_unit_test(a_real_program_is_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
