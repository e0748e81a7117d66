#include "linux/probe.h"

#include "core/print.h"
#include "linux/io.h"
#include "linux/slow.h"
#include "proto/names.h"

#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

enum { ZONES_MAX = 64, POLICIES_MAX = 64, CPUS_MAX = 128 };

bool qs_probe_path(const struct qs_probe *probe, char *path, size_t cap, const char *fmt, ...)
{
    va_list args;
    int root = qs_print(path, cap, "%s/", probe->sysfs);
    if (root < 0 || (size_t)root >= cap) {
        return false;
    }
    va_start(args, fmt);
    int n = qs_vprint(path + root, cap - (size_t)root, fmt, args);
    va_end(args);
    return n >= 0 && (size_t)n < cap - (size_t)root;
}

static void add(struct qs_probe *probe, const char *kind, enum qs_probe_how how, const char *path)
{
    if (probe->count >= QS_PROBE_SOURCES) {
        return;
    }
    struct qs_source *s = &probe->sources[probe->count++];
    qs_print(s->kind, sizeof s->kind, "%s", kind);
    s->how = how;
    s->evidence = true;
    s->fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (path && s->fd < 0) {
        s->how = QS_PROBE_NOTHING;
    }
}

static bool has_kind(const struct qs_probe *probe, const char *kind)
{
    for (size_t i = 0; i < probe->count; i++) {
        if (strcmp(probe->sources[i].kind, kind) == 0) {
            return true;
        }
    }
    return false;
}

/* "thermal:TYPE"; types repeat on real boards: the second one becomes "thermal:TYPE.2". */
static void name_by_type(const struct qs_probe *probe, char *kind, const char *class, const char *type)
{
    qs_print(kind, QS_PORT_KIND_BYTES, "%s:%.32s", class, type);
    qs_io_printable(kind);
    for (int n = 2; has_kind(probe, kind); n++) {
        qs_print(kind, QS_PORT_KIND_BYTES, "%s:%.28s.%d", class, type, n);
        qs_io_printable(kind);
    }
}

/* Members folder0, folder1, ... that have a type file and a value file. */
static void add_typed(struct qs_probe *probe, const char *class, const char *folder, const char *value)
{
    size_t before = probe->count;
    for (int i = 0; i < ZONES_MAX; i++) {
        char path[QS_PROBE_PATH_BYTES];
        char type[64];
        char kind[QS_PORT_KIND_BYTES];
        if (!qs_probe_path(probe, path, sizeof path, "%s%d/type", folder, i) ||
            !qs_io_line(path, type, sizeof type)) {
            continue;
        }
        name_by_type(probe, kind, class, type);
        qs_probe_path(probe, path, sizeof path, "%s%d/%s", folder, i, value);
        add(probe, kind, QS_PROBE_I64, path);
    }
    if (probe->count == before) {
        add(probe, class, QS_PROBE_NOTHING, NULL);
    }
}

static void put_number(char *text, size_t cap, const char *form, int number)
{
    char digits[12];
    qs_print(digits, sizeof digits, "%d", number);
    text[0] = '\0';
    for (const char *f = form; *f; f++) {
        const char one[2] = {*f, '\0'};
        qs_io_append(text, cap, *f == '#' ? digits : one);
    }
}

/* Members numbered from 0; '#' is the number's place in the kind and in the file. */
static void add_numbered(struct qs_probe *probe, const char *class, int max, const char *kind_form,
                         const char *file_form)
{
    size_t before = probe->count;
    for (int i = 0; i < max; i++) {
        char path[QS_PROBE_PATH_BYTES];
        char file[QS_PROBE_PATH_BYTES];
        char kind[QS_PORT_KIND_BYTES];
        put_number(file, sizeof file, file_form, i);
        put_number(kind, sizeof kind, kind_form, i);
        if (!qs_probe_path(probe, path, sizeof path, "%s", file) || access(path, F_OK) != 0) {
            continue;
        }
        add(probe, kind, QS_PROBE_I64, path);
    }
    if (probe->count == before) {
        add(probe, class, QS_PROBE_NOTHING, NULL);
    }
}

static void add_fixed(struct qs_probe *probe)
{
    static const struct {
        const char *kind;
        enum qs_probe_how how;
        const char *path;
    } fixed[] = {
        {"cpu.busy_ticks", QS_PROBE_BUSY, NULL},
        {"cpu.idle_ticks", QS_PROBE_IDLE, NULL},
        {"cpu.steal_ticks", QS_PROBE_STEAL, NULL},
        {"foreign.busy_ticks", QS_PROBE_FOREIGN, NULL},
        {"load1_milli", QS_PROBE_LOAD1, "/proc/loadavg"},
        {"psi.cpu.some_us", QS_PROBE_SOME_TOTAL, "/proc/pressure/cpu"},
        {"psi.cpu.some_avg10_ppm", QS_PROBE_SOME_AVG10, "/proc/pressure/cpu"},
        {"psi.io.some_us", QS_PROBE_SOME_TOTAL, "/proc/pressure/io"},
        {"psi.memory.some_us", QS_PROBE_SOME_TOTAL, "/proc/pressure/memory"},
        {"sched.run_delay_ns", QS_PROBE_ALL_DELAY, "/proc/schedstat"},
        {"sched.involuntary_switches", QS_PROBE_CHILD_SWITCHES, NULL},
        {"agent.involuntary_switches", QS_PROBE_OWN_SWITCHES, NULL},
        {"agent.voluntary_switches", QS_PROBE_OWN_SLEEPS, NULL},
        {"agent.cpu_us", QS_PROBE_OWN_CPU, NULL},
        {QS_SENSOR_AGENT_STOPS, QS_PROBE_AGENT_STOPS, NULL},
        {QS_SENSOR_PROCESS_STOPS, QS_PROBE_PROCESS_STOPS, NULL},
        {QS_SENSOR_SUSPENDED, QS_PROBE_SUSPENDED, NULL},
        {QS_SENSOR_RELAY, QS_PROBE_RELAY, NULL},
        {"agent.run_delay_ns", QS_PROBE_OWN_DELAY, "/proc/self/schedstat"},
    };
    for (size_t i = 0; i < sizeof fixed / sizeof fixed[0]; i++) {
        add(probe, fixed[i].kind, fixed[i].how, fixed[i].path);
    }
}

void qs_probe_open(struct qs_probe *probe, const cpu_set_t *allowed, const char *sysfs)
{
    memset(probe, 0, sizeof *probe);
    probe->slow.fd = -1;
    probe->sysfs = sysfs;
    probe->allowed = *allowed;
    unsigned long hz = getauxval(AT_CLKTCK);
    probe->tick_ns = 1000000000 / (hz > 0 ? (int64_t)hz : 100);
    probe->stat_fd = open("/proc/stat", O_RDONLY | O_CLOEXEC);
    add_fixed(probe);
    add_typed(probe, "thermal", "class/thermal/thermal_zone", "temp");
    add_typed(probe, "cooling", "class/thermal/cooling_device", "cur_state");
    add_numbered(probe, "freq", POLICIES_MAX, "freq:policy#_khz",
                 "devices/system/cpu/cpufreq/policy#/scaling_cur_freq");
    add_numbered(probe, "throttle", CPUS_MAX, "throttle.cpu#.count",
                 "devices/system/cpu/cpu#/thermal_throttle/core_throttle_count");
    probe->own = probe->count;
}

bool qs_probe_file(const struct qs_source *source, char *path)
{
    char link[32];
    qs_print(link, sizeof link, "/proc/self/fd/%d", source->fd);
    ssize_t n = source->fd < 0 ? -1 : readlink(link, path, PATH_MAX - 1);
    path[n < 0 ? 0 : n] = '\0';
    return n > 0;
}

void qs_probe_shun(struct qs_probe *probe, const char *path)
{
    char whole[PATH_MAX];
    char real[PATH_MAX];
    char own[PATH_MAX];
    if (!qs_probe_path(probe, whole, sizeof whole, "%s", path) || !realpath(whole, real)) {
        return;
    }
    for (size_t i = 0; i < probe->count; i++) {
        struct qs_source *s = &probe->sources[i];
        s->shunned = s->shunned || (qs_probe_file(s, own) && strcmp(own, real) == 0);
    }
}

void qs_probe_close(struct qs_probe *probe)
{
    qs_probe_bind(probe, NULL);
    for (size_t i = 0; i < probe->count; i++) {
        qs_io_close(&probe->sources[i].fd);
    }
    qs_io_close(&probe->stat_fd);
    probe->count = 0;
    probe->stat_fd = -1;
}

void qs_probe_capabilities(const struct qs_probe *probe, char *text, size_t cap)
{
    text[0] = '\0';
    for (size_t i = 0; i < probe->count; i++) {
        if (probe->sources[i].how != QS_PROBE_NOTHING) {
            qs_io_append(text, cap, text[0] ? "," : "");
            qs_io_append(text, cap, probe->sources[i].kind);
        }
    }
}
