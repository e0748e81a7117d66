#include "store/values.h"

#include <math.h>
#include <stdlib.h>

#include "store/db.h"
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

static void counts(sqlite3_context *call, int n, sqlite3_value **arg)
{
    (void)n;
    int64_t taint = sqlite3_value_int64(arg[0]), nth = sqlite3_value_int64(arg[1]),
            warmup_n = sqlite3_value_int64(arg[2]);
    size_t left = warmup_n >= nth ? (size_t)(warmup_n - nth) + (taint == 0) : 0;
    sqlite3_result_int(call, qs_worth_next((uint32_t)taint, taint == 0, &left) == QS_WORTH_COUNTS);
}

bool qs_worth_in_sql(struct qs_db *db, struct qs_err *err)
{
    int rc = sqlite3_create_function_v2(db->sqlite, "qs_counts", 3, SQLITE_UTF8 | SQLITE_DETERMINISTIC, NULL,
                                        counts, NULL, NULL, NULL);
    return rc == SQLITE_OK || qs_db_fail(db, rc, err);
}

enum qs_worth qs_worth_taken(bool disturbed)
{
    return disturbed ? QS_WORTH_DISTURBED : QS_WORTH_COUNTS;
}

void qs_values_take(struct qs_values *ret, const struct qs_value *v)
{
    bool disturbed = v->worth == QS_WORTH_DISTURBED;
    ret->taints |= v->taint;
    ret->tainted += v->taint != 0;
    ret->warm += v->worth == QS_WORTH_WARMUP;
    ret->seen += v->worth != QS_WORTH_WARMUP;
    if (v->worth != QS_WORTH_COUNTS && !(disturbed && !ret->counts))
        return;
    if (ret->disturbed && !disturbed)
        ret->n = 0; /* the first that counts: the run stands on no disturbed one any more */
    ret->counts = !disturbed;
    ret->disturbed = disturbed;
    if (isnan(v->value))
        return;
    ret->at = qs_grow(ret->at, ret->n, sizeof *ret->at);
    ret->at[ret->n++] = v->value;
}

static void take(void *user, const struct qs_value *v)
{
    qs_values_take(user, v);
}

void qs_values_of_state(struct qs_values *values, enum qs_run_state state)
{
    if (state == QS_RUN_DONE)
        return;
    free(values->at);
    values->at = NULL;
    values->n = 0;
    values->counts = values->disturbed = false;
}

bool qs_read_run_values(struct qs_store_reader *r, int64_t run, enum qs_run_state state, int64_t metric,
                        struct qs_values *ret, struct qs_err *err)
{
    *ret = (struct qs_values){.at = NULL};
    bool ok = qs_read_values(r, run, metric, take, ret, err);
    qs_values_of_state(ret, state);
    return ok;
}
