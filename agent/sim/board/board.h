/* A board as its kernel shows it: files of sysfs that behave, over a model of clocks, heat and hotplug. Pure
 * C without heap, input or output: whoever stands in front (a mounted file system, a simulated port) passes
 * the time in and asks for files by their paths.
 *
 * It begins as a device tree says (tests/data/sysfs): every file reads as there, and nothing moves until
 * something is changed. Then clocks follow their governors and limits (clocks.c), temperatures follow the
 * clocks, trip points throttle and unplug (heat.c), and faults are what a test asked for (faults.c; the words
 * are in tests/beds/board/README.md). Time advances in steps of 10 ms, so that equal calls at equal times
 * give equal answers. */
#ifndef QS_SIM_BOARD_BOARD_H
#define QS_SIM_BOARD_BOARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    QS_VBOARD_NODES_MAX = 640,
    QS_VBOARD_ARENA_BYTES = 160 * 1024,
    QS_VBOARD_PATH_BYTES = 192,
    QS_VBOARD_VALUE_BYTES = 128, /* of what is written */
    QS_VBOARD_TEXT_BYTES = 4096, /* of what is read */
    QS_VBOARD_CLOCKS_MAX = 16,
    QS_VBOARD_STEPS_MAX = 32,
    QS_VBOARD_ZONES_MAX = 32,
    QS_VBOARD_TRIPS_MAX = 8,
    QS_VBOARD_COOLERS_MAX = 16,
    QS_VBOARD_FAULTS_MAX = 32,
    QS_VBOARD_DELAYED_MAX = 16,
    QS_VBOARD_LOG_MAX = 256,
    QS_VBOARD_REPORT_BYTES = 128 * 1024, /* enough for every report */
    QS_VBOARD_STEP_US = 10000
};

struct qs_vboard_node { /* a file or a link; folders are what paths imply */
    const char *path;   /* "sys/class/..." */
    char *text;         /* its value as in the tree, or the link's target; writable up to text_bytes */
    size_t text_bytes;
    uint32_t uid, gid;
    uint16_t mode; /* permissions */
    bool is_link;
    uint8_t role;         /* enum qs_vboard_role: what it is to the model */
    int16_t index;        /* of the clock, zone, cooler or CPU that the role is about */
    int16_t cpu;          /* it goes when this one is taken off-line; -1: none */
    int16_t clock;        /* it goes when all CPUs of this clock are; -1: none */
    const char *governor; /* it is there only under this governor of its clock; NULL: always */
};

struct qs_vboard_clock {
    const char *folder; /* "sys/devices/system/cpu/cpufreq/policy0" */
    char name[48];      /* "policy0", "cpu0", "11800000.gpu" */
    uint8_t kind;       /* enum qs_vboard_clock_kind */
    bool is_gpu;
    uint32_t cpus; /* that it drives, a bit each; 0: none */
    /* All frequencies are in the unit of its files: per_khz to a kilohertz. Steps ascend. */
    int64_t steps[QS_VBOARD_STEPS_MAX];
    size_t count, at; /* the step that the governor has chosen */
    int64_t per_khz;
    int64_t min, max, hint, set; /* as people limit it; set: of governor userspace, -1 for none */
    char governor[24];
    uint32_t load_ppm, rest_ppm; /* of it at full speed; what the tree's frequency stands for */
    uint32_t work_ppm;           /* what a front has running there: the larger of both counts */
    uint32_t throttled, held_down,
        hush; /* steps from the top: by trip points, by cur_state, without a word */
    int64_t in_step_us[QS_VBOARD_STEPS_MAX];
    int64_t changes;
};

struct qs_vboard_trip {
    uint8_t kind;            /* enum qs_vboard_trip_kind */
    int16_t limit_n, hyst_n; /* their nodes; -1: what stands here */
    int64_t temp_mc, hyst_mc;
    bool above, on; /* now; since it was above and until it is below by the hysteresis */
};

struct qs_vboard_zone {
    const char *type;
    int16_t mode_n, policy_n; /* nodes; -1 */
    uint8_t scope;            /* enum qs_vboard_scope: who heats it */
    int64_t unit_mc;          /* of its file: 1, 100 or 1000 */
    int64_t start_mc;
    int64_t heat_nc; /* billionths of a degree */
    struct qs_vboard_trip trips[QS_VBOARD_TRIPS_MAX];
    size_t trip_count;
};

struct qs_vboard_cooler {
    int16_t clock; /* it slows this one; -1 */
    bool is_fan;
    uint32_t max_state, state; /* state: written, of what the model does not drive */
};

struct qs_vboard_fault {
    uint8_t kind; /* enum qs_vboard_fault_kind */
    char path[QS_VBOARD_PATH_BYTES];
    char text[QS_VBOARD_VALUE_BYTES], asked[QS_VBOARD_PATH_BYTES + 64];
    int64_t n, due_us;
    bool odd;
};

struct qs_vboard_delayed { /* a write that takes effect at due_us */
    int16_t node;
    int64_t due_us;
    char text[QS_VBOARD_VALUE_BYTES];
};

struct qs_vboard_entry { /* a write from outside */
    int64_t at_us;
    int16_t node;
    int error;
    char text[48];
};

struct qs_vboard {
    struct qs_vboard_node nodes[QS_VBOARD_NODES_MAX];
    int16_t by_path[QS_VBOARD_NODES_MAX];
    size_t node_count;
    struct qs_vboard_clock clocks[QS_VBOARD_CLOCKS_MAX];
    size_t clock_count;
    struct qs_vboard_zone zones[QS_VBOARD_ZONES_MAX];
    size_t zone_count;
    struct qs_vboard_cooler coolers[QS_VBOARD_COOLERS_MAX];
    size_t cooler_count;
    uint32_t present, online, unplugged; /* CPUs, a bit each; unplugged: by heat */
    uint32_t fan, fan_max;
    int16_t vendor_n, unplug_n; /* nodes that switch a vendor's throttling and unplugging off; -1 */
    bool firmware;              /* throttles without a word, as on a Raspberry Pi */
    uint32_t reported;          /* its get_throttled */
    int64_t ambient_mc, now_us;
    int64_t cpu_heat_ppm, gpu_heat_ppm; /* as the tree stands */
    struct qs_vboard_fault faults[QS_VBOARD_FAULTS_MAX];
    size_t fault_count;
    struct qs_vboard_delayed delayed[QS_VBOARD_DELAYED_MAX];
    size_t delayed_count;
    struct qs_vboard_entry log[QS_VBOARD_LOG_MAX];
    size_t logged; /* ever */
    char why[320]; /* of the last refusal of init or command */
    size_t arena_used_bytes;
    char arena[QS_VBOARD_ARENA_BYTES];
};

#endif
