#include "config/profile/wish.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const char *const words[] = {[QS_WISH_FREE] = "free", [QS_WISH_MAX] = "max", [QS_WISH_MIN] = "min"};

static bool fail(struct qs_scalar_why *why, const char *text, const char *what)
{
    snprintf(why->text, sizeof why->text, "`%s` %s", qs_show(text).text, what);
    snprintf(why->suggestion, sizeof why->suggestion, "write max, min, free, 60%% or 1.8GHz");
    return false;
}

bool qs_wish_read(const char *text, struct qs_wish *ret, struct qs_scalar_why *why)
{
    size_t n = strlen(text);
    *ret = (struct qs_wish){0};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(words[i], text) == 0) {
            ret->how = (enum qs_wish_how)i;
            return true;
        }
    if (n > 0 && text[n - 1] == '%') {
        ret->how = QS_WISH_SHARE;
        if (!qs_scalar_ppm(text, &ret->value, why))
            return false;
        return (ret->value > 0 && ret->value <= 1000000) ||
               fail(why, text, "is not a share of the highest frequency: above 0% to 100%");
    }
    ret->how = QS_WISH_FREQUENCY;
    if (strspn(text, "0123456789.") == 0)
        return fail(why, text, "is not a frequency");
    if (!qs_scalar_quantity(text, QS_QTY_FREQUENCY, &ret->value, why))
        return false;
    return ret->value > 0 || fail(why, text, "is not a frequency");
}

void qs_wish_print(const struct qs_wish *wish, struct qs_buf *out)
{
    switch (wish->how) {
    case QS_WISH_SHARE:
        qs_buf_fmt(out, "%g%%", (double)wish->value / 1e4);
        break;
    case QS_WISH_FREQUENCY:
        if (wish->value % 1000 == 0)
            qs_buf_fmt(out, "%" PRId64 "MHz", wish->value / 1000);
        else
            qs_buf_fmt(out, "%" PRId64 "kHz", wish->value);
        break;
    case QS_WISH_FREE:
    case QS_WISH_MAX:
    case QS_WISH_MIN:
        qs_buf_str(out, words[wish->how]);
        break;
    }
}
