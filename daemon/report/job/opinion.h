/* Second opinions as JSON: what other people's rules say beside the verdict (stats/opinion.h). */
#ifndef QS_REPORT_JOB_OPINION_H
#define QS_REPORT_JOB_OPINION_H

#include "base/err.h"
#include "report/fields.h"
#include "stats/opinion.h"

/* A set of rules: bit 1 << rule. */
enum { QS_OPINIONS_NONE = 0, QS_OPINIONS_ALL = (1 << QS_OPINION_RULES) - 1 };

/* "judge", "judge,skia" or "all". QS_E_USAGE for a name that is none, with those that are. */
bool qs_opinions_parse(const char *names, unsigned *ret_rules, struct qs_err *err);

/* An array with an object for each of the rules, in the order of enum qs_opinion_rule; unit: that of the
 * values. */
extern const struct qs_field qs_opinion_rows[];
void qs_opinions_write(struct qs_json *j, unsigned rules, const struct qs_nested *base,
                       const struct qs_nested *cand, const struct qs_opinion_opts *opts, const char *unit);

/* A millisecond in this unit; NaN: what has it is no time, and rules that speak of one say nothing of it. */
double qs_opinions_one_ms(const char *unit);

#endif
