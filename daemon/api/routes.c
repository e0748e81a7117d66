/* Every address of the API. schema/openapi.yaml describes the same; a test holds both together. */
#include "api/handlers.h"
#include "api/router.h"
#include "config/document/doc.h"
#include "formats/import.h"

enum { DEVICE_BYTES = 4096, WORDS_BYTES = 65536 };
enum { FILE_BYTES = 1024 * 1024 * 1024 };
/* The text of a job inside JSON: most of it is one byte a byte, some of it two. */
enum { SUBMIT_BYTES = 2 * QS_DOC_BYTES + 1024 * 1024 };

/* One file of results, or several small ones, inside JSON. */
enum { ANALYZE_BYTES = 3 * QS_IMPORT_BYTES };

const struct qs_route qs_routes[] = {
    {"GET", "/healthz", qs_handle_health, 0, "", QS_ROUTE_URGENT},
    {"GET", "/api/v1/version", qs_handle_version, 0, "", QS_ROUTE_URGENT},
    {"POST", "/api/v1/daemon:yield", qs_handle_yield, 0, "", QS_ROUTE_URGENT},
    {"GET", "/api/v1/devices", qs_handle_devices, 0, "", 0},
    {"POST", "/api/v1/devices", qs_handle_device_declare, DEVICE_BYTES, "", 0},
    {"GET", "/api/v1/devices/{device}", qs_handle_device, 0, "", 0},
    {"GET", "/api/v1/devices/{device}:profile", qs_handle_device_profile, 0, "", 0},
    {"POST", "/api/v1/devices/{device}:clean", qs_handle_device_ask, 0, "", QS_ROUTE_LONG},
    {"POST", "/api/v1/devices/{device}:hold", qs_handle_device_say, WORDS_BYTES, "", 0},
    {"POST", "/api/v1/devices/{device}:release", qs_handle_device_say, WORDS_BYTES, "", 0},
    {"POST", "/api/v1/devices/{device}:note", qs_handle_device_say, WORDS_BYTES, "", 0},
    {"POST", "/api/v1/devices/{device}:tag", qs_handle_device_say, WORDS_BYTES, "", 0},
    {"GET", "/api/v1/devices/{device}:read", qs_handle_device_ask, 0, "", QS_ROUTE_NO_HEAD | QS_ROUTE_LONG},
    {"POST", "/api/v1/jobs:validate", qs_handle_validate, QS_DOC_BYTES, " name ", QS_ROUTE_READS},
    {"PUT", "/api/v1/files/{sha256}", qs_handle_file_put, FILE_BYTES, "", QS_ROUTE_UPLOAD},
    {"GET", "/api/v1/files/{sha256}", qs_handle_file_get, 0, "", QS_ROUTE_NO_HEAD},
    {"HEAD", "/api/v1/files/{sha256}", qs_handle_file_head, 0, "", 0},
    {"POST", "/api/v1/jobs", qs_handle_submit, SUBMIT_BYTES, "", 0},
    {"GET", "/api/v1/jobs", qs_handle_jobs, 0, " limit before ", 0},
    {"GET", "/api/v1/jobs/{id}", qs_handle_job, 0, "", 0},
    {"POST", "/api/v1/jobs/{id}:cancel", qs_handle_cancel, 0, "", QS_ROUTE_URGENT},
    {"GET", "/api/v1/jobs/{id}/events", qs_handle_job_events, 0, " after ", QS_ROUTE_NO_HEAD},
    {"GET", "/api/v1/events", qs_handle_all_events, 0, " after ", QS_ROUTE_NO_HEAD},
    {"GET", "/api/v1/jobs/{id}/runs", qs_handle_runs, 0, " after limit ", 0},
    {"GET", "/api/v1/runs/{uid}", qs_handle_run, 0, "", 0},
    {"GET", "/api/v1/runs/{uid}/iterations", qs_handle_iterations, 0, " from limit ", 0},
    {"GET", "/api/v1/jobs/{id}/compare", qs_handle_compare, 0, " rule tables view metric ", QS_ROUTE_LONG},
    {"GET", "/api/v1/compare", qs_handle_sides, 0,
     " base candidate metric margin_ratio alpha allow rule tables view ", QS_ROUTE_LONG},
    {"GET", "/api/v1/jobs/{id}/report", qs_handle_job_report, 0, " view full metric ", QS_ROUTE_LONG},
    {"GET", "/api/v1/runs/{uid}/report", qs_handle_run_report, 0, " view full metric ", QS_ROUTE_LONG},
    {"GET", "/api/v1/jobs/{id}/reproduce", qs_handle_reproduce_plan, 0, "", 0},
    {"POST", "/api/v1/jobs/{id}:reproduce", qs_handle_reproduce, 0, "", 0},
    {"GET", "/api/v1/jobs/{id}/reproduction", qs_handle_reproduction, 0, " run ", QS_ROUTE_LONG},
    {"GET", "/api/v1/builds", qs_handle_builds, 0, " text benchmark device since until limit ",
     QS_ROUTE_LONG},
    {"GET", "/api/v1/history", qs_handle_series, 0, " text device arm metric build since until level limit ",
     QS_ROUTE_LONG},
    {"GET", "/api/v1/history/{sha256}", qs_handle_history, 0,
     " metric build since until level margin_ratio p_max window ", QS_ROUTE_LONG},
    {"POST", "/api/v1/analyze", qs_handle_analyze, ANALYZE_BYTES, "", QS_ROUTE_LONG | QS_ROUTE_READS},
    {"POST", "/api/v1/analyze:compare", qs_handle_analyze_compare, ANALYZE_BYTES, "",
     QS_ROUTE_LONG | QS_ROUTE_READS},
    {"POST", "/api/v1/analyze:history", qs_handle_analyze_history, ANALYZE_BYTES, "",
     QS_ROUTE_LONG | QS_ROUTE_READS},
    {"GET", "/api/v1/jobs/{id}/export", qs_handle_export, 0, " format view metric ", QS_ROUTE_LONG},
};
const size_t qs_route_count = sizeof qs_routes / sizeof *qs_routes;
