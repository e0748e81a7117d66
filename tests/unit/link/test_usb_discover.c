/* Boards on USB that are found by themselves, over a libusb that is made for the test. */
#include "usb_fake.h"

#include "link_fixture.h"

#include <stdlib.h>

#include "base/mem.h"

static const uint8_t port_4[] = {4}, port_4_2[] = {4, 2}, port_4_3[] = {4, 3};

struct qs_timer *__real_qs_timer_start(struct qs_loop *loop, int64_t delay_ns, qs_loop_fn *fn, void *user);
struct qs_timer *__wrap_qs_timer_start(struct qs_loop *loop, int64_t delay_ns, qs_loop_fn *fn, void *user);

static int64_t last_delay_ms; /* that was asked for */

/* What waits, waits for its order, not for its time: half a minute is beyond the test. */
struct qs_timer *__wrap_qs_timer_start(struct qs_loop *loop, int64_t delay_ns, qs_loop_fn *fn, void *user)
{
    last_delay_ms = delay_ns / 1000000;
    return __real_qs_timer_start(loop, last_delay_ms > 10000 ? INT64_C(3600000000000) : delay_ns / 10, fn,
                                 user);
}

struct bench {
    struct qs_loop *loop;
    struct qs_link_discovery *discovery;
    struct qs_buf log;
};

static void tell(struct bench *b, char sign, const struct qs_farm_device *d)
{
    qs_buf_fmt(&b->log, "%s%c%s", b->log.len > 0 ? " " : "", sign, d->name);
}

static void on_found(const struct qs_farm_device *d, void *user)
{
    tell(user, '+', d);
}

static void on_lost(const struct qs_farm_device *d, void *user)
{
    tell(user, '-', d);
}

static void on_pause(void *user)
{
    qs_loop_stop(user);
}

static void turn(struct bench *b)
{
    __real_qs_timer_start(b->loop, INT64_C(5000000), on_pause, b->loop);
    qs_loop_run(b->loop);
}

static void init(struct bench *b, bool has_udev)
{
    const struct qs_link_finds finds = {
        .on_found = on_found, .on_lost = on_lost, .user = b, .agents = (char *)"/agents"};
    fake.has_udev = has_udev;
    qs_buf_init(&b->log);
    b->loop = qs_loop_new_real(NULL);
    b->discovery = qs_link_traits(QS_LINK_USB)->discover(b->loop, &finds);
}

static void says(struct bench *b, const char *text)
{
    for (int i = 0; i < 2000 && strcmp(b->log.data, text) != 0; i++)
        turn(b);
    assert_string_equal(b->log.data, text);
}

static void lists(struct bench *b, int count)
{
    for (int i = 0; i < 2000 && fake_lists() < count; i++)
        turn(b);
    turn(b);
    assert_int_equal(fake_lists(), count);
}

static void done(struct bench *b)
{
    qs_link_traits(QS_LINK_USB)->discover_end(b->discovery);
    turn(b);
    qs_buf_done(&b->log);
    assert_int_equal(qs_loop_free(b->loop), 0);
    fake_done();
}

struct expected {
    const struct qs_farm_device *device;
};

static void keep(const struct qs_farm_device *d, void *user)
{
    ((struct expected *)user)->device = d;
}

static void what_is_found_is_described(void **state)
{
    (void)state;
    struct expected e = {0};
    struct bench b = {0};
    const struct qs_link_finds finds = {
        .on_found = keep, .on_lost = keep, .user = &e, .agents = (char *)"/agents"};
    fake_init();
    fake_board("R5", port_4_2, 2);
    qs_buf_init(&b.log);
    b.loop = qs_loop_new_real(NULL);
    b.discovery = qs_link_traits(QS_LINK_USB)->discover(b.loop, &finds);
    for (int i = 0; i < 200 && !e.device; i++)
        turn(&b);
    assert_non_null(e.device);
    assert_int_equal(e.device->link, QS_LINK_USB);
    assert_string_equal(e.device->name, "R5");
    assert_string_equal(e.device->address, "R5");
    assert_string_equal(e.device->other_address, "usb:1-4.2");
    assert_string_equal(e.device->hub, "usb:1-4");
    assert_string_equal(e.device->agents, "/agents");
    assert_false(e.device->local);
    assert_int_equal(e.device->labels.count, 3);
    assert_string_equal(e.device->labels.at[0], "serial=R5");
    assert_string_equal(e.device->labels.at[1], "model=Bench_board");
    assert_string_equal(e.device->labels.at[2], "usb=1-4.2");
    done(&b);
}

/* Of many events there is one list, when they are over; what comes back is the same device. */
static void a_storm_is_one_change(void **state)
{
    (void)state;
    struct bench b;
    fake_init();
    struct libusb_device *one = fake_board("R5", port_4, 1);
    fake_plug(fake_board("R6", port_4_2, 2), false);
    init(&b, true);
    says(&b, "+R5");
    lists(&b, 1);
    assert_int_equal(last_delay_ms, 30000);
    fake_plug(one, false);
    fake_plug(&fake.boards[1], true);
    for (int i = 0; i < 5; i++) {
        fake_tell(LIBUSB_HOTPLUG_EVENT_DEVICE_ARRIVED);
        turn(&b);
        assert_int_equal(last_delay_ms, 300);
        assert_int_equal(fake_lists(), 1);
    }
    says(&b, "+R5 +R6 -R5");
    lists(&b, 2);
    fake_plug(one, true);
    fake_tell(LIBUSB_HOTPLUG_EVENT_DEVICE_ARRIVED);
    says(&b, "+R5 +R6 -R5 +R5");
    lists(&b, 3);
    done(&b);
}

/* Nobody tells, and the list of a context is that of its beginning. */
static void without_udev_the_list_is_read_anew(void **state)
{
    (void)state;
    struct bench b;
    fake_init();
    struct libusb_device *one = fake_board("R5", port_4, 1);
    fake_plug(one, false);
    init(&b, false);
    lists(&b, 1);
    assert_int_equal(last_delay_ms, 2000);
    fake_plug(one, true);
    says(&b, "+R5");
    fake_plug(one, false);
    says(&b, "+R5 -R5");
    assert_true(fake_lists() >= 3);
    assert_int_equal(fake_contexts(), fake_lists());
    lists(&b, fake_lists() + 1); /* told once */
    assert_string_equal(b.log.data, "+R5 -R5");
    fake_plug(one, true);
    says(&b, "+R5 -R5 +R5");
    fake_hide_list(true); /* what is known stays */
    lists(&b, fake_lists() + 1);
    assert_string_equal(b.log.data, "+R5 -R5 +R5");
    done(&b);
}

static void one_serial_for_two_is_none(void **state)
{
    (void)state;
    struct bench b;
    fake_init();
    struct libusb_device *one = fake_board("R5", port_4_2, 2), *two = fake_board("R5", port_4_3, 2);
    fake_board("", port_4, 1)->product = "";
    fake_plug(two, false);
    init(&b, true);
    says(&b, "+R5 +usb-1-4");
    fake_plug(two, true);
    fake_tell(LIBUSB_HOTPLUG_EVENT_DEVICE_ARRIVED);
    says(&b, "+R5 +usb-1-4 +usb-1-4.2 +usb-1-4.3 -R5");
    fake_plug(one, false);
    fake_tell(LIBUSB_HOTPLUG_EVENT_DEVICE_LEFT);
    says(&b, "+R5 +usb-1-4 +usb-1-4.2 +usb-1-4.3 -R5 +R5 -usb-1-4.2 -usb-1-4.3");
    done(&b);
}

static void it_may_end_while_a_list_is_read(void **state)
{
    (void)state;
    struct bench b;
    fake_init();
    fake_board("R5", port_4, 1);
    init(&b, false);
    fake_hold(true);
    turn(&b); /* the thread waits */
    qs_link_traits(QS_LINK_USB)->discover_end(b.discovery);
    fake_hold(false);
    for (int i = 0; i < 200 && fake_lists() == 0; i++)
        turn(&b);
    turn(&b);
    assert_string_equal(b.log.data, "");
    qs_buf_done(&b.log);
    assert_int_equal(qs_loop_free(b.loop), 0);
    fake_done();
}

static void count(void *user)
{
    ++*(int *)user;
}

/* Whoever ends waits for its thread, whose answer would else find nobody. */
static void it_rests_when_its_thread_has_ended(void **state)
{
    (void)state;
    for (int reading = 0; reading <= 1; reading++) {
        struct bench b;
        int rested = 0;
        fake_init();
        fake_board("R5", port_4, 1);
        init(&b, false);
        fake_hold(reading);
        turn(&b);
        for (int i = 0; !reading && i < 2000 && b.log.len == 0; i++)
            turn(&b);
        int before = fake_lists();
        qs_link_traits(QS_LINK_USB)->discover_rest(b.discovery, count, &rested);
        assert_int_equal(rested, !reading);
        fake_hold(false);
        for (int i = 0; i < 2000 && rested == 0; i++)
            turn(&b);
        for (int i = 0; i < 20; i++)
            turn(&b);
        assert_int_equal(rested, 1);
        assert_int_equal(fake_lists(), before + reading); /* it looks no more */
        assert_string_equal(b.log.data, reading ? "" : "+R5");
        done(&b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_found_is_described),
        cmocka_unit_test(a_storm_is_one_change),
        cmocka_unit_test(without_udev_the_list_is_read_anew),
        cmocka_unit_test(one_serial_for_two_is_none),
        cmocka_unit_test(it_may_end_while_a_list_is_read),
        cmocka_unit_test(it_rests_when_its_thread_has_ended),
    };
    return cmocka_run_group_tests_name("usb_discover", tests, NULL, NULL);
}
