#include "stats/status.h"

#include <math.h>

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
    }
    return "unknown";
}

struct qs_ci qs_ci_none(double level)
{
    return (struct qs_ci){.lo = NAN, .hi = NAN, .level = level, .flags = 0};
}
