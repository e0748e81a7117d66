#include "config/job/words.h"

#include <string.h>

/* Characters that a plain YAML or JSON-like flow list would misread. */
static bool needs_quotes(const char *word)
{
    return word[0] == '\0' || strpbrk(word, " \t\n,:[]{}\"'#&*!|>%@`") != NULL;
}

static void add_word(struct qs_buf *out, const char *word, bool first)
{
    if (!first)
        qs_buf_str(out, ", ");
    if (!needs_quotes(word)) {
        qs_buf_str(out, word);
        return;
    }
    qs_buf_char(out, '"');
    for (; *word != '\0'; word++) {
        if (*word == '"' || *word == '\\')
            qs_buf_char(out, '\\');
        qs_buf_char(out, *word);
    }
    qs_buf_char(out, '"');
}

/* Reads one word at *at (not a space) into `word`; false where a shell is needed. */
static bool read_word(const char **at, struct qs_buf *word)
{
    char quote = '\0';
    const char *s = *at;
    for (; *s != '\0' && (quote != '\0' || strchr(" \t", *s) == NULL); s++) {
        if (quote == '\0' && (*s == '"' || *s == '\''))
            quote = *s;
        else if (quote != '\0' && *s == quote)
            quote = '\0';
        else if (*s == '\\' && quote != '\'' && s[1] != '\0')
            qs_buf_char(word, *++s);
        else if ((quote == '\0' && strchr("|&;<>()$`*?~#![]\n", *s) != NULL) ||
                 (quote == '"' && strchr("$`", *s) != NULL))
            return false;
        else
            qs_buf_char(word, *s);
    }
    *at = s;
    return quote == '\0';
}

bool qs_words_as_list(const char *line, struct qs_buf *out)
{
    QS_BUF(list);
    QS_BUF(word);
    bool ok = true;
    bool first = true;
    while (ok && line[strspn(line, " \t")] != '\0') {
        line += strspn(line, " \t");
        qs_buf_clear(&word);
        ok = read_word(&line, &word);
        add_word(&list, word.data, first);
        first = false;
    }
    if (ok)
        qs_buf_fmt(out, "[%s]", list.data);
    return ok;
}
