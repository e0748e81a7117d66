/* `frequency: hold`: which clocks are to be where, on the boards of the trees (argument 1: tests/data/sysfs).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "device/board/pin.h"
#include "tree.h"

static const char *boards;

struct want {
    const char *text;
    size_t khz, raw, limit_raw;
};

static void check(const struct qs_board *b, const struct qs_board *home, const char *cpus,
                  const struct want *want, size_t count)
{
    struct qs_err err = QS_ERR_INIT;
    QS_SCOPED(qs_pins_done) struct qs_pins pins = {0};
    if (!qs_board_hold(b, home, cpus, &pins, &err))
        fail_msg("%s", err.text);
    assert_int_equal(pins.items.count, 0);
    assert_int_equal(pins.choices.count, count);
    for (size_t i = 0; i < count; i++) {
        const struct qs_pin_choice *c = &pins.choices.at[i];
        assert_string_equal(c->text, want[i].text);
        assert_true(c->warm);
        assert_int_equal(c->khz, want[i].khz);
        assert_int_equal(c->raw, want[i].raw);
        assert_int_equal(c->limit_raw, want[i].limit_raw);
    }
}

#define BUSY "; kept busy until it is there, nothing is written)"

static void test_clocks_of_the_processors(void **state)
{
    (void)state;
    QS_SCOPED(qs_board_free_at) struct qs_board *b = tree_board(boards, "pixel6-oriole", false);
    const struct want all[] = {{"policy0: 1803 MHz (its highest" BUSY, 1803000, 1803000, 1803000},
                               {"policy4: 2253 MHz (its highest" BUSY, 2253000, 2253000, 2253000},
                               {"policy6: 2802 MHz (its highest" BUSY, 2802000, 2802000, 2802000}};
    check(b, b, "", all, 3);
    check(b, b, "0-7", all, 3);
    check(b, b, "5-6", all + 1, 2);
    check(b, b, "4", all + 1, 1);
}

static struct qs_board_domain *domain(struct qs_board *b, const char *name)
{
    for (size_t i = 0; i < b->domains.count; i++)
        if (strcmp(b->domains.at[i].name, name) == 0)
            return &b->domains.at[i];
    fail_msg("there is no %s", name);
    return NULL;
}

/* An upper limit is as far as it goes: the highest that it had in this session. */
static void test_upper_limits(void **state)
{
    (void)state;
    QS_SCOPED(qs_board_free_at) struct qs_board *b = tree_board(boards, "pixel6-oriole", false);
    QS_SCOPED(qs_board_free_at) struct qs_board *home = tree_board(boards, "pixel6-oriole", false);
    struct qs_board_domain *d = domain(b, "policy4"), *first = domain(home, "policy4");
    const struct want capped = {"policy4: 1663 MHz (its upper limit now, of 2253 MHz" BUSY, 1663000, 1663000,
                                1700000};
    const struct want whole = {"policy4: 2253 MHz (its highest" BUSY, 2253000, 2253000, 2253000};
    d->max_khz = first->max_khz = 1700000; /* no operating point of it */
    check(b, home, "4", &capped, 1);
    first->max_khz = 400000; /* it was too hot when the session began */
    check(b, home, "4", &capped, 1);
    d->max_khz = 400000; /* it is now */
    first->max_khz = 1700000;
    check(b, home, "4", &capped, 1);
    first->max_khz = 2253000;
    check(b, home, "4", &whole, 1);
    d->max_khz = first->max_khz = 0; /* nobody knows: nor is it watched */
    const struct want unknown = {whole.text, 2253000, 2253000, 0};
    check(b, home, "4", &unknown, 1);
    d->range = true;
    d->max_khz = 1700000;
    const struct want between = {"policy4: 1700 MHz (its upper limit now, of 2253 MHz" BUSY, 1700000, 1700000,
                                 1700000};
    check(b, home, "4", &between, 1);
    d->unit = QS_DOMAIN_HZ;
    const struct want in_hz = {between.text, 1700000, 1700000000, 1700000000};
    check(b, home, "4", &in_hz, 1);
}

static void forget(char **file)
{
    free(*file);
    *file = NULL;
}

static void test_what_cannot_be_read(void **state)
{
    (void)state;
    struct qs_err err = QS_ERR_INIT;
    QS_SCOPED(qs_pins_done) struct qs_pins pins = {0};
    QS_SCOPED(qs_board_free_at) struct qs_board *b = tree_board(boards, "pixel6-oriole", false);
    struct qs_board_domain *d = domain(b, "policy4");
    d->current_khz = 0;
    const struct want blind = {
        "policy4: 2253 MHz (its highest; its clock cannot be read: kept busy for a second, "
        "nothing is written)",
        2253000, 2253000, 2253000};
    check(b, b, "4", &blind, 1);
    forget(&d->residency_file);
    assert_false(qs_board_hold(b, b, "4", &pins, &err));
    assert_int_equal(err.code, QS_E_DENIED);
    assert_string_equal(err.text,
                        "`frequency: hold`: neither the clock of policy4 nor the time that it spends "
                        "at each frequency can be read by the agent's user, so nobody would know "
                        "whether it is at its highest; run the agent as root, or write `frequency: "
                        "free`");
    const struct want others = {"policy0: 1803 MHz (its highest" BUSY, 1803000, 1803000, 1803000};
    check(b, b, "0-3", &others, 1); /* what the job does not use */
    d->current_khz = 400000;
    const struct want unseen = {
        "policy4: 2253 MHz (its highest; kept busy until it is there, nothing is written; "
        "what happens within a window goes unseen)",
        2253000, 2253000, 2253000};
    check(b, b, "4", &unseen, 1);
    d->steps_khz.count = 0;
    assert_false(qs_board_hold(b, b, "4", &pins, &err));
    assert_int_equal(err.code, QS_E_NOT_FOUND);
    for (size_t i = 0; i < b->domains.count; i++)
        b->domains.at[i].kind = QS_DOMAIN_GPU;
    assert_false(qs_board_hold(b, b, "", &pins, &err));
    assert_non_null(strstr(err.text, "no clock of this device's processors can be read"));
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_clocks_of_the_processors),
        cmocka_unit_test(test_upper_limits),
        cmocka_unit_test(test_what_cannot_be_read),
    };
    assert_true(argc > 1);
    boards = argv[1];
    return cmocka_run_group_tests_name("device hold", tests, NULL, NULL);
}
