#include "config/profile/tool.h"

#include <string.h>

#include "proto/limits.h"

bool qs_profile_switch_is_tool(const struct qs_profile_switch *s)
{
    return s->set.count > 0 || s->set_on.count > 0 || s->set_off.count > 0;
}

static bool has(const struct qs_strings *words, const char *what)
{
    for (size_t i = 0; i < words->count; i++)
        if (strstr(words->at[i], what) != NULL)
            return true;
    return false;
}

static bool is_line(const char *text)
{
    for (const char *at = text; at != NULL && *at != '\0'; at++)
        if ((unsigned char)*at < 0x20 || *at == 0x7f)
            return false;
    return text == NULL || text[0] != '\0';
}

static bool are_lines(const struct qs_strings *words)
{
    for (size_t i = 0; i < words->count; i++)
        if (!is_line(words->at[i]))
            return false;
    return true;
}

static const char *wrong_tool(const struct qs_profile_switch *s)
{
    bool words = s->on != NULL;
    if ((s->get.count == 0) == (s->assumed == NULL))
        return "a command has either `get` or, where nothing tells its value, `assumed`";
    if (s->set.count > 0 && !has(&s->set, QS_TOOL_VALUE))
        return "`set` has a word with {value}";
    if (s->set.count == 0 && (!words || s->set_on.count == 0 || s->set_off.count == 0))
        return "a command has `set`, or `set_on` and `set_off`";
    if ((s->unset == NULL) != (s->set_unset.count == 0))
        return "`unset` and `set_unset` go together";
    if (!are_lines(&s->get) || !are_lines(&s->set) || !are_lines(&s->set_on) || !are_lines(&s->set_off) ||
        !are_lines(&s->set_unset) || !is_line(s->after) || !is_line(s->unset) || !is_line(s->assumed) ||
        !is_line(s->on) || !is_line(s->off))
        return "each word of a command is one line of text, and not empty";
    QS_FREED char *text = qs_tool_text(s);
    size_t n = strlen(text);
    return n <= QS_CONTROL_PATH_MAX_BYTES ? NULL : "its commands have more than 255 bytes together";
}

const char *qs_profile_switch_wrong(const struct qs_profile_switch *s)
{
    bool words = s->on != NULL || s->off != NULL, numbers = s->low != 0 || s->high != 0;
    bool tool = qs_profile_switch_is_tool(s);
    if (words == numbers || (words && (s->on == NULL || s->off == NULL)))
        return "a switch has `on` and `off`, or `low` and `high`";
    if (numbers && s->low >= s->high)
        return "`low` must be less than `high`";
    if (!tool && (s->file == NULL || s->each.count == 0))
        return "a switch has `each` and `file`, or a command";
    if (!tool && (s->get.count > 0 || s->set_unset.count > 0 || s->after != NULL || s->assumed != NULL ||
                  s->unset != NULL))
        return "`get`, `after`, `assumed` and `unset` are of commands, which have `set`";
    if ((s->file == NULL) != (s->each.count == 0))
        return "`each` and `file` go together";
    return tool ? wrong_tool(s) : NULL;
}

/* TAB before each word; {value} is {} for the agent. */
static void put_words(struct qs_buf *out, const struct qs_strings *words, bool first)
{
    const size_t n = sizeof QS_TOOL_VALUE - 1;
    for (size_t i = 0; i < words->count; i++) {
        if (i > 0 || !first)
            qs_buf_char(out, '\t');
        const char *at = words->at[i];
        for (const char *v = strstr(at, QS_TOOL_VALUE); v != NULL; v = strstr(at, QS_TOOL_VALUE)) {
            qs_buf_add(out, at, (size_t)(v - at));
            qs_buf_str(out, "{}");
            at = v + n;
        }
        qs_buf_str(out, at);
    }
}

static void put_case(struct qs_buf *out, const char *value, const struct qs_strings *words)
{
    if (words->count == 0)
        return;
    qs_buf_fmt(out, "\n%s", value);
    put_words(out, words, false);
}

char *qs_tool_text(const struct qs_profile_switch *s)
{
    QS_BUF(out);
    qs_buf_str(&out, s->assumed != NULL ? s->assumed : s->after != NULL ? s->after : "");
    put_words(&out, &s->get, false);
    qs_buf_char(&out, '\n');
    put_words(&out, &s->set, true);
    put_case(&out, s->on, &s->set_on);
    put_case(&out, s->off, &s->set_off);
    put_case(&out, s->unset, &s->set_unset);
    return qs_buf_take(&out);
}

bool qs_tool_is(const char *path)
{
    return strchr(path, '\n') != NULL;
}

bool qs_tool_is_blind(const char *path)
{
    return qs_tool_is(path) && memchr(path, '\t', strcspn(path, "\n")) == NULL;
}

void qs_tool_show(const char *path, struct qs_buf *out)
{
    if (!qs_tool_is(path)) {
        qs_buf_str(out, path);
        return;
    }
    const char *line = path + strcspn(path, "\n") + 1, *from = line;
    if (!qs_tool_is_blind(path))
        from = path + strcspn(path, "\t") + 1;
    else if (*line == '\n') { /* a command for each value: the last of them */
        line = strrchr(path, '\n') + 1;
        from = line + strcspn(line, "\t") + 1;
    }
    size_t n = strcspn(from, "\n");
    for (size_t i = 0; i < n; i++)
        qs_buf_char(out, from[i] == '\t' ? ' ' : from[i]);
}

char *qs_tool_with(const char *text, const char *arg)
{
    const size_t n = sizeof QS_TOOL_ARG - 1;
    QS_BUF(out);
    for (const char *at = strstr(text, QS_TOOL_ARG); at != NULL; at = strstr(text, QS_TOOL_ARG)) {
        qs_buf_add(&out, text, (size_t)(at - text));
        qs_buf_str(&out, arg);
        text = at + n;
    }
    qs_buf_str(&out, text);
    return qs_buf_take(&out);
}
