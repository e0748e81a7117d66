/* What the stage's job run says, word by word: to its agent, to the store and to people; and what a test
 * puts into the agent's mouth. Part of struct stage. */
#ifndef QS_TEST_DEVICE_STAGE_RECORD_H
#define QS_TEST_DEVICE_STAGE_RECORD_H

#include "base/buf.h"
#include "device/session/session.h"
#include "store/knob.h"
#include "store/read/shown.h"
#include "store/store.h"

struct stage;

struct stage_record {
    struct qs_buf *out;                  /* NULL: nothing is written down */
    const struct qs_cooling_wait *waits; /* borrowed: at gates, the newest first */
    size_t wait_count;
    const struct qs_model_row *models; /* borrowed: what the device is like */
    size_t model_count;
    const struct qs_knob_info *knobs; /* borrowed: what was tried of it */
    size_t knob_count;
    bool knobs_fail;     /* they cannot be read */
    uint16_t metrics[4]; /* that rows have beside the first, 0 ends them */
    /* Each may be NULL, and changes a message before it is told. */
    void (*ready)(struct stage *s, struct qs_msg_run_ready *m);
    bool (*waiting)(struct stage *s, struct qs_msg_waiting *m); /* false: none is told */
    bool (*piece)(struct stage *s, struct qs_msg_document *m);  /* of mode stream, again until false */
    void (*closed)(struct stage *s, struct qs_msg_closed *m, struct qs_session_quiet *quiet);
    void (*row)(struct stage *s, uint32_t i, struct qs_row *row);
    void (*ended)(struct stage *s, struct qs_msg_run_ended *m);
};

void stage_record_state(struct stage *s, const char *from, const char *input, const char *to);
void stage_record_event(struct stage *s, const char *kind, const char *body_json, bool of_run);
void stage_record_run_begin(struct stage *s, const struct qs_msg_run_begin *m);
void stage_record_hook(struct stage *s, const struct qs_msg_hook *m);
void stage_record_open(struct stage *s, const struct qs_msg_open *m);
void stage_record_session(struct stage *s, const struct qs_session_row *row);
void stage_record_run(struct stage *s, const struct qs_run_row *row);
void stage_record_window(struct stage *s, const struct qs_window_row *row);
void stage_record_run_end(struct stage *s, const struct qs_run_end_row *row);

#endif
