/* An agent on the stage that knows the files of its device, and changes them: struct stage has one where the
 * test gives it. */
#ifndef QS_TEST_DEVICE_STAGE_CONTROL_H
#define QS_TEST_DEVICE_STAGE_CONTROL_H

#include "config/farm/farm.h"
#include "stage.h"

enum { STAGE_DEVICE_FILES = 256, STAGE_VALUE = 64 };

struct stage_file {
    char path[QS_CONTROL_PATH_MAX_BYTES + 1], value[STAGE_VALUE];
    char first[STAGE_VALUE]; /* before it was changed */
    unsigned changed;        /* when: 1, 2, ...; 0: it was not, or is put back */
    bool writable;
    const struct stage_file *needs; /* NULL, or it is there only while that one says 1 */
};

struct stage_control {
    struct qs_farm_config farm;
    struct stage_file files[STAGE_DEVICE_FILES];
    size_t file_count;
    /* What the test says. */
    bool changes_nothing;             /* the agent looks, and has no place to keep what to put back */
    bool senses_nothing;              /* the agent knows no tables, and no TUNE within a run */
    bool holds_nothing;               /* the agent keeps nothing busy until a window */
    bool changes_nothing_again;       /* so it is once the link was lost */
    size_t found_page, restored_page; /* rows in one answer */
    const char *odd_file;             /* a write of it comes to this, and so does putting it back: */
    enum qs_tune_outcome odd;         /* 0: as it should */
    int32_t odd_errno;
    const char *odd_text;                          /* what it then says; NULL: nothing is told of it */
    bool odd_restore;                              /* only putting it back does */
    bool short_answer;                             /* TUNED lacks its last row */
    bool endless_survey, endless_restore;          /* there is always more */
    void (*on_run)(struct stage *s, uint32_t arm); /* before each RUN_BEGIN; or NULL */
    /* What happened. */
    struct qs_buf log;    /* a line each: "survey", once for all in a row, "bind NAME=LO..HI/FLAGS ...",
                             "tune FILE=VALUE[!][p] ...", "restore", "run ARM[ on CPUS]", "end" of a session
                             */
    struct qs_buf stored; /* what the store was given: "FILE WANTED: BEFORE, AFTER: OUTCOME [restored]" */
    unsigned surveys, binds, tunes, restores, changes, writes;
};

/* A job on a device with one policy of 600, 1200 and 1800 MHz and one thermal zone; the farm has the profiles
 * that are built in. */
void stage_control_begin(struct stage *s, struct stage_control *c, const char *job);
void stage_control_end(struct stage *s); /* nothing was asked at the wrong time */
struct stage_file *stage_file_add(struct stage_control *c, const char *path, const char *value,
                                  bool writable);
/* cpufreq/policyN with the governors schedutil (on) and performance, and these steps (kHz, ascending). */
void stage_policy_add(struct stage_control *c, unsigned policy, const char *steps);
/* What a file of cpufreq/policyN says; a path otherwise. */
const char *stage_policy_says(struct stage_control *c, unsigned policy, const char *file);
bool stage_all_put_back(const struct stage_control *c);

/* For the rest of the stage. */
bool stage_changes_files(const struct stage *s);
bool stage_ask_survey(struct stage *s, const void *message, struct qs_err *err);
bool stage_ask_bind(struct stage *s, const void *message, struct qs_err *err);
bool stage_ask_tune(struct stage *s, const void *message, struct qs_err *err);
bool stage_ask_restore(struct stage *s, const void *message, struct qs_err *err);
struct qs_msg_run_begin;
void stage_note_run(struct stage *s, const struct qs_msg_run_begin *m);
void stage_note_end(struct stage *s);
struct qs_control_rows;
void stage_note_stored(struct stage *s, const struct qs_control_rows *rows);

#endif
