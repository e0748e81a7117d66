/* Stop rules as data: which there are, what each may be told, and how one is written. A rule says when a run
 * has enough iterations; rules are joined by any, all, not and xor (statistics.md section 10). What they do:
 * stopping.h. */
#ifndef QS_STATS_RULE_H
#define QS_STATS_RULE_H

#include <stdbool.h>
#include <stddef.h>

enum qs_rule_kind {
    QS_RULE_FIXED,      /* so many iterations */
    QS_RULE_TIME,       /* so much measured time */
    QS_RULE_BUDGET,     /* either of the two (Chen & Revels) */
    QS_RULE_COV_WINDOW, /* the last n vary little (Afonso & Almeida) */
    QS_RULE_CI_WIDTH,   /* the interval of median or mean is narrow enough */
    QS_RULE_RSE,        /* the relative standard error is small */
    QS_RULE_FUTHARK,    /* error against autocorrelation (Junge) */
    QS_RULE_STABLE,     /* median and IQR have stopped moving */
    QS_RULE_SETTLED,    /* the parts of the younger half agree */
    QS_RULE_PLANNER,    /* as many as the variances of earlier runs ask for (Kalibera et al.) */
    QS_RULE_EXTERNAL,   /* somebody else says so: stopping.h is told what */
    QS_RULE_LEAVES,
    QS_RULE_ANY = QS_RULE_LEAVES,
    QS_RULE_ALL,
    QS_RULE_NOT, /* exactly one child */
    QS_RULE_XOR, /* an odd number of children holds */
    QS_RULE_KINDS
};

enum { QS_RULE_ARGS = 6 };

/* What an argument is; how many of them a rule has and in which order stands in its row. */
enum qs_rule_arg_type {
    QS_ARG_COUNT,    /* a whole number */
    QS_ARG_DURATION, /* ns */
    QS_ARG_RATIO,
    QS_ARG_WORD, /* index into words */
    QS_ARG_NAME  /* of EXTERNAL: stands in the rule's name */
};

struct qs_rule_arg {
    const char *name; /* NULL ends the list */
    enum qs_rule_arg_type type;
    double min, max, fallback;
    const char *const *words; /* WORD: NULL-terminated */
    const char *help;
};

struct qs_rule_row {
    const char *name;
    const char *help;
    size_t lead; /* so many first arguments are always written, and without their names */
    struct qs_rule_arg args[QS_RULE_ARGS + 1];
};

enum { QS_CI_MEDIAN, QS_CI_MEAN };                    /* ci_width.of */
enum { QS_FUTHARK_CORRECTED, QS_FUTHARK_ORIGINAL };   /* futhark.metrics */
enum { QS_ROOT_SQUARE, QS_ROOT_CUBE };                /* futhark.root, rse.root */
enum { QS_STABLE_DROPS_OLDEST, QS_STABLE_KEEPS_ALL }; /* stable.drop */

struct qs_rule {
    enum qs_rule_kind kind;
    double arg[QS_RULE_ARGS]; /* in the order of the row */
    char *name;               /* EXTERNAL: whom to ask; who built the rule owns it */
    struct qs_rule *child;    /* array; who built the rule owns it */
    size_t child_count;
};

/* The row of a kind; joined kinds have a name and no arguments. NULL: no such kind. */
const struct qs_rule_row *qs_rule_row(enum qs_rule_kind kind);
/* The kind of a name; false where there is none. */
bool qs_rule_find(const char *name, enum qs_rule_kind *ret);
/* A leaf with the row's defaults. */
struct qs_rule qs_rule_default(enum qs_rule_kind kind);
/* Named rules, ready to use: quick, standard (what is used unless told otherwise), thorough, micro, android.
 */
struct qs_preset {
    const char *name, *help;
    struct qs_rule rule; /* children are shared: read only */
};
enum { QS_PRESETS = 5 };
extern const struct qs_preset qs_presets[QS_PRESETS];

/* "all(fixed(30), cov_window(20, 5 %))", cut to bytes - 1; the length without the cut. */
size_t qs_rule_text(const struct qs_rule *rule, char *to, size_t bytes);

#endif
