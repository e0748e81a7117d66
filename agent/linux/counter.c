#include "linux/counter.h"

#include "linux/io.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static const char prefix[] = "perf:";

/* The kernel's own work is never counted, so that a count means the same whatever rights the agent has;
 * context switches are nothing but the kernel's work. */
static const struct {
    const char *name;
    uint32_t type;
    uint64_t config;
    bool kernel;
} events[] = {
    {"instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, false},
    {"cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, false},
    {"cache-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES, false},
    {"branch-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES, false},
    {"page-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, false},
    {"context-switches", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES, true},
    {"task-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK, false},
};
enum { EVENTS = sizeof events / sizeof events[0] };

bool qs_counter_is(const char *path)
{
    return strncmp(path, prefix, sizeof prefix - 1) == 0;
}

static int open_event(size_t event, bool inherit)
{
    struct perf_event_attr attr;
    memset(&attr, 0, sizeof attr);
    attr.size = PERF_ATTR_SIZE_VER0;
    attr.type = events[event].type;
    attr.config = events[event].config;
    attr.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
    attr.inherit = inherit;
    attr.exclude_kernel = !events[event].kernel;
    attr.exclude_hv = 1;
    int fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0);
    if (fd >= 0) {
        fcntl(fd, F_SETFD, FD_CLOEXEC);
    }
    return fd;
}

bool qs_counter_open(struct qs_counter *counter, const char *path)
{
    size_t event = 0;
    *counter = (struct qs_counter){.all_fd = -1, .own_fd = -1, .error = ENOENT};
    while (event < EVENTS && strcmp(events[event].name, path + sizeof prefix - 1) != 0) {
        event++;
    }
    if (event == EVENTS) {
        return false;
    }
    counter->own_fd = open_event(event, false);
    counter->all_fd = counter->own_fd < 0 ? -1 : open_event(event, true);
    counter->error = counter->all_fd < 0 ? errno : 0;
    return counter->all_fd >= 0;
}

void qs_counter_close(struct qs_counter *counter)
{
    qs_io_close(&counter->own_fd);
    qs_io_close(&counter->all_fd);
}

/* As read_format has it. */
struct count {
    uint64_t value, enabled_ns, running_ns;
};

static bool read_count(int fd, struct count *count)
{
    return fd >= 0 && read(fd, count, sizeof *count) == (ssize_t)sizeof *count;
}

bool qs_counter_read(struct qs_counter *counter, int64_t *value, bool *whole)
{
    struct count all;
    struct count own;
    if (!read_count(counter->all_fd, &all) || !read_count(counter->own_fd, &own)) {
        return false;
    }
    int64_t lost_ns = (int64_t)(all.enabled_ns - all.running_ns) - (int64_t)(own.enabled_ns - own.running_ns);
    *value = (int64_t)(all.value - own.value);
    *whole = lost_ns == counter->lost_ns;
    counter->lost_ns = lost_ns;
    return true;
}
