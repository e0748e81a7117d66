/* A board in memory for its tests: made of a tree of tests/data/sysfs, in time that the test lets pass. */
#ifndef QS_TEST_BOARD_CASE_H
#define QS_TEST_BOARD_CASE_H

#include "sim/board/calls.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define CPU  "sys/devices/system/cpu/"
#define ZONE "sys/devices/virtual/thermal/thermal_zone"
#define COOL "sys/devices/virtual/thermal/cooling_device"

/* One board for all; each case begins with its tree. */
struct qs_vboard *board_of(const char *tree);
void wait_ms(struct qs_vboard *board, int64_t ms);
/* What a file holds, without the end of its line; "" and a failed test where it cannot be read. */
const char *get(struct qs_vboard *board, const char *path);
int64_t get_number(struct qs_vboard *board, const char *path);
/* 0 or an errno. */
int put(struct qs_vboard *board, const char *path, const char *text);
int try_get(struct qs_vboard *board, const char *path);
/* A line of the control file, which is understood. */
void tell(struct qs_vboard *board, const char *line);
/* What really holds: of a clock, of a zone. */
int64_t khz(struct qs_vboard *board, const char *clock);
int64_t mc(struct qs_vboard *board, const char *zone);

#define is(board, path, text)   assert_string_equal(get(board, path), text)
#define tune(board, path, text) assert_int_equal(put(board, path, text), 0)

#endif
