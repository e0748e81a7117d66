/* History over the store: 500 nights of 10 benchmarks, 3 runs of 1000 iterations each, written through the
 * store itself. What one page and the list of all series cost is told in units of one bare SQLite scan of the
 * same iterations; in rounds whose order is drawn. The values are made up: nothing was measured. */
#include <stdio.h>

#include "report/history/history.h"
#include "stored.h"

enum {
    NIGHTS = QS_FULL_OR_SMOKE(500, 5),
    BENCHMARKS = 10,
    RUNS = 3,
    WINDOWS = 10,
    PER_WINDOW = QS_FULL_OR_SMOKE(100, 5)
};

struct bench {
    struct stored at;
    size_t points, series;
};

/* The document of one series, or what the list says of each. */
static bool read_series(struct bench *b, struct qs_store_reader *r, const struct qs_series_info *series,
                        bool latest, struct qs_buf *out, struct qs_err *err)
{
    struct qs_history_metrics metrics;
    struct qs_history_data data = {0};
    int64_t since_ns = latest ? series->last_wall_ns : 0,
            until_ns = latest ? series->last_wall_ns : INT64_MAX;
    if (!qs_read_series_metrics(r, series, &metrics, err))
        return false;
    bool ok = qs_read_history(r, series, &metrics.at[0], since_ns, until_ns, &data, err);
    struct qs_history_input in = {.series = series,
                                  .metric = &metrics.at[0],
                                  .metrics = &metrics,
                                  .data = &data,
                                  .opts = qs_history_opts_default()};
    ok = ok && (latest || qs_history_document(&in, out, err));
    for (size_t i = 0; ok && latest && i < data.count; i++)
        qs_buf_fmt(out, "%f ", qs_history_value_of(&data.at[i], 0.95).value);
    stored_take_fresh(&b->at, &data);
    qs_history_data_free(&data);
    qs_history_metrics_free(&metrics);
    return ok;
}

static bool read_page(struct qs_store_reader *r, void *user, struct qs_err *err)
{
    static const struct qs_series_filter all;
    struct bench *b = user;
    struct qs_series_list list;
    struct qs_buf out;
    qs_buf_init(&out);
    bool ok = qs_read_series(r, &all, 10000, &list, err) && read_series(b, r, &list.at[0], false, &out, err);
    b->points = out.len;
    qs_buf_done(&out);
    qs_series_list_free(&list);
    return ok;
}

static bool read_list(struct qs_store_reader *r, void *user, struct qs_err *err)
{
    static const struct qs_series_filter all;
    struct bench *b = user;
    struct qs_series_list list;
    struct qs_buf out;
    qs_buf_init(&out);
    bool ok = qs_read_series(r, &all, 200, &list, err);
    for (size_t i = 0; ok && i < list.count; i++)
        ok = read_series(b, r, &list.at[i], true, &out, err);
    b->series = list.count;
    qs_buf_done(&out);
    qs_series_list_free(&list);
    return ok;
}

static void read_now(struct bench *b, qs_store_read_fn *read)
{
    struct qs_err err = QS_ERR_INIT;
    if (!qs_store_read_now(b->at.store, read, b, &err))
        stored_die(err.text);
}

static void forget(void *user)
{
    struct bench *b = user;
    stored_forget(&b->at);
}

static void run_scan(void *user)
{
    struct bench *b = user;
    stored_scan(&b->at);
}

static void run_first(void *user)
{
    struct bench *b = user;
    read_now(b, read_page);
    if (b->at.fresh_count != (size_t)NIGHTS * RUNS)
        stored_die("a first page found medians that nobody had kept");
}

static void run_page(void *user)
{
    struct bench *b = user;
    read_now(b, read_page);
    if (b->points == 0 || b->at.fresh_count != 0)
        stored_die("a page computed what was kept");
}

static void run_list(void *user)
{
    struct bench *b = user;
    read_now(b, read_list);
    if (b->series != BENCHMARKS)
        stored_die("the list lacks series");
}

int main(void)
{
    static struct bench b;
    static const struct stored_side sides[] = {
        {.name = "bare scan of one series", .run = run_scan},
        {.name = "first page of it", .prepare = forget, .run = run_first},
        {.name = "page of it", .run = run_page},
        {.name = "list of all series", .run = run_list}};
    printf("series: %d nights, %d benchmarks, %d runs of %d iterations; %d rounds, order drawn\n", NIGHTS,
           BENCHMARKS, RUNS, WINDOWS * PER_WINDOW, STORED_ROUNDS);
    stored_open(&b.at, &(struct stored_size){.nights = NIGHTS,
                                             .benchmarks = BENCHMARKS,
                                             .runs = RUNS,
                                             .windows = WINDOWS,
                                             .per_window = PER_WINDOW});
    stored_rounds(&b.at, sides, sizeof sides / sizeof *sides, &b);
    stored_close(&b.at);
    return 0;
}
