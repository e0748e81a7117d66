#include "base/pattern.h"

#include <regex.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

struct qs_pattern {
    regex_t compiled;
};

static bool refuse(struct qs_err *err, const char *why)
{
    return qs_fail(err, QS_E_JOB, "%s", why);
}

/* The larger number between braces at s; what is no bound costs nothing. */
static unsigned long bound_at(const char *s)
{
    char *end;
    unsigned long least = strtoul(s + 1, &end, 10), most = least;
    if (*end == ',')
        most = strtoul(end + 1, NULL, 10);
    most = most > least ? most : least;
    return most > 1 ? most : 1;
}

/* The last character of the bracket expression at s: "]" in first place, and what stands in [: :], [. .] and
 * [= =], do not end it. */
static const char *end_of_bracket(const char *s)
{
    s += s[1] == '^' ? 2 : 1;
    for (s += *s == ']' ? 1 : 0; *s != '\0' && *s != ']'; s++) {
        char kind = *s == '[' && s[1] != '\0' && strchr(":.=", s[1]) ? s[1] : '\0';
        for (s += kind ? 2 : 0; kind && *s != '\0' && !(*s == kind && s[1] == ']'); s++) {
        }
        if (kind && *s != '\0')
            s++;
        if (*s == '\0')
            break;
    }
    return *s == '\0' ? s - 1 : s;
}

struct cost {
    unsigned long repeats; /* all {bounds}, multiplied */
    size_t groups;
    bool repeated; /* what stands before is repeated already */
};

/* One piece of the pattern; *at: its last character. */
static bool add_piece(struct cost *c, const char **at, struct qs_err *err)
{
    const char *s = *at;
    bool repeats = strchr("*+?{", *s) != NULL;
    if (*s == '\\' && s[1] >= '1' && s[1] <= '9')
        return refuse(err, "a reference back into the match, such as \\1, is not taken");
    if (repeats && c->repeated)
        return refuse(err, "a repeat of a repeat, such as a++, is not taken");
    if (*s == '{' && bound_at(s) > QS_PATTERN_REPEATS / c->repeats)
        return qs_fail(err, QS_E_JOB, "its repeats, multiplied, are more than %d", QS_PATTERN_REPEATS);
    c->repeats *= *s == '{' ? bound_at(s) : 1;
    c->groups += *s == '(' ? 1 : 0;
    c->repeated = repeats;
    if (*s == '\\' && s[1] != '\0')
        *at = s + 1;
    else if (*s == '[')
        *at = end_of_bracket(s);
    else if (*s == '{')
        *at = s + strcspn(s, "}") - (strchr(s, '}') ? 0 : 1);
    return true;
}

/* What the compiled form would be large by, and what makes a match take time beyond all measure: known before
 * the library sees it, which doubles a group for each repeat around it. */
static bool is_affordable(const char *text, struct qs_err *err)
{
    struct cost cost = {.repeats = 1};
    if (strlen(text) > QS_PATTERN_BYTES)
        return qs_fail(err, QS_E_JOB, "the pattern is longer than %d bytes", QS_PATTERN_BYTES);
    for (const char *s = text; *s != '\0'; s++) {
        if (!add_piece(&cost, &s, err))
            return false;
    }
    return cost.groups == 1 ||
           qs_fail(err, QS_E_JOB, "it has %zu groups: exactly one, in parentheses, is needed", cost.groups);
}

bool qs_pattern_new(const char *text, struct qs_pattern **ret, struct qs_err *err)
{
    if (!is_affordable(text, err))
        return false;
    struct qs_pattern *p = qs_calloc(1, sizeof *p);
    int status = regcomp(&p->compiled, text, REG_EXTENDED);
    if (status != 0) {
        char why[160];
        regerror(status, &p->compiled, why, sizeof why);
        free(p);
        return qs_fail(err, QS_E_JOB, "not a regular expression (POSIX extended): %s", why);
    }
    *ret = p;
    return true;
}

void qs_pattern_free(struct qs_pattern *p)
{
    if (!p)
        return;
    regfree(&p->compiled);
    free(p);
}

bool qs_pattern_find(const struct qs_pattern *p, const char *line, size_t n, size_t *ret_at, size_t *ret_n)
{
    char text[QS_PATTERN_LINE_BYTES + 1];
    regmatch_t found[2];
    if (n > QS_PATTERN_LINE_BYTES)
        return false;
    memcpy(text, line, n);
    text[n] = '\0';
    if (regexec(&p->compiled, text, 2, found, 0) != 0 || found[1].rm_so < 0)
        return false;
    *ret_at = (size_t)found[1].rm_so;
    *ret_n = (size_t)(found[1].rm_eo - found[1].rm_so);
    return true;
}
