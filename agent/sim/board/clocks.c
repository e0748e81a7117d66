/* Clocks: which step a governor takes within the limits, what their files take and show. */
#include "sim/board/parts.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* The fastest step that is not above a frequency; the first where all are. */
static size_t at_most(const struct qs_vboard_clock *clock, int64_t frequency)
{
    size_t at = 0;
    while (at + 1 < clock->count && clock->steps[at + 1] <= frequency) {
        at++;
    }
    return at;
}

/* The slowest step that is not below it; the last where all are. */
static size_t at_least(const struct qs_vboard_clock *clock, int64_t frequency)
{
    size_t at = 0;
    while (at + 1 < clock->count && clock->steps[at] < frequency) {
        at++;
    }
    return at;
}

static int64_t within(int64_t value, int64_t low, int64_t high)
{
    return value < low ? low : value > high ? high : value;
}

static int64_t bottom(const struct qs_vboard_clock *clock)
{
    return clock->steps[0];
}

static int64_t top(const struct qs_vboard_clock *clock)
{
    return clock->steps[clock->count - 1];
}

/* People's limit, or the one that cooling sets where that is lower. */
static int64_t limit(const struct qs_vboard_clock *clock)
{
    uint32_t down = clock->throttled > clock->held_down ? clock->throttled : clock->held_down;
    int64_t cooled = clock->steps[down < clock->count ? clock->count - 1 - down : 0];
    return cooled < clock->max ? cooled : clock->max;
}

static bool governed(const struct qs_vboard_clock *clock, const char *governor)
{
    return strcmp(clock->governor, governor) == 0;
}

uint32_t qs_vboard_busy_ppm(const struct qs_vboard_clock *clock)
{
    return clock->work_ppm > clock->load_ppm ? clock->work_ppm : clock->load_ppm;
}

static void settle(struct qs_vboard_clock *clock)
{
    int64_t low = clock->min > clock->hint ? clock->min : clock->hint;
    size_t ceiling = at_most(clock, limit(clock));
    size_t floor = at_least(clock, low);
    size_t at = at_least(clock, top(clock) * qs_vboard_busy_ppm(clock) / 1000000);
    if (governed(clock, "performance")) {
        at = ceiling;
    } else if (governed(clock, "powersave")) {
        at = floor;
    } else if (governed(clock, "userspace") || governed(clock, "none")) {
        at = clock->set < 0 ? clock->at : at_least(clock, clock->set);
    }
    at = at < floor ? floor : at;
    at = at > ceiling ? ceiling : at;
    clock->changes += at != clock->at;
    clock->at = at;
}

void qs_vboard_settle(struct qs_vboard *board)
{
    for (size_t i = 0; i < board->clock_count; i++) {
        settle(&board->clocks[i]);
    }
}

size_t qs_vboard_runs_at(const struct qs_vboard_clock *clock)
{
    size_t most = clock->hush < clock->count ? clock->count - 1 - clock->hush : 0;
    return clock->at < most ? clock->at : most;
}

int64_t qs_vboard_clock_khz(const struct qs_vboard *board, const struct qs_vboard_clock *clock)
{
    if (clock->cpus && !(clock->cpus & board->online)) {
        return 0;
    }
    return clock->steps[qs_vboard_runs_at(clock)] / clock->per_khz;
}

void qs_vboard_work(struct qs_vboard *board, size_t clock, uint32_t load_ppm)
{
    bool falls = load_ppm < board->clocks[clock].work_ppm;
    board->clocks[clock].work_ppm = load_ppm;
    if (!falls) { /* a governor sees less load with its next sample */
        settle(&board->clocks[clock]);
    }
}

int64_t qs_vboard_khz(const struct qs_vboard *board, size_t clock)
{
    return qs_vboard_clock_khz(board, &board->clocks[clock]);
}

/* As the kernel judges: against the other limit as it was asked for, before the hardware's bounds. */
static int write_min(struct qs_vboard_clock *clock, int64_t value)
{
    if (value > clock->max) {
        return -EINVAL;
    }
    clock->min = within(value, bottom(clock), top(clock));
    return 0;
}

static int write_max(struct qs_vboard_clock *clock, int64_t value)
{
    if (clock->kind == QS_VCLOCK_KGSL) { /* a level, never below the slowest that is allowed */
        value = clock->steps[at_most(clock, value)];
        clock->max = value < clock->min ? clock->min : value;
        return 0;
    }
    if (value < clock->min) {
        return -EINVAL;
    }
    clock->max = within(value, bottom(clock), top(clock));
    if (clock->steps[at_most(clock, clock->max)] < clock->min) { /* no step between the two */
        clock->max = clock->steps[at_least(clock, clock->max)];
    }
    return 0;
}

static int write_level(struct qs_vboard_clock *clock, int64_t level, bool slowest)
{
    if (level >= (int64_t)clock->count) {
        return -EINVAL;
    }
    int64_t value = clock->steps[clock->count - 1 - (size_t)level];
    if (slowest) {
        clock->min = value > clock->max ? clock->max : value;
    } else {
        clock->max = value < clock->min ? clock->min : value;
    }
    return 0;
}

static int write_governor(struct qs_vboard *board, struct qs_vboard_clock *clock,
                          const struct qs_vboard_node *node, const char *text)
{
    int16_t list = qs_vboard_node_in(board, clock->folder, "scaling_available_governors");
    list = list >= 0 ? list : qs_vboard_node_in(board, clock->folder, "available_governors");
    const char *known = list >= 0 ? board->nodes[list].text : node->text;
    if (strlen(text) >= sizeof clock->governor || strpbrk(text, " []") || !qs_vboard_word(known, text)) {
        return -EINVAL;
    }
    if (!governed(clock, text)) {
        clock->set = -1;
    }
    memcpy(clock->governor, text, strlen(text) + 1);
    return 0;
}

static int write_setspeed(struct qs_vboard_clock *clock, int64_t value)
{
    if (!governed(clock, "userspace")) {
        return -EINVAL;
    }
    clock->set = within(value, clock->min, clock->max);
    return 0;
}

static int write_number(struct qs_vboard_clock *clock, enum qs_vboard_role role, int64_t value)
{
    if (role == QS_VROLE_MIN) {
        return write_min(clock, value);
    }
    if (role == QS_VROLE_MAX) {
        return write_max(clock, value);
    }
    if (role == QS_VROLE_SETSPEED) {
        return write_setspeed(clock, value);
    }
    if (role == QS_VROLE_MIN_LEVEL || role == QS_VROLE_MAX_LEVEL) {
        return write_level(clock, value, role == QS_VROLE_MIN_LEVEL);
    }
    if (role == QS_VROLE_HINT) {
        clock->hint = within(value, 0, top(clock));
        return 0;
    }
    if (role == QS_VROLE_GPUCLK) {
        clock->set = within(value, clock->min, clock->max);
        return 0;
    }
    return -EIO; /* shown, never written */
}

int qs_vboard_write_clock(struct qs_vboard *board, const struct qs_vboard_node *node, const char *text)
{
    struct qs_vboard_clock *clock = &board->clocks[node->index];
    int64_t value;
    int error = -EINVAL;
    if (node->role == QS_VROLE_GOVERNOR) {
        error = write_governor(board, clock, node, text);
    } else if (qs_vboard_number(text, &value) && value >= 0) {
        error = write_number(clock, (enum qs_vboard_role)node->role, value);
    }
    settle(clock);
    return error;
}

static size_t put(char *text, size_t cap, size_t used, const char *form, ...)
    __attribute__((format(printf, 4, 5)));

static size_t put(char *text, size_t cap, size_t used, const char *form, ...)
{
    va_list args;
    va_start(args, form);
    int n = vsnprintf(text + used, cap - used, form, args);
    va_end(args);
    return n < 0 || (size_t)n >= cap - used ? cap - 1 : used + (size_t)n;
}

static size_t show_times(const struct qs_vboard_clock *clock, char *text, size_t cap)
{
    size_t used = 0;
    for (size_t i = 0; i < clock->count; i++) {
        used = put(text, cap, used, "%s%" PRId64 " %" PRId64, i ? "\n" : "", clock->steps[i],
                   clock->in_step_us[i] / 10000);
    }
    return used;
}

static size_t show_cpus(uint32_t cpus, char *text, size_t cap)
{
    size_t used = 0;
    text[0] = '\0';
    for (int cpu = 0; cpu < 32; cpu++) {
        if (cpus & 1u << cpu) {
            used = put(text, cap, used, "%s%d", used ? " " : "", cpu);
        }
    }
    return used;
}

/* The list of the tree, with the present one in brackets; or its name alone. */
static size_t show_governor(const struct qs_vboard_clock *clock, const char *list, char *text, size_t cap)
{
    size_t used = 0;
    if (!strchr(list, '[')) {
        return put(text, cap, 0, "%s", clock->governor);
    }
    for (const char *p = list + strspn(list, " []"); *p; p += strspn(p, " []")) {
        size_t n = strcspn(p, " []");
        bool is = strlen(clock->governor) == n && memcmp(p, clock->governor, n) == 0;
        used = put(text, cap, used, is ? "%s[%.*s]" : "%s%.*s", used ? " " : "", (int)n, p);
        p += n;
    }
    return used;
}

static size_t level_of(const struct qs_vboard_clock *clock, int64_t frequency)
{
    return clock->count - 1 - at_most(clock, frequency);
}

bool qs_vboard_is_clock(enum qs_vboard_role role)
{
    return role >= QS_VROLE_GOVERNOR && role <= QS_VROLE_AFFECTED;
}

static int64_t number_of(const struct qs_vboard_clock *clock, enum qs_vboard_role role)
{
    switch ((int)role) {
    case QS_VROLE_MIN:
        return clock->min;
    case QS_VROLE_MAX:
        return limit(clock);
    case QS_VROLE_HINT:
        return clock->hint;
    case QS_VROLE_MIN_LEVEL:
        return (int64_t)level_of(clock, clock->min);
    case QS_VROLE_MAX_LEVEL:
        return (int64_t)level_of(clock, limit(clock));
    case QS_VROLE_ACTUAL:
        return clock->steps[qs_vboard_runs_at(clock)];
    case QS_VROLE_CHANGES:
        return clock->changes;
    default:
        return clock->steps[clock->at];
    }
}

size_t qs_vboard_show_clock(const struct qs_vboard *board, const struct qs_vboard_node *node, char *text,
                            size_t cap)
{
    const struct qs_vboard_clock *clock = &board->clocks[node->index];
    if (node->role == QS_VROLE_TIMES) {
        return show_times(clock, text, cap);
    }
    if (node->role == QS_VROLE_AFFECTED) {
        return show_cpus(clock->cpus & board->online, text, cap);
    }
    if (node->role == QS_VROLE_GOVERNOR) {
        return show_governor(clock, node->text, text, cap);
    }
    if (node->role == QS_VROLE_SETSPEED && !governed(clock, "userspace")) {
        return put(text, cap, 0, "<unsupported>");
    }
    if (node->role == QS_VROLE_SETSPEED && clock->kind == QS_VCLOCK_DEVFREQ && clock->set < 0) {
        return put(text, cap, 0, "undefined");
    }
    return put(text, cap, 0, "%" PRId64, number_of(clock, (enum qs_vboard_role)node->role));
}
