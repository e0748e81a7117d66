#include "stats/status.h"

#include <math.h>
#include <stddef.h>

const char *qs_status_name(enum qs_status status)
{
    switch (status) {
    case QS_OK:
        return "ok";
    case QS_ENODATA:
        return "no-data";
    case QS_ETOOFEW:
        return "too-few";
    case QS_EDOM:
        return "domain";
    case QS_ENOMEM:
        return "no-memory";
    case QS_EDEGENERATE:
        return "degenerate";
    case QS_ECANCELED:
        return "canceled";
    }
    return "unknown";
}

struct qs_ci qs_ci_none(double level)
{
    return (struct qs_ci){.lo = NAN, .hi = NAN, .level = level, .flags = 0};
}

bool qs_progress_go_on(const struct qs_progress *progress, double done_ratio)
{
    return progress->go_on == NULL || progress->go_on(progress->user, done_ratio);
}
