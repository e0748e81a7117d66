#include "core/glob.h"

#include <ctype.h>
#include <stddef.h>
#include <string.h>

/* Where what begins at p as [: :], [. .] or [= =], of these kinds, is closed; NULL: nowhere, or it does not
 * begin so. */
static const char *closing(const char *p, const char *kinds)
{
    if (p[0] != '[' || p[1] == '\0' || !strchr(kinds, p[1])) {
        return NULL;
    }
    const char close[] = {p[1], ']', '\0'};
    return strstr(p + 2, close);
}

/* The `]` that ends the bracket expression at p; NULL: there is none. In first place it is one of the
 * characters, and what stands in [: :], [. .] and [= =] does not end it. */
static const char *end_of_bracket(const char *p)
{
    p += p[1] == '!' || p[1] == '^' ? 2 : 1;
    for (p += *p == ']'; *p != '\0' && *p != ']'; p++) {
        if (*p == '[' && p[1] != '\0' && strchr(":.=", p[1])) {
            p = closing(p, ":.=");
            if (!p) {
                return NULL;
            }
            p++;
        }
    }
    return *p == ']' ? p : NULL;
}

static bool is_in_class(const char *name, size_t n, int c)
{
    static const struct {
        char name[8];
        int (*has)(int c);
    } classes[] = {{"alnum", isalnum}, {"alpha", isalpha}, {"blank", isblank}, {"cntrl", iscntrl},
                   {"digit", isdigit}, {"graph", isgraph}, {"lower", islower}, {"print", isprint},
                   {"punct", ispunct}, {"space", isspace}, {"upper", isupper}, {"xdigit", isxdigit}};
    for (size_t i = 0; i < sizeof classes / sizeof classes[0]; i++) {
        if (strncmp(classes[i].name, name, n) == 0 && classes[i].name[n] == '\0') {
            return classes[i].has(c) != 0;
        }
    }
    return false;
}

/* One character of a bracket expression, perhaps as [.c.] or [=c=]. */
static unsigned char member(const char **p, const char *end)
{
    const char *close = closing(*p, ".=");
    bool dressed = close && close < end;
    const char c = dressed ? (*p)[2] : **p;
    *p = dressed ? close + 2 : *p + 1;
    return (unsigned char)c;
}

/* Whether c is among what stands between p and end. */
static bool is_member(const char *p, const char *end, unsigned char c)
{
    bool is = false;
    while (p < end) {
        const char *close = closing(p, ":");
        if (close && close < end) {
            is = is || is_in_class(p + 2, (size_t)(close - (p + 2)), c);
            p = close + 2;
            continue;
        }
        unsigned char low = member(&p, end), high = low;
        if (*p == '-' && p + 1 < end) {
            p++;
            high = member(&p, end);
        }
        is = is || (low <= c && c <= high);
    }
    return is;
}

/* Whether the first piece of the pattern, which is no star, takes c; *p: what follows it. */
static bool takes(const char **p, unsigned char c, enum qs_glob how)
{
    const char *s = *p;
    const char *end = *s == '[' ? end_of_bracket(s) : NULL;
    bool folds = how == QS_GLOB_ANY_CASE;
    if (end) {
        bool other = s[1] == '!' || s[1] == '^';
        s += other ? 2 : 1;
        bool is = is_member(s, end, c) || (folds && (is_member(s, end, (unsigned char)tolower(c)) ||
                                                     is_member(s, end, (unsigned char)toupper(c))));
        *p = end + 1;
        return is != other;
    }
    bool any = *s == '?';
    s += *s == '\\' && s[1] != '\0';
    *p = s + 1;
    return any || (unsigned char)*s == c || (folds && tolower((unsigned char)*s) == tolower(c));
}

bool qs_glob_match(const char *pattern, const char *text, enum qs_glob how)
{
    const char *star = NULL, *from = NULL; /* behind the latest star, and where what it took ends */
    if (how == QS_GLOB_NAME && *text == '.' && pattern[*pattern == '\\'] != '.') {
        return false;
    }
    while (*text != '\0') {
        if (*pattern == '*') {
            star = ++pattern;
            from = text;
        } else if (*pattern != '\0' && takes(&pattern, (unsigned char)*text, how)) {
            text++;
        } else if (star) {
            pattern = star;
            text = ++from;
        } else {
            return false;
        }
    }
    while (*pattern == '*') {
        pattern++;
    }
    return *pattern == '\0';
}
