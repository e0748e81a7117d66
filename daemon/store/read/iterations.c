#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "store/metrics.h"
#include "store/read/read.h"
#include "base/mem.h"
#include "store/read/reader.h"
#include "store/read/whole.h"
#include "store/write/write.h"

static const char page_sql[] =
    "SELECT w.id, w.first_seq + t.i, w.ord, t.i, w.taint | t.taint, w.phase + 2 * w.evals_step + 3 * "
    "w.traced,"
    " CASE WHEN t.start_off_ns >= 0 THEN w.opened_ns + t.start_off_ns END, t.duration_ns, max(w.evals, 1) + "
    "w.evals_step * t.i,"
    " coalesce(s.status, 0), u.window_id, u.user_time_us, u.system_time_us, u.max_rss_bytes, u.minor_faults,"
    " u.major_faults, u.voluntary_switches, u.involuntary_switches, u.block_in, u.block_out"
    " FROM window w JOIN iteration t ON t.window_id = w.id"
    " LEFT JOIN iteration_status s ON s.window_id = t.window_id AND s.i = t.i"
    " LEFT JOIN iteration_rusage u ON u.window_id = t.window_id AND u.i = t.i"
    " WHERE w.run_id = ?1 AND w.first_seq + w.n > ?2 AND w.first_seq + t.i >= ?2 ORDER BY w.first_seq, w.id, "
    "t.i LIMIT ?3";

struct page {
    struct qs_iterations *it;
    int64_t *windows; /* of each row */
    size_t limit;
    bool rusage;
};

static void take_row(struct qs_stmt *s, struct page *page)
{
    struct qs_iteration_info *info = &page->it->at[page->it->count];
    page->windows[page->it->count++] = qs_stmt_get_int(s);
    info->seq = (uint64_t)qs_stmt_get_int(s);
    info->window = (uint32_t)qs_stmt_get_int(s);
    info->i = (uint32_t)qs_stmt_get_int(s);
    info->taint = (uint32_t)qs_stmt_get_int(s);
    info->phase = (enum qs_phase)qs_stmt_get_int(s);
    info->start_ns = INT64_MIN;
    qs_stmt_get_maybe(s, &info->start_ns);
    info->duration_ns = qs_stmt_get_int(s);
    info->evals = (uint32_t)qs_stmt_get_int(s);
    info->status = (int32_t)qs_stmt_get_int(s);
    int64_t window = 0;
    page->rusage |= qs_stmt_get_maybe(s, &window);
    for (int c = 0; c < QS_ROW_METRICS_MAX; c++) {
        info->values[c] = INT64_MIN;
        if (c < QS_RUSAGE_COLUMNS)
            qs_stmt_get_maybe(s, &info->values[c]);
    }
}

static bool read_rows(struct qs_store_reader *r, int64_t run, uint64_t from_seq, struct page *page,
                      struct qs_err *err)
{
    struct qs_stmt s;
    if (!qs_stmt_begin(&r->db, &s, page_sql, err))
        return false;
    qs_stmt_int(&s, run);
    qs_stmt_int(&s, from_seq > INT64_MAX ? INT64_MAX : (int64_t)from_seq);
    qs_stmt_int(&s, (int64_t)page->limit);
    bool row = false, ok = qs_stmt_step(&s, &row, err);
    while (ok && row && page->it->count < page->limit) {
        take_row(&s, page);
        ok = qs_stmt_step(&s, &row, err);
    }
    qs_stmt_end(&s);
    return ok;
}

/* The column of a metric beyond rusage; -1 where there is no room. */
static int column_of(struct qs_iterations *it, const char *name)
{
    for (size_t k = 0; k < it->metric_count; k++)
        if (strcmp(it->metrics[k], name) == 0)
            return (int)k;
    if (it->metric_count == QS_ROW_METRICS_MAX)
        return -1;
    it->metrics[it->metric_count] = qs_strdup(name);
    return (int)it->metric_count++;
}

static bool read_window_metrics(struct qs_store_reader *r, struct page *page, size_t first, size_t end,
                                struct qs_err *err)
{
    struct qs_stmt s;
    if (!qs_stmt_begin(
            &r->db, &s,
            "SELECT m.name, v.i, v.value FROM iteration_metric v JOIN metric m ON m.id = v.metric_id"
            " WHERE v.window_id = ? ORDER BY v.metric_id, v.i",
            err))
        return false;
    qs_stmt_int(&s, page->windows[first]);
    struct qs_iteration_info *rows = page->it->at;
    bool ok = true;
    while (qs_stmt_next(&s, &ok, err)) {
        int column = column_of(page->it, qs_stmt_get_text(&s));
        int64_t i = qs_stmt_get_int(&s), at = i - rows[first].i;
        if (column >= 0 && at >= 0 && (size_t)at < end - first)
            rows[first + (size_t)at].values[column] = qs_stmt_get_int(&s);
    }
    return ok;
}

static bool read_metrics(struct qs_store_reader *r, struct page *page, struct qs_err *err)
{
    struct qs_iterations *it = page->it;
    for (int c = 0; page->rusage && c < QS_RUSAGE_COLUMNS; c++)
        it->metrics[it->metric_count++] = qs_strdup(qs_rusage_names[c]);
    for (size_t first = 0, end; first < it->count; first = end) {
        for (end = first + 1; end < it->count && page->windows[end] == page->windows[first];)
            end++;
        if (!read_window_metrics(r, page, first, end, err))
            return false;
    }
    return true;
}

bool qs_read_iterations(struct qs_store_reader *r, const uint8_t run_uid[16], uint64_t from_seq, size_t limit,
                        struct qs_iterations *ret, struct qs_err *err)
{
    *ret = (struct qs_iterations){0};
    if (limit < 1 || limit > 10000)
        return qs_fail(err, QS_E_LIMIT, "a page of iterations has 1 to 10000, not %zu", limit);
    int64_t run = 0;
    if (!qs_find_run(&r->db, run_uid, &run, err))
        return false;
    ret->at = qs_calloc(limit, sizeof *ret->at);
    struct page page = {.it = ret, .windows = qs_calloc(limit, sizeof *page.windows), .limit = limit};
    bool ok = read_rows(r, run, from_seq, &page, err) && read_metrics(r, &page, err);
    free(page.windows);
    if (!ok)
        qs_iterations_free(ret);
    return ok;
}

void qs_iterations_free(struct qs_iterations *it)
{
    for (size_t k = 0; k < it->metric_count; k++)
        free(it->metrics[k]);
    free(it->at);
    *it = (struct qs_iterations){0};
}

bool qs_read_whole_values(struct qs_store_reader *r, const uint8_t run_uid[16], struct qs_whole_values *ret,
                          struct qs_err *err)
{
    struct qs_stmt s;
    int64_t run = 0;
    bool ok = true;
    *ret = (struct qs_whole_values){0};
    if (!qs_find_run(&r->db, run_uid, &run, err) ||
        !qs_stmt_begin(&r->db, &s,
                       "SELECT w.first_seq, w.n, substr(s.name, 8), e.after FROM window w"
                       " JOIN evidence e ON e.window_id = w.id JOIN sensor s ON s.id = e.sensor_id"
                       " WHERE w.run_id = ? AND s.name GLOB 'metric:*' AND e.after IS NOT NULL"
                       " ORDER BY w.first_seq, w.id, s.id",
                       err))
        return false;
    qs_stmt_int(&s, run);
    while (qs_stmt_next(&s, &ok, err)) {
        ret->at = qs_grow(ret->at, ret->count, sizeof *ret->at);
        struct qs_whole_value *v = &ret->at[ret->count++];
        v->first_seq = (uint64_t)qs_stmt_get_int(&s);
        v->n = (uint64_t)qs_stmt_get_int(&s);
        v->name = qs_stmt_dup_text(&s);
        v->value = qs_stmt_get_int(&s);
    }
    if (!ok)
        qs_whole_values_free(ret);
    return ok;
}

void qs_whole_values_free(struct qs_whole_values *values)
{
    for (size_t i = 0; i < values->count; i++)
        free(values->at[i].name);
    free(values->at);
    *values = (struct qs_whole_values){0};
}
