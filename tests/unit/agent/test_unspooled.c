/* Nothing is measured that could not be kept on the disk: each call of the spool is refused in turn. */
#include "folder.h"
#include "refusals.h"
#include "spooling.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

/* Everything that can fail before a window, and the word about it. */
static void nothing_is_measured_that_cannot_be_kept(void **state)
{
    static const struct {
        const char *call;
        int nth;
    } refused[] = {{"openat", 1}, {"fsync", 1}, {"fstat", 1}, {"fallocate", 1}, {"fdatasync", 1}};
    struct qs_port_fault fault;
    (void)state;
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        enter();
        refuse_call(refused[i].call, refused[i].nth, ENOSPC);
        assert_false(qs_spool_reserve(&spool, &ring, 1000, &fault));
        assert_true(was_refused());
        assert_string_equal(fault.text, "the folder --state cannot keep what is measured until it is "
                                        "acknowledged, so nothing is: No space left on device");
        keep(1, 2, 0, 0); /* the next time it can */
        restart();
        assert_int_equal(ring.count, 1);
        kill_it();
    }
    enter();
    refuse_call("fallocate", 1, EOPNOTSUPP); /* a file system that knows no such promise */
    keep(1, 2, 0, 0);
    assert_true(was_refused());
    memset(spool.places, QS_SPOOL_FOREIGN, sizeof spool.places);
    spool.places[0] = QS_SPOOL_TAKEN;
    assert_false(qs_spool_reserve(&spool, &ring, 1000, &fault)); /* all places are taken */
    assert_non_null(strstr(fault.text, "No space left on device"));
    kill_it();
}

/* What could not be written behind a window is written before the next, or that one is not opened. */
static void writes_it_before_the_next_window(void **state)
{
    static const struct {
        const char *call;
        int nth;
    } refused[] = {{"lseek", 1}, {"write", 1}, {"write", 2}, {"fdatasync", 1}};
    struct qs_port_fault fault;
    (void)state;
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        enter();
        reserve();
        struct qs_ring_window *w = measure(1, 2, 0, 0);
        refuse_call(refused[i].call, refused[i].nth, EIO);
        qs_spool_keep(&spool, &ring, w);
        assert_true(was_refused());
        assert_int_equal(w->slot, 0);
        refuse_call(refused[i].call, refused[i].nth, EIO);
        assert_false(qs_spool_reserve(&spool, &ring, 1000, &fault));
        assert_non_null(strstr(fault.text, "Input/output error"));
        reserve();
        assert_int_equal(w->slot, 1);
        restart();
        assert_int_equal(ring.count, 1);
        expect_window(0, 1, 2, 0, 0);
        kill_it();
    }
}

/* Where the mark cannot be written over, the file goes. */
static void erases_in_another_way_on_errors(void **state)
{
    (void)state;
    enter();
    keep(1, 2, 0, 0);
    refuse_call("write", 1, EIO);
    acknowledge(1, 2, 2);
    assert_true(was_refused());
    assert_false(is_there("state/spool.000"));
    keep(1, 2, 1, 2);
    restart();
    assert_int_equal(ring.count, 1);
    kill_it();
}

static void leaves_no_descriptor_open(void **state)
{
    (void)state;
    enter();
    kill_it();
    int before = open_descriptors();
    start();
    for (uint32_t i = 0; i < 3; i++) {
        keep(1, 2, i, 2 * i);
    }
    qs_spool_close(&spool, &ring);
    start();
    qs_spool_close(&spool, &ring);
    assert_int_equal(open_descriptors(), before);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_measured_that_cannot_be_kept),
        cmocka_unit_test(writes_it_before_the_next_window),
        cmocka_unit_test(erases_in_another_way_on_errors),
        cmocka_unit_test(leaves_no_descriptor_open),
    };
    return cmocka_run_group_tests_name("agent.unspooled", tests, enter_folder, leave_folder);
}
