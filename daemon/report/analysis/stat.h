/* What one statistic of a document is, and the rows that many of them share. Private to report. */
#ifndef QS_REPORT_ANALYSIS_STAT_H
#define QS_REPORT_ANALYSIS_STAT_H

#include <stdint.h>

#include "report/fields.h"
#include "stats/status.h"
#include "stats/stepfit.h"

struct qs_stat { /* what every row of a table says */
    const char *name, *method;
    const char *meaning;         /* for people who read the schema */
    const struct qs_field *rows; /* of what `tell` fills */
    size_t bytes;                /* of that structure, which is zeroed before */
    bool random;                 /* takes numbers from qs_analysis_stream */
    bool runs_only;              /* of two samples: makes no sense for iterations */
};
#define QS_STAT(its_name, type, its_rows, its_method, ...)                                                   \
    {                                                                                                        \
        .name = its_name, .method = its_method, .rows = its_rows, .bytes = sizeof(struct type),              \
        .meaning = __VA_ARGS__                                                                               \
    }

struct qs_stat_table {           /* structures of so many bytes, each of which begins with a statistic */
    const struct qs_stat *first; /* behind the last one is one without a name */
    size_t bytes;
};
/* The i-th of all tables, the last of which is {NULL}; NULL: there are no more. */
const struct qs_stat *qs_stat_at(const struct qs_stat_table *tables, size_t i);
/* As fields of a document, each of its name, that `its_put` writes. */
#define QS_STATS_PART(its_tables, its_put)                                                                   \
    {                                                                                                        \
        .kind = QS_FIELD_PART, .put = its_put, .row = qs_stat_row, .rows = its_tables                        \
    }
bool qs_stat_row(const void *tables, size_t i, struct qs_field *ret);

struct qs_stat_head { /* what every statistic has beside its own fields */
    size_t n_used, n_dropped;
    uint64_t seed;
    enum qs_status status;
};
/* One statistic as an object of its name; frees the lists of what was told, and nothing else. */
void qs_put_stat(struct qs_json *j, const struct qs_stat *stat, const struct qs_stat_head *head, void *told);
/* The rows of that head, as the schema has them: before the statistic's own (with and without a seed), and
 * behind them. */
extern const struct qs_field qs_stat_head_rows[], qs_stat_seed_rows[], qs_stat_status_rows[];

/* What statistics have in common. */
#define QS_FLAGS_MEANING                                                                                     \
    "exact: nothing varies, the interval is a point; ties: equal values; clamped: a negative variance was "  \
    "set to 0; percentile: BCa is not defined and the percentile interval stands in; few-units: so few "     \
    "units were resampled that the interval is mostly too short"
extern const char *const qs_flag_names[];
extern const struct qs_field qs_ci_rows[]; /* of struct qs_ci */
struct qs_estimate {
    double estimate;
    struct qs_ci ci;
};
extern const struct qs_field qs_estimate_rows[];
struct qs_indexes {
    struct qs_field_list indexes;
};
extern const struct qs_field qs_indexes_rows[];
struct qs_steps {
    struct qs_stepfit of[QS_STEP_KINDS];
};
extern const struct qs_field qs_steps_rows[];
struct qs_field_list qs_numbers_of(const double *v, size_t n); /* a copy */

#endif
