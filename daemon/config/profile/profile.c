#include "config/profile/profiles.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "config/document/scalar.h"
#include "config/profile/keys.h"

static void free_pairs(struct qs_profile_pairs *pairs)
{
    for (size_t i = 0; i < pairs->count; i++) {
        free(pairs->at[i].key);
        free(pairs->at[i].pattern);
    }
    free(pairs->at);
}

static void free_domain(struct qs_profile_domain *d)
{
    char *const texts[] = {d->key,  d->name,      d->governor,    d->governors, d->min,
                           d->max,  d->set,       d->current,     d->hw_min,    d->hw_max,
                           d->cpus, d->residency, d->transitions, d->needs};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        free(texts[i]);
    qs_strings_done(&d->each);
    qs_strings_done(&d->table);
    qs_strings_done(&d->pin);
    qs_strings_done(&d->replaces);
}

static void free_rows(struct qs_profile *p)
{
    for (size_t i = 0; i < p->match_count; i++) {
        free_pairs(&p->match[i].facts);
        free_pairs(&p->match[i].files);
    }
    for (size_t i = 0; i < p->domain_count; i++)
        free_domain(&p->domains[i]);
    for (size_t i = 0; i < p->sensor_count; i++) {
        struct qs_profile_sensor *s = &p->sensors[i];
        free(s->key);
        free(s->name);
        free(s->type);
        free(s->value);
        free(s->wraps);
        free(s->volts);
        free(s->status);
        qs_strings_done(&s->each);
        qs_strings_done(&s->bits);
        qs_strings_done(&s->only);
        qs_strings_done(&s->valid);
    }
    for (size_t i = 0; i < p->command_count; i++) {
        struct qs_profile_command *c = &p->commands[i];
        char *const texts[] = {c->key, c->name, c->section, c->line, c->before, c->spoilt, c->mend, c->asks};
        for (size_t k = 0; k < sizeof texts / sizeof *texts; k++)
            free(texts[k]);
        qs_strings_done(&c->command);
    }
    for (size_t i = 0; i < p->type_count; i++) {
        qs_strings_done(&p->types[i].types);
        free(p->types[i].reject);
    }
    for (size_t i = 0; i < p->switch_count; i++) {
        struct qs_profile_switch *s = &p->switches[i];
        char *const texts[] = {s->key, s->name, s->file, s->on, s->off, s->after, s->assumed, s->unset};
        struct qs_strings *const lists[] = {&s->each,   &s->get,     &s->set,
                                            &s->set_on, &s->set_off, &s->set_unset};
        for (size_t k = 0; k < sizeof texts / sizeof *texts; k++)
            free(texts[k]);
        for (size_t k = 0; k < sizeof lists / sizeof *lists; k++)
            qs_strings_done(lists[k]);
    }
}

static void free_profile(struct qs_profile *p)
{
    if (p == NULL)
        return;
    free_rows(p);
    free(p->match);
    free(p->domains);
    free(p->sensors);
    free(p->types);
    free(p->commands);
    free(p->switches);
    char *const texts[] = {p->name, p->extends, p->about, p->file, p->present, p->online, p->capacity};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        free(texts[i]);
    qs_strings_done(&p->avoid);
    free(p);
}

/* Where the name is, or belongs. */
static size_t place_of(const struct qs_profiles *profiles, const char *name)
{
    size_t i = 0;
    while (i < profiles->count && strcmp(profiles->at[i]->name, name) < 0)
        i++;
    return i;
}

const struct qs_profile *qs_profiles_find(const struct qs_profiles *profiles, const char *name)
{
    size_t i = place_of(profiles, name);
    return i < profiles->count && strcmp(profiles->at[i]->name, name) == 0 ? profiles->at[i] : NULL;
}

/* What it extends is there already, so that nothing extends itself by detours. */
static bool may_extend(const struct qs_profiles *profiles, const struct qs_profile *p,
                       const struct qs_doc *doc, struct qs_problems *problems)
{
    if (p->extends == NULL)
        return true;
    const struct qs_node *at = qs_node_get(&doc->root, "extends", NULL);
    const struct qs_profile *base = qs_profiles_find(profiles, p->extends);
    if (base == NULL) {
        const char *names[QS_PROFILES_MAX];
        for (size_t i = 0; i < profiles->count; i++)
            names[i] = profiles->at[i]->name;
        QS_BUF(hint);
        qs_schema_suggest(&hint, p->extends, "the profiles are", names, profiles->count);
        qs_problems_add(problems, doc, at, "extends", hint.data, "there is no profile `%s`",
                        qs_show(p->extends).text);
        return false;
    }
    for (; base != NULL; base = base->extends != NULL ? qs_profiles_find(profiles, base->extends) : NULL)
        if (strcmp(base->name, p->name) == 0) {
            qs_problems_add(problems, doc, at, "extends", NULL, "`%s` would extend itself",
                            qs_show(p->name).text);
            return false;
        }
    return true;
}

/* Of two files with one name it would depend on theirs which is used. */
static bool is_first(const struct qs_profiles *profiles, const struct qs_profile *p, const struct qs_doc *doc,
                     struct qs_problems *problems)
{
    const struct qs_profile *other = qs_profiles_find(profiles, p->name);
    if (p->file == NULL || other == NULL || other->file == NULL)
        return true;
    qs_problems_add(problems, doc, qs_node_get(&doc->root, "profile", NULL), "profile",
                    "give one of them another name, or remove it", "`%s` is the profile of %s, too",
                    qs_show(p->name).text, qs_show(other->file).text);
    return false;
}

bool qs_profiles_add(struct qs_profiles *profiles, const struct qs_doc *doc, bool own,
                     struct qs_problems *problems)
{
    struct qs_profile *p = qs_calloc(1, sizeof *p);
    p->file = own ? qs_strdup(doc->name) : NULL;
    bool ok = qs_schema_read(doc, qs_profile_table(), p, problems) && is_first(profiles, p, doc, problems) &&
              may_extend(profiles, p, doc, problems);
    if (ok && profiles->count == QS_PROFILES_MAX && qs_profiles_find(profiles, p->name) == NULL) {
        qs_problems_add(problems, doc, &doc->root, NULL, NULL, "more than %d profiles", QS_PROFILES_MAX);
        ok = false;
    }
    if (!ok) {
        free_profile(p);
        return false;
    }
    size_t i = place_of(profiles, p->name);
    if (i < profiles->count && strcmp(profiles->at[i]->name, p->name) == 0) {
        free_profile(profiles->at[i]);
    } else {
        profiles->at = qs_grow(profiles->at, profiles->count, sizeof *profiles->at);
        memmove(&profiles->at[i + 1], &profiles->at[i], (profiles->count - i) * sizeof *profiles->at);
        profiles->count++;
    }
    profiles->at[i] = p;
    return true;
}

static bool add_text(struct qs_profiles *profiles, const char *name, const char *text, size_t len,
                     struct qs_problems *problems)
{
    QS_SCOPED(qs_doc_free_at) struct qs_doc *doc = NULL;
    return qs_doc_read(name, text, len, false, &doc, problems) &&
           qs_profiles_add(profiles, doc, false, problems);
}

bool qs_profiles_init(struct qs_profiles *profiles, struct qs_err *err)
{
    *profiles = (struct qs_profiles){0};
    for (size_t i = 0; i < qs_profile_text_count; i++) { /* generic is the first */
        QS_SCOPED(qs_problems_done) struct qs_problems problems = {0};
        const struct qs_profile_text *t = &qs_profile_texts[i];
        if (add_text(profiles, t->name, t->text, strlen(t->text), &problems))
            continue;
        QS_BUF(text);
        qs_problems_text(&problems, t->name, &text);
        qs_profiles_done(profiles);
        return qs_fail(err, QS_E_INTERNAL, "a profile that is built in cannot be read: %s", text.data);
    }
    return true;
}

void qs_profiles_done(struct qs_profiles *profiles)
{
    for (size_t i = 0; i < profiles->count; i++)
        free_profile(profiles->at[i]);
    free(profiles->at);
    *profiles = (struct qs_profiles){0};
}
