#include "report/verdict/rates.h"

#include "stats/twosample.h"

void qs_lost_rates_add(struct qs_lost_rates *r, int side, const struct qs_arm_run *run)
{
    r->runs[side]++;
    r->lost[side] += run->values[0].n == 0 || run->values[0].disturbed;
    r->timed_out[side] += (run->taints & QS_TAINT_TIMEOUT) != 0;
}

void qs_lost_rates_test(struct qs_lost_rates *r)
{
    r->lost_p = qs_fisher_exact(r->lost[0], r->runs[0], r->lost[1], r->runs[1]);
    r->timeout_p = qs_fisher_exact(r->timed_out[0], r->runs[0], r->timed_out[1], r->runs[1]);
}
