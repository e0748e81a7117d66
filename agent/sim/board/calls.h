/* What a front asks of a board. Paths are written as below the root of the machine:
 * "sys/class/thermal/thermal_zone0/temp"; links on the way are followed. Errors are numbers of errno.h,
 * negative. */
#ifndef QS_SIM_BOARD_CALLS_H
#define QS_SIM_BOARD_CALLS_H

#include "sim/board/board.h"

enum qs_vboard_what { QS_VBOARD_NOTHING, QS_VBOARD_FOLDER, QS_VBOARD_FILE, QS_VBOARD_LINK };
enum { QS_VBOARD_READ = 4, QS_VBOARD_WRITE = 2 }; /* as the bits of a mode */
/* Reports of what really holds, whatever the files say. */
enum qs_vboard_report {
    QS_VBOARD_KHZ,   /* "policy0 600000": each clock as it runs; 0: all of its CPUs are off */
    QS_VBOARD_MC,    /* "cpu-thermal 46738": each temperature */
    QS_VBOARD_LOG,   /* "1230 class/... 1500000 ok": ms, path, value, outcome of each write from outside */
    QS_VBOARD_FAULTS /* one a line, as they were asked for */
};

/* The tree's text, n bytes, is copied. False: *board is of no use and why says what is wrong with the tree.
 * Time begins at 0. */
bool qs_vboard_init(struct qs_vboard *board, const char *tree, size_t n);
/* After a reboot: everything as in `first`, a copy of the board from before its time began; its time, its
 * heat, its surroundings and its faults are as they were. */
void qs_vboard_restart(struct qs_vboard *board, const struct qs_vboard *first);
/* Lets the time pass until now_us, which never falls. */
void qs_vboard_on_time(struct qs_vboard *board, int64_t now_us);

/* What stands at this path itself; links are not followed. *node: of a file or a link. */
enum qs_vboard_what qs_vboard_look(const struct qs_vboard *board, const char *path,
                                   const struct qs_vboard_node **node);
/* The path with its links followed. False: it is too long, or goes round. */
bool qs_vboard_resolve(const struct qs_vboard *board, const char *path, char *out, size_t cap);
/* The first name in a folder, bytewise, that comes after `after` ("": the first of all). False: none. */
bool qs_vboard_next(const struct qs_vboard *board, const char *folder, const char *after, char *name,
                    size_t cap);
/* 0, or why somebody may not read or write. As in sysfs a file without any such bit is closed to the
 * superuser as well. */
int qs_vboard_may(const struct qs_vboard *board, const char *path, uint32_t uid, unsigned access);
/* Bytes read, or an error. A file that has gone away since it was found: -ENODEV. cap: QS_VBOARD_TEXT_BYTES
 * are enough. */
int qs_vboard_read(struct qs_vboard *board, const char *path, uint32_t uid, char *text, size_t cap);
/* 0 or an error. */
int qs_vboard_write(struct qs_vboard *board, const char *path, uint32_t uid, const char *text, size_t n);
/* How long a read or a write of this file blocks, in the front's own time (fault `slow`). */
int64_t qs_vboard_slow_ms(const struct qs_vboard *board, const char *path);
/* Work of the front's own on this clock, beside the load that it has; 0: none any more. A governor follows
 * more of it at once, less of it with the next step. */
void qs_vboard_work(struct qs_vboard *board, size_t clock, uint32_t load_ppm);
/* As it really runs, in kHz; 0: all of its CPUs are off. */
int64_t qs_vboard_khz(const struct qs_vboard *board, size_t clock);
/* The processors of a list, a bit each: "0-3", "0 1 2", "0,2". */
uint32_t qs_vboard_cpus(const char *list);
/* One line of the control file. False: it is not understood, or names nothing; why says what. */
bool qs_vboard_command(struct qs_vboard *board, const char *line);
/* Bytes written. cap: QS_VBOARD_REPORT_BYTES are enough. */
size_t qs_vboard_report(const struct qs_vboard *board, enum qs_vboard_report report, char *text, size_t cap);

#endif
