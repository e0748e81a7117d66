/* Windows on the device's disk: what a record is, what of it survives a kill, a torn write and damage, and
 * what erases it. */
#include "folder.h"
#include "linux/files.h"
#include "proto/crc32c.h"
#include "spooling.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

/* Byte by byte, as another program has written it. */
static void a_record_is_what_is_documented(void **state)
{
    static const char wanted[] = "515353504f4f4c018a7281abb3158ee80700000000000000fafafafafafafafa"
                                 "fafafafafafafafa50505050505050505050505050505050030000000b000000"
                                 "00000000020000000100008001002c010000000000000600000003000000";
    uint8_t head[QS_SPOOL_HEAD_BYTES];
    char hex[2 * sizeof head + 1];
    struct qs_ring_window read;
    uint32_t crc;
    (void)state;
    enter();
    const struct qs_ring_window *w = measure(0xfa, 0x50, 3, 11);
    qs_spool_encode(w, 7, ring.memory + w->at, head);
    for (size_t i = 0; i < sizeof head; i++) {
        snprintf(hex + 2 * i, 3, "%02x", head[i]);
    }
    assert_string_equal(hex, wanted);
    assert_int_equal(qs_spool_decode(head, &read, &crc), 7);
    assert_int_equal(crc, 0xe88e15b3);
    assert_int_equal(qs_ring_bytes(&read), 2 * ROW + CLOSED + DOCUMENT);
    kill_it();
}

/* Each bound of a head, though its sum is right. */
static void a_head_is_bounded(void **state)
{
    static const struct {
        size_t at;
        uint64_t last;
        int bytes;
    } bounds[] = {{60, QS_SEQ_MAX, 8},
                  {68, QS_ITERATIONS_MAX, 4},
                  {72, QS_METRICS_MAX, 2},
                  {86, QS_RING_CLOSED_BYTES, 4},
                  {90, QS_DOCUMENT_MAX_BYTES, 4}};
    (void)state;
    enter();
    const struct qs_ring_window *w = measure(1, 2, 3, 11);
    for (size_t i = 0; i < sizeof bounds / sizeof bounds[0]; i++) {
        for (uint64_t more = 0; more < 2; more++) {
            uint8_t head[QS_SPOOL_HEAD_BYTES];
            struct qs_ring_window read;
            uint32_t crc;
            qs_spool_encode(w, 7, ring.memory + w->at, head);
            for (int k = 0; k < bounds[i].bytes; k++) {
                head[bounds[i].at + (size_t)k] = (uint8_t)((bounds[i].last + more) >> 8 * k);
            }
            uint32_t sum = qs_crc32c(0, head + 12, sizeof head - 12);
            for (int k = 0; k < 4; k++) {
                head[8 + k] = (uint8_t)(sum >> 8 * k);
            }
            assert_int_equal(qs_spool_decode(head, &read, &crc), more ? 0 : 7);
        }
    }
    kill_it();
}

static void is_there_after_a_kill(void **state)
{
    (void)state;
    enter();
    assert_string_equal(spool.note, "state");
    keep(1, 2, 0, 0);
    keep(1, 2, 1, 2);
    keep(3, 2, 0, 0); /* another farm's run of the same name */
    restart();
    assert_string_equal(spool.note, "state");
    assert_int_equal(ring.count, 3);
    expect_window(0, 1, 2, 0, 0);
    expect_window(1, 1, 2, 1, 2);
    expect_window(2, 3, 2, 0, 0);
    acknowledge(1, 2, 4);
    restart();
    assert_int_equal(ring.count, 1); /* another farm's is not erased by that */
    expect_window(0, 3, 2, 0, 0);
    keep(1, 9, 0, 0); /* into the first place, and is still the later one */
    assert_int_equal(ring.windows[1].slot, 1);
    restart();
    assert_int_equal(ring.count, 2);
    expect_window(0, 3, 2, 0, 0);
    expect_window(1, 1, 9, 0, 0);
    kill_it();
}

static void is_erased_when_it_is_acknowledged(void **state)
{
    static const uint8_t zeros[QS_SPOOL_MARK_BYTES];
    uint8_t bytes[64];
    struct stat before;
    struct stat after;
    (void)state;
    enter();
    keep(1, 2, 0, 0);
    assert_int_equal(stat("state/spool.000", &before), 0);
    acknowledge(1, 2, 1); /* of one of its two */
    assert_int_equal(read_file("state/spool.000", bytes, sizeof bytes), sizeof bytes);
    assert_memory_equal(bytes, "QSSPOOL\001", 8);
    acknowledge(1, 2, 2);
    assert_int_equal(read_file("state/spool.000", bytes, sizeof bytes), sizeof bytes);
    assert_memory_equal(bytes, zeros, sizeof zeros);
    keep(1, 2, 1, 2); /* the same place, with the same blocks */
    assert_int_equal(stat("state/spool.000", &after), 0);
    assert_int_equal(after.st_ino, before.st_ino);
    assert_int_equal(after.st_size, before.st_size);
    assert_false(is_there("state/spool.001"));
    keep(1, 2, 2, 4);
    assert_true(is_there("state/spool.001"));
    acknowledge(1, 2, 6);
    assert_false(is_there("state/spool.000"));
    assert_true(is_there("state/spool.001"));
    qs_spool_rest(&spool, &ring);
    assert_false(is_there("state/spool.001"));
    keep(1, 2, 3, 6);
    qs_spool_close(&spool, &ring); /* an agent that ends well erases nothing that is not acknowledged */
    start();
    assert_int_equal(ring.count, 1);
    expect_window(0, 1, 2, 3, 6);
    kill_it();
}

static void what_was_erased_does_not_come_back(void **state)
{
    (void)state;
    enter();
    keep(1, 2, 0, 0);
    acknowledge(1, 2, 2);
    restart();
    assert_int_equal(ring.count, 0);
    assert_string_equal(spool.note, "state");
    assert_false(is_there("state/spool.000"));
    kill_it();
}

/* A write that reached the disk up to some byte, with nothing or zeros behind it. */
static void a_torn_record_is_dropped(void **state)
{
    static const size_t whole = QS_SPOOL_HEAD_BYTES + 2 * ROW + CLOSED + DOCUMENT;
    uint8_t bytes[QS_SPOOL_HEAD_BYTES + 2 * ROW + CLOSED + DOCUMENT];
    uint8_t zeroed[sizeof bytes];
    (void)state;
    enter();
    keep(1, 2, 0, 0);
    keep(1, 2, 1, 2);
    assert_int_equal(read_file("state/spool.001", bytes, whole), whole);
    for (size_t n = 0; n < whole; n++) {
        memset(zeroed, 0, sizeof zeroed);
        memcpy(zeroed, bytes, n);
        for (int zeros = 0; zeros < 2; zeros++) {
            write_file("state/spool.001", zeroed, zeros ? whole : n);
            restart();
            assert_int_equal(ring.count, 1);
            expect_window(0, 1, 2, 0, 0);
            assert_string_equal(spool.note,
                                n == 0 ? "state" : "state; spool.001 was torn or damaged and is dropped");
            assert_false(is_there("state/spool.001"));
        }
    }
    write_file("state/spool.001", bytes, whole);
    restart();
    assert_int_equal(ring.count, 2);
    expect_window(1, 1, 2, 1, 2);
    kill_it();
}

static void a_damaged_record_is_dropped(void **state)
{
    static const size_t whole = QS_SPOOL_HEAD_BYTES + 2 * ROW + CLOSED + DOCUMENT;
    uint8_t bytes[QS_SPOOL_HEAD_BYTES + 2 * ROW + CLOSED + DOCUMENT];
    (void)state;
    enter();
    keep(1, 2, 0, 0);
    assert_int_equal(read_file("state/spool.000", bytes, whole), whole);
    for (size_t i = 0; i < whole; i++) {
        for (uint8_t bit = 1; bit != 0; bit = (uint8_t)(bit << 1)) {
            bytes[i] ^= bit;
            write_file("state/spool.000", bytes, whole);
            bytes[i] ^= bit;
            restart();
            assert_int_equal(ring.count, 0);
            bool newer = i == 7 && bit != 1; /* the version */
            assert_string_equal(spool.note, newer ? "state; spool.000 is of a newer agent and waits for one"
                                                  : "state; spool.000 was torn or damaged and is dropped");
            assert_int_equal(is_there("state/spool.000"), newer);
        }
    }
    kill_it();
}

/* It is neither read nor written over. */
static void leaves_what_it_does_not_know(void **state)
{
    uint8_t bytes[8];
    (void)state;
    enter();
    put("state/spool.000", "QSSPOOL\002");
    assert_int_equal(symlink("nowhere", "state/spool.001"), 0);
    restart();
    assert_string_equal(spool.note,
                        "state; spool.000 is of a newer agent and waits for one; spool.001 cannot be read");
    keep(1, 2, 0, 0);
    assert_int_equal(ring.windows[0].slot, 3);
    acknowledge(1, 2, 2);
    qs_spool_close(&spool, &ring);
    assert_int_equal(read_file("state/spool.000", bytes, sizeof bytes), 8);
    assert_memory_equal(bytes, "QSSPOOL\002", 8);
    assert_false(is_there("state/spool.002"));
}

/* The power was cut before the erasure of one of several acknowledged windows was on the disk. */
static void drops_what_has_a_hole_behind_it(void **state)
{
    (void)state;
    enter();
    keep(1, 2, 0, 0);
    keep(1, 2, 1, 2);
    keep(1, 2, 2, 4);
    keep(1, 3, 0, 0);
    assert_int_equal(unlink("state/spool.001"), 0);
    restart();
    assert_int_equal(ring.count, 2);
    expect_window(0, 1, 2, 2, 4);
    expect_window(1, 1, 3, 0, 0);
    assert_false(is_there("state/spool.000"));
    assert_true(is_there("state/spool.002"));
    kill_it();
}

static void what_finds_no_room_waits(void **state)
{
    (void)state;
    enter();
    keep(1, 2, 0, 0);
    keep(1, 3, 0, 0);
    kill_it();
    int dir_fd = qs_files_open_state("state");
    qs_ring_init(&ring, memory, 2 * ROW + CLOSED + DOCUMENT);
    qs_spool_open(&spool, "state", dir_fd, -1, &ring);
    assert_int_equal(ring.count, 1);
    expect_window(0, 1, 2, 0, 0);
    assert_string_equal(spool.note, "state; spool.001 waits until there is room for it");
    acknowledge(1, 2, 2);
    restart();
    assert_int_equal(ring.count, 1);
    expect_window(0, 1, 3, 0, 0);
    kill_it();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_record_is_what_is_documented),
        cmocka_unit_test(a_head_is_bounded),
        cmocka_unit_test(is_there_after_a_kill),
        cmocka_unit_test(is_erased_when_it_is_acknowledged),
        cmocka_unit_test(what_was_erased_does_not_come_back),
        cmocka_unit_test(a_torn_record_is_dropped),
        cmocka_unit_test(a_damaged_record_is_dropped),
        cmocka_unit_test(leaves_what_it_does_not_know),
        cmocka_unit_test(drops_what_has_a_hole_behind_it),
        cmocka_unit_test(what_finds_no_room_waits),
    };
    return cmocka_run_group_tests_name("agent.spool", tests, enter_folder, leave_folder);
}
