#include "stats/energy.h"

#include <math.h>

/* From the sums of the distances inside both stretches together, inside the left and inside the right. */
static double statistic(double all, double left, double right, size_t n, size_t m)
{
    double dn = (double)n, dm = (double)m, sum = dn + dm;
    double q = 2 / sum * (all - left - right);
    if (n > 1)
        q -= 2 * dm / (sum * (dn - 1)) * left;
    if (m > 1)
        q -= 2 * dn / (sum * (dm - 1)) * right;
    return q;
}

/* left[t] and right[t] hold the sums inside x[0:t] and x[t:end]; right[0] holds that inside x[0:end]. */
enum { STEPS_A_LOOK = 1 << 22 };

struct qs_split qs_best_split(const double *x, size_t n, double *scratch, const struct qs_progress *progress)
{
    double *left = scratch, *right = scratch + n;
    struct qs_split best = {.at = 1, .q = -INFINITY};
    left[1] = 0;
    right[0] = 0;
    size_t steps = 0;
    for (size_t end = 2; end <= n; end++) {
        steps += end;
        if (steps > STEPS_A_LOOK) {
            steps = 0;
            if (!qs_progress_go_on(progress, 0))
                return (struct qs_split){.at = 1, .q = NAN};
        }
        double last = x[end - 1], to_last = 0;
        right[end - 1] = 0;
        for (size_t t = end - 1; t-- > 0;) {
            to_last += fabs(x[t] - last);
            right[t] += to_last;
        }
        for (size_t t = 1; t < end; t++) {
            double q = statistic(right[0], left[t], right[t], t, end - t);
            if (q > best.q || (q >= best.q && t < best.at))
                best = (struct qs_split){t, q};
        }
        left[end] = right[0]; /* of all n they are one place */
    }
    return best;
}
