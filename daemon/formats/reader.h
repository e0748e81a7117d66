/* What the importers share: the text with places in it, and the builder of series. Private to formats. */
#ifndef QS_FORMATS_READER_H
#define QS_FORMATS_READER_H

#include <jansson.h>
#include <stdint.h>

#include "formats/import.h"

struct qs_import_point {
    double v;
    uint64_t run; /* any number that tells the runs of a series apart */
    double order; /* inside the run; equal ones stay in the order of the file */
    size_t index; /* in the order of the file */
    char *label;  /* owned, or NULL */
};

struct qs_import_build { /* one series while it grows */
    struct qs_import_series series;
    uint64_t hash;
    struct qs_import_point *points; /* owned */
    size_t count;
    bool labelled;
};

struct qs_json_at;

struct qs_reader {
    const char *name, *text, *end;
    struct qs_doc doc; /* for quoting: its source is the text, borrowed */
    struct qs_problems *problems;
    struct qs_import_build *at; /* owned */
    size_t count, last, values;
    const struct qs_json_at *where; /* what a JSON importer looks at: the place of a mistake without one */
};

/* What a series is; texts are copied. scale 0 means 1. */
struct qs_import_key {
    const char *benchmark, *metric, *unit;
    enum qs_direction direction;
    double scale;
};

/* Begins with a text (a byte order mark is skipped); text, name and problems are borrowed. */
void qs_reader_begin(struct qs_reader *r, const char *name, const char *text, size_t len,
                     struct qs_problems *problems);
/* Length, UTF-8, no NUL, not empty. */
bool qs_reader_check_text(struct qs_reader *r);

/* The series of a key, made where it is new; NULL with a problem where there are too many, or a name is too
 * long. Valid until the next call. `at` is a place in the text, or NULL. */
struct qs_import_build *qs_reader_series(struct qs_reader *r, const struct qs_import_key *key,
                                         const char *at);
/* A value as it stands in the file: scaled, or counted as not finite. label may be NULL. False with a problem
 * at the limit. */
bool qs_reader_value(struct qs_reader *r, struct qs_import_build *b, double number, uint64_t run,
                     double order, const char *label);
bool qs_reader_drop(struct qs_reader *r, struct qs_import_build *b, enum qs_drop why, size_t n);
/* Always false. A problem at a place in the text (NULL: unknown). */
bool qs_reader_fail(struct qs_reader *r, const char *at, const char *suggestion, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
/* The series in their final form; false with a problem where no value was found. */
bool qs_reader_finish(struct qs_reader *r, struct qs_import *ret);
void qs_reader_done(struct qs_reader *r);

/* How many of n bytes a message quotes. */
int qs_reader_shown(size_t n);
uint64_t qs_reader_hash(const char *s, size_t n);

enum qs_number { QS_NUMBER_NO, QS_NUMBER_FINITE, QS_NUMBER_NOT_FINITE };
/* The whole of s[0..n) as a decimal number; nan, inf and na in any case, and what overflows, are not finite.
 * s[n] can be read. */
enum qs_number qs_reader_number(const char *s, size_t n, double *ret);

typedef bool qs_import_text_fn(struct qs_reader *r);
qs_import_text_fn qs_import_numbers, qs_import_csv, qs_import_gobench;

/* A JSON document with the path of what is being looked at. */
struct qs_json_at {
    struct qs_reader *r;
    const char *key[8]; /* NULL: an index */
    size_t index[8];
    size_t depth;
};
typedef bool qs_import_json_fn(struct qs_reader *r, const json_t *doc);
qs_import_json_fn qs_import_json_numbers, qs_import_gbench, qs_import_androidx, qs_import_pyperf,
    qs_import_hyperfine;

/* The whole text as one JSON document (numbers are reals); NULL with a problem. The caller's. */
json_t *qs_json_load(struct qs_reader *r);
/* AUTO: which tool's document it is by its keys; *format is set. */
bool qs_import_json(struct qs_reader *r, enum qs_format *format);

/* Deeper, and back up. */
struct qs_json_at qs_json_at_key(const struct qs_json_at *at, const char *key);
struct qs_json_at qs_json_at_index(const struct qs_json_at *at, size_t index);
/* The value of a key of that type (JSON_REAL takes every number). Missing or of another type: a problem and
 * NULL. */
const json_t *qs_json_want(const struct qs_json_at *at, const json_t *object, const char *key,
                           json_type type);
/* Always false: a problem at the place of `at`, with its path. */
bool qs_json_fail(const struct qs_json_at *at, const char *suggestion, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* A number, or null for one that is not finite. */
bool qs_json_number(const struct qs_json_at *at, struct qs_import_build *b, const json_t *v, uint64_t run);
/* The numbers of a list, all of one run. */
bool qs_json_numbers(const struct qs_json_at *at, struct qs_import_build *b, const json_t *list,
                     uint64_t run);
/* The place of a path in the text of a valid document, or NULL. */
const char *qs_json_place(const struct qs_json_at *at);

#endif
