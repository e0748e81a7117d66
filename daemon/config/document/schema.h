/* Private to config: documents into structures by tables. Each key is declared once: its name, type, range,
 * default (as a person would write it, read by the same code) and one sentence of help; the key reference and
 * the JSON Schema are printed from the same rows. Every mistake is a located problem; reading goes on to find
 * the next one. */
#ifndef QS_CONFIG_DOCUMENT_SCHEMA_H
#define QS_CONFIG_DOCUMENT_SCHEMA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "config/document/doc.h"

enum qs_key_type {
    QS_KEY_TEXT,     /* char *, owned; min..max bytes */
    QS_KEY_NAME,     /* char *: text of 1..100 bytes without control characters */
    QS_KEY_BOOL,     /* bool */
    QS_KEY_U32,      /* uint32_t, min..max */
    QS_KEY_U64,      /* uint64_t */
    QS_KEY_RATIO,    /* double; min and max in parts per million */
    QS_KEY_DURATION, /* int64_t ns */
    QS_KEY_BYTES,    /* int64_t */
    QS_KEY_ENUM,     /* unsigned, one of words */
    QS_KEY_STRINGS,  /* struct qs_strings: a list of text; max items */
    QS_KEY_MAP,      /* a map whose table fills the same struct, at offset */
    QS_KEY_LIST,     /* pointer and size_t count: a list of maps; min..max items */
    QS_KEY_NAMED,    /* the same from a map of names; table->name_offset gets the name */
    QS_KEY_CUSTOM    /* read() does it; `form` names the type in the reference */
};

struct qs_word {
    const char *word; /* NULL ends the list */
    unsigned value;
};

struct qs_schema_reader {
    const struct qs_doc *doc;     /* borrowed */
    struct qs_problems *problems; /* borrowed */
    struct qs_buf path;           /* of the value at hand */
    const struct qs_node *here;   /* the map around it: the place of what is missing */
    size_t count;                 /* problems found so far */
};

struct qs_table;
struct qs_json;

struct qs_key {
    const char *name; /* NULL ends the table */
    enum qs_key_type type;
    size_t offset, count_offset;
    int64_t min, max; /* both 0: not bounded (U32: 0..UINT32_MAX) */
    const struct qs_word *words;
    const char *const
        *instead;         /* ENUM: pairs of a word that is none and what to write; ends with NULL; or NULL */
    const char *fallback; /* NULL: none (zero); CUSTOM: shown only */
    bool required;
    const struct qs_table *table; /* borrowed */
    void (*read)(struct qs_schema_reader *r, const struct qs_key *key, const struct qs_node *node,
                 void *at);          /* at offset */
    void (*json)(struct qs_json *j); /* CUSTOM: the keywords of its JSON Schema; NULL: none */
    const char *form;
    const char *help;
};

struct qs_table {
    const struct qs_key *keys;
    size_t size_bytes;    /* of one element, LIST and NAMED */
    size_t name_offset;   /* NAMED */
    const char *fallback; /* what the reference says of keys that are not there, in place of their defaults,
                             which a check replaces; NULL: those */
    /* After the keys; node is NULL where the map is not there. */
    void (*check)(struct qs_schema_reader *r, const struct qs_node *node, void *target);
};

/* Reads doc's root into a zeroed target. False where anything was wrong; the target is then partly filled,
 * and consistent. */
bool qs_schema_read(const struct qs_doc *doc, const struct qs_table *table, void *target,
                    struct qs_problems *problems);

/* For custom readers and checks. `at` NULL: the map at hand. */
void qs_schema_problem(struct qs_schema_reader *r, const struct qs_node *at, const char *suggestion,
                       const char *fmt, ...) __attribute__((format(printf, 4, 5)));
size_t qs_schema_enter(struct qs_schema_reader *r, const char *key);
size_t qs_schema_enter_index(struct qs_schema_reader *r, size_t i);
void qs_schema_leave(struct qs_schema_reader *r, size_t mark); /* mark: what enter returned */
/* The text of a node, or NULL with a problem that says what was expected ("a duration such as 20s"). */
const char *qs_schema_text(struct qs_schema_reader *r, const struct qs_node *node, const char *expected);
bool qs_schema_is(struct qs_schema_reader *r, const struct qs_node *node, enum qs_node_kind kind,
                  const char *expected);
void qs_schema_map(struct qs_schema_reader *r, const struct qs_table *table, const struct qs_node *node,
                   void *target);
/* One key's value into target + key->offset. */
void qs_schema_value(struct qs_schema_reader *r, const struct qs_key *key, const struct qs_node *node,
                     void *target);
/* Where `map` has a key that does not belong there: "why `key`". */
void qs_schema_refuse(struct qs_schema_reader *r, const struct qs_node *map, const char *key,
                      const char *instead, const char *why);
/* Appends what to write instead of a wrong word: the nearest one, else all (what: "the modes"). */
void qs_schema_suggest(struct qs_buf *out, const char *wrong, const char *what, const char *const *words,
                       size_t count);

/* The same as a JSON Schema, one line. */
void qs_schema_json(const struct qs_table *table, const char *title, struct qs_buf *out);
/* The keys as rows of a Markdown table, depth first. */
void qs_schema_reference(const struct qs_table *table, struct qs_buf *out);

/* The type and range of a key in words, for messages and for the key reference: "a duration such as 20s",
 * "true or false", "one of free, max" */
void qs_schema_form(const struct qs_key *key, struct qs_buf *out);
/* "1ms to 1h", "at most 64KiB"; nothing where the key is not bounded. */
void qs_schema_range(const struct qs_key *key, struct qs_buf *out);

#endif
