#include "device/board/pin.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "device/board/impl.h"

struct chosen { /* of one domain */
    const struct qs_board_domain *domain;
    size_t raw;
};
struct work {
    const struct qs_board *board;
    struct qs_pins *pins;
    struct chosen chosen[QS_BOARD_DOMAINS_MAX];
    size_t count;
};

/* "738 MHz", "27.5 MHz"; a domain that counts in something else has plain numbers. */
static void put_khz(struct qs_buf *out, const struct qs_board_domain *d, double khz)
{
    if (d->unit == QS_DOMAIN_RAW)
        qs_buf_fmt(out, "%.10g", khz);
    else
        qs_buf_fmt(out, "%.10g MHz", khz / 1000);
}

static void put_kinds(struct qs_buf *out, const struct qs_board *b)
{
    if (b->domains.count == 0)
        qs_buf_str(out, "no frequency of it can be read");
    for (size_t i = 0; i < b->domains.count; i++)
        qs_buf_fmt(out, "%s%s (%s)",
                   i == 0                      ? "it has "
                   : i + 1 == b->domains.count ? " and "
                                               : ", ",
                   b->domains.at[i].name, qs_domain_kinds[b->domains.at[i].kind]);
}

static bool no_domain(const struct qs_board *b, enum qs_domain_kind kind, const struct qs_wish *wish,
                      struct qs_err *err)
{
    QS_BUF(has);
    QS_BUF(text);
    put_kinds(&has, b);
    qs_wish_print(wish, &text);
    return qs_fail(err, QS_E_NOT_FOUND, "`%s: %s`: this device has no %s frequency: %s; write `%s: free`",
                   qs_domain_kinds[kind], text.data, qs_domain_kinds[kind], has.data, qs_domain_kinds[kind]);
}

static size_t nearest_below(const struct qs_board_domain *d, size_t khz)
{
    size_t i = d->steps_khz.count;
    while (i > 0 && d->steps_khz.at[i - 1] > khz)
        i--;
    return i; /* behind it */
}

static bool no_step(const struct qs_board_domain *d, size_t khz, struct qs_err *err)
{
    size_t above = nearest_below(d, khz), n = d->steps_khz.count;
    QS_BUF(text);
    qs_buf_fmt(&text, "%s has no ", d->name);
    put_khz(&text, d, (double)khz);
    qs_buf_str(&text, d->range || n == 1 ? "" : ": the nearest are ");
    if (d->range || n == 1) {
        qs_buf_str(&text, ": it goes from ");
        put_khz(&text, d, (double)d->hw_min_khz);
        qs_buf_str(&text, " to ");
        put_khz(&text, d, (double)d->hw_max_khz);
    } else {
        size_t first = above == 0 ? 0 : above == n ? n - 2 : above - 1;
        put_khz(&text, d, (double)d->steps_khz.at[first]);
        qs_buf_str(&text, " and ");
        put_khz(&text, d, (double)d->steps_khz.at[first + 1]);
        qs_buf_fmt(&text, " (%zu from ", n);
        put_khz(&text, d, (double)d->hw_min_khz);
        qs_buf_str(&text, " to ");
        put_khz(&text, d, (double)d->hw_max_khz);
        qs_buf_char(&text, ')');
    }
    return qs_fail(err, QS_E_JOB, "%s", text.data);
}

static size_t raw_of(const struct qs_board_domain *d, size_t khz)
{
    if (d->unit == QS_DOMAIN_HZ)
        return khz * 1000;
    return d->unit == QS_DOMAIN_MHZ ? khz / 1000 : khz;
}

static void take(struct work *w, const struct qs_board_domain *d, size_t khz, size_t raw, char *text)
{
    struct qs_pins *pins = w->pins;
    w->chosen[w->count++] = (struct chosen){d, raw};
    pins->choices.at = qs_grow(pins->choices.at, pins->choices.count, sizeof *pins->choices.at);
    pins->choices.at[pins->choices.count++] = (struct qs_pin_choice){d, khz, text};
}

/* The operating point i of the domain, with what it stands for. */
static void take_step(struct work *w, const struct qs_board_domain *d, size_t i, const char *because)
{
    QS_BUF(text);
    qs_buf_fmt(&text, "%s: ", d->name);
    put_khz(&text, d, (double)d->steps_khz.at[i]);
    qs_buf_fmt(&text, " (%s)", because);
    take(w, d, d->steps_khz.at[i], d->steps_raw.at[i], qs_buf_take(&text));
}

static void take_share(struct work *w, const struct qs_board_domain *d, int64_t ppm)
{
    double khz = (double)d->hw_max_khz * (double)ppm / 1e6;
    size_t at_most = (size_t)khz, after = nearest_below(d, at_most);
    QS_BUF(because);
    qs_buf_fmt(&because, "%g%% of ", (double)ppm / 1e4);
    put_khz(&because, d, (double)d->hw_max_khz);
    qs_buf_str(&because, " is ");
    put_khz(&because, d, khz);
    bool exact = after > 0 && (double)d->steps_khz.at[after - 1] == khz;
    if (!d->range || after == 0 || exact || after == d->steps_khz.count) {
        if (!exact)
            qs_buf_str(&because,
                       after == 0 ? "; below all steps: the lowest" : "; the nearest at or below it");
        take_step(w, d, after == 0 ? 0 : after - 1, because.data);
        return;
    }
    size_t raw = raw_of(d, at_most);
    QS_BUF(text);
    qs_buf_fmt(&text, "%s: ", d->name);
    put_khz(&text, d, (double)qs_domain_khz(d->unit, raw));
    qs_buf_fmt(&text, " (%s)", because.data);
    take(w, d, qs_domain_khz(d->unit, raw), raw, qs_buf_take(&text));
}

static bool take_frequency(struct work *w, const struct qs_board_domain *d, int64_t wanted,
                           struct qs_err *err)
{
    size_t khz = (size_t)wanted, after = nearest_below(d, khz);
    if (d->unit == QS_DOMAIN_RAW)
        return qs_fail(
            err, QS_E_JOB,
            "the steps of %s (%zu to %zu) are not frequencies: write max, min or a share such as 60%%",
            d->name, d->hw_min_khz, d->hw_max_khz);
    if (after > 0 && d->steps_khz.at[after - 1] == khz) {
        take_step(w, d, after - 1, "as asked");
        return true;
    }
    if (!d->range || after == 0 || after == d->steps_khz.count ||
        qs_domain_khz(d->unit, raw_of(d, khz)) != khz)
        return no_step(d, khz, err);
    QS_BUF(text);
    qs_buf_fmt(&text, "%s: ", d->name);
    put_khz(&text, d, (double)khz);
    qs_buf_str(&text, " (as asked)");
    take(w, d, khz, raw_of(d, khz), qs_buf_take(&text));
    return true;
}

static bool choose(struct work *w, const struct qs_board_domain *d, const struct qs_wish *wish,
                   struct qs_err *err)
{
    if (d->hold != QS_HOLD_OK)
        return qs_fail(err, d->hold == QS_HOLD_DENIED ? QS_E_DENIED : QS_E_NOT_FOUND,
                       "%s cannot be held at a frequency: %s; or write `%s: free`", d->name,
                       d->why != NULL ? d->why : "no reason is known", qs_domain_kinds[d->kind]);
    if (wish->how == QS_WISH_FREQUENCY)
        return take_frequency(w, d, wish->value, err);
    if (wish->how == QS_WISH_SHARE)
        take_share(w, d, wish->value);
    else if (wish->how == QS_WISH_MAX)
        take_step(w, d, d->steps_khz.count - 1, "its highest");
    else
        take_step(w, d, 0, "its lowest");
    return true;
}

static void put_item(struct work *w, const char *path, char *value, unsigned flags)
{
    struct qs_pins *pins = w->pins;
    pins->items.at = qs_grow(pins->items.at, pins->items.count, sizeof *pins->items.at);
    pins->items.at[pins->items.count++] = (struct qs_pin_item){qs_strdup(path), value, flags};
}

static void put_number(struct work *w, const char *path, size_t value, unsigned flags)
{
    put_item(w, path, qs_asprintf("%zu", value), flags);
}

/* Processors that are off and can be switched on, before all else. */
static void put_online(struct work *w)
{
    for (size_t i = 0; i < w->board->switches.count; i++) {
        const struct qs_board_switch *s = &w->board->switches.at[i];
        if (s->kind != QS_SWITCH_ONLINE || !s->writable || s->on == NULL || s->said == NULL ||
            strcmp(s->said, s->on) == 0)
            continue;
        put_item(w, s->path, qs_strdup(s->on), 0);
        w->pins->online_count++;
    }
    w->pins->survey_again = w->pins->online_count > 0;
}

static void put_writes(struct work *w)
{
    for (size_t i = 0; i < w->count; i++) {
        const struct qs_board_domain *d = w->chosen[i].domain;
        if (d->hold_governor != NULL && d->governor_file != NULL)
            put_item(w, d->governor_file, qs_strdup(d->hold_governor), 0);
    }
    for (size_t i = 0; i < w->count; i++) {
        const struct qs_board_domain *d = w->chosen[i].domain;
        size_t raw = w->chosen[i].raw;
        put_number(w, d->min_file, d->steps_raw.at[0], QS_PIN_NO_READ_BACK);
        put_number(w, d->max_file, raw, 0);
        put_number(w, d->min_file, raw, 0);
        if (d->set_file != NULL && d->hold_governor != NULL && strcmp(d->hold_governor, "userspace") == 0)
            put_number(w, d->set_file, raw, 0);
    }
}

bool qs_board_pin(const struct qs_board *board, const struct qs_pin_wishes *wishes, struct qs_pins *ret,
                  struct qs_err *err)
{
    struct work w = {.board = board, .pins = ret};
    bool ok = true;
    *ret = (struct qs_pins){0};
    for (unsigned kind = 0; kind < QS_DOMAIN_KINDS && ok; kind++) {
        size_t found = 0;
        if (wishes->of[kind].how == QS_WISH_FREE)
            continue;
        for (size_t i = 0; i < board->domains.count && found < QS_BOARD_DOMAINS_MAX && ok; i++) {
            if (board->domains.at[i].kind != kind)
                continue;
            found++;
            ok = choose(&w, &board->domains.at[i], &wishes->of[kind], err);
        }
        if (ok && found == 0)
            ok = no_domain(board, (enum qs_domain_kind)kind, &wishes->of[kind], err);
    }
    if (!ok) {
        qs_pins_done(ret);
        return false;
    }
    if (wishes->of[QS_DOMAIN_CPU].how != QS_WISH_FREE)
        put_online(&w);
    put_writes(&w);
    return true;
}

void qs_pins_done(struct qs_pins *pins)
{
    for (size_t i = 0; i < pins->items.count; i++) {
        free(pins->items.at[i].path);
        free(pins->items.at[i].value);
    }
    for (size_t i = 0; i < pins->choices.count; i++)
        free(pins->choices.at[i].text);
    free(pins->items.at);
    free(pins->choices.at);
    *pins = (struct qs_pins){0};
}
