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
        most = end[1] == '}' ? least : strtoul(end + 1, &end, 10);
    most = most > least ? most : least;
    return most > 1 ? most : 1;
}

/* What the compiled form would be large by, and what makes a match take time beyond all measure. */
static bool is_affordable(const char *text, struct qs_err *err)
{
    unsigned long repeats = 1;
    if (strlen(text) > QS_PATTERN_BYTES)
        return qs_fail(err, QS_E_JOB, "the pattern is longer than %d bytes", QS_PATTERN_BYTES);
    for (const char *s = text; *s != '\0'; s++) {
        if (*s == '\\' && s[1] >= '1' && s[1] <= '9')
            return refuse(err, "a reference back into the match, such as \\1, is not taken");
        if (*s == '\\' && s[1] != '\0')
            s++;
        else if (*s == '{' && bound_at(s) > QS_PATTERN_REPEATS / repeats)
            return qs_fail(err, QS_E_JOB, "its repeats, multiplied, are more than %d", QS_PATTERN_REPEATS);
        else if (*s == '{')
            repeats *= bound_at(s);
    }
    return true;
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
    if (p->compiled.re_nsub != 1) {
        size_t groups = p->compiled.re_nsub;
        qs_pattern_free(p);
        return qs_fail(err, QS_E_JOB, "it has %zu groups: exactly one, in parentheses, is what is wanted",
                       groups);
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
