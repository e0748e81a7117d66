/* What the files of a tree are to the model: clocks by the tables of their frequencies, CPUs, cooling
 * devices. */
#include "sim/board/parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CPU_FOLDER "sys/devices/system/cpu/cpu"

/* A clock is found by the file that lists its frequencies. `within` has to stand in its path. */
static const struct {
    uint8_t kind;
    const char *within, *file;
} anchors[] = {
    {QS_VCLOCK_CPUFREQ, "/cpu", "scaling_available_frequencies"},
    {QS_VCLOCK_DEVFREQ, "/devfreq/", "available_frequencies"},
    {QS_VCLOCK_KGSL, "/kgsl/", "gpu_available_frequencies"},
    {QS_VCLOCK_MALI, ".mali/", "available_frequencies"},
};

static const struct {
    uint8_t kind, role;
    const char *file;
} clock_files[] = {
    {QS_VCLOCK_CPUFREQ, QS_VROLE_GOVERNOR, "scaling_governor"},
    {QS_VCLOCK_CPUFREQ, QS_VROLE_MIN, "scaling_min_freq"},
    {QS_VCLOCK_CPUFREQ, QS_VROLE_MAX, "scaling_max_freq"},
    {QS_VCLOCK_CPUFREQ, QS_VROLE_CUR, "scaling_cur_freq"},
    {QS_VCLOCK_CPUFREQ, QS_VROLE_ACTUAL, "cpuinfo_cur_freq"},
    {QS_VCLOCK_CPUFREQ, QS_VROLE_SETSPEED, "scaling_setspeed"},
    {QS_VCLOCK_CPUFREQ, QS_VROLE_TIMES, "stats/time_in_state"},
    {QS_VCLOCK_CPUFREQ, QS_VROLE_CHANGES, "stats/total_trans"},
    {QS_VCLOCK_CPUFREQ, QS_VROLE_AFFECTED, "affected_cpus"},
    {QS_VCLOCK_DEVFREQ, QS_VROLE_GOVERNOR, "governor"},
    {QS_VCLOCK_DEVFREQ, QS_VROLE_MIN, "min_freq"},
    {QS_VCLOCK_DEVFREQ, QS_VROLE_MAX, "max_freq"},
    {QS_VCLOCK_DEVFREQ, QS_VROLE_ACTUAL, "cur_freq"},
    {QS_VCLOCK_DEVFREQ, QS_VROLE_CUR, "target_freq"},
    {QS_VCLOCK_DEVFREQ, QS_VROLE_SETSPEED, "userspace/set_freq"},
    {QS_VCLOCK_KGSL, QS_VROLE_GOVERNOR, "pwrscale/policy"},
    {QS_VCLOCK_KGSL, QS_VROLE_GPUCLK, "gpuclk"},
    {QS_VCLOCK_KGSL, QS_VROLE_MAX, "max_gpuclk"},
    {QS_VCLOCK_KGSL, QS_VROLE_MIN_LEVEL, "min_pwrlevel"},
    {QS_VCLOCK_KGSL, QS_VROLE_MAX_LEVEL, "max_pwrlevel"},
    {QS_VCLOCK_MALI, QS_VROLE_MIN, "scaling_min_freq"},
    {QS_VCLOCK_MALI, QS_VROLE_MAX, "scaling_max_freq"},
    {QS_VCLOCK_MALI, QS_VROLE_HINT, "hint_min_freq"},
    {QS_VCLOCK_MALI, QS_VROLE_CUR, "cur_freq"},
};

/* The CPU whose folder the path is in, -1 for none; *rest: what follows "cpuN/". */
static int16_t cpu_of(const char *path, const char **rest)
{
    char *end;
    if (strncmp(path, CPU_FOLDER, strlen(CPU_FOLDER)) != 0) {
        return -1;
    }
    const char *digits = path + strlen(CPU_FOLDER);
    unsigned long cpu = strtoul(digits, &end, 10);
    if (end == digits || *end != '/' || cpu > 31) {
        return -1;
    }
    *rest = end + 1;
    return (int16_t)cpu;
}

static const char *text_in(const struct qs_vboard *board, const char *folder, const char *file)
{
    int16_t node = qs_vboard_node_in(board, folder, file);
    return node < 0 ? NULL : board->nodes[node].text;
}

static int64_t number_in(const struct qs_vboard *board, const char *folder, const char *file,
                         int64_t otherwise)
{
    const char *text = text_in(board, folder, file);
    return text ? strtoll(text, NULL, 10) : otherwise;
}

/* Trees of boards with CPUs off-line have no files of theirs: they are those of the first CPU that has its
 * own. */
static bool copy_files(struct qs_vboard *board, int16_t from, int16_t to)
{
    size_t count = board->node_count;
    for (size_t i = 0; i < count; i++) {
        struct qs_vboard_node old = board->nodes[i];
        const char *rest = NULL;
        char path[QS_VBOARD_PATH_BYTES];
        char text[QS_VBOARD_TEXT_BYTES];
        if (cpu_of(old.path, &rest) != from || strcmp(rest, "online") == 0) {
            continue;
        }
        snprintf(path, sizeof path, CPU_FOLDER "%d/%.120s", to, rest);
        snprintf(text, sizeof text, "%s", old.text);
        if (strstr(rest, "ed_cpus") || strstr(rest, "core_id")) {
            snprintf(text, sizeof text, "%d", to);
        }
        size_t n = strlen(text);
        struct qs_vboard_node *node =
            qs_vboard_add(board, qs_vboard_keep(board, path, strlen(path), 0),
                          qs_vboard_keep(board, text, n, old.text_bytes), old.text_bytes);
        if (!node) {
            return false;
        }
        node->mode = old.mode;
        node->uid = old.uid;
        node->gid = old.gid;
        node->is_link = old.is_link;
    }
    return true;
}

static bool find_cpus(struct qs_vboard *board)
{
    const char *cpus = "sys/devices/system/cpu";
    const char *present = text_in(board, cpus, "present");
    const char *online = text_in(board, cpus, "online");
    board->present = present ? qs_vboard_cpus(present) : 1;
    board->online = online ? qs_vboard_cpus(online) : board->present;
    int16_t whole = -1;
    for (int16_t cpu = 0; cpu < 32; cpu++) {
        char folder[QS_VBOARD_PATH_BYTES];
        snprintf(folder, sizeof folder, CPU_FOLDER "%d/cpufreq", cpu);
        bool has = qs_vboard_node_in(board, folder, "scaling_governor") >= 0;
        whole = has && whole < 0 ? cpu : whole;
        if ((board->present & ~board->online & 1u << cpu) && !has && whole >= 0 &&
            !copy_files(board, whole, cpu)) {
            return false;
        }
    }
    return true;
}

static int by_value(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a;
    int64_t y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static void read_steps(struct qs_vboard_clock *clock, const char *text)
{
    for (const char *p = text; clock->count < QS_VBOARD_STEPS_MAX;) {
        char *end;
        long long value = strtoll(p, &end, 10);
        if (end == p) {
            break;
        }
        clock->steps[clock->count++] = value;
        p = end;
    }
    qsort(clock->steps, clock->count, sizeof clock->steps[0], by_value);
}

static void read_times(struct qs_vboard_clock *clock, const char *text)
{
    for (const char *p = text; p && *p;) {
        char *end;
        long long step = strtoll(p, &end, 10);
        long long ticks = strtoll(end, &end, 10);
        for (size_t i = 0; i < clock->count; i++) {
            clock->in_step_us[i] += clock->steps[i] == step ? ticks * 10000 : 0;
        }
        p = end + strspn(end, "\n");
        if (end == p) {
            break;
        }
    }
}

/* The word in brackets, or all of it. */
static void read_governor(struct qs_vboard_clock *clock, const char *text)
{
    const char *open = text ? strchr(text, '[') : NULL;
    const char *word = open ? open + 1 : text ? text : "";
    snprintf(clock->governor, sizeof clock->governor, "%.*s", (int)strcspn(word, "] \n"), word);
}

static void name_clock(struct qs_vboard_clock *clock)
{
    const char *rest = NULL;
    int16_t cpu = -1;
    char path[QS_VBOARD_PATH_BYTES];
    snprintf(path, sizeof path, "%s/", clock->folder);
    cpu = cpu_of(path, &rest);
    if (cpu >= 0) {
        snprintf(clock->name, sizeof clock->name, "cpu%d", cpu);
    } else {
        snprintf(clock->name, sizeof clock->name, "%.40s", strrchr(clock->folder, '/') + 1);
    }
}

/* Its present step, and the load that a governor which follows it would take it for. */
static void read_present(const struct qs_vboard *board, struct qs_vboard_clock *clock)
{
    static const char *const present[] = {"scaling_cur_freq", "cur_freq", "gpuclk"};
    int64_t cur = clock->steps[0];
    for (size_t i = 0; i < sizeof present / sizeof present[0]; i++) {
        cur = number_in(board, clock->folder, present[i], cur);
    }
    while (clock->at + 1 < clock->count && clock->steps[clock->at] < cur) {
        clock->at++;
    }
    clock->rest_ppm = (uint32_t)(clock->steps[clock->at] * 1000000 / clock->steps[clock->count - 1]);
    clock->load_ppm = clock->rest_ppm;
}

static void read_limits(const struct qs_vboard *board, struct qs_vboard_clock *clock)
{
    const char *f = clock->folder;
    int64_t first = clock->steps[0];
    int64_t last = clock->steps[clock->count - 1];
    clock->min = number_in(board, f, "scaling_min_freq", number_in(board, f, "min_freq", first));
    clock->max = number_in(board, f, "scaling_max_freq", number_in(board, f, "max_freq", last));
    clock->hint = number_in(board, f, "hint_min_freq", 0);
    if (clock->kind == QS_VCLOCK_KGSL) {
        size_t slowest = (size_t)number_in(board, f, "min_pwrlevel", 0);
        size_t fastest = (size_t)number_in(board, f, "max_pwrlevel", 0);
        clock->min = slowest < clock->count ? clock->steps[clock->count - 1 - slowest] : first;
        clock->max = fastest < clock->count ? clock->steps[clock->count - 1 - fastest] : last;
    }
}

static bool add_clock(struct qs_vboard *board, uint8_t kind, const struct qs_vboard_node *table)
{
    if (board->clock_count == QS_VBOARD_CLOCKS_MAX) {
        return false;
    }
    struct qs_vboard_clock *clock = &board->clocks[board->clock_count];
    size_t n = (size_t)(strrchr(table->path, '/') - table->path);
    *clock = (struct qs_vboard_clock){.kind = kind, .set = -1};
    clock->folder = qs_vboard_keep(board, table->path, n, 0);
    read_steps(clock, table->text);
    if (!clock->folder || clock->count == 0) {
        return clock->folder != NULL;
    }
    const char *cpus = text_in(board, clock->folder, "related_cpus");
    const char *governor = text_in(board, clock->folder, "scaling_governor");
    governor = governor ? governor : text_in(board, clock->folder, "governor");
    read_governor(clock, governor ? governor : text_in(board, clock->folder, "pwrscale/policy"));
    name_clock(clock);
    read_limits(board, clock);
    read_present(board, clock);
    clock->cpus = cpus ? qs_vboard_cpus(cpus) : 0;
    clock->per_khz = clock->steps[clock->count - 1] >= 20000000 ? 1000 : 1;
    clock->is_gpu = strstr(clock->folder, "gpu") || strstr(clock->folder, "mali") || kind == QS_VCLOCK_KGSL;
    clock->changes = number_in(board, clock->folder, "stats/total_trans", 0);
    read_times(clock, text_in(board, clock->folder, "stats/time_in_state"));
    board->clock_count++;
    return true;
}

/* devfreq shows this file only while its governor is userspace. */
static bool add_set_freq(struct qs_vboard *board, const struct qs_vboard_clock *clock)
{
    const char *governors = text_in(board, clock->folder, "available_governors");
    char path[QS_VBOARD_PATH_BYTES];
    int n = snprintf(path, sizeof path, "%s/userspace/set_freq", clock->folder);
    if (clock->kind != QS_VCLOCK_DEVFREQ || !governors || !qs_vboard_word(governors, "userspace")) {
        return true;
    }
    struct qs_vboard_node *node =
        n < 0 || (size_t)n >= sizeof path
            ? NULL
            : qs_vboard_add(board, qs_vboard_keep(board, path, (size_t)n, 0),
                            qs_vboard_keep(board, "undefined", 9, QS_VBOARD_VALUE_BYTES),
                            QS_VBOARD_VALUE_BYTES);
    if (node) {
        node->mode = 0644;
    }
    return node != NULL;
}

/* A folder of a governor's own knobs goes and comes with it. */
static bool bind_governor(struct qs_vboard *board, struct qs_vboard_node *node,
                          const struct qs_vboard_clock *clock)
{
    char name[32];
    const char *file = node->path + strlen(clock->folder) + 1;
    const char *governors = text_in(board, clock->folder, "scaling_available_governors");
    governors = governors ? governors : text_in(board, clock->folder, "available_governors");
    snprintf(name, sizeof name, "%.*s", (int)strcspn(file, "/"), file);
    if (governors && strchr(file, '/') && qs_vboard_word(governors, name)) {
        node->governor = qs_vboard_keep(board, name, strlen(name), 0);
        return node->governor != NULL;
    }
    return true;
}

static bool bind_clock(struct qs_vboard *board, int16_t index)
{
    const struct qs_vboard_clock *clock = &board->clocks[index];
    for (size_t i = 0; i < board->node_count; i++) {
        struct qs_vboard_node *node = &board->nodes[i];
        if (!qs_vboard_below(node->path, clock->folder)) {
            continue;
        }
        node->clock = index;
        const char *file = node->path + strlen(clock->folder) + 1;
        for (size_t k = 0; k < sizeof clock_files / sizeof clock_files[0]; k++) {
            if (clock_files[k].kind == clock->kind && strcmp(clock_files[k].file, file) == 0) {
                node->role = clock_files[k].role;
                node->index = index;
            }
        }
        if (!bind_governor(board, node, clock)) {
            return false;
        }
    }
    return true;
}

static bool find_clocks(struct qs_vboard *board)
{
    size_t count = board->node_count;
    for (size_t i = 0; i < count; i++) {
        const struct qs_vboard_node *node = &board->nodes[i];
        const char *file = strrchr(node->path, '/');
        for (size_t k = 0; file && k < sizeof anchors / sizeof anchors[0]; k++) {
            if (strcmp(file + 1, anchors[k].file) == 0 && strstr(node->path, anchors[k].within)) {
                if (!add_clock(board, anchors[k].kind, node)) {
                    return false;
                }
                break;
            }
        }
    }
    for (size_t i = 0; i < board->clock_count; i++) {
        if (!add_set_freq(board, &board->clocks[i]) || !bind_clock(board, (int16_t)i)) {
            return false;
        }
    }
    return true;
}

static void bind_cpus(struct qs_vboard *board)
{
    for (size_t i = 0; i < board->node_count; i++) {
        struct qs_vboard_node *node = &board->nodes[i];
        const char *rest = NULL;
        int16_t cpu = cpu_of(node->path, &rest);
        if (cpu >= 0 && strcmp(rest, "online") == 0) {
            node->role = QS_VROLE_CPU_ONLINE;
            node->index = cpu;
        } else if (cpu >= 0 && (qs_vboard_below(rest, "cpufreq") || qs_vboard_below(rest, "topology"))) {
            node->cpu = cpu;
        } else if (strcmp(node->path, "sys/devices/system/cpu/online") == 0) {
            node->role = QS_VROLE_ONLINE;
        } else if (strcmp(node->path, "sys/devices/system/cpu/offline") == 0) {
            node->role = QS_VROLE_OFFLINE;
        } else if (strstr(node->path, "/get_throttled")) {
            node->role = QS_VROLE_FIRMWARE;
            board->firmware = true;
        }
    }
}

bool qs_vboard_find_roles(struct qs_vboard *board)
{
    if (!find_cpus(board) || !find_clocks(board)) {
        return false;
    }
    bind_cpus(board);
    return true;
}
