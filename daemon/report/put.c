#include "report/put.h"

#include <math.h>
#include <stdarg.h>

#include "base/buf.h"
#include "report/analysis/impl.h"

void qs_put_warning(struct qs_json *j, const char *code, const char *fmt, ...)
{
    va_list ap;
    QS_BUF(text);
    va_start(ap, fmt);
    qs_buf_vfmt(&text, fmt, ap);
    va_end(ap);
    qs_json_object(j);
    qs_json_kstring(j, "code", code);
    qs_json_kstring(j, "text", text.data);
    qs_json_object_end(j);
}

void qs_put_change(struct qs_json *j, const struct qs_change *c)
{
    static const struct qs_field fields[] = {QS_COUNT_FIELD(struct qs_change, from),
                                             QS_COUNT_FIELD(struct qs_change, to),
                                             QS_NUMBER_FIELD(struct qs_change, p),
                                             QS_NUMBER_FIELD(struct qs_change, before),
                                             QS_NUMBER_FIELD(struct qs_change, after),
                                             QS_NUMBER_FIELD(struct qs_change, median_before),
                                             QS_NUMBER_FIELD(struct qs_change, median_after),
                                             QS_NUMBER_FIELD(struct qs_change, ratio),
                                             QS_NUMBER_FIELD(struct qs_change, slope),
                                             QS_NUMBER_FIELD(struct qs_change, n_eff),
                                             QS_BOOL_FIELD(struct qs_change, confirmed)};
    qs_json_kstring(j, "kind", c->kind == QS_CHANGE_STEP ? "step" : "drift");
    qs_put_fields(j, fields, sizeof fields / sizeof *fields, c);
    qs_put_ci(j, &c->ci);
}

void qs_put_changes_beside(struct qs_json *j, const struct qs_changes *changes, size_t from)
{
    qs_json_kobject(j, "smaller");
    qs_json_kint(j, "steps", (int64_t)changes->smaller);
    qs_json_kdouble(j, "most_ratio", changes->smaller > 0 ? changes->smaller_most_ratio : NAN);
    qs_json_object_end(j);
    qs_json_karray(j, "alone");
    for (size_t i = 0; i < changes->n_alone; i++)
        qs_json_uint(j, from + changes->alone[i]);
    qs_json_array_end(j);
    qs_json_kdouble(j, "phi", changes->phi);
    qs_json_kdouble(j, "detectable_ratio", changes->detectable_ratio);
}
