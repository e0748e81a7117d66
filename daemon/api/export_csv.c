/* Every iteration of every run, tainted ones too: raw data are never dropped. Read and sent in pages, so that
 * neither memory nor a read is held for long. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "api/compare.h"
#include "api/handlers.h"
#include "api/reply.h"
#include "base/mem.h"
#include "base/text.h"
#include "config/job/stored.h"
#include "proto/names.h"
#include "store/read/values.h"
#include "store/read/whole.h"

enum { RUNS_PAGE = 500, ITERATIONS_PAGE = 1000, COLUMNS_MOST = 64 };

struct csv {
    struct qs_job_spec *spec;
    struct qs_runs runs; /* a page of them */
    size_t run;          /* the one being read */
    uint64_t next_seq;
    char *columns[COLUMNS_MOST]; /* owned: the metrics of all runs, then those of windows */
    size_t column_count;
    struct qs_whole_values whole; /* of the run that is being read */
    size_t whole_at;              /* the first of them whose window is not over */
    struct qs_iterations page;
    bool started, over;
};

static void done_csv(void *data)
{
    struct csv *c = data;
    qs_job_free(c->spec);
    qs_runs_free(&c->runs);
    qs_iterations_free(&c->page);
    qs_whole_values_free(&c->whole);
    for (size_t i = 0; i < c->column_count; i++)
        free(c->columns[i]);
}

/* RFC 4180, but for its line ends: people read this with awk. */
static void put_text(struct qs_buf *out, const char *s)
{
    if (!s)
        return;
    if (s[strcspn(s, ",\"\n")] == 0) {
        qs_buf_str(out, s);
        return;
    }
    qs_buf_char(out, '"');
    for (; *s; s++) {
        if (*s == '"')
            qs_buf_char(out, '"');
        qs_buf_char(out, *s);
    }
    qs_buf_char(out, '"');
}

static void add_column(struct csv *c, const char *name)
{
    for (size_t i = 0; i < c->column_count; i++) {
        if (strcmp(c->columns[i], name) == 0)
            return;
    }
    if (c->column_count < COLUMNS_MOST)
        c->columns[c->column_count++] = qs_strdup(name);
}

static bool add_window_columns(struct qs_store_reader *reader, struct csv *c, int64_t job, struct qs_err *err)
{
    struct qs_metric_list list = {0};
    bool ok = qs_metric_list_add(reader, NULL, job, &list, err);
    for (size_t i = 0; i < list.count; i++)
        if (list.at[i].of_windows)
            add_column(c, list.at[i].name);
    qs_metric_list_done(&list);
    return ok;
}

/* Pool. The first iteration of each run tells the run's metrics. */
static bool read_columns(struct qs_store_reader *reader, struct csv *c, int64_t job, struct qs_err *err)
{
    struct qs_runs runs;
    int64_t after = 0;
    bool ok = true;
    for (size_t count = RUNS_PAGE; ok && count == RUNS_PAGE;) {
        if (!qs_read_runs(reader, job, after, RUNS_PAGE, &runs, err))
            return false;
        count = runs.count;
        for (size_t r = 0; ok && r < count; r++) {
            struct qs_iterations it = {0};
            ok = qs_read_iterations(reader, runs.at[r].uid, 0, 1, &it, err);
            for (size_t m = 0; ok && m < it.metric_count; m++)
                add_column(c, it.metrics[m]);
            qs_iterations_free(&it);
            after = runs.at[r].id;
        }
        qs_runs_free(&runs);
    }
    return ok;
}

/* Pool. */
static bool read_head(struct qs_store_reader *reader, struct qs_exchange *ex, struct qs_err *err)
{
    struct csv *c = ex->data;
    struct qs_jobs jobs = {0};
    bool ok = qs_read_job(reader, ex->match.id, &jobs, err) && qs_compare_check_ended(&jobs.at[0], err) &&
              qs_job_from_store(jobs.at[0].spec_json, jobs.at[0].seed, &c->spec, err);
    qs_jobs_free(&jobs);
    return ok && read_columns(reader, c, ex->match.id, err) &&
           add_window_columns(reader, c, ex->match.id, err) &&
           qs_read_runs(reader, ex->match.id, 0, RUNS_PAGE, &c->runs, err);
}

/* Pool. The next page of runs, where this one is used up. */
static bool read_runs(struct qs_store_reader *reader, struct csv *c, int64_t job, struct qs_err *err)
{
    if (c->run < c->runs.count)
        return true;
    int64_t after = c->runs.count == RUNS_PAGE ? c->runs.at[c->runs.count - 1].id : 0;
    qs_runs_free(&c->runs);
    c->runs = (struct qs_runs){0};
    c->run = 0;
    if (after > 0 && !qs_read_runs(reader, job, after, RUNS_PAGE, &c->runs, err))
        return false;
    c->over = c->runs.count == 0;
    return true;
}

/* Pool. */
static bool read_page(struct qs_store_reader *reader, struct qs_exchange *ex, struct qs_err *err)
{
    struct csv *c = ex->data;
    if (!read_runs(reader, c, ex->match.id, err))
        return false;
    if (c->over)
        return true;
    const uint8_t *run = c->runs.at[c->run].uid;
    if (c->next_seq == 0)
        qs_whole_values_free(&c->whole);
    c->whole_at = c->next_seq == 0 ? 0 : c->whole_at;
    return (c->next_seq > 0 || qs_read_whole_values(reader, run, &c->whole, err)) &&
           qs_read_iterations(reader, run, c->next_seq, ITERATIONS_PAGE, &c->page, err);
}

static void put_metrics(struct qs_buf *out, struct csv *c, const struct qs_iteration_info *i)
{
    while (c->whole_at < c->whole.count &&
           i->seq - c->whole.at[c->whole_at].first_seq >= c->whole.at[c->whole_at].n &&
           i->seq >= c->whole.at[c->whole_at].first_seq)
        c->whole_at++;
    for (size_t k = 0; k < c->column_count; k++) {
        qs_buf_char(out, ',');
        for (size_t m = 0; m < c->page.metric_count; m++) {
            if (strcmp(c->page.metrics[m], c->columns[k]) == 0 && i->values[m] != INT64_MIN)
                qs_buf_fmt(out, "%" PRId64, i->values[m]);
        }
        for (size_t v = c->whole_at; v < c->whole.count && c->whole.at[v].first_seq <= i->seq; v++)
            if (strcmp(c->whole.at[v].name, c->columns[k]) == 0)
                qs_buf_fmt(out, "%" PRId64, c->whole.at[v].value);
    }
}

static void put_line(struct qs_buf *out, struct csv *c, const struct qs_iteration_info *i)
{
    const struct qs_run_info *run = &c->runs.at[c->run];
    char uid[33], taint[256];
    qs_hex(run->uid, sizeof run->uid, uid);
    qs_buf_fmt(out, "%s,", uid);
    put_text(out, run->arm_name);
    qs_buf_char(out, ',');
    put_text(out, run->arm < c->spec->arm_count ? c->spec->arms[run->arm].build_label : NULL);
    qs_buf_fmt(out, ",%" PRIu32 ",", run->point);
    put_text(out, run->point < c->spec->point_count ? c->spec->points[run->point].label : NULL);
    qs_buf_char(out, ',');
    put_text(out, run->device);
    qs_buf_fmt(out, ",%" PRIu32 ",%" PRIu32 ",%" PRIu64 ",%" PRId64 ",%" PRIu32 ",", run->block, run->pos,
               i->seq, i->duration_ns, i->evals);
    put_text(out, qs_taint_names(i->taint | (run->taint & QS_TAINT_INTERRUPTED), taint, sizeof taint));
    qs_buf_fmt(out, ",%" PRId32 ",%s,", i->status, qs_phase_name(i->phase));
    if (run->arm < c->spec->arm_count && run->point < c->spec->point_count)
        put_text(out, qs_job_conditions(c->spec, run->point, run->arm)->name);
    put_metrics(out, c, i);
    qs_buf_str(out, "\n");
}

static void take_page(struct qs_exchange *ex)
{
    struct csv *c = ex->data;
    for (size_t i = 0; i < c->page.count; i++) {
        put_line(&ex->reply, c, &c->page.at[i]);
        c->next_seq = c->page.at[i].seq + 1;
    }
    if (c->page.count < ITERATIONS_PAGE) {
        c->run++;
        c->next_seq = 0;
    }
    qs_iterations_free(&c->page);
    ex->flow.ended = c->over;
}

static void more(struct qs_exchange *ex)
{
    qs_exchange_read(ex, read_page, take_page);
}

static void begin(struct qs_exchange *ex)
{
    struct csv *c = ex->data;
    qs_buf_str(
        &ex->reply,
        "run,arm,build,point,label,device,block,pos,seq,duration_ns,evals,taint,status,phase,conditions");
    for (size_t k = 0; k < c->column_count; k++) {
        qs_buf_char(&ex->reply, ',');
        put_text(&ex->reply, c->columns[k]);
    }
    qs_buf_str(&ex->reply, "\n");
    qs_reply_flow(ex, "text/csv; charset=utf-8", more);
}

void qs_export_csv(struct qs_exchange *ex)
{
    qs_exchange_data(ex, sizeof(struct csv), done_csv);
    qs_exchange_read(ex, read_head, begin);
}
