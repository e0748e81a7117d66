/* What the files of the stage share. */
#ifndef QS_TEST_DEVICE_STAGE_IMPL_H
#define QS_TEST_DEVICE_STAGE_IMPL_H

#include <stdio.h>

#include "base/mem.h"
#include "stage.h"

/* Before an answer: does the test want trouble here? */
void stage_strike_now(struct stage *s);
struct stage_run *stage_find(struct stage *s, const struct qs_uid *uid);
/* The link is there again, nothing is open on the agent. */
void stage_session_reset(struct stage *s);

#endif
