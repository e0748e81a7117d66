#include "store/values.h"

#include <math.h>
#include <stdlib.h>

#include "store/read/util.h"

enum qs_worth qs_worth_next(uint32_t taint, size_t clean, size_t *warmup_left)
{
    const uint32_t disturbs = QS_TAINT_GATE | QS_TAINT_EVIDENCE | QS_TAINT_LINK;
    if (taint != 0)
        return (taint & ~disturbs) == 0 ? QS_WORTH_DISTURBED : QS_WORTH_LOST;
    if (clean == 0)
        return QS_WORTH_LOST;
    bool warm = clean <= *warmup_left;
    *warmup_left -= warm ? clean : *warmup_left;
    return warm ? QS_WORTH_WARMUP : QS_WORTH_COUNTS;
}

enum qs_worth qs_worth_taken(bool disturbed)
{
    return disturbed ? QS_WORTH_DISTURBED : QS_WORTH_COUNTS;
}

struct lists {
    struct qs_values *ret;
    double *disturbed; /* owned */
    size_t n;
    bool any_counts, any_disturbed;
};

static void add(double **list, size_t *n, double value)
{
    if (isnan(value))
        return;
    *list = qs_grow(*list, *n, sizeof **list);
    (*list)[(*n)++] = value;
}

static void take(void *user, const struct qs_value *v)
{
    struct lists *l = user;
    l->ret->taints |= v->taint;
    l->ret->tainted += v->taint != 0;
    l->ret->warm += v->worth == QS_WORTH_WARMUP;
    if (v->worth == QS_WORTH_COUNTS) {
        l->any_counts = true;
        add(&l->ret->at, &l->ret->n, v->value);
    } else if (v->worth == QS_WORTH_DISTURBED) {
        l->any_disturbed = true;
        add(&l->disturbed, &l->n, v->value);
    }
}

bool qs_read_run_values(struct qs_store_reader *r, int64_t run, int64_t metric, struct qs_values *ret,
                        struct qs_err *err)
{
    struct lists l = {.ret = ret};
    *ret = (struct qs_values){.at = NULL};
    bool ok = qs_read_values(r, run, metric, take, &l, err);
    ret->disturbed = !l.any_counts && l.any_disturbed;
    if (ret->disturbed) {
        ret->at = l.disturbed;
        ret->n = l.n;
    } else {
        free(l.disturbed);
    }
    return ok;
}
