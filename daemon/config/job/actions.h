/* What a job does beside measuring: steps at its stages, as trees that its spec owns. */
#ifndef QS_CONFIG_JOB_ACTIONS_H
#define QS_CONFIG_JOB_ACTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "config/document/string_list.h"
#include "config/job/conditions.h"

struct qs_json;
struct qs_job_spec;

/* A(SYMBOL, "name", a run is in hand: which is what {parameters} and `limits` come from): in their order. */
#define QS_STAGES(A)                                                                                         \
    A(BEFORE_JOB, "before_job", false)                                                                       \
    A(BEFORE_SESSION, "before_session", false)                                                               \
    A(BEFORE_RUN, "before_run", true)                                                                        \
    A(BEFORE_WINDOW, "before_window", true)                                                                  \
    A(AFTER_WINDOW, "after_window", true)                                                                    \
    A(AFTER_RUN, "after_run", true)                                                                          \
    A(AFTER_SESSION, "after_session", false)                                                                 \
    A(AFTER_JOB, "after_job", false)

enum qs_stage {
#define A(symbol, name, of_run) QS_STAGE_##symbol,
    QS_STAGES(A)
#undef A
        QS_STAGE_COUNT
};
const char *qs_stage_name(enum qs_stage stage);
bool qs_stage_is_of_run(enum qs_stage stage);
bool qs_stage_is_after(enum qs_stage stage);  /* it undoes: it comes also after a failure */
bool qs_stage_is_in_run(enum qs_stage stage); /* while a run is open on the device: the stages of a window */

enum qs_action_kind {
    QS_ACTION_SLEEP,
    QS_ACTION_PRINT,
    QS_ACTION_RUN,
    QS_ACTION_WRITE,
    QS_ACTION_COOL_DOWN,
    QS_ACTION_WARM_UP,
    QS_ACTION_IF,
    QS_ACTION_DO,
    QS_ACTION_KINDS
};
const char *qs_action_kind_name(enum qs_action_kind kind);

enum qs_action_late { QS_LATE_FAIL, QS_LATE_GO_ON };                      /* on_timeout */
enum qs_action_unread { QS_UNREAD_FAIL, QS_UNREAD_THEN, QS_UNREAD_ELSE }; /* unreadable */

enum {
    QS_ACTIONS_MAX = 64,      /* steps of one list */
    QS_ACTIONS_DEEP_MAX = 8,  /* lists inside of lists */
    QS_ACTIONS_ALL_MAX = 256, /* steps of a stage, with those inside of others */
    QS_ACTION_TEXT_MAX_BYTES = 1000
};

struct qs_action;
struct qs_actions {
    struct qs_action *at;
    size_t count;
};

struct qs_action {
    enum qs_action_kind kind;
    int64_t limit_ns;               /* SLEEP: how long; RUN (0: `limits.hook`), COOL_DOWN, WARM_UP: at most */
    int64_t for_ns;                 /* WARM_UP: for so long; 0: until the sensor says so */
    char *text;                     /* PRINT; WRITE: the value; DO: its name, or NULL */
    char *file;                     /* WRITE: below the root of sysfs */
    struct qs_strings argv;         /* RUN */
    bool ignore_failure;            /* RUN */
    struct qs_job_expectation when; /* COOL_DOWN, WARM_UP, IF: sensor and bounds alone */
    char *cpus;                     /* WARM_UP: "all", a cluster or a list; or NULL: all */
    enum qs_action_late on_timeout;
    enum qs_action_unread unreadable; /* IF */
    struct qs_actions then, other;    /* IF; DO: then */
};

struct qs_job_actions {
    struct qs_actions stages[QS_STAGE_COUNT];
};

void qs_actions_done(struct qs_actions *list);
bool qs_job_has_actions(const struct qs_job_actions *actions);
/* Does any step of the list, or inside of one, have this kind? */
bool qs_actions_have(const struct qs_actions *list, enum qs_action_kind kind);
/* Does any of them read this sensor? */
bool qs_actions_read(const struct qs_actions *list, const char *sensor);

/* One step as a person would say it: "sleep 5 s", "cool_down until thermal:cpu is at most 40.0 °C, 10 min at
 * most"; what is inside of it is not told. */
void qs_action_text(const struct qs_action *action, struct qs_buf *out);
/* All of them on one line, with "then (...)" and "else (...)": equal for equal steps. */
void qs_actions_text(const struct qs_actions *list, struct qs_buf *out);
/* A map from each stage that has steps to that line, as a value. */
void qs_job_actions_put(struct qs_json *j, const struct qs_job_actions *actions);

/* One text with the {parameters} of (arm, point) filled in; owned. */
char *qs_job_fill_text(const struct qs_job_spec *spec, size_t arm, size_t point, const char *tmpl);

/* The steps as a Markdown table, for the reference. */
void qs_actions_reference(struct qs_buf *out);

#endif
