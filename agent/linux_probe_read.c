/* Reading what linux_probe.c has opened. */
#include "linux_probe.h"

#include "linux_io.h"
#include "proto/limits.h"
#include "proto/msg.h"

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

/* The busy share looks back about 100 ms: a shorter look is mostly rounding (a tick is 10 ms), a longer one
 * is not "now" any more. */
#define BUSY_LOOK_NS     INT64_C(100000000)
#define BUSY_LOOK_MIN_NS INT64_C(90000000)
#define BUSY_LOOK_MAX_NS INT64_C(300000000)

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

void qs_probe_restart_busy(struct qs_probe *probe, int64_t now_ns)
{
    probe->last = read_ticks(probe);
    probe->last_ns = now_ns;
    probe->has_busy = false;
}

static void read_busy(struct qs_probe *probe, int64_t now_ns, struct qs_port_reading *reading)
{
    int64_t age = now_ns - probe->last_ns;
    if (!probe->last.ok || age > BUSY_LOOK_MAX_NS) {
        qs_probe_restart_busy(probe, now_ns);
        reading->status = probe->last.ok ? QS_READING_STALE : QS_READING_MISSING;
        return;
    }
    if (age >= BUSY_LOOK_MIN_NS) {
        struct qs_ticks now = read_ticks(probe);
        int64_t busy = now.busy - probe->last.busy;
        int64_t all = busy + now.idle - probe->last.idle + now.steal - probe->last.steal;
        probe->busy_ppm = all > 0 && busy > 0 ? busy * 1000000 / all : 0;
        probe->busy_ns = now_ns;
        probe->has_busy = now.ok;
        probe->last = now;
        probe->last_ns = now_ns;
    }
    reading->status = probe->has_busy ? QS_READING_OK : QS_READING_STALE;
    reading->value = probe->has_busy ? probe->busy_ppm : 0;
    reading->age_ns = probe->has_busy ? now_ns - probe->busy_ns : 0;
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

static int64_t time_us(const struct timeval *t)
{
    return (int64_t)t->tv_sec * 1000000 + t->tv_usec;
}

static bool read_usage(struct qs_probe *probe, enum qs_probe_how how, int64_t *value)
{
    struct rusage own;
    struct rusage children;
    getrusage(RUSAGE_SELF, &own);
    getrusage(RUSAGE_CHILDREN, &children);
    int64_t own_us = time_us(&own.ru_utime) + time_us(&own.ru_stime);
    int64_t child_us = time_us(&children.ru_utime) + time_us(&children.ru_stime);
    struct qs_ticks t = {.ok = true};
    if (how == QS_PROBE_FOREIGN) {
        t = read_ticks(probe);
        *value = t.busy - (own_us + child_us) * 1000 / probe->tick_ns;
    } else if (how == QS_PROBE_CHILD_SWITCHES) {
        *value = children.ru_nivcsw;
    } else if (how == QS_PROBE_OWN_SWITCHES) {
        *value = own.ru_nivcsw;
    } else if (how == QS_PROBE_OWN_SLEEPS) {
        *value = own.ru_nvcsw;
    } else {
        *value = own_us;
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

static uint8_t read_source(struct qs_probe *probe, const struct qs_source *s, int64_t *value)
{
    *value = 0;
    if (s->how == QS_PROBE_NOTHING) {
        return QS_READING_MISSING;
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
        if (strcmp(probe->sources[i].kind, name) == 0) {
            reading->status = read_source(probe, &probe->sources[i], &reading->value);
            return;
        }
    }
}

size_t qs_probe_evidence(struct qs_probe *probe, bool after, struct qs_port_evidence *rows, size_t cap)
{
    size_t n = probe->count < cap ? probe->count : cap;
    for (size_t k = 0; k < n; k++) {
        /* Read the processor's own account innermost: last before the window, first after it. */
        size_t i = after ? k : n - 1 - k;
        struct qs_port_evidence *row = &rows[i];
        int64_t value;
        uint8_t status = read_source(probe, &probe->sources[i], &value);
        if (!after) {
            memcpy(row->kind, probe->sources[i].kind, sizeof row->kind);
            row->before = value;
            row->after = value;
            row->status = status;
        } else {
            row->after = value;
            row->status = row->status != QS_READING_OK ? row->status : status;
        }
    }
    return n;
}
