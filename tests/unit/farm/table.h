/* Devices of letters and jobs of numbers for tests of the queue; what starts comes out as "0:A 1:C". */
#ifndef QS_TESTS_UNIT_FARM_TABLE_H
#define QS_TESTS_UNIT_FARM_TABLE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "farm/queue.h"

enum { DEVICES = 4, JOBS = 8 };

struct device {
    struct qs_queue_device queue;
    char name[8];
};

struct table {
    struct qs_queue *queue;
    struct device devices[DEVICES]; /* A, B: on this host; C, D: elsewhere */
    struct qs_queue_job jobs[JOBS];
    size_t job_count;
    char starts[64];
};

/* Of a device: its name, link and whether it is local. */
const char *table_fact(const char *name, void *user);
/* All devices are ready; local: a bit for each that is on this host. */
void table_make(struct table *t, unsigned local);
void table_init(struct table *t);
void table_done(struct table *t);
/* A job for the devices named by letters; begun: it has chosen them already and is on none yet. */
void table_place(struct table *t, size_t j, const char *devices, enum qs_job_take take, uint32_t count,
                 bool begun);
void table_add(struct table *t, const char *devices, enum qs_job_take take, uint32_t count, bool begun);
const char *table_plan(struct table *t);
void table_set(struct table *t, char device, bool ready, bool taken);
enum qs_queue_wait table_why(struct table *t, size_t job);

#endif
