/* What a job wants set on its device: processors, frequencies, governors and switches. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "config/document/scalar.h"
#include "config/job/read_actions.h"

enum { CPU_MAX = 4095, CPUS_BYTES = 1000, NAME_BYTES = 64, SWITCHES_MAX = 64, IDLE_MAX = 99 };

/* "0-3,6": rising numbers and ranges. */
static bool is_cpu_list(const char *s)
{
    if (strlen(s) > CPUS_BYTES)
        return false;
    for (long last = -1;;) {
        char *end = NULL;
        if (*s < '0' || *s > '9')
            return false;
        long from = strtol(s, &end, 10);
        long to = from;
        if (*end == '-' && end[1] >= '0' && end[1] <= '9')
            to = strtol(end + 1, &end, 10);
        if (from <= last || to < from || to > CPU_MAX)
            return false;
        last = to;
        if (*end == '\0')
            return true;
        if (*end != ',')
            return false;
        s = end + 1;
    }
}

/* Owned; NULL with a problem. words: ends with NULL. */
static char *read_cpus(struct qs_schema_reader *r, const struct qs_node *node, const char *const *words,
                       const char *form)
{
    const char *text = qs_schema_text(r, node, form);
    if (text == NULL)
        return NULL;
    bool known = is_cpu_list(text);
    for (size_t i = 0; words[i] != NULL; i++)
        known = known || strcmp(words[i], text) == 0;
    if (known)
        return qs_strdup(text);
    QS_BUF(hint);
    qs_buf_fmt(&hint, "write %s", form);
    qs_schema_problem(r, node, hint.data, "`%s` is not a rising list of CPUs", qs_show(text).text);
    return NULL;
}

void qs_job_read_cpus(struct qs_schema_reader *r, const struct qs_key *key, const struct qs_node *node,
                      void *at)
{
    static const char *const words[] = {"any", "all", "little", "big", "prime", QS_JOB_ONE_BIG, NULL};
    struct qs_job_controls *controls = at;
    char *cpus = read_cpus(r, node, words, key->form);
    bool any = cpus != NULL && strcmp(cpus, "any") == 0;
    controls->cpus = any ? qs_strdup("") : cpus;
    if (any)
        free(cpus);
}

void qs_job_read_busy_cpus(struct qs_schema_reader *r, const struct qs_key *key, const struct qs_node *node,
                           void *at)
{
    static const char *const words[] = {"all", "little", "big", "prime", NULL};
    *(char **)at = read_cpus(r, node, words, key->form);
}

void qs_job_read_online(struct qs_schema_reader *r, const struct qs_key *key, const struct qs_node *node,
                        void *at)
{
    qs_job_read_busy_cpus(r, key, node, &((struct qs_job_controls *)at)->wishes.online);
}

/* One wish; false with a problem. */
static bool read_wish(struct qs_schema_reader *r, const struct qs_node *node, struct qs_wish *ret)
{
    static const char form[] = "free, max, min, hold, a share such as 50%, or a frequency such as 1.8GHz";
    struct qs_scalar_why why = {0};
    const char *text = qs_schema_text(r, node, form);
    bool ok = text != NULL && qs_wish_read(text, ret, &why);
    if (text != NULL && !ok)
        qs_schema_problem(r, node, why.suggestion[0] != '\0' ? why.suggestion : form, "%s", why.text);
    return ok;
}

/* What only processors can have. */
static void check_kind(struct qs_schema_reader *r, const struct qs_node *node, const struct qs_wish *wish,
                       enum qs_domain_kind kind)
{
    const char *why = wish->how == QS_WISH_SUSTAINED
                          ? "what a device sustains is found of its processors alone"
                      : wish->how == QS_WISH_HOLD ? "only processors can be kept busy until a window begins"
                                                  : NULL;
    if (why != NULL && kind != QS_DOMAIN_CPU)
        qs_schema_problem(r, node, "write max, min or a share such as 60%", "%s", why);
}

/* "each", "each 8"; 0: it is neither. */
static size_t places_of(const struct qs_node *node)
{
    enum { PLACES = 5 };
    unsigned n = 0;
    int end = 0;
    if (node->kind != QS_NODE_TEXT || strncmp(node->text, "each", 4) != 0)
        return 0;
    if (node->text[4] == '\0')
        return PLACES;
    bool ok = sscanf(node->text, "each %2u%n", &n, &end) == 1 && node->text[end] == '\0';
    return ok && n >= 2 && n <= QS_WISH_PLACES_MAX ? n : 0;
}

/* Several frequencies: places among what the device has, or a list of wishes. */
static void take_sweep(struct qs_schema_reader *r, const struct qs_node *node, struct qs_wishes *wishes,
                       enum qs_domain_kind kind)
{
    size_t places = places_of(node), count = places > 0 ? places : node->count;
    if (wishes->sweep_count > 0 || count < 2 || count > QS_WISH_PLACES_MAX) {
        qs_schema_problem(r, node, "write each, or a list such as [min, 60%, max]",
                          wishes->sweep_count > 0 ? "only one of cpu, gpu and memory can have several"
                                                  : "2 to %d frequencies",
                          QS_WISH_PLACES_MAX);
        return;
    }
    wishes->sweep = qs_calloc(count, sizeof(*wishes->sweep));
    wishes->sweep_of = kind;
    for (size_t i = 0; i < count; i++) {
        struct qs_wish *wish = &wishes->sweep[wishes->sweep_count++];
        size_t mark = qs_schema_enter_index(r, i);
        if (places > 0)
            *wish = (struct qs_wish){QS_WISH_PLACE, (int64_t)i + 1, (int64_t)places};
        else if (read_wish(r, &node->items[i], wish))
            check_kind(r, &node->items[i], wish, kind);
        qs_schema_leave(r, mark);
    }
}

static void take_frequency(struct qs_schema_reader *r, const struct qs_node *node, struct qs_wishes *wishes,
                           enum qs_domain_kind kind)
{
    if (node->kind == QS_NODE_LIST || places_of(node) > 0)
        take_sweep(r, node, wishes, kind);
    else if (read_wish(r, node, &wishes->frequency[kind]))
        check_kind(r, node, &wishes->frequency[kind], kind);
}

static bool is_word(const char *text)
{
    size_t n = strlen(text);
    for (size_t i = 0; i < n; i++)
        if ((unsigned char)text[i] <= 0x20 || (unsigned char)text[i] >= 0x7f)
            return false;
    return n > 0 && n <= NAME_BYTES;
}

static void take_governor(struct qs_schema_reader *r, const struct qs_node *node, struct qs_wishes *wishes,
                          enum qs_domain_kind kind)
{
    const char *text = qs_schema_text(r, node, "a governor's name such as performance");
    if (text != NULL && !is_word(text))
        qs_schema_problem(r, node, NULL, "`%s` is no governor's name: one word of at most %d bytes",
                          qs_show(text).text, NAME_BYTES);
    else
        wishes->governor[kind] = qs_strdup(text);
}

/* One value for the processors, or a map of kinds. */
static void read_kinds(struct qs_schema_reader *r, const struct qs_node *node, struct qs_wishes *wishes,
                       const char *wrong,
                       void (*take)(struct qs_schema_reader *r, const struct qs_node *node,
                                    struct qs_wishes *wishes, enum qs_domain_kind kind))
{
    if (node->kind != QS_NODE_MAP) {
        take(r, node, wishes, QS_DOMAIN_CPU);
        return;
    }
    for (size_t i = 0; i < node->count; i++) {
        unsigned kind = 0;
        while (kind < QS_DOMAIN_OTHER && strcmp(node->keys[i].text, qs_domain_kinds[kind]) != 0)
            kind++;
        size_t mark = qs_schema_enter(r, node->keys[i].text);
        if (kind == QS_DOMAIN_OTHER)
            qs_schema_problem(r, &node->keys[i], "write cpu, gpu or memory", "%s by `%s`", wrong,
                              qs_show(node->keys[i].text).text);
        else
            take(r, &node->items[i], wishes, (enum qs_domain_kind)kind);
        qs_schema_leave(r, mark);
    }
}

void qs_job_read_frequency(struct qs_schema_reader *r, const struct qs_key *key, const struct qs_node *node,
                           void *at)
{
    (void)key;
    read_kinds(r, node, &((struct qs_job_controls *)at)->wishes, "frequencies are not held", take_frequency);
}

void qs_job_read_governor(struct qs_schema_reader *r, const struct qs_key *key, const struct qs_node *node,
                          void *at)
{
    (void)key;
    read_kinds(r, node, &((struct qs_job_controls *)at)->wishes, "governors are not set", take_governor);
}

static bool read_switch(const char *text, struct qs_switch_wish *ret)
{
    struct qs_scalar_why why;
    ret->to = strcmp(text, "on") == 0    ? QS_SWITCH_ON
              : strcmp(text, "off") == 0 ? QS_SWITCH_OFF
                                         : QS_SWITCH_NUMBER;
    return ret->to != QS_SWITCH_NUMBER ||
           (qs_scalar_int(text, &ret->number, &why) && ret->number >= 0 && ret->number <= UINT32_MAX);
}

void qs_job_read_boost(struct qs_schema_reader *r, const struct qs_key *key, const struct qs_node *node,
                       void *at)
{
    const char *text = qs_schema_text(r, node, key->form);
    struct qs_switch_wish wish = {0};
    if (text != NULL && (!read_switch(text, &wish) || wish.to == QS_SWITCH_NUMBER))
        qs_schema_problem(r, node, "write on or off", "`%s` is neither on nor off", qs_show(text).text);
    else
        ((struct qs_job_controls *)at)->wishes.boost = wish.to;
}

void qs_job_read_idle(struct qs_schema_reader *r, const struct qs_key *key, const struct qs_node *node,
                      void *at)
{
    struct qs_wishes *wishes = &((struct qs_job_controls *)at)->wishes;
    const char *text = qs_schema_text(r, node, key->form);
    struct qs_switch_wish wish = {0};
    if (text == NULL)
        return;
    if (!read_switch(text, &wish) || wish.to == QS_SWITCH_ON || wish.number > IDLE_MAX) {
        qs_schema_problem(r, node, "write off, or a number such as 1", "`%s` is no idle state",
                          qs_show(text).text);
        return;
    }
    wishes->idle = true;
    wishes->idle_deepest = (uint32_t)wish.number;
}

void qs_job_read_switches(struct qs_schema_reader *r, const struct qs_key *key, const struct qs_node *node,
                          void *at)
{
    struct qs_wishes *wishes = &((struct qs_job_controls *)at)->wishes;
    if (!qs_schema_is(r, node, QS_NODE_MAP, key->form))
        return;
    if (node->count > SWITCHES_MAX) {
        qs_schema_problem(r, node, NULL, "at most %d switches", SWITCHES_MAX);
        return;
    }
    wishes->switches = qs_calloc(node->count + 1, sizeof *wishes->switches);
    for (size_t i = 0; i < node->count; i++) {
        struct qs_switch_wish *wish = &wishes->switches[wishes->switch_count++];
        size_t mark = qs_schema_enter(r, node->keys[i].text);
        const char *text = qs_schema_text(r, &node->items[i], "on, off or a number");
        wish->of = qs_strdup(node->keys[i].text);
        if (!is_word(wish->of))
            qs_schema_problem(r, &node->keys[i], "`quiesce devices show DEVICE` lists them",
                              "`%s` is no switch's name: one word of at most %d bytes",
                              qs_show(wish->of).text, NAME_BYTES);
        else if (text != NULL && !read_switch(text, wish))
            qs_schema_problem(r, &node->items[i], "write on, off or a number",
                              "`%s` is nothing that a switch can be set to", qs_show(text).text);
        qs_schema_leave(r, mark);
    }
}
