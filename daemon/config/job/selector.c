#include "config/job/selector.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"

enum kind { TERM_EQUAL, TERM_DIFFERENT, TERM_TRUE, TERM_NOT, TERM_AND, TERM_OR };

struct term {
    enum kind kind;
    char *fact;         /* owned; comparisons and TRUE */
    char *value;        /* owned; comparisons */
    size_t left, right; /* indices of NOT (left only), AND, OR */
};

struct qs_selector {
    struct term terms[QS_SELECTOR_TERMS];
    size_t count;
    size_t root;
};

struct parser {
    struct qs_selector *out;
    const char *text;
    const char *at;
    struct qs_selector_why *why;
    bool failed;
};

static size_t __attribute__((format(printf, 3, 4)))
refuse(struct parser *p, const char *suggestion, const char *fmt, ...)
{
    if (p->failed)
        return 0;
    p->failed = true;
    p->why->offset = (size_t)(p->at - p->text);
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(p->why->text, sizeof(p->why->text), fmt, ap);
    va_end(ap);
    snprintf(p->why->suggestion, sizeof(p->why->suggestion), "%s", suggestion);
    return 0;
}

static void skip_space(struct parser *p)
{
    while (*p->at == ' ' || *p->at == '\t' || *p->at == '\n')
        p->at++;
}

static bool take(struct parser *p, const char *token)
{
    skip_space(p);
    size_t n = strlen(token);
    if (strncmp(p->at, token, n) != 0)
        return false;
    p->at += n;
    return true;
}

static size_t add(struct parser *p, enum kind kind, size_t left, size_t right)
{
    if (p->out->count >= QS_SELECTOR_TERMS)
        return refuse(p, "", "more than %d terms", QS_SELECTOR_TERMS);
    p->out->terms[p->out->count] = (struct term){.kind = kind, .left = left, .right = right};
    return p->out->count++;
}

static bool is_fact_char(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '.' || c == '-';
}

static bool check_fact(struct parser *p, const char *fact)
{
    static const char *const facts[] = {"name", "link", "local"};
    for (size_t i = 0; i < sizeof(facts) / sizeof(facts[0]); i++)
        if (strcmp(fact, facts[i]) == 0)
            return true;
    if (strncmp(fact, "label.", 6) == 0 && fact[6] != '\0')
        return true;
    const char *near = qs_nearest(fact, facts, sizeof(facts) / sizeof(facts[0]));
    char suggestion[120];
    if (near != NULL)
        snprintf(suggestion, sizeof(suggestion), "did you mean `%s`?", near);
    else if (strcmp(fact, "label.") == 0)
        snprintf(suggestion, sizeof(suggestion), "write which label: label.KEY");
    else
        snprintf(suggestion, sizeof(suggestion),
                 "the facts are name, link, local and label.KEY: did you mean `label.%.40s`?", fact);
    refuse(p, suggestion, "`%.40s` is not a fact of a device", fact);
    return false;
}

static char *read_value(struct parser *p)
{
    skip_space(p);
    char quote = *p->at;
    if (quote != '"' && quote != '\'') {
        refuse(p, "write the value in quotes: name == \"bench1\"", "expected text in quotes");
        return NULL;
    }
    const char *end = strchr(p->at + 1, quote);
    if (end == NULL) {
        refuse(p, "", "these quotes are not closed");
        return NULL;
    }
    char *value = qs_strndup(p->at + 1, (size_t)(end - p->at - 1));
    p->at = end + 1;
    return value;
}

static size_t read_comparison(struct parser *p)
{
    skip_space(p);
    const char *from = p->at;
    size_t n = 0;
    while (is_fact_char(from[n]))
        n++;
    if (n == 0)
        return refuse(p, "",
                      *from == '\0' ? "something is missing at the end" : "expected the name of a fact");
    char *fact = qs_strndup(from, n);
    if (!check_fact(p, fact)) {
        free(fact);
        return 0;
    }
    p->at += n;
    enum kind kind = take(p, "==") ? TERM_EQUAL : take(p, "!=") ? TERM_DIFFERENT : TERM_TRUE;
    if (kind == TERM_TRUE && *p->at == '=')
        refuse(p, "compare with ==", "a single `=`");
    char *value = kind == TERM_TRUE ? NULL : read_value(p);
    size_t term = p->failed ? 0 : add(p, kind, 0, 0);
    if (p->failed) {
        free(fact);
        free(value);
        return 0;
    }
    p->out->terms[term].fact = fact;
    p->out->terms[term].value = value;
    return term;
}

static size_t read_or(struct parser *p, unsigned depth);

static size_t read_one(struct parser *p, unsigned depth)
{
    if (depth > QS_SELECTOR_TERMS)
        return refuse(p, "", "too deep");
    skip_space(p);
    if (*p->at == '!' && p->at[1] != '=') {
        p->at++;
        size_t of = read_one(p, depth + 1);
        return p->failed ? 0 : add(p, TERM_NOT, of, 0);
    }
    if (!take(p, "("))
        return read_comparison(p);
    size_t inner = read_or(p, depth + 1);
    if (!p->failed && !take(p, ")"))
        return refuse(p, "", "expected `)`");
    return inner;
}

static size_t read_and(struct parser *p, unsigned depth)
{
    size_t left = read_one(p, depth);
    while (!p->failed && take(p, "&&")) {
        size_t right = read_one(p, depth);
        if (!p->failed)
            left = add(p, TERM_AND, left, right);
    }
    return left;
}

static size_t read_or(struct parser *p, unsigned depth)
{
    size_t left = read_and(p, depth);
    while (!p->failed && take(p, "||")) {
        size_t right = read_and(p, depth);
        if (!p->failed)
            left = add(p, TERM_OR, left, right);
    }
    return left;
}

bool qs_selector_parse(const char *text, struct qs_selector **ret, struct qs_selector_why *why)
{
    struct qs_selector *out = qs_calloc(1, sizeof(*out));
    struct parser p = {.out = out, .text = text, .at = text, .why = why};
    if (strlen(text) > QS_SELECTOR_BYTES)
        refuse(&p, "", "more than %d bytes", QS_SELECTOR_BYTES);
    else
        out->root = read_or(&p, 0);
    skip_space(&p);
    if (!p.failed && *p.at != '\0')
        refuse(&p, "join terms with && or ||", "expected && or || here");
    if (p.failed) {
        qs_selector_free(out);
        return false;
    }
    *ret = out;
    return true;
}

void qs_selector_free(struct qs_selector *selector)
{
    if (selector == NULL)
        return;
    for (size_t i = 0; i < selector->count; i++) {
        free(selector->terms[i].fact);
        free(selector->terms[i].value);
    }
    free(selector);
}

static bool match(const struct qs_selector *s, size_t at, qs_selector_fact_fn *fact, void *user)
{
    const struct term *t = &s->terms[at];
    const char *value = t->fact != NULL ? fact(t->fact, user) : NULL;
    switch (t->kind) {
    case TERM_EQUAL:
        return value != NULL && strcmp(value, t->value) == 0;
    case TERM_DIFFERENT:
        return value == NULL || strcmp(value, t->value) != 0;
    case TERM_TRUE:
        return value != NULL && value[0] != '\0' && strcmp(value, "false") != 0;
    case TERM_NOT:
        return !match(s, t->left, fact, user);
    case TERM_AND:
        return match(s, t->left, fact, user) && match(s, t->right, fact, user);
    case TERM_OR:
        return match(s, t->left, fact, user) || match(s, t->right, fact, user);
    }
    return false;
}

bool qs_selector_match(const struct qs_selector *selector, qs_selector_fact_fn *fact, void *user)
{
    return match(selector, selector->root, fact, user);
}
