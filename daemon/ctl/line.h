/* The one line of a terminal that is drawn again and again. */
#ifndef QS_CTL_LINE_H
#define QS_CTL_LINE_H

#include <stdbool.h>
#include <stdio.h>

#include "ctl/layout/face.h"

/* Appends the text as such a line: indented, as the terminal shows it, cut to what fits in one row. */
void qs_line_make(const struct qs_face *face, const char *text, struct qs_buf *out);
/* Takes the line away where it is shown. */
void qs_line_clear(FILE *to, bool *shown);

#endif
