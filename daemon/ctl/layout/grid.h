/* Text in columns. Included by layout.h. */
#ifndef QS_CTL_LAYOUT_GRID_H
#define QS_CTL_LAYOUT_GRID_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "ctl/layout/face.h"

/* A table of text: rows of cells, aligned. Cells are raw text. A column with `keep` 0 always stays; others
 * are left out, highest first, until the rest fits with its long texts cut. */
struct qs_grid_column {
    const char *title; /* or "" */
    bool right;
    unsigned keep;
    size_t most; /* columns at most, of text that may be cut further; 0: no bound */
};
struct qs_grid {
    const struct qs_grid_column *columns;
    size_t column_count;
    char **cells; /* row by row, owned */
    size_t row_count;
};
void qs_grid_init(struct qs_grid *grid, const struct qs_grid_column *columns, size_t column_count);
void qs_grid_done(struct qs_grid *grid);
/* Adds the next cell, in order; text is copied. */
void qs_grid_cell(struct qs_grid *grid, const char *text);
void qs_grid_print(const struct qs_grid *grid, const struct qs_face *face, const char *indent,
                   struct qs_buf *out);

#endif
