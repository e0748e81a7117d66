/* What the job run tells people: events of the job, for the record and for who watches. Private to device.
 */
#ifndef QS_DEVICE_JOB_EVENTS_H
#define QS_DEVICE_JOB_EVENTS_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "proto/msg.h"

struct qs_err;
struct qs_job_run;
struct qs_evals;
struct qs_pins;
struct qs_msg_waiting;
struct qs_planner_answer;
struct qs_model_row;
struct qs_knob_row;
struct qs_job_expectation;

struct qs_characterizing { /* what the device is like is being found */
    const char *domain, *phase;
    size_t stage, stages; /* from 0 */
    int64_t left_ns;      /* of all */
};

void qs_job_event_start(struct qs_job_run *job);
/* What the device lacks is known, and what is there already; and is there. */
void qs_job_event_push(struct qs_job_run *job, size_t missing, int64_t bytes, size_t there);
void qs_job_event_pushed(struct qs_job_run *job, size_t files, int64_t bytes, int64_t elapsed_ns);
/* What is held from now on, by the board (again: how often by now it was found elsewhere and written again);
 * what was put back, and what was not. */
void qs_job_event_pinned(struct qs_job_run *job, const struct qs_pins *pins, unsigned again);
void qs_job_event_restored(struct qs_job_run *job, size_t put_back, size_t left);
/* A device that nobody has tried is about to be, before the job goes on. */
void qs_job_event_probing(struct qs_job_run *job, size_t clocks, size_t switches, int64_t takes_ns);
void qs_job_event_characterizing(struct qs_job_run *job, const struct qs_characterizing *at);
/* Of the sensor that moved most, with the load of one domain. */
void qs_job_event_characterized(struct qs_job_run *job, const struct qs_model_row *warms,
                                const struct qs_model_row *cools);
/* What a search for the highest frequency that is kept up knows by now. */
void qs_job_event_soaked(struct qs_job_run *job, const struct qs_model_row *found);
/* What can be relied on; each that cannot is named. */
void qs_job_event_knobs(struct qs_job_run *job, const struct qs_knob_row *rows, size_t count);
void qs_job_event_pilot(struct qs_job_run *job, size_t arm, int64_t pilot_ns);
void qs_job_event_evals(struct qs_job_run *job, const struct qs_evals *evals);
void qs_job_event_plan(struct qs_job_run *job);
void qs_job_event_planned(struct qs_job_run *job, const struct qs_planner_answer *answer);
void qs_job_event_announce(struct qs_job_run *job, int64_t predicted_ns);
/* A command of this machine that the job names has failed: what that means is in daemon/device/README.md. */
void qs_job_event_host(struct qs_job_run *job, const char *what, const char *name, const char *why);
/* A meter has no value in a window. */
void qs_job_event_meter(struct qs_job_run *job, const char *name, const char *why);
void qs_job_event_held(struct qs_job_run *job, const char *why);
void qs_job_event_waiting(struct qs_job_run *job, const struct qs_msg_waiting *m);
void qs_job_event_gate_timeout(struct qs_job_run *job);
/* No event: which sensor kept the gate shut, at what value, for how long, and what to do. */
void qs_job_gate_failure(struct qs_job_run *job, struct qs_err *err);
/* Appends "thermal:cpu is 71.7 °C, wanted at most 45.0 °C". */
void qs_job_put_unmet(const struct qs_job_run *job, const struct qs_job_expectation *e,
                      enum qs_reading_status status, int64_t value, struct qs_buf *text);
void qs_job_event_run(struct qs_job_run *job);
void qs_job_event_repeat(struct qs_job_run *job, const char *why);
void qs_job_event_block(struct qs_job_run *job, double half_width);
void qs_job_event_lost(struct qs_job_run *job, const char *why);
void qs_job_event_back(struct qs_job_run *job);
void qs_job_event_warning(struct qs_job_run *job, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
