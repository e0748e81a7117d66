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
    if (wish->how == QS_WISH_FREE)
        return qs_fail(err, QS_E_NOT_FOUND, "this device has no %s governor: %s; leave `governor` out of it",
                       qs_domain_kinds[kind], has.data);
    qs_wish_print(wish, &text);
    return qs_fail(err, QS_E_NOT_FOUND,
                   "`%s: %s`: this device has no %s frequency: %s; write `frequency: {%s: free}`",
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

void qs_pins_choice(struct qs_pins *pins, const struct qs_board_domain *domain, size_t khz, char *text)
{
    pins->choices.at = qs_grow(pins->choices.at, pins->choices.count, sizeof *pins->choices.at);
    pins->choices.at[pins->choices.count++] =
        (struct qs_pin_choice){.domain = domain, .khz = khz, .text = text};
}

static void take(struct work *w, const struct qs_board_domain *d, size_t khz, size_t raw, char *text)
{
    w->chosen[w->count++] = (struct chosen){d, raw};
    qs_pins_choice(w->pins, d, khz, text);
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

/* The places lie evenly over the operating points, or, where all between two are ones, between these. */
static void take_place(struct work *w, const struct qs_board_domain *d, const struct qs_wish *wish)
{
    size_t i = (size_t)wish->value - 1, of = (size_t)wish->of - 1, last = d->steps_khz.count - 1;
    QS_BUF(because);
    qs_buf_fmt(&because, "place %zu of %zu", i + 1, of + 1);
    if (!d->range || i == 0 || i == of) {
        qs_buf_fmt(&because, ", of %zu steps", last + 1);
        take_step(w, d, (i * last + of / 2) / of, because.data);
        return;
    }
    size_t khz = d->hw_min_khz + (d->hw_max_khz - d->hw_min_khz) * i / of, raw = raw_of(d, khz);
    QS_BUF(text);
    qs_buf_fmt(&text, "%s: ", d->name);
    put_khz(&text, d, (double)qs_domain_khz(d->unit, raw));
    qs_buf_fmt(&text, " (%s)", because.data);
    take(w, d, qs_domain_khz(d->unit, raw), raw, qs_buf_take(&text));
}

static bool choose(struct work *w, const struct qs_board_domain *d, const struct qs_wish *wish,
                   struct qs_err *err)
{
    if (d->hold != QS_HOLD_OK)
        return qs_fail(err, d->hold == QS_HOLD_DENIED ? QS_E_DENIED : QS_E_NOT_FOUND,
                       "%s cannot be held at a frequency: %s; or write `frequency: {%s: free}`", d->name,
                       d->why != NULL ? d->why : "no reason is known", qs_domain_kinds[d->kind]);
    if (wish->how == QS_WISH_FREQUENCY)
        return take_frequency(w, d, wish->value, err);
    if (wish->how == QS_WISH_PLACE)
        take_place(w, d, wish);
    else if (wish->how == QS_WISH_SHARE)
        take_share(w, d, wish->value);
    else if (wish->how == QS_WISH_MAX)
        take_step(w, d, d->steps_khz.count - 1, "its highest");
    else
        take_step(w, d, 0, "its lowest");
    return true;
}

void qs_pins_item(struct qs_pins *pins, const char *path, char *value, unsigned flags)
{
    pins->items.at = qs_grow(pins->items.at, pins->items.count, sizeof *pins->items.at);
    pins->items.at[pins->items.count++] = (struct qs_pin_item){qs_strdup(path), value, flags};
}

static void put_number(struct work *w, const char *path, size_t value, unsigned flags)
{
    qs_pins_item(w->pins, path, qs_asprintf("%zu", value), flags);
}

/* The governors of a kind that the job names: held frequencies are held under them. */
static bool put_governor(struct work *w, const struct qs_board_domain *d, const char *name, bool held,
                         struct qs_err *err)
{
    QS_BUF(has);
    for (size_t i = 0; i < d->governors.count; i++)
        qs_buf_fmt(&has, "%s%s", i == 0 ? ": it has " : ", ", d->governors.at[i]);
    if (d->governor_file == NULL)
        return qs_fail(
            err, QS_E_DENIED,
            "`governor: %s`: the governor of %s cannot be set: it has no file for it that the agent's "
            "user may write (as root it may)",
            name, d->name);
    if (d->governors.count > 0 && !qs_strings_have(&d->governors, name))
        return qs_fail(err, QS_E_JOB, "`governor: %s`: %s has no such governor%s", name, d->name, has.data);
    qs_pins_item(w->pins, d->governor_file, qs_strdup(name), 0);
    if (!held)
        qs_pins_choice(w->pins, NULL, 0, qs_asprintf("%s: governor %s", d->name, name));
    return true;
}

static bool put_governors(struct work *w, const struct qs_wishes *wishes, struct qs_err *err)
{
    bool ok = true;
    for (size_t i = 0; i < w->board->domains.count && ok; i++) {
        const struct qs_board_domain *d = &w->board->domains.at[i];
        bool held = qs_wish_writes(&wishes->frequency[d->kind]);
        if (wishes->governor[d->kind] != NULL)
            ok = put_governor(w, d, wishes->governor[d->kind], held, err);
        else if (held && d->hold_governor != NULL && d->governor_file != NULL)
            qs_pins_item(w->pins, d->governor_file, qs_strdup(d->hold_governor), 0);
    }
    return ok;
}

/* Then the number is the owner's, and is put back; under any other governor it goes with ours. */
static bool was_set_by_hand(const struct qs_board_domain *d)
{
    return d->governor != NULL && strcmp(d->governor, "userspace") == 0;
}

static void put_limits(struct work *w, const struct qs_wishes *wishes)
{
    for (size_t i = 0; i < w->count; i++) {
        const struct qs_board_domain *d = w->chosen[i].domain;
        const char *wished = wishes->governor[d->kind];
        const char *governor = wished != NULL ? wished : d->hold_governor;
        size_t raw = w->chosen[i].raw;
        put_number(w, d->min_file, d->steps_raw.at[0], QS_PIN_NO_READ_BACK);
        put_number(w, d->max_file, raw, 0);
        put_number(w, d->min_file, raw, 0);
        if (d->set_file != NULL && governor != NULL && strcmp(governor, "userspace") == 0)
            put_number(w, d->set_file, raw, was_set_by_hand(d) ? 0 : QS_PIN_TRANSIENT);
    }
}

static bool choose_all(struct work *w, const struct qs_wishes *wishes, struct qs_err *err)
{
    const struct qs_board *board = w->board;
    for (unsigned kind = 0; kind < QS_DOMAIN_KINDS; kind++) {
        size_t found = 0;
        const struct qs_wish *wish = &wishes->frequency[kind];
        bool held = qs_wish_writes(wish);
        for (size_t i = 0; i < board->domains.count && found < QS_BOARD_DOMAINS_MAX; i++) {
            if (board->domains.at[i].kind != kind)
                continue;
            found++;
            if (held && !choose(w, &board->domains.at[i], wish, err))
                return false;
        }
        if (found == 0 && (held || wishes->governor[kind] != NULL))
            return no_domain(board, (enum qs_domain_kind)kind, wish, err);
    }
    return true;
}

bool qs_board_pin(const struct qs_board *board, const struct qs_wishes *wishes, bool settled,
                  struct qs_pins *ret, struct qs_err *err)
{
    struct work w = {.board = board, .pins = ret};
    *ret = (struct qs_pins){0};
    bool ok = qs_pins_switches(board, wishes, settled, ret, err);
    if (ok && !ret->survey_again) {
        ok = choose_all(&w, wishes, err) && put_governors(&w, wishes, err);
        if (ok)
            put_limits(&w, wishes);
    }
    if (!ok)
        qs_pins_done(ret);
    return ok;
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
    qs_strings_done(&pins->thermal);
    *pins = (struct qs_pins){0};
}
