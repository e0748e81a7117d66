/* What the kernel's files say, as numbers; files of the test stand in for /proc. */
#include "linux_probe.h"

#include "proto/msg.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

static struct qs_probe probe;

static void source(enum qs_probe_how how, const char *text, size_t n)
{
    memset(&probe, 0, sizeof probe);
    CPU_SET(0, &probe.allowed);
    CPU_SET(1, &probe.allowed);
    snprintf(probe.sources[0].kind, sizeof probe.sources[0].kind, "it");
    probe.sources[0].how = how;
    probe.sources[0].fd = memfd_create("source", MFD_CLOEXEC);
    assert_int_equal(write(probe.sources[0].fd, text, n), (ssize_t)n);
    probe.stat_fd = -1;
    probe.count = 1;
}

static struct qs_port_reading reading_of(enum qs_probe_how how, const char *text)
{
    struct qs_port_reading r;
    source(how, text, strlen(text));
    qs_probe_sensor(&probe, "it", 1, &r);
    close(probe.sources[0].fd);
    return r;
}

static void becomes(enum qs_probe_how how, const char *text, int64_t value)
{
    struct qs_port_reading r = reading_of(how, text);
    assert_int_equal(r.status, QS_READING_OK);
    assert_int_equal(r.value, value);
}

static void reads_what_the_kernel_writes(void **state)
{
    (void)state;
    becomes(QS_PROBE_I64, "-4500\n", -4500);
    becomes(QS_PROBE_LOAD1, "1.32 2.58 3.54 3/106 2477\n", 1320);
    becomes(QS_PROBE_SOME_TOTAL, "some avg10=0.00 avg60=0.00 avg300=0.00 total=77\nfull total=9\n", 77);
    becomes(QS_PROBE_SOME_AVG10, "some avg10=14.53 avg60=1.00 avg300=0.00 total=77\n", 145300);
    becomes(QS_PROBE_OWN_DELAY, "20126392 3980752 2987\n", 3980752);
    becomes(QS_PROBE_ALL_DELAY,
            "version 15\ntimestamp 1\ncpu0 0 0 0 0 0 0 5 100 9\ndomain0 03 1\ncpu1 0 0 0 0 0 0 6 20 9\n"
            "cpu2 0 0 0 0 0 0 6 3 9\n",
            120);
}

static void takes_nothing_for_a_number(void **state)
{
    static const enum qs_probe_how all[] = {QS_PROBE_I64,        QS_PROBE_LOAD1,     QS_PROBE_SOME_TOTAL,
                                            QS_PROBE_SOME_AVG10, QS_PROBE_OWN_DELAY, QS_PROBE_ALL_DELAY};
    (void)state;
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        assert_int_equal(reading_of(all[i], "").status, QS_READING_UNREADABLE);
        assert_int_equal(reading_of(all[i], "<unsupported>\n").status, QS_READING_UNREADABLE);
    }
}

/* With very many processors the file is longer than what is read of it: a sum over some of them, cut at a
 * place that moves, is no number to compare. */
static void refuses_a_table_that_was_cut(void **state)
{
    struct qs_port_reading r;
    char *text = malloc(QS_PROBE_TEXT_BYTES + 100);
    (void)state;
    size_t n = (size_t)sprintf(text, "version 15\ncpu0 0 0 0 0 0 0 5 100 9\n");
    memset(text + n, 'x', QS_PROBE_TEXT_BYTES);
    source(QS_PROBE_ALL_DELAY, text, n + QS_PROBE_TEXT_BYTES);
    qs_probe_sensor(&probe, "it", 1, &r);
    assert_int_equal(r.status, QS_READING_UNREADABLE);
    close(probe.sources[0].fd);
    free(text);
}

/* The share of two looks; one look is not ready yet, an old one begins anew. */
static void needs_two_looks_at_the_busy_share(void **state)
{
    struct qs_port_reading r;
    (void)state;
    memset(&probe, 0, sizeof probe);
    CPU_SET(1, &probe.allowed);
    probe.stat_fd = memfd_create("stat", MFD_CLOEXEC);
    dprintf(probe.stat_fd,
            "cpu  9 9 9 9 9 9 9 9 0 0\ncpu0 9 9 9 9 9 9 9 9 0 0\ncpu1 10 0 0 90 0 0 0 0 0 0\nintr 1\n");
    qs_probe_sensor(&probe, "cpu.busy_ratio_ppm", 1000000000, &r);
    assert_int_equal(r.status, QS_READING_STALE);
    assert_int_equal(ftruncate(probe.stat_fd, 0), 0);
    assert_int_equal(lseek(probe.stat_fd, 0, SEEK_SET), 0);
    dprintf(probe.stat_fd, "cpu  1 1 1 1 1 1 1 1 0 0\ncpu1 13 0 0 96 0 0 0 1 0 0\n");
    qs_probe_sensor(&probe, "cpu.busy_ratio_ppm", 1100000000, &r);
    assert_int_equal(r.status, QS_READING_OK);
    assert_int_equal(r.value, 300000);
    qs_probe_sensor(&probe, "cpu.busy_ratio_ppm", 1500000000, &r);
    assert_int_equal(r.status, QS_READING_STALE);
    close(probe.stat_fd);
    probe.stat_fd = -1;
    qs_probe_sensor(&probe, "cpu.busy_ratio_ppm", 2500000000, &r);
    assert_int_equal(r.status, QS_READING_MISSING);
    qs_probe_sensor(&probe, "no such sensor", 1, &r);
    assert_int_equal(r.status, QS_READING_MISSING);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_what_the_kernel_writes),
        cmocka_unit_test(takes_nothing_for_a_number),
        cmocka_unit_test(refuses_a_table_that_was_cut),
        cmocka_unit_test(needs_two_looks_at_the_busy_share),
    };
    return cmocka_run_group_tests_name("agent.probe", tests, NULL, NULL);
}
