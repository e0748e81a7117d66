/* What goes wrong with a board by USB, and how its link ends. */
#include "usb_bench.h"

static void unplugged_shows_as_an_error_first(void **state)
{
    (void)state;
    struct fixture f;
    fake_init();
    struct libusb_device *b = fake_board("R5", port_4, 1);
    up(&f, "R5");
    int before = b->submits;
    fake_unplug(b);
    run_until(&f, &f.downs, 1);
    says(&f, QS_E_LINK, "bench was unplugged");
    assert_int_equal(b->submits, before); /* none came through; and END is not tried */
    assert_int_equal(b->setup_count, 1);
    turn(&f);
    assert_int_equal(f.downs, 1);
    assert_string_equal(fake.log.data, "BEGIN release close exit");
    /* it comes back, as another one */
    b->plugged = true;
    b->chunk_at = b->chunk_count = b->out_count = 0;
    assert_true(fixture_open(&f));
    run_until(&f, &f.ups, 2);
    done(&f);
}

static void a_write_that_fails_tells_of_the_unplug(void **state)
{
    (void)state;
    struct fixture f;
    struct qs_err err = QS_ERR_INIT;
    fake_init();
    struct libusb_device *b = fake_board("R5", port_4, 1);
    up(&f, "R5");
    b->plugged = false;
    assert_false(qs_link_send(f.link, (const uint8_t *)"x", 1, &err));
    assert_int_equal(err.code, QS_E_LINK);
    assert_int_equal(f.downs, 0);
    run_until(&f, &f.downs, 1);
    says(&f, QS_E_LINK, "bench was unplugged");
    done(&f);
}

static void a_read_that_fails_is_tried_again_three_times(void **state)
{
    (void)state;
    struct fixture f;
    fake_init();
    struct libusb_device *b = fake_board("R5", port_4, 1);
    up(&f, "R5");
    for (int i = 0; i < 3; i++)
        fake_fail(b, LIBUSB_TRANSFER_ERROR);
    for (int i = 0; i < 200 && fake_pending(b) < 4; i++)
        turn(&f);
    assert_int_equal(fake_pending(b), 4);
    assert_int_equal(f.downs, 0);
    fake_send(b, "hello", 5);
    turn(&f);
    assert_int_equal(f.got.len, 5);
    fake_fail(b, LIBUSB_TRANSFER_ERROR); /* counted anew */
    for (int i = 0; i < 200 && fake_pending(b) < 4; i++)
        turn(&f);
    fake_send(b, "again", 5);
    turn(&f);
    assert_int_equal(f.got.len, 10);
    for (int i = 0; i < 4; i++)
        fake_fail(b, LIBUSB_TRANSFER_ERROR);
    run_until(&f, &f.downs, 1);
    says(&f, QS_E_LINK, "a transfer from it failed (an error on the bus: look at the cable and the hub)");
    done(&f);
}

static void other_failures_end_it(void **state)
{
    (void)state;
    static const struct {
        enum libusb_transfer_status status;
        const char *said;
    } cases[] = {{LIBUSB_TRANSFER_STALL, "from it failed (its endpoint is halted)"},
                 {LIBUSB_TRANSFER_OVERFLOW, "from it failed (it sent more than was asked for)"},
                 {LIBUSB_TRANSFER_NO_DEVICE, "bench was unplugged"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct fixture f;
        fake_init();
        struct libusb_device *b = fake_board("R5", port_4, 1);
        up(&f, "R5");
        fake_fail(b, cases[i].status);
        run_until(&f, &f.downs, 1);
        says(&f, QS_E_LINK, cases[i].said);
        done(&f);
    }
    struct fixture f;
    fake_init();
    struct libusb_device *b = fake_board("R5", port_4, 1);
    up(&f, "R5");
    b->out_errors = 1; /* what was on its way behind it could overtake it: no second try */
    fixture_send(&f, "x", 1);
    run_until(&f, &f.downs, 1);
    says(&f, QS_E_LINK, "a transfer to it failed");
    assert_int_equal(b->got.len, 0);
    done(&f);
}

static void what_cannot_be_opened_says_why(void **state)
{
    (void)state;
    struct fixture f;
    fake_init();
    struct libusb_device *b = fake_board("R5", port_4, 1);
    init(&f, "R5");
    b->open_code = LIBUSB_ERROR_ACCESS;
    assert_true(fixture_open(&f));
    run_until(&f, &f.downs, 1);
    says(&f, QS_E_DENIED,
         "bench: this user may not open /dev/bus/usb/001/005: install the udev rule of config/udev");
    b->open_code = LIBUSB_ERROR_IO;
    assert_true(fixture_open(&f));
    run_until(&f, &f.downs, 2);
    says(&f, QS_E_LINK, "bench: cannot open /dev/bus/usb/001/005: Input/Output Error");
    b->open_code = 0;
    b->claim_code = LIBUSB_ERROR_BUSY;
    assert_true(fixture_open(&f));
    run_until(&f, &f.downs, 3);
    says(&f, QS_E_LINK,
         "another program has its interface, perhaps another quiesced: `fuser -v /dev/bus/usb/001/005`");
    b->plugged = false;
    assert_true(fixture_open(&f));
    run_until(&f, &f.downs, 4);
    says(&f, QS_E_LINK, "no USB device `R5` with an agent is plugged in");
    b->plugged = true;
    b->claim_code = 0;
    b->configuration = 2; /* another one is active */
    assert_true(fixture_open(&f));
    run_until(&f, &f.ups, 1);
    assert_int_equal(b->active, 2);
    done(&f);
}

static void one_serial_for_two_is_none(void **state)
{
    (void)state;
    struct fixture f;
    fake_init();
    struct libusb_device *b = fake_board("R5", port_4, 1), *c = fake_board("R5", port_4_2, 2);
    init(&f, "R5");
    assert_true(fixture_open(&f));
    run_until(&f, &f.downs, 1);
    says(&f, QS_E_LINK, "2 USB devices have the serial `R5`: use their places, usb:1-4, usb:1-4.2");
    qs_link_free(f.link);
    f.link = NULL;
    fixture_done(&f);
    up(&f, "usb:1-4.2");
    assert_int_equal(b->opens, 0);
    assert_int_equal(c->opens, 1);
    done(&f);
}

/* The second attempt resets the port, once; the third does not. */
static void what_does_not_answer_is_reset(void **state)
{
    (void)state;
    static const int resets[] = {0, 1, 1, 1, 1, 1, 1, 1, 1, 2, 2};
    struct fixture f;
    fake_init();
    struct libusb_device *b = fake_board("R5", port_4, 1);
    init(&f, "R5");
    b->begin = LIBUSB_TRANSFER_STALL;
    for (int i = 0; i < 11; i++) {
        b->setup_count = 0;
        assert_true(fixture_open(&f));
        run_until(&f, &f.downs, i + 1);
        says(&f, QS_E_LINK, "refuses a session over USB");
        assert_int_equal(b->resets, resets[i]);
        turn(&f);
    }
    b->begin = LIBUSB_TRANSFER_COMPLETED;
    b->setup_count = 0;
    assert_true(fixture_open(&f));
    run_until(&f, &f.ups, 1);
    qs_link_close(f.link);
    turn(&f);
    b->begin = LIBUSB_TRANSFER_STALL; /* counted anew */
    for (int i = 0; i < 2; i++) {
        assert_int_equal(b->resets, 2);
        assert_true(fixture_open(&f));
        run_until(&f, &f.downs, 12 + i);
        turn(&f);
    }
    assert_int_equal(b->resets, 3);
    done(&f);
}

static void it_may_be_mute(void **state)
{
    (void)state;
    struct fixture f;
    fake_init();
    struct libusb_device *b = fake_board("R5", port_4, 1);
    b->is_mute = true;
    init(&f, "R5");
    assert_true(fixture_open(&f));
    run_until(&f, &b->setup_count, 1);
    fake_expire(b);
    run_until(&f, &f.downs, 1);
    says(&f, QS_E_LINK, "its agent does not answer over USB");
    b->is_mute = false;
    b->keeps_nonce = true;
    assert_true(fixture_open(&f)); /* the board's limit is the link's own here */
    run_until(&f, &f.downs, 2);
    says(&f, QS_E_LINK, "takes a session over USB, and does not begin it");
    assert_int_equal(b->resets, 1);
    done(&f);
}

/* Where libusb keeps no timer of its own, the loop does. */
static void libusb_may_need_a_timer(void **state)
{
    (void)state;
    struct fixture f;
    fake_init();
    struct libusb_device *b = fake_board("R5", port_4, 1);
    fake.keeps_timers = false;
    b->is_mute = true;
    init(&f, "R5");
    assert_true(fixture_open(&f));
    run_until(&f, &f.downs, 1);
    says(&f, QS_E_LINK, "its agent does not answer over USB");
    assert_int_equal(b->setup_count, 1);
    done(&f);
}

/* ---- its end ---- */

static void it_may_be_closed_anywhere(void **state)
{
    (void)state;
    static const enum on_event ways[] = {DO_CLOSE, DO_FREE};
    for (size_t i = 0; i < 6; i++) {
        struct fixture f;
        fake_init();
        struct libusb_device *b = fake_board("R5", port_4, 1);
        init(&f, "R5");
        *(i < 2 ? &f.at_up : i < 4 ? &f.at_bytes : &f.at_down) = ways[i % 2];
        assert_true(fixture_open(&f));
        run_until(&f, &f.ups, 1);
        fake_send(b, "a", 1);
        fake_send(b, "b", 1);
        turn(&f);
        assert_int_equal(f.got.len, i < 2 ? 0 : i < 4 ? 1 : 2);
        if (i >= 4) {
            fake_unplug(b);
            run_until(&f, &f.downs, 1);
        }
        turn(&f);
        assert_string_equal(fake.log.data,
                            i < 4 ? "BEGIN END release close exit" : "BEGIN release close exit");
        done(&f);
    }
}

/* A board that does not take END is let go of all the same: a moment later, or when somebody is in a hurry.
 */
static void the_end_is_not_waited_for(void **state)
{
    (void)state;
    for (int hurry = 0; hurry < 3; hurry++) {
        struct fixture f;
        fake_init();
        struct libusb_device *b = fake_board("R5", port_4, 1);
        up(&f, "R5");
        b->is_mute = true;
        qs_link_close(f.link);
        assert_string_equal(fake.log.data, "BEGIN END");
        b->is_mute = false;
        if (hurry == 0) {
            for (int i = 0; i < 200 && fake.open_contexts > 0; i++)
                turn(&f);
            assert_string_equal(fake.log.data, "BEGIN END release close exit");
        } else if (hurry == 1) {
            assert_true(fixture_open(&f));
            run_until(&f, &f.ups, 2);
            assert_string_equal(fake.log.data, "BEGIN END release close exit BEGIN");
        }
        done(&f);
    }
}

static void it_may_be_closed_while_a_thread_has_it(void **state)
{
    (void)state;
    struct fixture f;
    struct qs_err err = QS_ERR_INIT;
    fake_init();
    fake_board("R5", port_4, 1);
    init(&f, "R5");
    assert_true(fixture_open(&f));
    qs_link_close(f.link);
    assert_false(qs_link_open(f.link, &err));
    assert_int_equal(err.code, QS_E_LINK);
    turn(&f);
    turn(&f);
    assert_int_equal(f.ups + f.downs, 0);
    assert_int_equal(fake.open_contexts, 0);
    assert_true(fixture_open(&f));
    run_until(&f, &f.ups, 1);
    qs_link_close(f.link);
    turn(&f);
    assert_true(fixture_open(&f));
    done(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(unplugged_shows_as_an_error_first),
        cmocka_unit_test(a_write_that_fails_tells_of_the_unplug),
        cmocka_unit_test(a_read_that_fails_is_tried_again_three_times),
        cmocka_unit_test(other_failures_end_it),
        cmocka_unit_test(what_cannot_be_opened_says_why),
        cmocka_unit_test(one_serial_for_two_is_none),
        cmocka_unit_test(what_does_not_answer_is_reset),
        cmocka_unit_test(it_may_be_mute),
        cmocka_unit_test(libusb_may_need_a_timer),
        cmocka_unit_test(it_may_be_closed_anywhere),
        cmocka_unit_test(the_end_is_not_waited_for),
        cmocka_unit_test(it_may_be_closed_while_a_thread_has_it),
    };
    return cmocka_run_group_tests_name("usb_trouble", tests, NULL, NULL);
}
