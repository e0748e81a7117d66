/* Files as a front sees them: rights, faults, values, and the log of what was written. */
#include "sim/board/parts.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static size_t show_cpu_list(uint32_t cpus, char *text, size_t cap)
{
    size_t used = 0;
    text[0] = '\0';
    for (int cpu = 0; cpu < 32; cpu++) {
        int last = cpu;
        if (!(cpus & 1u << cpu)) {
            continue;
        }
        while (last < 31 && cpus & 1u << (last + 1)) {
            last++;
        }
        int n =
            snprintf(text + used, cap - used, last > cpu ? "%s%d-%d" : "%s%d", used ? "," : "", cpu, last);
        used = n < 0 || (size_t)n >= cap - used ? cap - 1 : used + (size_t)n;
        cpu = last;
    }
    return used;
}

/* Downward, as an integer division of the kernel's would be for what is above zero. */
static int64_t temp_of(const struct qs_vboard_zone *zone, int64_t unit_mc)
{
    int64_t unit_nc = unit_mc * 1000000;
    return zone->heat_nc >= 0 ? zone->heat_nc / unit_nc : -((-zone->heat_nc + unit_nc - 1) / unit_nc);
}

void qs_vboard_show(const struct qs_vboard *board, const struct qs_vboard_node *node, char *text, size_t cap)
{
    enum qs_vboard_role role = (enum qs_vboard_role)node->role;
    if (qs_vboard_is_clock(role)) {
        qs_vboard_show_clock(board, node, text, cap);
    } else if (role == QS_VROLE_CPU_ONLINE) {
        snprintf(text, cap, "%d", board->online & 1u << node->index ? 1 : 0);
    } else if (role == QS_VROLE_ONLINE || role == QS_VROLE_OFFLINE) {
        show_cpu_list(role == QS_VROLE_ONLINE ? board->online : board->present & ~board->online, text, cap);
    } else if (role == QS_VROLE_TEMP || role == QS_VROLE_TEMP_MC) {
        const struct qs_vboard_zone *zone = &board->zones[node->index];
        snprintf(text, cap, "%" PRId64, temp_of(zone, role == QS_VROLE_TEMP ? zone->unit_mc : 1));
    } else if (role == QS_VROLE_COOLER) {
        snprintf(text, cap, "%u", qs_vboard_cooler_state(board, node->index));
    } else if (role == QS_VROLE_FIRMWARE) {
        snprintf(text, cap, "%x", board->reported);
    } else {
        snprintf(text, cap, "%s", node->text);
    }
}

static int keep_text(struct qs_vboard_node *node, const char *text)
{
    if (strlen(text) >= node->text_bytes) {
        return -EINVAL;
    }
    memcpy(node->text, text, strlen(text) + 1);
    return 0;
}

/* One of the words, which gets the brackets. */
static int choose(struct qs_vboard_node *node, const char *word)
{
    char text[QS_VBOARD_VALUE_BYTES];
    size_t used = 0;
    if (strpbrk(word, " []") || !qs_vboard_word(node->text, word)) {
        return -EINVAL;
    }
    for (const char *p = node->text + strspn(node->text, " []"); *p; p += strspn(p, " []")) {
        size_t n = strcspn(p, " []");
        bool is = strlen(word) == n && memcmp(p, word, n) == 0;
        int m =
            snprintf(text + used, sizeof text - used, is ? "%s[%.*s]" : "%s%.*s", used ? " " : "", (int)n, p);
        if (m < 0 || (size_t)m >= sizeof text - used) {
            return -EINVAL;
        }
        used += (size_t)m;
        p += n;
    }
    return keep_text(node, text);
}

/* A file that holds a number takes numbers, one that offers words takes these, Y and N each other, and others
 * anything. */
static int write_plain(struct qs_vboard_node *node, const char *text)
{
    int64_t number;
    bool switches = strcmp(node->text, "Y") == 0 || strcmp(node->text, "N") == 0;
    if (strchr(node->text, '[')) {
        return choose(node, text);
    }
    if (qs_vboard_number(node->text, &number) && !qs_vboard_number(text, &number)) {
        return -EINVAL;
    }
    if (switches) {
        bool on = qs_vboard_word("Y y 1", text);
        return on || qs_vboard_word("N n 0", text) ? keep_text(node, on ? "Y" : "N") : -EINVAL;
    }
    return keep_text(node, text);
}

static int write_online(struct qs_vboard *board, int16_t cpu, const char *text)
{
    if (strcmp(text, "0") != 0 && strcmp(text, "1") != 0) {
        return -EINVAL;
    }
    board->unplugged &= ~(1u << cpu);
    if (text[0] == '1') {
        board->online |= 1u << cpu;
    } else {
        board->online &= ~(1u << cpu);
    }
    return 0;
}

static int write_node(struct qs_vboard *board, struct qs_vboard_node *node, const char *text)
{
    static const char *const policies = "step_wise power_allocator user_space fair_share bang_bang";
    enum qs_vboard_role role = (enum qs_vboard_role)node->role;
    int64_t number;
    if (qs_vboard_is_clock(role)) {
        return qs_vboard_write_clock(board, node, text);
    }
    if (role == QS_VROLE_CPU_ONLINE) {
        return write_online(board, node->index, text);
    }
    if (role == QS_VROLE_COOLER) {
        return qs_vboard_number(text, &number) ? qs_vboard_write_cooler(board, node->index, number) : -EINVAL;
    }
    if (role == QS_VROLE_MODE || role == QS_VROLE_POLICY) {
        return qs_vboard_word(role == QS_VROLE_MODE ? "enabled disabled" : policies, text)
                   ? keep_text(node, text)
                   : -EINVAL;
    }
    return role == QS_VROLE_PLAIN ? write_plain(node, text) : -EIO;
}

int qs_vboard_apply(struct qs_vboard *board, int16_t index, const char *text, char *readback)
{
    struct qs_vboard_node *node = &board->nodes[index];
    struct qs_vboard_clock clocks[QS_VBOARD_CLOCKS_MAX];
    struct qs_vboard_cooler coolers[QS_VBOARD_COOLERS_MAX];
    char old[QS_VBOARD_TEXT_BYTES];
    uint32_t online = board->online;
    uint32_t unplugged = board->unplugged;
    if (!readback) {
        return write_node(board, node, text);
    }
    memcpy(clocks, board->clocks, sizeof clocks);
    memcpy(coolers, board->coolers, sizeof coolers);
    snprintf(old, sizeof old, "%s", node->text);
    int error = write_node(board, node, text);
    qs_vboard_show(board, node, readback, QS_VBOARD_VALUE_BYTES);
    memcpy(board->clocks, clocks, sizeof clocks);
    memcpy(board->coolers, coolers, sizeof coolers);
    memcpy(node->text, old, strlen(old) + 1);
    board->online = online;
    board->unplugged = unplugged;
    return error;
}

static int16_t find(const struct qs_vboard *board, const char *path)
{
    char real[QS_VBOARD_PATH_BYTES];
    int16_t node = qs_vboard_resolve(board, path, real, sizeof real) ? qs_vboard_node(board, real) : -1;
    return node >= 0 && board->nodes[node].is_link ? -1 : node;
}

static int may(const struct qs_vboard_node *node, uint32_t uid, unsigned access)
{
    unsigned any = node->mode >> 6 | node->mode >> 3 | node->mode;
    unsigned theirs = uid == 0           ? any
                      : uid == node->uid ? node->mode >> 6u
                      : uid == node->gid ? node->mode >> 3u
                                         : node->mode;
    return (theirs & access) == access ? 0 : -EACCES;
}

int qs_vboard_may(const struct qs_vboard *board, const char *path, uint32_t uid, unsigned access)
{
    int16_t node = find(board, path);
    return node < 0 || qs_vboard_gone(board, &board->nodes[node]) ? -ENOENT
                                                                  : may(&board->nodes[node], uid, access);
}

static int lie(struct qs_vboard *board, const char *path, char *text)
{
    struct qs_vboard_fault *fault = qs_vboard_fault(board, path, QS_VFAULT_LIE_FAIL);
    if (fault) {
        return -(int)fault->n;
    }
    fault = qs_vboard_fault(board, path, QS_VFAULT_INERT);
    if (fault && fault->text[0]) {
        snprintf(text, QS_VBOARD_TEXT_BYTES, "%s", fault->text);
    }
    fault = qs_vboard_fault(board, path, QS_VFAULT_LIE_JUMP);
    if (fault) {
        int64_t value = strtoll(text, NULL, 10) + (fault->odd ? fault->n : 0);
        fault->odd = !fault->odd;
        snprintf(text, QS_VBOARD_TEXT_BYTES, "%" PRId64, value);
    }
    fault = qs_vboard_fault(board, path, QS_VFAULT_STUCK);
    fault = fault ? fault : qs_vboard_fault(board, path, QS_VFAULT_LIE);
    if (fault) {
        snprintf(text, QS_VBOARD_TEXT_BYTES, "%s", fault->text);
    }
    return 0;
}

int qs_vboard_read(struct qs_vboard *board, const char *path, uint32_t uid, char *text, size_t cap)
{
    char value[QS_VBOARD_TEXT_BYTES];
    int16_t index = find(board, path);
    if (index < 0 || qs_vboard_gone(board, &board->nodes[index])) {
        return index < 0 ? -ENOENT : -ENODEV;
    }
    const struct qs_vboard_node *node = &board->nodes[index];
    int error = may(node, uid, QS_VBOARD_READ);
    if (error) {
        return error;
    }
    qs_vboard_show(board, node, value, sizeof value);
    error = lie(board, node->path, value);
    if (error) {
        return error;
    }
    size_t n = strlen(value);
    int used = snprintf(text, cap, n > 0 && value[n - 1] == '\n' ? "%s" : "%s\n", value);
    return used < 0 || (size_t)used >= cap ? -EIO : used;
}

static void enter(struct qs_vboard *board, int16_t node, const char *text, int error)
{
    struct qs_vboard_entry *entry = &board->log[board->logged++ % QS_VBOARD_LOG_MAX];
    *entry = (struct qs_vboard_entry){.at_us = board->now_us, .node = node, .error = -error};
    snprintf(entry->text, sizeof entry->text, "%.40s", text);
}

static int put_off(struct qs_vboard *board, int16_t node, const char *text, int64_t ms)
{
    char readback[QS_VBOARD_VALUE_BYTES];
    int error = qs_vboard_apply(board, node, text, readback);
    if (error || board->delayed_count == QS_VBOARD_DELAYED_MAX) {
        return error ? error : -EBUSY;
    }
    struct qs_vboard_delayed *delayed = &board->delayed[board->delayed_count++];
    *delayed = (struct qs_vboard_delayed){.node = node, .due_us = board->now_us + ms * 1000};
    snprintf(delayed->text, sizeof delayed->text, "%s", text);
    return 0;
}

static int take(struct qs_vboard *board, int16_t index, const char *text)
{
    const char *path = board->nodes[index].path;
    struct qs_vboard_fault *fault = qs_vboard_fault(board, path, QS_VFAULT_REFUSE);
    if (fault) {
        return -(int)fault->n;
    }
    if (qs_vboard_fault(board, path, QS_VFAULT_IGNORE)) {
        return 0;
    }
    fault = qs_vboard_fault(board, path, QS_VFAULT_INERT);
    if (fault) {
        char readback[QS_VBOARD_VALUE_BYTES];
        int error = qs_vboard_apply(board, index, text, readback);
        if (!error) {
            memcpy(fault->text, readback, sizeof fault->text);
        }
        return error;
    }
    fault = qs_vboard_fault(board, path, QS_VFAULT_DELAY);
    return fault ? put_off(board, index, text, fault->n) : qs_vboard_apply(board, index, text, NULL);
}

int qs_vboard_write(struct qs_vboard *board, const char *path, uint32_t uid, const char *text, size_t n)
{
    char value[QS_VBOARD_VALUE_BYTES];
    int16_t index = find(board, path);
    if (index < 0 || qs_vboard_gone(board, &board->nodes[index])) {
        return index < 0 ? -ENOENT : -ENODEV;
    }
    int error = may(&board->nodes[index], uid, QS_VBOARD_WRITE);
    if (error) {
        return error;
    }
    bool whole = n < sizeof value && !memchr(text, '\0', n);
    snprintf(value, sizeof value, "%.*s", whole ? (int)n : 0, text);
    value[strcspn(value, "\n")] = '\0';
    error = whole ? take(board, index, value) : -EINVAL;
    enter(board, index, value, error);
    return error;
}

static void step(struct qs_vboard *board)
{
    board->now_us += QS_VBOARD_STEP_US;
    for (size_t i = 0; i < board->clock_count; i++) {
        board->clocks[i].in_step_us[board->clocks[i].at] += QS_VBOARD_STEP_US;
    }
    for (size_t i = 0; i < board->delayed_count;) {
        struct qs_vboard_delayed *delayed = &board->delayed[i];
        if (delayed->due_us > board->now_us) {
            i++;
            continue;
        }
        (void)qs_vboard_apply(board, delayed->node, delayed->text, NULL);
        board->delayed_count--;
        memmove(delayed, delayed + 1, (board->delayed_count - i) * sizeof *delayed);
    }
    qs_vboard_faults_step(board);
    qs_vboard_heat_step(board);
    qs_vboard_settle(board);
}

void qs_vboard_on_time(struct qs_vboard *board, int64_t now_us)
{
    while (now_us - board->now_us >= QS_VBOARD_STEP_US) {
        step(board);
    }
}

static size_t show_log(const struct qs_vboard *board, char *text, size_t cap)
{
    size_t used = 0;
    size_t first = board->logged > QS_VBOARD_LOG_MAX ? board->logged - QS_VBOARD_LOG_MAX : 0;
    text[0] = '\0';
    for (size_t i = first; i < board->logged && used < cap; i++) {
        const struct qs_vboard_entry *entry = &board->log[i % QS_VBOARD_LOG_MAX];
        int n = snprintf(text + used, cap - used, "%" PRId64 " %s %s %s\n", entry->at_us / 1000,
                         strchr(board->nodes[entry->node].path, '/') + 1, entry->text,
                         qs_vboard_errno_name(entry->error));
        used += n > 0 ? (size_t)n : 0;
    }
    return used < cap ? used : cap - 1;
}

size_t qs_vboard_report(const struct qs_vboard *board, enum qs_vboard_report report, char *text, size_t cap)
{
    size_t used = 0;
    size_t rows = report == QS_VBOARD_KHZ ? board->clock_count : board->zone_count;
    if (report == QS_VBOARD_LOG) {
        return show_log(board, text, cap);
    }
    if (report == QS_VBOARD_FAULTS) {
        return qs_vboard_show_faults(board, text, cap);
    }
    text[0] = '\0';
    for (size_t i = 0; i < rows && used < cap; i++) {
        bool khz = report == QS_VBOARD_KHZ;
        int n = snprintf(text + used, cap - used, "%s %" PRId64 "\n",
                         khz ? board->clocks[i].name : board->zones[i].type,
                         khz ? qs_vboard_clock_khz(board, &board->clocks[i]) : temp_of(&board->zones[i], 1));
        used += n > 0 ? (size_t)n : 0;
    }
    return used < cap ? used : cap - 1;
}
