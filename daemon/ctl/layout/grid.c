#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "ctl/layout/layout.h"

enum { COLUMNS_MAX = 24, GAP = 2, SHORT_COLUMNS = 16 };

void qs_grid_init(struct qs_grid *grid, const struct qs_grid_column *columns, size_t column_count)
{
    *grid = (struct qs_grid){.columns = columns,
                             .column_count = column_count < COLUMNS_MAX ? column_count : COLUMNS_MAX};
}

static size_t cell_count(const struct qs_grid *grid)
{
    size_t n = 0;
    while (grid->cells != NULL && grid->cells[n] != NULL)
        n++;
    return n;
}

void qs_grid_done(struct qs_grid *grid)
{
    for (size_t i = cell_count(grid); i > 0; i--)
        free(grid->cells[i - 1]);
    free(grid->cells);
    grid->cells = NULL;
}

void qs_grid_cell(struct qs_grid *grid, const char *text)
{
    size_t n = cell_count(grid);
    grid->cells = qs_grow(grid->cells, n + 1, sizeof(*grid->cells)); /* the NULL at the end is one */
    grid->cells[n] = qs_strdup(text);
    for (char *s = strchr(grid->cells[n], '\n'); s != NULL; s = strchr(s, '\n'))
        *s = ' '; /* a cell is one line */
    grid->cells[n + 1] = NULL;
    grid->row_count = (n + grid->column_count) / grid->column_count;
}

/* The cells as shown, and the width of each column. */
struct shown {
    char **cells;
    char *titles[COLUMNS_MAX];
    size_t widths[COLUMNS_MAX];
    bool left_out[COLUMNS_MAX];
};

static char *show_cell(const struct qs_face *face, const char *raw)
{
    struct qs_buf out;
    qs_buf_init(&out);
    qs_face_text(face, &out, raw);
    return qs_buf_take(&out);
}

static void measure(const struct qs_grid *grid, const struct qs_face *face, struct shown *s)
{
    size_t n = cell_count(grid);
    s->cells = qs_calloc(n + 1, sizeof(*s->cells));
    for (size_t c = 0; c < grid->column_count; c++) {
        s->titles[c] = show_cell(face, grid->columns[c].title);
        s->widths[c] = qs_face_cells(s->titles[c]);
    }
    for (size_t i = 0; i < n; i++) {
        size_t c = i % grid->column_count;
        s->cells[i] = show_cell(face, grid->cells[i]);
        size_t w = qs_face_cells(s->cells[i]);
        if (w > s->widths[c])
            s->widths[c] = w;
    }
    for (size_t c = 0; c < grid->column_count; c++)
        if (grid->columns[c].most > 0 && s->widths[c] > grid->columns[c].most)
            s->widths[c] = grid->columns[c].most;
}

/* How narrow a column may become: long text (it has a bound) is cut before any other column goes. */
static size_t least(const struct qs_grid *grid, const struct shown *s, size_t c)
{
    size_t title = qs_face_cells(grid->columns[c].title);
    size_t bound = title > SHORT_COLUMNS ? title : SHORT_COLUMNS;
    return grid->columns[c].most > 0 && s->widths[c] > bound ? bound : s->widths[c];
}

static size_t total(const struct qs_grid *grid, const struct shown *s, bool cut)
{
    size_t sum = 0;
    for (size_t c = 0; c < grid->column_count; c++)
        if (!s->left_out[c])
            sum += (cut ? least(grid, s, c) : s->widths[c]) + GAP;
    return sum - GAP;
}

/* The widest column that may be narrower, or -1. */
static int next_to_cut(const struct qs_grid *grid, const struct shown *s)
{
    int found = -1;
    for (size_t c = 0; c < grid->column_count; c++)
        if (!s->left_out[c] && least(grid, s, c) < s->widths[c] &&
            (found < 0 || s->widths[c] > s->widths[found]))
            found = (int)c;
    return found;
}

/* The column that goes first, or -1. */
static int next_to_go(const struct qs_grid *grid, const struct shown *s)
{
    int found = -1;
    unsigned highest = 0;
    for (size_t c = 0; c < grid->column_count; c++)
        if (!s->left_out[c] && grid->columns[c].keep > highest) {
            highest = grid->columns[c].keep;
            found = (int)c;
        }
    return found;
}

static void fit(const struct qs_grid *grid, struct shown *s, size_t width)
{
    for (int c; total(grid, s, true) > width && (c = next_to_go(grid, s)) >= 0;)
        s->left_out[c] = true;
    for (int c; total(grid, s, false) > width && (c = next_to_cut(grid, s)) >= 0;)
        s->widths[c]--;
    /* Still too wide: the last column that is text gives way. */
    for (size_t c = grid->column_count; c > 0 && total(grid, s, false) > width; c--) {
        size_t over = total(grid, s, false) - width;
        if (!grid->columns[c - 1].right && !s->left_out[c - 1])
            s->widths[c - 1] -= over < s->widths[c - 1] - 1 ? over : s->widths[c - 1] - 1;
    }
}

static void print_row(const struct qs_grid *grid, const struct qs_face *face, const struct shown *s,
                      char *const *cells, struct qs_buf *out)
{
    size_t from = out->len;
    bool first = true;
    for (size_t c = 0; c < grid->column_count; c++) {
        const char *text = cells[c] != NULL ? cells[c] : "";
        if (s->left_out[c])
            continue;
        qs_face_fill(out, first ? 0 : GAP);
        first = false;
        if (grid->columns[c].right)
            qs_face_right(face, out, text, s->widths[c]);
        else
            qs_face_left(face, out, text, s->widths[c]);
    }
    while (out->len > from && out->data[out->len - 1] == ' ')
        out->data[--out->len] = '\0';
}

void qs_grid_print(const struct qs_grid *grid, const struct qs_face *face, const char *indent,
                   struct qs_buf *out)
{
    struct shown s = {0};
    measure(grid, face, &s);
    fit(grid, &s, face->width - strlen(indent));
    qs_buf_str(out, indent);
    qs_face_ink(face, out, QS_INK_DIM);
    print_row(grid, face, &s, s.titles, out);
    qs_face_ink(face, out, QS_INK_PLAIN);
    qs_buf_char(out, '\n');
    for (size_t r = 0; r < grid->row_count; r++) {
        qs_buf_str(out, indent);
        print_row(grid, face, &s, s.cells + r * grid->column_count, out);
        qs_buf_char(out, '\n');
    }
    for (size_t i = cell_count(grid); i > 0; i--)
        free(s.cells[i - 1]);
    for (size_t c = 0; c < grid->column_count; c++)
        free(s.titles[c]);
    free(s.cells);
}
