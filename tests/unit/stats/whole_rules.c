/* Where each stop rule ends a run of these iterations. */
#include "whole.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "stats/stopping.h"
#include "stats/rule.h"
#include "stats/timer.h"

/* Pushes the values one by one, as often as they are there, with a gap before each break; tells when it
 * stopped and why. */
static void put_rule(FILE *out, const struct whole_sample *s, const struct qs_rule *rule, double time_ns)
{
    const struct qs_stopping_caps caps = {.time_ns = time_ns, .iterations = 400, .resolution_ns = 0};
    struct qs_stopping *c = qs_stopping_new(rule, &caps);
    struct qs_stopping_now now = {.measured_ns = 0, .planned = 33};
    enum qs_stopping_verdict verdict = QS_STOPPING_GO_ON;
    unsigned restarts = 0;
    char text[128];
    qs_rule_text(rule, text, sizeof text);
    fprintf(out, " %s", text);
    if (!c) {
        fprintf(out, " refused");
        return;
    }
    for (size_t i = 0; verdict == QS_STOPPING_GO_ON || verdict == QS_STOPPING_RESTART; i++) {
        size_t at = i % s->nx;
        now.measured_ns += fabs(s->x[at]);
        if (qs_stopping_push(c, s->x[at], i > 0 && (at == s->breaks[0] || at == s->breaks[1])) != QS_OK)
            break;
        verdict = qs_stopping_judge(c, &now);
        restarts += verdict == QS_STOPPING_RESTART;
    }
    PUT(verdict);
    PUT(restarts);
    PUT(qs_stopping_n(c));
    PUT(qs_stopping_kept_from(c));
    fprintf(out, " \"%s\"", qs_stopping_reason(c));
    qs_stopping_free(c);
}

static void put_rules(FILE *out, const struct whole_sample *s)
{
    static const struct qs_rule leaves[] = {
        {.kind = QS_RULE_FIXED, .arg = {7}},
        {.kind = QS_RULE_TIME, .arg = {2000}},
        {.kind = QS_RULE_BUDGET, .arg = {3000, 40}},
        {.kind = QS_RULE_COV_WINDOW, .arg = {8, 0.1}},
        {.kind = QS_RULE_CI_WIDTH, .arg = {QS_CI_MEDIAN, 0.03, 0.1, 9}},
        {.kind = QS_RULE_CI_WIDTH, .arg = {QS_CI_MEAN, 0.03, 0.1, 9}},
        {.kind = QS_RULE_RSE, .arg = {0.02, 5, QS_ROOT_SQUARE}},
        {.kind = QS_RULE_RSE, .arg = {0.03, 5, QS_ROOT_CUBE}},
        {.kind = QS_RULE_FUTHARK, .arg = {QS_FUTHARK_CORRECTED, 1500, 1, QS_ROOT_SQUARE, 10}},
        {.kind = QS_RULE_FUTHARK, .arg = {QS_FUTHARK_ORIGINAL, 1500, 2, QS_ROOT_CUBE, 5}},
        {.kind = QS_RULE_STABLE, .arg = {12, 0.01, 0.05, QS_STABLE_DROPS_OLDEST}},
        {.kind = QS_RULE_STABLE, .arg = {12, 0.01, 0.05, QS_STABLE_KEEPS_ALL}},
        {.kind = QS_RULE_SETTLED, .arg = {16, 0.05, 3}},
        {.kind = QS_RULE_PLANNER, .arg = {10, 50}}};
    for (size_t i = 0; i < sizeof leaves / sizeof *leaves; i++)
        put_rule(out, s, &leaves[i], INFINITY);
    for (size_t i = 0; i < QS_PRESETS; i++)
        put_rule(out, s, &qs_presets[i].rule, 1e5);
    for (enum qs_rule_kind kind = QS_RULE_ANY; kind <= QS_RULE_XOR; kind++) {
        struct qs_rule children[] = {leaves[3], leaves[6], leaves[12]};
        struct qs_rule all = {.kind = kind, .child = children, .child_count = kind == QS_RULE_NOT ? 1 : 3};
        put_rule(out, s, &all, INFINITY);
    }
}

static void put_futhark(FILE *out, const struct whole_sample *s)
{
    for (int root = 0; root < 2; root++) {
        struct qs_futhark m;
        whole_status(out, qs_futhark_metrics(s->x, s->nx, s->breaks, s->n_breaks, root, &m));
        PUT(m.rse);
        PUT(m.r1);
        for (double strictness = 1; strictness < 30; strictness *= 3)
            PUT(qs_futhark_wants_more(&m, root, strictness));
    }
}

const struct whole_page whole_rules[] = {{"rules", put_rules}, {"futhark", put_futhark}, {NULL, NULL}};
