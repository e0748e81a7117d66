/* Statistics of a history (statistics.md, sections 9.2 to 9.6). */
#include <math.h>

#include "report/analysis_impl.h"
#include "stats/trend.h"

enum { PAIRS_MOST = 5000 }; /* points whose pairs are all looked at */

static enum qs_status put_theil_sen(const struct qs_points *p, struct qs_json *j)
{
    double slope = NAN;
    enum qs_status status = p->n > PAIRS_MOST ? QS_EDOM : qs_theil_sen(p->v, p->n, &slope);
    qs_json_kdouble(j, "slope", slope);
    return status;
}

const struct qs_points_stat qs_points_stats[] = {
    {"theil_sen", "median of the slopes of all pairs", put_theil_sen, false},
};
const size_t qs_points_stat_count = sizeof qs_points_stats / sizeof *qs_points_stats;
