#include "ctl/layout/chart.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"

enum { ROWS = 8, COLUMNS_MOST = 64, COLUMNS_LEAST = 8, CELL_MOST = 3 };

struct canvas {
    size_t columns, margin;
    double lo, hi;
    double *v;                /* of each column, NaN: none; owned */
    enum qs_chart_mark *mark; /* owned */
};

static size_t margin_of(const struct qs_chart *chart)
{
    size_t top = qs_face_cells(chart->top), bottom = qs_face_cells(chart->bottom);
    return 2 + (top > bottom ? top : bottom);
}

/* Few points stand apart; many share columns. */
static size_t columns_of(const struct qs_face *face, size_t margin, size_t n)
{
    size_t room = face->width > margin + 3 + COLUMNS_LEAST ? face->width - margin - 3 : COLUMNS_LEAST;
    room = room < COLUMNS_MOST ? room : COLUMNS_MOST;
    size_t cell = room / n < CELL_MOST ? room / n : CELL_MOST;
    return cell > 0 ? n * cell : room;
}

static void canvas_init(struct canvas *c, const struct qs_face *face, const struct qs_chart *chart)
{
    *c = (struct canvas){.lo = INFINITY, .hi = -INFINITY, .margin = margin_of(chart)};
    c->columns = columns_of(face, c->margin, chart->n);
    c->v = qs_calloc(c->columns, sizeof(*c->v));
    c->mark = qs_calloc(c->columns, sizeof(*c->mark));
    QS_FREED size_t *count = qs_calloc(c->columns, sizeof(*count));
    for (size_t i = 0; i < chart->n; i++) {
        size_t at = i * c->columns / chart->n;
        c->v[at] += chart->v[i];
        count[at]++;
        if (chart->mark[i] > c->mark[at])
            c->mark[at] = chart->mark[i];
        c->lo = chart->v[i] < c->lo ? chart->v[i] : c->lo;
        c->hi = chart->v[i] > c->hi ? chart->v[i] : c->hi;
    }
    for (size_t k = 0; k < c->columns; k++)
        c->v[k] = count[k] > 0 ? c->v[k] / (double)count[k] : NAN;
}

/* 0 is the top; ROWS where there is no value. */
static size_t row_of(const struct canvas *c, double v)
{
    if (!isfinite(v))
        return ROWS;
    double share = c->hi > c->lo ? (c->hi - v) / (c->hi - c->lo) : 0.5;
    if (!(share >= 0 && share <= 1))
        share = 0.5; /* a range beyond what a double holds */
    size_t row = (size_t)(share * (ROWS - 1) + 0.5);
    return row < ROWS ? row : ROWS - 1;
}

static void add_row(const struct qs_face *face, const struct qs_chart *chart, const struct canvas *c,
                    size_t row, struct qs_buf *out)
{
    qs_face_right(face, out, row == 0 ? chart->top : row == ROWS - 1 ? chart->bottom : "", c->margin);
    qs_buf_str(out, face->utf8 ? " │" : " |");
    size_t end = c->columns;
    while (end > 0 && row_of(c, c->v[end - 1]) != row && c->mark[end - 1] != QS_CHART_BREAK)
        end--;
    for (size_t k = 0; k < end; k++) {
        if (row_of(c, c->v[k]) == row)
            qs_buf_str(out, face->utf8 ? "•" : "*");
        else
            qs_buf_str(out, c->mark[k] != QS_CHART_BREAK ? " " : face->utf8 ? "┊" : ":");
    }
    qs_buf_char(out, '\n');
}

static void add_marks(const struct qs_face *face, const struct canvas *c, struct qs_buf *out)
{
    static const char *const utf8[] = {"─", "~", "?", "▼", "▲", "┊"}, *const ascii[] = {"-", "~", "?",
                                                                                        "v", "^", ":"};
    qs_face_fill(out, c->margin + 1);
    qs_buf_str(out, face->utf8 ? "└" : "+");
    for (size_t k = 0; k < c->columns; k++)
        qs_buf_str(out, (face->utf8 ? utf8 : ascii)[c->mark[k]]);
    qs_buf_char(out, '\n');
}

static void add_ends(const struct qs_chart *chart, const struct canvas *c, struct qs_buf *out)
{
    size_t first = qs_face_cells(chart->first), last = qs_face_cells(chart->last);
    qs_face_fill(out, c->margin + 2);
    qs_buf_str(out, chart->first);
    if (c->columns > first + last) {
        qs_face_fill(out, c->columns - first - last);
        qs_buf_str(out, chart->last);
    }
    qs_buf_char(out, '\n');
}

void qs_layout_chart(const struct qs_face *face, const struct qs_chart *chart, struct qs_buf *out)
{
    struct canvas c;
    if (chart->n == 0)
        return;
    canvas_init(&c, face, chart);
    for (size_t row = 0; row < ROWS; row++)
        add_row(face, chart, &c, row, out);
    add_marks(face, &c, out);
    add_ends(chart, &c, out);
    free(c.v);
    free(c.mark);
}
