/* Result files of other tools as one structure: series (a metric of a benchmark) of runs of iterations. A
 * file is hostile until it was read: every size is bounded, and a mistake is located, quoted and explained.
 */
#ifndef QS_FORMATS_IMPORT_H
#define QS_FORMATS_IMPORT_H

#include <stdbool.h>
#include <stddef.h>

#include "config/document/doc.h"

enum {
    QS_IMPORT_BYTES = 16 * 1024 * 1024, /* of one file */
    QS_IMPORT_VALUES = 1000000,         /* of one file, kept ones and dropped ones */
    QS_IMPORT_SERIES = 1000,
    QS_IMPORT_NAME_BYTES = 400, /* of a benchmark, a metric, a unit or a label; longer ones are refused */
    QS_IMPORT_COLUMNS = 256     /* of a CSV file */
};

enum qs_format {
    QS_FORMAT_AUTO,
    QS_FORMAT_NUMBERS, /* numbers between spaces, commas or line ends; # begins a comment; a blank line a run.
                          Or a JSON list of numbers, or of such lists, each a run */
    QS_FORMAT_CSV,     /* a header, then rows; see csv.c for what the columns mean */
    QS_FORMAT_GBENCH,  /* Google Benchmark, --benchmark_format=json */
    QS_FORMAT_ANDROIDX,  /* androidx.benchmark, benchmarkData.json */
    QS_FORMAT_PYPERF,    /* pyperf, -o FILE */
    QS_FORMAT_GOBENCH,   /* go test -bench */
    QS_FORMAT_HYPERFINE, /* hyperfine --export-json */
    QS_FORMAT_COUNT
};
extern const char *const qs_format_names[]; /* by value, NULL at the end */
bool qs_format_find(const char *word, enum qs_format *ret);

enum qs_direction { QS_DIRECTION_UNKNOWN, QS_DIRECTION_LOWER, QS_DIRECTION_HIGHER }; /* which is better */
/* What a unit says about it: less time and memory is better, more per second is. */
enum qs_direction qs_direction_of_unit(const char *unit);

/* Why a value of the file is not among those of the series. */
enum qs_drop {
    QS_DROP_WARMUP,     /* the file calls it a warm-up */
    QS_DROP_AGGREGATE,  /* a mean or median that the tool computed */
    QS_DROP_FAILED,     /* the tool says that this measurement failed */
    QS_DROP_NOT_FINITE, /* NaN or an infinity */
    QS_DROP_EMPTY,      /* an empty cell */
    QS_DROP_TAINTED,    /* a precondition or the iteration itself was violated */
    QS_DROP_VIEW,       /* a reader asked to leave it out */
    QS_DROP_COUNT
};
extern const char *const qs_drop_names[]; /* by value, NULL at the end */

struct qs_import_series { /* all owned */
    char *benchmark;      /* "" where the file names none */
    char *metric;         /* "value" where the file names none */
    char *unit;           /* of the values as they are here; "" unknown */
    enum qs_direction direction;
    double scale; /* value = number in the file x scale: seconds become ns (pyperf, hyperfine) */
    double *v;    /* n finite values, run after run, in the order of the file (of `iteration`, where given) */
    char **labels; /* n: a date or a commit of each value; NULL where the file has none */
    size_t n;
    size_t *off; /* run j is v[off[j]] .. v[off[j+1]-1]; none is empty */
    size_t runs;
    size_t dropped[QS_DROP_COUNT];
};

struct qs_import {
    enum qs_format format;
    struct qs_import_series *series; /* owned, in the order of the file; each has at least one value */
    size_t count;
    size_t values; /* of all series */
};

/* Reads text (text[len] is '\0'; borrowed). `name` is the file's, for messages. AUTO looks at the text. False
 * with at least one problem; *ret is empty then. */
bool qs_import_read(const char *name, const char *text, size_t len, enum qs_format format,
                    struct qs_import *ret, struct qs_problems *problems);
void qs_import_done(struct qs_import *import);

#endif
