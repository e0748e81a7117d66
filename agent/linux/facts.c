#include "linux/facts.h"

#include "core/print.h"
#include "linux/command.h"
#include "linux/io.h"
#include "proto/auth.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/utsname.h>
#include <unistd.h>

typedef void fact_reader(const struct qs_facts *facts, char *value, size_t cap);

static void from_file(const char *path, char *value, size_t cap)
{
    if (!qs_io_line(path, value, cap)) {
        qs_print(value, cap, "none");
    }
}

/* The first line of a file below /sys, or of the folder that stands for it. */
static bool sysfs_line(const struct qs_facts *facts, const char *file, char *text, size_t cap)
{
    char path[QS_PROBE_PATH_BYTES];
    return qs_probe_path(facts->probe, path, sizeof path, "%s", file) && qs_io_line(path, text, cap);
}

static void from_sysfs(const struct qs_facts *facts, const char *file, char *value, size_t cap)
{
    if (!sysfs_line(facts, file, value, cap)) {
        qs_print(value, cap, "none");
    }
}

/* The value behind "KEY<blanks>:" or "KEY=" of the first line that begins so. */
static bool from_table(const char *path, const char *key, char *value, size_t cap)
{
    char text[8192];
    size_t n = strlen(key);
    qs_io_read(path, text, sizeof text);
    for (char *line = text; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, key, n) == 0) {
            char *v = line + n;
            v += strspn(v, " \t:=\"");
            qs_print(value, cap, "%.*s", (int)strcspn(v, "\"\n"), v);
            return true;
        }
    }
    return false;
}

static void read_agent(const struct qs_facts *facts, char *value, size_t cap)
{
    (void)facts;
    qs_print(value, cap, "quiesce-agent %s", QS_VERSION);
}

static void read_agent_sum(const struct qs_facts *facts, char *value, size_t cap)
{
    qs_print(value, cap, "%s", facts->agent_sha256);
}

static void read_aslr(const struct qs_facts *facts, char *value, size_t cap)
{
    (void)facts;
    from_file("/proc/sys/kernel/randomize_va_space", value, cap);
}

static void read_capabilities(const struct qs_facts *facts, char *value, size_t cap)
{
    qs_probe_capabilities(facts->probe, value, cap);
}

static void read_cgroup(const struct qs_facts *facts, char *value, size_t cap)
{
    char text[QS_PORT_FACT_BYTES];
    (void)facts;
    qs_io_read("/proc/self/cgroup", text, sizeof text);
    for (char *p = strchr(text, '\n'); p; p = strchr(p, '\n')) {
        *p = ' ';
    }
    qs_print(value, cap, "%s", text);
}

static void read_clock(const struct qs_facts *facts, char *value, size_t cap)
{
    qs_print(value, cap, "%s", facts->clock);
}

static void read_clock_source(const struct qs_facts *facts, char *value, size_t cap)
{
    from_sysfs(facts, "devices/system/clocksource/clocksource0/current_clocksource", value, cap);
}

static void read_control_journal(const struct qs_facts *facts, char *value, size_t cap)
{
    qs_print(value, cap, "%s", facts->notes->journal);
}

static void read_control_restored(const struct qs_facts *facts, char *value, size_t cap)
{
    qs_print(value, cap, "%s", facts->notes->restored);
}

static void read_cpu_allowed(const struct qs_facts *facts, char *value, size_t cap)
{
    qs_cpus_print(&facts->probe->allowed, value, cap);
}

static void read_cpu_model(const struct qs_facts *facts, char *value, size_t cap)
{
    (void)facts;
    if (!from_table("/proc/cpuinfo", "model name", value, cap) &&
        !from_table("/proc/cpuinfo", "Hardware", value, cap)) {
        from_file("/proc/device-tree/model", value, cap);
    }
}

static void read_cpu_online(const struct qs_facts *facts, char *value, size_t cap)
{
    from_sysfs(facts, "devices/system/cpu/online", value, cap);
}

static void read_smt(const struct qs_facts *facts, char *value, size_t cap)
{
    from_sysfs(facts, "devices/system/cpu/smt/active", value, cap);
}

/* "policy0=schedutil 408000-1800000 kHz", one for each policy. */
static void read_governors(const struct qs_facts *facts, char *value, size_t cap)
{
    value[0] = '\0';
    for (int i = 0; i < 64; i++) {
        char part[192];
        char text[3][48];
        static const char *const files[3] = {"scaling_governor", "scaling_min_freq", "scaling_max_freq"};
        for (int f = 0; f < 3; f++) {
            char path[QS_PROBE_PATH_BYTES];
            if (!qs_probe_path(facts->probe, path, sizeof path, "devices/system/cpu/cpufreq/policy%d/%s", i,
                               files[f]) ||
                !qs_io_line(path, text[f], sizeof text[f])) {
                qs_print(text[f], sizeof text[f], f == 0 ? "" : "?");
            }
        }
        if (text[0][0] != '\0') {
            qs_print(part, sizeof part, "%spolicy%d=%s %s-%s kHz", value[0] ? ", " : "", i, text[0], text[1],
                     text[2]);
            qs_io_append(value, cap, part);
        }
    }
    qs_io_append(value, cap, value[0] ? "" : "none");
}

static void read_hypervisor(const struct qs_facts *facts, char *value, size_t cap)
{
    char flags[8192];
    (void)facts;
    bool known = from_table("/proc/cpuinfo", "flags", flags, sizeof flags);
    qs_print(value, cap, "%s", !known ? "unknown" : strstr(flags, " hypervisor") ? "yes" : "no");
}

static void read_kernel(const struct qs_facts *facts, char *value, size_t cap)
{
    struct utsname u;
    (void)facts;
    uname(&u);
    qs_print(value, cap, "%.60s %.100s %.200s", u.sysname, u.release, u.version);
}

static void read_libc(const struct qs_facts *facts, char *value, size_t cap)
{
    (void)facts;
#ifdef __GLIBC__
    if (confstr(_CS_GNU_LIBC_VERSION, value, cap) > 0) {
        return;
    }
#endif
    qs_print(value, cap, "static, not glibc");
}

static void read_machine(const struct qs_facts *facts, char *value, size_t cap)
{
    struct utsname u;
    (void)facts;
    uname(&u);
    qs_print(value, cap, "%.60s", u.machine);
}

static void read_memory(const struct qs_facts *facts, char *value, size_t cap)
{
    char text[64] = "0";
    (void)facts;
    from_table("/proc/meminfo", "MemTotal", text, sizeof text);
    qs_print(value, cap, "%lld", strtoll(text, NULL, 10) * 1024);
}

static void read_os(const struct qs_facts *facts, char *value, size_t cap)
{
    (void)facts;
    if (!from_table("/etc/os-release", "PRETTY_NAME", value, cap)) {
        /* Its properties are not for everybody to read; what every app is started by is there. */
        qs_print(value, cap, "%s", access("/system/bin/app_process", F_OK) == 0 ? "Android" : "unknown");
    }
}

static void read_page(const struct qs_facts *facts, char *value, size_t cap)
{
    (void)facts;
    qs_print(value, cap, "%lu", getauxval(AT_PAGESZ));
}

static void read_simulated(const struct qs_facts *facts, char *value, size_t cap)
{
    (void)facts;
    qs_print(value, cap, "no");
}

static void read_spool(const struct qs_facts *facts, char *value, size_t cap)
{
    qs_print(value, cap, "%s", facts->spool);
}

/* Another folder than /sys makes a test bed of this device, and everybody can see it. */
static void read_sysfs(const struct qs_facts *facts, char *value, size_t cap)
{
    qs_print(value, cap, "%s", facts->probe->sysfs);
}

static void read_thp(const struct qs_facts *facts, char *value, size_t cap)
{
    from_sysfs(facts, "kernel/mm/transparent_hugepage/enabled", value, cap);
}

static void read_turbo(const struct qs_facts *facts, char *value, size_t cap)
{
    char text[16];
    if (sysfs_line(facts, "devices/system/cpu/intel_pstate/no_turbo", text, sizeof text)) {
        qs_print(value, cap, "%s", text[0] == '0' ? "on" : "off");
    } else if (sysfs_line(facts, "devices/system/cpu/cpufreq/boost", text, sizeof text)) {
        qs_print(value, cap, "%s", text[0] == '1' ? "on" : "off");
    } else {
        qs_print(value, cap, "none");
    }
}

static void read_user(const struct qs_facts *facts, char *value, size_t cap)
{
    (void)facts;
    qs_print(value, cap, "%u", (unsigned)geteuid());
}

/* Sorted by key: the host hashes them. */
static const struct {
    const char *key;
    fact_reader *read;
} table[] = {
    {"agent", read_agent},
    {"agent_sha256", read_agent_sum},
    {"aslr", read_aslr},
    {"capabilities", read_capabilities},
    {"cgroup", read_cgroup},
    {"clock", read_clock},
    {"clock_source", read_clock_source},
    {"control.journal", read_control_journal},
    {"control.restored", read_control_restored},
    {"cpu_model", read_cpu_model},
    {"cpus_allowed", read_cpu_allowed},
    {"cpus_online", read_cpu_online},
    {"governors", read_governors},
    {"hypervisor", read_hypervisor},
    {"kernel", read_kernel},
    {"libc", read_libc},
    {"machine", read_machine},
    {"memory_bytes", read_memory},
    {"os", read_os},
    {"page_bytes", read_page},
    {"simulated", read_simulated},
    {"smt", read_smt},
    {"spool", read_spool},
    {"sysfs", read_sysfs},
    {"thp", read_thp},
    {"turbo", read_turbo},
    {"uid", read_user},
};

void qs_facts_init(struct qs_facts *facts, const struct qs_probe *probe, const char *clock,
                   const struct qs_keeper_notes *notes, const char *spool)
{
    static uint8_t bytes[16384];
    struct qs_sha256 sum;
    uint8_t out[QS_SHA256_BYTES] = {0};
    ssize_t n;
    int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    facts->probe = probe;
    facts->clock = clock;
    facts->notes = notes;
    facts->spool = spool;
    qs_sha256_init(&sum);
    while (fd >= 0 && (n = read(fd, bytes, sizeof bytes)) > 0) {
        qs_sha256_add(&sum, bytes, (size_t)n);
    }
    if (fd >= 0) {
        qs_sha256_final(&sum, out);
        close(fd);
    }
    for (size_t i = 0; i < sizeof out; i++) {
        qs_print(facts->agent_sha256 + 2 * i, 3, "%02x", out[i]);
    }
}

bool qs_facts_get(const struct qs_facts *facts, size_t index, struct qs_port_fact *fact)
{
    if (index >= sizeof table / sizeof table[0]) {
        return false;
    }
    fact->value[0] = '\0';
    qs_print(fact->key, sizeof fact->key, "%s", table[index].key);
    table[index].read(facts, fact->value, sizeof fact->value);
    qs_io_printable(fact->value);
    return true;
}
