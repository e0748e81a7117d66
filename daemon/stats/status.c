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
    if (progress == NULL || progress->go_on == NULL)
        return true;
    double whole = 1 - progress->before - progress->after;
    return progress->go_on(progress->user, progress->stage, progress->before + whole * done_ratio);
}

struct qs_progress qs_progress_part(const struct qs_progress *progress, double from, double to)
{
    if (progress == NULL)
        return (struct qs_progress){.go_on = NULL};
    struct qs_progress part = *progress;
    double whole = 1 - progress->before - progress->after;
    part.before += whole * from;
    part.after += whole * (1 - to);
    return part;
}
