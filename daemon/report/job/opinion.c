#include "report/job/opinion.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "report/job/impl.h"
#include "stats/rancid.h"

static bool fail_name(const char *name, size_t n, struct qs_err *err)
{
    QS_BUF(known);
    for (enum qs_opinion_rule r = 0; r < QS_OPINION_RULES; r++)
        qs_buf_fmt(&known, "%s, ", qs_opinion_rule_names[r]);
    qs_fail(err, QS_E_USAGE, "`%.*s` is not a rule: %sor all", n < 40 ? (int)n : 40, name, known.data);
    return false;
}

bool qs_opinions_parse(const char *names, unsigned *ret_rules, struct qs_err *err)
{
    enum { LONGEST = 32 };
    *ret_rules = QS_OPINIONS_NONE;
    for (const char *s = names;; s++) {
        char word[LONGEST] = "";
        size_t n = strcspn(s, ",");
        enum qs_opinion_rule rule;
        if (n < LONGEST)
            memcpy(word, s, n);
        if (strcmp(word, "all") == 0)
            *ret_rules |= QS_OPINIONS_ALL;
        else if (qs_opinion_rule_find(word, &rule))
            *ret_rules |= 1u << rule;
        else
            return fail_name(s, n, err);
        s += n;
        if (*s == '\0')
            return true;
    }
}

struct told_number {
    const char *name, *unit;
    double value;
};
static const struct qs_field number_rows[] = {
    QS_ROW(told_number, name, TEXT, "a word for programs", .known = true),
    QS_ROW(told_number, unit, TEXT, "that of the values, ratio or plain", .known = true),
    QS_ROW(told_number, value, DOUBLE, "null: not known"),
    {.name = NULL}};

static const char *const wanted_words[] = {"at-least", "at-most", NULL};
struct told_check {
    const char *name, *wanted;
    double value, bound;
    bool holds;
};
static const struct qs_field check_rows[] = {
    QS_ROW(told_check, name, TEXT, "a word for programs", .known = true),
    QS_ROW(told_check, value, DOUBLE, "null: not known"),
    QS_ROW(told_check, wanted, TEXT, "on which side of the bound", .words = wanted_words),
    QS_ROW(told_check, bound, DOUBLE, "the bound"),
    QS_ROW(told_check, holds, BOOL, "it is there; false where it is not known"),
    {.name = NULL}};

struct told {
    struct qs_opinion of;
    struct qs_field_list thresholds, numbers, checks;
};
const struct qs_field qs_opinion_rows[] = {
    QS_ROW_AS("rule", told, of.rule, WORD, "whose", .words = qs_opinion_rule_names),
    QS_ROW_AS("answer", told, of.answer, WORD, "what it says", .words = qs_opinion_answer_names),
    QS_ROW_AS("reason", told, of.reason, TEXT, "why it is undecided, else none", .known = true),
    QS_ROW_AS("source", told, of.source, TEXT, "who published the rule", .known = true),
    QS_ROW_AS("compared", told, of.compared, TEXT, "what it compares", .known = true),
    QS_ROW_AS("changed_if", told, of.changed_if, TEXT, "when it reports a change", .known = true),
    QS_ROW(told, thresholds, OBJECTS, "what it takes for its limits", .of = number_rows,
           .bytes = sizeof(struct told_number)),
    QS_ROW(told, numbers, OBJECTS, "what it computed", .of = number_rows,
           .bytes = sizeof(struct told_number)),
    QS_ROW(told, checks, OBJECTS, "conditions under which it holds", .of = check_rows,
           .bytes = sizeof(struct told_check)),
    {.name = NULL}};

static struct qs_field_list tell_numbers(const struct qs_opinion_number *numbers, size_t count,
                                         const char *unit)
{
    struct told_number *told = qs_calloc(count, sizeof *told);
    for (size_t i = 0; i < count; i++)
        told[i] = (struct told_number){
            .name = numbers[i].name,
            .unit = numbers[i].unit == QS_OPINION_VALUE ? unit : qs_opinion_unit_name(numbers[i].unit),
            .value = numbers[i].value};
    return (struct qs_field_list){told, count};
}

static struct qs_field_list tell_checks(const struct qs_opinion *o)
{
    struct told_check *told = qs_calloc(o->check_count, sizeof *told);
    for (size_t i = 0; i < o->check_count; i++) {
        const struct qs_opinion_check *check = &o->checks[i];
        told[i] = (struct told_check){.name = check->name,
                                      .wanted = wanted_words[check->at_least ? 0 : 1],
                                      .value = check->value,
                                      .bound = check->bound,
                                      .holds = check->holds};
    }
    return (struct qs_field_list){told, o->check_count};
}

void qs_opinions_write(struct qs_json *j, unsigned rules, const struct qs_nested *base,
                       const struct qs_nested *cand, const struct qs_opinion_opts *opts, const char *unit)
{
    qs_json_array(j);
    for (enum qs_opinion_rule r = 0; r < QS_OPINION_RULES; r++) {
        struct told told;
        const struct qs_opinion *o = &told.of;
        if ((rules & 1u << r) == 0)
            continue;
        (void)qs_opinion(r, base, cand, opts, &told.of); /* why there is no answer is part of it */
        told.thresholds = tell_numbers(o->thresholds, o->threshold_count, unit);
        told.numbers = tell_numbers(o->numbers, o->number_count, unit);
        told.checks = tell_checks(o);
        qs_put_object(j, qs_opinion_rows, &told);
        qs_fields_free(qs_opinion_rows, &told);
    }
    qs_json_array_end(j);
}

double qs_report_opinions_ns(const struct qs_report_group *g)
{
    static const double VALUE_NS = 100, DRAW_NS = 2; /* of a processor of 2020 */
    double n = (double)g->value_count, draws = fmin(n * QS_RANCID_RESAMPLES, QS_RANCID_DRAWS_MOST);
    if (g->in->opinions == QS_OPINIONS_NONE)
        return 0;
    return VALUE_NS * n + (g->in->opinions & 1u << QS_OPINION_RANCID ? DRAW_NS * draws : 0);
}

double qs_opinions_one_ms(const char *unit)
{
    static const struct {
        const char *unit;
        double one_ms;
    } units[] = {{"ns", 1e6},      {"us", 1e3},    {"µs", 1e3},    {"ms", 1},    {"s", 1e-3},   {"sec", 1e-3},
                 {"second", 1e-3}, {"ns/op", 1e6}, {"us/op", 1e3}, {"ms/op", 1}, {"s/op", 1e-3}};
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (strcmp(units[i].unit, unit) == 0)
            return units[i].one_ms;
    return NAN;
}
