/* Two files as tables: what was found, what has no partner. */
#include <stdlib.h>

#include "base/mem.h"
#include "report/analysis/tables.h"
#include "report/tables/tables.h"

struct qs_file_tables {
    const struct qs_analysis_file *files;
    const struct qs_analysis_opts *opts;
    struct qs_tables rows, alone[2]; /* of the same form: parts of the whole */
    size_t count;
};

struct qs_file_tables *qs_file_tables_begin(const struct qs_analysis_file *files,
                                            const struct qs_analysis_opts *opts)
{
    if (!opts->tables)
        return NULL;
    struct qs_file_tables *f = qs_calloc(1, sizeof *f);
    f->files = files;
    f->opts = opts;
    qs_tables_init_like(&f->rows, opts->tables);
    for (int k = 0; k < 2; k++)
        qs_tables_init_like(&f->alone[k], opts->tables);
    return f;
}

void qs_file_tables_verdict(struct qs_file_tables *f, const char *benchmark, const struct qs_comparison *c)
{
    if (!f)
        return;
    f->count++;
    qs_tables_verdict_row(&f->rows,
                          &(struct qs_tables_verdict){.point = benchmark,
                                                      .where = f->files[QS_CAND].name,
                                                      .arms = {c->names[QS_BASE], c->names[QS_CAND]},
                                                      .c = c});
}

void qs_file_tables_alone(struct qs_file_tables *f, int side, const struct qs_import_series *series)
{
    if (!f)
        return;
    struct qs_tables *t = &f->alone[side];
    qs_buf_str(&t->out, "-");
    if (series->benchmark && series->benchmark[0] != '\0')
        qs_buf_char(&t->out, ' ');
    qs_tables_text(t, series->benchmark);
    qs_buf_char(&t->out, ' ');
    qs_tables_text(t, series->metric);
    qs_buf_char(&t->out, '\n');
}

static void put_verdicts(const struct qs_file_tables *f, const struct qs_tally *tally, struct qs_tables *t)
{
    if (f->count == 0) {
        qs_tables_nothing_in_common(t);
        return;
    }
    qs_tables_verdict_head(t, tally);
    qs_buf_str(&t->out, f->rows.out.data);
    qs_tables_end(t);
}

const char *qs_file_tables_end(struct qs_file_tables *f, const struct qs_tally *tally)
{
    static const char *const titles[2] = {"Only in the base", "Only in the candidate"};
    if (!f)
        return NULL;
    struct qs_tables *t = f->opts->tables;
    qs_tables_title(t, f->files[QS_CAND].name, f->files[QS_BASE].name);
    put_verdicts(f, tally, t);
    for (int k = 0; k < 2; k++) {
        if (k == 0 && f->opts->views.count > 0)
            qs_buf_char(&t->out, '\n');
        qs_tables_views(t, f->files[k].name, &f->opts->views, &f->files[k].tally);
    }
    for (int k = 0; k < 2; k++) {
        if (f->alone[k].out.len > 0)
            qs_buf_fmt(&t->out, "\n%s:\n\n%s", titles[k], f->alone[k].out.data);
        qs_tables_done(&f->alone[k]);
    }
    qs_tables_done(&f->rows);
    free(f);
    return t->out.data;
}
