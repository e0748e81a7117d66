/* The forms. What they have in common: cells lie between bars. */
#include "report/tables/tables.h"

#include <string.h>

#include "base/text.h"

struct qs_tables_form {
    const char *name, *type;
    const char *headline[2], *bold;
    const char *row_end, *table_end;
    const char *special; /* signs that have a meaning in a cell */
    void (*put_sign)(struct qs_buf *out, char sign);
    void (*put_head)(struct qs_buf *out, const char *const *titles, const char *align, size_t columns);
    void (*put_code)(struct qs_tables *t, const char *s);
};

static void put_titles(struct qs_buf *out, const char *const *titles, size_t columns)
{
    for (size_t i = 0; i < columns; i++)
        qs_buf_fmt(out, "%s%s", i > 0 ? " | " : "| ", titles[i]);
}

/* GitHub looks for `@name` and `#2` when the page is made, and no backslash keeps it from that: what stands
 * between does. */
static void put_backslashed(struct qs_buf *out, char sign)
{
    bool is_found = sign == '@' || sign == '#';
    qs_buf_fmt(out, is_found ? "%c<!-- -->" : "\\%c", sign);
}

static void markdown_head(struct qs_buf *out, const char *const *titles, const char *align, size_t columns)
{
    put_titles(out, titles, columns);
    qs_buf_str(out, " |\n|");
    for (size_t i = 0; i < columns; i++)
        qs_buf_str(out, align[i] == 'l' ? ":---|" : "---:|");
    qs_buf_char(out, '\n');
}

/* In a span of code a bar alone means something, to the table. */
static void markdown_code(struct qs_tables *t, const char *s)
{
    if (strpbrk(s, "`\\") || !qs_text_is_shown(s)) {
        qs_tables_text(t, s);
        return;
    }
    qs_buf_char(&t->out, '`');
    for (; *s; s++)
        qs_buf_fmt(&t->out, "%s%c", *s == '|' ? "\\" : "", *s);
    qs_buf_char(&t->out, '`');
}

/* A bar or a star by its number means itself everywhere. */
static void put_reference(struct qs_buf *out, char sign)
{
    qs_buf_fmt(out, "&#%d;", sign);
}

static void asciidoc_head(struct qs_buf *out, const char *const *titles, const char *align, size_t columns)
{
    qs_buf_str(out, "[cols=\"");
    for (size_t i = 0; i < columns; i++)
        qs_buf_fmt(out, "%s%c", i > 0 ? "," : "", align[i] == 'l' ? '<' : '>');
    qs_buf_str(out, "\",options=\"header\"]\n|===\n");
    put_titles(out, titles, columns);
    qs_buf_str(out, "\n\n");
}

static void asciidoc_code(struct qs_tables *t, const char *s)
{
    qs_buf_char(&t->out, '`');
    qs_tables_text(t, s);
    qs_buf_char(&t->out, '`');
}

/* Org has names for most of its signs. Those that set off a word mean it at its beginning alone: inside of
 * one they stay. The others begin something with what follows, dashes and dots with their like: not across a
 * space of no width (Org's manual, "Escape Character"). */
#define ZERO_WIDTH "\xe2\x80\x8b"

static void put_entity(struct qs_buf *out, char sign)
{
    static const struct {
        char sign;
        bool sets_off;
        const char *name;
    } rows[] = {{'|', false, "vert"},   {'_', false, "under"}, {'^', false, "asciicirc"},
                {'$', false, "dollar"}, {'<', false, "lt"},    {'*', false, "ast"},
                {'/', true, "slash"},   {'+', true, "plus"},   {'=', true, "equal"},
                {'~', true, "tilde"}};
    char before = out->len > 0 ? out->data[out->len - 1] : ' ';
    bool inner = (before >= '0' && before <= '9') || (before >= 'A' && before <= 'Z') ||
                 (before >= 'a' && before <= 'z');
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (rows[i].sign != sign)
            continue;
        if (rows[i].sets_off && inner)
            qs_buf_char(out, sign);
        else
            qs_buf_fmt(out, "\\%s{}", rows[i].name);
        return;
    }
    if (sign == '-' || sign == '.')
        qs_buf_fmt(out, "%s%c", before == sign ? ZERO_WIDTH : "", sign);
    else
        qs_buf_fmt(out, "%c" ZERO_WIDTH, sign);
}

static void orgmode_head(struct qs_buf *out, const char *const *titles, const char *align, size_t columns)
{
    put_titles(out, titles, columns);
    qs_buf_str(out, " |\n|");
    for (size_t i = 0; i < columns; i++)
        qs_buf_fmt(out, "---%s", i + 1 < columns ? "+" : "|\n");
    for (size_t i = 0; i < columns; i++)
        qs_buf_fmt(out, "%s<%c>", i > 0 ? " | " : "| ", align[i]);
    qs_buf_str(out, " |\n");
}

static void orgmode_code(struct qs_tables *t, const char *s)
{
    size_t n = strlen(s);
    bool plain = n > 0 && s[0] != ' ' && s[n - 1] != ' ' && !strpbrk(s, "|~") && qs_text_is_shown(s);
    if (plain)
        qs_buf_fmt(&t->out, "~%s~", s);
    else
        qs_tables_text(t, s);
}

static const struct qs_tables_form forms[] = {{.name = "markdown",
                                               .type = "text/markdown; charset=utf-8",
                                               .headline = {"## ", "### "},
                                               .bold = "**",
                                               .row_end = " |\n",
                                               .table_end = "",
                                               .special = "|\\`*_<>[]~&#@",
                                               .put_sign = put_backslashed,
                                               .put_head = markdown_head,
                                               .put_code = markdown_code},
                                              {.name = "asciidoc",
                                               .type = "text/plain; charset=utf-8",
                                               .headline = {"== ", "=== "},
                                               .bold = "*",
                                               .row_end = "\n",
                                               .table_end = "|===\n",
                                               .special = "|\\`*_<>[]#^~+{}&",
                                               .put_sign = put_reference,
                                               .put_head = asciidoc_head,
                                               .put_code = asciidoc_code},
                                              {.name = "orgmode",
                                               .type = "text/plain; charset=utf-8",
                                               .headline = {"* ", "** "},
                                               .bold = "*",
                                               .row_end = " |\n",
                                               .table_end = "",
                                               .special = "|_^$<*/+=~\\[{@-.",
                                               .put_sign = put_entity,
                                               .put_head = orgmode_head,
                                               .put_code = orgmode_code}};

bool qs_tables_init(struct qs_tables *ret, const char *form)
{
    *ret = (struct qs_tables){0};
    for (size_t i = 0; i < sizeof forms / sizeof *forms && !ret->form; i++)
        if (strcmp(forms[i].name, form) == 0)
            ret->form = &forms[i];
    if (ret->form)
        qs_buf_init(&ret->out);
    return ret->form != NULL;
}

void qs_tables_init_like(struct qs_tables *ret, const struct qs_tables *other)
{
    ret->form = other->form;
    qs_buf_init(&ret->out);
}

void qs_tables_done(struct qs_tables *t)
{
    if (t->form)
        qs_buf_done(&t->out);
    *t = (struct qs_tables){0};
}

const char *qs_tables_type(const struct qs_tables *t)
{
    return t->form->type;
}

void qs_tables_headline(struct qs_tables *t, int level)
{
    qs_buf_str(&t->out, t->form->headline[level - 1]);
}

void qs_tables_text(struct qs_tables *t, const char *s)
{
    QS_BUF(plain);
    size_t end;
    for (; s && *s; s += end + (s[end] != '\0')) {
        end = strcspn(s, "\n\r");
        qs_text_escape(&plain, s, end);
        if (s[end] != '\0')
            qs_buf_char(&plain, ' ');
    }
    for (const char *c = plain.len > 0 ? plain.data : ""; *c; c++) {
        if (strchr(t->form->special, *c))
            t->form->put_sign(&t->out, *c);
        else
            qs_buf_char(&t->out, *c);
    }
}

void qs_tables_bold(struct qs_tables *t, const char *s)
{
    qs_buf_str(&t->out, t->form->bold);
    qs_tables_text(t, s);
    qs_buf_str(&t->out, t->form->bold);
}

void qs_tables_code(struct qs_tables *t, const char *s)
{
    t->form->put_code(t, s ? s : "");
}

void qs_tables_head(struct qs_tables *t, const char *const *titles, const char *align, size_t columns)
{
    t->form->put_head(&t->out, titles, align, columns);
}

void qs_tables_row(struct qs_tables *t)
{
    qs_buf_str(&t->out, "| ");
}

void qs_tables_next(struct qs_tables *t)
{
    qs_buf_str(&t->out, " | ");
}

void qs_tables_row_end(struct qs_tables *t)
{
    qs_buf_str(&t->out, t->form->row_end);
}

void qs_tables_end(struct qs_tables *t)
{
    qs_buf_str(&t->out, t->form->table_end);
}
