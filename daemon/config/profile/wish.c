#include "config/profile/wish.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"

static const char *const words[] = {[QS_WISH_FREE] = "free",
                                    [QS_WISH_MAX] = "max",
                                    [QS_WISH_MIN] = "min",
                                    [QS_WISH_SUSTAINED] = "sustained",
                                    [QS_WISH_HOLD] = "hold"};

static bool fail(struct qs_scalar_why *why, const char *text, const char *what)
{
    snprintf(why->text, sizeof why->text, "`%s` %s", qs_show(text).text, what);
    snprintf(why->suggestion, sizeof why->suggestion, "write max, min, hold, free, 60%% or 1.8GHz");
    return false;
}

bool qs_wish_read(const char *text, struct qs_wish *ret, struct qs_scalar_why *why)
{
    size_t n = strlen(text);
    *ret = (struct qs_wish){0};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (words[i] != NULL && strcmp(words[i], text) == 0) {
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
    if (strchr(text, '/') != NULL) {
        int end = 0;
        unsigned place = 0, of = 0;
        bool ok = sscanf(text, "%2u/%2u%n", &place, &of, &end) == 2 && text[end] == '\0' && place >= 1 &&
                  place <= of && of >= 2 && of <= QS_WISH_PLACES_MAX;
        *ret = (struct qs_wish){QS_WISH_PLACE, place, of};
        return ok || fail(why, text, "is no place among operating points: 1/2 to 32/32");
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
    case QS_WISH_PLACE:
        qs_buf_fmt(out, "%" PRId64 "/%" PRId64, wish->value, wish->of);
        break;
    case QS_WISH_SUSTAINED:
    case QS_WISH_HOLD:
    case QS_WISH_FREE:
    case QS_WISH_MAX:
    case QS_WISH_MIN:
        qs_buf_str(out, words[wish->how]);
        break;
    }
}

/* One text where all but the processors are free, as people write it, and as older versions did. */
static void put_frequencies(struct qs_json *j, const struct qs_wish *wishes)
{
    bool others = false;
    QS_BUF(text);
    for (size_t k = 0; k < QS_DOMAIN_KINDS; k++)
        others = others || (k != QS_DOMAIN_CPU && wishes[k].how != QS_WISH_FREE);
    if (!others) {
        qs_wish_print(&wishes[QS_DOMAIN_CPU], &text);
        qs_json_kstring(j, "frequency", text.data);
        return;
    }
    qs_json_kobject(j, "frequency");
    for (size_t k = 0; k < QS_DOMAIN_KINDS; k++) {
        if (wishes[k].how == QS_WISH_FREE)
            continue;
        qs_buf_clear(&text);
        qs_wish_print(&wishes[k], &text);
        qs_json_kstring(j, qs_domain_kinds[k], text.data);
    }
    qs_json_object_end(j);
}

static void put_governors(struct qs_json *j, char *const *governors)
{
    bool any = false;
    for (size_t k = 0; k < QS_DOMAIN_KINDS; k++)
        any = any || governors[k] != NULL;
    if (!any)
        return;
    qs_json_kobject(j, "governor");
    for (size_t k = 0; k < QS_DOMAIN_KINDS; k++)
        if (governors[k] != NULL)
            qs_json_kstring(j, qs_domain_kinds[k], governors[k]);
    qs_json_object_end(j);
}

static void put_switch(struct qs_json *j, const char *name, enum qs_switch_to to, int64_t number)
{
    if (to == QS_SWITCH_NUMBER)
        qs_json_kint(j, name, number);
    else if (to != QS_SWITCH_LEFT)
        qs_json_kstring(j, name, to == QS_SWITCH_ON ? "on" : "off");
}

void qs_wishes_put(struct qs_json *j, const struct qs_wishes *wishes)
{
    put_frequencies(j, wishes->frequency);
    put_governors(j, wishes->governor);
    if (wishes->online != NULL)
        qs_json_kstring(j, "online", wishes->online);
    put_switch(j, "boost", wishes->boost, 0);
    if (wishes->idle)
        qs_json_kint(j, "idle_states", (int64_t)wishes->idle_deepest);
    if (wishes->switch_count == 0)
        return;
    qs_json_kobject(j, "switches");
    for (size_t i = 0; i < wishes->switch_count; i++)
        put_switch(j, wishes->switches[i].of, wishes->switches[i].to, wishes->switches[i].number);
    qs_json_object_end(j);
}

bool qs_wishes_warm(const struct qs_wishes *wishes)
{
    return wishes->frequency[QS_DOMAIN_CPU].how == QS_WISH_HOLD;
}

bool qs_wish_writes(const struct qs_wish *wish)
{
    return wish->how != QS_WISH_FREE && wish->how != QS_WISH_HOLD;
}

bool qs_wishes_write(const struct qs_wishes *wishes)
{
    bool any =
        wishes->online != NULL || wishes->boost != QS_SWITCH_LEFT || wishes->idle || wishes->switch_count > 0;
    for (size_t k = 0; k < QS_DOMAIN_KINDS; k++)
        any = any || qs_wish_writes(&wishes->frequency[k]) || wishes->governor[k] != NULL;
    return any;
}

bool qs_wishes_none(const struct qs_wishes *wishes)
{
    bool any = qs_wishes_write(wishes);
    for (size_t k = 0; k < QS_DOMAIN_KINDS; k++)
        any = any || wishes->frequency[k].how != QS_WISH_FREE;
    return !any;
}

void qs_wishes_done(struct qs_wishes *wishes)
{
    for (size_t k = 0; k < QS_DOMAIN_KINDS; k++)
        free(wishes->governor[k]);
    for (size_t i = 0; i < wishes->switch_count; i++)
        free(wishes->switches[i].of);
    free(wishes->switches);
    free(wishes->sweep);
    free(wishes->online);
    *wishes = (struct qs_wishes){0};
}
