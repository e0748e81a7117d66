/* Members of structures as JSON, from tables. Private to report. */
#ifndef QS_REPORT_ANALYSIS_FIELDS_H
#define QS_REPORT_ANALYSIS_FIELDS_H

#include <stddef.h>

#include "base/json.h"

/* Members of a structure as fields of the object that is open. */
enum qs_field_kind { QS_FIELD_DOUBLE, QS_FIELD_COUNT, QS_FIELD_BOOL };
struct qs_field {
    const char *name;
    size_t at;
    enum qs_field_kind kind;
};
#define QS_NUMBER_FIELD(type, member)                                                                        \
    {                                                                                                        \
#member, offsetof(type, member), QS_FIELD_DOUBLE                                                     \
    }
#define QS_NUMBER_AS(name, type, member)                                                                     \
    {                                                                                                        \
        name, offsetof(type, member), QS_FIELD_DOUBLE                                                        \
    }
#define QS_COUNT_FIELD(type, member)                                                                         \
    {                                                                                                        \
#member, offsetof(type, member), QS_FIELD_COUNT                                                      \
    }
#define QS_BOOL_FIELD(type, member)                                                                          \
    {                                                                                                        \
#member, offsetof(type, member), QS_FIELD_BOOL                                                       \
    }
void qs_put_fields(struct qs_json *j, const struct qs_field *fields, size_t count, const void *of);

#endif
