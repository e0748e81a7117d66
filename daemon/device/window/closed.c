/* From the words of CLOSED and of iterations to those of the store. */
#include "device/window/closed.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "proto/names.h"
#include "store/rows.h"

uint32_t qs_closed_iteration_taint(uint32_t flags)
{
    static const struct {
        uint32_t flag, taint;
    } map[] = {{QS_ITERATION_TIMED_OUT, QS_TAINT_TIMEOUT},      {QS_ITERATION_UNEXPECTED_EXIT, QS_TAINT_EXIT},
               {QS_ITERATION_SIGNALLED, QS_TAINT_EXIT},         {QS_ITERATION_CORE_DUMPED, QS_TAINT_EXIT},
               {QS_ITERATION_LEFT_CHILDREN, QS_TAINT_CHILDREN}, {QS_ITERATION_PREPARE_FAILED, QS_TAINT_HOOK},
               {QS_ITERATION_CONCLUDE_FAILED, QS_TAINT_HOOK},   {QS_ITERATION_CLOCK, QS_TAINT_CLOCK}};
    uint32_t taint = 0;
    for (size_t i = 0; i < sizeof map / sizeof *map; i++) {
        if (flags & map[i].flag)
            taint |= map[i].taint;
    }
    return taint;
}

static bool begins_with(struct qs_text text, const char *start)
{
    size_t n = strlen(start);
    return text.n >= n && memcmp(text.p, start, n) == 0;
}

uint32_t qs_closed_taint(const struct qs_msg_closed *m, bool noisy)
{
    uint32_t taint = m->gate.outcome == QS_GATE_TAINTED ? QS_TAINT_GATE : 0;
    if (noisy)
        taint |= QS_TAINT_LINK;
    struct qs_iter it = qs_list_iter(&m->taints);
    struct qs_taint t;
    while (qs_list_taint(&it, &t)) {
        if (t.iteration < 0)
            taint |= begins_with(t.code, "link.")   ? QS_TAINT_LINK
                     : begins_with(t.code, "gate:") ? QS_TAINT_GATE
                                                    : QS_TAINT_EVIDENCE;
    }
    return taint;
}

const char *qs_closed_how_word(enum qs_closed_how how)
{
    switch (how) {
    case QS_CLOSED_DONE:
        return "done";
    case QS_CLOSED_TIME_UP:
        return "time";
    case QS_CLOSED_CANCELLED:
        return "cancelled";
    case QS_CLOSED_FAILED:
        return "failed";
    case QS_CLOSED_GATE_TIMEOUT:
        return "gate";
    }
    return "failed";
}

static bool find(const struct qs_list *declared, uint16_t id, struct qs_declared *out)
{
    struct qs_iter it = qs_list_iter(declared);
    for (uint16_t i = QS_METRIC_DECLARED; qs_list_declared(&it, out); i++)
        if (i == id)
            return true;
    return false;
}

void qs_metric_names_of(const struct qs_list *declared, const uint16_t *ids, size_t count,
                        struct qs_metric_names *out)
{
    for (size_t i = 0; i < count; i++) {
        char *text = out->text[i], *unit = text + QS_NAME_MAX_BYTES + 1;
        struct qs_declared d;
        out->names[i] = qs_metric_name(ids[i]);
        out->kinds[i] = (struct qs_metric_kind){.unit = "count"};
        if (out->names[i])
            continue;
        out->names[i] = text;
        if (find(declared, ids[i], &d)) {
            qs_text_copy(d.name, text, QS_NAME_MAX_BYTES + 1);
            qs_text_copy(d.unit, unit, QS_NAME_MAX_BYTES + 1);
            out->kinds[i] =
                (struct qs_metric_kind){.unit = unit,
                                        .higher_is_better = (d.flags & QS_DECLARED_LOWER_IS_BETTER) == 0,
                                        .deterministic = (d.flags & QS_DECLARED_DETERMINISTIC) != 0};
        } else {
            snprintf(text, QS_NAME_MAX_BYTES + 1, "metric-%u", (unsigned)ids[i]);
        }
    }
}
