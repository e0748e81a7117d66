#include "device/board/knob.h"

#include <fnmatch.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "config/profile/tool.h"
#include "device/board/impl.h"
#include "proto/names.h"

enum { TAKES_MIN_SHARE = 4 }; /* a clock that misses its frequency by a quarter of the way is elsewhere */

const char *qs_knob_sticks_name(enum qs_knob_sticks sticks)
{
    static const char *const names[] = {"yes", "late", "untried", "slips", "ignored", "fails"};
    return names[sticks];
}

const char *qs_knob_effect_name(enum qs_knob_effect effect)
{
    static const char *const names[] = {"unknown", "yes", "claimed", "no"};
    return names[effect];
}

void qs_knob_done(struct qs_knob *knob)
{
    free(knob->path);
    qs_buf_done(&knob->why);
}

/* How many times as long the loop took at the low frequency. */
static double loop_ratio(const struct qs_knob *k)
{
    return k->low.loop_ns > 0 && k->high.loop_ns > 0 ? (double)k->low.loop_ns / (double)k->high.loop_ns : NAN;
}

struct qs_knob_row qs_knob_row(const struct qs_knob *k)
{
    return (struct qs_knob_row){.name = k->name,
                                .kind = k->kind,
                                .path = k->path ? k->path : "",
                                .sticks = k->sticks == QS_KNOB_FAILS ? qs_tune_outcome_name(k->outcome)
                                                                     : qs_knob_sticks_name(k->sticks),
                                .effect = qs_knob_effect_name(k->effect),
                                .why = k->why.len > 0 ? k->why.data : NULL,
                                .after_ms = k->after_ms,
                                .low_khz = k->low_khz,
                                .high_khz = k->high_khz,
                                .seen_low_khz = k->low.khz,
                                .seen_high_khz = k->high.khz,
                                .loop_ratio = loop_ratio(k)};
}

static bool untried(struct qs_knob *k, const char *why)
{
    k->sticks = QS_KNOB_UNTRIED;
    qs_buf_clear(&k->why);
    qs_buf_str(&k->why, why);
    return false;
}

bool qs_knob_hold(const struct qs_board *board, size_t domain, bool high, struct qs_pins *ret,
                  struct qs_knob *k)
{
    struct qs_board_domain *d = &board->domains.at[domain];
    struct qs_board alone = *board; /* borrows */
    struct qs_wishes wishes = {.boost = QS_SWITCH_LEFT};
    struct qs_err err = QS_ERR_INIT;
    alone.domains.at = d;
    alone.domains.count = 1;
    k->name = d->name;
    k->kind = qs_domain_kinds[d->kind];
    *ret = (struct qs_pins){.survey_again = false};
    if (d->hold != QS_HOLD_OK || d->steps_khz.count == 0)
        return untried(k, d->why ? d->why : "what frequencies there are cannot be told");
    k->low_khz = (int64_t)d->steps_khz.at[0];
    k->high_khz = (int64_t)d->steps_khz.at[d->steps_khz.count - 1];
    if (k->low_khz == k->high_khz)
        return untried(k, "it has one frequency");
    wishes.frequency[d->kind].how = high ? QS_WISH_MAX : QS_WISH_MIN;
    if (!qs_board_pin(&alone, &wishes, true, ret, &err))
        return untried(k, err.text);
    for (size_t i = 0; i < ret->choices.count; i++)
        ret->choices.at[i].domain = d;
    return true;
}

/* What would be wrong to turn only in order to see whether it can be. */
static const char *why_not(const struct qs_board_switch *s)
{
    if (!s->writable)
        return "the agent's user may not write it: run the agent as root";
    if (qs_tool_is(s->path))
        return "a command of the system is not run only to try it";
    if (s->persistent)
        return "it would outlast a restart of the device";
    switch (s->kind) {
    case QS_SWITCH_ONLINE:
        return "groups of processes may lose a processor that goes and comes back";
    case QS_SWITCH_CHARGING:
        return "charging is not interrupted to try it";
    case QS_SWITCH_FAN:
    case QS_SWITCH_THERMAL:
        return "what protects the device from heat is not switched off to try it";
    case QS_SWITCH_FREEZE:
        return "processes are not frozen to try it";
    case QS_SWITCH_REALTIME:
    case QS_SWITCH_KERNEL:
        return "the kernel takes its options as they are written, and nothing is changed to see that";
    case QS_SWITCH_IDLE:
    case QS_SWITCH_BOOST:
    case QS_SWITCH_OTHER:
        break;
    }
    return s->said == NULL ? "what it says cannot be read" : NULL;
}

bool qs_knob_may_turn(const struct qs_board_switch *s)
{
    return why_not(s) == NULL && ((s->on != NULL && s->off != NULL) || s->lo != s->hi);
}

bool qs_knob_turn(const struct qs_board_switch *s, struct qs_pins *pins, struct qs_knob *k)
{
    k->name = s->name;
    k->kind = qs_switch_kinds[s->kind];
    if (why_not(s))
        return untried(k, why_not(s));
    if (s->on != NULL && s->off != NULL) {
        qs_pins_item(pins, s->path, qs_strdup(strcmp(s->said, s->on) == 0 ? s->off : s->on), 0);
        return true;
    }
    int64_t now = strtoll(s->said, NULL, 10);
    if (s->lo == s->hi)
        return untried(k, "it has one value");
    qs_pins_item(pins, s->path, qs_asprintf("%" PRId64, now != s->hi ? s->hi : s->lo), 0);
    return true;
}

static void say(struct qs_knob *k, const struct qs_pin_item *item, const struct qs_tuned *t)
{
    qs_buf_clear(&k->why);
    if (k->sticks == QS_KNOB_LATE)
        qs_buf_fmt(&k->why, "it took %" PRId64 " ms until it said %s", k->after_ms, item->value);
    else if (k->sticks == QS_KNOB_IGNORED)
        qs_buf_fmt(&k->why, "%s was written and taken, and it still says %.*s", item->value, (int)t->now.n,
                   t->now.p);
    else if (k->sticks == QS_KNOB_SLIPS)
        qs_buf_fmt(&k->why, "%s was written, and it says %.*s", item->value, (int)t->now.n, t->now.p);
    else if (k->sticks == QS_KNOB_FAILS && t->outcome == QS_TUNE_TIMEOUT)
        qs_buf_fmt(&k->why, "its driver did not answer when %s was written", item->value);
    else if (k->sticks == QS_KNOB_FAILS)
        qs_buf_fmt(&k->why, "%s could not be written%s%s", item->value, t->error != 0 ? ": " : "",
                   t->error != 0 ? strerror(t->error) : "");
}

uint64_t qs_knob_khz(const struct qs_board_domain *domain, uint64_t raw)
{
    return qs_domain_khz(domain->unit, (size_t)raw);
}

static bool same(struct qs_text a, struct qs_text b)
{
    return a.n == b.n && memcmp(a.p, b.p, a.n) == 0;
}

void qs_knob_take(struct qs_knob *k, const struct qs_pin_item *item, const struct qs_tuned *t,
                  int64_t after_ms)
{
    bool again = k->path && strcmp(k->path, item->path) == 0, stands = t->outcome <= QS_TUNE_SAME;
    enum qs_knob_sticks sticks = stands && again                 ? QS_KNOB_LATE
                                 : stands                        ? QS_KNOB_STICKS
                                 : t->outcome != QS_TUNE_SLIPPED ? QS_KNOB_FAILS
                                 : same(t->now, t->before)       ? QS_KNOB_IGNORED
                                                                 : QS_KNOB_SLIPS;
    if (again && sticks == QS_KNOB_LATE && k->sticks == QS_KNOB_LATE)
        return; /* at the other point, perhaps at once */
    if (!again && sticks <= k->sticks)
        return;
    k->sticks = sticks;
    k->outcome = t->outcome;
    k->after_ms = sticks == QS_KNOB_LATE ? after_ms : 0;
    free(k->path);
    k->path = qs_strdup(item->path);
    say(k, item, t);
}

static void put_mhz(struct qs_buf *out, int64_t khz)
{
    qs_buf_fmt(out, "%.10g MHz", (double)khz / 1000);
}

/* "held at 600 MHz it ran at 1500 MHz" */
static void add_missed(struct qs_knob *k, int64_t held_khz, int64_t seen_khz)
{
    qs_buf_str(&k->why, k->why.len > 0 ? ", " : "");
    qs_buf_str(&k->why, "held at ");
    put_mhz(&k->why, held_khz);
    qs_buf_str(&k->why, " it ran at ");
    put_mhz(&k->why, seen_khz);
}

void qs_knob_judge(struct qs_knob *k)
{
    int64_t slack = (k->high_khz - k->low_khz) / TAKES_MIN_SHARE;
    double most = k->low_khz > 0 ? (double)k->high_khz / (double)k->low_khz : NAN, ratio = loop_ratio(k);
    bool known = k->low.khz > 0 && k->high.khz > 0;
    bool low = k->low.khz <= k->low_khz + slack, high = k->high.khz >= k->high_khz - slack;
    bool loop_known = isfinite(ratio) && most >= 1.2, loop = loop_known && ratio >= 1 + (most - 1) / 2;
    if (k->sticks > QS_KNOB_LATE || (!known && !loop_known))
        return;
    if (known && low && high && loop_known && !loop) {
        k->effect = QS_KNOB_CLAIMED;
        qs_buf_fmt(&k->why, "%sits clock says that it moved, but a loop took only %.2f times as long",
                   k->why.len > 0 ? "; " : "", ratio);
    } else if ((known && low && high) || loop) {
        k->effect = QS_KNOB_WORKS;
    } else {
        k->effect = QS_KNOB_WITHOUT;
        if (known && !low)
            add_missed(k, k->low_khz, k->low.khz);
        if (known && !high)
            add_missed(k, k->high_khz, k->high.khz);
        if (!known)
            qs_buf_fmt(&k->why, "a loop took only %.2f times as long at the lowest frequency", ratio);
    }
}

/* ---- what was found ---- */

bool qs_knob_is_doubtful(const struct qs_knob_row *row)
{
    bool untried = strcmp(row->sticks, "untried") == 0, yes = strcmp(row->sticks, "yes") == 0;
    return !untried && (!yes || strcmp(row->effect, "no") == 0 || strcmp(row->effect, "claimed") == 0);
}

bool qs_knob_matters(const struct qs_knob_row *row, const struct qs_wishes *wishes)
{
    for (size_t k = 0; k < QS_DOMAIN_KINDS; k++)
        if (strcmp(row->kind, qs_domain_kinds[k]) == 0 &&
            (qs_wish_writes(&wishes->frequency[k]) || wishes->governor[k]))
            return true;
    for (size_t i = 0; i < wishes->switch_count; i++)
        if (fnmatch(wishes->switches[i].of, row->name, FNM_NOESCAPE) == 0)
            return true;
    return (strcmp(row->kind, qs_switch_kinds[QS_SWITCH_BOOST]) == 0 && wishes->boost != QS_SWITCH_LEFT) ||
           (strcmp(row->kind, qs_switch_kinds[QS_SWITCH_IDLE]) == 0 && wishes->idle) ||
           (strcmp(row->kind, qs_switch_kinds[QS_SWITCH_ONLINE]) == 0 && wishes->online);
}

void qs_knob_say(const struct qs_knob_row *row, struct qs_buf *out)
{
    const char *how = strcmp(row->effect, "no") == 0        ? "no effect"
                      : strcmp(row->effect, "claimed") == 0 ? "an effect that it only claims"
                                                            : row->sticks;
    qs_buf_fmt(out, "%s cannot be relied on (%s)%s%s", row->name, how, row->why ? ": " : "",
               row->why ? row->why : "");
}
