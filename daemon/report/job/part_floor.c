/* The least duration estimates what the code costs only where nothing can have made it faster: at one
 * frequency. On a processor that boosts, the minimum is an excursion (statistics.md, section 11). */
#include <math.h>
#include <string.h>

#include "report/job/parts.h"

#define SAME_RATIO 0.01 /* readings within it are one frequency */

struct range {
    double lo, hi;
};

static void extend(struct range *r, double v)
{
    r->lo = fmin(r->lo, v);
    r->hi = fmax(r->hi, v);
}

enum finding { VERIFIED, NO_READING, MISSING, MOVED, THROTTLED };
static const struct {
    const char *code, *text;
} findings[] = {
    [VERIFIED] = {"verified",
                  "the frequency was the same before and after every window, and no throttle counter moved"},
    [NO_READING] = {"no-frequency", "this machine shows no processor frequency"},
    [MISSING] = {"missing", "the frequency could not be read around every window"},
    [MOVED] = {"moved", "the frequency changed by more than 1 %: a minimum may be a boost"},
    [THROTTLED] = {"throttled", "the processor was throttled in a window"},
};

static bool begins(const char *s, const char *with)
{
    return strncmp(s, with, strlen(with)) == 0;
}

/* One policy over all windows. */
static enum finding look_at(const struct qs_part_windows *w, size_t kind, struct range *all)
{
    struct range own = {INFINITY, -INFINITY};
    for (size_t i = 0; i < w->count; i++) {
        const struct qs_window_info *info = w->at[i].info;
        const struct qs_window_value *found = NULL;
        for (size_t k = 0; k < info->value_count; k++)
            if (info->values[k].kind == kind)
                found = &info->values[k];
        if (!found || !(found->before > 0) || !(found->after > 0))
            return MISSING;
        extend(&own, found->before);
        extend(&own, found->after);
    }
    extend(all, own.lo);
    extend(all, own.hi);
    return own.hi - own.lo > SAME_RATIO * own.hi ? MOVED : VERIFIED;
}

static bool is_throttled(const struct qs_part_windows *w)
{
    for (size_t i = 0; i < w->count; i++) {
        const struct qs_window_info *info = w->at[i].info;
        for (size_t k = 0; k < info->value_count; k++)
            if (begins(w->all->kinds[info->values[k].kind], "throttle.") &&
                info->values[k].after > info->values[k].before)
                return true;
    }
    return false;
}

void qs_put_part_floor(struct qs_json *j, const struct qs_part_windows *w, double min_ns)
{
    struct range khz = {INFINITY, -INFINITY};
    enum finding found = NO_READING;
    for (size_t kind = 0; kind < w->all->kind_count && (found == NO_READING || found == VERIFIED); kind++)
        if (w->count > 0 && begins(w->all->kinds[kind], "freq:"))
            found = look_at(w, kind, &khz);
    if (found == VERIFIED && is_throttled(w))
        found = THROTTLED;
    qs_json_kobject(j, "floor");
    qs_json_kbool(j, "verified", found == VERIFIED);
    qs_json_kdouble(j, "ns", found == VERIFIED ? min_ns : NAN);
    qs_json_kdouble(j, "lo_khz", khz.lo);
    qs_json_kdouble(j, "hi_khz", khz.hi);
    qs_json_kint(j, "windows", (int64_t)w->count);
    qs_json_kstring(j, "code", findings[found].code);
    qs_json_kstring(j, "text", findings[found].text);
    qs_json_object_end(j);
}
