#include "studies/stop/replay.h"

#include <math.h>

#include "stats/controller.h"

bool replay_rule(const struct series *s, const struct qs_rule *rule, size_t step, struct replay *out)
{
    struct qs_controller_caps caps = {.time_ns = INFINITY, .iterations = s->n, .resolution_ns = 1};
    struct qs_controller *c = qs_controller_new(rule, &caps);
    struct qs_controller_now now = {0};
    enum qs_controller_verdict verdict = QS_CONTROLLER_GO_ON;
    bool ok = c != NULL;
    for (size_t i = 0; ok && i < s->n && verdict < QS_CONTROLLER_STOP; i++) {
        ok = qs_controller_push(c, s->v[i], false) == QS_OK;
        now.measured_ns += s->v[i];
        if ((i + 1) % step == 0 || i + 1 == s->n)
            verdict = qs_controller_judge(c, &now);
    }
    if (ok)
        *out = (struct replay){.n = qs_controller_n(c),
                               .kept_from = qs_controller_kept_from(c),
                               .measured_ns = now.measured_ns,
                               .capped = verdict == QS_CONTROLLER_CAPPED};
    qs_controller_free(c);
    return ok;
}
