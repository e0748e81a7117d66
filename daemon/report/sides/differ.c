/* What differs between the sides. The arm is what was asked about: its build, its arguments, its executable.
 * Everything else is environment: the machine, the instrument, what the job set up. Inside one job the arms
 * may differ in anything, and sessions that both share differ in nothing. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "report/env_facts.h"
#include "report/sides/impl.h"
#include "report/variables.h"

enum kind { MACHINE, HOST, SETUP, ARM, KINDS };

/* --- each text is read once --- */

struct text {
    char *owned;      /* or NULL */
    const char *json; /* borrowed of a run, or owned */
    struct qs_env_facts facts;
    bool readable;
};

struct texts {
    struct text *at; /* owned */
    size_t count;
};

static void text_read(struct text *t)
{
    t->readable = qs_env_facts_read(t->json, &t->facts, NULL);
}

static void texts_done(struct texts *all)
{
    for (size_t i = 0; i < all->count; i++) {
        qs_env_facts_done(&all->at[i].facts);
        free(all->at[i].owned);
    }
    free(all->at);
    *all = (struct texts){0};
}

static int by_text(const void *a, const void *b)
{
    const struct text *x = a, *y = b;
    return x->json == y->json ? 0 : strcmp(x->json, y->json);
}

/* Sorts, and leaves one of those that are the same. */
static void texts_unite(struct texts *all)
{
    size_t kept = 0;
    if (all->count > 1)
        qsort(all->at, all->count, sizeof *all->at, by_text);
    for (size_t i = 0; i < all->count; i++) {
        if (kept > 0 && by_text(&all->at[kept - 1], &all->at[i]) == 0)
            free(all->at[i].owned);
        else
            all->at[kept++] = all->at[i];
    }
    all->count = kept;
}

static void texts_add(struct texts *all, const char *json, char *owned)
{
    if (!json)
        return;
    all->at = qs_grow(all->at, all->count, sizeof *all->at);
    all->at[all->count++] = (struct text){.json = json, .owned = owned};
}

/* One text for each session, job or executable is enough: runs of one differ in none of them. */
static bool is_news(const struct qs_side_series *series, size_t i)
{
    const struct qs_arm_run *run = series->runs[i], *before = i > 0 ? series->runs[i - 1] : NULL;
    return !before || run->job != before->job || run->session != before->session || run->env != before->env ||
           run->host != before->host || run->arm != before->arm || run->point != before->point ||
           strcmp(run->exe_sha256 ? run->exe_sha256 : "", before->exe_sha256 ? before->exe_sha256 : "") != 0;
}

/* What sessions and boots said of themselves: many series share one. */
static void read_around(const struct qs_sides *s, struct texts *ret)
{
    *ret = (struct texts){0};
    for (size_t k = 0; k < 2; k++) {
        for (size_t i = 0; i < s->side[k].count; i++) {
            const struct qs_side_series *series = &s->side[k].at[i];
            for (size_t r = 0; r < series->count; r++) {
                if (!is_news(series, r))
                    continue;
                texts_add(ret, series->runs[r]->env_json, NULL);
                texts_add(ret, series->runs[r]->host_json, NULL);
            }
        }
    }
    texts_unite(ret);
    for (size_t i = 0; i < ret->count; i++)
        text_read(&ret->at[i]);
}

/* NULL: not known. */
static const struct text *find(const struct texts *all, const char *json)
{
    const struct text key = {.json = json};
    return json && all->count > 0 ? bsearch(&key, all->at, all->count, sizeof key, by_text) : NULL;
}

/* Whether it is known of each run what it inherited: versions before did not keep it. */
static bool knows_inherited(const struct qs_sides *s, const struct texts *around,
                            const struct qs_side_series *series)
{
    for (size_t i = 0; i < series->count; i++) {
        const struct qs_arm_run *run = series->runs[i];
        const struct qs_job_spec *spec = is_news(series, i) ? qs_sides_spec(s, run) : NULL;
        if (!spec || !spec->benchmarks[spec->points[run->point].benchmark].env_inherit)
            continue;
        const struct text *env = find(around, run->env_json);
        if (!env || !env->facts.has_variables)
            return false;
    }
    return true;
}

/* --- of a side: which values each fact has --- */

/* A fact of a kind, of one text or another; facts of a text that cannot be read are the text. */
struct value {
    const char *key, *value; /* borrowed */
};

struct values {
    struct value *at; /* owned; ascending by key, then by value; each once */
    size_t *texts;    /* owned, for each: how many texts have its key */
    size_t count;
    size_t of; /* so many texts could be read */
};

static int by_key_and_value(const void *a, const void *b)
{
    const struct value *x = a, *y = b;
    int order = strcmp(x->key, y->key);
    return order != 0 ? order : strcmp(x->value, y->value);
}

/* A boot's facts repeat those of its device; of the host that served it they alone know. Variables that are
 * inherited stand with those that the job sets over them. */
static bool is_wanted(enum kind kind, const char *key)
{
    return kind == MACHINE ? !qs_env_variable(key) : kind != HOST || strncmp(key, "host.", 5) == 0;
}

static void values_add(struct values *to, enum kind kind, const struct text *t)
{
    for (size_t i = 0; i < t->facts.count; i++) {
        if (!is_wanted(kind, t->facts.at[i].key))
            continue;
        to->at = qs_grow(to->at, to->count, sizeof *to->at);
        to->at[to->count++] = (struct value){t->facts.at[i].key, t->facts.at[i].value};
    }
    to->of += t->readable;
    if (!t->readable) {
        to->at = qs_grow(to->at, to->count, sizeof *to->at);
        to->at[to->count++] = (struct value){"unreadable", t->json};
    }
}

static void values_unite(struct values *v)
{
    size_t kept = 0, first = 0;
    if (v->count > 1)
        qsort(v->at, v->count, sizeof *v->at, by_key_and_value);
    v->texts = qs_calloc(v->count, sizeof *v->texts);
    for (size_t i = 0; i < v->count; i++) {
        bool same_key = kept > 0 && strcmp(v->at[kept - 1].key, v->at[i].key) == 0;
        first = same_key ? first : kept;
        if (!same_key || strcmp(v->at[kept - 1].value, v->at[i].value) != 0)
            v->at[kept++] = v->at[i];
        v->texts[first]++;
    }
    v->count = kept;
}

static void values_done(struct values *v)
{
    free(v->at);
    free(v->texts);
}

/* The text of a kind of what a job says of a run; NULL: not known. */
static char *job_text(const struct qs_sides *s, const struct qs_arm_run *run, enum kind kind,
                      const struct text *around, struct qs_conditions_made *conditions)
{
    const struct qs_job_spec *spec = qs_sides_spec(s, run);
    if (!spec)
        return NULL;
    return kind == ARM ? qs_sides_arm(spec, run)
                       : qs_sides_setup(s, spec, run, around ? &around->facts : NULL, conditions);
}

/* own: texts that were made for it. */
static void gather(const struct qs_sides *s, const struct texts *around, const struct qs_side_series *series,
                   enum kind kind, bool inherited, struct texts *own, struct values *ret)
{
    QS_SCOPED(qs_conditions_made_done) struct qs_conditions_made conditions = {.text = NULL};
    *own = (struct texts){0};
    *ret = (struct values){0};
    for (size_t i = 0; i < series->count; i++) {
        const struct qs_arm_run *run = series->runs[i];
        if (!is_news(series, i))
            continue;
        if (kind == MACHINE || kind == HOST) {
            texts_add(own, kind == HOST ? run->host_json : run->env_json, NULL);
            continue;
        }
        char *text = job_text(s, run, kind, inherited ? find(around, run->env_json) : NULL, &conditions);
        texts_add(own, text, text);
    }
    texts_unite(own);
    for (size_t i = 0; i < own->count; i++) {
        const struct text *read = find(around, own->at[i].json);
        if (!read)
            text_read(&own->at[i]);
        values_add(ret, kind, read ? read : &own->at[i]);
    }
    values_unite(ret);
}

/* --- of a pair --- */

static void add_change(struct qs_env_diff *to, const char *key, const struct qs_env_change *c)
{
    for (size_t i = 0; i < to->count; i++) {
        const struct qs_env_change *old = &to->at[i];
        if (strcmp(old->key, key) == 0 && strcmp(old->base ? old->base : "", c->base ? c->base : "") == 0 &&
            strcmp(old->cand ? old->cand : "", c->cand ? c->cand : "") == 0)
            return;
    }
    qs_env_diff_add(to, key, c->base, c->cand, c->class);
}

/* Each value of one key on one side against each on the other; a text without the key has none. */
static void add_key(const struct qs_sides *s, struct qs_env_diff *to, enum kind kind, const char *key,
                    const struct values *v[2], const size_t from[2], const size_t end[2])
{
    bool is_variable = kind == SETUP && strncmp(key, "env.", 4) == 0;
    enum qs_env_class class = is_variable ? qs_sides_variable_class(s, key + 4) : qs_env_class_of(key, NULL);
    size_t n[2];
    for (int k = 0; k < 2; k++) {
        size_t have = end[k] > from[k] ? v[k]->texts[from[k]] : 0;
        n[k] = end[k] - from[k] + (have < v[k]->of); /* the last is none */
    }
    for (size_t i = from[0]; i < from[0] + n[0]; i++) {
        const char *base = i < end[0] ? v[0]->at[i].value : NULL;
        for (size_t j = from[1]; j < from[1] + n[1]; j++) {
            const char *cand = j < end[1] ? v[1]->at[j].value : NULL;
            const struct qs_env_change c = {(char *)key, (char *)base, (char *)cand, class};
            if (!base != !cand || (base && strcmp(base, cand) != 0))
                add_change(to, key, &c);
        }
    }
}

static size_t end_of_key(const struct values *v, size_t from, const char *key)
{
    while (from < v->count && strcmp(v->at[from].key, key) == 0)
        from++;
    return from;
}

static void add_differences(const struct qs_sides *s, struct qs_env_diff *to, enum kind kind,
                            const struct values *base, const struct values *cand)
{
    const struct values *v[2] = {base, cand};
    size_t from[2] = {0}, end[2];
    while (from[0] < base->count || from[1] < cand->count) {
        const char *x = from[0] < base->count ? base->at[from[0]].key : NULL;
        const char *y = from[1] < cand->count ? cand->at[from[1]].key : NULL;
        const char *key = !y || (x && strcmp(x, y) <= 0) ? x : y;
        for (int k = 0; k < 2; k++)
            end[k] = end_of_key(v[k], from[k], key);
        add_key(s, to, kind, key, v, from, end);
        memcpy(from, end, sizeof from);
    }
}

static bool same_jobs(const struct qs_sides_pair *pair)
{
    for (int side = 0; side < 2; side++) {
        const struct qs_side_series *mine = pair->series[side], *other = pair->series[1 - side];
        for (size_t i = 0; i < mine->count; i++) {
            bool found = i > 0 && mine->runs[i]->job == mine->runs[i - 1]->job;
            for (size_t k = 0; k < other->count && !found; k++)
                found = other->runs[k]->job == mine->runs[i]->job;
            if (!found)
                return false;
        }
    }
    return true;
}

static void differ_pair(struct qs_sides *s, const struct texts *around, const struct qs_sides_pair *pair)
{
    const struct qs_side_series *const *series = pair->series;
    bool shared = same_jobs(pair);
    bool inherited =
        !shared && knows_inherited(s, around, series[QS_BASE]) && knows_inherited(s, around, series[QS_CAND]);
    for (enum kind kind = MACHINE; kind < KINDS; kind++) {
        struct texts own[2];
        struct values values[2];
        bool is_arm = kind == ARM || (kind == SETUP && shared);
        if (shared && (kind == MACHINE || kind == HOST))
            continue;
        for (int k = 0; k < 2; k++)
            gather(s, around, series[k], kind, inherited, &own[k], &values[k]);
        add_differences(s, is_arm ? &s->arms : &s->environment, kind, &values[QS_BASE], &values[QS_CAND]);
        for (int k = 0; k < 2; k++) {
            values_done(&values[k]);
            texts_done(&own[k]);
        }
    }
}

/* "env" allows env.PATH too, as does env.PA*; "all" allows everything. */
static bool is_allowed(const char *allow, const char *key)
{
    for (const char *at = allow; *at; at += *at == ',') {
        size_t n = strcspn(at, ",");
        if ((n == 3 && strncmp(at, "all", 3) == 0) || qs_env_match(at, n, key))
            return true;
        at += n;
    }
    return false;
}

void qs_sides_differ(struct qs_sides *s)
{
    struct texts around;
    read_around(s, &around);
    for (size_t i = 0; i < s->point_count; i++)
        for (size_t k = 0; k < s->points[i].count; k++)
            differ_pair(s, &around, &s->points[i].pairs[k]);
    texts_done(&around);
    s->allowed = qs_calloc(s->environment.count, sizeof *s->allowed);
    for (size_t i = 0; i < s->environment.count; i++) {
        const struct qs_env_change *c = &s->environment.at[i];
        s->allowed[i] = is_allowed(s->in->allow, c->key);
        s->refused = s->refused || (qs_env_matters(c->class) && !s->allowed[i]);
    }
}
