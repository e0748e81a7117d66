#include "store/read/named.h"

#include <stdlib.h>

#include "store/read/util.h"
#include "store/read/reader.h"

static const char named_sql[] =
    "SELECT coalesce(u.id, 0), r.job_id, e.id, e.started_wall_ns, u.label, m.name, d.name, count(*)"
    " FROM session e JOIN run r ON r.session_id = e.id JOIN job j ON j.id = r.job_id"
    " JOIN arm a ON a.job_id = r.job_id AND a.idx = r.arm_idx LEFT JOIN build u ON u.id = a.build_id"
    " JOIN job_point jp ON jp.job_id = r.job_id AND jp.idx = r.point_idx"
    " JOIN point p ON p.id = jp.point_id JOIN benchmark m ON m.id = p.benchmark_id"
    " JOIN boot b ON b.id = e.boot_id JOIN device d ON d.id = b.device_id"
    " WHERE r.block >= 1 AND " QS_RUN_GIVES " AND j.state NOT IN ('queued', 'running')"
    " AND (?1 IS NULL OR instr(lower(u.label), lower(?1)) > 0)"
    " AND (?2 IS NULL OR instr(lower(m.name), lower(?2)) > 0) AND (?3 IS NULL OR d.name = ?3)"
    " AND e.started_wall_ns BETWEEN ?4 AND ?5"
    " GROUP BY e.id, u.id, m.id ORDER BY e.started_wall_ns, e.id, u.id, m.id";

static void take(struct qs_stmt *s, struct qs_named *row)
{
    row->build = qs_stmt_get_int(s);
    row->job = qs_stmt_get_int(s);
    row->session = qs_stmt_get_int(s);
    row->started_wall_ns = qs_stmt_get_int(s);
    row->label = qs_stmt_dup_text(s);
    row->benchmark = qs_stmt_dup_text(s);
    row->device = qs_stmt_dup_text(s);
    row->runs = (uint32_t)qs_stmt_get_int(s);
}

bool qs_read_named(struct qs_store_reader *r, const struct qs_named_filter *filter, struct qs_named_list *ret,
                   struct qs_err *err)
{
    struct qs_stmt s;
    *ret = (struct qs_named_list){0};
    if (!qs_stmt_begin(&r->db, &s, named_sql, err))
        return false;
    qs_stmt_text(&s, filter->label);
    qs_stmt_text(&s, filter->benchmark);
    qs_stmt_text(&s, filter->device);
    qs_stmt_int(&s, filter->since_wall_ns);
    qs_stmt_int(&s, filter->until_wall_ns);
    bool ok = true;
    while (qs_stmt_next(&s, &ok, err)) {
        ret->at = qs_grow(ret->at, ret->count, sizeof *ret->at);
        take(&s, &ret->at[ret->count++]);
    }
    if (!ok)
        qs_named_list_free(ret);
    return ok;
}

static const char nearest_sql[] =
    "SELECT e.started_wall_ns FROM session e JOIN job j ON j.id = e.job_id"
    " WHERE j.state NOT IN ('queued', 'running') AND EXISTS(SELECT 1 FROM run r"
    " WHERE r.job_id = e.job_id AND r.session_id = e.id AND r.block >= 1 AND " QS_RUN_GIVES ")"
    " ORDER BY abs(e.started_wall_ns - ?1), e.id LIMIT 1";

bool qs_read_nearest_session(struct qs_store_reader *r, int64_t wall_ns, bool *found, int64_t *ret_wall_ns,
                             struct qs_err *err)
{
    struct qs_stmt s;
    *found = false;
    if (!qs_stmt_begin(&r->db, &s, nearest_sql, err))
        return false;
    qs_stmt_int(&s, wall_ns);
    bool ok = qs_stmt_step(&s, found, err);
    *ret_wall_ns = ok && *found ? qs_stmt_get_int(&s) : 0;
    qs_stmt_end(&s);
    return ok;
}

void qs_named_list_free(struct qs_named_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        free(list->at[i].label);
        free(list->at[i].benchmark);
        free(list->at[i].device);
    }
    free(list->at);
    *list = (struct qs_named_list){0};
}
