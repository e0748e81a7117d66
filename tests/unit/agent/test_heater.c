/* Processors that a real agent keeps busy: each has a process of its own, which works there, holds nothing of
 * the agent's, and ends with it. */
#include "device.h"

#include <dirent.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum { CPUS_MAX = 256 };

struct heaters {
    size_t n;
    pid_t pids[CPUS_MAX];
};

static cpu_set_t allowed;

static int see_machine(void **state)
{
    (void)state;
    return sched_getaffinity(0, sizeof allowed, &allowed);
}

static void load(struct device *d, const char *cpus, uint32_t for_ms, enum qs_load_outcome wanted)
{
    const struct qs_msg_load m = {.id = 5, .cpus = qs_text_of(cpus), .for_ms = for_ms};
    struct qs_msg_loaded answer;
    size_t at = peer_begin(&d->peer);
    assert_true(qs_msg_encode_load(&d->peer.w, &m));
    peer_end(&d->peer, at, QS_MSG_LOAD);
    const struct letter *l = device_expect(d, QS_MSG_LOADED);
    assert_int_equal(qs_msg_decode_loaded(l->payload, l->n, &answer), 0);
    assert_int_equal(answer.outcome, wanted);
}

static void add_children(struct heaters *h, pid_t parent)
{
    char path[64];
    char word[16];
    snprintf(path, sizeof path, "/proc/%d/task/%d/children", (int)parent, (int)parent);
    FILE *f = fopen(path, "r");
    while (f && h->n < CPUS_MAX && fscanf(f, "%15s", word) == 1) {
        h->pids[h->n++] = (pid_t)strtol(word, NULL, 10);
    }
    if (f) {
        fclose(f);
    }
}

/* Until there are so many. */
static void find(const struct device *d, size_t n, struct heaters *ret)
{
    do {
        ret->n = 0;
        add_children(ret, d->agent);
        if (ret->n == 1) {
            add_children(ret, ret->pids[0]);
        }
        usleep(1000);
    } while (ret->n != n);
}

/* Of its work; 0 before it has its name, which comes before that. */
static long ticks_of(pid_t pid)
{
    char path[64];
    char text[512];
    unsigned long ticks = 0;
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    assert_non_null(fgets(text, sizeof text, f));
    fclose(f);
    if (!strstr(text, "(qs-heater)")) {
        return 0;
    }
    assert_int_equal(sscanf(strrchr(text, ')'), ") %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu", &ticks),
                     1);
    return (long)ticks;
}

static bool any_left(const struct heaters *h)
{
    for (size_t i = 0; i < h->n; i++) {
        if (kill(h->pids[i], 0) == 0) {
            return true;
        }
    }
    return false;
}

static size_t open_files(pid_t pid)
{
    char path[64];
    size_t n = 0;
    snprintf(path, sizeof path, "/proc/%d/fd", (int)pid);
    DIR *dir = opendir(path);
    assert_non_null(dir);
    for (struct dirent *e = readdir(dir); e; e = readdir(dir)) {
        n += e->d_name[0] != '.';
    }
    closedir(dir);
    return n;
}

/* Each on a processor of its own; they work there. */
static void works_on_each_processor(void **state)
{
    struct heaters h;
    struct device d;
    cpu_set_t seen;
    (void)state;
    CPU_ZERO(&seen);
    device_start(&d);
    load(&d, "", 600000, QS_LOAD_ON);
    find(&d, (size_t)CPU_COUNT(&allowed), &h);
    for (size_t i = 0; i < h.n; i++) {
        cpu_set_t own;
        do {
            assert_int_equal(sched_getaffinity(h.pids[i], sizeof own, &own), 0);
        } while (CPU_COUNT(&own) != 1 && usleep(1000) == 0);
        CPU_OR(&seen, &seen, &own);
        while (ticks_of(h.pids[i]) < 2) {
            usleep(1000);
        }
        while (open_files(h.pids[i]) != 3) { /* /dev/null, three times */
            usleep(1000);
        }
    }
    assert_true(CPU_EQUAL(&seen, &allowed));
    load(&d, "", 0, QS_LOAD_OFF);
    assert_false(any_left(&h)); /* nor as a zombie, when it is told */
    device_stop(&d);
}

static void works_where_it_is_told(void **state)
{
    struct heaters h;
    struct device d;
    cpu_set_t own;
    char last[16];
    int cpu = CPU_SETSIZE - 1;
    (void)state;
    while (!CPU_ISSET((size_t)cpu, &allowed)) {
        cpu--;
    }
    snprintf(last, sizeof last, "%d", cpu);
    device_start(&d);
    load(&d, "4000000", 600000, QS_LOAD_NO_CPUS);
    load(&d, "none", 600000, QS_LOAD_NO_CPUS);
    load(&d, "0-1023", 600000, QS_LOAD_NO_CPUS); /* some of them are not ours */
    find(&d, 0, &h);
    load(&d, last, 600000, QS_LOAD_ON);
    find(&d, 1, &h);
    while (ticks_of(h.pids[0]) < 1) {
        usleep(1000);
    }
    do {
        assert_int_equal(sched_getaffinity(h.pids[0], sizeof own, &own), 0);
    } while (CPU_COUNT(&own) != 1 && usleep(1000) == 0);
    assert_true(CPU_ISSET((size_t)cpu, &own));
    load(&d, last, 100, QS_LOAD_ON); /* another, instead of that one, and for a short time */
    assert_false(any_left(&h));
    find(&d, 0, &h);
    device_stop(&d);
}

/* A run meets none of them, and takes none for what it has left behind. */
static void ends_before_a_run(void **state)
{
    static struct closed closed;
    struct heaters h;
    struct device d;
    (void)state;
    device_start(&d);
    load(&d, "", 600000, QS_LOAD_ON);
    find(&d, (size_t)CPU_COUNT(&allowed), &h);
    device_measure(&d, &(struct run_spec){.argv = (const char *const[]){"/bin/true", NULL}}, 1, &closed);
    assert_int_equal(closed.row[0].flags, 0);
    assert_false(any_left(&h));
    device_stop(&d);
}

/* However it ends: told to, its link gone, or killed. */
static void ends_with_the_agent(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++) {
        struct heaters h;
        struct device d;
        device_start(&d);
        load(&d, "", 600000, QS_LOAD_ON);
        find(&d, (size_t)CPU_COUNT(&allowed), &h);
        if (i == 0) {
            device_terminate(&d);
        } else if (i == 1) {
            device_stop(&d);
        } else {
            assert_int_equal(kill(d.agent, SIGKILL), 0);
            while (any_left(&h)) {
                usleep(1000);
            }
            assert_null(device_next(&d));
            assert_int_equal(waitpid(d.pid, NULL, 0), d.pid);
            device_hang_up(&d);
            peer_done(&d.peer);
        }
        assert_false(any_left(&h));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(works_on_each_processor),
        cmocka_unit_test(works_where_it_is_told),
        cmocka_unit_test(ends_before_a_run),
        cmocka_unit_test(ends_with_the_agent),
    };
    return cmocka_run_group_tests_name("agent.heater", tests, see_machine, NULL);
}
