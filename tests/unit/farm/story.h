/* One job from its submission to its end, and on until the agents have handed over what they kept, in virtual
 * time. */
#ifndef QS_TESTS_UNIT_FARM_STORY_H
#define QS_TESTS_UNIT_FARM_STORY_H

#include "bed.h"

#define STORY_SECOND_NS INT64_C(1000000000)

enum { STORY_JOB_MAX_H = 48 };

struct story {
    /* set before */
    const char *farm, *job;
    uint64_t seed;
    int64_t cancel_ns;    /* the job is cancelled then; 0: it is not */
    void (*on_end)(void); /* it has ended, or will not: what was done to it stops */
    /* known afterwards */
    bool ended, settled;
    int64_t took_ns;
    struct bed base;
    struct qs_timer *timer;
    unsigned settling_s;
};

void story_run(struct story *s);
/* The job has ended as a job may, and nothing of it is left open; what is not so is added. */
void story_judge(const struct story *s, struct qs_buf *problems);
/* The first value of the first row, owned by the caller; "" where it is NULL. */
char *story_value(const struct story *s, const char *sql);
/* It is 1. */
bool story_is(const struct story *s, const char *sql);
void story_done(struct story *s);
/* Each line as a comment of TAP. */
void story_tell(const char *lines);

#endif
