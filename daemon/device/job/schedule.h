/* Where a job stands on one device: points, blocks and turns, how many iterations a run has, and when it is
 * enough. Pure: time is a parameter. */
#ifndef QS_DEVICE_JOB_SCHEDULE_H
#define QS_DEVICE_JOB_SCHEDULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "config/job/job.h"

struct qs_schedule {
    const struct qs_job_spec *spec; /* borrowed */
    uint64_t seed, device;          /* keys of the block orders */
    size_t point;
    uint32_t block;          /* 0 = pilot, 1.. counted */
    uint32_t attempt;        /* of this block */
    uint32_t resume_attempt; /* of the block after the pilot */
    uint32_t repeats;        /* in a row, for this block, whatever the cause */
    size_t *order;           /* owned: arms in turn */
    size_t turns, turn;
    uint32_t run_iterations;          /* r of this point; 0 until the pilot is over */
    uint32_t fit;                     /* as many as any arm's window has time for; 0: not limited */
    uint32_t unlimited;               /* what r would be without it */
    int64_t *pilot_ns;                /* owned, per arm */
    double *medians_ns;               /* owned: [block][arm], blocks done of this point */
    bool *disturbed;                  /* owned, per block done: some run of it has softly tainted data only */
    size_t blocks_done, blocks_timed; /* timed: of those, the ones in measured_ns */
    double *current_ns;               /* owned, per arm: log-sum of the block in progress */
    uint32_t *current_n;              /* owned, per arm */
    bool current_disturbed;
    uint32_t planned_iterations; /* the planner's r, of arms whose runs no rule ends; 0: not known */
    uint32_t planned_blocks;     /* what the planner expects to do; looked at then, 0: not known */
    int64_t point_began_ns;      /* when the first counted block began; 0 = not yet */
    int64_t measured_ns;         /* sum of block times of this point, without the waits for gates */
    /* Waits for gates: since the point began; in the block in hand; in the timed blocks. In vain: before
     * gates that gave up. */
    int64_t waited_ns, block_waited_ns, block_vain_ns, timed_waited_ns, timed_vain_ns;
};

enum qs_schedule_stop { QS_SCHEDULE_GO_ON, QS_SCHEDULE_BLOCKS, QS_SCHEDULE_INTERVAL, QS_SCHEDULE_TIME };

void qs_schedule_init(struct qs_schedule *p, const struct qs_job_spec *spec, uint64_t seed, uint64_t device);
void qs_schedule_done(struct qs_schedule *p);

/* Begins the next point's pilot (point 0 at init); false where there is none. */
bool qs_schedule_next_point(struct qs_schedule *p);
/* The arm whose turn it is. */
/* Those of the arm in turn. */
const struct qs_job_conditions *qs_schedule_conditions(const struct qs_schedule *p);
size_t qs_schedule_arm(const struct qs_schedule *p);
/* Iterations that the turn's window may have: warm-up iterations in block 0, r afterwards. */
uint32_t qs_schedule_iterations(const struct qs_schedule *p);
/* Both again after a restart, when completed runs tell them; 0: they do not. */
void qs_schedule_set_iterations(struct qs_schedule *p, uint32_t r, uint32_t planned);
/* No window of the point is to have more; to be said before the pilot's block is done. Blocks that were
 * measured before keep their r, and so do the next. */
void qs_schedule_fit(struct qs_schedule *p, uint32_t iterations);
/* A pilot comes next, and in it the baseline first. */
void qs_schedule_baseline_first(struct qs_schedule *p);
/* Predicted length of the turn's window, 0 where nothing is known. */
int64_t qs_schedule_predict_ns(const struct qs_schedule *p);

/* The turn gave accepted durations with this median (NaN: none), disturbed where all of them are softly
 * tainted. Pilot: the last iteration's duration. */
void qs_schedule_turn_done(struct qs_schedule *p, double median_ns, bool disturbed);
/* Moves to the next turn; false where the block is complete. */
bool qs_schedule_next_turn(struct qs_schedule *p);
/* The first turn of a block begins now. */
void qs_schedule_block_begins(struct qs_schedule *p, int64_t now_ns);
/* A window of the block in hand waited so long for its gate: that is no measuring. In vain: it gave up. */
void qs_schedule_waited(struct qs_schedule *p, int64_t waited_ns, bool in_vain);
/* Closes the block, which took block_ns with its waits: its medians count; the pilot fixes r. Begins the next
 * block. */
void qs_schedule_block_done(struct qs_schedule *p, int64_t block_ns);
/* Starts the block over under new run identities. */
void qs_schedule_repeat_block(struct qs_schedule *p);
/* Adds a block that an earlier life of the daemon completed: medians per arm. */
void qs_schedule_restore_block(struct qs_schedule *p, const double *medians_ns, bool disturbed);
/* The next block was begun by an earlier life: it starts with this attempt; where r is not known yet, after
 * the pilot. */
void qs_schedule_resume(struct qs_schedule *p, uint32_t attempt);
/* A session begins in the middle of a point: caches and clocks are cold, so an uncounted block comes first
 * where the plan has one; r stays what it was. */
void qs_schedule_warm_again(struct qs_schedule *p);

/* How precise the blocks done are (qs_look_half_width), as the report will judge them. */
double qs_schedule_half_width(const struct qs_schedule *p);
/* After a block: enough? half_width is qs_schedule_half_width (NaN unknown). */
enum qs_schedule_stop qs_schedule_enough(const struct qs_schedule *p, double half_width, int64_t now_ns);
/* True where the interval may be looked at after this many blocks. */
bool qs_schedule_is_look(const struct qs_schedule *p, uint32_t blocks);
uint32_t qs_schedule_next_look(
    const struct qs_schedule *p); /* the next block number at which the interval may stop the point */
/* Upper bound of what is left of this point, -1 where unknown: measuring, and waits for gates as they were so
 * far; what is waited in vain is at most patience_ns. */
int64_t qs_schedule_eta_ns(const struct qs_schedule *p, int64_t now_ns, int64_t patience_ns);
const char *qs_schedule_stop_name(enum qs_schedule_stop stop);

#endif
