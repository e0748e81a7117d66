/* A link to a board by USB under test: over a libusb and with timers that are made for it. */
#ifndef QS_TESTS_UNIT_LINK_USB_BENCH_H
#define QS_TESTS_UNIT_LINK_USB_BENCH_H

#include "usb_fake.h"

#include "link_fixture.h"

enum { WAIT_MS = 5 };

static const uint8_t port_4[] = {4}, port_4_2[] = {4, 2};

struct qs_timer *__real_qs_timer_start(struct qs_loop *loop, int64_t delay_ns, qs_loop_fn *fn, void *user);
struct qs_timer *__wrap_qs_timer_start(struct qs_loop *loop, int64_t delay_ns, qs_loop_fn *fn, void *user);

/* What waits, waits for its order, not for its time. */
struct qs_timer *__wrap_qs_timer_start(struct qs_loop *loop, int64_t delay_ns, qs_loop_fn *fn, void *user)
{
    return __real_qs_timer_start(loop, delay_ns / 20, fn, user);
}

static inline void on_pause(void *user)
{
    qs_loop_stop(user);
}

/* Lets the loop run for some turns. */
static inline void turn(struct fixture *f)
{
    __real_qs_timer_start(f->loop, WAIT_MS * INT64_C(1000000), on_pause, f->loop);
    qs_loop_run(f->loop);
}

static inline void run_until(struct fixture *f, const int *count, int most)
{
    for (int i = 0; i < 2000 && *count < most; i++)
        turn(f);
    assert_int_equal(*count, most);
}

static inline void init(struct fixture *f, const char *address)
{
    struct qs_farm_device device = {.name = (char *)"bench", .link = QS_LINK_USB, .address = (char *)address};
    fixture_init(f, &device);
    f->at_up = f->at_down = DO_NOTHING;
}

static inline void up(struct fixture *f, const char *address)
{
    init(f, address);
    assert_true(fixture_open(f));
    run_until(f, &f->ups, 1);
}

static inline void done(struct fixture *f)
{
    qs_link_free(f->link);
    f->link = NULL;
    turn(f); /* what a thread has */
    fixture_done(f);
    fake_done();
}

static inline void says(const struct fixture *f, enum qs_errc code, const char *part)
{
    if (f->why.code != code || !strstr(f->why.text, part))
        fail_msg("%s: \"%s\" does not say \"%s\"", qs_errc_slug(f->why.code), f->why.text, part);
}

#endif
