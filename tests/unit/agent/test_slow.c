/* Sensors that are commands: what is read of their outputs, when they are asked, and how old it is. Programs
 * of the test stand in for those of a phone; time is the test's. */
#include "linux/probe.h"
#include "linux/slow.h"

#include "proto/bind_command.h"
#include "proto/msg.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "folder.h"

#define SECOND INT64_C(1000000000)

/* In the form of an Android 13. */
static const char thermal[] = "IsStatusOverride: false\n"
                              "ThermalEventListeners:\n"
                              "\tcallbacks: 1\n"
                              "Thermal Status: 2\n"
                              "Cached temperatures:\n"
                              "\tTemperature{mValue=91.0, mType=3, mName=VIRTUAL-SKIN, mStatus=0}\n"
                              "HAL Ready: true\n"
                              "HAL connection:\n"
                              "\tThermalHAL 2.0 connected: yes\n"
                              "Current temperatures from HAL:\n"
                              "\tTemperature{mValue=37.4, mType=3, mName=VIRTUAL-SKIN, mStatus=0}\n"
                              "\tTemperature{mValue=-99.9, mType=3, mName=skin2, mStatus=0}\r\n"
                              "\tTemperature{mValue=38.125, mType=3, mName=quiet-skin, mStatus=0}  \n"
                              "\tTemperature{mValue=290.0, mType=2, mName=battery, mStatus=0}\n"
                              "\tTemperature{mValue=NaN, mType=1, mName=GPU, mStatus=0}\n"
                              "Current cooling devices from HAL:\n"
                              "\tCoolingDevice{mValue=1, mType=2, mName=cpu-skin}\n";
static const char battery[] = "Current Battery Service state:\n"
                              "  AC powered: false\n"
                              "  level: 73\n"
                              "  temperature: 291\n";

static uint8_t find(const char *how, int64_t mul, uint8_t flags, const char *text, int64_t *value)
{
    const struct qs_bound_file b = {
        .mul = mul, .div = flags & QS_BIND_BITS ? 1 : 1000, .lo = -30000, .hi = 130000, .flags = flags};
    struct qs_bind_command c;
    assert_true(qs_bind_command_of(qs_text_of(how), &c));
    return qs_slow_find(&b, &c, text, value);
}

static void finds_the_value(void **state)
{
    static char wide[2000];
    static const struct {
        const char *how, *text;
        int64_t mul, value;
        uint8_t flags, status;
    } rows[] = {
        {"1000\ncurrent temperatures*\n*mname=*skin*\nmValue=\n\nd", thermal, 1000, 38125, 0, QS_READING_OK},
        {"1000\n\n*mname=*skin*\nmValue=\n\nd", thermal, 1000, 91000, 0, QS_READING_OK}, /* cached, too */
        {"1000\nCurrent temp*\n*mName=GPU*\nmValue=\n\nd", thermal, 1000, 0, 0, QS_READING_UNREADABLE},
        {"1000\nCurrent temp*\n*mName=batt*\nmValue=\n\nd", thermal, 1000, 0, 0, QS_READING_UNREADABLE},
        {"1000\nCurrent cool*\n*mName=cpu-skin*\nmValue=\n\nd", thermal, 1000, 1000, 0, QS_READING_OK},
        {"1000\n\nThermal Status:*\nThermal Status:\n\nd", thermal, 1, 2, 0, QS_READING_OK},
        {"1000\nNo such*\n\nmValue=\n\nd", thermal, 1000, 0, 0, QS_READING_UNREADABLE},
        {"1000\n\n\nmValue=\nIsStatusOverride: true\nd", thermal, 1000, 91000, 0, QS_READING_OK},
        {"1000\n\n\nx=\nisstatusoverride: true\nd", "x=1\n IsStatusOverride: true\n", 1000, 0, 0,
         QS_READING_SPOILT},
        {"1000\n\ntemperature:*\ntemperature:\n*UPDATES STOPPED*\nd", battery, 100, 29100, 0, QS_READING_OK},
        {"1000\n\ntemperature:*\ntemperature:\n*UPDATES STOPPED*\nd",
         "Current Battery Service state:\n  (UPDATES STOPPED -- use 'reset' to restart)\n  temperature: "
         "291\n",
         100, 0, 0, QS_READING_SPOILT},
        {"1000\n\n\ntemp=\n\nv", "temp=48.3'C\n", 1000, 48300, 0, QS_READING_OK},
        {"1000\n\n\ntemp=\n\nv", "temp=-5.25'C", 1000, -5250, 0, QS_READING_OK},
        {"1000\n\n\ntemp=\n\nv", "temp=130.001'C", 1000, 0, 0, QS_READING_UNREADABLE},
        {"1000\n\n\ntemp=\n\nv", "temp=1234567890123'C", 1, 0, 0, QS_READING_UNREADABLE},
        {"1000\n\n\nthrottled=\n\nv", "throttled=0x50005\n", 0xf, 5, QS_BIND_BITS, QS_READING_OK},
        {"1000\n\n\nthrottled=\n\nv", "throttled=zz\n", 0xf, 0, QS_BIND_BITS, QS_READING_UNREADABLE},
        {"1000\n\n\nt=\n\nv", "", 1000, 0, 0, QS_READING_UNREADABLE},
        {"1000\na\n\nt=\n\nv", "a\n t=1\n\n  t=2\n  a\n t=3\nb\n t=4\n", 1000, 3000, 0, QS_READING_OK},
        {"1000\n\n\nt=\n\nv", wide, 1000, 0, 0, QS_READING_UNREADABLE}, /* behind what is looked at */
    };
    (void)state;
    memset(wide, 'x', sizeof wide - 5);
    memcpy(wide + sizeof wide - 5, "t=7\n", 5);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        int64_t value = -1;
        uint8_t status = find(rows[i].how, rows[i].mul, rows[i].flags, rows[i].text, &value);
        if (status != rows[i].status || value != rows[i].value)
            fail_msg("row %zu: status %u, value %lld", i, status, (long long)value);
    }
}

/* ---- asking ---- */

static struct qs_probe probe;
static char root[64], bin[128];

static int enter_root(void **state)
{
    static int n;
    static char path[256];
    cpu_set_t all;
    (void)state;
    snprintf(root, sizeof root, "%s/%d", folder, n++);
    snprintf(bin, sizeof bin, "%s/bin", root);
    snprintf(path, sizeof path, "%s:/usr/bin:/bin", bin);
    setenv("PATH", path, 1);
    CPU_ZERO(&all);
    CPU_SET(0, &all);
    if (mkdir(root, 0700) != 0 || mkdir(bin, 0700) != 0 || chdir(root) != 0)
        return -1;
    qs_probe_open(&probe, &all, root);
    return 0;
}

static int leave_root(void **state)
{
    (void)state;
    qs_probe_close(&probe);
    return 0;
}

static void program(const char *name, const char *body)
{
    char path[300], text[1024];
    snprintf(path, sizeof path, "bin/%s", name);
    snprintf(text, sizeof text, "#!/bin/sh\necho run >>%s/runs\n%s\n", root, body);
    put(path, text);
    snprintf(path, sizeof path, "%s/%s", bin, name);
    assert_int_equal(chmod(path, 0755), 0);
}

static size_t runs(void)
{
    char path[128];
    struct stat st;
    snprintf(path, sizeof path, "%s/runs", root);
    return stat(path, &st) == 0 ? (size_t)st.st_size / 4 : 0;
}

static void bind_as(const char *name, const char *how, uint8_t flags)
{
    const struct qs_binding b = {.name = qs_text_of(name),
                                 .path = qs_text_of(how),
                                 .mul = 1000,
                                 .div = 1000,
                                 .lo = -30000,
                                 .hi = 130000,
                                 .flags = QS_BIND_COMMAND | flags};
    qs_probe_bind(&probe, &b);
}

static void bind(const char *name, const char *how)
{
    bind_as(name, how, 0);
}

static struct qs_port_reading look(const char *name, int64_t now_ns)
{
    struct qs_port_reading r;
    qs_probe_sensor(&probe, name, now_ns, &r);
    return r;
}

/* After the command that runs, whatever time that takes of the machine's. */
static struct qs_port_reading wait_for(const char *name, int64_t now_ns)
{
    const struct timespec nap = {.tv_nsec = 2000000};
    struct qs_port_reading r = look(name, now_ns);
    while (r.pending) {
        nanosleep(&nap, NULL);
        r = look(name, now_ns);
    }
    return r;
}

static void is(struct qs_port_reading r, uint8_t status, int64_t value, int64_t age_ns)
{
    assert_int_equal(r.status, status);
    assert_int_equal(r.value, value);
    assert_int_equal(r.age_ns, age_ns);
}

static void is_as_old_as_its_command(void **state)
{
    (void)state;
    program("dump", "echo temp=40.5; echo skin=$1");
    bind("soc", "10000\n\n\ntemp=\n\ndump\n33");
    bind("skin", "60000\n\n\nskin=\n\ndump\n33");
    bind("other", "10000\n\n\nskin=\n\ndump\n34");
    struct qs_port_reading r = look("soc", SECOND);
    assert_true(r.pending);
    is(r, QS_READING_STALE, 0, 0);
    is(wait_for("soc", SECOND), QS_READING_OK, 40500, 0);
    is(look("skin", 3 * SECOND), QS_READING_OK, 33000, 2 * SECOND); /* the same command told it */
    assert_false(look("soc", 6 * SECOND).pending);                  /* half of its age, not more */
    assert_int_equal(runs(), 1);
    program("dump", "echo temp=41; echo skin=$1");
    r = look("soc", 7 * SECOND);
    assert_true(r.pending);
    is(r, QS_READING_OK, 40500, 6 * SECOND);
    is(wait_for("soc", 8 * SECOND), QS_READING_OK, 41000, SECOND); /* as old as the question */
    assert_int_equal(runs(), 2);
    is(wait_for("other", 8 * SECOND), QS_READING_OK, 34000, 0);
    assert_int_equal(runs(), 3);
    qs_probe_bind(&probe, NULL);
    assert_int_equal(look("soc", 9 * SECOND).status, QS_READING_MISSING);
}

static void is_stale_where_nothing_may_run(void **state)
{
    (void)state;
    program("dump", "echo temp=40");
    bind("soc", "10000\n\n\ntemp=\n\ndump");
    is(wait_for("soc", SECOND), QS_READING_OK, 40000, 0);
    probe.slow.shut = true;
    is(look("soc", 11 * SECOND), QS_READING_OK, 40000, 10 * SECOND);
    struct qs_port_reading r = look("soc", 11 * SECOND + 1);
    assert_false(r.pending);
    is(r, QS_READING_STALE, 40000, 10 * SECOND + 1);
    assert_int_equal(runs(), 1);
}

static void what_fails_has_no_value(void **state)
{
    static const char *const bodies[] = {
        "echo temp=40; exit 1",  "kill -9 $$",
        "echo nothing",          "",
        "printf 'temp=40\\000'", "echo temp=40; head -c 40000 /dev/zero | tr '\\0' x"};
    (void)state;
    for (size_t i = 0; i < sizeof bodies / sizeof bodies[0]; i++) {
        program("dump", bodies[i]);
        qs_probe_bind(&probe, NULL);
        bind("soc", "10000\n\n\ntemp=\n\ndump");
        is(wait_for("soc", SECOND), QS_READING_UNREADABLE, 0, 0);
    }
    qs_probe_bind(&probe, NULL);
    bind("soc", "10000\n\n\ntemp=\n\nno-such-program");
    is(look("soc", SECOND), QS_READING_MISSING, 0, 0);
    assert_int_equal(probe.slow.pid, 0);
    bind("path", "10000\n\n\ntemp=\n\n/nowhere/dump");
    is(look("path", SECOND), QS_READING_MISSING, 0, 0);
}

/* Its group is ended, too. */
static void one_that_hangs_is_ended(void **state)
{
    const struct timespec nap = {.tv_nsec = 2000000};
    char path[128];
    struct stat st;
    (void)state;
    program("dump", "sleep 1000 & echo $! >child; wait");
    bind("soc", "10000\n\n\ntemp=\n\ndump");
    snprintf(path, sizeof path, "%s/child", root);
    assert_true(look("soc", SECOND).pending);
    while (stat(path, &st) != 0 || st.st_size == 0)
        nanosleep(&nap, NULL);
    pid_t group = probe.slow.pid;
    assert_true(look("soc", 6 * SECOND - 1).pending);
    is(look("soc", 6 * SECOND), QS_READING_UNREADABLE, 0, 0);
    assert_int_equal(probe.slow.pid, 0);
    for (int i = 0; kill(-group, 0) == 0 && i < 2000; i++)
        nanosleep(&nap, NULL); /* who takes in the orphan is not us */
    assert_int_equal(kill(-group, 0), -1);
}

static void is_ended_with_its_sensor(void **state)
{
    (void)state;
    program("dump", "sleep 1000");
    bind("soc", "10000\n\n\ntemp=\n\ndump");
    assert_true(look("soc", SECOND).pending);
    pid_t pid = probe.slow.pid;
    qs_probe_bind(&probe, NULL);
    assert_int_equal(kill(pid, 0), -1);
    assert_int_equal(probe.slow.fd, -1);
}

static void settle(int64_t now_ns)
{
    const struct timespec a_bit = {.tv_nsec = 2000000};
    while (!qs_slow_settled(&probe, now_ns))
        nanosleep(&a_bit, NULL);
}

/* Before a window what was said last, if it is young enough; after it what is said then. What is no evidence
 * is not asked. */
static void is_asked_around_a_window(void **state)
{
    struct qs_port_evidence rows[QS_PROBE_SOURCES + QS_BIND_MAX];
    (void)state;
    memset(rows, 0, sizeof rows);
    program("dump", "echo temp=40; echo skin=30");
    program("idle", "echo idle=1");
    bind("idle", "10000\n\n\nidle=\n\nidle");
    bind_as("soc", "10000\n\n\ntemp=\n\ndump", QS_BIND_EVIDENCE | QS_BIND_HELD);
    bind_as("skin", "60000\n\n\nskin=\n\ndump", QS_BIND_EVIDENCE | QS_BIND_STEADY);
    settle(SECOND);
    assert_int_equal(runs(), 1);
    settle(6 * SECOND);
    assert_int_equal(runs(), 1);
    program("dump", "echo temp=41; echo skin=30.5");
    settle(7 * SECOND); /* older than half its age */
    assert_int_equal(runs(), 2);
    probe.slow.shut = true;
    assert_true(qs_slow_settled(&probe, 100 * SECOND));
    size_t n = qs_probe_evidence(&probe, false, rows, sizeof rows / sizeof *rows);
    program("dump", "echo temp=140; echo skin=33");
    assert_int_equal(qs_probe_evidence(&probe, true, rows, n), n);
    qs_slow_evidence(&probe, CLOCK_MONOTONIC, rows, n);
    assert_int_equal(runs(), 3); /* once for both */
    const struct qs_port_evidence *soc = &rows[n - 2], *skin = &rows[n - 1];
    assert_string_equal(soc->kind, "soc");
    assert_int_equal(soc->status, QS_READING_OK);
    assert_int_equal(soc->before, 41000);
    assert_int_equal(soc->after, 140000); /* what is held has its value beyond its bounds, too */
    assert_true(soc->held && !soc->steady && soc->hi == 130000);
    assert_int_equal(skin->before, 30500);
    assert_int_equal(skin->after, 33000);
    assert_true(skin->steady && !skin->held);
    program("dump", "exit 1");
    qs_slow_evidence(&probe, CLOCK_MONOTONIC, rows, n);
    assert_int_equal(soc->status, QS_READING_UNREADABLE);
}

#define ASKS(test) cmocka_unit_test_setup_teardown(test, enter_root, leave_root)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_the_value),    ASKS(is_as_old_as_its_command),
        ASKS(is_stale_where_nothing_may_run), ASKS(what_fails_has_no_value),
        ASKS(one_that_hangs_is_ended),        ASKS(is_ended_with_its_sensor),
        ASKS(is_asked_around_a_window),
    };
    return cmocka_run_group_tests_name("slow", tests, enter_folder, leave_folder);
}
