/* From wishes to what is written of switches: processors, boost, idle states and whatever a profile names. */
#include <ctype.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "device/board/impl.h"
#include "device/board/pin.h"

enum { NAMES_SHOWN = 12 };

/* What one of the items is to be: a switch is set by one wish at most. */
struct set {
    const struct qs_board_switch *of;
    const char *value; /* borrowed of the board; NULL: the number */
    int64_t number;
    bool implied; /* nobody asked for it: a frequency is held */
    char *path;   /* owned, of a command with {arg}; NULL: the switch's own */
};
struct work {
    const struct qs_board *board;
    struct qs_pins *pins;
    struct set sets[QS_BOARD_SWITCHES_MAX];
    size_t count;
};

/* ---- which processors ---- */

static void put_clusters(struct qs_buf *out, const struct qs_board *b)
{
    for (size_t i = 0; i < b->clusters.count; i++)
        qs_buf_fmt(out, "%s%s (%s)",
                   i == 0                       ? "it has "
                   : i + 1 == b->clusters.count ? " and "
                                                : ", ",
                   b->clusters.at[i].name, b->clusters.at[i].cpus);
    if (b->clusters.count == 0)
        qs_buf_fmt(out, "its processors are not told apart%s%s", b->cpus != NULL ? ": they are " : "",
                   b->cpus != NULL ? b->cpus : "");
}

static bool read_set(const char *text, struct qs_cpu_set *ret)
{
    *ret = (struct qs_cpu_set){0};
    return text != NULL && qs_cpu_set_read(text, strlen(text), ret);
}

char *qs_board_cpus_of(const struct qs_board *board, const char *word, struct qs_err *err)
{
    const struct qs_board_cluster *cluster = qs_board_cluster(board, word);
    struct qs_cpu_set all, wanted;
    QS_BUF(has);
    if (isdigit((unsigned char)word[0])) {
        if (read_set(board->cpus, &all) && read_set(word, &wanted) && qs_cpu_set_within(&wanted, &all))
            return qs_strdup(word);
        qs_fail(err, QS_E_NOT_FOUND, "the processors %s are not all there: the device has %s", word,
                board->cpus != NULL ? board->cpus : "a number of them that it does not tell");
        return NULL;
    }
    if (strcmp(word, "all") == 0 && board->cpus != NULL)
        return qs_strdup(board->cpus);
    if (cluster != NULL)
        return qs_strdup(cluster->cpus);
    put_clusters(&has, board);
    qs_fail(err, QS_E_NOT_FOUND,
            "this device has no processors `%s`: %s; write one of these, or CPUs such as 0-3", word,
            has.data);
    return NULL;
}

char *qs_board_one_big(const struct qs_board *board, size_t index, struct qs_err *err)
{
    QS_FREED char *big = qs_board_cpus_of(board, "big", err);
    struct qs_cpu_set cpus;
    size_t count = 0;
    if (!read_set(big, &cpus))
        return NULL;
    for (size_t cpu = 0; cpu < QS_BOARD_CPUS_MAX; cpu++)
        count += qs_cpu_set_has(&cpus, cpu);
    index %= count;
    for (size_t cpu = 0; cpu < QS_BOARD_CPUS_MAX; cpu++)
        if (qs_cpu_set_has(&cpus, cpu) && index-- == 0)
            return qs_asprintf("%zu", cpu);
    return NULL;
}

/* The number at the end of a switch's folder: cpu3, state2. False: it has none. */
static bool number_of(const struct qs_board_switch *s, size_t *ret)
{
    const char *end = strrchr(s->path, '/'), *at = end;
    *ret = 0;
    while (at != NULL && at > s->path && isdigit((unsigned char)at[-1]))
        at--;
    for (const char *c = at; c != NULL && c < end && *ret < QS_BOARD_CPUS_MAX; c++)
        *ret = *ret * 10 + (size_t)(*c - '0');
    return at != NULL && at < end;
}

/* ---- one switch ---- */

static bool is_set(const struct work *w, const struct qs_board_switch *s, const char *path)
{
    for (size_t i = 0; i < w->count; i++)
        if (w->sets[i].of == s && (path == NULL || strcmp(w->sets[i].path, path) == 0))
            return true;
    return false;
}

static bool put(struct work *w, const struct qs_board_switch *s, const struct set *set, struct qs_err *err)
{
    if (w->count == QS_BOARD_SWITCHES_MAX)
        return qs_fail(err, QS_E_LIMIT, "the job sets more than %d switches", QS_BOARD_SWITCHES_MAX);
    if (is_set(w, s, set->path))
        return qs_fail(err, QS_E_JOB,
                       "the job sets `%s` twice: by its name, a pattern or a word for its kind", s->name);
    if (!s->writable)
        return qs_fail(
            err, QS_E_DENIED,
            "the switch `%s` cannot be set: %s may not be written by the agent's user, or a profile "
            "says never to; as root it may",
            s->name, s->path);
    w->sets[w->count++] = *set;
    if (s->kind == QS_SWITCH_THERMAL && set->value != s->on)
        qs_strings_add(&w->pins->thermal, qs_strdup(s->name));
    return true;
}

/* path: see set; ours where it returns true. */
static bool switch_path(struct work *w, const struct qs_board_switch *s, char *path, enum qs_switch_to to,
                        int64_t number, struct qs_err *err)
{
    struct set set = {.of = s, .number = number, .path = path};
    bool words = s->on != NULL && s->off != NULL;
    if (words && to == QS_SWITCH_NUMBER)
        return qs_fail(err, QS_E_JOB, "the switch `%s` takes on or off, not %" PRId64, s->name, number);
    if (!words && to != QS_SWITCH_NUMBER)
        return qs_fail(err, QS_E_JOB, "the switch `%s` takes a number from %" PRId64 " to %" PRId64, s->name,
                       s->lo, s->hi);
    if (!words && (number < s->lo || number > s->hi))
        return qs_fail(err, QS_E_JOB, "the switch `%s` takes %" PRId64 " to %" PRId64 ", not %" PRId64,
                       s->name, s->lo, s->hi, number);
    if (words)
        set.value = to == QS_SWITCH_ON ? s->on : s->off;
    return put(w, s, &set, err);
}

static bool switch_to(struct work *w, const struct qs_board_switch *s, enum qs_switch_to to, int64_t number,
                      struct qs_err *err)
{
    return switch_path(w, s, NULL, to, number, err);
}

/* ---- commands with an argument: "standby:{arg}" as standby:org.example ---- */

/* What stands in the name for {arg}: one word, no option. Owned; NULL where the name is another one. */
static char *arg_of(const struct qs_board_switch *s, const char *name)
{
    const char *at = strstr(s->name, QS_TOOL_ARG);
    size_t n = strlen(name), before = at != NULL ? (size_t)(at - s->name) : 0;
    size_t behind = at != NULL ? strlen(at) - (sizeof QS_TOOL_ARG - 1) : 0;
    if (at == NULL || n <= before + behind || strncmp(name, s->name, before) != 0 ||
        strcmp(name + n - behind, at + sizeof QS_TOOL_ARG - 1) != 0)
        return NULL;
    char *arg = qs_strndup(name + before, n - before - behind);
    for (const char *c = arg; *c != '\0'; c++)
        if ((!isalnum((unsigned char)*c) && strchr("._:@/+-", *c) == NULL) || arg[0] == '-') {
            free(arg);
            return NULL;
        }
    return arg;
}

static bool switch_with(struct work *w, const struct qs_board_switch *s, const char *arg,
                        const struct qs_switch_wish *wish, struct qs_err *err)
{
    char *path = qs_tool_with(s->path, arg);
    bool ok = strlen(path) <= QS_CONTROL_PATH_MAX_BYTES ||
              qs_fail(err, QS_E_JOB, "`%s` is too long: the commands of this switch have more than %d bytes",
                      wish->of, QS_CONTROL_PATH_MAX_BYTES);
    ok = ok && switch_path(w, s, path, wish->to, wish->number, err);
    if (!ok)
        free(path);
    return ok;
}

/* ---- what is wished ---- */

/* By name; what protects the device from its own heat only so, and by no pattern. */
static bool is_meant(const struct qs_board_switch *s, const char *pattern)
{
    return strcmp(s->name, pattern) == 0 ||
           (s->kind != QS_SWITCH_THERMAL && strstr(s->name, QS_TOOL_ARG) == NULL &&
            fnmatch(pattern, s->name, FNM_NOESCAPE) == 0);
}

/* A row of its own goes before one with {arg}. */
static bool is_name(const struct qs_board *b, const char *name)
{
    bool is = false;
    for (size_t i = 0; i < b->switches.count; i++)
        is = is || strcmp(b->switches.at[i].name, name) == 0;
    return is;
}

static bool none_meant(const struct qs_board *b, const char *what, struct qs_err *err)
{
    QS_BUF(has);
    size_t shown = b->switches.count < NAMES_SHOWN ? b->switches.count : NAMES_SHOWN;
    for (size_t i = 0; i < shown; i++)
        qs_buf_fmt(&has, "%s%s", i == 0 ? ": it has " : ", ", b->switches.at[i].name);
    if (b->switches.count > shown)
        qs_buf_fmt(&has, " and %zu more", b->switches.count - shown);
    return qs_fail(err, QS_E_NOT_FOUND, "this device has no switch `%s`%s", what,
                   has.len > 0 ? has.data : ", nor any other");
}

static bool put_named(struct work *w, const struct qs_switch_wish *wish, struct qs_err *err)
{
    size_t before = w->count;
    bool exact = is_name(w->board, wish->of);
    for (size_t i = 0; i < w->board->switches.count; i++) {
        const struct qs_board_switch *s = &w->board->switches.at[i];
        QS_FREED char *arg = exact ? NULL : arg_of(s, wish->of);
        bool ok = arg != NULL             ? switch_with(w, s, arg, wish, err)
                  : is_meant(s, wish->of) ? switch_to(w, s, wish->to, wish->number, err)
                                          : true;
        if (!ok)
            return false;
    }
    if (w->count == before)
        return none_meant(w->board, wish->of, err);
    if (wish->to == QS_SWITCH_NUMBER)
        qs_pins_choice(w->pins, NULL, 0, qs_asprintf("%s: %" PRId64, wish->of, wish->number));
    else
        qs_pins_choice(w->pins, NULL, 0,
                       qs_asprintf("%s: %s", wish->of, wish->to == QS_SWITCH_ON ? "on" : "off"));
    return true;
}

static bool put_boost(struct work *w, enum qs_switch_to to, struct qs_err *err)
{
    size_t before = w->count;
    for (size_t i = 0; i < w->board->switches.count; i++) {
        const struct qs_board_switch *s = &w->board->switches.at[i];
        if (s->kind == QS_SWITCH_BOOST && !switch_to(w, s, to, 0, err))
            return false;
    }
    if (w->count == before)
        return none_meant(w->board, "boost", err);
    qs_pins_choice(w->pins, NULL, 0, qs_asprintf("boost: %s", to == QS_SWITCH_ON ? "on" : "off"));
    return true;
}

static bool put_idle(struct work *w, uint32_t deepest, struct qs_err *err)
{
    size_t before = w->count, found = 0, state = 0;
    for (size_t i = 0; i < w->board->switches.count; i++) {
        const struct qs_board_switch *s = &w->board->switches.at[i];
        if (s->kind != QS_SWITCH_IDLE || !number_of(s, &state))
            continue;
        found++;
        if (state > deepest && !switch_to(w, s, QS_SWITCH_OFF, 0, err))
            return false;
    }
    if (found == 0)
        return none_meant(w->board, "idle_states", err);
    qs_pins_choice(
        w->pins, NULL, 0,
        qs_asprintf("idle states deeper than %" PRIu32 ": off (%zu files)", deepest, w->count - before));
    return true;
}

/* The processors of the set run and no others: those that come on first, so that one always runs. */
static bool put_online(struct work *w, const char *word, struct qs_err *err)
{
    QS_FREED char *text = qs_board_cpus_of(w->board, word, err);
    struct qs_cpu_set wanted, all, left;
    if (!read_set(text, &wanted))
        return false;
    if (!read_set(w->board->cpus, &all))
        all = wanted;
    left = all;
    for (unsigned on = 2; on-- > 0;)
        for (size_t i = 0; i < w->board->switches.count; i++) {
            const struct qs_board_switch *s = &w->board->switches.at[i];
            size_t cpu = 0;
            if (s->kind != QS_SWITCH_ONLINE || !number_of(s, &cpu) || !qs_cpu_set_has(&left, cpu) ||
                qs_cpu_set_has(&wanted, cpu) != (on == 1))
                continue;
            left.bits[cpu / 64] &= ~(UINT64_C(1) << (cpu % 64));
            if (!switch_to(w, s, on ? QS_SWITCH_ON : QS_SWITCH_OFF, 0, err))
                return false;
        }
    struct qs_cpu_set online;
    bool told = read_set(w->board->online, &online);
    for (size_t cpu = 0; cpu < QS_BOARD_CPUS_MAX; cpu++)
        if (qs_cpu_set_has(&left, cpu) && told &&
            qs_cpu_set_has(&online, cpu) != qs_cpu_set_has(&wanted, cpu))
            return qs_fail(err, QS_E_DENIED,
                           "`online: %s`: processor %zu cannot be switched %s: it has no file for it", word,
                           cpu, qs_cpu_set_has(&wanted, cpu) ? "on" : "off, so list it too");
    qs_pins_choice(w->pins, NULL, 0, qs_asprintf("processors %s: online, others off", text));
    return true;
}

/* Where it can be: a job with SCHED_FIFO goes on without. What the job itself says of it is left. */
static void put_unthrottled(struct work *w)
{
    for (size_t i = 0; i < w->board->switches.count && w->count < QS_BOARD_SWITCHES_MAX; i++) {
        const struct qs_board_switch *s = &w->board->switches.at[i];
        if (s->kind != QS_SWITCH_REALTIME || s->off == NULL || !s->writable || is_set(w, s, NULL))
            continue;
        w->sets[w->count++] = (struct set){.of = s, .value = s->off, .implied = true};
        qs_pins_choice(w->pins, NULL, 0, qs_asprintf("%s: off", s->name));
    }
}

/* Processors that are off would come back at a frequency that is not held. */
static void put_all_on(struct work *w)
{
    for (size_t i = 0; i < w->board->switches.count && w->count < QS_BOARD_SWITCHES_MAX; i++) {
        const struct qs_board_switch *s = &w->board->switches.at[i];
        if (s->kind == QS_SWITCH_ONLINE && !is_set(w, s, NULL) && s->writable && s->on != NULL &&
            s->said != NULL && strcmp(s->said, s->on) != 0)
            w->sets[w->count++] = (struct set){.of = s, .value = s->on, .implied = true};
    }
}

static bool is_first(const struct set *set)
{
    bool kind = set->of->kind == QS_SWITCH_ONLINE || set->of->kind == QS_SWITCH_BOOST;
    return kind && (set->value == NULL || set->of->said == NULL || strcmp(set->of->said, set->value) != 0);
}

static void put_items(struct work *w, bool first)
{
    for (size_t i = 0; i < w->count; i++) {
        const struct set *set = &w->sets[i];
        const char *path = set->path != NULL ? set->path : set->of->path;
        unsigned flags = (set->of->persistent ? QS_PIN_PERSISTENT : 0U) |
                         (set->implied ? QS_PIN_MAY_FAIL : 0U) | (qs_tool_is(path) ? QS_PIN_COMMAND : 0U) |
                         (qs_tool_is_blind(path) ? QS_PIN_NO_READ_BACK : 0U);
        if (is_first(set) == first)
            qs_pins_item(w->pins, path,
                         set->value != NULL ? qs_strdup(set->value) : qs_asprintf("%" PRId64, set->number),
                         flags);
    }
}

bool qs_pins_switches(const struct qs_board *board, const struct qs_wishes *wishes, bool settled,
                      struct qs_pins *pins, struct qs_err *err)
{
    QS_FREED struct work *w = qs_calloc(1, sizeof *w);
    w->board = board;
    w->pins = pins;
    bool ok = true;
    if (wishes->online != NULL)
        ok = put_online(w, wishes->online, err);
    if (ok && wishes->boost != QS_SWITCH_LEFT)
        ok = put_boost(w, wishes->boost, err);
    if (ok && wishes->idle)
        ok = put_idle(w, wishes->idle_deepest, err);
    for (size_t i = 0; ok && i < wishes->switch_count; i++)
        ok = put_named(w, &wishes->switches[i], err);
    if (ok && !settled && wishes->online == NULL && qs_wish_writes(&wishes->frequency[QS_DOMAIN_CPU]))
        put_all_on(w);
    if (ok && wishes->unthrottled)
        put_unthrottled(w);
    put_items(w, true);
    pins->survey_again = pins->items.count > 0 && !settled;
    if (!pins->survey_again)
        put_items(w, false);
    for (size_t i = 0; i < w->count; i++)
        free(w->sets[i].path);
    return ok;
}
