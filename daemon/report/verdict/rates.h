/* What each side of a comparison lost: where the shares differ, what is left is a selection. */
#ifndef QS_REPORT_VERDICT_RATES_H
#define QS_REPORT_VERDICT_RATES_H

#include "store/read/arms.h"

struct qs_lost_rates { /* starts from {0} */
    size_t runs[2], lost[2], timed_out[2];
    double lost_p, timeout_p; /* Fisher's exact test */
};

/* A run more of a side, the last attempt of its turn; and the tests, when all are there. */
void qs_lost_rates_add(struct qs_lost_rates *r, int side, const struct qs_arm_run *run);
void qs_lost_rates_test(struct qs_lost_rates *r);

#endif
