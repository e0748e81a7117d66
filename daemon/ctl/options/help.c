/* Help is what the tables say. */
#include <string.h>

#include "ctl/commands/command.h"

enum { OPTION_COLUMNS = 26, OPTION_LEAST_TEXT = 24 };

static void heading(const struct qs_face *face, struct qs_buf *out, const char *text)
{
    qs_face_wrap(face, out, "", text, QS_INK_BOLD);
}

/* Where a command line that is wider than `columns` goes on in the next: at the last space before that which
 * is in no quotes, else at the first after it. */
static size_t line_end(const char *s, size_t n, size_t columns)
{
    size_t end = n;
    char quote = '\0';
    for (size_t i = 0; i < n; i++) {
        if (quote != '\0' ? s[i] == quote : s[i] == '\'')
            quote = quote != '\0' ? '\0' : s[i];
        if (s[i] == ' ' && quote == '\0' && (i <= columns || end == n))
            end = i;
        if (i > columns && end < n)
            break;
    }
    return n <= columns ? n : end;
}

/* Commands, with two spaces in front; `before` goes in front of each. What is too wide is continued as a
 * shell reads it. */
static void lines(const struct qs_face *face, const char *text, const char *before, struct qs_buf *out)
{
    QS_BUF(line);
    for (const char *s = text; *s != '\0';) {
        size_t n = strcspn(s, "\n"), indent = 2;
        qs_buf_clear(&line);
        qs_buf_fmt(&line, "%s%.*s", before, (int)n, s);
        for (const char *rest = line.data; *rest != '\0'; indent = 6) {
            size_t width = strlen(rest), end = line_end(rest, width, face->width - indent);
            if (end < width)
                end = line_end(rest, width, face->width - indent - 2);
            qs_face_fill(out, indent);
            qs_buf_add(out, rest, end);
            qs_buf_str(out, end < width ? " \\\n" : "\n");
            rest += end + (end < width ? 1 : 0);
        }
        s += n + (s[n] == '\n');
    }
}

void qs_help_overview(const struct qs_face *face, struct qs_buf *out)
{
    qs_face_wrap(face, out, "", "quiesce measures commands so that two builds can be compared honestly.",
                 QS_INK_PLAIN);
    qs_buf_char(out, '\n');
    heading(face, out, "Usage");
    qs_buf_str(out, "  quiesce COMMAND [OPTIONS]\n\n");
    heading(face, out, "Commands");
    for (size_t i = 0; qs_commands[i] != NULL; i++) {
        QS_BUF(lead);
        qs_buf_fmt(&lead, "  %-13s", qs_commands[i]->name);
        qs_face_wrap(face, out, lead.data, qs_commands[i]->summary, QS_INK_PLAIN);
    }
    qs_buf_char(out, '\n');
    heading(face, out, "To begin");
    lines(face, "quiesce run 'gzip -1 -k -c FILE' 'gzip -6 -k -c FILE'\nquiesce run --help", "", out);
    qs_buf_char(out, '\n');
    heading(face, out, "Exit codes");
    qs_face_wrap(face, out, "  ",
                 "0 ok, 1 the job or a command in it failed, 2 usage, 3 infrastructure, 4 a precondition was "
                 "not met in time, "
                 "5 a regression (compare, or --fail-on regression), 130 ended by Ctrl-C",
                 QS_INK_PLAIN);
}

static void option(const struct qs_face *face, const struct qs_opt *o, struct qs_buf *out)
{
    QS_BUF(lead);
    if (o->letter != '\0')
        qs_buf_fmt(&lead, "  -%c, ", o->letter);
    else
        qs_buf_str(&lead, "      ");
    if (o->letters)
        qs_buf_str(&lead, "--a CMD, --b CMD, ...");
    else if (o->may_follow)
        qs_buf_fmt(&lead, "--%s [%s]", o->name, o->values);
    else if (o->optional)
        qs_buf_fmt(&lead, "--%s[=%s]", o->name, o->values);
    else
        qs_buf_fmt(&lead, "--%s%s%s", o->name, o->values != NULL ? " " : "",
                   o->values != NULL ? o->values : "");
    size_t columns = OPTION_COLUMNS;
    if (face->width < OPTION_COLUMNS + OPTION_LEAST_TEXT)
        columns = 8;
    size_t cells = qs_face_cells(lead.data);
    if (cells + 2 > columns) {
        qs_buf_str(out, lead.data);
        qs_buf_char(out, '\n');
        qs_buf_clear(&lead);
        cells = 0;
    }
    qs_face_fill(&lead, columns - cells);
    qs_face_wrap(face, out, lead.data, o->help, QS_INK_PLAIN);
}

static void options(const struct qs_face *face, const struct qs_opt *table, struct qs_buf *out)
{
    for (const struct qs_opt *o = table; o != NULL && o->name != NULL; o++) {
        if (o->heading != NULL) {
            qs_buf_char(out, '\n');
            heading(face, out, o->heading);
        }
        if (o->instead == NULL)
            option(face, o, out);
    }
}

void qs_help_command(const struct qs_face *face, const struct qs_command *command, struct qs_buf *out)
{
    QS_BUF(before);
    qs_buf_fmt(&before, "quiesce %s ", command->name);
    qs_face_wrap(face, out, "", command->summary, QS_INK_PLAIN);
    qs_buf_char(out, '\n');
    heading(face, out, "Usage");
    lines(face, command->usage, before.data, out);
    if (command->about != NULL) {
        qs_buf_char(out, '\n');
        qs_face_wrap(face, out, "", command->about, QS_INK_PLAIN);
    }
    options(face, command->options, out);
    options(face, qs_common_options, out);
    qs_buf_char(out, '\n');
    heading(face, out, "Examples");
    lines(face, command->examples, "", out);
}
