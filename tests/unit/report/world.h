/* A job and its stored runs, made by hand: what the report is given. */
#ifndef QS_TEST_REPORT_WORLD_H
#define QS_TEST_REPORT_WORLD_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "report/job/impl.h"

struct world {
    struct qs_job_spec *spec;         /* owned */
    struct qs_measured_runs measured; /* owned */
    struct qs_job_info info;
    struct qs_report_input in;
};

/* A job with so many arms "a", "b", ... and the lines added to its document (or NULL). */
void world_init(struct world *w, size_t arms, const char *more);
/* Of a whole document. */
void world_read(struct world *w, const char *text);
void world_done(struct world *w);
/* A finished run with these n durations, clean; the caller may change what is returned until the next call.
 */
struct qs_measured_run *world_run(struct world *w, uint32_t block, uint32_t arm, const int64_t *ns, size_t n);
/* The same with one duration. */
struct qs_measured_run *world_one(struct world *w, uint32_t block, uint32_t arm, int64_t ns);
/* Its durations become softly tainted. */
void world_disturb(struct qs_measured_run *s);
/* It came to another end than done, so the store gives no value of it. */
void world_lose(struct qs_measured_run *s, enum qs_run_state state);

/* Compares with the file of this name in golden_dir; where they differ, writes NAME.got into the working
 * directory and fails. */
extern const char *golden_dir;
void golden_check(const char *name, const struct qs_buf *got);

#endif
