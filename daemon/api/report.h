/* Reports on ended jobs and their runs (schema/report.md). */
#ifndef QS_API_REPORT_H
#define QS_API_REPORT_H

#include "api/exchange.h"

qs_exchange_fn qs_handle_job_report, qs_handle_run_report;

#endif
