#include "studies/stop/replay.h"

#include <math.h>

#include "stats/stopping.h"

bool replay_rule(const struct series *s, const struct qs_rule *rule, size_t step, struct replay *out)
{
    struct qs_stopping_caps caps = {.time_ns = INFINITY, .iterations = s->n, .resolution_ns = 1};
    struct qs_stopping *c = qs_stopping_new(rule, &caps);
    struct qs_stopping_now now = {0};
    enum qs_stopping_verdict verdict = QS_STOPPING_GO_ON;
    bool ok = c != NULL;
    for (size_t i = 0; ok && i < s->n && verdict < QS_STOPPING_STOP; i++) {
        ok = qs_stopping_push(c, s->v[i], false) == QS_OK;
        now.measured_ns += s->v[i];
        if ((i + 1) % step == 0 || i + 1 == s->n)
            verdict = qs_stopping_judge(c, &now);
    }
    if (ok)
        *out = (struct replay){.n = qs_stopping_n(c),
                               .kept_from = qs_stopping_kept_from(c),
                               .measured_ns = now.measured_ns,
                               .capped = verdict == QS_STOPPING_CAPPED};
    qs_stopping_free(c);
    return ok;
}
