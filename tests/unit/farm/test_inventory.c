/* The devices of a farm, by serial and port path behind a handle. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "farm/inventory.h"

enum { MANY = 10000 };

static struct qs_inventory_item *added(struct qs_inventory *inv, const char *serial, const char *port_path)
{
    struct qs_err err = QS_ERR_INIT;
    struct qs_inventory_item *item = qs_inventory_add(inv, serial, port_path, &err);
    if (!item)
        fail_msg("%s", err.text);
    return item;
}

static void a_device_is_serial_and_port(void **state)
{
    (void)state;
    struct qs_inventory *inv = qs_inventory_new();
    struct qs_err err = QS_ERR_INIT;
    struct qs_inventory_item *b = added(inv, "0123", "1-2"), *a = added(inv, "0123", "1-1");
    struct qs_inventory_item *other = added(inv, "012", "");
    assert_null(qs_inventory_add(inv, "0123", "1-2", &err));
    assert_int_equal(err.code, QS_E_CONFLICT);
    assert_string_equal(err.text, "the farm already has a device `0123` at 1-2");
    assert_ptr_equal(qs_inventory_find(inv, "0123", "1-1"), a);
    assert_ptr_equal(qs_inventory_find(inv, "0123", "1-2"), b);
    assert_ptr_equal(qs_inventory_find(inv, "0123", NULL), a); /* the first port */
    assert_ptr_equal(qs_inventory_find(inv, "012", NULL), other);
    assert_null(qs_inventory_find(inv, "0123", "1-3"));
    assert_null(qs_inventory_find(inv, "01", NULL));
    assert_null(qs_inventory_find(inv, "0124", NULL));
    assert_ptr_equal(qs_inventory_first(inv), b); /* in order of arrival */
    assert_ptr_equal(b->next, a);
    assert_ptr_equal(a->next, other);
    assert_null(other->next);
    assert_int_equal(qs_inventory_count(inv), 3);
    qs_inventory_free(inv);
}

static void a_stale_handle_finds_nothing(void **state)
{
    (void)state;
    struct qs_inventory *inv = qs_inventory_new();
    struct qs_inventory_item *item = added(inv, "phone", "1-1");
    const struct qs_inventory_handle none = {0}, old = item->handle;
    assert_null(qs_inventory_at(inv, none));
    assert_ptr_equal(qs_inventory_at(inv, old), item);
    qs_inventory_remove(inv, item); /* unplugged */
    assert_null(qs_inventory_at(inv, old));
    assert_null(qs_inventory_find(inv, "phone", NULL));
    item = added(inv, "phone", "1-1"); /* and plugged in again */
    assert_int_equal(item->handle.slot, old.slot);
    assert_int_equal(item->handle.generation, old.generation + 1);
    assert_null(qs_inventory_at(inv, old));
    assert_ptr_equal(qs_inventory_at(inv, item->handle), item);
    assert_null(qs_inventory_at(inv, (struct qs_inventory_handle){.slot = 1, .generation = 1}));
    qs_inventory_free(inv);
}

static void serial_of(size_t i, char text[static 16])
{
    snprintf(text, 16, "d%zu", i * 7919 % MANY); /* in no order */
}

/* Every third one goes and comes back while the others stay where they are. */
static void ten_thousand_come_and_go(void **state)
{
    (void)state;
    struct qs_inventory *inv = qs_inventory_new();
    static struct qs_inventory_handle handles[MANY];
    char serial[16];
    for (size_t i = 0; i < MANY; i++) {
        serial_of(i, serial);
        handles[i] = added(inv, serial, "")->handle;
    }
    for (size_t i = 0; i < MANY; i += 3)
        qs_inventory_remove(inv, qs_inventory_at(inv, handles[i]));
    assert_int_equal(qs_inventory_count(inv), MANY - (MANY + 2) / 3);
    for (size_t i = 0; i < MANY; i += 3) {
        serial_of(i, serial);
        assert_null(qs_inventory_find(inv, serial, NULL));
        assert_int_equal(added(inv, serial, "")->handle.generation, 2);
    }
    size_t seen = 0;
    for (const struct qs_inventory_item *item = qs_inventory_first(inv); item; item = item->next) {
        seen++;
        assert_true(item->handle.slot < MANY); /* places are used again */
        assert_ptr_equal(qs_inventory_at(inv, item->handle), item);
        assert_ptr_equal(qs_inventory_find(inv, item->serial, ""), item);
        assert_true(!item->next || item->next->prev == item);
    }
    assert_int_equal(seen, MANY);
    for (size_t i = 0; i < MANY; i++) {
        const struct qs_inventory_item *item = qs_inventory_at(inv, handles[i]);
        serial_of(i, serial);
        assert_int_equal(item == NULL, i % 3 == 0);
        assert_true(!item || strcmp(item->serial, serial) == 0);
    }
    qs_inventory_free(inv);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_device_is_serial_and_port),
        cmocka_unit_test(a_stale_handle_finds_nothing),
        cmocka_unit_test(ten_thousand_come_and_go),
    };
    return cmocka_run_group_tests_name("farm inventory", tests, NULL, NULL);
}
