/* What a harness program of a job is told beside its arguments. */
#ifndef QS_CONFIG_JOB_HARNESS_H
#define QS_CONFIG_JOB_HARNESS_H

#include <stddef.h>
#include <stdint.h>

#include "config/job/job.h"

/* The parameters of (arm, point) that argv does not use, as "NAME=VALUE". */
void qs_job_program_params(const struct qs_job_spec *spec, size_t arm, size_t point, struct qs_strings *ret);

struct qs_job_turn { /* one run's place in a job */
    size_t point;
    uint32_t block, attempt, pos;
};
struct qs_job_layout { /* what a run's initial state is moved by; zeros where the layout is fixed */
    uint64_t seed;     /* of the program's own random numbers */
    uint32_t environment_bytes, stack_bytes, heap_bytes;
};
/* Drawn from (seed, device, turn) only, so that the same job can be drawn again. */
void qs_job_draw_layout(const struct qs_job_spec *spec, uint64_t seed, uint64_t device,
                        const struct qs_job_turn *turn, struct qs_job_layout *ret);

#endif
