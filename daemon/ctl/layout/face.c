#include "ctl/layout/face.h"

#include <langinfo.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/text.h"

static const struct {
    const char *utf8, *ascii;
} plain_forms[] = {{"–", "-"}, {"—", "-"}, {"−", "-"},  {"×", "x"},  {"±", "+-"},  {"µ", "u"},
                   {"μ", "u"}, {"°", ""},  {"≤", "<="}, {"≥", ">="}, {"…", "..."}, {"·", "-"},
                   {"‘", "'"}, {"’", "'"}, {"“", "\""}, {"”", "\""}, {"→", "->"}};

static void to_ascii(struct qs_buf *out, const char *s, size_t n)
{
    for (size_t i = 0; i < n;) {
        bool valid = false;
        size_t step = qs_utf8_next(s + i, n - i, &valid);
        const char *form = step == 1 ? NULL : "?";
        for (size_t k = 0; step > 1 && k < sizeof(plain_forms) / sizeof(plain_forms[0]); k++)
            if (strlen(plain_forms[k].utf8) == step && memcmp(plain_forms[k].utf8, s + i, step) == 0)
                form = plain_forms[k].ascii;
        if (form != NULL)
            qs_buf_str(out, form);
        else
            qs_buf_char(out, s[i]);
        i += step;
    }
}

void qs_face_text(const struct qs_face *face, struct qs_buf *out, const char *s)
{
    if (s == NULL)
        return;
    if (face->utf8) {
        qs_text_escape(out, s, strlen(s));
        return;
    }
    QS_BUF(safe);
    qs_text_escape(&safe, s, strlen(s));
    to_ascii(out, safe.data, safe.len);
}

static uint32_t code_point(const char *s, size_t n)
{
    const unsigned char *u = (const unsigned char *)s;
    uint32_t c = n == 1 ? u[0] : u[0] & (0xffu >> (n + 1));
    for (size_t i = 1; i < n; i++)
        c = c << 6 | (u[i] & 0x3f);
    return c;
}

static size_t cells_of(uint32_t c)
{
    static const struct {
        uint32_t from, to;
    } wide[] = {{0x1100, 0x115f},   {0x2e80, 0x303e},   {0x3041, 0xa4cf},   {0xac00, 0xd7a3},
                {0xf900, 0xfaff},   {0xfe30, 0xfe6f},   {0xff00, 0xff60},   {0xffe0, 0xffe6},
                {0x1f300, 0x1f64f}, {0x1f680, 0x1f6ff}, {0x1f900, 0x1f9ff}, {0x20000, 0x3fffd}};
    if ((c >= 0x300 && c <= 0x36f) || c == 0x200d || (c >= 0xfe00 && c <= 0xfe0f))
        return 0;
    for (size_t i = 0; i < sizeof(wide) / sizeof(wide[0]); i++)
        if (c >= wide[i].from && c <= wide[i].to)
            return 2;
    return 1;
}

/* The bytes of s that fit into `columns`; their width in *ret_cells. */
static size_t fitting(const char *s, size_t n, size_t columns, size_t *ret_cells)
{
    size_t i = 0, cells = 0;
    while (i < n) {
        bool valid = false;
        size_t step = qs_utf8_next(s + i, n - i, &valid);
        size_t w = valid ? cells_of(code_point(s + i, step)) : 1;
        if (cells + w > columns)
            break;
        cells += w;
        i += step;
    }
    *ret_cells = cells;
    return i;
}

size_t qs_face_cells(const char *s)
{
    size_t cells = 0;
    fitting(s, strlen(s), SIZE_MAX / 2, &cells);
    return cells;
}

void qs_face_fill(struct qs_buf *out, size_t n)
{
    for (size_t i = 0; i < n; i++)
        qs_buf_char(out, ' ');
}

/* As much of s as fits, with an ellipsis where that is not all; returns its width. */
static size_t cut(const struct qs_face *face, struct qs_buf *out, const char *s, size_t columns)
{
    size_t n = strlen(s), cells = 0;
    size_t bytes = fitting(s, n, columns, &cells);
    if (bytes < n) {
        const char *dots = face->utf8 ? "…" : "..";
        size_t room = qs_face_cells(dots);
        bytes = fitting(s, n, columns > room ? columns - room : 0, &cells);
        qs_buf_add(out, s, bytes);
        if (columns >= room) {
            qs_buf_str(out, dots);
            cells += room;
        }
        return cells;
    }
    qs_buf_add(out, s, bytes);
    return cells;
}

void qs_face_left(const struct qs_face *face, struct qs_buf *out, const char *s, size_t columns)
{
    qs_face_fill(out, columns - cut(face, out, s, columns));
}

void qs_face_right(const struct qs_face *face, struct qs_buf *out, const char *s, size_t columns)
{
    size_t cells = qs_face_cells(s);
    if (cells < columns)
        qs_face_fill(out, columns - cells);
    cut(face, out, s, columns);
}

/* A sign that belongs to the number before it is not torn from it. */
static bool may_break(const char *space)
{
    return strncmp(space, " %", 2) != 0 && strncmp(space, " ms", 3) != 0 && strncmp(space, " s ", 3) != 0 &&
           strcmp(space, " s") != 0 && strncmp(space, " µs", 4) != 0 && strncmp(space, " us", 3) != 0;
}

/* Where a line of at most `columns` ends: after its last word that fits, or in the midst of a long one. */
static size_t line_end(const char *s, size_t columns)
{
    size_t cells = 0;
    size_t n = strlen(s);
    size_t fits = fitting(s, n, columns, &cells);
    if (fits == n)
        return n;
    for (size_t i = fits; i > 0; i--)
        if (s[i] == ' ' && may_break(s + i))
            return i;
    return fits > 0 ? fits : 1;
}

/* One line of raw text, broken where it is too wide; its beginning is indented already. */
static void wrap_line(const struct qs_face *face, struct qs_buf *out, size_t indent, const char *line,
                      enum qs_ink ink)
{
    QS_BUF(safe);
    size_t columns = face->width > indent + 10 ? face->width - indent : 10;
    qs_face_text(face, &safe, line);
    const char *s = safe.data;
    for (;;) {
        size_t n = line_end(s, columns);
        if (ink != QS_INK_PLAIN)
            qs_face_ink(face, out, ink);
        qs_buf_add(out, s, n);
        if (ink != QS_INK_PLAIN)
            qs_face_ink(face, out, QS_INK_PLAIN);
        qs_buf_char(out, '\n');
        s += n;
        while (*s == ' ')
            s++;
        if (*s == '\0')
            break;
        qs_face_fill(out, indent);
    }
}

void qs_face_wrap(const struct qs_face *face, struct qs_buf *out, const char *lead, const char *text,
                  enum qs_ink ink)
{
    size_t indent = qs_face_cells(lead);
    const char *s = text != NULL ? text : "";
    qs_buf_str(out, lead);
    for (bool first = true; first || *s != '\0'; first = false) {
        size_t n = strcspn(s, "\n");
        QS_FREED char *line = qs_strndup(s, n);
        if (!first)
            qs_face_fill(out, indent);
        wrap_line(face, out, indent, line, ink);
        s += n;
        s += strspn(s, "\n");
    }
}

void qs_face_ink(const struct qs_face *face, struct qs_buf *out, enum qs_ink ink)
{
    static const char *const codes[] = {"0", "1", "2", "1;32", "1;31", "1;33"};
    if (face->color && (size_t)ink < sizeof(codes) / sizeof(codes[0]))
        qs_buf_fmt(out, "\033[%sm", codes[ink]);
}

static size_t terminal_width(int fd)
{
    const char *columns = getenv("COLUMNS");
    struct winsize size = {0};
    long n = columns != NULL ? strtol(columns, NULL, 10) : 0;
    if (n <= 0 && ioctl(fd, TIOCGWINSZ, &size) == 0)
        n = size.ws_col;
    if (n <= 0)
        n = QS_FACE_USUAL;
    return (size_t)(n < QS_FACE_LEAST ? QS_FACE_LEAST : n > QS_FACE_MOST ? QS_FACE_MOST : n);
}

void qs_face_of(struct qs_face *face, int fd, const char *style)
{
    const char *term = getenv("TERM");
    const char *off = getenv("NO_COLOR");
    bool dumb = term == NULL || strcmp(term, "dumb") == 0;
    face->width = terminal_width(fd);
    face->utf8 = strcasecmp(nl_langinfo(CODESET), "UTF-8") == 0;
    face->color = isatty(fd) == 1 && !dumb && (off == NULL || off[0] == '\0');
    if (strcmp(style, "color") == 0 || strcmp(style, "full") == 0)
        face->color = true;
    else if (strcmp(style, "auto") != 0)
        face->color = false;
}
