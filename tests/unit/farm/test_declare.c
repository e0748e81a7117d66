/* Devices that are declared while the daemon runs: what is refused leaves the farm as it was. */
#include "bed.h"

#include <stdio.h>
#include <string.h>

#include "farm/declare.h"

static const char farm[] = "devices: {bench-1: {link: sim}, user-board: {link: sim}}\n";

static void begin(struct bed *b)
{
    bed_init(b, farm);
    bed_begin(b, 0, 1);
}

static void refuses(struct bed *b, const char *link, const char *host, enum qs_errc code, const char *part)
{
    struct qs_err err = QS_ERR_INIT;
    QS_BUF(name);
    assert_false(qs_farm_declare(b->farm, link, host, &name, &err));
    assert_int_equal(err.code, code);
    if (strstr(err.text, part) == NULL)
        fail_msg("'%s' does not say '%s'", err.text, part);
    assert_int_equal(qs_inventory_count(b->farm->inventory), 2);
}

/* A host becomes a word of a command. */
static void what_is_no_host_is_refused(void **state)
{
    static const char *const wrong[] = {"-oProxyCommand=x", "-",    "a b",       "a/b", "a\nb",
                                        "board;ls",         "$(x)", "b\xc3\xa4", "a,b", "'a'"};
    char longest[257];
    struct bed b;
    (void)state;
    begin(&b);
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        refuses(&b, "ssh", wrong[i], QS_E_USAGE, "is no host: 1 to 255 letters");
    refuses(&b, "ssh", "", QS_E_USAGE,
            "the host is missing: name the board as ssh does, board or user@board");
    memset(longest, 'a', 256);
    longest[256] = '\0';
    refuses(&b, "ssh", longest, QS_E_USAGE, "is no host");
    bed_end(&b);
    bed_done(&b);
}

static void a_name_that_is_taken_stays_taken(void **state)
{
    struct bed b;
    (void)state;
    begin(&b);
    refuses(&b, "ssh", "bench-1", QS_E_CONFLICT, "this farm has a device `bench-1` already, over link sim");
    refuses(&b, "ssh", "user@board", QS_E_CONFLICT, "a device `user-board` already");
    refuses(&b, "ssh", "user:board", QS_E_CONFLICT, "a device `user-board` already");
    bed_end(&b);
    bed_done(&b);
}

static void what_a_farm_file_could_not_say_is_refused_in_its_words(void **state)
{
    struct bed b;
    (void)state;
    begin(&b);
    refuses(&b, "pigeon", "board", QS_E_USAGE, "devices.board.link: `pigeon` is not a value of `link`");
    refuses(&b, "serial", "board", QS_E_USAGE, "devices.board");
    bed_end(&b);
    bed_done(&b);
}

static void declares(struct bed *b, const char *host, const char *name, size_t count)
{
    struct qs_err err = QS_ERR_INIT;
    QS_BUF(got);
    assert_true(qs_farm_declare(b->farm, "ssh", host, &got, &err));
    assert_string_equal(got.data, name);
    assert_int_equal(qs_inventory_count(b->farm->inventory), count);
    const struct qs_inventory_item *item = qs_inventory_find(b->farm->inventory, name, NULL);
    assert_non_null(item);
    assert_int_equal(item->config->link, QS_LINK_SSH);
    assert_string_equal(item->config->host, host);
    assert_false(item->config->local);
}

static void a_host_becomes_a_device_once(void **state)
{
    struct qs_err err = QS_ERR_INIT;
    QS_BUF(name);
    struct bed b;
    (void)state;
    begin(&b);
    declares(&b, "pi@rack.example", "pi-rack.example", 3);
    declares(&b, "pi@rack.example", "pi-rack.example", 3);
    declares(&b, "Board_7", "Board_7", 4);
    assert_false(qs_farm_declare(b.farm, "ssh", "pi:rack.example", &name, &err));
    assert_int_equal(err.code, QS_E_CONFLICT);
    for (int i = 2; i < 100; i++) {
        char host[20];
        snprintf(host, sizeof host, "h%d", i);
        declares(&b, host, host, 3U + (size_t)i);
    }
    assert_false(qs_farm_declare(b.farm, "ssh", "h100", &name, &err));
    assert_int_equal(err.code, QS_E_LIMIT);
    bed_end(&b);
    bed_done(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_host_becomes_a_device_once),
        cmocka_unit_test(what_is_no_host_is_refused),
        cmocka_unit_test(a_name_that_is_taken_stays_taken),
        cmocka_unit_test(what_a_farm_file_could_not_say_is_refused_in_its_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
