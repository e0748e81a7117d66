/* Text for a terminal or a file: how wide, which characters, whether in colour. Everything that came from
 * elsewhere (names, commands, output) is escaped here before it is shown. */
#ifndef QS_CTL_LAYOUT_FACE_H
#define QS_CTL_LAYOUT_FACE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

struct qs_face {
    size_t width; /* columns of a line, at least QS_FACE_LEAST */
    bool utf8;    /* false: plain ASCII, µ becomes u */
    bool color;
};
enum { QS_FACE_LEAST = 30, QS_FACE_USUAL = 80, QS_FACE_MOST = 500 };

enum qs_ink { QS_INK_PLAIN, QS_INK_BOLD, QS_INK_DIM, QS_INK_GOOD, QS_INK_BAD, QS_INK_WARN };

/* Appends s escaped, in the face's characters. s may be NULL: nothing. */
void qs_face_text(const struct qs_face *face, struct qs_buf *out, const char *s);
/* Columns that UTF-8 text takes: two for wide East Asian characters, none for combining marks. */
size_t qs_face_cells(const char *s);
/* Appends s (already the face's text), filled with spaces to `columns`; what is longer is cut with an
 * ellipsis. */
void qs_face_left(const struct qs_face *face, struct qs_buf *out, const char *s, size_t columns);
void qs_face_right(const struct qs_face *face, struct qs_buf *out, const char *s, size_t columns);
/* Appends `lead` and then `text` (raw, from elsewhere), broken at spaces so that no line is wider than the
 * face; further lines, and those of the text itself, begin below it, so that none looks like one of ours.
 * Ends with a newline. */
void qs_face_wrap(const struct qs_face *face, struct qs_buf *out, const char *lead, const char *text,
                  enum qs_ink ink);
/* n spaces. */
void qs_face_fill(struct qs_buf *out, size_t n);
/* Switches ink on, or back with QS_INK_PLAIN; nothing without colour. */
void qs_face_ink(const struct qs_face *face, struct qs_buf *out, enum qs_ink ink);

/* The face of a descriptor: its terminal's width (COLUMNS, else asked, else 80), the locale's characters
 * (setlocale was called), colour by style: "auto" (a terminal, no NO_COLOR), "color", "plain". */
void qs_face_of(struct qs_face *face, int fd, const char *style);

#endif
