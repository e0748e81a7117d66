/* Heat: each temperature goes towards what the clocks and the surroundings give it, first order, and its trip
 * points act on the clocks, the fan and the CPUs. What the tree shows is at rest: the heat of its own
 * frequencies is part of where it begins. */
#include "sim/board/parts.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { AMBIENT_AT_REST_MC = 25000, POLL_US = 100000, NC_PER_MC = 1000000, HOT_HYST_MC = 5000 };

/* By what heats it: how far above rest it ends with everything at full speed and load, and its time constant.
 */
static const struct {
    int64_t rise_mc, tau_us;
} natures[] = {
    [QS_VSCOPE_NONE] = {0, 1000000},
    [QS_VSCOPE_CPU] = {55000, 15000000},
    [QS_VSCOPE_GPU] = {40000, 15000000},
    [QS_VSCOPE_SLOW] = {12000, 120000000},
};

static enum qs_vboard_scope scope_of(const char *type, int64_t start_mc)
{
    /* Zones that are no temperatures, on phones. */
    static const char *const none[] = {"soc", "battery_cycle", "batoilo", "vdroop", "ocp_"};
    static const char *const gpu[] = {"gpu", "G3D"};
    static const char *const slow[] = {"battery", "_therm", "system", "pa_", "dcxo", "pm8", "power_supply"};
    for (size_t i = 0; i < sizeof none / sizeof none[0]; i++) {
        if (strncmp(type, none[i], strlen(none[i])) == 0 && !strstr(type, "therm")) {
            return QS_VSCOPE_NONE;
        }
    }
    for (size_t i = 0; i < sizeof gpu / sizeof gpu[0]; i++) {
        if (strncmp(type, gpu[i], strlen(gpu[i])) == 0) {
            return QS_VSCOPE_GPU;
        }
    }
    for (size_t i = 0; i < sizeof slow / sizeof slow[0]; i++) {
        if (strstr(type, slow[i]) && !strstr(type, "thermal")) {
            return QS_VSCOPE_SLOW;
        }
    }
    return start_mc > 125000 ? QS_VSCOPE_NONE : QS_VSCOPE_CPU; /* so hot at rest: a sensor that is stuck */
}

static int64_t unit_of(int64_t raw)
{
    return llabs(raw) >= 1000 ? 1 : llabs(raw) >= 150 ? 100 : 1000;
}

static struct qs_vboard_zone *add_zone(struct qs_vboard *board, const char *type, int16_t temp)
{
    if (board->zone_count == QS_VBOARD_ZONES_MAX) {
        return NULL;
    }
    struct qs_vboard_zone *zone = &board->zones[board->zone_count];
    int64_t raw = strtoll(board->nodes[temp].text, NULL, 10);
    *zone = (struct qs_vboard_zone){.type = type, .mode_n = -1, .policy_n = -1, .unit_mc = unit_of(raw)};
    zone->start_mc = raw * zone->unit_mc;
    zone->scope = (uint8_t)scope_of(type, zone->start_mc);
    zone->heat_nc = zone->start_mc * NC_PER_MC;
    board->nodes[temp].role = QS_VROLE_TEMP;
    board->nodes[temp].index = (int16_t)board->zone_count++;
    return zone;
}

static enum qs_vboard_trip_kind trip_kind(const char *type)
{
    return strcmp(type, "active") == 0     ? QS_VTRIP_ACTIVE
           : strcmp(type, "passive") == 0  ? QS_VTRIP_PASSIVE
           : strcmp(type, "hot") == 0      ? QS_VTRIP_HOT
           : strcmp(type, "critical") == 0 ? QS_VTRIP_HOT /* it stays on, for the test's sake */
                                           : QS_VTRIP_NONE;
}

static void add_trip(struct qs_vboard_zone *zone, enum qs_vboard_trip_kind kind, int64_t temp_mc,
                     int64_t hyst_mc)
{
    if (zone->trip_count < QS_VBOARD_TRIPS_MAX) {
        zone->trips[zone->trip_count++] = (struct qs_vboard_trip){
            .kind = (uint8_t)kind, .limit_n = -1, .hyst_n = -1, .temp_mc = temp_mc, .hyst_mc = hyst_mc};
    }
}

static void find_trips(const struct qs_vboard *board, struct qs_vboard_zone *zone, const char *folder)
{
    for (int i = 0; i < QS_VBOARD_TRIPS_MAX; i++) {
        char type[32];
        char temp[32];
        char hyst[32];
        snprintf(type, sizeof type, "trip_point_%d_type", i);
        snprintf(temp, sizeof temp, "trip_point_%d_temp", i);
        snprintf(hyst, sizeof hyst, "trip_point_%d_hyst", i);
        int16_t type_n = qs_vboard_node_in(board, folder, type);
        int16_t temp_n = qs_vboard_node_in(board, folder, temp);
        if (type_n >= 0 && temp_n >= 0) {
            add_trip(zone, trip_kind(board->nodes[type_n].text), 0, 0);
            zone->trips[zone->trip_count - 1].limit_n = temp_n;
            zone->trips[zone->trip_count - 1].hyst_n = qs_vboard_node_in(board, folder, hyst);
        }
    }
}

static void find_zone(struct qs_vboard *board, int16_t temp)
{
    char folder[QS_VBOARD_PATH_BYTES];
    char hwmon[QS_VBOARD_PATH_BYTES + 8];
    const char *path = board->nodes[temp].path;
    snprintf(folder, sizeof folder, "%.*s", (int)(strrchr(path, '/') - path), path);
    int16_t type = qs_vboard_node_in(board, folder, "type");
    struct qs_vboard_zone *zone = type < 0 ? NULL : add_zone(board, board->nodes[type].text, temp);
    if (!zone) {
        return;
    }
    find_trips(board, zone, folder);
    zone->mode_n = qs_vboard_node_in(board, folder, "mode");
    zone->policy_n = qs_vboard_node_in(board, folder, "policy");
    if (zone->mode_n >= 0) {
        board->nodes[zone->mode_n].role = QS_VROLE_MODE;
    }
    if (zone->policy_n >= 0) {
        board->nodes[zone->policy_n].role = QS_VROLE_POLICY;
    }
    snprintf(hwmon, sizeof hwmon, "%s/hwmon", folder);
    for (size_t i = 0; i < board->node_count; i++) {
        struct qs_vboard_node *node = &board->nodes[i];
        if (strncmp(node->path, hwmon, strlen(hwmon)) == 0 && strstr(node->path, "/temp1_input")) {
            node->role = QS_VROLE_TEMP_MC;
            node->index = (int16_t)(board->zone_count - 1);
        }
    }
}

static int16_t clock_by(const struct qs_vboard *board, const char *type)
{
    int number = (int)strtol(type + strcspn(type, "0123456789"), NULL, 10);
    int cpufreq = 0;
    for (size_t i = 0; i < board->clock_count; i++) {
        const struct qs_vboard_clock *clock = &board->clocks[i];
        bool is = false;
        if (strncmp(type, "cpufreq-cpu", 11) == 0) {
            is = number < 32 && (clock->cpus & 1u << number);
        } else if (strncmp(type, "thermal-cpufreq-", 16) == 0) {
            is = clock->kind == QS_VCLOCK_CPUFREQ && cpufreq == number;
        } else if (strncmp(type, "devfreq-", 8) == 0) {
            is = strcmp(type + 8, clock->name) == 0;
        } else {
            is = clock->is_gpu &&
                 (strncmp(type, "thermal-gpufreq-", 16) == 0 || strncmp(type, "thermal-devfreq-", 16) == 0);
        }
        if (is) {
            return (int16_t)i;
        }
        cpufreq += clock->kind == QS_VCLOCK_CPUFREQ;
    }
    return -1;
}

static void find_cooler(struct qs_vboard *board, int16_t state)
{
    char folder[QS_VBOARD_PATH_BYTES];
    const char *path = board->nodes[state].path;
    snprintf(folder, sizeof folder, "%.*s", (int)(strrchr(path, '/') - path), path);
    int16_t type = qs_vboard_node_in(board, folder, "type");
    int16_t max = qs_vboard_node_in(board, folder, "max_state");
    if (type < 0 || max < 0 || board->cooler_count == QS_VBOARD_COOLERS_MAX) {
        return;
    }
    struct qs_vboard_cooler *cooler = &board->coolers[board->cooler_count];
    *cooler = (struct qs_vboard_cooler){.clock = clock_by(board, board->nodes[type].text),
                                        .is_fan = strstr(board->nodes[type].text, "fan") != NULL,
                                        .max_state = (uint32_t)strtoul(board->nodes[max].text, NULL, 10),
                                        .state = (uint32_t)strtoul(board->nodes[state].text, NULL, 10)};
    board->fan_max = cooler->is_fan ? cooler->max_state : board->fan_max;
    board->nodes[state].role = QS_VROLE_COOLER;
    board->nodes[state].index = (int16_t)board->cooler_count++;
}

/* Limits that no file tells: they watch the first sensor of the CPUs. */
static void add_vendor_trips(struct qs_vboard *board)
{
    struct qs_vboard_zone *zone = board->zones;
    board->vendor_n = qs_vboard_node(board, "sys/module/msm_thermal/parameters/enabled");
    board->unplug_n = qs_vboard_node(board, "sys/module/msm_thermal/core_control/enabled");
    while (zone < board->zones + board->zone_count && zone->scope != QS_VSCOPE_CPU) {
        zone++;
    }
    if (zone == board->zones + board->zone_count) {
        return;
    }
    if (board->firmware) {
        add_trip(zone, QS_VTRIP_PASSIVE, 80000, 2000);
    }
    if (board->vendor_n >= 0) {
        add_trip(zone, QS_VTRIP_PASSIVE, 75000, 5000);
        add_trip(zone, QS_VTRIP_HOT, 90000, 5000);
    }
}

void qs_vboard_find_zones(struct qs_vboard *board)
{
    for (int16_t i = 0; i < (int16_t)board->node_count; i++) {
        const char *path = board->nodes[i].path;
        const char *file = strrchr(path, '/') + 1;
        const char *supply = strstr(path, "/power_supply/");
        if (strstr(path, "/thermal_zone") && strcmp(file, "temp") == 0) {
            find_zone(board, i);
        } else if (supply && strcmp(file, "temp") == 0) {
            add_zone(board, supply + 1, i);
        } else if (strstr(path, "/cooling_device") && strcmp(file, "cur_state") == 0) {
            find_cooler(board, i);
        }
    }
    add_vendor_trips(board);
}

/* Work times the square of the speed, each of full. */
static int64_t heat_of(const struct qs_vboard_clock *clock)
{
    int64_t speed_permille = clock->steps[qs_vboard_runs_at(clock)] * 1000 / clock->steps[clock->count - 1];
    return qs_vboard_busy_ppm(clock) * speed_permille * speed_permille / 1000000;
}

static int count_bits(uint32_t bits)
{
    int n = 0;
    for (; bits; bits &= bits - 1) {
        n++;
    }
    return n;
}

static void heat_now(const struct qs_vboard *board, int64_t *cpu_ppm, int64_t *gpu_ppm)
{
    int64_t sum = 0;
    *gpu_ppm = 0;
    for (size_t i = 0; i < board->clock_count; i++) {
        const struct qs_vboard_clock *clock = &board->clocks[i];
        sum += count_bits(clock->cpus & board->online) * heat_of(clock);
        *gpu_ppm = clock->is_gpu ? heat_of(clock) : *gpu_ppm;
    }
    *cpu_ppm = sum / (board->present ? count_bits(board->present) : 1);
}

void qs_vboard_heat_now(struct qs_vboard *board)
{
    heat_now(board, &board->cpu_heat_ppm, &board->gpu_heat_ppm);
}

static void warm(struct qs_vboard *board)
{
    int64_t cpu_ppm;
    int64_t gpu_ppm;
    heat_now(board, &cpu_ppm, &gpu_ppm);
    cpu_ppm -= board->cpu_heat_ppm;
    gpu_ppm -= board->gpu_heat_ppm;
    for (size_t i = 0; i < board->zone_count; i++) {
        struct qs_vboard_zone *zone = &board->zones[i];
        int64_t rise_mc = natures[zone->scope].rise_mc;
        int64_t tau_us = natures[zone->scope].tau_us;
        int64_t heat_ppm = zone->scope == QS_VSCOPE_CPU   ? cpu_ppm
                           : zone->scope == QS_VSCOPE_GPU ? gpu_ppm
                                                          : (cpu_ppm + gpu_ppm) / 2;
        if (zone->scope == QS_VSCOPE_NONE) {
            continue;
        }
        /* thousandths times millionths are billionths */
        int64_t goal_nc =
            (zone->start_mc + board->ambient_mc - AMBIENT_AT_REST_MC) * NC_PER_MC + rise_mc * heat_ppm;
        int64_t above_nc = goal_nc - board->ambient_mc * NC_PER_MC;
        if (board->fan_max && above_nc > 0) { /* at its fastest the fan takes four tenths away */
            goal_nc -= above_nc / 10 * 4 * board->fan / board->fan_max;
        }
        zone->heat_nc += (goal_nc - zone->heat_nc) * QS_VBOARD_STEP_US / (tau_us + QS_VBOARD_STEP_US / 2);
    }
}

static int64_t value_mc(const struct qs_vboard *board, const struct qs_vboard_zone *zone, int16_t node,
                        int64_t otherwise)
{
    return node < 0 ? otherwise : strtoll(board->nodes[node].text, NULL, 10) * zone->unit_mc;
}

/* False: nobody acts on this zone's trip points. */
static bool watched(const struct qs_vboard *board, const struct qs_vboard_zone *zone)
{
    if (zone->scope == QS_VSCOPE_NONE ||
        (board->vendor_n >= 0 && board->nodes[board->vendor_n].text[0] == 'N')) {
        return false;
    }
    if (zone->mode_n >= 0 && strcmp(board->nodes[zone->mode_n].text, "disabled") == 0) {
        return false;
    }
    return zone->policy_n < 0 || strcmp(board->nodes[zone->policy_n].text, "user_space") != 0;
}

/* What all zones together ask for. */
struct asked {
    bool above[QS_VTRIP_HOT + 1][2], on[QS_VTRIP_HOT + 1][2]; /* by kind; [1]: of the GPU */
    uint32_t fan;
};

static void ask_zone(const struct qs_vboard *board, struct qs_vboard_zone *zone, struct asked *asked)
{
    bool watches = watched(board, zone);
    int gpu = zone->scope == QS_VSCOPE_GPU;
    uint32_t fan = 0;
    for (size_t i = 0; i < zone->trip_count; i++) {
        struct qs_vboard_trip *trip = &zone->trips[i];
        int64_t temp_mc = value_mc(board, zone, trip->limit_n, trip->temp_mc);
        int64_t hyst_mc = value_mc(board, zone, trip->hyst_n, trip->hyst_mc);
        if (trip->kind == QS_VTRIP_HOT && hyst_mc < HOT_HYST_MC) {
            hyst_mc = HOT_HYST_MC;
        }
        trip->above = watches && zone->heat_nc >= temp_mc * NC_PER_MC;
        trip->on = watches && (trip->above || (trip->on && zone->heat_nc >= (temp_mc - hyst_mc) * NC_PER_MC));
        asked->above[trip->kind][gpu] |= trip->above;
        asked->on[trip->kind][gpu] |= trip->on;
        fan += trip->kind == QS_VTRIP_ACTIVE && trip->on;
    }
    asked->fan = fan > asked->fan ? fan : asked->fan;
}

static uint32_t most_steps(const struct qs_vboard *board, size_t clock)
{
    uint32_t most = (uint32_t)board->clocks[clock].count - 1;
    for (size_t i = 0; i < board->cooler_count; i++) {
        if (board->coolers[i].clock == (int16_t)clock && board->coolers[i].max_state < most) {
            most = board->coolers[i].max_state;
        }
    }
    return most;
}

/* One step at a time, down while too hot, up when it has cooled down. */
static void throttle(struct qs_vboard *board, const struct asked *asked)
{
    for (size_t i = 0; i < board->clock_count; i++) {
        struct qs_vboard_clock *clock = &board->clocks[i];
        uint32_t *steps = board->firmware ? &clock->hush : &clock->throttled;
        if (!clock->is_gpu && !clock->cpus) {
            continue;
        }
        if (asked->above[QS_VTRIP_PASSIVE][clock->is_gpu]) {
            *steps += *steps < most_steps(board, i);
        } else if (!asked->on[QS_VTRIP_PASSIVE][clock->is_gpu] && *steps > 0) {
            *steps -= 1;
        }
        if (board->firmware && *steps > 0) {
            board->reported |= 1u << 3 | 1u << 19;
        }
    }
}

/* One CPU at a time: the last of those that can go, or the first of those that went. */
static void unplug(struct qs_vboard *board, const struct asked *asked)
{
    bool above = asked->above[QS_VTRIP_HOT][0] || asked->above[QS_VTRIP_HOT][1];
    bool on = asked->on[QS_VTRIP_HOT][0] || asked->on[QS_VTRIP_HOT][1];
    if (board->unplug_n >= 0 && board->nodes[board->unplug_n].text[0] == '0') {
        above = on = false;
    }
    board->reported |= above ? 1u << 2 | 1u << 18 : 0;
    for (int cpu = 31; cpu > 0 && above; cpu--) {
        if (board->online & 1u << cpu) {
            board->online &= ~(1u << cpu);
            board->unplugged |= 1u << cpu;
            return;
        }
    }
    for (int cpu = 1; cpu < 32 && !on; cpu++) {
        if (board->unplugged & 1u << cpu) {
            board->online |= 1u << cpu;
            board->unplugged &= ~(1u << cpu);
            return;
        }
    }
}

void qs_vboard_heat_step(struct qs_vboard *board)
{
    struct asked asked = {.fan = 0};
    warm(board);
    if (board->now_us % POLL_US != 0) {
        return;
    }
    board->reported &= ~0xfu;
    for (size_t i = 0; i < board->zone_count; i++) {
        ask_zone(board, &board->zones[i], &asked);
    }
    throttle(board, &asked);
    unplug(board, &asked);
    board->fan = asked.fan < board->fan_max ? asked.fan : board->fan_max;
}

/* What is written there stays until less is written; trip points go beyond it. */
int qs_vboard_write_cooler(struct qs_vboard *board, int16_t index, int64_t value)
{
    struct qs_vboard_cooler *cooler = &board->coolers[index];
    if (value < 0 || value > cooler->max_state) {
        return -EINVAL;
    }
    cooler->state = (uint32_t)value;
    if (cooler->clock >= 0) {
        board->clocks[cooler->clock].held_down = (uint32_t)value;
    }
    qs_vboard_settle(board);
    return 0;
}

uint32_t qs_vboard_cooler_state(const struct qs_vboard *board, int16_t index)
{
    const struct qs_vboard_cooler *cooler = &board->coolers[index];
    uint32_t driven = cooler->is_fan       ? board->fan
                      : cooler->clock >= 0 ? board->clocks[cooler->clock].throttled
                                           : 0;
    return driven > cooler->state ? driven : cooler->state;
}
