/* A usage error shows the command line, the place in it, and what to write instead. */
#include <stdarg.h>
#include <string.h>

#include "base/text.h"
#include "ctl/layout/face.h"
#include "ctl/options/opt.h"

enum { QUOTE_BEFORE = 44, QUOTE_CELLS = 72 };

/* The command line as it could be typed; *ret_at is the byte where `offset` of argument `arg` stands. */
static void show_line(const struct qs_args *args, size_t arg, size_t offset, struct qs_buf *line,
                      size_t *ret_at)
{
    QS_BUF(word);
    QS_BUF(escaped);
    for (size_t i = 0; i < args->argc; i++) {
        qs_buf_str(line, i == 0 ? "" : " ");
        qs_buf_clear(&word);
        qs_opt_quote(&word, i == 0 ? "quiesce" : args->argv[i]);
        if (i == arg) {
            bool quoted = word.data[0] == '\'' && args->argv[i][0] != '\'';
            *ret_at = line->len + (quoted ? 1 : 0);
            qs_buf_clear(&escaped);
            qs_text_escape(&escaped, args->argv[i], offset);
            *ret_at += escaped.len;
            for (size_t k = 0; quoted && k < offset; k++) /* '\'' takes three more */
                *ret_at += args->argv[i][k] == '\'' ? 3 : 0;
        }
        qs_text_escape(line, word.data, word.len);
    }
}

static size_t back_to_character(const char *s, size_t at)
{
    while (at > 0 && ((unsigned char)s[at] & 0xc0) == 0x80)
        at--;
    return at;
}

static void show_place(const struct qs_args *args, size_t arg, size_t offset, struct qs_buf *out)
{
    const struct qs_face face = {.width = QS_FACE_USUAL, .utf8 = true};
    size_t at = 0;
    QS_BUF(line);
    QS_BUF(before);
    show_line(args, arg, offset, &line, &at);
    size_t from = at > QUOTE_BEFORE ? back_to_character(line.data, at - QUOTE_BEFORE) : 0;
    QS_BUF(shown);
    qs_face_left(&face, &shown, line.data + from, QUOTE_CELLS);
    while (shown.len > 0 && shown.data[shown.len - 1] == ' ')
        shown.data[--shown.len] = '\0';
    qs_buf_add(&before, line.data + from, at - from);
    const char *dots = from > 0 ? ".." : "";
    qs_buf_fmt(out, "  %s%s\n  ", dots, shown.data);
    qs_face_fill(out, strlen(dots) + qs_face_cells(before.data));
    qs_buf_str(out, "^\n");
}

bool qs_args_fail(const struct qs_args *args, struct qs_buf *problem, size_t arg, size_t offset,
                  const char *advice, const char *fmt, ...)
{
    va_list ap;
    QS_BUF(what);
    va_start(ap, fmt);
    qs_buf_vfmt(&what, fmt, ap);
    va_end(ap);
    qs_buf_fmt(problem, "quiesce%s%s: ", args->command != NULL ? " " : "",
               args->command != NULL ? args->command : "");
    qs_text_escape(problem, what.data, what.len);
    qs_buf_char(problem, '\n');
    if (arg < args->argc)
        show_place(args, arg, offset, problem);
    if (advice != NULL)
        qs_buf_fmt(problem, "  %s\n", advice);
    return false;
}
