/* Pushed files of the simulated device, operation by operation. */
#include "sim_device.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct qs_port_key key_of(uint8_t byte, bool executable)
{
    struct qs_port_key key = {.executable = executable};
    memset(key.sha256, byte, sizeof key.sha256);
    return key;
}

/* -1: it is not there. */
static int64_t look(struct device *d, const struct qs_port_key *key)
{
    uint64_t bytes = 99;
    int64_t stamp = 99;
    bool there = d->port->files->look(d->sim, key, &bytes, &stamp);
    assert_int_equal(stamp, 0);
    assert_true(there || bytes == 0);
    return there ? (int64_t)bytes : -1;
}

static void put(struct device *d, const struct qs_port_key *key, size_t n)
{
    const struct qs_port_files *f = d->port->files;
    struct qs_port_fault fault;
    assert_true(f->create(d->sim, &fault));
    assert_true(f->write(d->sim, NULL, n, &fault));
    assert_true(f->keep(d->sim, key, &fault));
}

static void assert_space(struct device *d, uint64_t free_bytes, uint64_t total_bytes)
{
    uint64_t are[2] = {1, 1};
    assert_true(d->port->files->space(d->sim, &are[0], &are[1]));
    assert_int_equal(are[0], free_bytes);
    assert_int_equal(are[1], total_bytes);
}

static void keeps_pushed_files(void **state)
{
    struct qs_port_key keys[] = {key_of(1, false), key_of(1, true), key_of(2, false)};
    uint8_t sum[QS_SHA256_BYTES];
    struct qs_port_fault fault;
    struct qs_port_item item;
    struct device d;
    char path[32];
    (void)state;
    device_init(&d, &cold);
    const struct qs_port_files *f = d.port->files;
    assert_false(f->next(d.sim, &item));
    assert_space(&d, INT64_C(1) << 30, INT64_C(1) << 30);
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(look(&d, &keys[i]), -1);
        assert_false(f->place(d.sim, 1, "name", &keys[i], &fault));
        put(&d, &keys[i], 10 + i);
        assert_true(f->place(d.sim, 1, "name", &keys[i], &fault));
        assert_int_equal(d.sim->files[i].used_ns, BEGAN_NS + 5000);
    }
    assert_space(&d, (INT64_C(1) << 30) - 33, INT64_C(1) << 30);
    put(&d, &keys[1], 5); /* once more: in its place */
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(look(&d, &keys[i]), i == 1 ? 5 : (int)(10 + i));
        assert_true(f->sum(d.sim, &keys[i], sum));
        assert_memory_equal(sum, keys[i].sha256, sizeof sum);
    }
    d.sim->now_ns += 3;
    f->used(d.sim, &keys[2]);
    assert_int_equal(d.sim->files[1].used_ns, BEGAN_NS + 5000);
    assert_int_equal(d.sim->files[2].used_ns, BEGAN_NS + 5003);
    f->remove(d.sim, &keys[0]);
    f->remove(d.sim, &keys[0]);
    f->used(d.sim, &keys[0]);
    assert_false(f->sum(d.sim, &keys[0], sum));
    assert_int_equal(look(&d, &keys[0]), -1);
    assert_int_equal(look(&d, &keys[1]), 5);
    assert_int_equal(look(&d, &keys[2]), 12);
    assert_space(&d, (INT64_C(1) << 30) - 17, INT64_C(1) << 30);
    f->path(d.sim, 0xab, path, sizeof path);
    assert_string_equal(path, "/sim/dirs/00ab");
    assert_int_equal(f->clear(d.sim), 0);
    device_done(&d);
}

static void assert_full(const struct qs_port_fault *fault)
{
    assert_int_equal(fault->blame, QS_WIRE_BLAME_DEVICE);
    assert_int_equal(fault->wire_code, QS_CODE_RESOURCE);
    assert_int_equal(fault->code, ENOSPC);
    assert_string_equal(fault->text, "the simulated disk is full");
}

static void has_a_disk_that_fills(void **state)
{
    struct qs_sim_options o = cold;
    struct qs_port_key key = key_of(1, false);
    struct qs_port_fault fault;
    struct device d;
    (void)state;
    o.disk_bytes = 100;
    device_init(&d, &o);
    const struct qs_port_files *f = d.port->files;
    put(&d, &key, 40);
    assert_true(f->create(d.sim, &fault));
    assert_true(f->write(d.sim, NULL, 50, &fault));
    assert_space(&d, 10, 100);
    assert_false(f->write(d.sim, NULL, 11, &fault));
    assert_full(&fault);
    assert_true(f->write(d.sim, NULL, 10, &fault));
    assert_space(&d, 0, 100);
    f->discard(d.sim);
    assert_space(&d, 60, 100);
    d.sim->options.disk_bytes = 39; /* a disk that has become too small for what is on it */
    assert_space(&d, 0, 39);
    d.sim->options.disk_bytes = 0;
    for (uint8_t i = 2; i <= QS_SIM_FILES_MAX; i++) {
        key = key_of(i, false);
        put(&d, &key, 0);
    }
    memset(&fault, 'x', sizeof fault);
    assert_false(f->create(d.sim, &fault));
    assert_full(&fault);
    device_done(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keeps_pushed_files),
        cmocka_unit_test(has_a_disk_that_fills),
    };
    return cmocka_run_group_tests_name("agent.sim_files", tests, NULL, NULL);
}
