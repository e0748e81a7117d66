/* The presets: statistics.md section 10, but for `standard`, whose rule is the better of its table's and ours
 * on series with heavy warm-up (tests/studies/stop). */
#include "stats/rule.h"

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
