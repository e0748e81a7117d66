/* The comparison document of an ended job (report/), and its exports. */
#ifndef QS_API_COMPARE_H
#define QS_API_COMPARE_H

#include "api/exchange.h"
#include "api/uri.h"
#include "base/err.h"
#include "report/results.h"
#include "report/tables/tables.h"
#include "store/read/arms.h"

/* Which metrics a request asks for: `metric=calls,power_mW`. */
enum { QS_METRIC_QUERY_MOST = 32 };

struct qs_metric_query {         /* zeroed before the first use; not to be moved once taken */
    struct qs_metric_names list; /* without names: all that were declared */
    const char *names[QS_METRIC_QUERY_MOST];
    char *text; /* owned */
};

/* From the query. QS_E_USAGE. */
bool qs_metric_query_parse(struct qs_metric_query *w, const struct qs_uri *uri, struct qs_err *err);
void qs_metric_query_done(struct qs_metric_query *w);

/* Everything that the document is made from; zeroed before the first use. */
struct qs_compared {
    struct qs_job_results results;
    struct qs_metric_query metric_query;
    unsigned opinions; /* wanted in the document: report/job/opinion.h */
    struct qs_views views;
    struct qs_progress progress; /* hears of the document, or nobody */
    struct qs_report_tolds told; /* what it says of durations */
    struct qs_tables tables;     /* filled where a form was chosen */
    struct qs_buf document;      /* JSON */
};

/* Pool. QS_E_NOT_FOUND; QS_E_CONFLICT while the job is queued or running: the effect of a running job is not
 * shown to anybody, so that nobody stops it for what it says. */
bool qs_compare_read(struct qs_store_reader *reader, const char *db_path, int64_t job,
                     struct qs_compared *ret, struct qs_err *err);
/* The job, which has ended, and its spec: what comes before every other read. Pool. Errors as above. */
bool qs_compared_job(struct qs_store_reader *reader, int64_t job, struct qs_compared *ret,
                     struct qs_err *err);
/* What was read, as a report takes it; borrowed. */
struct qs_report_input qs_compared_input(const struct qs_compared *c);
/* The form of the tables that a request asks for, or NULL: none. QS_E_USAGE. */
bool qs_compare_tables(const char *form, struct qs_tables *ret, struct qs_err *err);
/* rule, view and metric of the query. QS_E_USAGE. */
bool qs_compare_query(const struct qs_uri *uri, struct qs_compared *ret, struct qs_err *err);
/* QS_E_CONFLICT where the job has not ended. */
bool qs_compare_check_ended(const struct qs_job_info *job, struct qs_err *err);
void qs_compared_done(struct qs_compared *c);

#endif
