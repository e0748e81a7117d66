/* Members of a structure as JSON, from rows: what writes a document's fields also prints their description
 * (schema/). Private to report. */
#ifndef QS_REPORT_FIELDS_H
#define QS_REPORT_FIELDS_H

#include <stddef.h>

#include "base/json.h"

enum qs_field_kind {
    QS_FIELD_DOUBLE, /* null where it is not finite */
    QS_FIELD_COUNT,  /* size_t */
    QS_FIELD_BOOL,
    QS_FIELD_TEXT,   /* null where it is NULL */
    QS_FIELD_OBJECT, /* a pointer to the structure that the rows `of` are of; null where it is NULL */
    QS_FIELD_RAW     /* JSON as text, null where it is NULL */
};
struct qs_field { /* a list of them that stands alone ends with a name of NULL */
    const char *name;
    size_t at;
    enum qs_field_kind kind;
    const char *meaning; /* for people; NULL: nobody asks */
    const struct qs_field *of;
    const char *const *words; /* all that a text can be, NULL at the end; NULL: anything */
    const char *schema;       /* of a raw one: its JSON Schema */
};
#define QS_NUMBER_FIELD(type, member)                                                                        \
    {                                                                                                        \
        .name = #member, .at = offsetof(type, member), .kind = QS_FIELD_DOUBLE                               \
    }
#define QS_NUMBER_AS(its_name, type, member)                                                                 \
    {                                                                                                        \
        .name = its_name, .at = offsetof(type, member), .kind = QS_FIELD_DOUBLE                              \
    }
#define QS_COUNT_FIELD(type, member)                                                                         \
    {                                                                                                        \
        .name = #member, .at = offsetof(type, member), .kind = QS_FIELD_COUNT                                \
    }
#define QS_BOOL_FIELD(type, member)                                                                          \
    {                                                                                                        \
        .name = #member, .at = offsetof(type, member), .kind = QS_FIELD_BOOL                                 \
    }

/* The members as fields of the object that is open. */
void qs_put_fields(struct qs_json *j, const struct qs_field *fields, size_t count, const void *of);
/* A list that ends with a name of NULL. */
size_t qs_fields_count(const struct qs_field *fields);
/* The JSON Schema of an object of these fields, as members of the object that is open. */
void qs_fields_schema(struct qs_json *j, const struct qs_field *fields);
/* Rows of a table in Markdown: | `prefix.name` | what it is |. */
void qs_fields_table(struct qs_buf *out, const struct qs_field *fields, const char *prefix);

#endif
