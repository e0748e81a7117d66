#include "report/change_put.h"

#include "report/analysis_impl.h"

void qs_put_change(struct qs_json *j, const struct qs_change *c)
{
    static const struct qs_field fields[] = {
        QS_COUNT_FIELD(struct qs_change, from),    QS_COUNT_FIELD(struct qs_change, to),
        QS_NUMBER_FIELD(struct qs_change, p),      QS_NUMBER_FIELD(struct qs_change, before),
        QS_NUMBER_FIELD(struct qs_change, after),  QS_NUMBER_FIELD(struct qs_change, ratio),
        QS_NUMBER_FIELD(struct qs_change, slope),  QS_NUMBER_FIELD(struct qs_change, n_eff),
        QS_BOOL_FIELD(struct qs_change, confirmed)};
    qs_json_kstring(j, "kind", c->kind == QS_CHANGE_STEP ? "step" : "drift");
    qs_put_fields(j, fields, sizeof fields / sizeof *fields, c);
    qs_put_ci(j, &c->ci);
}
