#include "ctl/line.h"

void qs_line_make(const struct qs_face *face, const char *text, struct qs_buf *out)
{
    QS_BUF(safe);
    qs_face_text(face, &safe, text);
    qs_buf_str(out, "  ");
    qs_face_left(face, out, safe.data, face->width - 3);
    while (out->data[out->len - 1] == ' ')
        out->data[--out->len] = '\0';
}

void qs_line_clear(FILE *to, bool *shown)
{
    if (*shown)
        fputs("\r\033[K", to);
    *shown = false;
}
