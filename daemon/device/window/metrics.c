#include "device/window/metrics.h"

#include <stdio.h>

#include "proto/names.h"

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
