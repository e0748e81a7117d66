/* Members of a structure as JSON, from rows: what writes a document's fields also prints their description
 * (schema/). Private to report. */
#ifndef QS_REPORT_FIELDS_H
#define QS_REPORT_FIELDS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/json.h"

enum qs_field_kind {
    QS_FIELD_DOUBLE, /* null where it is not finite */
    QS_FIELD_COUNT,  /* size_t */
    QS_FIELD_WHOLE,  /* int64_t */
    QS_FIELD_BOOL,
    QS_FIELD_TEXT,    /* null where it is NULL */
    QS_FIELD_WORD,    /* an enumeration, told as that one of `words` */
    QS_FIELD_FLAGS,   /* an unsigned of bits: a list of those of `words` whose bits are set */
    QS_FIELD_COUNTED, /* so many size_t as there are `words`: an object of those that are not 0 */
    QS_FIELD_NUMBERS, /* struct qs_field_list of doubles, or `count` of them in the structure */
    QS_FIELD_COUNTS,  /* struct qs_field_list of size_t */
    QS_FIELD_TEXTS,   /* struct qs_field_list of borrowed texts */
    QS_FIELD_OBJECTS, /* struct qs_field_list of structures of so many `bytes`, that the rows `of` are of */
    QS_FIELD_OBJECT,  /* a pointer to the structure that the rows `of` are of; null where it is NULL */
    QS_FIELD_WITHIN,  /* such a structure in this one, as an object of its own */
    QS_FIELD_PART, /* such a structure in this one: its fields stand among the others, the row has no name */
    QS_FIELD_RAW   /* JSON as text, null where it is NULL */
};
struct qs_field_list {
    void *v; /* owned */
    size_t n;
};
struct qs_field { /* a list of them ends with a name of NULL */
    const char *name;
    size_t at;
    enum qs_field_kind kind;
    const char *meaning; /* for people; NULL: nobody asks */
    const struct qs_field *of;
    const char *const *words; /* all that a text can be, NULL at the end; NULL: anything */
    size_t count, bytes;
    bool known;      /* a text or a number that is never null */
    bool maybe;      /* one of `words`, or null; of a count: null where it is 0 */
    bool optional;   /* a text that is left out where it is NULL; in the schema: not required */
    bool later;      /* documents of before may be without it; whoever reads them takes nothing, or 0 */
    const char *ref; /* what describes an object or those of a list, in place of `of`; behind a / at its end
                        comes the name */
    /* Writes the value, or the fields of a part, from what stands at `at`. */
    void (*put)(struct qs_json *j, const void *at);
    /* Of a part that `put` writes from `rows`: the i-th of its fields, for the schema; false: there are no
     * more. */
    bool (*row)(const void *rows, size_t i, struct qs_field *ret);
    const void *rows;
};
/* A row of `struct type`: kind, meaning, and what else it has. */
#define QS_ROW_AS(its_name, type, member, its_kind, ...)                                                     \
    {                                                                                                        \
        .name = its_name, .at = offsetof(struct type, member), .kind = QS_FIELD_##its_kind,                  \
        .meaning = __VA_ARGS__                                                                               \
    }
#define QS_ROW(type, member, its_kind, ...) QS_ROW_AS(#member, type, member, its_kind, __VA_ARGS__)
/* A row that writes itself from the whole structure. */
#define QS_ROW_PUT(its_name, its_put, its_kind, ...)                                                         \
    {                                                                                                        \
        .name = its_name, .kind = QS_FIELD_##its_kind, .put = its_put, .meaning = __VA_ARGS__                \
    }
#define QS_ROWS_OF(type, member, rows) QS_ROW_AS(NULL, type, member, PART, NULL, .of = rows)

/* The members as fields of the object that is open. */
void qs_put_fields(struct qs_json *j, const struct qs_field *fields, const void *of);
/* An object of them; null where there is no structure. */
void qs_put_object(struct qs_json *j, const struct qs_field *fields, const void *of);
/* Frees the lists of the structure, and nothing else. */
void qs_fields_free(const struct qs_field *fields, void *of);
/* The JSON Schema of an object of these fields, as members of the object that is open. */
void qs_fields_schema(struct qs_json *j, const struct qs_field *fields);
/* The same as a document of its own. */
void qs_fields_document(struct qs_buf *out, const char *title, const struct qs_field *fields);
/* Rows of a table in Markdown: | `prefix.name` | what it is |. */
void qs_fields_table(struct qs_buf *out, const struct qs_field *fields, const char *prefix);

#endif
