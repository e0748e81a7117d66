/* What is known of a machine: the sensors that it has, what they are called, its facts, who keeps it busy,
 * and what a program has used. Files of the test stand in for /sys. */
#include "folder.h"
#include "linux/facts.h"

#include "linux/command.h"
#include "linux/harness.h"
#include "linux/io.h"
#include "proto/msg.h"

#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

/* A machine with two zones of one type, one of which has no value, and three processors. */
static void make_machine(void)
{
    put("sys/class/thermal/thermal_zone0/type", "cpu-thermal\n");
    put("sys/class/thermal/thermal_zone0/temp", "41000\n");
    put("sys/class/thermal/thermal_zone2/type", "cpu-thermal\n");
    put("sys/class/thermal/thermal_zone2/temp", "42000\n");
    put("sys/class/thermal/thermal_zone63/type", "gpu\x01\n");
    put("sys/class/thermal/thermal_zone64/type", "beyond\n");
    put("sys/class/thermal/thermal_zone64/temp", "1\n");
    put("sys/devices/system/cpu/cpufreq/policy0/scaling_cur_freq", "800000\n");
    put("sys/devices/system/cpu/cpufreq/policy0/scaling_governor", "performance\n");
    put("sys/devices/system/cpu/cpufreq/policy0/scaling_min_freq", "400000\n");
    put("sys/devices/system/cpu/cpufreq/policy0/scaling_max_freq", "1800000\n");
    put("sys/devices/system/cpu/cpufreq/policy4/scaling_governor", "schedutil\n");
    put("sys/devices/system/cpu/cpufreq/policy64/scaling_governor", "beyond\n");
    put("sys/devices/system/cpu/cpu127/thermal_throttle/core_throttle_count", "5\n");
    put("sys/devices/system/cpu/cpu128/thermal_throttle/core_throttle_count", "6\n");
    put("sys/devices/system/cpu/intel_pstate/no_turbo", "1\n");
    put("sys/devices/system/cpu/smt/active", "0\n");
}

static struct qs_probe probe;

static void open_probe(const char *sysfs)
{
    cpu_set_t cpus;
    assert_true(qs_cpus_parse("0,2", &cpus));
    qs_probe_open(&probe, &cpus, sysfs);
}

static struct qs_port_reading sense(const char *name)
{
    struct qs_port_reading r;
    qs_probe_sensor(&probe, name, 1, &r);
    return r;
}

/* The sensors that a machine has, by the names that they get. */
static void finds_the_sensors(void **state)
{
    static const struct {
        const char *name;
        enum qs_reading_status status;
        int64_t value;
    } cases[] = {{"thermal:cpu-thermal", QS_READING_OK, 41000},
                 {"thermal:cpu-thermal.2", QS_READING_OK, 42000},
                 {"thermal:gpu?", QS_READING_MISSING, 0},
                 {"thermal:beyond", QS_READING_MISSING, 0},
                 {"cooling", QS_READING_MISSING, 0},
                 {"freq:policy0_khz", QS_READING_OK, 800000},
                 {"freq:policy4_khz", QS_READING_MISSING, 0},
                 {"throttle.cpu127.count", QS_READING_OK, 5},
                 {"throttle.cpu128.count", QS_READING_MISSING, 0}};
    static struct qs_port_evidence rows[QS_PROBE_SOURCES];
    char text[2048];
    (void)state;
    make_machine();
    open_probe("sys");
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_int_equal(sense(cases[i].name).status, cases[i].status);
        assert_int_equal(sense(cases[i].name).value, cases[i].value);
    }
    qs_probe_capabilities(&probe, text, sizeof text);
    assert_non_null(
        strstr(text, ",thermal:cpu-thermal,thermal:cpu-thermal.2,freq:policy0_khz,throttle.cpu127.count"));
    assert_null(strstr(text, "gpu"));
    assert_null(strstr(text, "cooling"));
    assert_int_equal(strncmp(text, "cpu.busy_ticks,", 15), 0);
    assert_int_equal(qs_probe_evidence(&probe, false, rows, QS_PROBE_SOURCES), probe.count);
    put("sys/class/thermal/thermal_zone0/temp", "41500\n");
    assert_int_equal(qs_probe_evidence(&probe, true, rows, QS_PROBE_SOURCES), probe.count);
    size_t found = 0;
    for (size_t i = 0; i < probe.count; i++) {
        if (strcmp(rows[i].kind, "thermal:cpu-thermal") == 0) {
            assert_int_equal(rows[i].status, QS_READING_OK);
            assert_int_equal(rows[i].before, 41000);
            assert_int_equal(rows[i].after, 41500);
            found++;
        }
        if (strcmp(rows[i].kind, "cooling") == 0) {
            assert_int_equal(rows[i].status, QS_READING_MISSING);
            found++;
        }
    }
    assert_int_equal(found, 2);
    assert_int_equal(qs_probe_evidence(&probe, false, rows, 3), 3);
    qs_probe_close(&probe);
    assert_int_equal(probe.count, 0);
    open_probe("nowhere");
    qs_probe_capabilities(&probe, text, sizeof text);
    assert_null(strstr(text, "thermal"));
    qs_probe_close(&probe);
}

/* More of one kind than there is room for. */
static void bounds_the_sensors(void **state)
{
    char path[128];
    (void)state;
    for (int i = 0; i < 64; i++) {
        snprintf(path, sizeof path, "big/class/thermal/thermal_zone%d/type", i);
        put(path, "a type with a name that is far longer than any name of a sensor may be");
        snprintf(path, sizeof path, "big/class/thermal/cooling_device%d/type", i);
        put(path, "fan");
        snprintf(path, sizeof path, "big/devices/system/cpu/cpufreq/policy%d/scaling_cur_freq", i);
        put(path, "1");
        snprintf(path, sizeof path, "big/devices/system/cpu/cpu%d/thermal_throttle/core_throttle_count", i);
        put(path, "1");
    }
    open_probe("big");
    assert_int_equal(probe.count, QS_PROBE_SOURCES);
    for (size_t i = 0; i < probe.count; i++) {
        for (size_t k = 0; k < i; k++) {
            assert_string_not_equal(probe.sources[i].kind, probe.sources[k].kind);
        }
    }
    qs_probe_close(&probe);
    assert_int_not_equal(fcntl(0, F_GETFD), -1); /* which the places without a sensor would name */
}

static const char *fact_of(const struct qs_facts *facts, const char *key)
{
    static struct qs_port_fact fact;
    char before[QS_PORT_KIND_BYTES] = "";
    const char *found = NULL;
    for (size_t i = 0; qs_facts_get(facts, i, &fact); i++) {
        assert_true(strcmp(before, fact.key) < 0);
        assert_int_not_equal(fact.value[0], '\0');
        strcpy(before, fact.key);
        if (!found && strcmp(fact.key, key) == 0) {
            found = strdup(fact.value);
        }
    }
    assert_non_null(found);
    snprintf(fact.value, sizeof fact.value, "%s", found);
    free((char *)(uintptr_t)found);
    return fact.value;
}

/* The first line that a shell writes, as a fact is shown. */
static const char *shell(const char *command)
{
    static char line[1024];
    FILE *f = popen(command, "r");
    assert_non_null(f);
    if (!fgets(line, sizeof line, f)) {
        strcpy(line, "none");
    }
    assert_int_equal(pclose(f), 0);
    line[strcspn(line, "\n")] = '\0';
    qs_io_printable(line);
    return line;
}

static const struct qs_keeper_notes notes = {.restored = "2 of 2", .journal = "state/control.journal"};

static void says_what_the_system_is(void **state)
{
    static struct qs_facts facts;
    (void)state;
    open_probe("sys");
    qs_facts_init(&facts, &probe, "a clock", &notes, "a spool");
    assert_string_equal(fact_of(&facts, "kernel"), shell("uname -srv"));
    assert_string_equal(fact_of(&facts, "machine"), shell("uname -m"));
    assert_string_equal(fact_of(&facts, "aslr"), shell("cat /proc/sys/kernel/randomize_va_space"));
    assert_string_equal(fact_of(&facts, "os"),
                        shell("sed -n 's/^PRETTY_NAME=//p' /etc/os-release | tr -d '\"'; true"));
    assert_string_equal(
        fact_of(&facts, "cpu_model"),
        shell("{ sed -n 's/^model name[ \t]*: //p' /proc/cpuinfo; sed -n 's/^Hardware[ \t]*: //p' "
              "/proc/cpuinfo; cat /proc/device-tree/model 2>/dev/null; } | head -n 1"));
    assert_string_equal(fact_of(&facts, "hypervisor"),
                        shell("if ! grep -q ^flags /proc/cpuinfo; then echo unknown; elif grep -q '^flags.* "
                              "hypervisor' /proc/cpuinfo; then echo yes; else echo no; fi"));
    assert_int_equal(strncmp(fact_of(&facts, "agent"), "quiesce-agent ", 14), 0);
    assert_string_equal(fact_of(&facts, "control.restored"), "2 of 2");
    assert_string_equal(fact_of(&facts, "control.journal"), "state/control.journal");
    qs_probe_close(&probe);
}

static void says_what_the_machine_is(void **state)
{
    static struct qs_facts facts;
    char number[32];
    (void)state;
    make_machine();
    open_probe("sys");
    qs_facts_init(&facts, &probe, "a clock", &notes, "a spool");
    assert_string_equal(fact_of(&facts, "governors"),
                        "policy0=performance 400000-1800000 kHz, policy4=schedutil ?-? kHz");
    assert_string_equal(fact_of(&facts, "turbo"), "off");
    assert_string_equal(fact_of(&facts, "smt"), "0");
    assert_string_equal(fact_of(&facts, "thp"), "none");
    assert_string_equal(fact_of(&facts, "sysfs"), "sys");
    assert_string_equal(fact_of(&facts, "clock"), "a clock");
    assert_string_equal(fact_of(&facts, "simulated"), "no");
    assert_string_equal(fact_of(&facts, "cpus_allowed"), "0,2");
    snprintf(number, sizeof number, "%ld", sysconf(_SC_PAGESIZE));
    assert_string_equal(fact_of(&facts, "page_bytes"), number);
    snprintf(number, sizeof number, "%u", (unsigned)geteuid());
    assert_string_equal(fact_of(&facts, "uid"), number);
    assert_true(strtoll(fact_of(&facts, "memory_bytes"), NULL, 10) / sysconf(_SC_PAGESIZE) ==
                sysconf(_SC_PHYS_PAGES));
    assert_int_equal(strlen(fact_of(&facts, "agent_sha256")), 64);
    assert_string_not_equal(fact_of(&facts, "agent_sha256"),
                            "0000000000000000000000000000000000000000000000000000000000000000");
    put("sys/devices/system/cpu/intel_pstate/no_turbo", "0\n");
    assert_string_equal(fact_of(&facts, "turbo"), "on");
    unlink("sys/devices/system/cpu/intel_pstate/no_turbo");
    assert_string_equal(fact_of(&facts, "turbo"), "none");
    put("sys/devices/system/cpu/cpufreq/boost", "1\n");
    assert_string_equal(fact_of(&facts, "turbo"), "on");
    put("sys/devices/system/cpu/cpufreq/boost", "0\n");
    assert_string_equal(fact_of(&facts, "turbo"), "off");
    qs_probe_close(&probe);
}

static struct qs_proc *look_of(int32_t pid)
{
    for (size_t i = 0; i < probe.proc_count; i++) {
        if (probe.procs[i].pid == pid) {
            return &probe.procs[i];
        }
    }
    fail_msg("%d was not seen", (int)pid);
    return NULL;
}

/* A process has used a third of a second since a look that did not see it. Its name is a trap for whoever
 * counts fields. */
static void names_who_keeps_the_machine_busy(void **state)
{
    enum { AT_S = 1000000000 };
    char text[96], wanted[64];
    int ready[2], percent = 0;
    (void)state;
    assert_int_equal(pipe(ready), 0);
    pid_t pid = fork();
    if (pid == 0) {
        prctl(PR_SET_NAME, "a) R 1 (\n", 0, 0, 0);
        while (clock() < CLOCKS_PER_SEC * 34 / 100) {
        }
        (void)!write(ready[1], "x", 1);
        pause();
    }
    assert_int_equal(read(ready[0], text, 1), 1);
    open_probe("sys");
    qs_probe_busiest(&probe, AT_S, text, sizeof text);
    assert_string_equal(text, "");
    assert_in_range(look_of(pid)->ticks * probe.tick_ns / 10000000, 30, 60);
    assert_non_null(look_of(1));                    /* whatever a number begins with */
    for (size_t i = 0; i < probe.proc_count; i++) { /* however busy the others are meanwhile */
        probe.procs[i].ticks = INT64_MAX / 2;
    }
    look_of(pid)->pid = look_of(getpid())->pid = 0; /* our own work is none */
    qs_probe_busiest(&probe, 2 * (int64_t)AT_S, text, sizeof text);
    snprintf(wanted, sizeof wanted, "a) R 1 (?[%d] %%d%%%%", (int)pid);
    assert_int_equal(sscanf(text, wanted, &percent), 1);
    assert_in_range(percent, 30, 60);
    for (int far = 0; far < 2; far++) {
        look_of(pid)->ticks = 0;
        qs_probe_busiest(&probe, probe.procs_ns + 5 * (int64_t)AT_S + far, text, sizeof text);
        assert_int_equal(text[0] == '\0', far); /* too long ago to be "now" */
    }
    look_of(pid)->ticks = 0;
    qs_probe_busiest(&probe, probe.procs_ns, text, sizeof text);
    assert_string_equal(text, "");
    qs_probe_close(&probe);
    kill(pid, SIGKILL);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    close(ready[0]);
    close(ready[1]);
}

/* Fields of /proc of this process: both switches, the wait for a processor, and the time of one. False: this
 * kernel does not count the latter two. */
static bool read_own(int64_t v[4])
{
    char line[128];
    long long a = 0, b = 0;
    FILE *f = fopen("/proc/self/status", "r");
    while (fgets(line, sizeof line, f)) {
        sscanf(line, "voluntary_ctxt_switches: %lld", &a);
        sscanf(line, "nonvoluntary_ctxt_switches: %lld", &b);
    }
    fclose(f);
    v[0] = a;
    v[1] = b;
    f = fopen("/proc/self/schedstat", "r");
    if (!f) {
        return false;
    }
    assert_int_equal(fscanf(f, "%lld %lld", &a, &b), 2);
    fclose(f);
    v[2] = b;
    v[3] = a;
    return true;
}

static void all_are(const struct qs_port_evidence *rows, enum qs_reading_status status)
{
    for (size_t i = 0; i < QS_HARNESS_EVIDENCE; i++) {
        assert_int_equal(rows[i].status, status);
    }
}

/* This test stands for a program: each of its numbers lies between what it reads itself before and after. */
static void takes_the_account_of_a_program(void **state)
{
    static const char *const kinds[] = {"program.voluntary_switches", "program.involuntary_switches",
                                        "program.run_delay_ns",       "program.cpu_ns",
                                        "program.children",           "program.rss_bytes"};
    struct qs_linux_harness h = {.pid = getpid()};
    struct qs_port_evidence rows[QS_HARNESS_EVIDENCE] = {{.before = -1}};
    bool lists_children = access("/proc/thread-self/children", R_OK) == 0; /* a choice of the kernel's */
    int64_t reads[3][4];
    enum { MORE_BYTES = 32 << 20 };
    (void)state;
    read_own(reads[0]);
    qs_harness_evidence(&h, false, rows);
    read_own(reads[1]);
    pid_t pid = fork();
    if (pid == 0) {
        pause();
        _exit(0);
    }
    void *more =
        mmap(NULL, MORE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    assert_ptr_not_equal(more, MAP_FAILED);
    qs_harness_evidence(&h, true, rows);
    munmap(more, MORE_BYTES);
    struct qs_port_evidence later[QS_HARNESS_EVIDENCE];
    memcpy(later, rows, sizeof later);
    qs_harness_evidence(&h, true, later);
    bool waits = read_own(reads[2]);
    kill(pid, SIGKILL);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    assert_true(later[5].after - later[5].before < MORE_BYTES / 8);
    for (size_t i = 0; i < QS_HARNESS_EVIDENCE; i++) {
        bool counted = i == 4 ? lists_children : waits || i < 2 || i == 5;
        assert_string_equal(rows[i].kind, kinds[i]);
        assert_int_equal(rows[i].status, counted ? QS_READING_OK : QS_READING_MISSING);
        for (int k = 0; counted && i < 4 && k < 2; k++) {
            int64_t value = k ? rows[i].after : rows[i].before;
            assert_true(reads[k][i] <= value && value <= reads[k + 1][i]);
        }
    }
    if (lists_children) {
        assert_int_equal(rows[4].before, 0);
        assert_int_equal(rows[4].after, 1);
    }
    assert_in_range(rows[5].after - rows[5].before, MORE_BYTES - (4 << 20), MORE_BYTES + (4 << 20));
    h.pid = pid; /* of which there is nothing */
    qs_harness_evidence(&h, true, rows);
    all_are(rows, QS_READING_MISSING);
    h.pid = getpid(); /* what was missing once has no difference */
    qs_harness_evidence(&h, true, rows);
    all_are(rows, QS_READING_MISSING);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_the_sensors),
        cmocka_unit_test(bounds_the_sensors),
        cmocka_unit_test(says_what_the_machine_is),
        cmocka_unit_test(says_what_the_system_is),
        cmocka_unit_test(names_who_keeps_the_machine_busy),
        cmocka_unit_test(takes_the_account_of_a_program),
    };
    return cmocka_run_group_tests_name("agent.machine", tests, enter_folder, leave_folder);
}
