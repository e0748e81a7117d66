/* Many verdicts in a few numbers: how many of each, and the geometric mean of the ratios of each metric. */
#ifndef QS_REPORT_TALLY_H
#define QS_REPORT_TALLY_H

#include "report/fields.h"
#include "stats/verdict.h"

struct qs_tally { /* starts from {0} */
    size_t verdicts[QS_VERDICT_INCONCLUSIVE + 1];
    struct qs_tally_metric {
        const char *name; /* borrowed */
        double log_sum;
        size_t n;
    } * metrics; /* owned: in the order in which they came */
    size_t metric_count;
};

/* A ratio that is not positive and finite is a verdict without a ratio. */
void qs_tally_add(struct qs_tally *tally, const char *metric, enum qs_verdict_kind verdict, double ratio);
/* "8 verdicts: 5 regressions, 3 equivalent; geometric mean of 5 ratios +15.8 %": nothing of fewer than two.
 */
void qs_tally_words(const struct qs_tally *tally, struct qs_buf *out);
/* As an object: the words, verdicts that there are, the worst first, and metrics that have a ratio. */
extern const struct qs_field qs_tally_rows[];
void qs_tally_put(struct qs_json *j, const struct qs_tally *tally);
void qs_tally_done(struct qs_tally *tally);

#endif
