/* How long a job waits for the gate of one of its conditions, in all its windows on one device: what it has
 * waited, what of that was in vain, and how long the next window may. Private to device. */
#ifndef QS_DEVICE_JOB_PATIENCE_H
#define QS_DEVICE_JOB_PATIENCE_H

#include <stdbool.h>
#include <stdint.h>

struct qs_job_run;
struct qs_job_expectation;
struct qs_json;

struct qs_patience {
    unsigned misses;   /* windows in a row whose gate gave up with a taint */
    int64_t waited_ns; /* in all windows, traced ones apart */
    int64_t vain_ns;   /* of that: before gates that gave up with a taint */
    char busiest[48];  /* the process that was named last, or "" */
    bool told;         /* that it is used up */
};

/* The timeout of an expectation in the next window. A gate that marks draws on its conditions' patience, and
 * with backoff each window in a row that it marked halves the next one's wait; the others have their own. */
int64_t qs_patience_timeout_ns(const struct qs_job_run *job, const struct qs_job_expectation *e);
/* What is left for gates that mark, all conditions of the job together; 0 or more. */
int64_t qs_patience_left_ns(const struct qs_job_run *job);
int64_t qs_patience_waited_ns(const struct qs_job_run *job); /* likewise, for all gates */
/* The window in hand is closed: books its wait. */
void qs_patience_book(struct qs_job_run *job);
/* "waited_ns", "waited_in_vain_ns" and "busiest" of the open object. */
void qs_patience_put(const struct qs_job_run *job, struct qs_json *j);

#endif
