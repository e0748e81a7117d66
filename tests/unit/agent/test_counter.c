/* What the kernel counts of the processes that the agent starts, through a sensor of the host's making. */
#include "linux/probe.h"

#include "proto/msg.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

enum { PAGES = 500, PAGE_BYTES = 4096 };

static struct qs_probe probe;
static struct qs_port_evidence rows[QS_EVIDENCE_MAX];

static void bind(const char *name, const char *path, int64_t mul)
{
    const struct qs_binding b = {.name = qs_text_of(name),
                                 .path = qs_text_of(path),
                                 .mul = mul,
                                 .div = 1,
                                 .lo = INT64_MIN,
                                 .hi = INT64_MAX,
                                 .flags = QS_BIND_EVIDENCE};
    qs_probe_bind(&probe, &b);
}

/* Whether this kernel lets us count at all. */
static int can_count(void **state)
{
    struct perf_event_attr attr = {.type = PERF_TYPE_SOFTWARE,
                                   .size = PERF_ATTR_SIZE_VER0,
                                   .config = PERF_COUNT_SW_PAGE_FAULTS,
                                   .exclude_kernel = 1,
                                   .exclude_hv = 1};
    cpu_set_t allowed;
    long fd = syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0L);
    static bool refused;
    refused = fd < 0;
    *state = &refused;
    if (fd >= 0) {
        close((int)fd);
    }
    CPU_ZERO(&allowed);
    CPU_SET(0, &allowed);
    qs_probe_open(&probe, &allowed, "/nowhere");
    return 0;
}

static int close_probe(void **state)
{
    (void)state;
    qs_probe_close(&probe);
    return 0;
}

static void skip_where_refused(void **state)
{
    if (*(const bool *)*state) {
        puts("# why: this kernel lets nobody count (perf_event_open)");
        skip();
    }
}

static struct qs_port_evidence read_of(const char *name)
{
    for (size_t i = 0; i < qs_probe_rows(&probe); i++) {
        if (strcmp(rows[i].kind, name) == 0) {
            return rows[i];
        }
    }
    fail_msg("no row %s", name);
    return rows[0];
}

static void before(void)
{
    assert_int_equal(qs_probe_evidence(&probe, false, rows, QS_EVIDENCE_MAX), qs_probe_rows(&probe));
}

static int64_t rise_of(const char *name)
{
    qs_probe_evidence(&probe, true, rows, QS_EVIDENCE_MAX);
    const struct qs_port_evidence row = read_of(name);
    assert_int_equal(row.status, QS_READING_OK);
    return row.after - row.before;
}

static void touch(void)
{
    volatile char *p =
        mmap(NULL, (size_t)PAGES * PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    madvise((void *)(uintptr_t)p, (size_t)PAGES * PAGE_BYTES, MADV_NOHUGEPAGE);
    for (size_t i = 0; i < PAGES; i++) {
        p[i * PAGE_BYTES] = 1;
    }
}

/* A child that waits until its input ends, if it has one; its own children, too. */
static pid_t start(int in, bool nested)
{
    pid_t pid = fork();
    char byte;
    assert_true(pid >= 0);
    if (pid == 0) {
        pid_t own = nested ? fork() : -1;
        if (own == 0) {
            touch();
            _exit(0);
        }
        if (nested) {
            waitpid(own, NULL, 0);
        } else {
            touch();
        }
        _exit(in < 0 || read(in, &byte, 1) >= 0 ? 0 : 1);
    }
    return pid;
}

static void the_faults_of_children_count(void **state)
{
    skip_where_refused(state);
    bind("faults", "perf:page-faults", 1);
    bind("tenfold", "perf:page-faults", 10);
    before();
    waitpid(start(-1, false), NULL, 0);
    int64_t once = rise_of("faults");
    assert_in_range(once, PAGES, 3 * PAGES);
    assert_in_range(rise_of("tenfold"), 10 * PAGES, 30 * PAGES);
    before();
    waitpid(start(-1, true), NULL, 0); /* of its child */
    assert_in_range(rise_of("faults"), PAGES, 3 * PAGES);
    before();
    touch(); /* ours do not */
    assert_in_range(rise_of("faults"), 0, PAGES / 2);
}

static void one_that_still_runs_counts(void **state)
{
    int hold[2], told[2];
    char byte;
    skip_where_refused(state);
    bind("faults", "perf:page-faults", 1);
    assert_int_equal(pipe(hold), 0);
    assert_int_equal(pipe(told), 0);
    before();
    pid_t pid = fork();
    if (pid == 0) {
        close(hold[1]);
        touch();
        _exit(write(told[1], "x", 1) == 1 && read(hold[0], &byte, 1) == 0 ? 0 : 1);
    }
    assert_int_equal(read(told[0], &byte, 1), 1);
    assert_in_range(rise_of("faults"), PAGES, 3 * PAGES);
    before();
    close(hold[1]);
    int status = 1;
    waitpid(pid, &status, 0);
    assert_int_equal(status, 0);
    assert_in_range(rise_of("faults"), 0, PAGES / 2); /* it is not counted again when it ends */
    close(hold[0]);
    close(told[0]);
    close(told[1]);
}

static void the_clock_is_that_of_processors(void **state)
{
    struct timespec from, to;
    skip_where_refused(state);
    bind("clock", "perf:task-clock", 1);
    before();
    pid_t pid = fork();
    if (pid == 0) {
        do {
            clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &to);
        } while (to.tv_sec == 0 && to.tv_nsec < 50000000);
        _exit(0);
    }
    waitpid(pid, NULL, 0);
    assert_in_range(rise_of("clock"), 45000000, INT64_C(1000000000));
    before();
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &from);
    do {
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &to);
    } while (to.tv_sec == from.tv_sec && to.tv_nsec - from.tv_nsec < 50000000);
    const int64_t own = rise_of("clock");
    assert_true(own > -10000000 && own < 10000000); /* ours is not in it */
}

static void what_it_does_not_know_is_missing(void **state)
{
    (void)state;
    bind("none", "perf:wishes", 1);
    before();
    assert_int_equal(read_of("none").status, QS_READING_MISSING);
}

/* A count that missed something between two readings is none; before a window that is no matter. */
static void what_was_missed_before_does_not_count(void **state)
{
    skip_where_refused(state);
    bind("faults", "perf:page-faults", 1);
    before();
    probe.bound[0].counter.lost_ns += 1000;
    before();
    assert_int_equal(read_of("faults").status, QS_READING_OK);
    waitpid(start(-1, false), NULL, 0);
    assert_in_range(rise_of("faults"), PAGES, 3 * PAGES);
    before();
    probe.bound[0].counter.lost_ns += 1000;
    qs_probe_evidence(&probe, true, rows, QS_EVIDENCE_MAX);
    assert_int_equal(read_of("faults").status, QS_READING_UNREADABLE);
}

/* What was bound is let go with the next BIND: no descriptor stays. */
static void they_are_closed(void **state)
{
    skip_where_refused(state);
    int first = dup(0);
    close(first);
    for (int i = 0; i < 3; i++) {
        bind("faults", "perf:page-faults", 1);
        bind("clock", "perf:task-clock", 1);
        qs_probe_bind(&probe, NULL);
    }
    int last = dup(0);
    close(last);
    assert_int_equal(last, first);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_faults_of_children_count, can_count, close_probe),
        cmocka_unit_test_setup_teardown(one_that_still_runs_counts, can_count, close_probe),
        cmocka_unit_test_setup_teardown(the_clock_is_that_of_processors, can_count, close_probe),
        cmocka_unit_test_setup_teardown(what_it_does_not_know_is_missing, can_count, close_probe),
        cmocka_unit_test_setup_teardown(what_was_missed_before_does_not_count, can_count, close_probe),
        cmocka_unit_test_setup_teardown(they_are_closed, can_count, close_probe),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
