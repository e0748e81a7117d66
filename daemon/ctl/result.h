/* What commands share that end in a comparison. */
#ifndef QS_CTL_RESULT_H
#define QS_CTL_RESULT_H

#include "ctl/client/api.h"
#include "ctl/layout/layout.h"

/* The unit of times, as a row of a table of options: qs_result_layout reads it. */
#define QS_TIME_UNIT_OPTION                                                                                  \
    {                                                                                                        \
        .name = "time-unit", .letter = 'u', .values = "UNIT", .kind = QS_OPT_WORD, .words = qs_unit_words,   \
        .help = "Show times in ns, us, ms or s."                                                             \
    }

/* Options of commands that show what was measured, as rows of a table: which iterations of each run. */
#define QS_VIEW_OPTIONS                                                                                      \
    {.name = "discard-first",                                                                                \
     .values = "N",                                                                                          \
     .kind = QS_OPT_WHOLE,                                                                                   \
     .min = 1,                                                                                               \
     .max = 1000000,                                                                                         \
     .many = true,                                                                                           \
     .help = "Look at a run without its first N iterations. This option and the next two are views: they "   \
             "hold in the order given, nothing stored changes.",                                             \
     .heading = "Views"},                                                                                    \
        {.name = "last",                                                                                     \
         .values = "N",                                                                                      \
         .kind = QS_OPT_WHOLE,                                                                               \
         .min = 1,                                                                                           \
         .max = 1000000,                                                                                     \
         .many = true,                                                                                       \
         .help = "Look at the last N iterations of a run alone."},                                           \
    {                                                                                                        \
        .name = "fenced", .many = true,                                                                      \
        .help = "Look at a run without what lies outside of Tukey's fences (1.5 IQR)."                       \
    }
/* The address of a job's comparison, with rules, views, metrics and tables. */
void qs_result_path(const struct qs_args *args, int64_t job, struct qs_buf *ret);
/* The layout that the options --time-unit, --sort and --show-output ask for. */
struct qs_layout qs_result_layout(const struct qs_ctl *ctl);
/* Fetches and prints a job's comparison on out: laid out, or with --json as it is. `told`: why the job failed
 * has been said. The document in *ret_doc (owned; may be NULL: not wanted). False with the reason said and
 * *ret_code set. */
bool qs_result_print(struct qs_ctl *ctl, struct qs_http *http, int64_t job, bool told, json_t **ret_doc,
                     int *ret_code);
/* Writes the --export-json, --export-csv and --export-markdown files that were asked for. */
bool qs_result_export(struct qs_ctl *ctl, struct qs_http *http, int64_t job, int *ret_code);
/* After a job that was cancelled or failed: says what was kept. */
void qs_result_kept(struct qs_ctl *ctl, struct qs_http *http, int64_t job);

#endif
