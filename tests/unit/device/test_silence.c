/* What is claimed of a window's silence, and by which counts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "device/window/silence.h"

static const struct qs_session_quiet quiet = {
    .silent = true, .proven = true, .counted = true, .from.has_segments = true, .to.has_segments = true};
static const struct qs_msg_closed closed = {.iterations = 1};

/* The agent counts nothing on USB, and need not: nobody is in between. */
static void a_cable_is_one_connection(void **state)
{
    (void)state;
    struct qs_session_quiet usb = quiet;
    struct qs_msg_closed m = closed;
    usb.to.are_transfers = true;
    assert_int_equal(qs_silence_claim(&m, &usb, false), QS_SILENCE_PROVEN);
    assert_int_equal(qs_silence_claim(&m, &quiet, false), QS_SILENCE_OBSERVED);
    assert_int_equal(qs_silence_claim(&m, &quiet, true), QS_SILENCE_OBSERVED);
    usb.proven = false;
    assert_int_equal(qs_silence_claim(&m, &usb, false), QS_SILENCE_OBSERVED);
    usb.proven = true;
    m.frames_in_window = 1;
    assert_int_equal(qs_silence_claim(&m, &usb, false), QS_SILENCE_NONE);
    m.frames_in_window = 0;
    usb.silent = false;
    assert_int_equal(qs_silence_claim(&m, &usb, false), QS_SILENCE_NONE);
}

static void transfers_are_no_segments(void **state)
{
    (void)state;
    struct qs_evidence_row rows[QS_SILENCE_ROWS];
    struct qs_session_quiet usb = quiet;
    usb.from.segments_in = 5;
    usb.from.segments_out = 7;
    usb.to.segments_in = 6;
    usb.to.segments_out = 7;
    usb.to.are_transfers = true;
    assert_int_equal(qs_silence_evidence(&closed, &usb, rows), 6);
    assert_string_equal(rows[2].kind, "host.usb.in_transfers");
    assert_true(rows[2].present);
    assert_int_equal(rows[2].before, 5);
    assert_int_equal(rows[2].after, 6);
    assert_string_equal(rows[3].kind, "host.usb.out_transfers");
    assert_int_equal(rows[3].before, 7);
    assert_int_equal(rows[3].after, 7);
    assert_string_equal(rows[4].kind, "agent.link.in_frames");
    usb.from.has_segments = false; /* the middle of the lead was missed */
    assert_int_equal(qs_silence_evidence(&closed, &usb, rows), 6);
    assert_false(rows[2].present);
    assert_false(rows[3].present);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_cable_is_one_connection),
        cmocka_unit_test(transfers_are_no_segments),
    };
    return cmocka_run_group_tests_name("silence", tests, NULL, NULL);
}
