/* Ordered views: which of a run's accepted iterations are looked at. They are asked for by a reader of the
 * report and change nothing that is stored. Each takes what the one before has left, so their order matters.
 */
#ifndef QS_REPORT_VIEWS_H
#define QS_REPORT_VIEWS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "formats/import.h"
#include "report/fields.h"
#include "store/read/arms.h"

struct qs_buf;

enum qs_views_kind {
    QS_VIEWS_DISCARD_FIRST, /* all but the first n */
    QS_VIEWS_LAST,          /* the last n alone */
    QS_VIEWS_FENCED         /* those within Tukey's fences (1.5 IQR) of the run; all of fewer than 8, and
                               where the quartiles are equal */
};
enum { QS_VIEWS_MAX = 8, QS_VIEWS_N_MAX = 1000000 };

struct qs_views {
    struct {
        enum qs_views_kind kind;
        size_t n; /* 0: it has none */
    } at[QS_VIEWS_MAX];
    size_t count;
};

/* How many iterations each view left and took away. */
struct qs_views_tally {
    size_t used[QS_VIEWS_MAX], dropped[QS_VIEWS_MAX];
};

/* "discard-first:10,last:50,fenced", in this order. QS_E_USAGE. */
bool qs_views_parse(const char *text, struct qs_views *ret, struct qs_err *err);
/* One run's durations in the order of time: those that remain move to the front. Returns how many; the
 * tally is added to. */
size_t qs_views_apply(const struct qs_views *views, double *ns, size_t n, struct qs_views_tally *tally);
void qs_views_add(struct qs_views_tally *to, const struct qs_views_tally *more);
/* "views" as a field of others; the list is owned by the caller. */
struct qs_told_views {
    struct qs_field_list views;
};
extern const struct qs_field qs_views_rows[];
struct qs_told_views qs_views_tell(const struct qs_views *views, const struct qs_views_tally *tally);
/* The same into the open object; without a tally what was asked for alone. */
void qs_views_put(struct qs_json *j, const struct qs_views *views, const struct qs_views_tally *tally);
/* "discard-first 10 leaves 40 of 50 iterations, then fenced leaves 38 of 40 iterations"; nothing where there
 * are none. */
void qs_views_words(struct qs_buf *out, const struct qs_views *views, const struct qs_views_tally *tally);

/* Of what was read from the store or from files: each run is looked at for itself. Takes iterations out of
 * the runs, of every metric but those of windows; the tally counts those of the duration that would be looked
 * at. */
void qs_views_of_runs(const struct qs_views *views, struct qs_arm_runs *runs, struct qs_views_tally *tally);
/* Takes values out of each run of each series, and counts them among those that were dropped; a run of which
 * nothing is left is none. QS_E_USAGE: nothing is left of a series. */
bool qs_views_of_import(const struct qs_views *views, struct qs_import *import, struct qs_views_tally *tally,
                        struct qs_err *err);

#endif
