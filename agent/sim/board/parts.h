/* Between the files of this folder. */
#ifndef QS_SIM_BOARD_PARTS_H
#define QS_SIM_BOARD_PARTS_H

#include "sim/board/calls.h"

enum qs_vboard_role {
    QS_VROLE_PLAIN, /* holds what is written, of the kind that it holds */
    QS_VROLE_GOVERNOR,
    QS_VROLE_MIN,
    QS_VROLE_MAX,
    QS_VROLE_HINT,
    QS_VROLE_CUR,    /* as the governor chose */
    QS_VROLE_ACTUAL, /* as the hardware runs */
    QS_VROLE_SETSPEED,
    QS_VROLE_GPUCLK,
    QS_VROLE_MIN_LEVEL, /* kgsl: levels count down from the fastest, which is 0 */
    QS_VROLE_MAX_LEVEL,
    QS_VROLE_TIMES,
    QS_VROLE_CHANGES,
    QS_VROLE_AFFECTED,
    QS_VROLE_CPU_ONLINE,
    QS_VROLE_ONLINE,
    QS_VROLE_OFFLINE,
    QS_VROLE_TEMP,
    QS_VROLE_TEMP_MC, /* the same zone's, in thousandths of a degree */
    QS_VROLE_MODE,
    QS_VROLE_POLICY,
    QS_VROLE_COOLER,
    QS_VROLE_FIRMWARE
};
enum qs_vboard_clock_kind { QS_VCLOCK_CPUFREQ, QS_VCLOCK_DEVFREQ, QS_VCLOCK_KGSL, QS_VCLOCK_MALI };
enum qs_vboard_scope { QS_VSCOPE_NONE, QS_VSCOPE_CPU, QS_VSCOPE_GPU, QS_VSCOPE_SLOW };
enum qs_vboard_trip_kind { QS_VTRIP_NONE, QS_VTRIP_ACTIVE, QS_VTRIP_PASSIVE, QS_VTRIP_HOT };
enum qs_vboard_fault_kind {
    QS_VFAULT_REFUSE,
    QS_VFAULT_IGNORE,
    QS_VFAULT_DELAY,
    QS_VFAULT_SLOW,
    QS_VFAULT_INERT,
    QS_VFAULT_RESET,
    QS_VFAULT_VANISH,
    QS_VFAULT_STUCK,
    QS_VFAULT_LIE,      /* reads as text */
    QS_VFAULT_LIE_FAIL, /* reads fail with n */
    QS_VFAULT_LIE_JUMP, /* every second reading is n more */
    QS_VFAULT_COUNT
};

/* tree.c */
/* n bytes and their NUL in the arena, with room for cap in all; NULL where it is full. */
char *qs_vboard_keep(struct qs_vboard *board, const char *text, size_t n, size_t cap);
/* NULL where there is no room. path and text are borrowed from the arena or static. */
struct qs_vboard_node *qs_vboard_add(struct qs_vboard *board, const char *path, char *text,
                                     size_t text_bytes);
/* The node of this very path, -1 for none; gone or not. */
int16_t qs_vboard_node(const struct qs_vboard *board, const char *path);
int16_t qs_vboard_node_in(const struct qs_vboard *board, const char *folder, const char *file);
bool qs_vboard_gone(const struct qs_vboard *board, const struct qs_vboard_node *node);
bool qs_vboard_below(const char *path, const char *folder); /* or the same */
bool qs_vboard_number(const char *text, int64_t *value);    /* all of it */
bool qs_vboard_word(const char *list, const char *word);    /* stands in it, brackets or not */

/* roles.c: finds clocks, zones, coolers and CPUs, and what their files are to them. */
bool qs_vboard_find_roles(struct qs_vboard *board);
/* heat.c */
void qs_vboard_find_zones(struct qs_vboard *board);
void qs_vboard_heat_step(struct qs_vboard *board);
int qs_vboard_write_cooler(struct qs_vboard *board, int16_t index, int64_t value);
uint32_t qs_vboard_cooler_state(const struct qs_vboard *board, int16_t index);
void qs_vboard_heat_now(struct qs_vboard *board); /* cpu_heat_ppm and gpu_heat_ppm */

/* clocks.c */
void qs_vboard_settle(struct qs_vboard *board); /* every clock takes the step that its governor wants */
int64_t qs_vboard_clock_khz(const struct qs_vboard *board, const struct qs_vboard_clock *clock);
uint32_t qs_vboard_busy_ppm(const struct qs_vboard_clock *clock);
size_t qs_vboard_runs_at(const struct qs_vboard_clock *clock); /* step, with what nobody is told */
int qs_vboard_write_clock(struct qs_vboard *board, const struct qs_vboard_node *node, const char *text);
size_t qs_vboard_show_clock(const struct qs_vboard *board, const struct qs_vboard_node *node, char *text,
                            size_t cap);
bool qs_vboard_is_clock(enum qs_vboard_role role);

/* access.c */
/* The value, without the end of its line. */
void qs_vboard_show(const struct qs_vboard *board, const struct qs_vboard_node *node, char *text, size_t cap);
/* A write without faults and permissions. readback: where not NULL, nothing is changed but this, which gets
 * what would be read. */
int qs_vboard_apply(struct qs_vboard *board, int16_t node, const char *text, char *readback);
/* faults.c */
struct qs_vboard_fault *qs_vboard_fault(struct qs_vboard *board, const char *path,
                                        enum qs_vboard_fault_kind kind);
void qs_vboard_faults_step(struct qs_vboard *board);
const char *qs_vboard_errno_name(int number); /* "EINVAL"; "ok" for 0 */
size_t qs_vboard_show_faults(const struct qs_vboard *board, char *text, size_t cap);

#endif
