/* What the kernel's files say, as numbers; files of the test stand in for /proc. */
#include "linux/probe.h"

#include "proto/msg.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

static struct qs_probe probe;

/* What the clocks say next; none: what they say. */
static struct {
    clockid_t clock;
    long ns;
} ticks[15];
static size_t ticks_left;

int __real_clock_gettime(clockid_t clock, struct timespec *t);
int __wrap_clock_gettime(clockid_t clock, struct timespec *t);

int __wrap_clock_gettime(clockid_t clock, struct timespec *t)
{
    if (ticks_left == 0) {
        return __real_clock_gettime(clock, t);
    }
    size_t i = sizeof ticks / sizeof ticks[0] - ticks_left--;
    assert_int_equal(clock, ticks[i].clock);
    *t = (struct timespec){.tv_nsec = ticks[i].ns};
    return 0;
}

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

/* Two clocks are not read at once: of five tries the one counts in which least time went by, here the fourth,
 * the first of two.
 */
static void takes_the_closest_look_at_two_clocks(void **state)
{
    static const long took_ns[5] = {900, 400, 500, 300, 300};
    (void)state;
    ticks_left = sizeof ticks / sizeof ticks[0];
    for (size_t i = 0; i < 5; i++) {
        long at_ns = 10000 * (long)(i + 1);
        ticks[3 * i].clock = ticks[3 * i + 2].clock = CLOCK_MONOTONIC;
        ticks[3 * i + 1].clock = CLOCK_BOOTTIME;
        ticks[3 * i].ns = at_ns;
        ticks[3 * i + 1].ns = at_ns + 5000000 + 10 * (long)i + took_ns[i] / 2;
        ticks[3 * i + 2].ns = at_ns + took_ns[i];
    }
    becomes(QS_PROBE_SUSPENDED, "", 5000180);
    assert_int_equal(ticks_left, 0);
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

/* cpu1 alone counts here. */
static void set_stat(const char *cpu1)
{
    assert_int_equal(ftruncate(probe.stat_fd, 0), 0);
    assert_int_equal(lseek(probe.stat_fd, 0, SEEK_SET), 0);
    dprintf(probe.stat_fd, "cpu  9 9 9 9 9 9 9 9 0 0\ncpu0 9 9 9 9 9 9 9 9 0 0\ncpu1 %s\nintr 1\n", cpu1);
}

/* user, nice, system, idle, iowait, irq, softirq, steal; guests are in user already. */
static void adds_up_the_columns(void **state)
{
    static const struct {
        enum qs_probe_how how;
        int64_t ticks;
    } sums[] = {{QS_PROBE_BUSY, 1 + 2 + 4 + 32 + 64}, {QS_PROBE_IDLE, 8 + 16}, {QS_PROBE_STEAL, 128}};
    struct qs_port_reading r;
    (void)state;
    memset(&probe, 0, sizeof probe);
    CPU_SET(1, &probe.allowed);
    probe.stat_fd = memfd_create("stat", MFD_CLOEXEC);
    set_stat("1 2 4 8 16 32 64 128 256 512");
    probe.count = 1;
    snprintf(probe.sources[0].kind, sizeof probe.sources[0].kind, "it");
    for (size_t i = 0; i < 3; i++) {
        probe.sources[0].how = sums[i].how;
        qs_probe_sensor(&probe, "it", 1, &r);
        assert_int_equal(r.status, QS_READING_OK);
        assert_int_equal(r.value, sums[i].ticks);
    }
    CPU_SET(0, &probe.allowed); /* and over the processors that count */
    qs_probe_sensor(&probe, "it", 1, &r);
    assert_int_equal(r.value, 128 + 9);
    close(probe.stat_fd);
}

static struct qs_port_reading busy_at(int64_t now_ns)
{
    struct qs_port_reading r;
    qs_probe_sensor(&probe, "cpu.busy_ratio_ppm", now_ns, &r);
    return r;
}

/* Ticks of an hour each make our own processor time in between too small to see. */
static void needs_two_looks_at_the_busy_share(void **state)
{
    (void)state;
    memset(&probe, 0, sizeof probe);
    CPU_SET(1, &probe.allowed);
    probe.tick_ns = INT64_C(3600000000000);
    probe.stat_fd = memfd_create("stat", MFD_CLOEXEC);
    set_stat("10 0 0 90 0 0 0 0 0 0");
    assert_int_equal(busy_at(1000000000).status, QS_READING_STALE);
    set_stat("13 0 0 96 0 0 0 1 0 0");
    struct qs_port_reading r = busy_at(1100000000);
    assert_int_equal(r.status, QS_READING_OK);
    assert_in_range(r.value, 299900, 300000);
    assert_int_equal(busy_at(2500000000).status, QS_READING_STALE);
    close(probe.stat_fd);
    probe.stat_fd = -1;
    assert_int_equal(busy_at(3500000000).status, QS_READING_MISSING);
    qs_probe_sensor(&probe, "no such sensor", 1, &r);
    assert_int_equal(r.status, QS_READING_MISSING);
}

static void burn_ms(int64_t ms)
{
    struct timespec t;
    clock_t until = clock() + ms * CLOCKS_PER_SEC / 1000;
    while (clock() < until) {
        clock_gettime(CLOCK_MONOTONIC, &t);
    }
}

/* A second of the processor was busy, of which 200 ms were our own work, or that of a child that lives. */
static void does_not_take_our_own_work_for_a_neighbours(void **state)
{
    (void)state;
    memset(&probe, 0, sizeof probe);
    CPU_SET(1, &probe.allowed);
    probe.tick_ns = 10000000;
    probe.stat_fd = memfd_create("stat", MFD_CLOEXEC);
    set_stat("100 0 0 100 0 0 0 0 0 0");
    assert_int_equal(busy_at(1000000000).status, QS_READING_STALE);
    burn_ms(200);
    set_stat("200 0 0 100 0 0 0 0 0 0");
    struct qs_port_reading r = busy_at(1500000000);
    assert_int_equal(r.status, QS_READING_OK);
    assert_in_range(r.value, 500000, 800000);

    int go[2];
    assert_int_equal(pipe(go), 0);
    pid_t child = fork();
    if (child == 0) {
        burn_ms(200);
        (void)!write(go[1], "x", 1);
        pause();
    }
    qs_probe_set_kin(&probe, QS_KIN_CHILD, child);
    assert_int_equal(read(go[0], &(char){0}, 1), 1);
    set_stat("300 0 0 100 0 0 0 0 0 0");
    int64_t with_child = busy_at(2000000000).value;
    qs_probe_set_kin(&probe, QS_KIN_CHILD, 0);
    kill(child, SIGKILL);
    assert_int_equal(waitpid(child, NULL, 0), child);
    assert_in_range(with_child, 500000, 810000);
    close(go[0]);
    close(go[1]);
    close(probe.stat_fd);
}

static void a_new_host_begins_a_new_look(void **state)
{
    (void)state;
    memset(&probe, 0, sizeof probe);
    CPU_SET(1, &probe.allowed);
    probe.tick_ns = 10000000;
    probe.stat_fd = memfd_create("stat", MFD_CLOEXEC);
    set_stat("100 0 0 100 0 0 0 0 0 0");
    assert_int_equal(busy_at(1000000000).status, QS_READING_STALE);
    qs_probe_set_kin(&probe, QS_KIN_HOST, getpid());
    assert_int_equal(busy_at(1200000000).status, QS_READING_STALE);
    qs_probe_set_kin(&probe, QS_KIN_HOST, getpid());
    assert_int_equal(busy_at(1400000000).status, QS_READING_OK);
    close(probe.stat_fd);
}

/* Of another process, by its own clock. */
static void counts_the_time_of_who_relays_the_link(void **state)
{
    struct qs_port_reading r = {.status = QS_READING_OK};
    struct timespec used;
    clockid_t its;
    int go[2];
    char byte;
    (void)state;
    memset(&probe, 0, sizeof probe);
    probe.sources[0] = (struct qs_source){.kind = "link.relay_cpu_us", .how = QS_PROBE_RELAY, .fd = -1};
    probe.count = 1;
    qs_probe_sensor(&probe, "link.relay_cpu_us", 0, &r);
    assert_int_equal(r.status, QS_READING_MISSING); /* nobody relays it */
    assert_int_equal(pipe(go), 0);
    pid_t child = fork();
    if (child == 0) {
        close(go[1]);
        while (clock() < CLOCKS_PER_SEC / 50) {
        }
        (void)!read(go[0], &byte, 1);
        _exit(0);
    }
    probe.relay = child;
    assert_int_equal(clock_getcpuclockid(child, &its), 0);
    do {
        assert_int_equal(clock_gettime(its, &used), 0);
    } while (used.tv_nsec < 20000000);
    qs_probe_sensor(&probe, "link.relay_cpu_us", 0, &r);
    assert_int_equal(r.status, QS_READING_OK);
    assert_in_range(r.value, 20000, 1000000);
    close(go[0]);
    close(go[1]);
    assert_int_equal(waitpid(child, NULL, 0), child);
}

static const int64_t ms = 1000000;

static bool take(struct qs_busy *b, int64_t at, int64_t busy, int64_t all, int64_t ours, int64_t *ppm)
{
    const struct qs_busy_look look = {at * ms, busy * ms, all * ms, ours * ms};
    return qs_busy_take(b, &look, ppm);
}

static void looks_back_ninety_milliseconds_to_a_second(void **state)
{
    struct qs_busy b = {.count = 0};
    int64_t ppm = -1;
    (void)state;
    assert_false(take(&b, 0, 0, 0, 0, &ppm));
    assert_int_equal(ppm, 0);
    assert_false(take(&b, 89, 89, 89, 0, &ppm));
    assert_true(take(&b, 90, 90, 90, 45, &ppm)); /* since 0 */
    assert_int_equal(ppm, 500000);
    assert_true(take(&b, 1089, 1089, 1089, 955, &ppm)); /* since 89: only 45 of 1000 were not ours */
    assert_int_equal(ppm, 45000);
    assert_false(take(&b, 2090, 2090, 2090, 2090, &ppm)); /* the last look is 1001 ms old */
}

/* Many short looks: the oldest that is kept still reaches back far enough. */
static void frequent_looks_do_not_lose_the_past(void **state)
{
    struct qs_busy b = {.count = 0};
    int64_t ppm = 0;
    (void)state;
    for (int64_t at = 0; at < 3000; at++) {
        bool ready = take(&b, at, at, 2 * at, at / 2, &ppm);
        assert_int_equal(ready, at >= 90);
        if (ready) {
            assert_in_range(ppm, 244000, 256000);
        }
    }
}

static void a_share_stays_between_nothing_and_all(void **state)
{
    struct qs_busy b = {.count = 0};
    int64_t ppm = -1;
    (void)state;
    take(&b, 0, 0, 0, 0, &ppm);
    assert_true(take(&b, 100, 90, 200, 95, &ppm)); /* a tick is coarser than our own account */
    assert_int_equal(ppm, 0);
    assert_true(take(&b, 200, 900, 400, 95, &ppm));
    assert_int_equal(ppm, 1000000);
    assert_false(take(&b, 300, 100, 600, 95, &ppm)); /* a processor was taken offline */
    assert_true(take(&b, 400, 100, 600, 95, &ppm));  /* no time has passed by this account */
    assert_int_equal(ppm, 0);
}

/* Whichever of the counts goes back: what was before it says nothing any more. */
static void a_count_that_goes_back_begins_anew(void **state)
{
    (void)state;
    for (int which = 0; which < 5; which++) {
        struct qs_busy b = {.count = 0};
        int64_t ppm = -1, v[4] = {1000, 1000, 1000, 1000};
        take(&b, 900, 900, 900, 900, &ppm);
        for (int i = 0; i < 4; i++) {
            v[i] -= i == which ? 101 : 0;
        }
        assert_int_equal(take(&b, v[0], v[1], v[2], v[3], &ppm), which == 4);
        assert_int_equal(take(&b, v[0] + 90, v[1] + 90, v[2] + 90, v[3], &ppm), true);
        assert_int_equal(ppm, 1000000);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_what_the_kernel_writes),
        cmocka_unit_test(takes_the_closest_look_at_two_clocks),
        cmocka_unit_test(takes_nothing_for_a_number),
        cmocka_unit_test(refuses_a_table_that_was_cut),
        cmocka_unit_test(adds_up_the_columns),
        cmocka_unit_test(needs_two_looks_at_the_busy_share),
        cmocka_unit_test(does_not_take_our_own_work_for_a_neighbours),
        cmocka_unit_test(a_new_host_begins_a_new_look),
        cmocka_unit_test(counts_the_time_of_who_relays_the_link),
        cmocka_unit_test(looks_back_ninety_milliseconds_to_a_second),
        cmocka_unit_test(frequent_looks_do_not_lose_the_past),
        cmocka_unit_test(a_share_stays_between_nothing_and_all),
        cmocka_unit_test(a_count_that_goes_back_begins_anew),
    };
    return cmocka_run_group_tests_name("agent.probe", tests, NULL, NULL);
}
