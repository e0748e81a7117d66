/* Reading what probe.c has opened. */
#include "linux/probe.h"

#include "linux/bound.h"
#include "linux/io.h"
#include "linux/slow.h"
#include "proto/limits.h"
#include "proto/msg.h"

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#ifndef CLOCK_BOOTTIME
#define CLOCK_BOOTTIME 7
#endif

enum { STAT_COLUMNS = 8 }; /* user nice system idle iowait irq softirq steal; guest is inside user */

static void add_cpu_line(struct qs_ticks *t, const char *p)
{
    int64_t v[STAT_COLUMNS] = {0};
    for (int i = 0; i < STAT_COLUMNS && qs_io_i64(&p, &v[i]); i++) {
    }
    t->busy += v[0] + v[1] + v[2] + v[5] + v[6];
    t->idle += v[3] + v[4];
    t->steal += v[7];
    t->ok = true;
}

static struct qs_ticks read_ticks(struct qs_probe *probe)
{
    struct qs_ticks t = {0};
    if (probe->stat_fd < 0 || qs_io_reread(probe->stat_fd, probe->text, sizeof probe->text) <= 0) {
        return t;
    }
    for (const char *line = probe->text; line && strncmp(line, "cpu", 3) == 0;) {
        const char *p = line + 3;
        int64_t cpu = -1;
        if (*p != ' ' && qs_io_i64(&p, &cpu) && cpu >= 0 && cpu < QS_CPUS_MAX &&
            CPU_ISSET((size_t)cpu, &probe->allowed)) {
            add_cpu_line(&t, p);
        }
        line = strchr(line, '\n');
        line = line ? line + 1 : NULL;
    }
    return t;
}

static int64_t usage_ns(int who)
{
    struct rusage u;
    getrusage(who, &u);
    return ((int64_t)u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1000000000 +
           ((int64_t)u.ru_utime.tv_usec + u.ru_stime.tv_usec) * 1000;
}

/* Processor time of a whole process; 0 where it is gone. */
static int64_t process_ns(int32_t pid)
{
    clockid_t clock;
    struct timespec t;
    if (pid <= 0 || clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &t) != 0) {
        return 0;
    }
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

void qs_probe_set_kin(struct qs_probe *probe, enum qs_kin kin, int32_t pid)
{
    if (probe->kin[kin] != pid && kin == QS_KIN_HOST) {
        qs_busy_restart(&probe->busy); /* the sum of ours has a step here */
    }
    probe->kin[kin] = pid;
}

static void read_busy(struct qs_probe *probe, int64_t now_ns, struct qs_port_reading *reading)
{
    struct qs_ticks t = read_ticks(probe);
    struct qs_busy_look look = {.at_ns = now_ns,
                                .busy_ns = t.busy * probe->tick_ns,
                                .all_ns = (t.busy + t.idle + t.steal) * probe->tick_ns,
                                .ours_ns = usage_ns(RUSAGE_SELF) + usage_ns(RUSAGE_CHILDREN)};
    for (int i = 0; i < QS_KIN_COUNT; i++) {
        look.ours_ns += process_ns(probe->kin[i]);
    }
    if (!t.ok) {
        reading->status = QS_READING_MISSING;
        return;
    }
    bool ready = qs_busy_take(&probe->busy, &look, &reading->value);
    reading->status = ready ? QS_READING_OK : QS_READING_STALE;
}

static bool after_key(const char *text, const char *line, const char *key, const char **p)
{
    const char *at = strstr(text, line);
    at = at ? strstr(at, key) : NULL;
    *p = at ? at + strlen(key) : NULL;
    return at != NULL;
}

/* Field 8 of each "cpuN" line: time tasks waited to run (Documentation/scheduler/sched-stats.rst). */
static bool sum_all_delay(const struct qs_probe *probe, int64_t *value)
{
    bool any = false;
    *value = 0;
    for (const char *line = strstr(probe->text, "\ncpu"); line; line = strstr(line + 1, "\ncpu")) {
        const char *p = line + 4;
        int64_t v = 0;
        int i = -1;
        bool counts = qs_io_i64(&p, &v) && v >= 0 && v < QS_CPUS_MAX && CPU_ISSET((size_t)v, &probe->allowed);
        while (counts && ++i < 8 && qs_io_i64(&p, &v)) {
        }
        if (counts && i == 8) {
            *value += v;
            any = true;
        }
    }
    return any;
}

void qs_probe_stopped(struct qs_probe *probe, bool agent)
{
    probe->stops[agent ? 0 : 1]++;
}

/* One clock counts while the machine sleeps, the other does not. The closest of a few pairs of readings. */
static int64_t suspended_ns(void)
{
    int64_t closest_ns = INT64_MAX;
    int64_t slept_ns = 0;
    for (int i = 0; i < 5; i++) {
        int64_t before_ns = qs_io_now_ns(CLOCK_MONOTONIC);
        int64_t all_ns = qs_io_now_ns(CLOCK_BOOTTIME);
        int64_t took_ns = qs_io_now_ns(CLOCK_MONOTONIC) - before_ns;
        if (took_ns < closest_ns) {
            closest_ns = took_ns;
            slept_ns = all_ns - before_ns;
        }
    }
    return slept_ns;
}

static bool read_usage(struct qs_probe *probe, enum qs_probe_how how, int64_t *value)
{
    struct rusage own;
    struct rusage children;
    struct qs_ticks t = {.ok = true};
    getrusage(RUSAGE_SELF, &own);
    getrusage(RUSAGE_CHILDREN, &children);
    if (how == QS_PROBE_FOREIGN) {
        t = read_ticks(probe);
        *value = t.busy -
                 (usage_ns(RUSAGE_SELF) + usage_ns(RUSAGE_CHILDREN) + process_ns(probe->kin[QS_KIN_CHILD])) /
                     probe->tick_ns;
    } else if (how == QS_PROBE_CHILD_SWITCHES) {
        *value = children.ru_nivcsw;
    } else if (how == QS_PROBE_OWN_SWITCHES) {
        *value = own.ru_nivcsw;
    } else if (how == QS_PROBE_OWN_SLEEPS) {
        *value = own.ru_nvcsw;
    } else if (how == QS_PROBE_AGENT_STOPS || how == QS_PROBE_PROCESS_STOPS) {
        *value = probe->stops[how - QS_PROBE_AGENT_STOPS];
    } else if (how == QS_PROBE_RELAY) {
        *value = process_ns(probe->relay) / 1000;
    } else if (how == QS_PROBE_SUSPENDED) {
        *value = suspended_ns();
    } else {
        *value = usage_ns(RUSAGE_SELF) / 1000;
    }
    return t.ok;
}

static bool read_file(struct qs_probe *probe, const struct qs_source *s, int64_t *value)
{
    const char *p = probe->text;
    long n = s->fd < 0 ? -1 : qs_io_reread(s->fd, probe->text, sizeof probe->text);
    if (n <= 0 || n + 1 == (long)sizeof probe->text) { /* what was cut is no sum */
        return false;
    }
    if (s->how == QS_PROBE_LOAD1) {
        return qs_io_decimal(&p, 3, value);
    }
    if (s->how == QS_PROBE_SOME_TOTAL) {
        return after_key(probe->text, "some", "total=", &p) && qs_io_i64(&p, value);
    }
    if (s->how == QS_PROBE_SOME_AVG10) {
        /* percent with two decimals: 0.01 % is 100 ppm */
        bool ok = after_key(probe->text, "some", "avg10=", &p) && qs_io_decimal(&p, 2, value);
        *value *= 100;
        return ok;
    }
    if (s->how == QS_PROBE_OWN_DELAY) {
        int64_t ran;
        return qs_io_i64(&p, &ran) && qs_io_i64(&p, value);
    }
    if (s->how == QS_PROBE_ALL_DELAY) {
        return sum_all_delay(probe, value);
    }
    return qs_io_i64(&p, value);
}

static uint8_t read_source(struct qs_probe *probe, struct qs_source *s, int64_t *value)
{
    *value = 0;
    if (s->how == QS_PROBE_NOTHING || (s->how == QS_PROBE_RELAY && probe->relay == 0)) {
        return QS_READING_MISSING;
    }
    if (s->shunned) {
        return QS_READING_UNREADABLE;
    }
    if (s->how == QS_PROBE_BOUND) {
        return qs_probe_read_bound(probe, s, value);
    }
    bool ok = false;
    if (s->how == QS_PROBE_BUSY || s->how == QS_PROBE_IDLE || s->how == QS_PROBE_STEAL) {
        struct qs_ticks t = read_ticks(probe);
        ok = t.ok;
        *value = s->how == QS_PROBE_BUSY ? t.busy : s->how == QS_PROBE_IDLE ? t.idle : t.steal;
    } else if (s->how >= QS_PROBE_FOREIGN) {
        ok = read_usage(probe, s->how, value);
    } else {
        ok = read_file(probe, s, value);
    }
    return ok ? QS_READING_OK : QS_READING_UNREADABLE;
}

void qs_probe_sensor(struct qs_probe *probe, const char *name, int64_t now_ns,
                     struct qs_port_reading *reading)
{
    *reading = (struct qs_port_reading){.status = QS_READING_MISSING};
    if (strcmp(name, "cpu.busy_ratio_ppm") == 0) {
        read_busy(probe, now_ns, reading);
        return;
    }
    for (size_t i = 0; i < probe->count; i++) {
        if (!probe->sources[i].hidden && strcmp(probe->sources[i].kind, name) == 0) {
            if (!qs_slow_read(probe, i, now_ns, reading)) {
                reading->status = read_source(probe, &probe->sources[i], &reading->value);
            }
            return;
        }
    }
}

static bool is_row(const struct qs_source *s)
{
    return s->evidence && !s->hidden;
}

size_t qs_probe_rows(const struct qs_probe *probe)
{
    size_t n = 0;
    for (size_t i = 0; i < probe->count; i++) {
        n += is_row(&probe->sources[i]);
    }
    return n;
}

static void read_row(struct qs_probe *probe, struct qs_source *s, bool after, struct qs_port_evidence *row)
{
    int64_t value;
    uint8_t status = read_source(probe, s, &value);
    if (!after && s->how == QS_PROBE_BOUND && status == QS_READING_UNREADABLE &&
        qs_probe_is_counter(probe, s)) {
        status = read_source(probe, s, &value); /* what it missed before the window is no matter */
    }
    if (!after) {
        memcpy(row->kind, s->kind, sizeof row->kind);
        row->before = value;
        row->status = status;
    }
    if (!after && s->how == QS_PROBE_BOUND) {
        qs_probe_bound_row(probe, s, row);
    }
    row->after = value;
    row->status = row->status != QS_READING_OK ? row->status : status;
}

size_t qs_probe_evidence(struct qs_probe *probe, bool after, struct qs_port_evidence *rows, size_t cap)
{
    size_t all = qs_probe_rows(probe);
    size_t n = all < cap ? all : cap;
    /* Read the processor's own account innermost: last before the window, first after it. */
    size_t row = after ? 0 : all;
    for (size_t k = 0; k < probe->count; k++) {
        struct qs_source *s = &probe->sources[after ? k : probe->count - 1 - k];
        if (!is_row(s)) {
            continue;
        }
        row -= !after;
        if (row < n) {
            read_row(probe, s, after, &rows[row]);
        }
        row += after;
    }
    return n;
}
