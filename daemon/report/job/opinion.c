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

static void write_numbers(struct qs_json *j, const char *key, const struct qs_opinion_number *numbers,
                          size_t count, const char *unit)
{
    qs_json_karray(j, key);
    for (size_t i = 0; i < count; i++) {
        bool is_value = numbers[i].unit == QS_OPINION_VALUE;
        qs_json_object(j);
        qs_json_kstring(j, "name", numbers[i].name);
        qs_json_kstring(j, "unit", is_value ? unit : qs_opinion_unit_name(numbers[i].unit));
        qs_json_kdouble(j, "value", numbers[i].value);
        qs_json_object_end(j);
    }
    qs_json_array_end(j);
}

static void write_checks(struct qs_json *j, const struct qs_opinion *o)
{
    qs_json_karray(j, "checks");
    for (size_t i = 0; i < o->check_count; i++) {
        const struct qs_opinion_check *check = &o->checks[i];
        qs_json_object(j);
        qs_json_kstring(j, "name", check->name);
        qs_json_kdouble(j, "value", check->value);
        qs_json_kstring(j, "wanted", check->at_least ? "at-least" : "at-most");
        qs_json_kdouble(j, "bound", check->bound);
        qs_json_kbool(j, "holds", check->holds);
        qs_json_object_end(j);
    }
    qs_json_array_end(j);
}

static void write_one(struct qs_json *j, const struct qs_opinion *o, const char *unit)
{
    qs_json_object(j);
    qs_json_kstring(j, "rule", qs_opinion_rule_names[o->rule]);
    qs_json_kstring(j, "answer", qs_opinion_answer_names[o->answer]);
    qs_json_kstring(j, "reason", o->reason);
    qs_json_kstring(j, "source", o->source);
    qs_json_kstring(j, "compared", o->compared);
    qs_json_kstring(j, "changed_if", o->changed_if);
    write_numbers(j, "thresholds", o->thresholds, o->threshold_count, unit);
    write_numbers(j, "numbers", o->numbers, o->number_count, unit);
    write_checks(j, o);
    qs_json_object_end(j);
}

void qs_opinions_write(struct qs_json *j, unsigned rules, const struct qs_nested *base,
                       const struct qs_nested *cand, const struct qs_opinion_opts *opts, const char *unit)
{
    qs_json_array(j);
    for (enum qs_opinion_rule r = 0; r < QS_OPINION_RULES; r++) {
        struct qs_opinion opinion;
        if ((rules & 1u << r) == 0)
            continue;
        (void)qs_opinion(r, base, cand, opts, &opinion); /* why there is no answer is part of it */
        write_one(j, &opinion, unit);
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
