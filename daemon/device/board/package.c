#include "device/board/package.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

struct line {
    const char *p;
    size_t n, indent;
};

static bool next_line(const char **at, size_t *left, struct line *ret)
{
    if (*left == 0)
        return false;
    const char *end = memchr(*at, '\n', *left);
    size_t whole = end ? (size_t)(end - *at) : *left, n = whole, indent = 0;
    while (indent < n && ((*at)[indent] == ' ' || (*at)[indent] == '\t'))
        indent++;
    while (n > indent && isspace((unsigned char)(*at)[n - 1]))
        n--;
    *ret = (struct line){*at + indent, n - indent, indent};
    *at += whole + (end ? 1 : 0);
    *left -= whole + (end ? 1 : 0);
    return true;
}

static bool begins(const struct line *l, const char *text)
{
    size_t n = strlen(text);
    return l->n >= n && memcmp(l->p, text, n) == 0;
}

/* "[NAME]", whatever follows it. */
static bool is_entry(const struct line *l, const char *before, const char *name)
{
    size_t b = strlen(before), n = strlen(name);
    return l->n >= b + n + 2 && memcmp(l->p, before, b) == 0 && l->p[b] == '[' &&
           memcmp(l->p + b + 1, name, n) == 0 && l->p[b + 1 + n] == ']';
}

/* Behind `key` in the line: a word up to a blank, "," or "]". False: the key is not there. */
static bool word_of(const struct line *l, const char *key, char ret[QS_PACKAGE_WORD_BYTES])
{
    size_t k = strlen(key);
    for (size_t i = 0; i + k <= l->n; i++) {
        if (memcmp(l->p + i, key, k) != 0 || (i > 0 && isalnum((unsigned char)l->p[i - 1])))
            continue;
        size_t n = 0;
        while (i + k + n < l->n && n + 1 < QS_PACKAGE_WORD_BYTES &&
               strchr(" ,]\t", l->p[i + k + n]) == NULL && isprint((unsigned char)l->p[i + k + n]))
            n++;
        memcpy(ret, l->p + i + k, n);
        ret[n] = '\0';
        return n > 0;
    }
    return false;
}

static bool has_word(const struct line *l, const char *word)
{
    size_t w = strlen(word);
    for (size_t i = 0; i + w <= l->n; i++)
        if (memcmp(l->p + i, word, w) == 0 && (i == 0 || strchr(" [", l->p[i - 1])) &&
            (i + w == l->n || strchr(" ]", l->p[i + w])))
            return true;
    return false;
}

/* A line of "Packages:", below the app's own. */
static void take_package(const struct line *l, char name[QS_PACKAGE_WORD_BYTES],
                         char code[QS_PACKAGE_WORD_BYTES], struct qs_package *ret)
{
    char word[QS_PACKAGE_WORD_BYTES];
    if (word_of(l, "versionName=", word))
        snprintf(name, QS_PACKAGE_WORD_BYTES, "%s", word);
    if (word_of(l, "versionCode=", word))
        snprintf(code, QS_PACKAGE_WORD_BYTES, "%s", word);
    if (begins(l, "flags=[") || begins(l, "pkgFlags=[")) {
        ret->debuggable = ret->debuggable || has_word(l, "DEBUGGABLE");
        ret->has_flags = true;
    }
}

/* A line of "Dexopt state:", below the app's own: "arm64: [status=speed] [reason=install] [primary-abi]" of
 * Android 9 and later, "status: ... [compilation_filter=speed, status=kOatUpToDate]" of 7 and 8. The app's
 * own code comes first; parts of it (splits), which may have none, have paths of their own. */
static void take_state(const struct line *l, size_t *paths, struct qs_package *ret)
{
    char word[QS_PACKAGE_WORD_BYTES];
    *paths += begins(l, "path:") ? 1 : 0;
    if (*paths > 1 || (!word_of(l, "compilation_filter=", word) && !word_of(l, "[status=", word)))
        return;
    if (ret->compiled[0] == '\0' || has_word(l, "primary-abi"))
        memcpy(ret->compiled, word, sizeof word);
}

void qs_package_read(const char *text, size_t n, const char *name, struct qs_package *ret)
{
    enum { NOWHERE, PACKAGES, DEXOPT } section = NOWHERE;
    char version[QS_PACKAGE_WORD_BYTES] = "", code[QS_PACKAGE_WORD_BYTES] = "";
    size_t entry = 0; /* indent of the app's own line in the section; lines that are deeper belong to it */
    size_t paths = 0;
    bool inside = false;
    struct line l;
    *ret = (struct qs_package){.installed = false};
    while (next_line(&text, &n, &l)) {
        if (l.n == 0)
            continue;
        if (l.indent == 0)
            section = begins(&l, "Packages:") ? PACKAGES : begins(&l, "Dexopt state:") ? DEXOPT : NOWHERE;
        bool own = (section == PACKAGES && is_entry(&l, "Package ", name)) ||
                   (section == DEXOPT && is_entry(&l, "", name));
        if (own) {
            inside = true;
            entry = l.indent;
            ret->installed = ret->installed || section == PACKAGES;
            continue;
        }
        inside = inside && section != NOWHERE && l.indent > entry;
        if (inside && section == PACKAGES)
            take_package(&l, version, code, ret);
        else if (inside)
            take_state(&l, &paths, ret);
    }
    if (version[0] != '\0' || code[0] != '\0')
        snprintf(ret->version, sizeof ret->version, "%.30s%s%.20s%s", version, code[0] ? " (" : "", code,
                 code[0] ? ")" : "");
}

void qs_package_put(const struct qs_package *is, struct qs_buf *out)
{
    if (!is->installed)
        qs_buf_str(out, "not installed");
    else
        qs_buf_fmt(out, "%s%s%s, compiled: %s", is->version, is->version[0] ? ", " : "",
                   !is->has_flags   ? "unknown build"
                   : is->debuggable ? "debuggable"
                                    : "release build",
                   is->compiled[0] ? is->compiled : "unknown");
}

static bool holds_compiled(const struct qs_package *is, const struct qs_job_app *wanted, const char *device,
                           struct qs_err *err)
{
    if (is->compiled[0] == '\0')
        return qs_fail(
            err, QS_E_PRECONDITION,
            "%s does not say how it has compiled %s (`dumpsys package %s` has no such entry below `Dexopt "
            "state:`): leave `app.compiled` out",
            device, wanted->package, wanted->package);
    if (strcmp(is->compiled, wanted->compiled) == 0)
        return true;
    return qs_fail(err, QS_E_PRECONDITION,
                   "%s on %s is compiled as `%s`, not as `%s`: run `cmd package compile -m %s -f %s` there "
                   "first, or write "
                   "`compiled: %s`",
                   wanted->package, device, is->compiled, wanted->compiled, wanted->compiled, wanted->package,
                   is->compiled);
}

bool qs_package_holds(const struct qs_package *is, const struct qs_job_app *wanted, const char *device,
                      struct qs_err *err)
{
    if (!is->installed)
        return qs_fail(err, QS_E_PRECONDITION,
                       "%s has no app %s: install it first (`pm list packages` there lists them)", device,
                       wanted->package);
    if (wanted->debuggable != QS_APP_ANY && !is->has_flags)
        return qs_fail(
            err, QS_E_PRECONDITION,
            "%s does not say whether %s may be debugged (`dumpsys package %s` has no `flags=`): leave "
            "`app.debuggable` out",
            device, wanted->package, wanted->package);
    if (wanted->debuggable == QS_APP_NO && is->debuggable)
        return qs_fail(err, QS_E_PRECONDITION,
                       "%s on %s is a build that may be debugged, which is slower in its own ways: install a "
                       "release build, or "
                       "write `debuggable: true`",
                       wanted->package, device);
    if (wanted->debuggable == QS_APP_YES && !is->debuggable)
        return qs_fail(err, QS_E_PRECONDITION,
                       "%s on %s is no build that may be debugged: write `debuggable: false`",
                       wanted->package, device);
    return wanted->compiled == NULL || holds_compiled(is, wanted, device, err);
}
