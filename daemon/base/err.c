#include "base/err.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"

struct row {
    const char *slug;
    const char *advice;
    enum qs_blame blame;
};

static const struct row rows[QS_E_COUNT] = {
    [QS_E_NONE] = {"ok", "", QS_BLAME_NONE},
#define QS_ERR(sym, slug_, blame_, advice_) [QS_E_##sym] = {slug_, advice_, QS_BLAME_##blame_},
#include "base/err.def"
#undef QS_ERR
};

static const struct row *row_of(enum qs_errc code)
{
    unsigned i = (unsigned)code;
    return i < QS_E_COUNT ? &rows[i] : &rows[QS_E_INTERNAL];
}

/* Takes a character away that the end of the array has cut in two. */
static void trim_cut_character(char *text)
{
    size_t len = strlen(text);
    for (size_t back = 1; back <= len; back++) {
        unsigned char c = (unsigned char)text[len - back];
        if (c >= 0xc0) {
            size_t need = c >= 0xf0 ? 4 : c >= 0xe0 ? 3 : 2;
            if (back < need)
                text[len - back] = '\0';
            return;
        }
        if (c < 0x80)
            return;
    }
}

bool qs_fail(struct qs_err *err, enum qs_errc code, const char *fmt, ...)
{
    if (!err)
        return false;
    /* The arguments may point into err->text. */
    char text[QS_ERR_TEXT_BYTES] = "";
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    if ((size_t)n >= sizeof text)
        trim_cut_character(text);
    err->code = code;
    memcpy(err->text, text, sizeof text);
    return false;
}

bool qs_fail_prefix(struct qs_err *err, const char *fmt, ...)
{
    if (!err)
        return false;
    QS_BUF(whole);
    va_list ap;
    va_start(ap, fmt);
    qs_buf_vfmt(&whole, fmt, ap);
    va_end(ap);
    qs_buf_str(&whole, ": ");
    qs_buf_str(&whole, err->text);
    qs_fail(err, err->code, "%s", whole.data);
    return false;
}

const char *qs_errc_slug(enum qs_errc code)
{
    return row_of(code)->slug;
}

const char *qs_errc_advice(enum qs_errc code)
{
    return row_of(code)->advice;
}

enum qs_blame qs_errc_blame(enum qs_errc code)
{
    return row_of(code)->blame;
}

const char *qs_blame_name(enum qs_blame blame)
{
    switch (blame) {
    case QS_BLAME_NONE:
        return "none";
    case QS_BLAME_OPERATOR:
        return "operator";
    case QS_BLAME_DEVICE:
        return "device";
    case QS_BLAME_HOST:
        return "host";
    case QS_BLAME_QUIESCE:
        return "quiesce";
    }
    return "quiesce";
}

enum qs_errc qs_errc_from_slug(const char *slug)
{
    for (unsigned i = 0; slug && i < QS_E_COUNT; i++)
        if (strcmp(rows[i].slug, slug) == 0)
            return (enum qs_errc)i;
    return QS_E_INTERNAL;
}
