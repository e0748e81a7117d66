/* Options from tables: one row per option, read by the parser, by the help and by the near-miss search. */
#ifndef QS_CTL_OPTIONS_OPT_H
#define QS_CTL_OPTIONS_OPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

enum qs_opt_kind {
    QS_OPT_TEXT,
    QS_OPT_WHOLE,  /* min <= n <= max */
    QS_OPT_NUMBER, /* finite, with a fraction or without */
    QS_OPT_RATIO,  /* 1% or 0.01; min and max in millionths */
    QS_OPT_TIME,   /* 20s, 500ms; min and max in ns */
    QS_OPT_WORD    /* one of `words` */
};
enum { QS_OPT_VALUES = 3 };

struct qs_opt {
    const char *name;   /* without the dashes; the row of arms stands for --a to --z */
    const char *alias;  /* another name, or NULL */
    char letter;        /* its short form, or 0 */
    const char *values; /* "VAR MIN MAX": as many values as words; NULL: a switch */
    const char *help;
    enum qs_opt_kind kind;    /* of the last value */
    const char *const *words; /* WORD: ends with NULL */
    int64_t min, max;
    bool optional;       /* the value comes as --name=VALUE or not at all */
    bool may_follow;     /* optional: or as the next word, unless that begins with a dash */
    bool many;           /* may be given again; others: twice is an error */
    bool letters;        /* --a to --z */
    const char *heading; /* begins a group in the help, or NULL */
    const char *instead; /* another tool's: read with its values, refused with this advice, not in the help */
};

struct qs_opt_use { /* one option as it was given */
    const struct qs_opt *opt;
    const char *value[QS_OPT_VALUES]; /* borrowed from argv; NULL where an optional one is missing */
    size_t at[QS_OPT_VALUES];         /* index of each value's argument */
    size_t skip;                      /* bytes of that argument before value[0] ("--name=") */
    size_t arg;                       /* index of the option's argument */
    char letter;                      /* 'b' of --b */
    int64_t number;                   /* WHOLE; TIME in ns; RATIO in millionths */
};

struct qs_args {
    const char *const *argv; /* borrowed; [0] is "quiesce" */
    size_t argc;
    const char *command; /* name of the command, or NULL before it is known */
    struct qs_opt_use *use;
    size_t use_count;
    size_t *word; /* indices of the arguments that are no options, before "--" */
    size_t word_count;
    size_t rest; /* index of the first argument after "--"; argc where there is none */
};

/* Reads argv[from..] by the tables (each ends with a row without name; `common` may be NULL). False with a
 * rendered block in `problem`. A --help found anywhere ends the reading: *ret_help. */
bool qs_args_read(struct qs_args *args, size_t from, const struct qs_opt *table, const struct qs_opt *common,
                  bool *ret_help, struct qs_buf *problem);
void qs_args_done(struct qs_args *args);

/* The last use of an option, or NULL. */
const struct qs_opt_use *qs_args_last(const struct qs_args *args, const char *name);
bool qs_args_has(const struct qs_args *args, const char *name);
/* Its (last) value, or `fallback`. */
const char *qs_args_text(const struct qs_args *args, const char *name, const char *fallback);
int64_t qs_args_number(const struct qs_args *args, const char *name, int64_t fallback);
size_t qs_args_count(const struct qs_args *args, const char *name);

/* The block of a usage error: what is wrong, the command line with a caret below byte `offset` of argument
 * `arg`, and what to write instead (may be NULL). Always returns false. */
bool qs_args_fail(const struct qs_args *args, struct qs_buf *problem, size_t arg, size_t offset,
                  const char *advice, const char *fmt, ...) __attribute__((format(printf, 6, 7)));

/* Values, also for other files. False with a reason in why[160]. */
bool qs_opt_read_whole(const char *s, int64_t min, int64_t max, int64_t *ret, char why[160]);
bool qs_opt_read_time(const char *s, int64_t min_ns, int64_t max_ns, int64_t *ret_ns, char why[160]);
bool qs_opt_read_ratio(const char *s, int64_t min_ppm, int64_t max_ppm, int64_t *ret_ppm, char why[160]);

/* Appends a word as a shell would need it: in single quotes where it has a sign that the shell reads. */
void qs_opt_quote(struct qs_buf *out, const char *word);

#endif
