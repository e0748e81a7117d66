/* Comparison documents as text: pure functions of (document, face, options). */
#ifndef QS_CTL_LAYOUT_LAYOUT_H
#define QS_CTL_LAYOUT_LAYOUT_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "ctl/layout/face.h"
#include "ctl/layout/grid.h"

enum { QS_RUNS_MAX = 10000 }; /* blocks of a job */
enum qs_unit { QS_UNIT_AUTO, QS_UNIT_NS, QS_UNIT_US, QS_UNIT_MS, QS_UNIT_S };
enum qs_sort { QS_SORT_COMMAND, QS_SORT_MEDIAN };

struct qs_layout {
    struct qs_face face;
    enum qs_unit unit;
    enum qs_sort sort;
    bool show_output;    /* the kept output of each arm */
    bool told;           /* why a job failed has been said: it is not said again, and no page without data */
    int64_t now_wall_ns; /* from which ages count; 0: none are told */
    const char *home;    /* shortened to ~ in paths; or NULL */
    const char *metric;  /* a report shows this one in full; NULL: the duration */
    const char *plain_unit; /* values are in this unit; NULL: they are times in ns */
};

struct qs_shown { /* a sample under a name; borrowed */
    const char *name;
    const json_t
        *sample; /* an arm of a metric (schema/comparison.md), or one of schema/analysis.schema.json */
    const json_t *usage; /* an arm with `user_us`, `system_us` and `max_rss_bytes`, or NULL */
    double factor;       /* makes its values ns, or one of the layout's unit */
    bool no_floor;       /* its least value is not shown */
};
/* A number of the sample, by the name that both forms have for it; NaN: not known. */
double qs_shown_number(const struct qs_shown *shown, const char *key);
/* The arms of a job's result in a metric; owned by the caller. */
struct qs_shown *qs_shown_arms(const json_t *result, const json_t *metric, double factor, size_t *ret_count);

/* The comparison document of one job (schema/comparison.md). */
void qs_layout_compare(const struct qs_layout *layout, const json_t *doc, struct qs_buf *out);

/* Parts, each for itself. `result` is an element of results. */
void qs_layout_arms(const struct qs_layout *layout, const json_t *result, struct qs_buf *out);
void qs_layout_verdicts(const struct qs_layout *layout, const json_t *doc, const json_t *result,
                        struct qs_buf *out);
/* Of a job with `ablate`: a row for each part of the conditions; nothing of other jobs. */
void qs_layout_ablation(const struct qs_layout *layout, const json_t *doc, const json_t *result,
                        struct qs_buf *out);
/* What other rules say of a pair: its `opinions`; nothing where none was asked for. */
void qs_layout_opinions(const struct qs_layout *layout, const json_t *opinions, struct qs_buf *out);
void qs_layout_table(const struct qs_layout *layout, const struct qs_shown *shown, size_t count,
                     struct qs_buf *out);
void qs_layout_histogram(const struct qs_layout *layout, const struct qs_shown *shown, size_t count,
                         struct qs_buf *out);
void qs_layout_doubts(const struct qs_layout *layout, const json_t *doc, const json_t *result,
                      struct qs_buf *out);
/* Of a job with several results, what is known of all its windows together. */
void qs_layout_job_doubts(const struct qs_layout *layout, const json_t *doc, struct qs_buf *out);
/* One line of `evaluations` (schema/comparison.md), appended; false where there are none. */
bool qs_layout_evals(const json_t *e, struct qs_buf *out);
void qs_layout_data(const struct qs_layout *layout, const json_t *doc, struct qs_buf *out);

/* In the order of the layout's sort: indices; order has room for `count`. */
void qs_layout_order(const struct qs_layout *layout, const struct qs_shown *shown, size_t count,
                     size_t *order);
/* The name column: as wide as the widest name, at most `most`. */
size_t qs_layout_name_columns(const struct qs_layout *layout, const struct qs_shown *shown, size_t count,
                              size_t most);
/* A time in a unit with so many digits after the point. */
struct qs_scale {
    const char *name;
    double ns;
    int decimals;
    bool exponent; /* 1.075e+308 */
};
/* A number in it, without its name. */
void qs_scale_number(const struct qs_scale *scale, double v, char text[40]);
/* Adds digits where lo and hi, as far as they differ, would look alike; never more than a double has. */
void qs_scale_part(struct qs_scale *scale, double lo, double hi);
/* The unit and the digits that fit a typical value; `unit` other than AUTO fixes the unit. */
void qs_layout_scale(enum qs_unit unit, double typical_ns, struct qs_scale *ret);
/* The same by the layout; a plain unit has as many digits as show four of a typical value, and an exponent
 * where that is above 1e15 or below 1e-6. */
void qs_layout_scale_of(const struct qs_layout *layout, double typical, struct qs_scale *ret);
enum qs_unit qs_layout_unit_of(const char *word);
/* "1.2 %"; "12.3 MiB" */
void qs_layout_percent(struct qs_buf *out, double ratio);
void qs_layout_bytes(char text[32], double bytes);
/* "2 blocks", "1 block" */
void qs_layout_count(struct qs_buf *out, int64_t n, const char *one, const char *many);

/* Other documents. */
/* Two sides over jobs, builds and nights (schema/sides.md). */
void qs_layout_sides(const struct qs_layout *layout, const json_t *doc, struct qs_buf *out);
/* analysis, comparison and history of files (schema/analysis.schema.json), whichever it is. */
void qs_layout_analysis(const struct qs_layout *layout, const json_t *doc, struct qs_buf *out);
/* Builds and nights, by what compare and history can call them. */
void qs_layout_builds(const struct qs_layout *layout, const json_t *doc, struct qs_buf *out);
void qs_layout_jobs(const struct qs_layout *layout, const json_t *doc, struct qs_buf *out);
void qs_layout_job(const struct qs_layout *layout, const json_t *job, struct qs_buf *out);
/* The report on a job or a run (schema/report.md). */
void qs_layout_report(const struct qs_layout *layout, const json_t *doc, struct qs_buf *out);
void qs_layout_run(const struct qs_layout *layout, const json_t *run, struct qs_buf *out);
/* `traces` of a job or a run: nothing where there are none. */
void qs_layout_traces(const struct qs_layout *layout, const json_t *groups, struct qs_buf *out);
void qs_layout_devices(const struct qs_layout *layout, const json_t *doc, struct qs_buf *out);
/* One of them: what it is, what was found on it, what its last session changed. */
void qs_layout_device(const struct qs_layout *layout, const json_t *device, struct qs_buf *out);
/* "its battery is changed (by ann until 2026-11-28T14:00:00Z)", of `held` of a device; "rack=3,
 * rooted=true", of its `tags`. Appended. */
void qs_layout_held(const json_t *held, struct qs_buf *out);
void qs_layout_tags(const json_t *device, struct qs_buf *out);
/* How it warms up and cools down (`models` of a device). */
void qs_layout_heat(const struct qs_layout *layout, const json_t *device, struct qs_buf *out);
/* "policy0 is ignored: ..." (a row of `knobs`); all of them. */
void qs_layout_knob(const json_t *knob, struct qs_buf *out);
void qs_layout_knobs(const struct qs_layout *layout, const json_t *device, struct qs_buf *out);
/* "with a time constant of 15.3 s (15.1 to 15.5) towards 25.0 degrees (24.9 to 25.2)", or why not. */
void qs_layout_curve(const json_t *curve, struct qs_buf *out);
/* "▁▃▅▇": values of [[ms, value], ...] from the lowest to the highest; nothing in ASCII, or where they are
 * equal. */
void qs_layout_trend(const struct qs_layout *layout, const json_t *trace, struct qs_buf *out);
/* What is changed on a device right now, what its last session changed and whether it was put back. */
void qs_layout_control(const struct qs_layout *layout, const json_t *device, struct qs_buf *out);
/* What to do about what is missing or not put back, each thing once; nothing where all is well. */
void qs_layout_todo(const struct qs_layout *layout, const json_t *device, struct qs_buf *out);
/* The files of `control` that are not as they were, though its session is over: what each said before. */
typedef void qs_left_file(const char *path, const char *before, void *user);
void qs_layout_left(const json_t *control, qs_left_file *fn, void *user);

/* "  name        value", where there is a value. */
void qs_layout_field(const struct qs_layout *layout, struct qs_buf *out, const char *name, const char *value);
/* " 3 h ago", of a time in ns since the epoch. */
void qs_layout_age(const struct qs_layout *layout, const json_t *of, const char *key, struct qs_buf *out);
/* The same of a time in ns since the epoch, where it is above 0. */
void qs_layout_time_field(const struct qs_layout *layout, struct qs_buf *out, const char *name,
                          const json_t *object, const char *key);

#endif
