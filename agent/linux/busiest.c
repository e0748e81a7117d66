/* Who keeps the machine busy: two looks at /proc/PID/stat. */
#include "linux/probe.h"

#include "core/print.h"
#include "linux/heater.h"
#include "linux/io.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LOOK_MAX_NS INT64_C(5000000000)

/* Fields 14 and 15 of /proc/PID/stat (proc(5)), counted from the name's closing bracket. */
static bool read_proc(const char *pid, char *name, size_t cap, int64_t *ticks)
{
    char path[64];
    char text[1024];
    qs_print(path, sizeof path, "/proc/%.20s/stat", pid);
    if (qs_io_read(path, text, sizeof text) <= 0) {
        return false;
    }
    const char *open = strchr(text, '(');
    const char *p = qs_io_stat_fields(text);
    if (!open || !p) {
        return false;
    }
    qs_print(name, cap, "%.*s", (int)(strrchr(text, ')') - open - 1), open + 1);
    int64_t v = 0;
    for (int field = 4; field <= 13; field++) {
        if (!qs_io_i64(&p, &v)) {
            return false;
        }
    }
    int64_t user;
    int64_t system;
    bool ok = qs_io_i64(&p, &user) && qs_io_i64(&p, &system);
    *ticks = ok ? user + system : 0;
    return ok;
}

static int64_t ticks_before(const struct qs_proc *procs, size_t n, int32_t pid)
{
    for (size_t i = 0; i < n; i++) {
        if (procs[i].pid == pid) {
            return procs[i].ticks;
        }
    }
    return 0; /* it did not exist then: all of its time is new */
}

void qs_probe_busiest(struct qs_probe *probe, int64_t now_ns, char *text, size_t cap)
{
    struct qs_proc *fresh = probe->fresh;
    struct qs_dir dir;
    size_t n = 0;
    int64_t most = 0;
    int64_t span_ns = now_ns - probe->procs_ns;
    bool known = probe->proc_count > 0 && span_ns > 0 && span_ns <= LOOK_MAX_NS;
    text[0] = '\0';
    if (!qs_dir_open(&dir, "/proc")) {
        return;
    }
    for (const char *e = qs_dir_next(&dir); e && n < QS_PROBE_PROCS; e = qs_dir_next(&dir)) {
        char name[32];
        struct qs_proc *p = &fresh[n];
        if (e[0] < '1' || e[0] > '9' || !read_proc(e, name, sizeof name, &p->ticks)) {
            continue;
        }
        p->pid = (int32_t)strtol(e, NULL, 10);
        n++;
        int64_t used = p->ticks - ticks_before(probe->procs, probe->proc_count, p->pid);
        if (known && used > most && p->pid != getpid() && strcmp(name, QS_HEATER_NAME) != 0) {
            most = used;
            qs_print(text, cap, "%s[%d] %lld%%", name, (int)p->pid,
                     (long long)(used * probe->tick_ns * 100 / span_ns));
        }
    }
    qs_dir_close(&dir);
    memcpy(probe->procs, fresh, n * sizeof fresh[0]);
    probe->proc_count = n;
    probe->procs_ns = now_ns;
    qs_io_printable(text);
}
