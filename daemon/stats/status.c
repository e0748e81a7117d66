#include "stats/status.h"

#include <math.h>
#include <stddef.h>

const char *const qs_status_names[] = {"ok",        "no-data",    "too-few",  "domain",
                                       "no-memory", "degenerate", "canceled", NULL};

const char *qs_status_name(enum qs_status status)
{
    return status <= QS_ECANCELED ? qs_status_names[status] : "unknown";
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
