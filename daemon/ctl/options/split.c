#include "ctl/options/split.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"

struct splitter {
    const char *line;
    size_t at;
    struct qs_buf word;
    bool in_word;
    struct qs_words *out;
    struct qs_split_why *why;
};

static const struct {
    char sign;
    const char *what;
} shell_signs[] = {
    {'|', "`|` joins commands"},          {'&', "`&` joins commands"},     {';', "`;` joins commands"},
    {'<', "`<` redirects input"},         {'>', "`>` redirects output"},   {'$', "`$` expands"},
    {'`', "a backquote runs a command"},  {'*', "`*` matches file names"}, {'?', "`?` matches file names"},
    {'[', "`[` matches file names"},      {'(', "`(` opens a subshell"},   {')', "`)` closes a subshell"},
    {'\n', "a line break ends a command"}};

void qs_words_add(struct qs_words *words, const char *word, size_t n)
{
    words->at = qs_grow(words->at, words->count + 1, sizeof(*words->at)); /* the NULL at the end is one */
    words->at[words->count++] = qs_strndup(word, n);
    words->at[words->count] = NULL;
}

void qs_words_done(struct qs_words *words)
{
    for (size_t i = 0; i < words->count; i++)
        free(words->at[i]);
    free(words->at);
    *words = (struct qs_words){0};
}

static bool fail(struct splitter *s, size_t offset, bool shell, const char *what)
{
    s->why->offset = offset;
    s->why->shell = shell;
    snprintf(s->why->what, sizeof(s->why->what), "%s", what);
    return false;
}

static void end_word(struct splitter *s)
{
    if (s->in_word)
        qs_words_add(s->out, s->word.data, s->word.len);
    qs_buf_clear(&s->word);
    s->in_word = false;
}

static bool single_quotes(struct splitter *s)
{
    size_t from = s->at++;
    const char *end = strchr(s->line + s->at, '\'');
    if (end == NULL)
        return fail(s, from, false, "this quote is not closed");
    qs_buf_add(&s->word, s->line + s->at, (size_t)(end - s->line) - s->at);
    s->at = (size_t)(end - s->line) + 1;
    return true;
}

static bool double_quotes(struct splitter *s)
{
    size_t from = s->at++;
    for (;; s->at++) {
        char c = s->line[s->at];
        if (c == '\0')
            return fail(s, from, false, "this quote is not closed");
        if (c == '"')
            break;
        if (c == '$' || c == '`')
            return fail(s, s->at, true,
                        c == '$' ? "`$` expands, also in double quotes"
                                 : "a backquote runs a command, also in double quotes");
        if (c == '\\' && s->line[s->at + 1] != '\0' && strchr("$`\"\\\n", s->line[s->at + 1]) != NULL) {
            c = s->line[++s->at];
            if (c == '\n')
                continue;
        }
        qs_buf_char(&s->word, c);
    }
    s->at++;
    return true;
}

static bool backslash(struct splitter *s)
{
    char c = s->line[s->at + 1];
    if (c == '\0')
        return fail(s, s->at, false, "this backslash has no character after it");
    if (c != '\n') {
        qs_buf_char(&s->word, c);
        s->in_word = true;
    }
    s->at += 2;
    return true;
}

/* NAME= in front of a command. */
static bool assigns(const struct splitter *s)
{
    const char *p = s->line + s->at;
    if (s->out->count > 0 || (!isalpha((unsigned char)*p) && *p != '_'))
        return false;
    while (isalnum((unsigned char)*p) || *p == '_')
        p++;
    return *p == '=';
}

static bool check_start(struct splitter *s, char c)
{
    if (c == '#')
        return fail(s, s->at, true, "`#` begins a comment");
    if (c == '~')
        return fail(s, s->at, true, "`~` expands to a home directory");
    if (assigns(s)) {
        s->why->assigns = true;
        return fail(s, s->at, true, "`NAME=value` before a command sets a variable");
    }
    return true;
}

static bool plain(struct splitter *s, char c)
{
    for (size_t i = 0; i < sizeof(shell_signs) / sizeof(shell_signs[0]); i++)
        if (shell_signs[i].sign == c)
            return fail(s, s->at, true, shell_signs[i].what);
    if (!s->in_word && !check_start(s, c))
        return false;
    qs_buf_char(&s->word, c);
    s->in_word = true;
    s->at++;
    return true;
}

static bool step(struct splitter *s)
{
    char c = s->line[s->at];
    if (c == ' ' || c == '\t') {
        end_word(s);
        s->at++;
        return true;
    }
    if (c == '\\')
        return backslash(s);
    if (c != '\'' && c != '"')
        return plain(s, c);
    s->in_word = true;
    return c == '"' ? double_quotes(s) : single_quotes(s);
}

bool qs_split(const char *line, struct qs_words *ret, struct qs_split_why *why)
{
    struct splitter s = {.line = line, .out = ret, .why = why};
    bool ok = true;
    *ret = (struct qs_words){0};
    *why = (struct qs_split_why){0};
    qs_buf_init(&s.word);
    while (ok && line[s.at] != '\0')
        ok = step(&s);
    if (ok)
        end_word(&s);
    if (ok && ret->count == 0)
        ok = fail(&s, 0, false, "there is no command here");
    else if (ok && ret->at[0][0] == '\0')
        ok = fail(&s, 0, false, "the program has no name");
    if (!ok)
        qs_words_done(ret);
    qs_buf_done(&s.word);
    return ok;
}
