/* What answers each address (routes.c); schema/openapi.yaml describes them. */
#ifndef QS_API_HANDLERS_H
#define QS_API_HANDLERS_H

#include "api/exchange.h"

qs_exchange_fn qs_handle_health, qs_handle_version, qs_handle_yield;
qs_exchange_fn qs_handle_devices, qs_handle_device_declare, qs_handle_device, qs_handle_device_ask,
    qs_handle_device_profile, qs_handle_device_say;
qs_exchange_fn qs_handle_file_put, qs_handle_file_get, qs_handle_file_head;
/* Of an upload's first call, and a no-op for all others: opens the file, or answers that it is there. */
qs_exchange_fn qs_handle_file_begin;

qs_exchange_fn qs_handle_validate, qs_handle_submit, qs_handle_jobs, qs_handle_job, qs_handle_cancel;
qs_exchange_fn qs_handle_job_events, qs_handle_all_events;
qs_exchange_fn qs_handle_runs, qs_handle_run, qs_handle_iterations;
qs_exchange_fn qs_handle_reproduce_plan, qs_handle_reproduce, qs_handle_reproduction;

qs_exchange_fn qs_handle_compare, qs_handle_sides, qs_handle_job_report, qs_handle_run_report;
qs_exchange_fn qs_handle_builds, qs_handle_series, qs_handle_history;
qs_exchange_fn qs_handle_analyze, qs_handle_analyze_compare, qs_handle_analyze_history;

/* ?format=json|csv|markdown|asciidoc|orgmode; then what answers each, of an ended job. json: hyperfine's
 * results, with the comparison as "quiesce". csv: a line for every iteration, sent in pages. */
qs_exchange_fn qs_handle_export, qs_export_json, qs_export_csv;

#endif
