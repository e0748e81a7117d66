/* The report on one job, or on one run: the interval first, everything that is wrong with the sample, where
 * its variance comes from, and what rises and falls with it. Pure; the documents are described in
 * schema/report.md. */
#ifndef QS_REPORT_JOB_DOCUMENT_H
#define QS_REPORT_JOB_DOCUMENT_H

#include "report/job/report.h"
#include "store/read/windows.h"

/* Appends the document: of each point on each device, each arm. `windows` are the job's. full: every
 * statistic; false: without those that resample iterations. QS_ECANCELED: progress ended it, and what was
 * appended is no document; else QS_OK. */
enum qs_status qs_report_job(const struct qs_report_input *in, const struct qs_windows *windows, bool full,
                             struct qs_buf *out);
/* The same of one run of the job: in->measured is not looked at, `windows` are the run's. */
enum qs_status qs_report_run(const struct qs_report_input *in, const struct qs_run_info *run,
                             const struct qs_windows *windows, bool full, struct qs_buf *out);

#endif
