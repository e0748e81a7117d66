#include "stats/rule.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define S  1e9
#define MS 1e6

static const char *const of_words[] = {"median", "mean", NULL};
static const char *const metrics_words[] = {"corrected", "original", NULL};
static const char *const root_words[] = {"square", "cube", NULL};
static const char *const drop_words[] = {"oldest", "none", NULL};

/* Constants: statistics.md section 10; settled's were found with tests/studies/stop. */
static const struct qs_rule_row rows[QS_RULE_KINDS] = {
    [QS_RULE_FIXED] = {"fixed",
                       "This many accepted iterations.",
                       1,
                       {{"iterations", QS_ARG_COUNT, 1, 1e6, 30, NULL, "How many."}}},
    [QS_RULE_TIME] = {"time",
                      "This much measured time.",
                      1,
                      {{"time", QS_ARG_DURATION, 1, 30 * 86400 * S, 5 * S, NULL, "How long."}}},
    [QS_RULE_BUDGET] = {"budget",
                        "Measured time or iterations, whichever is used up first.",
                        2,
                        {{"time", QS_ARG_DURATION, 1, 30 * 86400 * S, 5 * S, NULL, "How long."},
                         {"iterations", QS_ARG_COUNT, 1, 1e6, 10000, NULL, "How many."}}},
    [QS_RULE_COV_WINDOW] = {"cov_window",
                            "The last iterations' standard deviation is a small share of their mean.",
                            2,
                            {{"last", QS_ARG_COUNT, 2, 100000, 20, NULL, "How many of the last."},
                             {"at_most", QS_ARG_RATIO, 1e-6, 10, 0.05, NULL,
                              "Their coefficient of variation."}}},
    [QS_RULE_CI_WIDTH] = {"ci_width",
                          "Half the interval's width is a small share of its middle.",
                          2,
                          {{"of", QS_ARG_WORD, 0, 1, QS_CI_MEDIAN, of_words,
                            "By order statistics, or by t with what dependent values are worth."},
                           {"at_most", QS_ARG_RATIO, 1e-6, 10, 0.01, NULL, "The half-width."},
                           {"alpha", QS_ARG_RATIO, 1e-4, 0.5, 0.05, NULL, "One minus the interval's level."},
                           {"least", QS_ARG_COUNT, 6, 100000, 30, NULL, "Not before so many iterations."}}},
    [QS_RULE_RSE] = {"rse",
                     "The relative standard error is small; independence is taken for granted.",
                     1,
                     {{"at_most", QS_ARG_RATIO, 1e-6, 10, 0.01, NULL, "The error."},
                      {"least", QS_ARG_COUNT, 2, 100000, 10, NULL, "Not before so many iterations."},
                      {"root", QS_ARG_WORD, 0, 1, QS_ROOT_SQUARE, root_words,
                       "The root of n that divides the deviation."}}},
    [QS_RULE_FUTHARK] =
        {"futhark",
         "The less neighbours depend on each other, the larger an error is accepted; begins again after a "
         "first phase that does not pass.",
         0,
         {{"metrics", QS_ARG_WORD, 0, 1, QS_FUTHARK_CORRECTED, metrics_words,
           "`original` stops at any error where the correlation is not positive."},
          {"initial", QS_ARG_DURATION, 0, 3600 * S, 500 * MS, NULL, "The first phase's measured time."},
          {"strictness", QS_ARG_COUNT, 1, 1000, 1, NULL, "Divides the errors that are allowed."},
          {"root", QS_ARG_WORD, 0, 1, QS_ROOT_SQUARE, root_words,
           "The root of n that divides the deviation."},
          {"least", QS_ARG_COUNT, 3, 100000, 10, NULL, "The least number of iterations in a phase."}}},
    [QS_RULE_STABLE] = {"stable",
                        "Median and quartile range have not moved over the younger half of what is kept.",
                        1,
                        {{"least", QS_ARG_COUNT, 8, 100000, 30, NULL, "Not before this many are kept."},
                         {"median", QS_ARG_RATIO, 1e-6, 1, 0.005, NULL, "How far the median may move."},
                         {"iqr", QS_ARG_RATIO, 1e-6, 1, 0.01, NULL,
                          "How far the quartile range over the median may move."},
                         {"drop", QS_ARG_WORD, 0, 1, QS_STABLE_DROPS_OLDEST, drop_words,
                          "Whether a drift sets the oldest quarter aside."}}},
    [QS_RULE_SETTLED] = {"settled",
                         "The medians of equal parts of the younger half agree; the older half is warm-up.",
                         2,
                         {{"least", QS_ARG_COUNT, 8, 100000, 400, NULL, "Not before so many iterations."},
                          {"agree", QS_ARG_RATIO, 1e-6, 1, 0.02, NULL, "The parts' range over the median."},
                          {"parts", QS_ARG_COUNT, 2, 100, 4, NULL, "How many parts."}}},
    [QS_RULE_PLANNER] =
        {"planner",
         "As many as follow from the variances within and between earlier runs and the cost of a run.",
         0,
         {{"least", QS_ARG_COUNT, 1, 100000, 10, NULL,
           "Never fewer; this many while the variances are unknown."},
          {"most", QS_ARG_COUNT, 1, 1e6, 10000, NULL, "Never more, not even where runs do not differ."}}},
    [QS_RULE_EXTERNAL] = {"external",
                          "A command of the farm says so; it is asked between windows.",
                          1,
                          {{"rule", QS_ARG_NAME, 0, 0, 0, NULL, "Its name in the farm's `rules`."}}},
    [QS_RULE_ANY] = {"any", "One of the rules holds.", 0, {{0}}},
    [QS_RULE_ALL] = {"all", "Every rule holds.", 0, {{0}}},
    [QS_RULE_NOT] = {"not", "The rule does not hold.", 0, {{0}}},
    [QS_RULE_XOR] = {"xor", "An odd number of the rules holds.", 0, {{0}}},
};

const struct qs_rule_row *qs_rule_row(enum qs_rule_kind kind)
{
    return (unsigned)kind < QS_RULE_KINDS ? &rows[kind] : NULL;
}

bool qs_rule_find(const char *name, enum qs_rule_kind *ret)
{
    for (size_t k = 0; k < QS_RULE_KINDS; k++) {
        if (strcmp(rows[k].name, name) == 0) {
            *ret = (enum qs_rule_kind)k;
            return true;
        }
    }
    return false;
}

struct qs_rule qs_rule_default(enum qs_rule_kind kind)
{
    struct qs_rule rule = {.kind = kind};
    const struct qs_rule_row *row = qs_rule_row(kind);
    for (size_t i = 0; row && i < QS_RULE_ARGS && row->args[i].name; i++)
        rule.arg[i] = row->args[i].fallback;
    return rule;
}

struct text { /* what fits, and how long all of it is */
    char *to;
    size_t bytes, len;
};

static void add(struct text *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void add(struct text *t, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    size_t left = t->len < t->bytes ? t->bytes - t->len : 0;
    int n = vsnprintf(left ? t->to + t->len : NULL, left, fmt, args);
    va_end(args);
    t->len += n > 0 ? (size_t)n : 0;
}

static void add_duration(struct text *t, double ns)
{
    static const struct {
        double ns;
        const char *unit;
    } units[] = {{S, "s"}, {MS, "ms"}, {1e3, "us"}, {1, "ns"}};
    size_t u = 0;
    while (u < 3 && ns < units[u].ns)
        u++;
    add(t, "%g %s", ns / units[u].ns, units[u].unit);
}

static void add_value(struct text *t, const struct qs_rule *rule, const struct qs_rule_arg *arg, double v)
{
    switch (arg->type) {
    case QS_ARG_DURATION:
        add_duration(t, v);
        break;
    case QS_ARG_RATIO:
        add(t, "%g %%", v * 100);
        break;
    case QS_ARG_WORD:
        add(t, "%s", v >= arg->min && v <= arg->max ? arg->words[(size_t)v] : "?");
        break;
    case QS_ARG_COUNT:
        add(t, "%.10g", v);
        break;
    case QS_ARG_NAME:
        add(t, "%s", rule->name ? rule->name : "?");
        break;
    }
}

static void add_leaf(struct text *t, const struct qs_rule *rule, const struct qs_rule_row *row)
{
    const char *before = "(";
    add(t, "%s", row->name);
    for (size_t i = 0; i < QS_RULE_ARGS && row->args[i].name; i++) {
        if (i >= row->lead && rule->arg[i] == row->args[i].fallback)
            continue;
        add(t, "%s", before);
        if (i >= row->lead)
            add(t, "%s ", row->args[i].name);
        add_value(t, rule, &row->args[i], rule->arg[i]);
        before = ", ";
    }
    if (before[0] == ',')
        add(t, ")");
}

static void add_rule(struct text *t, const struct qs_rule *rule)
{
    const struct qs_rule_row *row = qs_rule_row(rule->kind);
    if (rule->kind < QS_RULE_LEAVES) {
        add_leaf(t, rule, row);
        return;
    }
    add(t, "%s(", row ? row->name : "?");
    for (size_t i = 0; i < rule->child_count; i++) {
        add(t, "%s", i > 0 ? ", " : "");
        add_rule(t, &rule->child[i]);
    }
    add(t, ")");
}

size_t qs_rule_text(const struct qs_rule *rule, char *to, size_t bytes)
{
    struct text t = {.to = to, .bytes = bytes};
    if (bytes > 0)
        to[0] = '\0';
    add_rule(&t, rule);
    return t.len;
}

/* The presets: statistics.md section 10, but for `standard`, whose rule is the better of its table's and ours
 * on series with heavy warm-up (tests/studies/stop). */

#define MS 1e6
#define S  1e9

static struct qs_rule quick_parts[] = {{.kind = QS_RULE_COV_WINDOW, .arg = {20, 0.05}},
                                       {.kind = QS_RULE_FIXED, .arg = {30}}};

const struct qs_preset qs_presets[QS_PRESETS] = {
    {"quick",
     "Thirty iterations, and the last twenty vary little.",
     {.kind = QS_RULE_ALL, .child = quick_parts, .child_count = 2}},
    {"standard",
     "The second half of at least 400 iterations agrees with itself.",
     {.kind = QS_RULE_SETTLED, .arg = {400, 0.02, 4}}},
    {"thorough",
     "Median and quartile range of all iterations stand still.",
     {.kind = QS_RULE_STABLE, .arg = {30, 0.005, 0.01, QS_STABLE_KEEPS_ALL}}},
    {"micro",
     "Five seconds or 10 000 iterations, as BenchmarkTools.",
     {.kind = QS_RULE_BUDGET, .arg = {5 * S, 10000}}},
    {"android",
     "35 iterations, as the Android macrobenchmarks of the article.",
     {.kind = QS_RULE_FIXED, .arg = {35}}},
};
